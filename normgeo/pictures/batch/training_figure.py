"""A small network trained in large and in small batches: loss in training, accuracy in test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.text import text
from normgeo.dynamics.training import History
from normgeo.pictures.batch.training import Smoothed, Training, TrainingRun
from normgeo.pictures.style.annotations import colored, note, wrapped
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.template import (
    LEGEND_ABOVE,
    MEASURED,
    SIZE,
    SMALL,
    THEMES,
    dress,
    log_ticks,
)

COLUMNS = ((0.0, 0.455), (0.545, 1.0))
LOSS, ACCURACY = (0.56, 1.0), (0.0, 0.44)
LOSS_PHONE, ACCURACY_PHONE = (0.0, 0.35), (0.42, 0.77)  # from the top of a column


def figure(result: Training, theme: str) -> go.Figure:
    """Draw a column for each batch size: training loss above test accuracy, against the steps."""
    drawn = go.Figure()
    for run in result.runs:
        if run.history is not None and run.loss is not None:
            column = 1 if run.batch_size == result.sizes[0] else 2
            drawn.add_traces(_traces(run, run.history, run.loss, column))
    columns = list(dict.fromkeys(result.sizes))
    lines = _remarks(result.runs)
    about = text(
        "{data!s}, {network};<br>momentum 0.9, η = {rate} for all",
        data=result.data,
        network=result.network,
        rate=result.rate,
    )
    dress(drawn, theme, height=560 + 18 * len(lines))
    muted = {"color": THEMES[theme].muted, "size": SMALL}
    drawn.update_layout(
        margin={"t": 124, "b": 64 + 18 * len(lines)},
        legend=LEGEND_ABOVE,
        annotations=[
            *(
                note(_heading(result, m), yshift=4, **_on(column))
                for column, m in enumerate(columns, start=1)
            ),
            note(about, yshift=82, font=muted),
        ],
        meta={"narrow": _phone(len(columns), len(lines))},
    )
    if lines:
        drawn.add_annotation(note(lines, 0, 0, yanchor="top", yshift=-60, font=muted))
    _axes(drawn, result, columns)
    return drawn


def _on(axis: int) -> dict[str, Any]:
    """The references of an annotation to the area of a pair of axes."""
    name = "" if axis == 1 else axis
    return {"xref": f"x{name} domain", "yref": f"y{name} domain"}


def _phone(columns: int, lines: int) -> dict[str, Any]:
    """The columns below each other."""
    patch: dict[str, Any] = {"height": 120 + 640 * columns + 40 * lines, "margin": {"t": 170}}
    for column in range(columns):
        top = 1 - column / columns
        for row, (low, high) in enumerate((LOSS_PHONE, ACCURACY_PHONE)):
            axis = column + 1 + 2 * row if row or column else ""
            patch[f"xaxis{axis}"] = {"domain": [0, 1]}
            patch[f"yaxis{axis}"] = {"domain": [top - high / columns, top - low / columns]}
    return patch


def _traces(run: TrainingRun, history: History, loss: Smoothed, column: int) -> list[go.Scatter]:
    color = method_color(run.normalizer)
    style: dict[str, Any] = {
        "line": {"color": color, "width": 3, "dash": MEASURED},
        "mode": "lines+markers",
        "name": run.normalizer.title,
        "legendgroup": run.normalizer.title,
    }
    traces = [
        go.Scatter(
            x=loss.steps,
            y=loss.losses,
            xaxis=f"x{column}",
            yaxis=f"y{column}",
            showlegend=column == 1,
            marker={"size": 4 if len(loss.steps) > 12 else 7},
            **style,
            hovertemplate=text(
                "{name}, {width} steps to {step}: {loss} nats<extra></extra>",
                name=run.normalizer.title,
                width=loss.width,
                step="%{x}",
                loss="%{y:.4g}",
            ),
        )
    ]
    if history.test_accuracy is not None:
        symbol = "circle" if run.normalizer.shared_by_cases else "diamond"
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


def _axes(figure: go.Figure, result: Training, sizes: Sequence[int]) -> None:
    losses = np.concatenate([run.loss.losses for run in result.runs if run.loss] or [np.ones(1)])
    losses = losses[np.isfinite(losses) & (losses > 0)]
    low, high = (losses.min(), losses.max()) if len(losses) else (0.1, 1.0)
    tested = [r.history.test_accuracy for r in result.runs if r.history is not None]
    shares = np.concatenate([t for t in tested if t is not None] or [np.zeros(1)])
    least = max(0.0, np.floor(10 * shares.min()) / 10 - 0.02) if len(shares) else 0.0
    for column, m in enumerate(sizes, start=1):
        last = max((run.planned for run in result.of_size(m)), default=1)
        across = {"domain": COLUMNS[column - 1], "range": [-0.02 * last, 1.03 * last]}
        figure.update_layout(
            {
                f"xaxis{column}": {**across, "anchor": f"y{column}", "showticklabels": False},
                f"xaxis{column + 2}": {
                    **across,
                    "anchor": f"y{column + 2}",
                    "title": _across(result, m),
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


def _across(result: Training, m: int) -> str:
    """The title of the steps' axis, with how many steps a point of the loss stands for."""
    width = max((run.loss.width for run in result.of_size(m) if run.loss), default=1)
    steps = text("steps, {m} cases each", m=m) if m > 1 else text("steps, 1 case each")
    return steps if width == 1 else text("{steps}; loss: means of {n} steps", steps=steps, n=width)


def _heading(result: Training, m: int) -> list[str]:
    """What a column shows, with the last accuracies."""
    runs = result.of_size(m)
    if not runs:
        return [text("<b>batches of {m}</b>: stopped before they began", m=m)]
    ends = []
    for run in runs:
        tested = None if run.history is None else run.history.test_accuracy
        if tested is not None and len(tested):
            name = colored(run.normalizer.title, method_color(run.normalizer), SIZE)
            ends.append(f"<b>{name} {tested[-1]:.0%}</b>")
    head = text("<b>batches of {m}</b>", m=m)
    return [head, "   ".join(ends[:2]), *ends[2:]] if ends else [head]


def _remarks(runs: Sequence[TrainingRun]) -> list[str]:
    """Why a run is missing, has ended or was stopped, in lines."""
    lines = []
    for run in runs:
        name = text("{method} at m = {m}", method=run.normalizer.title, m=run.batch_size)
        if run.history is None:
            lines += wrapped(f"{name}: {run.reason}")
        elif run.history.ended is not None:
            step = run.history.ended.step
            sentence = "{name} ended at step {step}: {reason}"
            lines += wrapped(text(sentence, name=name, step=step, reason=run.reason))
        elif run.taken < run.planned:
            sentence = "{name} was stopped after step {taken:,} of {planned:,}."
            lines.append(text(sentence, name=name, taken=run.taken, planned=run.planned))
    return lines
