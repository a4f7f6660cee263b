"""A column for each caption: the best five pictures of each method, and the right one's rank."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.pictures.experiments.about import NAMES, normalizer_of
from normgeo.pictures.experiments.order import SIDE, Order, Reading
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.lines import rounded
from normgeo.pictures.style.player import add_slider, frames
from normgeo.pictures.style.sheet import Panel, Sheet, answer, drawn, on_panel, told
from normgeo.pictures.style.template import THEMES

GAP = 3  # pixels between two pictures
LEVELS = 15  # of their ink
HIGH = 96, 78  # of a row of pictures
Trace = dict[str, Any]


def figure(result: Order, theme: str) -> go.Figure:
    """Draw what each method finds; a frame for each word."""
    still = list(_lines(result, theme))
    steps = range(1, result.steps + 1)
    moving = [list(_frame(result, step, theme)) for step in steps]
    sheets = [_sheet(result, step, theme) for step in steps]
    whole, words = drawn(sheets, [*still, *moving[result.opening]], theme, result.opening)
    add_slider(
        whole,
        frames(steps, moving, words, len(still)),
        start=result.opening,
        prefix=text("words read: "),
        theme=theme,
        setting="word",
    )
    return whole


def _sheet(result: Order, step: int, theme: str) -> Sheet:
    columns = [
        (
            *(
                _pictures(result.of(words, method), step, theme, heading=not place)
                for place, method in enumerate(result.methods)
            ),
            _ranks(len(words), len(result.pictures)),
        )
        for words in result.captions
    ]
    return Sheet(
        [answer(result.told(step))],
        rows=[columns],
        foot=[
            told(theme, text("A frame marks the right picture of {all}.", all=len(result.pictures)))
        ],
        legend=False,
    )


def _pictures(one: Reading, step: int, theme: str, *, heading: bool) -> Panel:
    bare = {"visible": False, "showgrid": False, "zeroline": False, "constrain": "domain"}
    wide = one.best.shape[1] * (SIDE + GAP)
    color = method_color(normalizer_of(one.method), theme)
    name = f'<b style="color:{color}">{NAMES[one.method]}</b>'
    rank = number(float(one.ranks[one.place(step)]))
    return Panel(
        {**bare, "range": [-0.5 - GAP / 2, wide - GAP / 2 - 0.5]},
        {**bare, "range": [SIDE - 0.5 + GAP / 2, -0.5 - GAP / 2], "scaleanchor": "x"},
        [*[_read(one, step, theme)] * heading, text("{name}: rank {rank}", name=name, rank=rank)],
        high=HIGH,
        lowest=0.4,
    )


def _read(one: Reading, step: int, theme: str) -> str:
    """The caption, with what is not yet read in gray."""
    read, rest = " ".join(one.words[:step]), " ".join(one.words[step:])
    return f'“{read}{" " * bool(rest)}<span style="color:{THEMES[theme].muted}">{rest}</span>”'


def _ranks(words: int, pictures: int) -> Panel:
    return Panel(
        {"range": [0.5, words + 0.5], "dtick": 1},
        {
            "title": text("rank"),
            "type": "log",
            "range": [-0.1, np.log10(1.2 * pictures)],
            "tickvals": [1, 3, 10, 30, 100],
            "zeroline": False,
        },
        [text("<b>rank of the framed one</b>, of {all}, by word", all=pictures)],
        high=(150, 170),
        lowest=0.2,
    )


def _numbered(result: Order) -> Iterator[tuple[int, Reading]]:
    """Each reading with the number of its panel; the panel after those of a caption has ranks."""
    panel = 0
    for words in result.captions:
        for method in result.methods:
            panel += 1
            yield panel, result.of(words, method)
        panel += 1


def _below(result: Order, one: Reading) -> dict[str, str]:
    """The axes of the ranks of a caption."""
    return on_panel((result.captions.index(one.words) + 1) * (len(result.methods) + 1))


def _lines(result: Order, theme: str) -> Iterator[Trace]:
    for _, one in _numbered(result):
        yield {
            "type": "scatter",
            "x": list(range(1, len(one.words) + 1)),
            "y": rounded(one.ranks),
            "mode": "lines+markers",
            "name": str(NAMES[one.method]),
            "showlegend": one.words == result.captions[0],
            "line": {"color": method_color(normalizer_of(one.method), theme), "width": 3},
            "text": list(one.words),
            "hovertemplate": text(
                "{name}, after “{word}”: rank {rank}<extra></extra>",
                name=NAMES[one.method],
                word="%{text}",
                rank="%{y}",
            ),
            **_below(result, one),
        }


def _frame(result: Order, step: int, theme: str) -> Iterator[Trace]:
    """The best pictures, a frame around the right one, and a mark on the line."""
    look = THEMES[theme]
    for panel, one in _numbered(result):
        place, color = one.place(step), method_color(normalizer_of(one.method), theme)
        common = {"type": "scatter", "showlegend": False, "hoverinfo": "skip"}
        yield {
            "type": "heatmap",
            "z": _row(result, one, place),
            "zmin": -1,
            "zmax": LEVELS,
            "colorscale": [[0, look.paper], [1 / (1 + LEVELS), look.panel], [1, look.ink]],
            "showscale": False,
            "hoverinfo": "skip",
            **on_panel(panel),
        }
        yield {
            **common,
            **_around(one, place),
            "mode": "lines",
            "line": {"color": color, "width": 4},
            "cliponaxis": False,
            **on_panel(panel),
        }
        yield {
            **common,
            "x": [place + 1],
            "y": rounded(one.ranks[place : place + 1]),
            "mode": "markers",
            "marker": {"size": 14, "color": color},
            "cliponaxis": False,
            **_below(result, one),
        }


def _row(result: Order, one: Reading, place: int) -> Array:
    """The best pictures beside each other, −1 between them."""
    best = result.pictures[one.best[place]].astype(np.int8)
    padded = np.pad(best, ((0, 0), (0, 0), (0, GAP)), constant_values=-1)
    return np.concatenate([*padded], axis=1)[:, :-GAP]


def _around(one: Reading, place: int) -> dict[str, list[float]]:
    """A square around the right picture, where it is among the best."""
    found = np.flatnonzero(one.best[place] == one.right)
    if not found.size:
        return {"x": [], "y": []}
    left, top = float(found[0]) * (SIDE + GAP) - 1, -1.0
    right, foot = left + SIDE + 1, top + SIDE + 1
    return {"x": [left, right, right, left, left], "y": [top, top, foot, foot, top]}
