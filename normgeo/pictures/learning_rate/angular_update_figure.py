"""By which factors a longer weight vector changes a step, in its plane and as angle per step."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.numbers import fraction
from normgeo.base.text import text
from normgeo.pictures.learning_rate.angular_update import AngularUpdate, norm_words
from normgeo.pictures.learning_rate.angular_update_words import (
    LINE,
    TILE,
    half_about,
    half_norm_of,
    half_words,
    law_lines,
    narrow_about,
    narrow_words,
    norm_of,
    words,
)
from normgeo.pictures.learning_rate.weight_plane_figure import (
    NUMBERS,
    Plane,
    Trace,
    step_traces,
)
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.player import STRIP, add_slider
from normgeo.pictures.style.template import (
    CLAIM,
    MEASURED,
    PREDICTED,
    SMALL,
    THEMES,
    dress,
    log_ticks,
)

LEFT, RIGHT = (0.0, 0.5), (0.575, 1.0)
PANEL = 250  # pixels
# On a phone the panels stand one above the other.
NARROW_PANELS, NARROW_GAP = (220, 240), 130
# On half a screen they stand beside each other, with their legend below.
HALF_LEFT, HALF_RIGHT, HALF_PANEL = (0.0, 0.44), (0.56, 1.0), 175


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
    opened = states[opening]["layout"]["meta"]
    forms = {form: drawn.layout.meta[form] | opened[form] for form in ("narrow", "half")}
    drawn.update_layout({**states[opening]["layout"], "meta": forms})
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
    view, reach = plane.view(step), plane.reaches[step]
    return {
        "name": norm_words(float(result.curve.norms[step])),
        "traces": list(range(len(data))),
        "data": data,
        "layout": {
            "xaxis": {"range": view["xaxis.range"]},
            "yaxis": {"range": view["yaxis.range"]},
            "annotations": words(result, reach, step, theme),
            "meta": {
                "narrow": {"annotations": narrow_words(result, reach, step, theme)},
                "half": {"annotations": half_words(result, reach, step, theme)},
            },
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
    drawn.update_layout(
        xaxis2={
            **fixed,
            "anchor": "y2",
            "type": "log",
            "title": " ".join(norm_of(result)),
            "range": _norms(result, 0.2),
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


def _norms(result: AngularUpdate, room: float) -> list[float]:
    """The range of the norms, with room for the number beside the first dot, and below the last."""
    first, last = np.log10(result.curve.norms[[0, -1]]).tolist()
    return [first - room * (last - first), last + 0.05 * (last - first)]


def _sizes(drawn: go.Figure, result: AngularUpdate, left: int) -> None:
    """Place the panels side by side, and one above the other where the figure is narrow."""
    inside = {
        "orientation": "v",
        "yanchor": "bottom",
        "font": {"size": SMALL},
        "bgcolor": "rgba(0,0,0,0)",
    }
    above = TILE + LINE + 14 + LINE * len(law_lines(result, 130))
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
    above = 2 * TILE + 14 + LINE * len([*narrow_about(result), *law_lines(result, 44)])
    below = 30 + LINE * len(norm_of(result)) + STRIP
    narrow = {
        "height": above + panels + below,
        "margin": {"t": above, "b": below},
        "legend": {"x": 0.02, "y": 0.012},
        "xaxis": {"domain": [0, 1]},
        "yaxis": {"domain": [1 - upper / panels, 1]},
        "xaxis2": {"domain": [0, 1], "title": {"text": "<br>".join(norm_of(result))}},
        "yaxis2": {"domain": [0, lower / panels]},
    }
    norm = half_norm_of(result)
    above = TILE + 14 + LINE * len([*half_about(result), *law_lines(result, 70)])
    below = 30 + LINE * (len(norm) + 2) + STRIP
    half = {
        "height": above + HALF_PANEL + below,
        "margin": {"t": above, "b": below},
        "legend": {
            "orientation": "h",
            "x": 0,
            "y": -(30 + LINE * (len(norm) + 1)) / HALF_PANEL,
            "yanchor": "top",
        },
        "xaxis": {"domain": HALF_LEFT},
        "xaxis2": {
            "domain": HALF_RIGHT,
            "range": _norms(result, 0.35),
            "title": {"text": "<br>".join(norm)},
        },
    }
    drawn.update_layout(meta={"narrow": narrow, "half": half})
