"""The plane of a weight vector and its gradient: the loss in wedges, gradient steps as arrows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import tan
from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.numbers import factor, fraction, number
from normgeo.base.text import text
from normgeo.dynamics.angular_update import AngularUpdates
from normgeo.dynamics.loss_plane import LossPlane
from normgeo.pictures.learning_rate.angular_update import AngularUpdate
from normgeo.pictures.style.colors import blend
from normgeo.pictures.style.template import SIZE, THEMES

SHOWN = (1.0, 2.0, 4.0)  # norms with an arrow of their own
LEVELS = 9  # of the loss, each in a color of its own
RINGS = 40  # where the loss depends on the norm, for ε > 0
MOST = 50.0  # of the plane: an arrow beyond it leaves the picture
PIXELS = 450  # of the plane's reach, roughly: no arrow is all head
Trace = dict[str, Any]  # of a frame: plotly checks it once, where an object is checked twice


def reach(curve: AngularUpdates, step: int) -> float:
    """How far the plane must show for a step's arrow to be seen."""
    norm, angle = float(curve.norms[step]), float(curve.angles[step])
    return max(4.6, 1.15 * norm, min(MOST, 3.2 * norm * tan(angle)))


def view(curve: AngularUpdates, step: int) -> dict[str, Any]:
    """The part of the plane that a frame shows; the wedges look the same at any zoom."""
    far = reach(curve, step)
    return {"xaxis.range": [-0.12 * far, far], "yaxis.range": [-0.16 * far, 0.42 * far]}


# Steps.


def step_traces(result: AngularUpdate, step: int, color: str, ink: str) -> list[Trace]:
    """The gradient steps in the plane as a frame shows them, its own last."""
    curve, far = result.curve, reach(result.curve, step)
    still = [_arrow(curve, result.place(norm), far, color=ink, width=2.0) for norm in SHOWN]
    moving = _arrow(curve, step, far, color=color, width=4.0)
    return [trace for arrow in (*still, moving) for trace in arrow]


def _arrow(
    curve: AngularUpdates, step: int, far: float, *, color: str, width: float
) -> tuple[Trace, Trace]:
    """Return one gradient step: its foot, the ray it ends on and the angle; and its arrow."""
    norm, angle = float(curve.norms[step]), float(curve.angles[step])
    length = norm * np.tan(angle)
    arc = np.linspace(0, angle, 12)
    mark = 0.6 * norm * np.column_stack([np.cos(arc), np.sin(arc)])
    gap = [np.nan, np.nan]
    turn = np.concatenate([mark, [gap, [0.0, 0.0], [norm, length], gap, [norm, 0.0]]])
    head = min(7 + width, max(3.0, length / far * PIXELS))
    plain: Trace = {"type": "scatter", "mode": "lines+markers", "showlegend": False}
    marker = {"color": color, "opacity": 1, "line": {"width": 0}}
    foot = {
        "x": _rounded(turn[:, 0]),
        "y": _rounded(turn[:, 1]),
        "line": {"color": color, "width": width / 2},
        "hoverinfo": "skip",
        "marker": {"size": [0] * (len(turn) - 1) + [4 + width], **marker},
    }
    arrow = {
        "x": _rounded(np.array([norm, norm])),
        "y": _rounded(np.array([0.0, length])),
        "line": {"color": color, "width": width},
        "marker": {"symbol": "arrow", "size": head, "angleref": "previous", **marker},
        "hoverinfo": "text",
        "text": text(
            "norm {norm}: loss {loss}, gradient {gradient}, turn {angle}°",
            norm=number(norm, 4),
            loss=number(float(curve.loss[step]), 6),
            gradient=number(float(curve.gradient_norms[step]), 4),
            angle=number(float(np.degrees(angle)), 4),
        ),
    }
    return {**plain, **foot}, {**plain, **arrow}


def step_notes(result: AngularUpdate, step: int) -> list[dict[str, Any]]:
    """The words at the tips and the feet of the steps; those without room are not visible.

    As many for every frame: plotly merges annotations into those on the screen, one by one.
    """
    far, own = reach(result.curve, step), float(result.curve.norms[step])
    steps = [(norm, norm / far > 0.2) for norm in SHOWN]
    steps.append((own, own > 1.5 * SHOWN[-1] and own / far > 0.2))
    return [
        {**words, "visible": visible}
        for norm, visible in steps
        for words in _words_of_step(result, result.place(norm))
    ]


def _words_of_step(result: AngularUpdate, step: int) -> tuple[dict[str, Any], ...]:
    norm, angle = float(result.curve.norms[step]), float(result.curve.angles[step])
    _, gradient, turn, _ = result.changes(step)
    tip = text(
        "gradient × {factor}<br>turn {angle}°",
        factor=fraction(gradient.factor),
        angle=number(turn.after),
    )
    foot = factor(norm) if norm != SHOWN[0] else f"{result.symbol} = {factor(norm)}"
    place = {"x": norm, "font": {"size": SIZE - 2}}
    return (
        {**place, "y": norm * np.tan(angle), "text": tip, "yanchor": "bottom", "yshift": 4},
        {**place, "y": 0, "text": foot, "yanchor": "top", "yshift": -6},
    )


# The loss.


def wedges(
    planes: Sequence[LossPlane], radius: float, color: str, theme: str, *, bar_x: float
) -> list[go.Scatter]:
    """The loss as filled wedges, a trace for each level, and the bar that names them."""
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
    traces = [
        _level(sectors, shade, below, above)
        for shade, sectors, below, above in zip(
            shades, outlines, edges[:-1], edges[1:], strict=True
        )
        if sectors
    ]
    return [*traces, _color_bar(shades, low, high, theme, bar_x)]


def _level(sectors: Sequence[Array], shade: str, below: float, above: float) -> go.Scatter:
    gap = np.full((1, 2), np.nan)
    points = np.concatenate([part for sector in sectors for part in (sector, gap)])
    words = text("loss {low} to {high} nats per case", low=number(below, 4), high=number(above, 4))
    return go.Scatter(
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


def _color_bar(shades: Sequence[str], low: float, high: float, theme: str, x: float) -> go.Scatter:
    bar = {
        "title": {"text": text("loss, nats<br>per case"), "side": "top"},
        "thickness": 10,
        "outlinewidth": 0,
        "x": x,
        "xanchor": "left",
        "y": 0.5,
        "len": 0.96,
        "nticks": 5,
        "tickfont": {"size": SIZE - 2, "color": THEMES[theme].muted},
    }
    marker = {
        "colorscale": [
            [(i + j) / len(shades), shade] for i, shade in enumerate(shades) for j in (0, 1)
        ],
        "cmin": low,
        "cmax": high,
        "color": [low],
        "opacity": 0,
        "showscale": True,
        "colorbar": bar,
    }
    return go.Scatter(
        x=[0], y=[0], mode="markers", marker=marker, hoverinfo="skip", showlegend=False
    )


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
