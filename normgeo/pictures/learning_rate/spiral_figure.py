"""The outward spiral of a weight vector beside the circle, and its radius against the law."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.dynamics.plane_path import PlanePath
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.style.lines import (
    POINTS,
    compact,
    line,
    predicted_style,
    scientific,
    words,
    wrapped,
)
from normgeo.pictures.style.template import MEASURED, SIZE, THEMES, dress, method_color

LEFT, RIGHT = (0.0, 0.45), (0.56, 1.0)
TRIANGLES = 3  # of the first steps, drawn with their right angle


def spiral_figure(
    radii: Array,
    predicted: Array,
    turned: Array,
    plane: PlanePath,
    normalizer: Normalizer,
    *,
    symbol: str,
    about: Sequence[str],
    theme: str,
) -> go.Figure:
    """Draw the path, unrolled and in one plane, and the radius against the step.

    Args:
        radii, predicted: ‖w‖ by step. turned: the sum of the angles so far, radians.
        plane: the path in the plane of the start and the first step.
        normalizer: for its color. symbol: of the norm. about: what runs, in lines.
        theme: of the figure.

    """
    look, color = THEMES[theme], method_color(normalizer)
    figure = go.Figure()
    shown = np.unique(np.linspace(0, len(radii) - 1, min(POINTS, len(radii))).astype(int))
    x, y = radii * np.cos(turned), radii * np.sin(turned)
    circle = radii[0] * np.exp(1j * np.linspace(0, 2 * np.pi, 121))
    shadow, wide = plane.coordinates, plane.share[-1] < 0.9995
    inside = text("its shadow on the plane of the first step")
    figure.add_traces(
        [
            _path(circle.real, circle.imag, text("circle of the start"), look.muted, 1.2),
            *([_path(shadow[:, 0], shadow[:, 1], inside, look.muted, 2.5)] if wide else []),
            _triangles(x, y, look.ink),
            _path(x[shown], y[shown], text("path, unrolled"), color, 3.0),
            go.Scatter(
                x=x[:1],
                y=y[:1],
                mode="markers",
                showlegend=False,
                cliponaxis=False,
                hoverinfo="skip",
                marker={"size": 11, "color": color, "line": {"color": look.ink, "width": 1.5}},
            ),
        ]
    )
    steps = np.arange(len(radii))
    measured = {"color": color, "width": 4, "dash": MEASURED}
    figure.add_trace(line(steps, radii, 2, text("measured"), measured, in_legend=True))
    style = predicted_style(theme)
    figure.add_trace(line(steps, predicted, 2, text("predicted"), style, in_legend=True))
    if wide:
        lengths = np.linalg.norm(shadow, axis=1)
        gray = {"color": look.muted, "width": 2.5, "dash": MEASURED}
        figure.add_trace(line(plane.steps, lengths, 2, inside, gray))
    lines = [words_ for each in about for words_ in wrapped(each)]
    lines.append(_numbers(radii, predicted, turned, plane))
    dress(figure, theme, height=500 + 19 * (len(lines) - 1))
    figure.update_layout(
        margin={"l": 8, "r": 8, "t": 56 + 19 * len(lines), "b": 44},
        legend={"orientation": "h", "x": 0, "y": 1.005, "font": {"size": SIZE - 1}},
        annotations=[words(lines, yshift=30)],
    )
    reach = 1.06 * float(max(np.abs(x).max(), np.abs(y).max(), radii[0]))
    figure.update_layout(
        xaxis={
            "domain": LEFT,
            "anchor": "y",
            "title": text("along the start ŵ"),
            "range": [-reach, reach],
            "constrain": "domain",
        },
        yaxis={
            "anchor": "x",
            "title": text("along the first step −Ĝ"),
            "scaleanchor": "x",
            "range": [-reach, reach],
            "constrain": "domain",
        },
        xaxis2={
            "domain": RIGHT,
            "anchor": "y2",
            "title": text("step"),
            "range": [-0.02 * steps[-1], 1.02 * steps[-1]],
        },
        yaxis2={
            "anchor": "x2",
            "title": text("norm of the weights {symbol}", symbol=symbol),
            "rangemode": "tozero",
            "exponentformat": "power",
        },
    )
    return figure


def _path(x: Array, y: Array, name: str, color: str, width: float) -> go.Scatter:
    shown = np.unique(np.linspace(0, len(x) - 1, min(POINTS, len(x))).astype(int))
    return go.Scatter(
        x=compact(x[shown]),
        y=compact(y[shown]),
        mode="lines",
        name=name,
        line={"color": color, "width": width, "dash": MEASURED},
        hoverinfo="skip",
    )


def _triangles(x: Array, y: Array, ink: str) -> go.Scatter:
    """Return the rays to the first points: each step is tangent, so each triangle has 90°."""
    ends = np.arange(min(TRIANGLES + 1, len(x)))
    across = np.ravel([[0.0, x[i], np.nan] for i in ends])
    up = np.ravel([[0.0, y[i], np.nan] for i in ends])
    return go.Scatter(
        x=across,
        y=up,
        mode="lines",
        line={"color": ink, "width": 1},
        hoverinfo="skip",
        showlegend=False,
    )


def _numbers(radii: Array, predicted: Array, turned: Array, plane: PlanePath) -> str:
    """Return today's numbers in a line."""
    return text(
        "Radius {first:.3g} → {last:.3g}, from √(‖w<sub>0</sub>‖² + Σ η²‖G‖²) at most {off} apart; "
        "{turns:.3g}° turned in {steps:,} steps; {share:.0%} of ‖w‖² is still in the first plane.",
        first=radii[0],
        last=radii[-1],
        off=scientific(float(np.abs(radii / predicted - 1).max())),
        turns=float(np.degrees(turned[-1])),
        steps=len(radii) - 1,
        share=plane.share[-1],
    )
