"""Equal KL around a weight vector: ellipses across it, wedges in a plane that contains it."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.fisher.ellipse import EqualKL, EqualKLPicture
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.style.template import (
    MEASURED,
    PREDICTED,
    SIZE,
    THEMES,
    blend,
    dress,
    method_color,
)

LEFT, RIGHT = (0.0, 0.4), (0.5, 1.0)
FLAT = 1e-9  # of the curvature across: less along ŵ is rounding
SHARES, WIDTHS = (1.0, 0.55), (3.0, 5.0)


def ellipse_figure(
    picture: EqualKLPicture, normalizer: Normalizer, *, name: str, symbol: str, theme: str
) -> go.Figure:
    """Draw where the KL is c before and after doubling, in a tangent plane and in one with ŵ.

    Args:
        picture: at two norms. normalizer: for its color. name, symbol: of the block and its norm.
        theme: of the figure.

    """
    look, color = THEMES[theme], method_color(normalizer)
    figure = go.Figure()
    farthest = 1.25 * picture.at[-1].norm
    for at, share, width in reversed(list(zip(picture.at, SHARES, WIDTHS, strict=True))):
        shade = blend(look.paper, color, share)
        kl = text("KL = c at {symbol} = {norm:g}", symbol=symbol, norm=at.norm)
        figure.add_trace(_outline(at.contour, kl, {"color": shade, "width": width}, 1, True))
        figure.add_trace(_wedge(at, farthest, kl, {"color": shade, "width": width}, look.paper))
    for place, at in enumerate(picture.at):
        words, style = text("½ dwᵀF dw = c"), {"color": look.ink, "width": 1.5, "dash": PREDICTED}
        figure.add_trace(_outline(at.ellipse, words, style, 1, place == 0))
        figure.add_trace(_outline(_strip(at), words, style, 2))
    figure.add_trace(
        go.Scatter(
            x=[at.norm for at in picture.at],
            y=[0] * len(picture.at),
            mode="markers+text",
            text=[f" {symbol} = {at.norm:g}" for at in picture.at],
            textposition="middle right",
            marker={"size": 9, "color": look.ink},
            xaxis="x2",
            yaxis="y2",
            showlegend=False,
            cliponaxis=False,
            hoverinfo="skip",
        )
    )
    figure.add_trace(
        go.Scatter(
            x=[0],
            y=[0],
            mode="markers",
            marker={"size": 9, "color": look.ink},
            showlegend=False,
            hoverinfo="skip",
        )
    )
    dress(figure, theme, height=500)
    _axes(figure, picture, farthest, symbol)
    title = text(
        "<b>{method}</b>, {name}: expected Fisher information, mean over N = {cases} cases, nats; "
        "c = {level:g} nats",
        method=normalizer.title,
        name=name,
        cases=picture.which.N,
        level=picture.level,
    )
    ratio = float(np.sqrt(picture.at[0].metric[0, 0] / picture.at[1].metric[0, 0]))
    radial = max(at.radial / at.metric[0, 0] for at in picture.at)
    across = text(
        "A plane across the weights: F × {quarter:.3g}, so the ellipse × {ratio:.3g}",
        quarter=ratio**-2,
        ratio=ratio,
    )
    figure.update_layout(
        margin={"l": 8, "r": 8, "t": 92, "b": 48},
        legend={
            "x": 0,
            "y": 1.065,
            "yanchor": "bottom",
            "xanchor": "left",
            "font": {"size": SIZE - 1},
        },
        annotations=[
            _paper(title, LEFT[0], yshift=56),
            _paper(across, LEFT[0], yshift=8, color=look.muted),
            _paper(_radial(radial), RIGHT[0], yshift=8, color=look.muted),
        ],
    )
    return figure


def _radial(share: float) -> str:
    if abs(share) < FLAT:
        return text("A plane with the weights in it: a wedge, no curvature along ŵ")
    return text(
        "A plane with the weights in it: for ε > 0, curvature along ŵ is {share:.2g} × that across",
        share=share,
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
    flat = abs(at.radial) < FLAT * at.metric[0, 0]
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


def _axes(figure: go.Figure, picture: EqualKLPicture, farthest: float, symbol: str) -> None:
    points = np.concatenate([part for at in picture.at for part in (at.ellipse, at.contour)])
    reach = 1.08 * float(np.nanmax(np.abs(points)))
    plain = {"zeroline": False}
    figure.update_layout(
        xaxis={
            "domain": LEFT,
            "range": [-reach, reach],
            "constrain": "domain",
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


def _paper(words: str, x: float, yshift: int, color: str | None = None) -> dict[str, Any]:
    font = {"size": SIZE} if color is None else {"size": SIZE, "color": color}
    return {
        "text": words,
        "x": x,
        "y": 1,
        "xref": "paper",
        "yref": "paper",
        "xanchor": "left",
        "yanchor": "bottom",
        "align": "left",
        "yshift": yshift,
        "font": font,
    }
