"""A walk along a null direction of W, and along one at random: templates, predictions, the KL."""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.null_directions.walk import Walk
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.player import add_slider
from normgeo.pictures.style.sheet import Panel, Sheet, answer, drawn, told
from normgeo.pictures.style.template import THEMES
from normgeo.pictures.symmetry.templates_figure import Grid
from normgeo.pictures.symmetry.walk import Walks, headline
from normgeo.pictures.symmetry.walk_reasons_figure import marks, reasons
from normgeo.pictures.symmetry.walk_words import BODY, about, heads, reason_words

HIGH = (94, 120), (98, 125)  # pixels of templates and of predictions
REASONS_WIDE = 360  # pixels of the reasons on the screen that figures are made for


def figure(result: Walks, theme: str) -> go.Figure:
    """Draw the reasons with their templates, and both walks at every step."""
    traces = [*reasons(result, theme)]
    walks = [(2, result.null), (4, result.random)]
    limit, reach = _limit(result), _reach(result)
    moving: list[int] = []
    if result.null is None:  # words stand there, and a panel without a trace has no place
        traces += [go.Scatter(x=[None], y=[None], xaxis="x2", yaxis="y2", showlegend=False)]
    for axis, one in walks:
        if one is not None:
            first = len(traces)
            traces += _walk_traces(result, one, result.opening, axis, limit, theme)
            moving += [first, *range(first + 2, first + 4)]
    sheets = [_sheet(result, t, reach, theme) for t in range(len(result.steps))]
    whole, words = drawn(sheets, traces, theme, result.opening)
    whole.update_layout(meta={**whole.layout.meta, "picks": _picks(result)})
    frames = [
        {
            "name": number(float(step)),
            "data": [
                change
                for axis, one in walks
                if one is not None
                for change in _walk_changes(result, one, t, limit)
            ],
            "traces": moving,
            "layout": words[t],
        }
        for t, step in enumerate(result.steps)
    ]
    add_slider(
        whole,
        frames,
        start=result.opening,
        prefix=text("walk by r = "),
        theme=theme,
        setting="walk",
        values=[f"{step:g}" for step in result.steps],
    )
    return whole


def _sheet(result: Walks, t: int, reach: tuple[float, float], theme: str) -> Sheet:
    """The reasons, and beside them both walks at a step."""
    walks = [
        _walk(result, axis, said, reach, theme) for axis, said in enumerate(heads(result, t, theme))
    ]
    return Sheet(
        [answer(headline(result.found)), told(theme, *about(result))],
        rows=[[_reasons(result, theme), *walks]],
        right=8,
        legend=False,
    )


def _grid(result: Walks) -> Grid:
    """Where the weight vectors of a walk stand: in two rows, where there are many."""
    count = len(result.shown)
    return Grid(result.dataset, count, count if count < 4 else ceil(count / 2))


def _picks(result: Walks) -> list[dict[str, Any]]:
    """Where a click chooses the neuron that moves, where one moves by itself."""
    if result.chosen is None or not result.chosen.alone:
        return []
    shown = list(map(int, result.shown))
    axes = [axis for axis, one in ((2, result.null), (4, result.random)) if one is not None]
    return [_grid(result).picks(shown, axis) for axis in axes]


def _weights(result: Walks, one: Walk, t: int) -> Array:
    W = result.found.model.W + one.steps[t] * one.change
    shown: Array = W[result.shown]
    return shown


def _limit(result: Walks) -> float:
    """The largest weight of all frames, for one scale."""
    walks = [one for one in (result.null, result.random) if one is not None]
    largest = max(
        float(np.abs(_weights(result, one, t)).max())
        for one in walks
        for t in range(len(result.steps))
    )
    return largest or 1.0


def _reach(result: Walks) -> tuple[float, float]:
    """The range of the predictions of all frames."""
    walks = [one for one in (result.null, result.random) if one is not None]
    values = np.concatenate([[*one.means.ravel(), *one.before] for one in walks])
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    if result.dataset.labelled:
        low, high = 0.0, 1.0
    room = 0.08 * (high - low) or 1.0
    return low - room, high + room


