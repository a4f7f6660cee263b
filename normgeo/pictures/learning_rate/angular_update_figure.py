"""The plane of a weight vector and its gradient beside the angle per step: one slider for both."""

from __future__ import annotations

from collections.abc import Sequence
from math import log2, tan
from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.dynamics.angular_update import TurnCurve
from normgeo.dynamics.loss_plane import LossPlane
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.style.template import (
    CLAIM,
    MEASURED,
    PREDICTED,
    SIZE,
    THEMES,
    add_slider,
    dress,
    log_ticks,
    method_color,
)
from normgeo.pictures.style.wedges import wedges

SHOWN = (1.0, 2.0, 4.0)  # norms with an arrow of their own
MOST = 50.0  # of the plane: an arrow beyond it leaves the picture
PIXELS = 450  # of the plane's reach, roughly: no arrow is all head
Trace = dict[str, Any]  # of a frame: plotly checks it once, where an object is checked twice
LEFT, RIGHT = (0.0, 0.455), (0.605, 1.0)


def turn_figure(
    curve: TurnCurve,
    planes: Sequence[LossPlane],
    normalizer: Normalizer,
    *,
    name: str,
    symbol: str,
    start: float,
    theme: str,
) -> go.Figure:
    """Draw one gradient step at several norms: in the plane of ŵ and −Ĝ, and as angle per step.

    Args:
        curve: measured at the norms of the frames. planes: the loss by angle, at one norm or more.
        normalizer: for its color. name, symbol: of the block and its norm.
        start: the norm at which the slider opens. theme: of the figure.

    """
    look, color = THEMES[theme], method_color(normalizer)
    opening = _place(curve, start)
    figure = go.Figure()
    farthest = max(_reach(curve, step) for step in range(len(curve.norms)))
    figure.add_traces(wedges(planes, 3 * farthest, color, theme, bar_x=LEFT[1] + 0.008))
    figure.add_traces(_lines(curve, color, look.ink, look.muted))
    moving = list(range(len(figure.data), len(figure.data) + 2 * len(SHOWN) + 3))
    figure.add_traces(_moving(curve, opening, color, look.ink))

    dress(figure, theme, height=500)
    _axes(figure, curve, name, symbol)
    figure.update_layout(
        margin={"l": 8, "r": 8, "t": 34, "b": 40},
        legend={"x": 1, "y": 1.01, "xanchor": "right", "font": {"size": SIZE - 1}},
        **_view(curve, opening),
        annotations=_captions(curve, opening, normalizer, symbol, theme),
    )
    frames: list[dict[str, Any]] = [
        {
            "name": factor_name(norm),
            "traces": moving,
            "data": _moving(curve, step, color, look.ink),
            "layout": {
                "annotations": _captions(curve, step, normalizer, symbol, theme),
                **_view(curve, step),
            },
        }
        for step, norm in enumerate(curve.norms)
    ]
    add_slider(figure, frames, start=opening, prefix=f"{symbol} = ", theme=theme)
    figure.update_layout({"sliders[0].pad": {"t": 104, "b": 0}})
    return figure


