"""Norm and angle per step under weight decay, settling from three norms: simulated and real."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.pictures.learning_rate.equilibrium import BlockRun, Equilibria
from normgeo.pictures.style.annotations import note, wrapped
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.lines import end_mark, line, predicted_style, start_styles
from normgeo.pictures.style.panels import ABOVE, head, stacked
from normgeo.pictures.style.template import LEGEND_FIRST, SMALL, THEMES, dress, log_ticks

LINE, LEGEND = 21, 92  # pixels: a line of words; the names of the lines below each other
LEFT, RIGHT = (0.0, 0.47), (0.53, 1.0)
UPPER, LOWER = (0.55, 1.0), (0.0, 0.45)
MOST = 60.0  # a run may leave the picture by this factor


def figure(result: Equilibria, theme: str) -> go.Figure:
    """Draw norm above angle, a simulation at the left and real data at the right."""
    sides = (result.simulated_runs, result.real_runs)
    last = max(len(run.angles) for runs in sides for run in runs)
    drawn = go.Figure()
    for column, runs in enumerate(sides):
        drawn.add_traces(_runs(result, runs, column, theme))
        drawn.add_traces(_levels(result, last, column, theme))
    lines, narrow = (_lines(result, letters) for letters in ABOVE)
    dress(drawn, theme, height=470 + LINE * (len(lines) - 1))
    _axes(drawn, result, (*sides[0], *sides[1]), last)
    drawn.update_layout(
        margin={"t": 78 + LINE * len(lines)},
        legend={**LEGEND_FIRST, "traceorder": "reversed"},
        annotations=[*_captions(result, 200), note(lines, yshift=48)],
        meta={"narrow": _narrow(result, narrow)},
    )
    return drawn


def _captions(result: Equilibria, width: int) -> list[dict[str, Any]]:
    """Return what runs in each column, and where it has come to."""
    titles = (
        text("<b>simulation</b>: a gradient of constant √Γ, in random directions"),
        text("<b>real</b>: {data!s}, {batches}", data=result.data, batches=result.batches),
    )
    sides = (result.simulated_runs, result.real_runs)
    return [
        head(panel, lines_of((title, _settled(result, runs)), width), font={"size": SMALL})
        for panel, (title, runs) in enumerate(zip(titles, sides, strict=True), start=1)
    ]


def _narrow(result: Equilibria, lines: list[str]) -> dict[str, Any]:
    """Return a narrow layout: norm above angle, the simulation above the real runs."""
    captions = _captions(result, 42)
    between = 40 + 18 * max(caption["text"].count("<br>") + 1 for caption in captions)
    top = between + LEGEND + LINE * len(lines)
    layout = stacked([[1], [3], [2], [4]], each=190, between=between, top=top)
    shown = {"showticklabels": True}
    layout["yaxis2"] |= shown
    layout["yaxis4"] |= shown
    return layout | {
        "legend": {"orientation": "v"},
        "annotations": [*captions, note(lines, yshift=between - 32)],
    }


def _runs(
    result: Equilibria, runs: Sequence[BlockRun], column: int, theme: str
) -> list[go.Scatter]:
    """Return the lines of a column, that of the largest norm first, with marks of early ends."""
    traces = []
    styles = start_styles(method_color(result.real[0].start.normalizer), theme)
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


def _lines(result: Equilibria, width: int) -> list[str]:
    """Return the lines above the panels: what runs, and what the law assumes."""
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
    return lines_of((about, run.optimizer.equilibrium_assumes), width)


def lines_of(sentences: Sequence[str], width: int) -> list[str]:
    """Return sentences in lines of a width, each beginning a new one."""
    return [line for sentence in sentences for line in wrapped(sentence, width)]


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


def _axes(drawn: go.Figure, result: Equilibria, runs: Sequence[BlockRun], last: int) -> None:
    norms = np.concatenate([run.norms for run in runs])
    angles = np.degrees(np.concatenate([run.angles for run in runs]))
    middle = (float(np.median(norms)), float(np.median(angles)))
    if result.predicted is not None:
        middle = (float(result.predicted.norm), float(np.degrees(result.predicted.angle)))
    ranges = [
        _log_range(values, level) for values, level in zip((norms, angles), middle, strict=True)
    ]
    names = (
        text("norm {symbol}", symbol=result.symbol),
        text("angle θ, degrees"),
    )
    for panel, (domain, row, kind) in enumerate(
        ((LEFT, UPPER, 0), (RIGHT, UPPER, 0), (LEFT, LOWER, 1), (RIGHT, LOWER, 1)), start=1
    ):
        low, high = ranges[kind]
        across = {
            "range": [-0.01 * last, 1.01 * last],
            "domain": domain,
            "anchor": f"y{panel}",
            "showticklabels": kind == 1,
            "title": text("step") if kind else None,
        }
        up = {
            "domain": row,
            "anchor": f"x{panel}",
            "type": "log",
            "range": [np.log10(low), np.log10(high)],
            "tickvals": log_ticks(low, high),
            "exponentformat": "power",
            "title": names[kind] if domain is LEFT else None,
            "showticklabels": domain is LEFT,
        }
        drawn.update_layout({f"xaxis{panel}": across, f"yaxis{panel}": up})


def _log_range(values: Array, level: float) -> tuple[float, float]:
    """Return what an axis shows: all values within a factor of the level."""
    near = values[(values > level / MOST) & (values < level * MOST)]
    near = np.append(near, level)
    return float(near.min() / 1.15), float(near.max() * 1.15)
