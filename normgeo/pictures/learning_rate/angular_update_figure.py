"""The plane of a weight vector and its gradient beside the angle per step: one slider for both."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.numbers import factor, fraction, number
from normgeo.base.text import text
from normgeo.pictures.learning_rate.angular_update import AngularUpdate, Change
from normgeo.pictures.learning_rate.weight_plane_figure import (
    SHOWN,
    Trace,
    reach,
    step_notes,
    step_traces,
    view,
    wedges,
)
from normgeo.pictures.style.annotations import note
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.template import (
    CLAIM,
    MEASURED,
    PREDICTED,
    SIZE,
    THEMES,
    add_slider,
    dress,
    log_ticks,
)

LEFT, RIGHT = (0.0, 0.455), (0.605, 1.0)
COLUMNS = (0, 0.13, 0.43, 0.77)  # where the numbers of a frame begin
MARKED = range(-3, 7)  # powers of two on the axis of the norm


def figure(result: AngularUpdate, theme: str) -> go.Figure:
    """Draw one gradient step at several norms: in the plane of ŵ and −Ĝ, and as angle per step."""
    look, color, curve = THEMES[theme], method_color(result.normalizer), result.curve
    drawn = go.Figure()
    farthest = max(reach(curve, step) for step in range(len(curve.norms)))
    drawn.add_traces(wedges(result.planes, 3 * farthest, color, theme, bar_x=LEFT[1] + 0.008))
    drawn.add_traces(_lines(result, color, theme))
    moving = list(range(len(drawn.data), len(drawn.data) + 2 * len(SHOWN) + 3))
    drawn.add_traces(_moving(result, result.opening, color, look.ink))

    dress(drawn, theme, height=500)
    _axes(drawn, result)
    drawn.update_layout(
        margin={"l": 8, "r": 8, "t": 34, "b": 40},
        legend={"x": 1, "y": 1.01, "xanchor": "right", "font": {"size": SIZE - 1}},
        **view(curve, result.opening),
        annotations=_notes(result, result.opening, look.muted),
    )
    frames: list[dict[str, Any]] = [
        {
            "name": factor(norm),
            "traces": moving,
            "data": _moving(result, step, color, look.ink),
            "layout": {"annotations": _notes(result, step, look.muted), **view(curve, step)},
        }
        for step, norm in enumerate(curve.norms.tolist())
    ]
    add_slider(drawn, frames, start=result.opening, prefix=f"{result.symbol} = ", theme=theme)
    drawn.update_layout({"sliders[0].pad": {"t": 104, "b": 0}})
    return drawn


def _lines(result: AngularUpdate, color: str, theme: str) -> list[go.Scatter]:
    """Return the angle per step against the norm: measured, predicted, and if ½ were its factor."""
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

    predicted, claim = text("predicted: slope −2"), text("“½” read as a turn: slope −1")
    return [
        line(curve.angles, text("measured"), color=color, width=5, dash=MEASURED),
        line(curve.predicted_angles, predicted, color=look.ink, width=1.8, dash=PREDICTED),
        line(curve.halved_angles, claim, color=look.muted, width=2, dash=CLAIM),
    ]


def _moving(result: AngularUpdate, step: int, color: str, ink: str) -> list[Trace]:
    """Return what a frame moves: the steps in the plane, and the dot on the line."""
    degrees = float(np.degrees(result.curve.angles[step]))
    dot = {
        "type": "scatter",
        "x": [result.curve.norms[step]],
        "y": [degrees],
        "mode": "markers+text",
        "text": [f"<b>{number(degrees)}°</b>"],
        "textposition": "bottom left",
        "textfont": {"size": SIZE + 1, "color": ink},
        "marker": {"size": 14, "color": color, "line": {"color": ink, "width": 2}},
        "xaxis": "x2",
        "yaxis": "y2",
        "showlegend": False,
        "cliponaxis": False,
        "hoverinfo": "skip",
    }
    return [*step_traces(result, step, color, ink), dot]


def _axes(drawn: go.Figure, result: AngularUpdate) -> None:
    plain = {"showgrid": False, "zeroline": False}
    drawn.update_layout(
        xaxis={"domain": LEFT, "title": text("along the weights ŵ"), **plain},
        yaxis={
            "title": text("against the gradient −Ĝ"),
            "scaleanchor": "x",
            "automargin": True,
            **plain,
        },
    )
    curve = result.curve
    seen = np.degrees(np.concatenate([curve.angles, curve.halved_angles]))
    seen = seen[seen > 0] if seen.any() else np.ones(1)
    first, last = np.log10(curve.norms[[0, -1]])
    drawn.update_layout(
        xaxis2={
            "domain": RIGHT,
            "anchor": "y2",
            "type": "log",
            "title": text("norm of the {name} {symbol}", name=result.name, symbol=result.symbol),
            # Room for the number at the left of the first dot.
            "range": [first - 0.17 * (last - first), last + 0.04 * (last - first)],
            "tickvals": [2.0**power for power in MARKED],
            "ticktext": [fraction(2.0**power) for power in MARKED],
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


def _notes(result: AngularUpdate, step: int, muted: str) -> list[dict[str, Any]]:
    """Return all words of a frame: what is seen, the angles of the steps, the factors."""
    title = text(
        "<b>{method}</b>: one step of gradient descent, η = {rate}",
        method=result.normalizer.title,
        rate=number(result.curve.rate),
    )
    return [
        note(title, LEFT[0], yshift=6),
        *step_notes(result, step),
        *(
            note(_factor(change, place == 0, muted), x, 0, yanchor="top", yshift=-54)
            for place, (x, change) in enumerate(zip(COLUMNS, result.changes(step), strict=True))
        ),
    ]


def _factor(change: Change, is_norm: bool, muted: str) -> list[str]:
    """Return by what factor a quantity has changed, and below it from what to what."""
    if is_norm:
        moved = text("1 → {after}", after=factor(change.after))
    else:
        moved = text(
            "{before}{unit} → {after}{unit}, predicted × {factor}",
            before=number(change.before),
            after=number(change.after),
            unit=change.unit,
            factor=fraction(change.predicted),
        )
    size = f"font-size:{SIZE + 8}px"
    return [
        f'<span style="{size}"><b>× {number(change.factor, 4)}</b></span>  {change.quantity}',
        f'<span style="color:{muted}">{moved}</span>',
    ]
