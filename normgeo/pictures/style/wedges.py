"""The loss over a plane through the origin, as filled wedges, or as parts of rings for ε > 0."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.dynamics.loss_plane import LossPlane
from normgeo.pictures.style.template import SIZE, THEMES, blend

LEVELS = 9  # of the loss, each in a color of its own
RINGS = 40  # where the loss depends on the norm, for ε > 0


def wedges(
    planes: Sequence[LossPlane], radius: float, color: str, theme: str, *, bar_x: float
) -> list[go.Scatter]:
    """Return the loss as filled wedges, a trace for each level, and the bar that names them."""
    losses = np.concatenate([plane.loss for plane in planes])
    low, high = float(np.nanmin(losses)), float(np.nanmax(losses))
    edges = np.linspace(low, high, LEVELS + 1)
    shades = [blend(THEMES[theme].paper, color, 0.62 * i / (LEVELS - 1)) for i in range(LEVELS)]
    outlines: list[list[Array]] = [[] for _ in shades]
    for fine, loss, inner, outer in _rings(planes, radius):
        level = np.where(np.isnan(loss), -1, np.digitize(loss, edges[1:-1]))
        for run in np.split(np.arange(len(fine)), np.flatnonzero(np.diff(level)) + 1):
            if level[run[0]] >= 0:
                end = min(run[-1] + 1, len(fine) - 1)
                outlines[level[run[0]]].append(_sector(fine[run[0]], fine[end], inner, outer))
    traces = []
    for shade, sectors, below, above in zip(shades, outlines, edges[:-1], edges[1:], strict=True):
        if not sectors:
            continue
        gap = np.full((1, 2), np.nan)
        points = np.concatenate([part for sector in sectors for part in (sector, gap)])
        words = text("loss {low:.4g} to {high:.4g} nats per case", low=below, high=above)
        traces.append(
            go.Scatter(
                x=_rounded(points[:, 0]),
                y=_rounded(points[:, 1]),
                mode="lines",
                fill="toself",
                fillcolor=shade,
                line={"color": shade, "width": 1},
                hoveron="fills",
                name=words,
                text=words,
                hoverinfo="text",
                showlegend=False,
            )
        )
    scale = [[(i + j) / LEVELS, shade] for i, shade in enumerate(shades) for j in (0, 1)]
    bar = {
        "title": {"text": text("loss, nats<br>per case"), "side": "top"},
        "thickness": 10,
        "outlinewidth": 0,
        "x": bar_x,
        "xanchor": "left",
        "y": 0.5,
        "len": 0.96,
        "nticks": 5,
        "tickfont": {"size": SIZE - 2, "color": THEMES[theme].muted},
    }
    marker = {
        "colorscale": scale,
        "cmin": low,
        "cmax": high,
        "color": [low],
        "opacity": 0,
        "showscale": True,
        "colorbar": bar,
    }
    traces.append(
        go.Scatter(x=[0], y=[0], mode="markers", marker=marker, hoverinfo="skip", showlegend=False)
    )
    return traces


def _rings(planes: Sequence[LossPlane], radius: float) -> list[tuple[Array, Array, float, float]]:
    """Return (angles, loss, inner, outer radius): one ring of all radii where there is one plane.

    Between planes at several norms the loss is interpolated in log r.
    """
    angles = np.linspace(-np.pi, np.pi, 1441 if len(planes) == 1 else 361)
    losses = np.stack([np.interp(angles, plane.angles, plane.loss) for plane in planes])
    if len(planes) == 1:
        return [(angles, losses[0], 0.0, radius)]
    logs = np.log([plane.norm for plane in planes])
    edges = np.linspace(logs[0], logs[-1], RINGS + 1)
    rings = []
    for i, (low, high) in enumerate(pairwise(edges)):
        middle = (low + high) / 2
        j = int(np.clip(np.searchsorted(logs, middle), 1, len(logs) - 1))
        share = (middle - logs[j - 1]) / (logs[j] - logs[j - 1])
        loss = (1 - share) * losses[j - 1] + share * losses[j]
        inner = 0.0 if i == 0 else float(np.exp(low))
        rings.append((angles, loss, inner, radius if i == RINGS - 1 else float(np.exp(high))))
    return rings


def _sector(start: float, end: float, inner: float, outer: float) -> Array:
    """Return the outline of a part of a ring, or of a wedge where `inner` is 0, (M, 2)."""
    arc = np.linspace(start, end, 2 + int((end - start) / np.radians(15)))
    circle = np.column_stack([np.cos(arc), np.sin(arc)])
    back = inner * circle[::-1] if inner else np.zeros((1, 2))
    return np.concatenate([outer * circle, back, outer * circle[:1]])


def _rounded(values: Array) -> Array:
    return np.round(values, 4).astype(np.float32)
