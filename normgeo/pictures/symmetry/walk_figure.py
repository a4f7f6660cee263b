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
from normgeo.pictures.style.player import STRIP, add_slider
from normgeo.pictures.style.template import THEMES, dress
from normgeo.pictures.symmetry.templates_figure import Grid
from normgeo.pictures.symmetry.walk import Walks
from normgeo.pictures.symmetry.walk_reasons_figure import draw_reasons, marks
from normgeo.pictures.symmetry.walk_words import BODY, FOOT, HEIGHT, TOP, title, words

PANELS = ((0.0, 0.3), (0.35, 0.655), (0.705, 1.0))  # reasons, the walk, the walk at random
REASONS_WIDE = 360  # pixels of the reasons on the screen that figures are made for
TEMPLATES, DOTS = (0.485, 0.8), (0.0, 0.34)  # of the height, in both walks

LABELS = 0.17  # of the width, on a phone, for the labels of the dots
NARROW_TOP, NARROW_BODY, NARROW_FOOT = 190, 1010, FOOT + STRIP + 20
NARROW_PANELS = ((0.74, 1.0), (0.38, 0.66), (0.0, 0.28))  # of the height, one above the other


def figure(result: Walks, theme: str) -> go.Figure:
    """Draw the reasons with their templates, and both walks at every step."""
    drawn = go.Figure()
    walks = [(2, result.null), (4, result.random)]
    limit, reach = _limit(result), _reach(result)
    moving: list[int] = []
    if result.null is None:  # words stand there, and a panel without a trace has no place
        drawn.add_scatter(x=[None], y=[None], xaxis="x2", yaxis="y2", showlegend=False)
    draw_reasons(drawn, result, theme)
    for axis, one in walks:
        if one is not None:
            first = len(drawn.data)
            drawn.add_traces(_walk_traces(result, one, result.opening, axis, limit, theme))
            moving += [first, *range(first + 2, first + 4)]
    dress(drawn, theme, height=HEIGHT)
    said = [words(result, t, theme) for t in range(len(result.steps))]
    drawn.update_layout(
        showlegend=False,
        title=title(result, theme, 62, 110),
        margin={"l": 8, "r": 8, "t": TOP, "b": FOOT},
        shapes=[*marks(result, theme), *_moved(result, theme)],
        annotations=said[result.opening],
        meta={
            "narrow": {**_narrow_layout(), "title": title(result, theme, 26, 48)},
            "picks": _picks(result),
        },
        **_axes(result, reach),
    )
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
            "layout": {"annotations": said[t]},
        }
        for t, step in enumerate(result.steps)
    ]
    add_slider(
        drawn,
        frames,
        start=result.opening,
        prefix=text("walk by r = "),
        theme=theme,
        setting="walk",
        values=[f"{step:g}" for step in result.steps],
    )
    return drawn


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
    grid, color = _grid(result), method_color(result.found.normalizer)
    return [
        {
            "type": "rect",
            "xref": f"x{axis}",
            "yref": f"y{axis}",
            "line": {"color": color, "width": 3},
            **grid.box(np.array([place])),
        }
        for axis in (2, 4)
        for place in places
    ]


# Axes


def _axes(result: Walks, reach: tuple[float, float]) -> dict[str, Any]:
    """The panels beside each other."""
    hidden = {"visible": False, "showgrid": False}
    strip = Grid(result.dataset, len(result.shown), len(result.shown))
    _, width = strip.extent
    high, wide = _grid(result).extent
    images = result.dataset.image_shape is not None
    H = len(result.found.model.W)
    axes: dict[str, Any] = {
        "xaxis": {**hidden, "domain": PANELS[0], "range": [-3, width + 1], "anchor": "y"},
        "yaxis": {**hidden, "domain": [0, 1], "range": [BODY, 0], "anchor": "x"},
    }
    if images:  # square on every screen
        axes["xaxis"] |= {"constrain": "domain", "constraintoward": "left"}
        axes["yaxis"] |= {
            "scaleanchor": "x",
            "scaleratio": (width + 4) / REASONS_WIDE,
            "constrain": "domain",
            "constraintoward": "top",
        }
    predicted = text("probability") if result.dataset.labelled else text("predicted mean")
    for axis, panel in ((2, PANELS[1]), (4, PANELS[2])):
        square = {"scaleanchor": f"x{axis}", "constrain": "domain", "constraintoward": "top"}
        axes[f"xaxis{axis}"] = {
            **hidden,
            "domain": panel,
            "range": [-0.6, wide + 0.6],
            "anchor": f"y{axis}",
            **({"constrain": "domain", "constraintoward": "left"} if images else {}),
        }
        axes[f"yaxis{axis}"] = {
            **hidden,
            "domain": TEMPLATES,
            "range": [high + 0.6, -0.6],
            "anchor": f"x{axis}",
            **(square if images else {}),
        }
        axes[f"xaxis{axis + 1}"] = {
            "domain": panel,
            "range": [-0.6, H - 0.4],
            "dtick": max(1, ceil(H / 10)),
            "tick0": 0,
            "anchor": f"y{axis + 1}",
            "title": text("neuron (case {case}: ○ before, ● after)", case=result.case),
            "showgrid": False,
            "zeroline": False,
        }
        axes[f"yaxis{axis + 1}"] = {
            "domain": DOTS,
            "range": reach,
            "nticks": 4,
            "anchor": f"x{axis + 1}",
            "title": predicted,
            "zeroline": False,
        }
    return axes


def _narrow_layout() -> dict[str, Any]:
    """The panels one above the other."""
    reasons, *walks = NARROW_PANELS
    whole = [0, 1]
    layout: dict[str, Any] = {
        "height": NARROW_TOP + NARROW_BODY + NARROW_FOOT,
        "margin": {"t": NARROW_TOP, "b": NARROW_FOOT},
        "xaxis": {"domain": whole},
        "yaxis": {"domain": reasons},
    }
    for axis, (low, high) in zip((2, 4), walks, strict=True):
        size = high - low
        layout[f"xaxis{axis}"] = {"domain": whole}
        layout[f"xaxis{axis + 1}"] = {"domain": [LABELS, 1.0]}
        layout[f"yaxis{axis}"] = {"domain": [low + 0.52 * size, low + 0.88 * size]}
        layout[f"yaxis{axis + 1}"] = {"domain": [low, low + 0.36 * size]}
    return layout