def factor_name(k: float) -> str:
    """Return "2√2" for 2.828…, "3" for 3.

    >>> factor_name(8**0.5), factor_name(0.5), factor_name(3.0)
    ('2√2', '0.5', '3')

    """
    halves = round(2 * log2(k))
    if halves % 2 and halves > 0 and abs(k / 2 ** (halves / 2) - 1) < 1e-9:
        whole = 2 ** (halves // 2)
        return f"{whole if whole > 1 else ''}√2"
    return f"{k:.3g}"


# The plane.


def _steps(curve: TurnCurve, step: int, color: str, ink: str) -> list[Trace]:
    """Return the gradient steps in the plane as a frame shows them, its own last."""
    reach = _reach(curve, step)
    still = [_arrow(curve, _place(curve, norm), reach, color=ink, width=2.0) for norm in SHOWN]
    moving = _arrow(curve, step, reach, color=color, width=4.0)
    return [trace for arrow in (*still, moving) for trace in arrow]


def _arrow(
    curve: TurnCurve, step: int, reach: float, *, color: str, width: float
) -> tuple[Trace, Trace]:
    """Return one gradient step: its foot, the ray it ends on and the angle; and its arrow."""
    norm, angle = float(curve.norms[step]), float(curve.angles[step])
    length = norm * np.tan(angle)
    arc = np.linspace(0, angle, 12)
    mark = 0.6 * norm * np.column_stack([np.cos(arc), np.sin(arc)])
    gap = [np.nan, np.nan]
    turn = np.concatenate([mark, [gap, [0.0, 0.0], [norm, length], gap, [norm, 0.0]]])
    head = min(7 + width, max(3.0, length / reach * PIXELS))
    return (
        {
            "type": "scatter",
            "x": _rounded(turn[:, 0]),
            "y": _rounded(turn[:, 1]),
            "mode": "lines+markers",
            "line": {"color": color, "width": width / 2},
            "hoverinfo": "skip",
            "showlegend": False,
            "marker": {
                "size": [0] * (len(turn) - 1) + [4 + width],
                "color": color,
                "opacity": 1,
                "line": {"width": 0},
            },
        },
        {
            "type": "scatter",
            "x": _rounded(np.array([norm, norm])),
            "y": _rounded(np.array([0.0, length])),
            "mode": "lines+markers",
            "line": {"color": color, "width": width},
            "showlegend": False,
            "marker": {
                "symbol": "arrow",
                "size": head,
                "color": color,
                "angleref": "previous",
                "opacity": 1,
                "line": {"width": 0},
            },
            "hoverinfo": "text",
            "text": _step_words(curve, step),
        },
    )


def _step_words(curve: TurnCurve, step: int) -> str:
    return text(
        "norm {norm:.4g}: loss {loss:.6g}, gradient {gradient:.4g}, turn {angle:.4g}°",
        norm=curve.norms[step],
        loss=curve.loss[step],
        gradient=curve.gradient_norms[step],
        angle=np.degrees(curve.angles[step]),
    )


def _reach(curve: TurnCurve, step: int) -> float:
    """Return how far the plane must show for a step's arrow to be seen."""
    norm, angle = float(curve.norms[step]), float(curve.angles[step])
    return max(4.6, 1.15 * norm, min(MOST, 3.2 * norm * tan(angle)))


def _view(curve: TurnCurve, step: int) -> dict[str, Any]:
    """Return the part of the plane that a frame shows; the wedges look the same at any zoom."""
    reach = _reach(curve, step)
    return {
        "xaxis.range": [-0.12 * reach, reach],
        "yaxis.range": [-0.16 * reach, 0.42 * reach],
    }


# The angle per step.


def _lines(curve: TurnCurve, color: str, ink: str, muted: str) -> list[go.Scatter]:
    def line(angles: Array, name: str, **style: Any) -> go.Scatter:
        return go.Scatter(
            x=curve.norms,
            y=np.degrees(angles),
            name=name,
            mode="lines",
            line=style,
            xaxis="x2",
            yaxis="y2",
            hovertemplate=text("{name}: {angle}<extra></extra>", name=name, angle="%{y:.4g}°"),
        )

    claim = text("the paper’s “½”: slope −1")
    predicted = text("predicted: slope −2")
    return [
        line(curve.angles, text("measured"), color=color, width=5, dash=MEASURED),
        line(curve.predicted_angles, predicted, color=ink, width=1.8, dash=PREDICTED),
        line(curve.halved_angles, claim, color=muted, width=2, dash=CLAIM),
    ]


def _moving(curve: TurnCurve, step: int, color: str, ink: str) -> list[Trace]:
    """Return what a frame moves: the steps in the plane, and the dot on the line."""
    degrees = float(np.degrees(curve.angles[step]))
    dot = {
        "type": "scatter",
        "x": [curve.norms[step]],
        "y": [degrees],
        "mode": "markers+text",
        "text": [f"<b>{degrees:.3g}°</b>"],
        "textposition": "bottom left",
        "textfont": {"size": SIZE + 1, "color": ink},
        "marker": {"size": 14, "color": color, "line": {"color": ink, "width": 2}},
        "xaxis": "x2",
        "yaxis": "y2",
        "showlegend": False,
        "cliponaxis": False,
        "hoverinfo": "skip",
    }
    return [*_steps(curve, step, color, ink), dot]


# Axes and words.


def _axes(figure: go.Figure, curve: TurnCurve, name: str, symbol: str) -> None:
    figure.update_layout(
        xaxis={
            "domain": LEFT,
            "title": text("along the weights ŵ"),
            "showgrid": False,
            "zeroline": False,
        },
        yaxis={
            "title": text("against the gradient −Ĝ"),
            "showgrid": False,
            "zeroline": False,
            "scaleanchor": "x",
            "automargin": True,
        },
    )
    seen = np.degrees(np.concatenate([curve.angles, curve.halved_angles]))
    seen = seen[seen > 0]
    first, last = np.log10(curve.norms[[0, -1]])
    figure.update_layout(
        xaxis2={
            "domain": RIGHT,
            "anchor": "y2",
            "type": "log",
            "title": text("norm of the {name} {symbol}", name=name, symbol=symbol),
            # Room for the number at the left of the first dot.
            "range": [first - 0.17 * (last - first), last + 0.04 * (last - first)],
            "tickvals": 2.0 ** np.arange(-3, 7),
            "ticktext": _powers_of_two(),
        },
        yaxis2={
            "domain": (0, 1),
            "anchor": "x2",
            "type": "log",
            "title": text("angle turned by one step θ"),
            "range": np.log10([seen.min() / 1.6, min(2.2 * seen.max(), 160)]),
            "tickvals": log_ticks(seen.min(), seen.max()),
            "ticksuffix": "°",
        },
    )


def _powers_of_two() -> list[str]:
    return ["⅛", "¼", "½", *(str(2**i) for i in range(7))]


def _captions(
    curve: TurnCurve, step: int, normalizer: Normalizer, symbol: str, theme: str
) -> list[dict[str, Any]]:
    """Return all words of a frame: what is seen, the steps' turns, the factors."""
    title = text(
        "<b>{method}</b>: one step of gradient descent, η = {rate:.3g}",
        method=normalizer.title,
        rate=curve.rate,
    )
    reach, norm = _reach(curve, step), float(curve.norms[step])
    own = (norm,) if norm > 1.5 * SHOWN[-1] else ()
    named = [n for n in (*SHOWN, *own) if n / reach > 0.2]
    words = [_paper(title, LEFT[0], 1, yanchor="bottom", yshift=6)]
    for n in named:
        words += _step_captions(curve, _place(curve, n), symbol)
    return words + _factors(curve, step, symbol, THEMES[theme].muted)


def _step_captions(curve: TurnCurve, step: int, symbol: str) -> list[dict[str, Any]]:
    """Return the words at the tip and at the foot of one step."""
    norm, angle = float(curve.norms[step]), float(curve.angles[step])
    factor = fraction_name(float(curve.gradient_norms[step]) / curve.here.gradient_norm)
    tip = text("gradient × {factor}<br>turn {angle:.3g}°", factor=factor, angle=np.degrees(angle))
    foot = factor_name(norm) if norm != SHOWN[0] else f"{symbol} = {factor_name(norm)}"
    font = {"size": SIZE - 2}
    return [
        {
            "x": norm,
            "y": norm * np.tan(angle),
            "text": tip,
            "yanchor": "bottom",
            "yshift": 4,
            "font": font,
        },
        {"x": norm, "y": 0, "text": foot, "yanchor": "top", "yshift": -6, "font": font},
    ]


def _factors(curve: TurnCurve, step: int, symbol: str, muted: str) -> list[dict[str, Any]]:
    """Return the row of today's numbers: by what factor each quantity has changed."""
    here, k = curve.here, float(curve.factors[step])
    loss, gradient, angle = (
        float(v[step]) for v in (curve.loss, curve.gradient_norms, curve.angles)
    )
    degrees, before = np.degrees(angle), np.degrees(here.angle)
    turn = np.tan(angle) / np.tan(here.angle)
    columns = (
        (symbol, k, text("1 → {after}", after=factor_name(k))),
        (
            text("gradient ‖G‖"),
            gradient / here.gradient_norm,
            _movement(here.gradient_norm, gradient, 1 / k),
        ),
        (text("turn per step, tan θ"), turn, _movement(before, degrees, 1 / k**2, "°")),
        (text("loss"), loss / here.loss, _movement(here.loss, loss, 1.0)),
    )
    return [
        _paper(
            f'<span style="font-size:{SIZE + 8}px"><b>× {factor:.4g}</b></span>  {what}<br>'
            f'<span style="color:{muted}">{moved}</span>',
            place,
            0,
            yanchor="top",
            yshift=-54,
        )
        for place, (what, factor, moved) in zip((0, 0.13, 0.43, 0.77), columns, strict=True)
    ]


def _movement(before: float, after: float, predicted: float, unit: str = "") -> str:
    return text(
        "{before:.3g}{unit} → {after:.3g}{unit}, predicted × {factor}",
        before=before,
        after=after,
        unit=unit,
        factor=fraction_name(predicted),
    )


def fraction_name(factor: float) -> str:
    """Return "½" for 0.5, "1/64" for a 64th, "0.354" for what is no power of two, to 3 digits.

    >>> fraction_name(0.25), fraction_name(1 / 64), fraction_name(0.3)
    ('¼', '1/64', '0.3')

    """
    whole = round(1 / factor) if factor else 0
    if whole < 1 or abs(whole * factor - 1) > 5e-4 or whole & (whole - 1):
        return f"{factor:.3g}"
    return {1: "1", 2: "½", 4: "¼", 8: "⅛"}.get(whole, f"1/{whole}")


def _place(curve: TurnCurve, norm: float) -> int:
    return int(np.abs(curve.norms - norm).argmin())


def _paper(words: str, x: float, y: float, **place: Any) -> dict[str, Any]:
    return {
        "text": words.replace("-", "−"),
        "x": x,
        "y": y,
        "xref": "paper",
        "yref": "paper",
        "xanchor": "left",
        "align": "left",
        "font": {"size": SIZE},
        **place,
    }


def _rounded(values: Array) -> Array:
    return np.round(values, 4).astype(np.float32)