def _walk_traces(
    result: Walks, one: Walk, t: int, axis: int, limit: float, theme: str
) -> list[Any]:
    """The weight vectors, and the predictions before (hollow), between, and after (filled)."""
    look, color = THEMES[theme], method_color(result.found.normalizer)
    _, way, after = _walk_changes(result, one, t, limit)
    place = {"xaxis": f"x{axis + 1}", "yaxis": f"y{axis + 1}"}
    neurons = np.arange(len(one.before))
    grid = _grid(result)
    above: dict[str, Any] = {"xaxis": f"x{axis}", "yaxis": f"y{axis}"}
    return [
        grid.trace(_weights(result, one, t), limit, theme, **above),
        go.Scatter(
            x=neurons,
            y=one.before,
            mode="markers",
            marker={
                "size": 15,
                "symbol": "circle-open",
                "color": look.ink,
                "line": {"width": 2},
            },
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


def _walk_changes(result: Walks, one: Walk, t: int, limit: float) -> list[dict[str, Any]]:
    """What a step changes of the weight vectors, the way and the predictions after."""
    neurons = np.arange(len(one.before), dtype=np.float32)
    gap = np.full(len(neurons), np.nan)
    way = np.column_stack([one.before, one.means[t], gap]).ravel().astype(np.float32)
    grid = _grid(result)
    return [
        {"type": grid.kind, **grid.values(_weights(result, one, t), limit)},
        {"x": np.repeat(neurons, 3), "y": way},
        {"y": one.means[t].astype(np.float32)},
    ]


def _moved(result: Walks, theme: str) -> list[dict[str, Any]]:
    """Frames around the weight vectors that move, where others rest."""
    if result.chosen is None:
        return []
    places = np.flatnonzero(result.chosen.moved[result.shown])
    if not len(places) or len(places) == len(result.shown):
        return []
    line = {"color": method_color(result.found.normalizer), "width": 3}
    boxes = (_grid(result).box(np.array([place])) for place in places)
    return [{"type": "rect", "line": line, **box} for box in boxes]


# Panels

HIDDEN: dict[str, Any] = {"visible": False, "showgrid": False}
ACROSS, UP = ({"constrain": "domain", "constraintoward": side} for side in ("left", "top"))
"""Of images, which are square on every screen."""


def _reasons(result: Walks, theme: str) -> Panel:
    """What one direction of each reason moves."""
    images = result.dataset.image_shape is not None
    _, width = Grid(result.dataset, len(result.shown), len(result.shown)).extent
    square = {"scaleanchor": "x", "scaleratio": (width + 4) / REASONS_WIDE, **UP}
    return Panel(
        {**HIDDEN, "range": [-3, width + 1], **(ACROSS if images else {})},
        {**HIDDEN, "range": [BODY, 0], **(square if images else {})},
        [text("<b>Null directions, by their reasons</b>")] if result.directions else [],
        reason_words(result, theme),
        marks(result, theme),
        high=(BODY, BODY),
        share=1.1,
    )


def _walk(
    result: Walks,
    place: int,
    said: tuple[list[str], list[str]],
    reach: tuple[float, float],
    theme: str,
) -> tuple[Panel, Panel]:
    """The templates and the predictions of a walk."""
    images = result.dataset.image_shape is not None
    high, wide = _grid(result).extent
    H = len(result.found.model.W)
    templates = Panel(
        {**HIDDEN, "range": [-0.6, wide + 0.6], **(ACROSS if images else {})},
        {**HIDDEN, "range": [high + 0.6, -0.6], **({"scaleanchor": "x", **UP} if images else {})},
        said[0],
        shapes=_moved(result, theme) if said[1] else [],
        high=HIGH[0],
    )
    predicted = text("probability") if result.dataset.labelled else text("predicted mean")
    empty = {"visible": bool(said[1]), "zeroline": False}
    predictions = Panel(
        {
            "range": [-0.6, H - 0.4],
            "dtick": max(1, ceil(H / 10)),
            "tick0": 0,
            "title": text("neuron (case {case}: ○ before, ● after)", case=result.case),
            "showgrid": False,
            **empty,
        },
        {"range": reach, "nticks": 4, "title": predicted, **empty},
        said[1],
        high=HIGH[1],
    )
    return templates, predictions
