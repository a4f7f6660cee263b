"""A small network trained in large and in small batches: loss in training, accuracy in test."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.dynamics.training import History
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.style.template import (
    LEGEND_ABOVE,
    MEASURED,
    THEMES,
    dress,
    log_ticks,
    method_color,
)

POINTS = 60  # of a loss curve, each the mean of as many steps as it takes
COLUMNS = ((0.0, 0.455), (0.545, 1.0))
LOSS, ACCURACY = (0.56, 1.0), (0.0, 0.44)


@final
@dataclass(frozen=True)
class TrainingRun:
    """One training: its method, batch size and planned steps; what happened, or why nothing did."""

    normalizer: Normalizer
    batch_size: int
    planned: int
    history: History | None
    reason: str


def training_figure(
    runs: Sequence[TrainingRun],
    sizes: tuple[int, int],
    *,
    rate: float,
    network: str,
    data: str,
    theme: str,
) -> go.Figure:
    """Draw a column for each batch size: training loss above test accuracy, against the steps.

    Args:
        runs: of all methods in both sizes. sizes: of the batches, at the left and at the right.
        rate: η. network: what it is. data: its title. theme: of the figure.

    """
    figure = go.Figure()
    for run in runs:
        column = 1 if run.batch_size == sizes[0] else 2
        if run.history is not None:
            figure.add_traces(_traces(run, run.history, column))
    columns = dict.fromkeys(sizes)
    words = [_heading(runs, m) for m in columns]
    lines = _remarks(runs)
    title = text(
        "{data}, {network}; momentum 0.9, η = {rate:g} for all",
        data=data,
        network=network,
        rate=rate,
    )
    dress(figure, theme, height=480 + 18 * len(lines), title=title)
    figure.update_layout(
        margin={"l": 8, "r": 8, "t": 66, "b": 52 + 18 * len(lines)},
        legend=LEGEND_ABOVE,
        annotations=[
            _words(heading, COLUMNS[i][0], 1, yanchor="bottom", yshift=6)
            for i, heading in enumerate(words)
        ],
    )
    if lines:
        muted = {"color": THEMES[theme].muted}
        figure.add_annotation(
            _words("<br>".join(lines), 0, 0, yanchor="top", yshift=-52, font=muted)
        )
    _axes(figure, runs, list(columns))
    return figure


def smoothed(losses: Array, points: int = POINTS) -> tuple[Array, Array, int]:
    """Return (last step, mean loss) of equal stretches of steps, and how many steps each has.

    >>> smoothed(np.array([3.0, 1.0, 2.0, 2.0, 7.0]), points=3)
    (array([2, 4, 5]), array([2., 2., 7.]), 2)

    """
    width = max(1, -(-len(losses) // points))
    starts = np.arange(0, len(losses), width)
    counts = np.diff(np.append(starts, len(losses)))
    return starts + counts, np.add.reduceat(losses, starts) / counts, width


def _traces(run: TrainingRun, history: History, column: int) -> list[go.Scatter]:
    color = method_color(run.normalizer)
    style: dict[str, Any] = {
        "line": {"color": color, "width": 3, "dash": MEASURED},
        "mode": "lines+markers",
        "name": text(run.normalizer.title),
        "legendgroup": run.normalizer.title,
    }
    steps, losses, width = smoothed(history.train_loss)
    traces = [
        go.Scatter(
            x=steps,
            y=losses,
            xaxis=f"x{column}",
            yaxis=f"y{column}",
            showlegend=column == 1,
            marker={"size": 4 if len(steps) > 12 else 7},
            **style,
            hovertemplate=text(
                "{name}, {width} steps to {step}: {loss} nats<extra></extra>",
                name=run.normalizer.title,
                width=width,
                step="%{x}",
                loss="%{y:.4g}",
            ),
        )
    ]
    if history.test_accuracy is not None:
        symbol = "circle" if run.normalizer.words == ("batch", "batch") else "diamond"
        traces.append(
            go.Scatter(
                x=history.epoch_ends,
                y=history.test_accuracy,
                showlegend=False,
                xaxis=f"x{column + 2}",
                yaxis=f"y{column + 2}",
                marker={"size": 9, "symbol": symbol},
                **style,
                hovertemplate=text(
                    "{name}, step {step}: {share}<extra></extra>",
                    name=run.normalizer.title,
                    step="%{x}",
                    share="%{y:.1%}",
                ),
            )
        )
    return traces


def _axes(figure: go.Figure, runs: Sequence[TrainingRun], sizes: Sequence[int]) -> None:
    losses = [smoothed(r.history.train_loss)[1] for r in runs if r.history is not None]
    seen = np.concatenate(losses) if losses else np.ones(1)
    seen = seen[np.isfinite(seen) & (seen > 0)]
    low, high = (seen.min(), seen.max()) if len(seen) else (0.1, 1.0)
    tested = [r.history.test_accuracy for r in runs if r.history is not None]
    shares = np.concatenate([t for t in tested if t is not None] or [np.zeros(1)])
    least = max(0.0, np.floor(10 * shares.min()) / 10 - 0.02) if len(shares) else 0.0
    for column, m in enumerate(sizes, start=1):
        last = max((run.planned for run in runs if run.batch_size == m), default=1)
        across = {"domain": COLUMNS[column - 1], "range": [-0.02 * last, 1.03 * last]}
        figure.update_layout(
            {
                f"xaxis{column}": {**across, "anchor": f"y{column}", "showticklabels": False},
                f"xaxis{column + 2}": {
                    **across,
                    "anchor": f"y{column + 2}",
                    "title": _across(runs, m),
                },
                f"yaxis{column}": {
                    "domain": LOSS,
                    "anchor": f"x{column}",
                    "type": "log",
                    "range": np.log10([low / 1.3, high * 1.3]),
                    "tickvals": log_ticks(low, high),
                    "title": text("training loss, nats") if column == 1 else "",
                },
                f"yaxis{column + 2}": {
                    "domain": ACCURACY,
                    "anchor": f"x{column + 2}",
                    "tickformat": ".0%",
                    "range": [least, 1.015],
                    "title": text("test accuracy") if column == 1 else "",
                },
            }
        )


def _across(runs: Sequence[TrainingRun], m: int) -> str:
    """Return the title of the steps' axis, with how many steps a point of the loss stands for."""
    widths = [
        smoothed(run.history.train_loss)[2]
        for run in runs
        if run.batch_size == m and run.history is not None
    ]
    steps = text("steps, {m} cases each", m=m) if m > 1 else text("steps, 1 case each")
    if max(widths, default=1) == 1:
        return steps
    return text("{steps}; loss: means of {width} steps", steps=steps, width=max(widths))


