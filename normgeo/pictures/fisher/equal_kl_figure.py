"""The contour of the true KL over that of its quadratic form: a plane for each of two models."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.numbers import number, round_number
from normgeo.base.text import text
from normgeo.fisher.contours import Contours
from normgeo.pictures.captions import listed, method_name, variant
from normgeo.pictures.fisher.equal_kl import EqualKL, Plane
from normgeo.pictures.style.annotations import colored, note, sized
from normgeo.pictures.style.colors import blend, legible, method_color
from normgeo.pictures.style.player import add_slider, frames
from normgeo.pictures.style.sheet import Band, Panel, Sheet, answer, drawn, on_panel, told
from normgeo.pictures.style.template import LARGE, MEASURED, PREDICTED, SIZE, THEMES, Theme

FILL = 0.2  # of the method's color
SHAPE = 0.36  # height of a panel over its width, about
HIGH = 205, 150  # pixels of a panel


def figure(result: EqualKL, theme: str) -> go.Figure:
    """Draw KL = c solid and filled, and ½ δᵀFδ = c dashed; a frame for each level."""
    look, base = THEMES[theme], result.base
    planes = [
        (n, plane.contours, method_color(point.normalizer, theme))
        for n, (point, plane) in enumerate(zip(base.points, result.planes, strict=True), 1)
        if plane.contours is not None
    ]
    opening = len(result.levels) // 2
    moving = [
        [*(t for panel in planes for t in _panel(*panel, level, look)), _within(c, look)]
        for level, c in enumerate(map(number, result.levels.tolist()))
    ]
    points = [_points(result.planes[n - 1], result.with_weights, n, look) for n, *_ in planes]
    kl = text("KL: how far the outputs move; F: its curvature")
    which = kl if base.letter == "W" else text("{name}; {kl}", name=base.name, kl=kl)
    about = text("{which}; {about}; {fisher}", which=which, about=base.caption, fisher=base.which)
    foot = [told(theme, about, on_slide=[kl])]
    sheet = Sheet(_answer(result), rows=[_axes(result, theme)], foot=foot)
    whole, _ = drawn([sheet], [*moving[opening], *points, _estimated(look)], theme)
    if planes:
        names = map(number, result.levels.tolist())
        moved = frames(names, [[*map(_moving, data)] for data in moving])
        add_slider(whole, moved, start=opening, prefix=text("outputs change by KL = "), theme=theme)
    return whole


def _answer(result: EqualKL) -> list[Band]:
    """What the contours of each model are, in a sentence."""
    last = result.base.points[-1].normalizer
    if result.planes[-1].flat and not result.planes[0].flat:
        words = text(
            "With {method}, scaling all weights changes nothing: the ellipse becomes a wedge",
            method=last.title,
        )
        return [answer(words)]
    shapes = [
        f"{str(plane.shape).partition(':')[0]} ({method_name(point.normalizer)})"
        for point, plane in zip(result.base.points, result.planes, strict=True)
        if plane.contours is not None
    ]
    if not shapes:
        return []
    w = result.base.letter
    return [answer(text("Equal KL around {w}: {shapes}", w=w, shapes=listed(shapes)))]


def _panel(
    panel: int, contours: Contours, color: str, level: int, look: Theme
) -> list[dict[str, Any]]:
    """What is within a level, the KL, and its quadratic form."""
    strip, true, quadratic = contours.strip, contours.true[level], contours.quadratic[level]
    within = _curve(_filled(true, strip), panel, strip) | {
        "mode": "none",
        "fill": "toself",
        "fillcolor": blend(look.paper, color, FILL),
        "hoverinfo": "skip",
    }
    c = number(float(contours.levels[level]))
    lines = [
        _curve(curve, panel, strip)
        | {
            "line": {"shape": "linear" if strip else "spline", **line},
            "hovertemplate": text("{name}: c = {c} nats<extra></extra>", name=name, c=c),
        }
        for curve, name, line in (
            (true, text("KL"), {"color": color, "width": 3.5, "dash": MEASURED}),
            (quadratic, "½ δᵀFδ", {"color": look.ink, "width": 2, "dash": PREDICTED}),
        )
    ]
    return [within, *lines]


def _moving(trace: dict[str, Any]) -> dict[str, Any]:
    """What of a trace is another one at another level."""
    return {key: trace[key] for key in ("x", "y", "name", "hovertemplate") if key in trace}


def _curve(points: Array, panel: int, strip: bool) -> dict[str, Any]:
    return {
        "type": "scatter",
        "x": points[:, 0].astype(np.float32),
        "y": points[:, 1].astype(np.float32),
        "mode": "lines",
        "line": {"shape": "linear" if strip else "spline"},
        **on_panel(panel),
        "showlegend": False,
    }


def _filled(true: Array, strip: bool) -> Array:
    """Return what is within one level: of a strip, along one edge and back along the other."""
    gap = len(true) // 2
    outline = np.concatenate([true[:gap], true[:gap:-1]]) if strip else true
    found: Array = outline[np.isfinite(outline).all(axis=1)]
    return found


def _points(plane: Plane, with_weights: bool, panel: int, look: Theme) -> go.Scatter:
    """Return w, and on the ray through it w = 0 and 2w, where they are in the panel."""
    ray = with_weights and not plane.small
    at = [-1, 0, 1] if ray else [0]
    return go.Scatter(
        x=at,
        y=[0] * len(at),
        mode="lines+markers",
        line={"color": look.muted, "width": 1},
        marker={
            "size": 11,
            "color": look.ink,
            "symbol": ["circle-open", "circle", "circle"] if ray else "circle",
        },
        cliponaxis=False,
        **on_panel(panel),
        showlegend=False,
        hoverinfo="skip",
    )


def _within(c: str, look: Theme) -> dict[str, Any]:
    """What the solid lines are, for the legend."""
    name = text("outputs change by KL = {c} (shaded: less)", c=c)
    return _named(name, {"color": look.ink, "width": 3.5, "dash": MEASURED})


def _estimated(look: Theme) -> dict[str, Any]:
    """What the dashed ones are."""
    name = text("the same, estimated by the Fisher matrix F")
    return _named(name, {"color": look.ink, "width": 2, "dash": PREDICTED})


def _named(name: str, line: dict[str, Any]) -> dict[str, Any]:
    points = {"x": [None], "y": [None], "mode": "lines", "line": line}
    return {"type": "scatter", "name": str(name), "showlegend": True, **points}


def _axes(result: EqualKL, theme: str) -> list[Panel]:
    """Return the same axes for all panels, in units of ‖w‖.

    From 0 to 2w the contours fill a panel; across the weights one scale is up and sideways.
    Ellipses that would be small have axes of their own.
    """
    plain, look = {"zeroline": False, "constrain": "range"}, THEMES[theme]
    panels, w = [], result.base.letter
    for n, (point, plane) in enumerate(zip(result.base.points, result.planes, strict=True), 1):
        x, y = 1.7 * plane.far if plane.small else _extent(result)
        tick = 0.5 if result.with_weights and not plane.small else round_number(x / 2)
        along = {"title": text("a direction at random across {w}, × ‖{w}‖", w=w), "nticks": 6}
        across = text("steepest across {w}, × ‖{w}‖", w=w)
        if result.with_weights:
            ticks = [-2 * tick, -tick, 0, tick, 2 * tick]
            names = [_multiple(1 + one, w) for one in ticks]
            along = {"tickvals": ticks, "ticktext": names}
            across = text("at right angles to {w}, × ‖{w}‖", w=w)
        up = {
            "range": [-y, y],
            "nticks": 5,
            "title": "" if n > 1 else across,
        }
        if not (plane.small or result.with_weights):
            up["scaleanchor"] = f"x{n}"
        title = f"<b>{method_name(point.normalizer)}{variant(point.normalizer)}:</b>"
        color = legible(method_color(point.normalizer, theme), look.paper, look.ink)
        panels.append(
            Panel(
                {**plain, **along, "range": [-x, x]},
                plain | up,
                [f"{colored(title, color, SIZE)} {_verdict(plane)}"],
                _inside(plane, w, look) if plane.contours is not None else [],
                high=HIGH,
            )
        )
    return panels


def _inside(plane: Plane, w: str, look: Theme) -> list[dict[str, Any]]:
    """What stands at the left of a panel, where a wedge is narrow."""
    top = {"yanchor": "top", "yshift": -2, "font": {"size": SIZE + 2}}
    words = [note(_numbers(plane, w, look), 0.02, 1, **top)]
    if plane.doubled is not None:
        below = {"yshift": 2, "font": {"size": SIZE, "color": look.muted}}
        words.append(note(text("along the weights →"), 0.02, 0, **below))
    return words


def _multiple(times: float, w: str) -> str:
    """So many times w, in letters.

    >>> [_multiple(times, "W") for times in (0, 0.5, 1, 1.5, 2, 0.9)]
    ['0', '½ W', 'W', '1½ W', '2W', '0.9 W']

    """
    known = {0.0: "0", 0.5: f"½ {w}", 1.0: w, 1.5: f"1½ {w}", 2.0: f"2{w}"}
    return known.get(times, f"{number(times)} {w}")


def _extent(result: EqualKL) -> tuple[float, float]:
    """Return how far the panels reach: to all contours that are not too far, and to 0 and 2w."""
    ray = np.array([float(result.with_weights), 0.0])
    far = [plane.far for plane in result.planes if not plane.small]
    x, y = np.stack([ray, *far]).max(axis=0).tolist()
    x = 1.12 * (x or 1.0)
    if result.with_weights:
        return x, 1.12 * y or SHAPE * x
    return x, float(np.clip(1.08 * y, SHAPE * x, x))


def _verdict(plane: Plane) -> str:
    """Say in large letters what is seen, and after a comma in smaller ones what that means."""
    name, _, meaning = str(plane.shape).partition(": ")
    meaning = text("enlarged") if plane.small else meaning
    comma = ", " if meaning else ""
    return sized(f"<b>{name}{comma}</b>", LARGE) + sized(meaning, SIZE + 4)


def _numbers(plane: Plane, w: str, look: Theme) -> list[str]:
    """Say what the step to 2w costs, or how different the curvatures are."""
    if plane.doubled is None:
        a, b = (number(each, 2) for each in plane.curvatures)
        return [text("curvatures {a} : {b}", a=a, b=b)]
    kl, quadratic = (number(each, 2) for each in (plane.doubled.kl, plane.doubled.quadratic))
    cost = sized(text("{w} → 2{w}: KL = <b>{kl}</b> nats", w=w, kl=kl), SIZE + 4)
    form = text("estimate {value}", value=quadratic).replace(" ", "\N{NO-BREAK SPACE}")
    return [f"{cost} {colored(form, look.muted, SIZE)}"]
