"""The picture of a change: eight rows of W or X, z before and after, and the verdicts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.pictures.invariance.dots_figure import dots, moved
from normgeo.pictures.invariance.effect import EffectOnData, parameter
from normgeo.pictures.invariance.effect_words import beside, heading, missing, what_is_drawn
from normgeo.pictures.invariance.thumbnails import BOX, LEVELS, Grid, bars, images
from normgeo.pictures.style.colors import blend
from normgeo.pictures.style.player import add_slider, frames
from normgeo.pictures.style.sheet import Panel, Sheet, drawn, on_panel
from normgeo.pictures.style.template import THEMES, ink_scale
from normgeo.settings import as_text

PICTURES, ROW, EMPTY = (300, 162), (86, 60), 8  # heights in pixels; of dots to be predicted
SHARE = 2.7  # of the width, for dots and words, beside that of the pictures
FADE = 0.6  # the exponent from values to ink: below 1, small values are still seen


def figure(result: EffectOnData, theme: str) -> go.Figure:
    """Draw an effect: what changes at the left, z of one case before (hollow) and after (filled).

    The frames of its slider are the strengths.
    """
    effect, opening, rows = result.effect, result.opening, list(result.rows)
    grid = Grid.of(len(effect.shown))
    traces = [
        _outline(grid, np.arange(len(effect.shown)), THEMES[theme].muted, 1),
        _pictures(result, theme),
        _outline(grid, np.flatnonzero(effect.changed), THEMES[theme].ink, 4),
        *(t for key, m in effect.methods.items() for t in dots(m, rows.index(key) + 2, theme)),
        *(_nothing(rows.index(key)) for key in result.hidden),
    ]
    every = range(len(effect.strengths))
    changes = [_changes(result, step) for step in every]
    moving = [1, *(4 + 3 * m + i for m in range(len(effect.methods)) for i in (0, 1))]
    for trace, values in zip(moving, changes[opening], strict=True):
        traces[trace].update(values)
    sheets = [_sheet(result, grid, step, theme) for step in every]
    whole, words = drawn(sheets, traces, theme, opening)
    whole.update_layout(meta={**whole.layout.meta, "picks": [grid.picks(result.names)]})
    names = (number(strength, 6) for strength in effect.strengths)
    slid = parameter(effect.transform)
    add_slider(
        whole,
        frames(names, changes, words, moving),
        start=opening,
        prefix=f"{text('factor {name}', name=slid) if effect.transform.rescales else slid} = ",
        theme=theme,
        setting="delta",
        values=[as_text(float(strength)) for strength in effect.strengths],
    )
    return whole


def _sheet(result: EffectOnData, grid: Grid, step: int, theme: str) -> Sheet:
    """The change, its pictures, and beside them the dots of each method with its verdict."""
    hidden: dict[str, Any] = {"visible": False, "fixedrange": True, "constrain": "domain"}
    pictures = Panel(
        {**hidden, "range": [-0.5, grid.width + 0.5], "constraintoward": "left"},
        {
            **hidden,
            "range": [grid.height + 0.5, -0.5],
            "scaleanchor": "x",
            "constraintoward": "top",
        },
        high=PICTURES,
    )
    dots = tuple(_panel(result, key, step, theme) for key in result.rows)
    answers_first = [[1 + place] for place in range(len(dots))]
    return Sheet(
        heading(result, step, theme),
        rows=[[pictures, dots]],
        phone=[*answers_first, [0]],
        right=8,
        legend=False,
    )


def _panel(result: EffectOnData, key: str, step: int, theme: str) -> Panel:
    """The dots of a method."""
    rows, method = list(result.rows), result.effect.methods.get(key)
    last = key == rows[-1]
    x = {"fixedrange": True, "showticklabels": last, "title": what_is_drawn(result) if last else ""}
    x |= {} if last else {"ticks": ""}
    y: dict[str, Any] = {"fixedrange": True, "range": [-1, 1], "visible": method is not None}
    widest = ""
    if method is None:
        x |= {"visible": False}
    else:
        neurons = len(method.before.z)
        sizes = [np.abs(method.before.z).max(), *(np.abs(a.z).max() for a in method.after)]
        reach = 1.35 * max(map(float, sizes))
        widest = max(f"−{reach:.0f}", "0.000", key=len)
        tick = _one_digit(0.71 * reach or 1.0)  # a label near the end would touch a frame
        x |= {"range": [-0.6, neurons - 0.4], "dtick": max(1, -(-neurons // 5))}
        y |= {"range": [-reach, reach], "tickvals": [-tick, 0, tick], "zeroline": True}
    return Panel(
        x,
        y,
        notes=missing(result, key, step),
        high=ROW if method else (ROW[0], EMPTY),
        share=SHARE,
        widest=widest,
        aside=beside(result, key, step, theme),
        frame=THEMES[theme].muted if key == result.chosen else "",
    )


def _one_digit(value: float) -> float:
    """The largest number of one digit up to a value: half of it at least, so labels stay apart."""
    unit = 10.0 ** math.floor(math.log10(value))
    return float(f"{math.floor(value / unit) * unit:.1g}")


def _changes(result: EffectOnData, step: int) -> list[dict[str, Any]]:
    """What differs from step to step of the moving traces."""
    data = [_values(result, step)]
    for method in result.effect.methods.values():
        data += moved(method, step)
    return data


def _outline(grid: Grid, which: Array, color: str, width: float) -> go.Scatter:
    """Return lines around some of the pictures."""
    x, y = grid.outlines(which)
    return go.Scatter(
        x=x, y=y, mode="lines", line={"color": color, "width": width}, hoverinfo="skip"
    )


def _pictures(result: EffectOnData, theme: str) -> go.Heatmap | go.Scatter:
    """Return the shown rows as images where the features are pixels, as bars elsewhere."""
    dataset, rows = result.dataset, result.effect.rows_before
    if dataset.image_shape is None:
        x, _ = bars(rows, 0, 1)
        return go.Scatter(
            x=x, fill="toself", mode="none", fillcolor=THEMES[theme].ink, hoverinfo="skip"
        )
    height, width = dataset.image_shape
    return go.Heatmap(
        zmin=-LEVELS,
        zmax=LEVELS,
        x0=BOX / width / 2,
        dx=BOX / width,
        y0=BOX / height / 2,
        dy=BOX / height,
        colorscale=faded_ink(theme),
        showscale=False,
        hoverinfo="skip",
    )


def faded_ink(theme: str) -> list[list[Any]]:
    """The scale of ink for signed values in which a fifth of the largest is still seen."""
    (_, below), (_, paper), (_, above) = ink_scale(theme)
    return [
        [(1 + v) / 2, blend(paper, above if v > 0 else below, abs(v) ** FADE)]
        for v in np.linspace(-1, 1, 41)
    ]


def _values(result: EffectOnData, step: int) -> dict[str, Any]:
    """Return what the pictures show at one step, on one scale for all steps."""
    effect, rows = result.effect, result.effect.rows_after[step]
    if result.dataset.image_shape is not None:
        largest = max(np.abs(effect.rows_after).max(), np.abs(effect.rows_before).max())
        return {"type": "heatmap", "z": images(rows, result.dataset, float(largest))}
    every = np.concatenate([effect.rows_before[None], effect.rows_after])
    sizes = np.abs(every).max(axis=(0, 1))
    # Features have units of their own, weights have one.
    unit = sizes.max() if effect.transform.matrix == "W" else sizes
    unit = np.where(unit > 0, unit, 1.0)
    low, high = (every / unit).min(), (every / unit).max()
    _, y = bars(rows / unit, min(0.0, float(low)), max(0.0, float(high)))
    return {"y": y.astype(np.float32)}


def _nothing(place: int) -> go.Scatter:
    """Return a trace without points: axes that no trace uses have no place."""
    return go.Scatter(x=[None], y=[None], **on_panel(place + 2), hoverinfo="skip")
