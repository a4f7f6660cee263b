"""Accuracy and loss against depth for each place of the norm, without and with warm-up."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.pictures.depth.accuracy import CLASSES, KINDS, WARMING, Accuracy
from normgeo.pictures.depth.placement import Placement
from normgeo.pictures.depth.places_figure import COLORS, SYMBOLS
from normgeo.pictures.depth.recommendation import advice, evidence
from normgeo.pictures.style.annotations import KEPT, halo, note
from normgeo.pictures.style.colors import blend
from normgeo.pictures.style.lines import rounded
from normgeo.pictures.style.player import add_slider, frames
from normgeo.pictures.style.sheet import (
    Band,
    Panel,
    Sheet,
    across,
    answer,
    axis_name,
    drawn,
    told,
    upright,
)
from normgeo.pictures.style.template import CLAIM, MEASURED, SMALL, THEMES, log_ticks

NUMBERS = 24  # type of the three accuracies of a panel
BRIEF = {"without": text("no warm-up"), "with": text("warm-up")}
GLYPHS = {"circle": "●", "square": "■", "diamond": "◆"}
HIGH = 160, 150  # pixels of a panel


def figure(result: Placement, theme: str) -> go.Figure:
    """Draw accuracy and loss, without warm-up and with it; a frame for each depth."""
    found = result.found
    still = [
        *(trace for panel in _panels() for trace in _bands(found, *panel, theme)),
        *(trace for panel in _panels() for trace in _lines(found, *panel)),
    ]
    moving = [_marks(found, depth, theme) for depth in found.depths]
    sheets = [_sheet(result, depth, theme) for depth in found.depths]
    whole, words = drawn(sheets, [*still, *moving[result.opening]], theme, result.opening)
    add_slider(
        whole,
        frames(found.depths, moving, words, len(still)),
        start=result.opening,
        prefix=text("blocks in the network: L = "),
        theme=theme,
        setting="depth",
        values=[str(depth) for depth in found.depths],
    )
    return whole


def _panels() -> Iterator[tuple[str, bool, int]]:
    """Yield the warm-up, whether it is of losses, and the number of each pair of axes."""
    for n, (losses, warming) in enumerate(((x, w) for x in (False, True) for w in WARMING), 1):
        yield warming, losses, n


def _sheet(result: Placement, depth: int, theme: str) -> Sheet:
    found = result.found
    return Sheet(
        [answer(advice(found)), Band(evidence(found, depth))],
        rows=[[_panel(found, *panel, depth, theme) for panel in _panels()]],
        foot=[told(theme, result.about)],
        phone=[[0, 1], [2, 3]],
    )


def _panel(
    found: Accuracy, warming: str, losses: bool, number_: int, depth: int, theme: str
) -> Panel:
    look = THEMES[theme]
    shapes = [upright(depth, {"color": look.muted, "width": 2})]
    first, last = found.depths[0], found.depths[-1]
    x = {
        "type": "log",
        "range": [math.log10(first / 1.2), math.log10(last * 1.2)],
        # The deepest first: where some labels have no room, its own stays.
        "tickvals": found.depths[::-1],
        "ticktext": [str(one) for one in found.depths[::-1]],
        "title": text("blocks"),
    }
    if losses:
        low, high = _range(found)
        y = {
            "type": "log",
            "range": np.log10([low / 1.5, high * 1.5]),
            "tickvals": log_ticks(low, high),
        }
        head = [text("loss, <b>{warmed}</b>", warmed=BRIEF[warming])]
        return Panel(x, y, head, shapes=shapes, high=HIGH, share=0.7)
    guess = 1 / CLASSES
    shapes.append(across(guess, {"color": look.muted, "width": 2, "dash": CLAIM}))
    return Panel(
        x,
        {"range": [0, 1.03], "tickvals": [0, 0.25, 0.5, 0.75, 1], "tickformat": ".0%"},
        notes=[
            note(
                text("guessing"),
                x=0.02,
                y=guess,
                yref="y",
                font={"size": SMALL, "color": look.muted, "shadow": halo(look.paper)},
            )
        ],
        shapes=shapes,
        high=HIGH,
        over=[
            Band([text("accuracy, <b>{warmed}</b>", warmed=BRIEF[warming])]),
            Band([_numbers(found, warming, depth)], NUMBERS),
        ],
    )


def _numbers(found: Accuracy, warming: str, depth: int) -> str:
    """The accuracy of each kind, in its color, after the symbol that the legend has."""
    return " ".join(
        f'<b style="color:{COLORS[kind]}">{GLYPHS[SYMBOLS[kind]]}{KEPT}'
        f"{found.share(kind, warming, depth):.0%}</b>"
        for kind in KINDS
    )


def _values(found: Accuracy, kind: str, warming: str, losses: bool) -> np.ndarray[Any, Any]:
    """Mean, lowest and highest over the seeds, by depth, (3, depths)."""
    chosen = found.chosen(kind, warming)
    runs = chosen.losses if losses else chosen.shares
    return np.array([runs.mean(axis=1), runs.min(axis=1), runs.max(axis=1)])


def _range(found: Accuracy) -> tuple[float, float]:
    every = np.concatenate([found.chosen(*key).losses.ravel() for key in found.runs])
    every = every[np.isfinite(every) & (every > 0)]
    return float(every.min()), float(every.max())


def _bands(
    found: Accuracy, warming: str, losses: bool, number_: int, theme: str
) -> Iterator[go.Scatter]:
    for kind in KINDS:
        _, low, high = _values(found, kind, warming, losses)
        yield go.Scatter(
            x=[*found.depths, *found.depths[::-1]],
            y=[*rounded(high), *rounded(low[::-1])],
            mode="lines",
            fill="toself",
            fillcolor=blend(THEMES[theme].paper, COLORS[kind], 0.25),
            line={"width": 0, "color": COLORS[kind]},
            showlegend=False,
            hoverinfo="skip",
            **_on(number_),
        )


def _lines(found: Accuracy, warming: str, losses: bool, number_: int) -> Iterator[go.Scatter]:
    for kind, name in KINDS.items():
        mean, low, high = _values(found, kind, warming, losses)
        rates = [number(rate) for rate in found.chosen(kind, warming).rates]
        form = ".3g" if losses else ".1%"
        yield go.Scatter(
            x=found.depths,
            y=rounded(mean),
            customdata=list(zip(rounded(low), rounded(high), rates, strict=True)),
            mode="lines+markers",
            name=name,
            showlegend=number_ == 1,
            line={"color": COLORS[kind], "width": 3, "dash": MEASURED},
            marker={"size": 8, "symbol": SYMBOLS[kind]},
            hovertemplate=text(
                "{name}, {L} blocks: {mean}, {low} to {high}, η = {rate}<extra></extra>",
                name=name,
                L="%{x}",
                mean=f"%{{y:{form}}}",
                low=f"%{{customdata[0]:{form}}}",
                high=f"%{{customdata[1]:{form}}}",
                rate="%{customdata[2]}",
            ),
            **_on(number_),
        )


def _marks(found: Accuracy, depth: int, theme: str) -> list[dict[str, Any]]:
    """A large mark on each line at a depth, a trace for each panel."""
    place = found.depths.index(depth)
    return [
        {
            "type": "scatter",
            "x": [depth] * len(KINDS),
            "y": rounded(
                np.array([_values(found, kind, warming, losses)[0, place] for kind in KINDS])
            ),
            "mode": "markers",
            "marker": {
                "size": 15,
                "color": [COLORS[kind] for kind in KINDS],
                "symbol": [SYMBOLS[kind] for kind in KINDS],
                "line": {"width": 2, "color": THEMES[theme].paper},
            },
            "cliponaxis": False,
            "showlegend": False,
            "hoverinfo": "skip",
            **_on(number_),
        }
        for warming, losses, number_ in _panels()
    ]


def _on(number_: int) -> dict[str, str]:
    return {"xaxis": axis_name("x", number_), "yaxis": axis_name("y", number_)}
