"""Equal KL around a weight vector: ellipses across it, wedges in a plane that contains it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.fisher.ellipse import EqualKL, EqualKLByNorm
from normgeo.pictures.learning_rate.ellipse import Ellipse, flat_along
from normgeo.pictures.style.annotations import colored, note
from normgeo.pictures.style.colors import blend, method_color
from normgeo.pictures.style.sheet import Band, Panel, Sheet, on_panel
from normgeo.pictures.style.template import MEASURED, PREDICTED, SIZE, SMALL, THEMES

SHARES, WIDTHS = (1.0, 0.55), (3.0, 5.0)


def figure(result: Ellipse, theme: str) -> go.Figure:
    """Draw where the KL is c before and after doubling, in a tangent plane and in one with ŵ."""
    look, color = THEMES[theme], method_color(result.normalizer, theme)
    measured, symbol = result.measured, result.symbol
    traces = []
    farthest = 1.25 * measured.at[-1].norm
    for at, share, width in reversed(list(zip(measured.at, SHARES, WIDTHS, strict=True))):
        shade = blend(look.paper, color, share)
        kl = text("KL = c at {symbol} = {norm}", symbol=symbol, norm=number(at.norm))
        traces.append(_outline(at.contour, kl, {"color": shade, "width": width}, 1, True))
        traces.append(_wedge(at, farthest, kl, {"color": shade, "width": width}, look.paper))
    for place, at in enumerate(measured.at):
        words, style = text("½ dwᵀF dw = c"), {"color": look.ink, "width": 1.5, "dash": PREDICTED}
        traces.append(_outline(at.ellipse, words, style, 1, place == 0))
        traces.append(_outline(_strip(at), words, style, 2))
    traces.append(
        go.Scatter(
            x=[at.norm for at in measured.at],
            y=[0] * len(measured.at),
            mode="markers",
            marker={"size": 9, "color": look.ink},
            xaxis="x2",
            yaxis="y2",
            showlegend=False,
            cliponaxis=False,
            hoverinfo="skip",
        )
    )
    traces.append(
        go.Scatter(
            x=[0],
            y=[0],
            mode="markers",
            marker={"size": 9, "color": look.ink},
            showlegend=False,
            hoverinfo="skip",
        )
    )
    title = text(
        "<b>{method}</b>, {name}: {which}; c = {level} nats",
        method=result.normalizer.title,
        name=result.name,
        which=measured.which,
        level=number(measured.level),
    )
    across = text(
        "A plane across the weights: F × {factor}, so the ellipse × {growth}",
        factor=number(result.growth**-2),
        growth=number(result.growth),
    )
    heads = [[colored(words, look.muted, SIZE)] for words in (across, _along(result))]
    left, right = _axes(measured, farthest)
    beside: dict[str, Any] = {"xref": "x", "yref": "y", "yanchor": "middle", "xshift": 8}
    names = [
        note(f"{symbol} = {number(at.norm)}", at.norm, 0, font={"size": SMALL}, **beside)
        for at in measured.at
    ]
    return Sheet(
        [Band([title])],
        rows=[
            [
                Panel(*left, heads[0], high=(356, 280)),
                Panel(*right, heads[1], names, share=1.25, high=(356, 280)),
            ]
        ],
    ).on(traces, theme)


def _along(result: Ellipse) -> str:
    if result.is_flat:
        return text("A plane that contains the weights: a wedge, no curvature along ŵ")
    return text(
        "A plane that contains the weights: for ε > 0, curvature along ŵ is {share} × that across",
        share=number(result.radial_share, 2),
    )


def _outline(
    points: Array, name: str, style: dict[str, Any], panel: int, in_legend: bool = False
) -> go.Scatter:
    shape = "spline" if panel == 1 else "linear"
    return go.Scatter(
        x=points[:, 0].astype(np.float32),
        y=points[:, 1].astype(np.float32),
        mode="lines",
        line={"dash": MEASURED, "shape": shape, **style},
        name=name,
        legendgroup=name,
        showlegend=in_legend,
        **on_panel(panel),
        hoverinfo="name",
    )


def _wedge(
    at: EqualKL, farthest: float, name: str, style: dict[str, Any], paper: str
) -> go.Scatter:
    """Return the two rays that bound the wedge, from the origin; a part of them for ε > 0."""
    flat = flat_along(at)
    inner, outer = (0.0, 2 * farthest) if flat else (0.8 * at.norm, 1.2 * at.norm)
    low, high = np.column_stack([np.cos(at.wedge), np.sin(at.wedge)])
    gap = np.full(2, np.nan)
    inside = [outer * low, inner * low, inner * high, outer * high]
    points = np.array(inside if flat else [*inside[:2], gap, *inside[2:]])
    trace = _outline(points, name, style, 2)
    if flat and np.isfinite(points).all():
        trace.update(fill="toself", fillcolor=blend(paper, style["color"], 0.15), hoveron="points")
    return trace


def _strip(at: EqualKL) -> Array:
    """Return the two edges of the strip about the weights, (5, 2)."""
    left, right, half = 0.55 * at.norm, 1.45 * at.norm, at.strip
    gap = [np.nan, np.nan]
    return np.array([[left, half], [right, half], gap, [left, -half], [right, -half]])


def _axes(
    measured: EqualKLByNorm, farthest: float
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield those of the tangent plane, and of the plane with ŵ."""
    points = np.concatenate([part for at in measured.at for part in (at.ellipse, at.contour)])
    reach = 1.08 * float(np.nanmax(np.abs(points)))
    square = {"zeroline": False, "range": [-reach, reach], "constrain": "domain"}
    yield (
        {
            **square,
            "constraintoward": "left",
            "title": text("step dw against the gradient, −Ĝ"),
        },
        {**square, "scaleanchor": "x", "title": text("step dw across it, at random")},
    )
    yield (
        {
            "zeroline": False,
            "range": [-0.06 * farthest, farthest],
            "title": text("along the weights ŵ"),
        },
        {
            "zeroline": False,
            "range": [-0.4 * farthest, 0.4 * farthest],
            "scaleanchor": "x2",
            "title": text("against the gradient, −Ĝ"),
        },
    )
