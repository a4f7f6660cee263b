"""Frames that play, step and rewind in the browser: a slider with buttons beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from normgeo.base.text import text
from normgeo.pictures.style.template import SIZE, THEMES, add_slider

PAUSE = 60  # milliseconds between two frames that play
BUTTONS_END = 0.36  # of the width of the paper

Frame = dict[str, Any]


def add_player(figure: go.Figure, frames: Sequence[Frame], *, prefix: str, theme: str) -> None:
    """Give a figure its frames, a slider and the buttons rewind, step back, play, pause, step.

    A button of plotly names the frame that it goes to, so every frame brings buttons for the
    frames next to it. They need no script, and work in an exported page.

    Args:
        figure: to move. frames: with a "name" and "data" each; the first is what opens.
        prefix: of the name of a frame, in the label of the slider. theme: of the figure.

    """
    names = [frame["name"] for frame in frames]
    menus = [_menu(names, place, theme) for place in range(len(names))]
    moving = [
        {**frame, "layout": {**frame.get("layout", {}), "updatemenus": [menu]}}
        for frame, menu in zip(frames, menus, strict=True)
    ]
    add_slider(figure, moving, start=0, prefix=prefix, theme=theme)
    figure.update_layout(
        {
            "sliders[0].x": BUTTONS_END,
            "sliders[0].len": 1 - BUTTONS_END,
            "sliders[0].pad.t": 44,
            "sliders[0].font.size": SIZE - 3,
        },
        updatemenus=[menus[0]],
    )


def _menu(names: Sequence[str], place: int, theme: str) -> dict[str, Any]:
    """Return the buttons as they are at one frame."""
    look, last = THEMES[theme], len(names) - 1

    def button(label: str, frames: Any, pause: int = 0) -> dict[str, Any]:
        how = {
            "mode": "immediate",
            "fromcurrent": True,
            "transition": {"duration": 0},
            "frame": {"duration": pause, "redraw": True},
        }
        return {"label": label, "method": "animate", "args": [frames, how]}

    return {
        "type": "buttons",
        "direction": "left",
        "x": 0,
        "xanchor": "left",
        "y": 0,
        "yanchor": "top",
        "pad": {"t": 62, "l": 0, "r": 0},
        "showactive": False,
        "bgcolor": look.panel,
        "bordercolor": look.muted,
        "font": {"color": look.ink},
        "buttons": [
            button(text("rewind"), [names[0]]),
            button(text("◀ step"), [names[max(place - 1, 0)]]),
            button(text("▶ play"), None, PAUSE),
            button(text("❚❚"), [None]),
            button(text("step ▶"), [names[min(place + 1, last)]]),
        ],
    }
