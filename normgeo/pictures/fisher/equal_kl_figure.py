"""Contours of the true KL over the ellipses of its quadratic form, two planes for each model."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.fisher.contours import Contours
from normgeo.pictures.captions import variant
from normgeo.pictures.fisher.equal_kl import EqualKL, Plane
from normgeo.pictures.style.annotations import colored, method_title, note
from normgeo.pictures.style.colors import blend, method_color
from normgeo.pictures.style.template import LEGEND_ABOVE, MEASURED, PREDICTED, THEMES, dress

PARTS = ((0.0, 0.47), (0.53, 1.0))  # the planes across the weights, and those with them
BETWEEN = 0.02
SHARES = (1.0, 0.7, 0.45)  # of the method's color, a level each


def figure(result: EqualKL, theme: str) -> go.Figure:
    """Draw KL = c solid and ½ δᵀFδ = c dashed for three levels."""
    look, drawn = THEMES[theme], go.Figure()
    models = len(result.base.points)
    for part, planes in enumerate((result.across, result.along)):
        for place, plane in enumerate(planes):
            if plane.contours is not None:
                color = method_color(result.base.points[place].normalizer)
                panel = place + 1 + models * part
                drawn.add_traces(_panel(plane.contours, panel, color, theme))
    for line, words in (
        ({"color": look.muted, "width": 3, "dash": MEASURED}, text("KL = c, true")),
        ({"color": look.ink, "width": 1.2, "dash": PREDICTED}, text("½ δᵀFδ = c")),
    ):
        drawn.add_scatter(x=[None], y=[None], mode="lines", line=line, name=words, showlegend=True)
    dress(drawn, theme, height=452)
    drawn.update_layout(
        _axes(result),
        margin={"l": 8, "r": 8, "t": 124, "b": 48},
        legend=LEGEND_ABOVE,
        annotations=_heads(result, look.muted),
    )
    return drawn


def _panel(contours: Contours, panel: int, color: str, theme: str) -> list[go.Scatter]:
    """Return the curves of all levels, and the point from which the steps go."""
    look, traces = THEMES[theme], []
    for level, quadratic, true, share in zip(
        contours.levels, contours.quadratic, contours.true, SHARES, strict=True
    ):
        solid = {"color": blend(look.paper, color, share), "width": 3}
        dashed = {"color": look.ink, "width": 1.2, "dash": PREDICTED}
        for points, words, line in (
            (true, text("KL = {c} nats", c=number(level)), solid),
            (quadratic, text("½ δᵀFδ = {c} nats", c=number(level)), dashed),
        ):
            traces.append(_curve(points, words, panel, contours.strip, line))
    here = go.Scatter(
        x=[0],
        y=[0],
        mode="markers",
        marker={"size": 7, "color": look.ink},
        xaxis=f"x{panel}",
        yaxis=f"y{panel}",
        showlegend=False,
        hoverinfo="skip",
    )
    return [*traces, here]


def _curve(points: Array, words: str, panel: int, strip: bool, line: dict[str, Any]) -> go.Scatter:
    return go.Scatter(
        x=points[:, 0].astype(np.float32),
        y=points[:, 1].astype(np.float32),
        mode="lines",
        line={"dash": MEASURED, "shape": "linear" if strip else "spline", **line},
        name=words,
        xaxis=f"x{panel}",
        yaxis=f"y{panel}",
        showlegend=False,
        hoverinfo="name",
        hoverlabel={"namelength": -1},
    )


def _width(part: int, models: int) -> float:
    left, right = PARTS[part]
    return (right - left - BETWEEN * (models - 1)) / max(2, models)


def _axes(result: EqualKL) -> dict[str, dict[str, Any]]:
    """Return axes in which the panels of a part share one scale, the same up as sideways."""
    layout: dict[str, dict[str, Any]] = {}
    plain = {"zeroline": False, "constrain": "domain", "nticks": 6}
    titles = (text("a direction at random across ŵ"), text("along the weights ŵ"))
    for part, planes in enumerate((result.across, result.along)):
        width = _width(part, len(planes))
        far = 1.1 * max((_extent(p.contours) for p in planes if p.contours), default=1.0)
        for place in range(len(planes)):
            n, start = place + 1 + len(planes) * part, PARTS[part][0] + place * (width + BETWEEN)
            layout[f"xaxis{n}"] = {
                "domain": (start, start + width),
                "anchor": f"y{n}",
                "range": [-far, far],
                "title": titles[part],
                **plain,
            }
            layout[f"yaxis{n}"] = {
                "anchor": f"x{n}",
                "range": [-far, far],
                **plain,
                "scaleanchor": f"x{n}",
                "showticklabels": not place,
                "title": "" if place else text("the steepest across ŵ"),
            }
    return layout


def _extent(contours: Contours) -> float:
    """Return how far a panel must reach: to all of the ellipses, or along a strip to the origin."""
    if contours.strip:
        return max(1.0, float(np.nanmax(np.abs(contours.quadratic[..., 1]))))
    both = np.abs(np.concatenate([contours.quadratic, contours.true]))
    return float(np.nanmax(both))


def _heads(result: EqualKL, muted: str) -> list[dict[str, Any]]:
    base = result.base
    first = text("<b>{name}</b>: steps in units of ‖w‖", name=base.name)
    heads = [note([first, colored(f"{base.caption}; {base.which}", muted)], yshift=66)]
    for part, (planes, describe) in enumerate(((result.across, _across), (result.along, _along))):
        step = _width(part, len(planes)) + BETWEEN
        for place, (point, plane) in enumerate(zip(base.points, planes, strict=True)):
            title = method_title(point.normalizer, variant(point.normalizer))
            lines = [title, colored(describe(plane), muted)]
            heads.append(note(lines, PARTS[part][0] + place * step, yshift=4))
    return heads


def _across(plane: Plane) -> str:
    """Say what is seen across the weights."""
    if plane.contours is None:
        return text("no second direction across, or stopped")
    a, b = (number(each, 2) for each in plane.curvatures)
    return text("across ŵ: curvatures {a} : {b}", a=a, b=b)


def _along(plane: Plane) -> str:
    """Say what is seen in a plane with the weights in it."""
    if plane.contours is None:
        return text("stopped")
    if not plane.contours.strip:
        a, b = (number(each, 2) for each in plane.curvatures)
        return text("with ŵ: curvatures {a} : {b}", a=a, b=b)
    if not plane.share:
        return text("with ŵ: no curvature along ŵ")
    return text("with ŵ: {share} × the curvature along ŵ", share=number(plane.share, 1))