def _heading(runs: Sequence[TrainingRun], m: int) -> str:
    """Return what a column shows, with the last accuracies."""
    ends = []
    for run in runs:
        tested = None if run.history is None else run.history.test_accuracy
        if run.batch_size == m and tested is not None and len(tested):
            ends.append(f"{text(run.normalizer.title)} {tested[-1]:.1%}")
    if all(run.batch_size != m for run in runs):
        return text("<b>batches of {m}</b>: stopped before they began", m=m)
    return text("<b>batches of {m}</b>", m=m) + (
        text(": at the end {ends} right", ends=", ".join(ends)) if ends else ""
    )


def _remarks(runs: Sequence[TrainingRun]) -> list[str]:
    """Return why a run is missing, has ended or was stopped, in lines."""
    lines = []
    for run in runs:
        name = text("{method} at m = {m}", method=run.normalizer.title, m=run.batch_size)
        taken = 0 if run.history is None else len(run.history.train_loss)
        if run.history is None:
            lines += textwrap.wrap(f"{name}: {run.reason}", 150)
        elif run.reason:
            lines += textwrap.wrap(
                text(
                    "{name} ended at step {step}: {reason}",
                    name=name,
                    step=run.history.ended.step if run.history.ended else taken,
                    reason=run.reason,
                ),
                150,
            )
        elif taken < run.planned:
            lines.append(
                text(
                    "{name} was stopped after step {taken:,} of {planned:,}.",
                    name=name,
                    taken=taken,
                    planned=run.planned,
                )
            )
    return lines


def _words(words: str, x: float, y: float, **style: Any) -> dict[str, Any]:
    return {
        "text": words,
        "x": x,
        "y": y,
        "xref": "paper",
        "yref": "paper",
        "xanchor": "left",
        "align": "left",
        **style,
    }
