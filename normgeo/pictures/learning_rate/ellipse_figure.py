"""Equal KL around a weight vector: ellipses across it, wedges in a plane that contains it."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.fisher.ellipse import EqualKL, EqualKLByNorm
from normgeo.pictures.learning_rate.ellipse import Ellipse, flat_along
from normgeo.pictures.style.annotations import note, wrapped
from normgeo.pictures.style.colors import blend, method_color
from normgeo.pictures.style.panels import head, stacked
from normgeo.pictures.style.template import LEGEND_FIRST, MEASURED, PREDICTED, SIZE, THEMES, dress

LINE, LEGEND = 21, 92  # pixels: a line of words; the names of the lines below each other
LEFT, RIGHT = (0.0, 0.4), (0.5, 1.0)
POINT: dict[str, Any] = {"xref": "x2", "yref": "y2", "yanchor": "middle"}
SHARES, WIDTHS = (1.0, 0.55), (3.0, 5.0)


def figure(result: Ellipse, theme: str) -> go.Figure:
    """Draw where the KL is c before and after doubling, in a tangent plane and in one with ŵ."""
    look, color = THEMES[theme], method_color(result.normalizer)
    measured, symbol = result.measured, result.symbol
    drawn = go.Figure()
    farthest = 1.25 * measured.at[-1].norm
    for at, share, width in reversed(list(zip(measured.at, SHARES, WIDTHS, strict=True))):
        shade = blend(look.paper, color, share)
        kl = text("KL = c at {symbol} = {norm}", symbol=symbol, norm=number(at.norm))
        drawn.add_trace(_outline(at.contour, kl, {"color": shade, "width": width}, 1, True))
        drawn.add_trace(_wedge(at, farthest, kl, {"color": shade, "width": width}, look.paper))
    for place, at in enumerate(measured.at):
        words, style = text("½ dwᵀF dw = c"), {"color": look.ink, "width": 1.5, "dash": PREDICTED}
        drawn.add_trace(_outline(at.ellipse, words, style, 1, place == 0))
        drawn.add_trace(_outline(_strip(at), words, style, 2))
    drawn.add_trace(
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
    drawn.add_trace(
        go.Scatter(
            x=[0],
            y=[0],
            mode="markers",
            marker={"size": 9, "color": look.ink},
            showlegend=False,
            hoverinfo="skip",
        )
    )
    dress(drawn, theme, height=500)
    _axes(drawn, measured, farthest, symbol)
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
    names = [f"{symbol} = {number(at.norm)}" for at in measured.at]
    places = [(name, at.norm) for name, at in zip(names, measured.at, strict=True)]
    small: dict[str, Any] = {"yshift": 8, "font": {"size": SIZE, "color": look.muted}}
    drawn.update_layout(
        margin={"t": 92},
        legend=LEGEND_FIRST,
        annotations=[
            note(title, LEFT[0], yshift=34),
            head(1, [across], **small),
            head(2, [_along(result)], **small),
            *(note(name, norm, 0, xshift=8, **POINT) for name, norm in places),
        ],
        meta={"narrow": _narrow(title, across, _along(result), small, places)},
    )
    return drawn


def _narrow(
    title: str, across: str, along: str, small: dict[str, Any], places: list[tuple[str, float]]
) -> dict[str, Any]:
    """Return the layout of a narrow figure: the tangent plane above the one with ŵ."""
    lines, heads = wrapped(title, 38), (wrapped(across, 38), wrapped(along, 38))
    between = 64 + LINE * max(map(len, heads))
    top = LINE * (len(heads[0]) + len(lines)) + LEGEND + 24
    layout = stacked([[1], [2]], each=280, between=between, top=top)
    return layout | {
        "legend": {"orientation": "v"},
        "annotations": [
            note(lines, yshift=LINE * len(heads[0]) + 16),
            head(1, heads[0], **small),
            head(2, heads[1], **small),
            # Beside their points they would lie on each other: one above the wedge, one below.
            *(
                note(name, norm, 0, yshift=shift, **POINT | {"xanchor": "center"})
                for (name, norm), shift in zip(places, (-52, 52), strict=True)
            ),
        ],
    }


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
        xaxis=f"x{panel}",
        yaxis=f"y{panel}",
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


def _axes(drawn: go.Figure, measured: EqualKLByNorm, farthest: float, symbol: str) -> None:
    points = np.concatenate([part for at in measured.at for part in (at.ellipse, at.contour)])
    reach = 1.08 * float(np.nanmax(np.abs(points)))
    plain = {"zeroline": False}
    drawn.update_layout(
        xaxis={
            "domain": LEFT,
            "range": [-reach, reach],
            "constrain": "domain",
            "constraintoward": "left",
            "title": text("step dw against the gradient, −Ĝ"),
            **plain,
        },
        yaxis={
            "range": [-reach, reach],
            "scaleanchor": "x",
            "constrain": "domain",
            "title": text("step dw across it, at random"),
            **plain,
        },
        xaxis2={
            "domain": RIGHT,
            "anchor": "y2",
            "range": [-0.06 * farthest, farthest],
            "title": text("along the weights ŵ"),
            **plain,
        },
        yaxis2={
            "anchor": "x2",
            "range": [-0.4 * farthest, 0.4 * farthest],
            "scaleanchor": "x2",
            "title": text("against the gradient, −Ĝ"),
            **plain,
        },
    )
