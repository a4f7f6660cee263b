"""Contours of the true KL over those of its quadratic form: one plane for each of two models."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.fisher.contours import Contours
from normgeo.pictures.captions import listed, variant
from normgeo.pictures.fisher.equal_kl import EqualKL, Plane
from normgeo.pictures.style.annotations import colored, method_title, note, sized
from normgeo.pictures.style.colors import blend, method_color
from normgeo.pictures.style.sheet import Band, Panel, Sheet, answer, told
from normgeo.pictures.style.template import LARGE, MEASURED, PREDICTED, SIZE, THEMES, Theme

FILLS = (0.1, 0.2, 0.34)  # of the method's color, from the largest level to the smallest
OPEN = 0.8  # of ‖w‖: the height up to which a panel follows a wedge
SHAPE = 0.54  # height of a panel over its width, about
FARTHEST = 1.6  # times as far as the ellipses: a panel shows no contours beyond


def figure(result: EqualKL, theme: str) -> go.Figure:
    """Draw KL = c solid and filled, and ½ δᵀFδ = c dashed, for three levels."""
    look, base = THEMES[theme], result.base
    traces = [
        trace
        for n, (point, plane) in enumerate(zip(base.points, result.planes, strict=True), 1)
        if plane.contours is not None
        for trace in (
            *_panel(plane.contours, n, method_color(point.normalizer), look),
            _points(result.with_weights, n, look),
        )
    ]
    levels = listed([number(level) for level in result.levels.tolist()])
    about = (
        text("{name}; c = {levels} nats per case", name=base.name, levels=levels),
        text("{about}; {which}", about=base.caption, which=base.which),
    )
    sheet = Sheet(_answer(result), rows=[_axes(result, look)], foot=[told(theme, *about)])
    return sheet.on([*traces, *_legend(look)], theme)


def _answer(result: EqualKL) -> list[Band]:
    """What the contours of each model are, in a sentence."""
    shapes = [
        f"{str(plane.shape).partition(':')[0]} ({point.normalizer.title})"
        for point, plane in zip(result.base.points, result.planes, strict=True)
        if plane.contours is not None
    ]
    return [answer(text("Equal KL around w: {shapes}", shapes=listed(shapes)))] if shapes else []


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


def _axes(result: EqualKL, look: Theme) -> list[Panel]:
    """Return axes on one scale, the same up as sideways, in units of ‖w‖."""
    x, y = _extent(result)
    along = {"title": text("a direction at random across ŵ"), "nticks": 6}
    if result.with_weights:
        ticks = [-1, -0.5, 0, 0.5, 1]
        names = ["0", "½ ‖w‖", "‖w‖", "1½ ‖w‖", "2 ‖w‖"]
        along = {"title": text("along the weights ŵ"), "tickvals": ticks, "ticktext": names}
    plain = {"zeroline": False, "constrain": "range"}
    panels = []
    for n, (point, plane) in enumerate(zip(result.base.points, result.planes, strict=True), 1):
        up = {
            "range": [-y, y],
            "scaleanchor": f"x{n}",
            "nticks": 5,
            "title": "" if n > 1 else text("steepest across ŵ, in ‖w‖"),
        }
        title = method_title(point.normalizer, variant(point.normalizer))
        inside = {"yanchor": "top", "yshift": -2, "font": {"size": SIZE + 2}}
        known = plane.contours is not None
        panels.append(
            Panel(
                {**plain, **along, "range": [-x, x]},
                plain | up,
                [title, _verdict(plane)],
                [note(_numbers(plane, look), 0.02, 1, **inside)] if known else [],
                high=(204, 200),
            )
        )
    return panels


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


def _verdict(plane: Plane) -> str:
    """Say in large letters what is seen, and after a colon in smaller ones what that means."""
    name, colon, meaning = str(plane.shape).partition(": ")
    return sized(f"<b>{name}{colon}</b>", LARGE) + sized(meaning, SIZE + 4)


def _numbers(plane: Plane, look: Theme) -> list[str]:
    """Say what the step to 2w costs, or how different the curvatures are."""
    if plane.doubled is None:
        a, b = (number(each, 2) for each in plane.curvatures)
        return [text("curvatures {a} : {b}", a=a, b=b)]
    kl, quadratic = (number(each, 2) for each in (plane.doubled.kl, plane.doubled.quadratic))
    return [
        sized(text("w → 2w: KL = <b>{kl}</b>", kl=kl), SIZE + 4),
        colored(text("½ δᵀFδ = {value}", value=quadratic), look.muted, SIZE),
    ]
