"""Accuracy, and beside it loss, against depth for each place of the norm.

A line is of networks with warm-up; a band has all seeds with and without. At the depth of the
slider, a ring is without and a full mark with.
The scale of accuracy is logarithmic in the errors: else 92 and 96 percent would look alike.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.pictures.depth.accuracy import CLASSES, KINDS, WARMING, Accuracy
from normgeo.pictures.depth.placement import Placement
from normgeo.pictures.depth.places_figure import SYMBOLS, place_color
from normgeo.pictures.depth.recommendation import advice, evidence, small_depths
from normgeo.pictures.style.annotations import KEPT, halo, note
from normgeo.pictures.style.colors import see_through
from normgeo.pictures.style.lines import rounded
from normgeo.pictures.style.player import add_slider, frames
from normgeo.pictures.style.sheet import (
    Band,
    Panel,
    Sheet,
    across,
    answer,
    drawn,
    on_panel,
    told,
    upright,
)
from normgeo.pictures.style.template import CLAIM, SMALL, THEMES, log_ticks

NUMBERS = 22  # type of the numbers over a panel
MADE = "x + block(norm(x))", "norm(x + block(x))", "x + block(x)"
BLOCKS = {
    kind: text("{name}: {made}", name=name, made=made)
    for (kind, name), made in zip(KINDS.items(), MADE, strict=True)
}
"""What a block makes of the stream x, by the place of its norm."""
GLYPHS = {"circle": "●", "square": "■", "diamond": "◆"}
LIMITS = text("On digits only.")
LABELED = 0.5, 0.75, 0.9, 0.95, 0.97  # accuracies at the axis
CLEAR = "rgba(0,0,0,0)"
HIGH = 195, 205  # pixels of a panel
PANELS = {1: False, 2: True}
"""Whether a panel is of losses, by the number of its axes."""


def figure(result: Placement, theme: str) -> go.Figure:
    """Draw accuracy and loss by place, without warm-up and with it; a frame for each depth."""
    found = result.found
    still = [
        *(trace for number_ in PANELS for trace in _bands(found, number_, theme)),
        *(trace for number_ in PANELS for trace in _lines(found, number_, theme)),
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


def _sheet(result: Placement, depth: int, theme: str) -> Sheet:
    found = result.found
    return Sheet(
        [
            answer(advice(found, depth)),
            Band(
                [evidence(found, depth)[1]],
                on_slide=[f"{small_depths(found)} {result.bands} {LIMITS}".strip()],
                brief=True,
            ),
        ],
        rows=[[_accuracy(found, depth, theme), _loss(found, depth, theme)]],
        foot=[told(theme, f"{result.about} {LIMITS}", on_slide=())],
    )


def _across(found: Accuracy) -> dict[str, Any]:
    first, last = found.depths[0], found.depths[-1]
    return {
        "type": "log",
        "range": [math.log10(first / 1.2), math.log10(last * 1.2)],
        # The deepest first: where some labels have no room, its own stays.
        "tickvals": found.depths[::-1],
        "ticktext": [str(one) for one in found.depths[::-1]],
        "showgrid": False,  # it would be over the line of the slider
        "title": text("blocks"),
    }


def _accuracy(found: Accuracy, depth: int, theme: str) -> Panel:
    look, guess = THEMES[theme], 1 - 1 / CLASSES
    least = 1 - max(float(found.chosen(*key).shares.max()) for key in found.runs)
    return Panel(
        _across(found),
        {
            "type": "log",
            "range": [math.log10(guess * 1.15), math.log10(least / 1.15)],
            "tickvals": [1 - share for share in LABELED],
            "ticktext": [f"{share:.0%}" for share in LABELED],
        },
        notes=[
            note(
                text("guessing"),
                x=0.065,  # beside the line of the slider at one block
                y=math.log10(guess),
                yref="y",
                font={"size": SMALL, "color": look.muted, "shadow": halo(look.paper)},
            )
        ],
        shapes=[
            upright(depth, {"color": look.muted, "width": 2}),
            across(guess, {"color": look.muted, "width": 2, "dash": CLAIM}),
        ],
        high=HIGH,
        share=1.5,
        over=_over(text("test accuracy (errors on a log scale)"), found, depth, False, theme),
    )


def _loss(found: Accuracy, depth: int, theme: str) -> Panel:
    low, high = _range(found)
    return Panel(
        _across(found),
        {
            "type": "log",
            "range": np.log10([low / 1.5, high * 1.5]),
            "tickvals": log_ticks(low, high),
        },
        shapes=[upright(depth, {"color": THEMES[theme].muted, "width": 2})],
        high=HIGH,
        on_slide=False,
        over=_over(text("training loss, nats"), found, depth, True, theme),
    )


def _over(name: str, found: Accuracy, depth: int, losses: bool, theme: str) -> list[Band]:
    """What the numbers of a panel are, and these."""
    return [Band([name]), Band([_numbers(found, depth, losses, theme)], NUMBERS)]


def _numbers(found: Accuracy, depth: int, losses: bool, theme: str) -> str:
    """The accuracy or the loss of each kind with warm-up, after the mark of its line."""
    return "  ".join(
        f'<b style="color:{place_color(kind, theme)}">{GLYPHS[SYMBOLS[kind]]}{KEPT}'
        f"{_number(found, kind, 'with', depth, losses)}</b>"
        for kind in KINDS
    )


def _number(found: Accuracy, kind: str, warming: str, depth: int, losses: bool) -> str:
    if not losses:
        return f"{found.share(kind, warming, depth):.0%}"
    values = _values(found, kind, warming, losses)
    return number(float(values[0, found.depths.index(depth)]), 2)


def _values(found: Accuracy, kind: str, warming: str, losses: bool) -> np.ndarray[Any, Any]:
    """Mean, lowest and highest over the seeds, of the share of errors or the loss, (3, depths)."""
    chosen = found.chosen(kind, warming)
    runs = chosen.losses if losses else 1 - chosen.shares
    return np.array([runs.mean(axis=1), runs.min(axis=1), runs.max(axis=1)])


def _range(found: Accuracy) -> tuple[float, float]:
    every = np.concatenate([found.chosen(*key).losses.ravel() for key in found.runs])
    every = every[np.isfinite(every) & (every > 0)]
    return float(every.min()), float(every.max())


def _bands(found: Accuracy, number_: int, theme: str) -> Iterator[go.Scatter]:
    for kind in KINDS:
        each = np.array([_values(found, kind, w, PANELS[number_]) for w in WARMING])
        low, high = each[:, 1].min(axis=0), each[:, 2].max(axis=0)
        yield go.Scatter(
            x=[*found.depths, *found.depths[::-1]],
            y=[*rounded(high), *rounded(low[::-1])],
            mode="lines",
            fill="toself",
            fillcolor=see_through(place_color(kind, theme), 0.14),
            line={"width": 0, "color": place_color(kind, theme)},
            showlegend=False,
            hoverinfo="skip",
            **on_panel(number_),
        )


def _lines(found: Accuracy, number_: int, theme: str) -> Iterator[go.Scatter]:
    losses = PANELS[number_]
    warming = "with"
    for kind, name in KINDS.items():
        values = _values(found, kind, warming, losses)
        told_ = values if losses else 1 - values[[0, 2, 1]]
        rates = [number(rate) for rate in found.chosen(kind, warming).rates]
        form = ".3g" if losses else ".1%"
        yield go.Scatter(
            x=found.depths,
            y=rounded(values[0]),
            customdata=list(zip(*map(rounded, told_), rates, strict=True)),
            mode="lines+markers",
            name=BLOCKS[kind],
            showlegend=number_ == 1,
            line={"color": place_color(kind, theme), "width": 3},
            marker={"size": 9, "symbol": SYMBOLS[kind], "color": place_color(kind, theme)},
            hovertemplate=text(
                "{name} {warmed}, {L} blocks: {mean}, {low} to {high}, η = {rate}<extra></extra>",
                name=name,
                warmed=WARMING[warming],
                L="%{x}",
                mean=f"%{{customdata[0]:{form}}}",
                low=f"%{{customdata[1]:{form}}}",
                high=f"%{{customdata[2]:{form}}}",
                rate="%{customdata[3]}",
            ),
            **on_panel(number_),
        )


def _marks(found: Accuracy, depth: int, theme: str) -> list[dict[str, Any]]:
    """A large mark on each line at a depth, a trace for each panel and warm-up.

    A hollow one is a ring, which is seen around a full one at the same place.
    """
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
                "size": 12 if warming == "with" else 18,
                "color": [
                    place_color(kind, theme) if warming == "with" else CLEAR for kind in KINDS
                ],
                "symbol": [SYMBOLS[kind] for kind in KINDS],
                "line": {"width": 2, "color": [place_color(kind, theme) for kind in KINDS]},
            },
            "cliponaxis": False,
            "showlegend": False,
            "hovertext": [
                text(
                    "{name} {warmed}: {number}",
                    name=name,
                    warmed=WARMING[warming],
                    number=_number(found, kind, warming, depth, losses),
                )
                for kind, name in KINDS.items()
            ],
            "hoverinfo": "text",
            **on_panel(number_),
        }
        for (number_, losses), warming in product(PANELS.items(), WARMING)
    ]
