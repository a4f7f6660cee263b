"""Norm and angle per step under weight decay, settling from three norms: simulated and real."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.pictures.learning_rate.equilibrium import BlockRun, Equilibria
from normgeo.pictures.style.annotations import sized
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.lines import end_mark, line, predicted_style, start_styles
from normgeo.pictures.style.sheet import Band, Panel, Sheet
from normgeo.pictures.style.template import SMALL, THEMES, log_ticks

MOST = 60.0  # a run may leave the picture by this factor


def figure(result: Equilibria, theme: str) -> go.Figure:
    """Draw norm above angle, a simulation at the left and real data at the right."""
    sides = (result.simulated_runs, result.real_runs)
    last = max(len(run.angles) for runs in sides for run in runs)
    traces = [
        trace
        for column, runs in enumerate(sides)
        for trace in (*_runs(result, runs, column, theme), *_levels(result, last, column, theme))
    ]
    x = {"range": [-0.01 * last, 1.01 * last]}
    steps = {"title": text("step")}
    norms, angles = _upward(result, [*sides[0], *sides[1]])
    heads = _heads(result)
    return Sheet(
        [Band(_sentences(result))],
        rows=[
            [Panel(x | {"showticklabels": False}, norms, head, high=(188, 190)) for head in heads],
            [Panel(x | steps, angles, high=(188, 190)) for _ in heads],
        ],
        phone=[[0], [2], [1], [3]],
        one_scale=True,
    ).on(traces, theme)


def _heads(result: Equilibria) -> list[list[str]]:
    """Return what runs in each column, and where it has come to."""
    titles = (
        text("<b>simulation</b>: a gradient of constant √Γ, in random directions"),
        text("<b>real</b>: {data!s}, {batches}", data=result.data, batches=result.batches),
    )
    sides = (result.simulated_runs, result.real_runs)
    return [
        [sized(words, SMALL) for words in (title, _settled(result, runs))]
        for title, runs in zip(titles, sides, strict=True)
    ]


def _runs(
    result: Equilibria, runs: Sequence[BlockRun], column: int, theme: str
) -> list[go.Scatter]:
    """Return the lines of a column, that of the largest norm first, with marks of early ends."""
    traces = []
    styles = start_styles(method_color(result.real[0].start.normalizer, theme), theme)
    for run, style in reversed(list(zip(runs, styles, strict=True))):
        name = text("from {symbol} = {norm}", symbol=result.symbol, norm=number(run.norms[0]))
        points, degrees = np.arange(len(run.norms)), np.degrees(run.angles)
        for panel, steps, values in (
            (1 + column, points, run.norms),
            (3 + column, points[1:], degrees),
        ):
            traces.append(line(steps, values, panel, name, style, panel == 1))
            if run.ended:
                traces.append(end_mark(steps, values, panel, THEMES[theme].ink))
    return traces


def _levels(result: Equilibria, last: int, column: int, theme: str) -> list[go.Scatter]:
    """Return the dashed lines of the predicted norm and angle in a column."""
    if result.predicted is None:
        return []
    norm, angle = float(result.predicted.norm), float(np.degrees(result.predicted.angle))
    style, name, ends = predicted_style(theme), text("predicted"), np.array([0, last])
    return [
        line(ends, np.array([level, level]), panel, name, style, panel == 1)
        for panel, level in ((1 + column, norm), (3 + column, angle))
    ]


def _sentences(result: Equilibria) -> list[str]:
    """Return the sentences above the panels: what runs, and what the law assumes."""
    run = result.real[0]
    about = text(
        "<b>{method}</b>, {name}: {optimizer}, η = {rate}, λ = {decay}, ηλ = {share}",
        method=run.start.normalizer.title,
        name=result.name,
        optimizer=run.optimizer.title,
        rate=number(run.rate),
        decay=number(run.decay),
        share=number(run.rate * run.decay),
    )
    return [about, run.optimizer.equilibrium_assumes]


def _settled(result: Equilibria, runs: Sequence[BlockRun]) -> str:
    """Return where the runs have come to, beside the prediction."""
    end = result.settled(runs)
    norm, angle = number(end.norm), number(float(np.degrees(end.angle)))
    if result.predicted is None or end.norm_off is None or end.angle_off is None:
        return text("last half: norm {norm}, angle {angle}°", norm=norm, angle=angle)
    return text(
        "last half: norm {norm} (predicted {star}, off by up to {norm_off}%), angle "
        "{angle}° ({turn}°, {angle_off}%)",
        norm=norm,
        star=number(float(result.predicted.norm)),
        norm_off=number(100 * end.norm_off, 2),
        angle=angle,
        turn=number(float(np.degrees(result.predicted.angle))),
        angle_off=number(100 * end.angle_off, 2),
    )


def _upward(result: Equilibria, runs: Sequence[BlockRun]) -> Iterator[dict[str, Any]]:
    """Yield the axes of norms and of angles."""
    norms = np.concatenate([run.norms for run in runs])
    angles = np.degrees(np.concatenate([run.angles for run in runs]))
    middle = (float(np.median(norms)), float(np.median(angles)))
    if result.predicted is not None:
        middle = (float(result.predicted.norm), float(np.degrees(result.predicted.angle)))
    titles = text("norm {symbol}", symbol=result.symbol), text("angle θ, degrees")
    for values, level, title in zip((norms, angles), middle, titles, strict=True):
        low, high = _log_range(values, level)
        yield {
            "type": "log",
            "range": [np.log10(low), np.log10(high)],
            "tickvals": log_ticks(low, high),
            "exponentformat": "power",
            "title": title,
        }


def _log_range(values: Array, level: float) -> tuple[float, float]:
    """Return what an axis shows: all values within a factor of the level."""
    near = values[(values > level / MOST) & (values < level * MOST)]
    near = np.append(near, level)
    return float(near.min() / 1.15), float(near.max() * 1.15)
