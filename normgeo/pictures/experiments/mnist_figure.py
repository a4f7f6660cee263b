"""Curves at each size of batches, and the digits that are misread at each update."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.text import text
from normgeo.pictures.experiments.about import NAMES, normalizer_of
from normgeo.pictures.experiments.mnist import Digits, Way
from normgeo.pictures.recurrent.curves_figure import Curve, traces
from normgeo.pictures.recurrent.curves_figure import Panel as Curves
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.player import add_slider, frames
from normgeo.pictures.style.sheet import Panel, Sheet, answer, drawn, on_panel, told
from normgeo.pictures.style.template import THEMES

ACROSS, GAP = 16, 1  # tiles in a row, pixels between two
FULL, FAINT = 16, 8  # levels of ink, and what those of a digit that is read well are divided by
HIGH = 112, 66


def figure(result: Digits, theme: str) -> go.Figure:
    """Draw the curves and the tiles; a frame for each evaluation."""
    still = traces([_curves(result, batch) for batch in result.batches], theme)
    moving = [_frame(result, place, theme) for place in range(len(result.steps))]
    sheets = [_sheet(result, place, theme) for place in range(len(result.steps))]
    opening = result.opening
    whole, words = drawn(sheets, [*still, *moving[opening]], theme, opening)
    add_slider(
        whole,
        frames(result.steps, moving, words, len(still)),
        start=opening,
        prefix=text("updates: "),
        theme=theme,
        setting="updates",
    )
    return whole


def _curves(result: Digits, batch: int) -> Curves:
    x = np.array(result.steps)
    curves = [
        Curve(normalizer_of(one.method), x, one.missed, NAMES[one.method])
        for one in result.at(batch)
    ]
    return Curves("", text("updates"), text("nats per digit"), curves)


def _sheet(result: Digits, place: int, theme: str) -> Sheet:
    values = np.concatenate([one.missed.ravel() for one in result.ways])
    low, high = np.log10([np.nanmin(values), np.nanmax(values)])
    y = {"type": "log", "title": text("nats per digit"), "range": [low - 0.1, high + 0.1]}
    y |= {"tickvals": [0.01, 0.1, 1, 10], "ticktext": ["0.01", "0.1", "1", "10"]}
    x = {"title": text("updates"), "range": [0, 1.02 * result.steps[-1]], "zeroline": False}
    curves = [
        Panel(
            x,
            {**y, "zeroline": False},
            [text("<b>batches of {batch}</b>", batch=batch)],
            high=(190, 180),
            lowest=0.25,
        )
        for batch in result.batches
    ]
    tiles = [_tiles(result, one, place, theme) for one in result.at(result.batches[0])]
    return Sheet(
        [answer(result.told(place))],
        rows=[curves, tiles],
        foot=[told(theme, result.about)],
        legend=False,
    )


def _tiles(result: Digits, one: Way, place: int, theme: str) -> Panel:
    side = result.ink.shape[-1] + GAP
    rows = -(-len(result.digits) // ACROSS)
    bare = {"visible": False, "showgrid": False, "zeroline": False, "constrain": "domain"}
    head = text(
        "<b style='color:{color}'>{name}</b>: {n} of {K} misread",
        color=method_color(normalizer_of(one.method), theme),
        name=NAMES[one.method],
        n=int(result.misread(one, place).sum()),
        K=len(result.digits),
    )
    return Panel(
        {**bare, "range": [-0.5 - GAP, ACROSS * side - 0.5]},
        {**bare, "range": [rows * side - 0.5, -0.5 - GAP], "scaleanchor": "x"},
        [head],
        high=HIGH,
        lowest=0.7,
    )


def _frame(result: Digits, place: int, theme: str) -> list[dict[str, Any]]:
    """A mark on each curve, and the tiles of both methods."""
    found = []
    for panel, batch in enumerate(result.batches, start=1):
        for one in result.at(batch):
            found.append(_mark(result.steps[place], one, place, panel, theme))
    for panel, one in enumerate(result.at(result.batches[0]), start=len(result.batches) + 1):
        found += [_ink(result, one, place, panel, theme), _names(result, one, place, panel)]
    return found


def _mark(step: int, one: Way, place: int, panel: int, theme: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "x": [step],
        "y": [float(f"{one.missed[:, place].mean():.4g}")],
        "mode": "markers",
        "marker": {"size": 14, "color": method_color(normalizer_of(one.method), theme)},
        "showlegend": False,
        "hoverinfo": "skip",
        "cliponaxis": False,
        **on_panel(panel),
    }


def _ink(result: Digits, one: Way, place: int, panel: int, theme: str) -> dict[str, Any]:
    wrong = result.misread(one, place)[:, None, None]
    shades = np.where(wrong, result.ink, result.ink // FAINT)
    padded = np.pad(shades, ((0, -len(shades) % ACROSS), (0, GAP), (0, GAP)))
    side = padded.shape[-1]
    grid = padded.reshape(-1, ACROSS, side, side).swapaxes(1, 2).reshape(-1, ACROSS * side)
    look = THEMES[theme]
    return {
        "type": "heatmap",
        "z": grid.astype(np.uint8),
        "zmin": 0,
        "zmax": FULL,
        "colorscale": [[0, look.panel], [1, look.ink]],
        "showscale": False,
        "hoverinfo": "skip",
        **on_panel(panel),
    }


def _names(result: Digits, one: Way, place: int, panel: int) -> dict[str, Any]:
    """What each misread digit is taken for, where the mouse asks."""
    which, side = np.flatnonzero(result.misread(one, place)), result.ink.shape[-1]
    return {
        "type": "scatter",
        "x": ((which % ACROSS) * (side + GAP) + side / 2).tolist(),
        "y": ((which // ACROSS) * (side + GAP) + side / 2).tolist(),
        "mode": "markers",
        "marker": {"size": 30, "opacity": 0},
        "hovertext": [
            text("a {digit}, taken for {other}", digit=digit, other=other)
            for digit, other in zip(
                result.digits[which].tolist(), one.taken[place, which].tolist(), strict=True
            )
        ],
        "hoverinfo": "text",
        "showlegend": False,
        **on_panel(panel),
    }
