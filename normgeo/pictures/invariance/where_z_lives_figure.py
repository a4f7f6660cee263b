"""Where z lives: the cases as points in the space of three neurons, stage beside stage."""

from __future__ import annotations

from html import escape
from operator import or_
from typing import Any

import plotly.graph_objects as go

from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.invariance.stages import Surface
from normgeo.pictures.captions import variant
from normgeo.pictures.invariance.where_z_lives import Places, said, sign
from normgeo.pictures.invariance.where_z_lives_panels import (
    AFTER,
    CASE,
    DROPS,
    PATCH,
    USUAL,
    WAYS,
    Panel,
    faint,
    moving,
    panels_of,
    reach,
    still,
)
from normgeo.pictures.style.annotations import colored
from normgeo.pictures.style.colors import CLASSES, on_paper
from normgeo.pictures.style.player import add_slider, frames
from normgeo.pictures.style.sheet import Band, Sheet, answer, drawn
from normgeo.pictures.style.sheet import Panel as Axes
from normgeo.pictures.style.template import SMALL, THEMES
from normgeo.pictures.style.turning import turnable
from normgeo.settings import as_text

MOVING = (DROPS, WAYS, AFTER, CASE)
LEGEND = {"itemclick": False, "itemdoubleclick": False}
CHANGES = ("x", "y", "customdata")  # from frame to frame


def figure(result: Places, theme: str) -> go.Figure:
    """Draw a, a − μ and z; the cases before (hollow) and after (filled), with lines between.

    The frames of the slider are the strengths.
    """
    panels, opening = panels_of(result), result.opening
    strengths = [float(strength) for strength in result.journey.strengths]
    traces = [
        trace
        for panel in panels
        for trace in (
            *still(result, panel, theme),
            *moving(result, panels, panel, opening, theme),
        )
    ]
    sheets = [_sheet(result, panels, step, theme) for step in range(len(strengths))]
    whole, words = drawn(sheets, [*traces, *_legend(result, theme)], theme, opening)
    whole.update_layout(legend={"font": {"size": SMALL}, **LEGEND}, **_ranges(sheets[opening]))
    turnable(whole)
    names = (number(strength, 6) for strength in strengths)
    changes = [
        [
            {"type": "scatter", **{key: trace[key] for key in CHANGES if key in trace}}
            for panel in panels
            for trace in moving(result, panels, panel, step, theme)
        ]
        for step in range(len(strengths))
    ]
    places = [panel.trace(kind) for panel in panels for kind in MOVING]
    prefix = "δ = " if result.journey.transform.rescales else text("strength of γ: ")
    add_slider(
        whole,
        frames(names, changes, map(or_, words, map(_ranges, sheets)), places),
        start=opening,
        prefix=prefix,
        theme=theme,
        setting="delta",
        values=[as_text(strength) for strength in strengths],
    )
    return whole


def _sheet(result: Places, panels: list[Panel], step: int, theme: str) -> Sheet:
    """The count, the change, and the stages at one strength."""
    mark, muted = sign(result, step), THEMES[theme].muted
    axes = [_axes(result, panel, step, theme) for panel in panels]
    return Sheet(
        [
            answer(said(result, step), sign=mark),
            Band([", ".join(_under(result, step))], color=muted),
        ],
        rows=[axes],
        right=8,
        above=44,
    )


def _under(result: Places, step: int) -> tuple[str, ...]:
    """The method, the change, and what is certified of them."""
    journey = result.journey
    strength = number(float(journey.strengths[step]), 6)
    found = text("exact check: {word}", word=text(journey.verdict.word))
    if sign(result, step) == "±":
        found = text("exact check: invariant but for the sign")
    return (
        text(
            "{method}{variant}",
            method=text(journey.normalizer.title),
            variant=variant(journey.normalizer),
        ),
        text(
            "{change}: {what} {sign} {strength}",
            change=text(journey.transform.label),
            what=result.what,
            sign="×" if journey.transform.rescales else "+ γ ×",
            strength=strength,
        ),
        journey.after[step].problem or found,
    )


def _axes(result: Places, panel: Panel, step: int, theme: str) -> Axes:
    """The axes of a stage, with the same scale in both directions, and the outline of a sphere."""
    look, strength = THEMES[theme], float(result.journey.strengths[step])
    around = 1.04 if panel.surface == Surface() else 1.03 * PATCH
    most = around * reach(result, panel, max(USUAL, abs(strength)))
    hidden = {"visible": False, "range": [-most, most]}
    radius = panel.surface.radius
    shade = 0.08 if panel.surface.normal is None else 0.03
    sphere = {
        "type": "circle",
        "line": {"color": faint(look.muted, 8 * shade), "width": 1},
        "fillcolor": faint(look.muted, shade),
        "layer": "below",
        **({"x0": -radius, "y0": -radius, "x1": radius, "y1": radius} if radius else {}),
    }
    return Axes(
        hidden,
        {**hidden, "scaleanchor": "x"},
        [f"<b>{panel.name}</b>", colored(panel.words, look.muted)],
        shapes=[sphere] if radius is not None else [],
        high=(320, 320),
    )


def _ranges(sheet: Sheet) -> dict[str, Any]:
    """What the panels of a frame show."""
    return {axis: {"range": made["range"]} for axis, made in sheet.axes.items()}


def _legend(result: Places, theme: str) -> list[go.Scatter]:
    """Entries for the classes, and for before and after."""
    ink = THEMES[theme].ink
    looks = [(str(text("before")), 100, ink, 12), (str(text("after")), 0, ink, 8)]
    if len(result.classes) > 1:
        looks += [
            (escape(name), i, on_paper(CLASSES[i], theme), 9)
            for i, name in enumerate(result.classes)
        ]
    return [
        go.Scatter(
            x=[None],
            y=[None],
            mode="markers",
            name=name,
            hoverinfo="skip",
            marker={
                "symbol": symbol,
                "color": color,
                "size": size,
                "line": {"width": 1.5 if symbol >= 100 else 0},
            },
        )
        for name, symbol, color, size in looks
    ]
