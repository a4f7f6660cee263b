"""Lines of handwriting as they are written: a row for each writer, a column for each text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.pictures.experiments.about import NAMES, normalizer_of
from normgeo.pictures.experiments.handwriting import WRITERS, Handwriting, Line
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.lines import rounded
from normgeo.pictures.style.player import add_slider, frames
from normgeo.pictures.style.sheet import Panel, Sheet, answer, drawn, on_panel, told
from normgeo.pictures.style.template import THEMES

HIGH = 92, 78
ROOM = 0.4  # heights of an x around a line


def figure(result: Handwriting, theme: str) -> go.Figure:
    """Draw every line as far as the pen has come; a frame for each few steps."""
    moving = [_frame(result, step, theme) for step in result.steps]
    sheets = [_sheet(result, step, theme) for step in result.steps]
    whole, words = drawn(sheets, moving[result.opening], theme, result.opening)
    add_slider(
        whole,
        frames(result.steps, moving, words),
        start=result.opening,
        prefix=text("steps of the pen: "),
        theme=theme,
        setting="pen",
    )
    return whole


def _sheet(result: Handwriting, step: int, theme: str) -> Sheet:
    low, high = _reach(result.lines)
    columns = [
        tuple(_panel(result.of(writer, words), step, low, high) for writer in WRITERS)
        for words in result.words
    ]
    return Sheet(
        [answer(result.ended(step))],
        rows=[columns],
        foot=[told(theme, result.data)],
        legend=False,
    )


def _reach(lines: Sequence[Line]) -> tuple[Array, Array]:
    """The corners of all lines, with some room, each (2,)."""
    points = np.concatenate([one.points for one in lines])
    return points.min(axis=0) - ROOM, points.max(axis=0) + ROOM


def _panel(one: Line, step: int, low: Array, high: Array) -> Panel:
    bare = {"visible": False, "showgrid": False, "zeroline": False}
    return Panel(
        {**bare, "range": [float(low[0]), float(high[0])], "constrain": "domain"},
        {
            **bare,
            "range": [float(low[1]), float(high[1])],
            "scaleanchor": "x",
            "constrain": "domain",
        },
        [_head(one, step)],
        high=HIGH,
        lowest=0.6,
    )


def _head(one: Line, step: int) -> str:
    """The writer, and the text with the character that the pen is at."""
    place = one.character(step)
    before, here, after = one.words[:place], one.words[place], one.words[place + 1 :]
    return text(
        "<b>{writer}</b>: {before}<u>{here}</u>{after}",
        writer=WRITERS[one.writer],
        before=before,
        here=here,
        after=after,
    )


def _frame(result: Handwriting, step: int, theme: str) -> list[dict[str, Any]]:
    """The ink of each line and its pen."""
    found = []
    for panel, (words, writer) in enumerate(product(result.words, WRITERS), start=1):
        one = result.of(writer, words)
        color = method_color(normalizer_of(writer), theme) if writer in NAMES else THEMES[theme].ink
        on = on_panel(panel)
        common = {"type": "scatter", "showlegend": False, "hoverinfo": "skip", **on}
        found.append({**common, **_ink(one, step), "mode": "lines", "line": _pen(color)})
        at = one.points[min(step, len(one.points)) - 1]
        found.append(
            {
                **common,
                "x": rounded(at[:1]),
                "y": rounded(at[1:]),
                "mode": "markers",
                "marker": {"size": 9, "color": color},
                "cliponaxis": False,
            }
        )
    return found


def _ink(one: Line, step: int) -> dict[str, Any]:
    """The strokes up to a step, with a gap after each lift."""
    points = np.insert(one.points[:step], np.flatnonzero(one.lifts[:step]) + 1, np.nan, axis=0)
    return {"x": rounded(points[:, 0], 3), "y": rounded(points[:, 1], 3)}


def _pen(color: str) -> dict[str, Any]:
    return {"color": color, "width": 3, "shape": "spline"}
