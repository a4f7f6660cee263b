"""The panels of the picture of where z lives: a stage each, seen from an angle."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.invariance.stages import Surface
from normgeo.pictures.invariance.where_z_lives import NEURONS, Places, place
from normgeo.pictures.style.colors import CLASSES, on_paper
from normgeo.pictures.style.template import SMALL, THEMES
from normgeo.pictures.style.turning import between, in_space

USUAL = 3.0  # the strength that panels are made for; a larger one gets a wider view
CORNERS = 49  # of a circle
PATCH = 1.16  # how far a plane is drawn, next to what lies on it
PLANE, RINGS, AXES, NEURON, BEFORE, DROPS, WAYS, AFTER, CASE = range(9)  # the traces of a panel


class Panel(NamedTuple):
    """One panel: its number from 0, which stage it is, what its points lie on, and its words."""

    place: int
    stage: int
    surface: Surface
    name: str
    words: str

    def axis(self, letter: str) -> str:
        """The name of one of its axes, as in `xaxis`, without "axis"."""
        return letter if self.place == 0 else f"{letter}{self.place + 1}"

    def trace(self, kind: int) -> int:
        """The place of one of its traces among all."""
        return self.place * (CASE + 1) + kind


def panels_of(result: Places) -> list[Panel]:
    """The stages that differ from the one before them."""
    journey = result.journey
    center = journey.normalizer.centering
    panels = [Panel(0, 0, Surface(), "a", text("the summed inputs of three neurons"))]
    if center.subtracts:
        words = text("minus the mean over {over}", over=center.over)
        if journey.plane.normal is not None:
            words = text("on the plane: the three sum to 0")
        panels.append(Panel(1, 1, journey.plane, "a − μ", words))
    name = "z = (a − μ)/σ" if center.subtracts else "z = a/σ"
    return [*panels, Panel(len(panels), 2, journey.surface, name, _words_of_z(result))]


def _words_of_z(result: Places) -> str:
    journey = result.journey
    scaling, where = journey.normalizer.scaling, place(result)
    if not scaling.divides:
        return text("nothing divides: σ = 1")
    if journey.surface.radius is None:
        if scaling.shared_by_neurons:
            return text("each case divided by its σ")
        return text("each axis by its σ over {over}", over=scaling.over)
    law = "|z|² = 3v/(v + ε)" if journey.normalizer.added_eps else ""
    return text("{where}: {law}", where=where, law=law) if law else where


def _shown(result: Places, panel: Panel, largest: float) -> Array:
    """0 and the points of a stage, before and at all strengths up to the largest, (n, 3)."""
    journey = result.journey
    points = [np.zeros((1, NEURONS)), journey.before[panel.stage]]
    for carried, strength in zip(journey.after, journey.strengths, strict=True):
        if carried.stages is not None and abs(strength) <= largest:
            points.append(carried.stages[panel.stage])
    return np.concatenate(points)


def _middle(result: Places, panel: Panel) -> Array:
    """What a panel is turned around, (3,): 0, or the middle of a cloud."""
    if panel.surface.radius is not None:
        return np.zeros(NEURONS)
    points, normal = _shown(result, panel, USUAL), panel.surface.normal
    middle: Array = (points.min(axis=0) + points.max(axis=0)) / 2
    return middle if normal is None else middle - middle @ normal * normal


def reach(result: Places, panel: Panel, largest: float = USUAL) -> float:
    """How far what a panel shows is from its middle."""
    if panel.surface.radius is not None:
        return panel.surface.radius
    away = _shown(result, panel, largest) - _middle(result, panel)
    return float(np.linalg.norm(away, axis=1).max()) or 1.0


def still(result: Places, panel: Panel, theme: str) -> list[dict[str, Any]]:
    """What does not change: plane, circles, axes, the points before."""
    look, middle, away = THEMES[theme], _middle(result, panel), reach(result, panel)
    normal, radius = panel.surface.normal, panel.surface.radius
    gap = np.full((1, NEURONS), np.nan)
    plane = gap if normal is None else middle + PATCH * away * _around(normal, 7)
    rings = gap
    if radius is not None:
        rings = np.concatenate(
            [
                part
                for axis in (np.eye(NEURONS) if normal is None else [normal])
                for part in (radius * _around(axis, CORNERS), gap)
            ]
        )
    # From 0, which is not the middle of a cloud.
    size = max(0.95 * away - float(np.linalg.norm(middle)), 0.4 * away)
    ends = size * np.eye(NEURONS)
    axes = np.concatenate([part for end in ends for part in ([0 * end, end], gap)])
    bold = 2.5 if normal is not None else 1
    common = _common(panel) | {"hoverinfo": "skip"}
    return [
        {
            **in_space(plane, middle),
            **common,
            "mode": "lines",
            "fill": "toself",
            "fillcolor": faint(look.muted, 0.14),
            "line": {"color": faint(look.muted, 0.5), "width": 1},
        },
        {
            **in_space(rings, middle),
            **common,
            "mode": "lines",
            "line": {"color": faint(look.muted, 1 if bold > 1 else 0.6), "width": bold},
        },
        {
            **in_space(axes, middle),
            **common,
            "mode": "lines",
            "line": {"color": look.muted, "width": 1.5},
        },
        {
            **in_space(1.12 * ends, middle),
            **common,
            "mode": "text",
            "text": [str(text("neuron {h}", h=h)) for h in result.neurons],
            "textfont": {"size": SMALL, "color": look.muted},
        },
        {
            **in_space(result.journey.before[panel.stage], middle),
            **_common(panel),
            "mode": "markers",
            "marker": {
                "symbol": result.labels.astype(np.uint8) + np.uint8(100),
                "size": 12,
                "color": look.ink,
                "line": {"width": 1.2},
            },
            "hovertext": _names(result),
            "hovertemplate": _hover(panel, text("before")),
        },
    ]


def moving(
    result: Places, panels: list[Panel], panel: Panel, step: int, theme: str
) -> list[dict[str, Any]]:
    """What a frame changes: the way of the mean, the ways of the change, the points after."""
    look, stages = THEMES[theme], result.journey.after[step].stages
    before, middle = result.journey.before[panel.stage], _middle(result, panel)
    nowhere = np.full_like(before, np.nan)
    after = nowhere if stages is None else stages[panel.stage]
    drops: dict[str, Any] = {"x": [None], "y": [None]}
    if panel.stage == 0 and panels[1].stage == 1:
        centered = nowhere if stages is None else stages[1]
        drops = between(after, centered, middle, (panel.trace(AFTER), panels[1].trace(AFTER)))
    common = _common(panel)
    return [
        {
            **drops,
            **common,
            "mode": "lines",
            "hoverinfo": "skip",
            "line": {"color": faint(look.muted, 0.35), "width": 1},
        },
        {
            **between(before, after, middle, (panel.trace(BEFORE), panel.trace(AFTER))),
            **common,
            "mode": "lines",
            "hoverinfo": "skip",
            "line": {"color": faint(look.ink, 0.55), "width": 1.5},
        },
        {
            **in_space(after, middle),
            **common,
            "mode": "markers",
            "marker": {
                "symbol": result.labels.astype(np.uint8),
                "opacity": 1,
                "size": 8,
                "color": result.labels.astype(np.uint8),
                **_class_colors(theme),
            },
            "hovertext": _names(result),
            "hovertemplate": _hover(panel, text("after")),
        },
        {
            **in_space(after[result.changed], middle),
            **common,
            "mode": "markers+text",
            "marker": {
                "symbol": result.labels[result.changed].astype(np.uint8),
                "opacity": 1,
                "size": 15,
                "color": result.labels[result.changed].astype(np.uint8),
                **_class_colors(theme),
            },
            "hoverinfo": "skip",
            "text": [str(text("case {n}", n=case)) for case in result.cases[result.changed]],
            "textposition": "top left",
            "textfont": {"size": SMALL, "color": look.ink},
        },
    ]


def _class_colors(theme: str) -> dict[str, Any]:
    """The color scale of markers whose colors are numbers of classes."""
    last = len(CLASSES) - 1
    scale = [[i / last, on_paper(color, theme)] for i, color in enumerate(CLASSES)]
    return {"colorscale": scale, "cmin": 0, "cmax": last}


def _common(panel: Panel) -> dict[str, Any]:
    return {
        "type": "scatter",
        "xaxis": panel.axis("x"),
        "yaxis": panel.axis("y"),
        "showlegend": False,
    }


def _around(normal: Array, corners: int) -> Array:
    """A regular polygon of radius 1 around a normal; its first corner is its last too."""
    u = np.cross(normal, np.eye(NEURONS)[np.abs(normal).argmin()])
    u /= np.linalg.norm(u)
    turn = np.linspace(0, 2 * np.pi, corners)[:, None]
    polygon: Array = np.cos(turn) * u + np.sin(turn) * np.cross(normal, u)
    return polygon


def faint(color: str, share: float) -> str:
    """A color "#rrggbb" that lets through what is behind it."""
    r, g, b = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({r},{g},{b},{share:g})"


def _names(result: Places) -> list[str]:
    """The name of each case, with its class."""
    return [
        str(text("case {n} ({kind!s})", n=case, kind=result.classes[label]))
        if len(result.classes) > 1
        else str(text("case {n}", n=case))
        for case, label in zip(result.cases, result.labels, strict=True)
    ]


def _hover(panel: Panel, when: str) -> str:
    where = ", ".join(f"%{{customdata[{h}]:.4g}}" for h in range(NEURONS))
    return f"%{{hovertext}}, {when}: {panel.name} = ({where})<extra></extra>"
