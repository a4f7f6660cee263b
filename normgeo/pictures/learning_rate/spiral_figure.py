"""The outward spiral of a weight vector beside the circle, and its radius against the law."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.pictures.learning_rate.runs import endings
from normgeo.pictures.learning_rate.spiral import Spiral
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.lines import POINTS, compact, line, predicted_style
from normgeo.pictures.style.sheet import Band, Panel, Sheet
from normgeo.pictures.style.template import MEASURED, THEMES

TRIANGLES = 3  # of the first steps, drawn with their right angle


def figure(result: Spiral, theme: str) -> go.Figure:
    """Draw the path, unrolled and in one plane, and the radius against the step."""
    reach = 1.06 * float(max(np.abs(result.unrolled).max(), result.radii[0]))
    last = result.run.steps
    square = {"range": [-reach, reach], "constrain": "domain"}
    path = Panel(
        {"title": text("along the start ŵ"), **square},
        {"title": text("along the first step −Ĝ"), "scaleanchor": "x", **square},
        high=(392, 290),
    )
    radius = Panel(
        {"title": text("step"), "range": [-0.02 * last, 1.02 * last]},
        {
            "title": text("norm of the weights {symbol}", symbol=result.symbol),
            "rangemode": "tozero",
            "exponentformat": "power",
        },
        high=(392, 290),
    )
    return Sheet([Band(_sentences(result))], rows=[[path, radius]]).on(
        [*_paths(result, theme), *_radii(result, theme)], theme
    )


def _shadow_name() -> str:
    return text("path, projected on the plane of the first step")


def _paths(result: Spiral, theme: str) -> list[go.Scatter]:
    """Return the circle of the start, the path's shadow, its triangles, and the path."""
    look, color = THEMES[theme], method_color(result.run.start.normalizer, theme)
    around = np.linspace(0, 2 * np.pi, 121)
    circle = result.radii[0] * np.column_stack([np.cos(around), np.sin(around)])
    traces = [_path(circle, text("circle of the start"), look.muted, 1.2)]
    if result.leaves_plane:
        traces.append(_path(result.plane.coordinates, _shadow_name(), look.muted, 2.5))
    return [
        *traces,
        _triangles(result.unrolled, look.ink),
        _path(result.unrolled, text("path, unrolled"), color, 3.0),
        go.Scatter(
            x=result.unrolled[:1, 0],
            y=result.unrolled[:1, 1],
            mode="markers",
            showlegend=False,
            cliponaxis=False,
            hoverinfo="skip",
            marker={"size": 11, "color": color, "line": {"color": look.ink, "width": 1.5}},
        ),
    ]


def _path(points: Array, name: str, color: str, width: float) -> go.Scatter:
    shown = np.unique(np.linspace(0, len(points) - 1, min(POINTS, len(points))).astype(int))
    return go.Scatter(
        x=compact(points[shown, 0]),
        y=compact(points[shown, 1]),
        mode="lines",
        name=name,
        line={"color": color, "width": width, "dash": MEASURED},
        hoverinfo="skip",
    )


def _triangles(points: Array, ink: str) -> go.Scatter:
    """Return the rays to the first points: each step is tangent, so each triangle has 90°."""
    ends = points[: TRIANGLES + 1]
    rays = np.concatenate([[[0.0, 0.0], end, [np.nan, np.nan]] for end in ends])
    return go.Scatter(
        x=rays[:, 0],
        y=rays[:, 1],
        mode="lines",
        line={"color": ink, "width": 1},
        hoverinfo="skip",
        showlegend=False,
    )


def _radii(result: Spiral, theme: str) -> list[go.Scatter]:
    """Return the radius against the step: measured, predicted, and of the shadow."""
    steps = np.arange(len(result.radii))
    measured = {
        "color": method_color(result.run.start.normalizer, theme),
        "width": 4,
        "dash": MEASURED,
    }
    style = predicted_style(theme)
    traces = [
        line(steps, result.radii, 2, text("measured"), measured, in_legend=True),
        line(steps, result.predicted_radii, 2, text("predicted"), style, in_legend=True),
    ]
    if result.leaves_plane:
        gray = {"color": THEMES[theme].muted, "width": 2.5, "dash": MEASURED}
        traces.append(line(result.plane.steps, result.shadow_radii, 2, _shadow_name(), gray))
    return traces


def _sentences(result: Spiral) -> list[str]:
    """Return the sentences above the panels: what runs, why it ended early, its numbers."""
    run = result.run
    about = text(
        "<b>{method}</b>, {name}: gradient descent without decay, η = {rate}, {batches}",
        method=run.start.normalizer.title,
        name=result.name,
        rate=number(run.rate),
        batches=result.batches,
    )
    numbers = text(
        "Radius {first} → {last}, as √(‖w<sub>0</sub>‖² + Σ η²‖G‖²) to within {off}; "
        "{turned}° turned in {steps:,} steps; {share}% of ‖w‖² is still in the first plane.",
        first=number(float(result.radii[0])),
        last=number(float(result.radii[-1])),
        off=number(result.deviation, 1),
        turned=number(float(np.degrees(result.turned[-1]))),
        steps=run.steps,
        share=number(100 * float(result.plane.share[-1]), 2),
    )
    return [about, *endings((run,), result.block), numbers]
