"""Where z lives: the cases as points in the space of three neurons, stage beside stage."""

from __future__ import annotations

from html import escape
from typing import Any

import plotly.graph_objects as go

from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.invariance.stages import Surface
from normgeo.pictures.invariance.where_z_lives import (
    Places,
)
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
from normgeo.pictures.invariance.where_z_lives_words import words
from normgeo.pictures.style.colors import CLASSES
from normgeo.pictures.style.player import STRIP, add_slider
from normgeo.pictures.style.template import SMALL, THEMES, dress
from normgeo.pictures.style.turning import turnable
from normgeo.settings import as_text

GAP = 0.02  # of the width, between panels
MOVING = (DROPS, WAYS, AFTER, CASE)
CHANGES = ("x", "y", "customdata")  # from frame to frame


def figure(result: Places, theme: str) -> go.Figure:
    """Draw a, a − μ and z; the cases before (hollow) and after (filled), with lines between.

    The frames of the slider are the strengths.
    """
    panels, opening = panels_of(result), result.opening
    drawn = go.Figure()
    for panel in panels:
        drawn.add_traces(still(result, panel, theme))
        drawn.add_traces(moving(result, panels, panel, opening, theme))
    drawn.add_traces(_legend(result, theme))
    dress(drawn, theme, height=500)
    drawn.update_layout(
        margin={"l": 8, "r": 8, "t": 132, "b": 40},
        legend={
            "x": 0,
            "y": 0,
            "yanchor": "top",
            "font": {"size": SMALL},
            "itemclick": False,
            "itemdoubleclick": False,
        },
        **_axes(panels),
    )
    state = _state(result, panels, opening, theme)
    narrow = _narrow(panels) | state.pop("meta")["narrow"]
    drawn.update_layout({**state, "meta": {"narrow": narrow}})
    turnable(drawn)
    strengths = [float(strength) for strength in result.journey.strengths]
    frames = [
        {
            "name": number(strength, 6),
            "traces": [panel.trace(kind) for panel in panels for kind in MOVING],
            "data": [
                {"type": "scatter", **{key: trace[key] for key in CHANGES if key in trace}}
                for panel in panels
                for trace in moving(result, panels, panel, step, theme)
            ],
            "layout": _state(result, panels, step, theme),
        }
        for step, strength in enumerate(strengths)
    ]
    prefix = "δ = " if result.journey.transform.rescales else text("strength of γ: ")
    add_slider(
        drawn,
        frames,
        start=opening,
        prefix=prefix,
        theme=theme,
        setting="delta",
        values=[as_text(strength) for strength in strengths],
    )
    return drawn


def _legend(result: Places, theme: str) -> list[go.Scatter]:
    """Entries for the classes, and for before and after."""
    ink = THEMES[theme].ink
    looks = [(str(text("before")), 100, ink, 12), (str(text("after")), 0, ink, 8)]
    if len(result.classes) > 1:
        looks += [(escape(name), i, CLASSES[i], 9) for i, name in enumerate(result.classes)]
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


def _axes(panels: list[Panel]) -> dict[str, Any]:
    """The axes of the panels beside each other: no lines, the same scale in both directions."""
    width = (1 - GAP * (len(panels) - 1)) / len(panels)
    layout: dict[str, Any] = {}
    for panel in panels:
        start = panel.place * (width + GAP)
        x, y = panel.axis("x"), panel.axis("y")
        hidden = {"visible": False, "fixedrange": True}
        layout[f"xaxis{x[1:]}"] = {**hidden, "domain": [start, start + width], "anchor": y}
        layout[f"yaxis{y[1:]}"] = {**hidden, "domain": [0, 1], "anchor": x, "scaleanchor": x}
    return layout


def _narrow(panels: list[Panel]) -> dict[str, Any]:
    """The panels under each other."""
    high, above, head, foot = 320, 64, 200, 80 + STRIP
    inner = len(panels) * (high + above) - above
    layout: dict[str, Any] = {"height": inner + head + foot, "margin": {"t": head, "b": foot}}
    for panel in panels:
        top = 1 - panel.place * (high + above) / inner
        layout[f"xaxis{panel.axis('x')[1:]}"] = {"domain": [0, 1]}
        layout[f"yaxis{panel.axis('y')[1:]}"] = {"domain": [max(top - high / inner, 0), top]}
    return layout


def _state(result: Places, panels: list[Panel], step: int, theme: str) -> dict[str, Any]:
    """The layout of one strength: ranges, words, the outline of the sphere."""
    look, strength = THEMES[theme], float(result.journey.strengths[step])
    layout: dict[str, Any] = {}
    spheres: list[dict[str, Any]] = []
    for panel in panels:
        around = 1.04 if panel.surface == Surface() else 1.03 * PATCH
        most = around * reach(result, panel, max(USUAL, abs(strength)))
        x, y = panel.axis("x"), panel.axis("y")
        for axis in (x, y):
            layout[f"{axis[0]}axis{axis[1:]}"] = {"range": [-most, most]}
        radius = panel.surface.radius
        if radius is not None:
            shade = 0.08 if panel.surface.normal is None else 0.03
            spheres.append(
                {
                    "type": "circle",
                    "xref": x,
                    "yref": y,
                    "x0": -radius,
                    "y0": -radius,
                    "x1": radius,
                    "y1": radius,
                    "line": {"color": faint(look.muted, 8 * shade), "width": 1},
                    "fillcolor": faint(look.muted, shade),
                    "layer": "below",
                }
            )
    wide, narrow = (words(result, panels, step, theme, apart) for apart in (", ", "<br>"))
    for said in (wide, narrow):
        said["shapes"] += spheres
    return {**layout, **wide, "meta": {"narrow": narrow}}
