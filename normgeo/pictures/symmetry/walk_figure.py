"""A walk along a null direction of W and one at random: what follows of each."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.null_directions.walk import Walk
from normgeo.pictures.style.annotations import colored
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.player import add_slider, frames
from normgeo.pictures.style.sheet import (
    Band,
    Panel,
    Sheet,
    Tiles,
    answer,
    axis_name,
    drawn,
    on_panel,
    told,
)
from normgeo.pictures.style.template import LARGE, SIZE, THEMES
from normgeo.pictures.symmetry.walk import Walks, headline
from normgeo.pictures.symmetry.walk_words import (
    about,
    kl_words,
    letters,
    null_words,
    random_words,
)

HIGH = 200, 84  # pixels of a panel


def figure(result: Walks, theme: str) -> go.Figure:
    """Draw both walks at every step, beneath the reasons."""
    walks, reach = _walks(result), _reach(result)
    traces = [
        trace
        for place, one in enumerate(walks)
        for trace in _traces(result, one, result.opening, place + 1, theme)
    ]
    moving = [3 * place + k for place in range(len(walks)) for k in (1, 2)]
    sheets = [
        Sheet(
            [answer(headline(result.found)), *_reasons(result, theme)],
            rows=[_panels(result, t, reach, theme)],
            foot=[
                told(
                    theme,
                    "; ".join(map(str, (*about(result), letters(result)))),
                    on_slide=[
                        text(
                            "KL: how far the {family} outputs move, per case. F: the curvature of "
                            "KL",
                            family=result.found.model.family.title,
                        )
                    ],
                )
            ],
            right=8,
            legend=False,
        )
        for t in range(len(result.steps))
    ]
    whole, words = drawn(sheets, traces, theme, result.opening)
    whole.update_layout(meta={**whole.layout.meta, "picks": _picks(result, reach)})
    names = [number(float(step)) for step in result.steps]
    changes = [[change for one in walks for change in _changes(one, t)] for t in range(len(names))]
    add_slider(
        whole,
        frames(names, changes, words, moving),
        start=result.opening,
        prefix=text("step: r = "),
        theme=theme,
        setting="walk",
        values=[f"{step:g}" for step in result.steps],
    )
    return whole


def _reasons(result: Walks, theme: str) -> list[Tiles]:
    """The reasons why directions change nothing, and how many each explains."""
    if result.chosen is None and result.found.null.dimension:
        return [Tiles([[text("Stopped before the null directions were explained.")]], SIZE)]
    muted = THEMES[theme].muted
    explanation = result.found.explanation
    why = {one.key: one.held for one in explanation.reasons} if explanation else {}
    tiles = []
    for place, one in enumerate(result.directions):
        held = why.get(one.reason, one.count)
        more = text("more ") if place else ""
        if held > one.count:
            more = text("in all ")
        words = text("<b>{count}</b> {more}by {title}", count=held, more=more, title=one.title)
        tiles.append([words if one is result.chosen else colored(words, muted, SIZE)])
    return [Tiles(tiles, SIZE)] if tiles else []


def _walks(result: Walks) -> list[Walk]:
    return [one for one in (result.null, result.random) if one is not None]


def _reach(result: Walks) -> tuple[float, float]:
    """The range of the predictions of both walks, over all frames."""
    values = np.concatenate([[*one.means.ravel(), *one.before] for one in _walks(result)])
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    if result.found.model.family.has_classes:
        low, high = 0.0, 1.0
    room = 0.08 * (high - low) or 1.0
    return low - room, high + room


def _picks(result: Walks, reach: tuple[float, float]) -> list[dict[str, Any]]:
    """Where a click chooses the neuron that moves, where one moves by itself."""
    if result.chosen is None or not result.chosen.alone:
        return []
    boxes = [[h - 0.5, h + 0.5, *reach, h] for h in range(len(result.found.model.W))]
    return [
        {
            "setting": "neuron",
            "axes": [axis_name("xaxis", n), axis_name("yaxis", n)],
            "boxes": boxes,
        }
        for n in range(1, len(_walks(result)) + 1)
    ]


def _traces(result: Walks, one: Walk, t: int, axis: int, theme: str) -> list[Any]:
    """The predictions before (hollow), between and after (filled)."""
    look, color = THEMES[theme], method_color(result.found.normalizer, theme)
    way, after = _changes(one, t)
    neurons = np.arange(len(one.before))
    place: dict[str, Any] = {**on_panel(axis), "showlegend": False}
    ring = {"size": 15, "symbol": "circle-open", "color": look.ink, "line": {"width": 2}}
    return [
        go.Scatter(
            x=neurons,
            y=one.before,
            mode="markers",
            marker=ring,
            cliponaxis=False,
            hovertemplate=text("neuron %{x}, before: %{y:.4g}<extra></extra>"),
            **place,
        ),
        go.Scatter(
            x=way["x"],
            y=way["y"],
            mode="lines",
            line={"color": color, "width": 3},
            hoverinfo="skip",
            **place,
        ),
        go.Scatter(
            x=neurons,
            y=after["y"],
            mode="markers",
            marker={"size": 9, "color": color},
            cliponaxis=False,
            hovertemplate=text("neuron %{x}, after: %{y:.4g}<extra></extra>"),
            **place,
        ),
    ]


def _changes(one: Walk, t: int) -> list[dict[str, Any]]:
    """What a step changes: the way of the predictions, and their end."""
    neurons = np.arange(len(one.before), dtype=np.float32)
    gap = np.full(len(neurons), np.nan)
    way = np.column_stack([one.before, one.means[t], gap]).ravel().astype(np.float32)
    return [
        {"x": np.repeat(neurons, 3), "y": way},
        {"y": one.means[t].astype(np.float32)},
    ]


def _panels(result: Walks, t: int, reach: tuple[float, float], theme: str) -> Sequence[Panel]:
    """The predictions of each walk at a step."""
    heads = [random_words(result, t, theme)]
    if result.null is not None:
        heads.insert(0, null_words(result, t, theme))
    H, family = len(result.found.model.W), result.found.model.family
    dot = f'<span style="color:{method_color(result.found.normalizer, theme)}">●</span>'
    across = {
        "range": [-0.6, H - 0.4],
        "dtick": max(1, ceil(H / 10)),
        "tick0": 0,
        "zeroline": False,
        "title": text("neuron (case {case}: ○ before, {dot} after)", case=result.case, dot=dot),
        "showgrid": False,
    }
    predicted = text("probability") if family.has_classes else text("predicted mean")
    return [
        Panel(
            across,
            {"range": reach, "nticks": 4, "title": predicted, "zeroline": False},
            head,
            high=HIGH,
            over=[Band(kl_words(one, t, theme), LARGE)],
        )
        for one, head in zip(_walks(result), heads, strict=True)
    ]
