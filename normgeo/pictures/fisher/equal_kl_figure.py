"""Contours of the true KL over those of its quadratic form: one plane for each of two models."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.fisher.contours import Contours
from normgeo.pictures.captions import listed, variant
from normgeo.pictures.fisher.equal_kl import EqualKL, Plane
from normgeo.pictures.style.annotations import colored, method_title, note
from normgeo.pictures.style.colors import blend, method_color
from normgeo.pictures.style.panels import head, lines_of, stacked
from normgeo.pictures.style.template import (
    LARGE,
    MEASURED,
    PREDICTED,
    SIZE,
    SMALL,
    THEMES,
    Theme,
    dress,
)

BETWEEN = 0.06
FILLS = (0.1, 0.2, 0.34)  # of the method's color, from the largest level to the smallest
HEIGHT, TOP, NARROW_TOP = 436, 116, 216
OPEN = 0.6  # of ‖w‖: the height up to which a panel follows a wedge
SHAPE = 0.54  # height of a panel over its width, about
FARTHEST = 1.6  # times as far as the ellipses: a panel shows no contours beyond


def figure(result: EqualKL, theme: str) -> go.Figure:
    """Draw KL = c solid and filled, and ½ δᵀFδ = c dashed, for three levels."""
    look, drawn = THEMES[theme], go.Figure()
    for n, (point, plane) in enumerate(zip(result.base.points, result.planes, strict=True), 1):
        if plane.contours is not None:
            color = method_color(point.normalizer)
            drawn.add_traces(_panel(plane.contours, n, color, look))
            drawn.add_trace(_points(result.with_weights, n, look))
    drawn.add_traces(_legend(look))
    dress(drawn, theme, height=HEIGHT)
    drawn.update_layout(
        _axes(result),
        margin={"t": TOP},
        legend={"x": 1, "xanchor": "right", "y": 1, "yref": "container", "yanchor": "top"},
        annotations=_words(result, look, narrow=False),
        meta={
            "narrow": {
                **_stacked(result),
                "legend": {"x": 0, "xanchor": "left"},
                "annotations": _words(result, look, narrow=True),
            }
        },
    )
    return drawn


def _panel(contours: Contours, panel: int, color: str, look: Theme) -> list[go.Scatter]:
    """Return what is within each level, the KL, and its quadratic form."""
    fills = [
        _curve(_filled(true, contours.strip), panel, contours.strip)
        .update(mode="none", fill="toself", fillcolor=blend(look.paper, color, share))
        .update(hoverinfo="skip")
        for true, share in zip(contours.true[::-1], FILLS, strict=True)
    ]
    solid, dashed = (
        _curve(_joined(curves), panel, contours.strip).update(
            line=line,
            customdata=np.repeat(contours.levels, curves.shape[1] + 1).astype(np.float32),
            hovertemplate=text(
                "{name}: c = {level} nats<extra></extra>", name=name, level="%{customdata:.3g}"
            ),
        )
        for curves, name, line in (
            (contours.true, text("KL"), {"color": color, "width": 3.5, "dash": MEASURED}),
            (contours.quadratic, "½ δᵀFδ", {"color": look.ink, "width": 2, "dash": PREDICTED}),
        )
    )
    return [*fills, solid, dashed]


def _curve(points: Array, panel: int, strip: bool) -> go.Scatter:
    return go.Scatter(
        x=points[:, 0].astype(np.float32),
        y=points[:, 1].astype(np.float32),
        mode="lines",
        line={"shape": "linear" if strip else "spline"},
        xaxis=f"x{panel}",
        yaxis=f"y{panel}",
        showlegend=False,
    )


def _joined(curves: Array) -> Array:
    """Return curves (L, R, 2) one after the other, with a gap after each."""
    gaps = np.full((len(curves), 1, 2), np.nan)
    points: Array = np.concatenate([curves, gaps], axis=1).reshape(-1, 2)
    return points


def _filled(true: Array, strip: bool) -> Array:
    """Return what is within one level: of a strip, along one edge and back along the other."""
    gap = len(true) // 2
    outline = np.concatenate([true[:gap], true[:gap:-1]]) if strip else true
    found: Array = outline[np.isfinite(outline).all(axis=1)]
    return found


def _points(with_weights: bool, panel: int, look: Theme) -> go.Scatter:
    """Return w, and on the ray through it w = 0 and 2w."""
    at, words = ([0], ["w"]) if not with_weights else ([-1, 0, 1], ["", "w", "2w"])
    return go.Scatter(
        x=at,
        y=[0] * len(at),
        mode="lines+markers+text",
        line={"color": look.ink, "width": 1.5},
        marker={
            "size": 11,
            "color": look.ink,
            "symbol": ["circle-open", "circle", "circle"][-len(at) :] if with_weights else "circle",
        },
        text=[f"<b>{each}</b>" for each in words],
        textposition="bottom center",
        textfont={"size": SIZE + 2, "color": look.ink, "shadow": _halo(look.paper)},
        cliponaxis=False,
        xaxis=f"x{panel}",
        yaxis=f"y{panel}",
        showlegend=False,
        hoverinfo="skip",
    )


def _halo(paper: str) -> str:
    """A shadow that keeps words apart from the lines behind them."""
    return ", ".join(f"{x}px {y}px 2px {paper}" for x in (-2, 0, 2) for y in (-2, 0, 2))


def _legend(look: Theme) -> list[go.Scatter]:
    return [
        go.Scatter(x=[None], y=[None], mode="lines", line=line, name=str(words), showlegend=True)
        for line, words in (
            ({"color": look.muted, "width": 3.5, "dash": MEASURED}, text("KL = c, true")),
            ({"color": look.ink, "width": 2, "dash": PREDICTED}, text("½ δᵀFδ = c")),
        )
    ]


def _axes(result: EqualKL) -> dict[str, dict[str, Any]]:
    """Return axes on one scale, the same up as sideways, in units of ‖w‖."""
    layout: dict[str, dict[str, Any]] = {}
    count = len(result.planes)
    width = (1 - BETWEEN) / 2
    x, y = _extent(result)
    along = {"title": text("a direction at random across ŵ"), "nticks": 6}
    if result.with_weights:
        ticks = [-1, -0.5, 0, 0.5, 1]
        names = ["0", "½ ‖w‖", "‖w‖", "1½ ‖w‖", "2 ‖w‖"]
        along = {"title": text("along the weights ŵ"), "tickvals": ticks, "ticktext": names}
    for place in range(count):
        n, start = place + 1, place * (width + BETWEEN)
        layout[f"xaxis{n}"] = {
            "domain": (start, start + width) if count > 1 else (0.2, 0.8),
            "anchor": f"y{n}",
            "range": [-x, x],
            "zeroline": False,
            "constrain": "range",
            **along,
        }
        layout[f"yaxis{n}"] = {
            "anchor": f"x{n}",
            "range": [-y, y],
            "zeroline": False,
            "constrain": "range",
            "scaleanchor": f"x{n}",
            "nticks": 5,
            "title": "" if place else text("steepest across ŵ, in ‖w‖"),
        }
    return layout


def _extent(result: EqualKL) -> tuple[float, float]:
    """Return how far the panels reach: to all contours that are not too far, and to 0 and 2w."""
    x, y = (1.0 if result.with_weights else 0.0), 0.0
    for plane in result.planes:
        if plane.contours is not None:
            ellipse = np.nanmax(np.abs(plane.contours.quadratic), axis=(0, 1))
            true = np.nanmax(np.abs(plane.contours.true), axis=(0, 1), initial=0.0)
            far = np.minimum(true, FARTHEST * ellipse)
            if plane.contours.strip:
                far[1] = max(ellipse[1], min(true[1], OPEN))
            x, y = max(x, far[0], ellipse[0]), max(y, far[1], ellipse[1])
    x = 1.12 * (x or 1.0)
    return x, float(np.clip(1.08 * y, SHAPE * x, x))


def _stacked(result: EqualKL) -> dict[str, Any]:
    """Place the panels on a phone, with the names along the weights that have room there."""
    panels = [[n] for n in range(1, len(result.planes) + 1)]
    layout = stacked(panels, each=200, between=138, top=NARROW_TOP)
    few = {"tickangle": 0, "tickvals": [-1, 0, 1], "ticktext": ["0", "‖w‖", "2 ‖w‖"]}
    for name, axis in layout.items():
        if name.startswith("xaxis") and result.with_weights:
            axis.update(few)
    return layout


def _words(result: EqualKL, look: Theme, *, narrow: bool) -> list[dict[str, Any]]:
    """Return what stands above the figure and in its panels."""
    base = result.base
    levels = listed([number(level) for level in result.levels.tolist()])
    about = (
        text("{name}; c = {levels} nats per case", name=base.name, levels=levels),
        text("{about}; {which}", about=base.caption, which=base.which),
    )
    lines = [colored(line, look.muted, SMALL) for line in lines_of(about, narrow)]
    words = [note(lines, yanchor="top", yshift=NARROW_TOP - 34 if narrow else TOP - 2)]
    for n, (point, plane) in enumerate(zip(base.points, result.planes, strict=True), 1):
        title = method_title(point.normalizer, variant(point.normalizer))
        lines_above = [title, _verdict(plane, narrow)]
        words.append(head(n, lines_above, font={"size": LARGE - 4}))
        if plane.contours is not None:
            words.append(head(n, _numbers(plane, look), yanchor="top", x=0.02, yshift=-2))
    return words


def _verdict(plane: Plane, narrow: bool) -> str:
    """Say in large letters what is seen, and after a colon in smaller ones what that means."""
    name, colon, meaning = str(plane.shape).partition(": ")
    large = f'<span style="font-size:{LARGE}px"><b>{name}{colon}</b></span>'
    smaller = f'<span style="font-size:{SIZE + 4}px">{meaning}</span>'
    return f"{large}<br>{smaller}" if narrow and colon else f"{large}{smaller}"


def _numbers(plane: Plane, look: Theme) -> list[str]:
    """Say what the step to 2w costs, or how different the curvatures are."""
    if plane.doubled is None:
        a, b = (number(each, 2) for each in plane.curvatures)
        return [text("curvatures {a} : {b}", a=a, b=b)]
    kl, quadratic = (number(each, 2) for each in (plane.doubled.kl, plane.doubled.quadratic))
    return [
        f'<span style="font-size:{SIZE + 4}px">{text("w → 2w: KL = <b>{kl}</b>", kl=kl)}</span>',
        colored(text("½ δᵀFδ = {value}", value=quadratic), look.muted, SIZE),
    ]
