"""By which factors a longer weight vector changes a step, in its plane and as angle per step."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.numbers import fraction, number
from normgeo.base.text import text
from normgeo.pictures.learning_rate.angular_update import AngularUpdate, Change, norm_words
from normgeo.pictures.learning_rate.weight_plane_figure import (
    NUMBERS,
    Plane,
    Trace,
    step_notes,
    step_traces,
)
from normgeo.pictures.style.annotations import colored, note, wrapped
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.player import STRIP, add_slider
from normgeo.pictures.style.template import (
    CLAIM,
    MEASURED,
    PREDICTED,
    SIZE,
    SMALL,
    THEMES,
    dress,
    log_ticks,
)

FACTOR = 28  # of the four numbers that answer the question
LEFT, RIGHT = (0.0, 0.5), (0.575, 1.0)
PANEL, TILE, LINE = 250, 62, 22  # pixels: of a panel, of the factors, of a line of words
# On a phone the panels stand one above the other.
TILES = (0, 0.19, 0.45, 0.79)  # where the factors begin
NARROW_PANELS, NARROW_GAP = (220, 240), 130
ROOM, NARROW_ROOM = 0.18, 0.3  # between the words of two steps, shares of the reach


def figure(result: AngularUpdate, theme: str) -> go.Figure:
    """Draw one gradient step at several norms: factors, the plane of ŵ and −Ĝ, angle per step."""
    color, opening = method_color(result.normalizer), result.opening
    plane = Plane.of(result, color, theme)
    states = [_state(result, plane, step, theme) for step in range(len(result.curve.norms))]
    drawn = go.Figure([*states[opening]["data"], *_lines(result, theme)])
    for trace, source in zip(drawn.data, plane.sources, strict=False):
        trace.source = source
    dress(drawn, theme, height=PANEL)
    _axes(drawn, result, plane)
    _sizes(drawn, result, plane.left)
    narrow = drawn.layout.meta["narrow"] | states[opening]["layout"]["meta"]["narrow"]
    drawn.update_layout({**states[opening]["layout"], "meta": {"narrow": narrow}})
    add_slider(
        drawn,
        states,
        start=opening,
        prefix=f"{result.symbol} = ",
        theme=theme,
        setting="growth",
        values=[f"{norm:.4g}" for norm in result.curve.norms],
    )
    return drawn


def _state(result: AngularUpdate, plane: Plane, step: int, theme: str) -> dict[str, Any]:
    """All that is different at another norm: steps, dot, view and words."""
    color, ink = method_color(result.normalizer), THEMES[theme].ink
    data = [
        *plane.images(step),
        *step_traces(result, plane, step, color, ink),
        _dot(result, step, color, ink),
    ]
    view = plane.view(step)
    return {
        "name": norm_words(float(result.curve.norms[step])),
        "traces": list(range(len(data))),
        "data": data,
        "layout": {
            "xaxis": {"range": view["xaxis.range"]},
            "yaxis": {"range": view["yaxis.range"]},
            "annotations": _words(result, plane, step, theme),
            "meta": {"narrow": {"annotations": _narrow_words(result, plane, step, theme)}},
        },
    }


# The angle per step.


def _lines(result: AngularUpdate, theme: str) -> list[go.Scatter]:
    """Return the angle per step against the norm: measured, predicted, and if it only halved."""
    curve, look = result.curve, THEMES[theme]

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

    color = method_color(result.normalizer)
    measured = line(curve.angles, text("measured"), color=color, width=5, dash=MEASURED)
    if not result.has_law:
        return [measured]
    predicted, claim = text("predicted: slope −2"), text("if the turn only halved")
    return [
        measured,
        line(curve.predicted_angles, predicted, color=look.ink, width=1.8, dash=PREDICTED),
        line(curve.halved_angles, claim, color=look.muted, width=2.5, dash=CLAIM),
    ]


def _dot(result: AngularUpdate, step: int, color: str, ink: str) -> Trace:
    """Return where a frame is on the line."""
    return {
        "type": "scatter",
        "x": [float(result.curve.norms[step])],
        "y": [float(np.degrees(result.curve.angles[step]))],
        "mode": "markers",
        "marker": {"size": 15, "color": color, "line": {"color": ink, "width": 2}},
        "xaxis": "x2",
        "yaxis": "y2",
        "showlegend": False,
        "cliponaxis": False,
        "hoverinfo": "skip",
    }


def _angle(result: AngularUpdate, step: int, paper: str) -> dict[str, Any]:
    """Return the angle beside the dot, on the side that the line leaves free."""
    degrees = np.degrees(result.curve.angles)
    rises = degrees[min(step + 1, len(degrees) - 1)] > degrees[max(step - 1, 0)]
    return {
        "xref": "x2",
        "yref": "y2",
        "x": float(np.log10(result.curve.norms[step])),
        "y": float(np.log10(degrees[step])),
        "text": f"<b>{number(float(degrees[step]))}°</b>",
        "font": {"size": SIZE + 4},
        "xanchor": "right",
        "yanchor": "bottom" if rises else "top",
        "xshift": -8,
        "yshift": 6 if rises else -6,
        "bgcolor": paper,
        "borderpad": 0,
    }


def _axes(drawn: go.Figure, result: AngularUpdate, plane: Plane) -> None:
    # Margins that follow the numbers would fit the plane to its panel twice.
    fixed = {"automargin": False}
    plain = {"showgrid": False, "zeroline": False, **fixed}
    across = text("against the gradient −Ĝ")
    if plane.stretch != 1:
        across = text("−Ĝ, × {stretch} as large", stretch=fraction(plane.stretch))
    drawn.update_layout(
        xaxis={
            "anchor": "y",
            "constrain": "range",
            "title": text("along the weights ŵ"),
            **plain,
        },
        yaxis={
            "title": across,
            "scaleanchor": "x",
            "constrain": "range",
            "scaleratio": plane.stretch,
            "exponentformat": "power",
            "nticks": NUMBERS,
            **plain,
        },
    )
    curve = result.curve
    shown = [curve.angles, curve.halved_angles] if result.has_law else [curve.angles]
    seen = np.degrees(np.concatenate(shown))
    low, high = np.log10([seen.min(), seen.max()])
    high = min(max(high, low + 1), np.log10(180))
    decades = max(high - low, 1.0)
    first, last = np.log10(curve.norms[[0, -1]])
    drawn.update_layout(
        xaxis2={
            **fixed,
            "anchor": "y2",
            "type": "log",
            "title": " ".join(_norm_words(result)),
            # Room for the number beside the first dot, and below the last.
            "range": [first - 0.2 * (last - first), last + 0.05 * (last - first)],
            "tickvals": curve.norms[::2],
            "ticktext": [fraction(norm) for norm in curve.norms[::2].tolist()],
        },
        yaxis2={
            **fixed,
            "anchor": "x2",
            "type": "log",
            "range": [low - 0.22 * decades, high + 0.08 * decades],
            "tickvals": log_ticks(10**low, 10**high),
            "ticksuffix": "°",
            "exponentformat": "power",
        },
    )


def _norm_words(result: AngularUpdate) -> list[str]:
    """What the norm is of, in lines; a tilde stands for what the center leaves of the weights."""
    words = text("norm {symbol} of the {name}", symbol=result.symbol, name=result.name)
    centered = result.normalizer.centering.projects_weights
    return [words, text("minus their mean")] if centered else [words]


def _sizes(drawn: go.Figure, result: AngularUpdate, left: int) -> None:
    """Place the panels side by side, and one above the other where the figure is narrow."""
    inside = {
        "orientation": "v",
        "yanchor": "bottom",
        "font": {"size": SMALL},
        "bgcolor": "rgba(0,0,0,0)",
    }
    above = TILE + LINE + 14 + LINE * len(_law_lines(result, 130))
    drawn.update_layout(
        height=above + PANEL + 52,
        margin={"l": left, "r": 8, "t": above, "b": 52},
        showlegend=result.has_law,
        legend={"x": RIGHT[0] + 0.008, "y": 0.03, **inside},
        xaxis={"domain": LEFT},
        xaxis2={"domain": RIGHT},
    )
    upper, lower = NARROW_PANELS
    panels = upper + NARROW_GAP + lower
    above = 2 * TILE + 14 + LINE * len([*_narrow_about(result), *_law_lines(result, 44)])
    below = 30 + LINE * len(_norm_words(result)) + STRIP
    narrow = {
        "height": above + panels + below,
        "margin": {"t": above, "b": below},
        "legend": {"x": 0.02, "y": 0.012},
        "xaxis": {"domain": [0, 1]},
        "yaxis": {"domain": [1 - upper / panels, 1]},
        "xaxis2": {"domain": [0, 1], "title": {"text": "<br>".join(_norm_words(result))}},
        "yaxis2": {"domain": [0, lower / panels]},
    }
    drawn.update_layout(meta={"narrow": narrow})


# Words.


def _words(result: AngularUpdate, plane: Plane, step: int, theme: str) -> list[dict[str, Any]]:
    """Return all words of a frame: factors, captions, what is seen, the angles of the steps."""
    law = _law_lines(result, 130)
    up = LINE + 10 + LINE * len(law)
    muted = THEMES[theme].muted
    return [
        *(
            note(_tile(change, place == 0, muted), x, yshift=up)
            for place, (x, change) in enumerate(zip(TILES, result.changes(step), strict=True))
        ),
        *([note(law, yshift=LINE + 8)] if law else []),
        _over("x", text("{about}: one gradient step, η = {rate}", **_about(result))),
        _over("x2", _angle_caption()),
        {
            **_seen(result, 80),
            "xanchor": "right",
            "align": "right",
            "x": 1,
            "xshift": -6,
            "yshift": 3,
        },
        *step_notes(result, plane, step, ROOM),
        _angle(result, step, THEMES[theme].paper),
    ]


def _narrow_words(
    result: AngularUpdate, plane: Plane, step: int, theme: str
) -> list[dict[str, Any]]:
    """Return the same words for a figure as narrow as a phone."""
    law, about = _law_lines(result, 44), _narrow_about(result)
    over = LINE * len(about) + 8
    up, places = over + 2 + LINE * len(law), ((0, 1), (0.5, 1), (0, 0), (0.5, 0))
    return [
        *(
            note(_narrow_tile(change, place == 0), x, yshift=up + row * TILE)
            for place, ((x, row), change) in enumerate(
                zip(places, result.changes(step), strict=True)
            )
        ),
        *([note(law, yshift=over)] if law else []),
        _over("x", "<br>".join(about)),
        _over("x2", _angle_caption()),
        {**_seen(result, 46), "yanchor": "top", "yshift": -50},
        *step_notes(result, plane, step, NARROW_ROOM),
        _angle(result, step, THEMES[theme].paper),
    ]


def _about(result: AngularUpdate) -> dict[str, str]:
    about = f"<b>{result.normalizer.title}</b>, {result.name}"
    return {"about": about, "rate": number(result.curve.rate)}


def _narrow_about(result: AngularUpdate) -> list[str]:
    about = _about(result)
    step = text("one gradient step, η = {rate}", rate=about["rate"])
    return [*wrapped(about["about"], 46), str(step)]


def _angle_caption() -> str:
    return text("angular update: the turn θ of one step")


def _over(axis: str, words: str) -> dict[str, Any]:
    """The caption of a panel."""
    return note(words, xref=f"{axis} domain", yref=f"{axis.replace('x', 'y')} domain", yshift=5)


def _seen(result: AngularUpdate, width: int) -> dict[str, Any]:
    """What the plane shows."""
    if result.same_along_rays:
        words = text("The loss is the same along each ray. Darker: larger loss.")
    elif result.has_law:
        words = text(
            "Not quite wedges: with ε > 0 the loss changes along a ray. Darker: larger loss."
        )
    else:
        words = text("No wedges: the loss changes along a ray. Darker: larger loss.")
    return note(wrapped(words, width), 0, 0, xref="x domain", yref="y domain", font={"size": SMALL})


def _law_lines(result: AngularUpdate, width: int) -> list[str]:
    return wrapped(result.no_law, width) if result.no_law else []


def _tile(change: Change, is_norm: bool, muted: str) -> list[str]:
    """Return by what factor a quantity has changed, and below it from what to what."""
    unit = change.unit
    moved = f"{number(change.before)}{unit} → {number(change.after)}{unit}"
    if is_norm:
        moved = f"1 → {norm_words(change.after)}"
    elif change.predicted is not None:
        moved = text(
            "{moved}, predicted × {factor}", moved=moved, factor=fraction(change.predicted)
        )
    return [f"{_large(change, is_norm)}  {change.quantity}", colored(moved, muted, SMALL)]


def _narrow_tile(change: Change, is_norm: bool) -> list[str]:
    words = f'<span style="font-size:{SMALL}px">{change.quantity}</span>'
    return [_large(change, is_norm), words]


def _large(change: Change, is_norm: bool) -> str:
    words = norm_words(change.factor) if is_norm else fraction(change.factor)
    return f'<span style="font-size:{FACTOR}px"><b>× {words}</b></span>'
