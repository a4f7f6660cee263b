"""The document in the color of each network's attention, over a bar for each name."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.text import text
from normgeo.experiments.results import IN_WORDS
from normgeo.pictures.experiments.about import normalizer_of
from normgeo.pictures.experiments.reader import GAP, PLACEHOLDER, Reading, marker
from normgeo.pictures.style.colors import blend, legible, method_color
from normgeo.pictures.style.lines import rounded
from normgeo.pictures.style.player import add_slider, frames
from normgeo.pictures.style.sheet import (
    Band,
    Panel,
    Sheet,
    answer,
    drawn,
    on_panel,
    told,
)
from normgeo.pictures.style.template import SIZE, SMALL, THEMES

HIGH = 170, 150
LEAST = 0.05  # in %, half of the last digit that is kept: a bar of no length loses its name
CHOSEN = text("Networks see numbers in place of the names; bars are their chances, in %.")


def figure(result: Reading, theme: str) -> go.Figure:
    """Draw the document and the answers of each network; a frame for each word of the query."""
    moving = [_frame(result, place, theme) for place in range(result.words)]
    sheets = [_sheet(result, place, theme) for place in range(result.words)]
    whole, words = drawn(sheets, moving[result.opening], theme, result.opening)
    add_slider(
        whole,
        frames(range(1, result.words + 1), moving, words),
        start=result.opening,
        prefix=text("words of the query: "),
        theme=theme,
        setting="word",
    )
    return whole


def _sheet(result: Reading, place: int, theme: str) -> Sheet:
    offered = result.offered
    x = {"range": [0, 105 * result.most], "zeroline": False}
    y = {
        "showticklabels": False,
        "ticks": "",
        "range": [len(offered) - 0.5, -0.5],
        "showgrid": False,
    }
    panels = [
        Panel(
            x,
            y,
            over=[_title(method, theme), _document(result, method, place, theme)],
            high=HIGH,
            lowest=0.25,
            left=24,
        )
        for method in result.methods
    ]
    return Sheet(
        [answer(result.told(place)), _query(result, place, theme)],
        rows=[panels],
        foot=[told(theme, CHOSEN)],
        legend=False,
    )


def _spelled(result: Reading, word: str) -> str:
    """A word as it was before its name was hidden."""
    names = {marker(at): name for at, name in enumerate(result.names)}
    return GAP if word == PLACEHOLDER else str(names.get(word, word))


def _query(result: Reading, place: int, theme: str) -> Band:
    """The query, of which what is not read yet is faint."""
    words = [_spelled(result, word) for word in result.query]
    look = THEMES[theme]
    faint = legible(look.paper, look.paper, look.ink)
    colors = [look.ink if at <= place else faint for at in range(len(words))]
    return Band([_colored(words, colors)], SIZE + 2)


def _title(method: str, theme: str) -> Band:
    return Band([f"<b>{IN_WORDS[method]}</b>"], color=method_color(normalizer_of(method), theme))


def _document(result: Reading, method: str, place: int, theme: str) -> Band:
    """The words, from faint ink to the color of the method."""
    look = THEMES[theme]
    faint = legible(look.paper, look.paper, look.ink)
    color = method_color(normalizer_of(method), theme)
    shares = result.methods[method].attention[place] / result.strongest
    colors = [
        legible(blend(faint, color, share), look.paper, look.ink)
        for share in np.asarray(shares).tolist()
    ]
    return Band([_colored([_spelled(result, word) for word in result.document], colors)], SMALL)


def _colored(words: list[str], colors: list[str]) -> str:
    spans = [
        f'<span style="color:{color}">{escape(word, quote=False)}</span>'
        for word, color in zip(words, colors, strict=True)
    ]
    return " ".join(spans)


def _frame(result: Reading, place: int, theme: str) -> list[dict[str, Any]]:
    """A bar for each name that the document has, of each network."""
    found = []
    for panel, (method, one) in enumerate(result.methods.items(), start=1):
        color = method_color(normalizer_of(method), theme)
        pale = blend(THEMES[theme].paper, color, 0.5)
        found.append(
            {
                "type": "bar",
                "orientation": "h",
                "x": rounded(np.maximum(100 * one.chance[place][result.offered], LEAST)),
                "y": [*range(len(result.offered))],
                "marker": {
                    "color": [color if at == result.answer else pale for at in result.offered]
                },
                "text": [_spelled(result, marker(at)) for at in result.offered],
                "textposition": "inside",
                "insidetextanchor": "start",
                "constraintext": "none",
                "textangle": 0,
                "textfont": {"color": THEMES[theme].ink, "size": SMALL},
                "showlegend": False,
                "hovertemplate": text("chance: %{x:.3g} %<extra></extra>"),
                **on_panel(panel),
            }
        )
    return found
