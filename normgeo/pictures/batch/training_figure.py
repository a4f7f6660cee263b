"""A small network trained in large and in small batches: loss in training, accuracy in test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.text import text
from normgeo.dynamics.training import History
from normgeo.pictures.batch.training import Smoothed, Training, TrainingRun
from normgeo.pictures.style.annotations import colored
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.sheet import Panel, Sheet, on_panel, told
from normgeo.pictures.style.template import MEASURED, SIZE, log_ticks


def figure(result: Training, theme: str) -> go.Figure:
    """Draw a column for each batch size: training loss above test accuracy, against the steps."""
    sizes = list(dict.fromkeys(result.sizes))
    traces = [
        trace
        for run in result.runs
        if run.history is not None and run.loss is not None
        for trace in _traces(run, run.history, run.loss, sizes, theme)
    ]
    about = text(
        "{data!s}, {network}; momentum 0.9, η = {rate} for all",
        data=result.data,
        network=result.network,
        rate=result.rate,
    )
    losses, accuracies = zip(*_panels(result, sizes, theme), strict=True)
    return Sheet(
        [],
        rows=[losses, accuracies],
        foot=[told(theme, about), told(theme, *_remarks(result.runs))],
        phone=[[row * len(sizes) + column] for column in range(len(sizes)) for row in (0, 1)],
    ).on(traces, theme)


def _traces(
    run: TrainingRun, history: History, loss: Smoothed, sizes: Sequence[int], theme: str
) -> list[go.Scatter]:
    column = sizes.index(run.batch_size) + 1
    below = column + len(sizes)
    color = method_color(run.normalizer, theme)
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
            **on_panel(column),
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
                **on_panel(below),
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


def _panels(result: Training, sizes: Sequence[int], theme: str) -> Iterator[tuple[Panel, Panel]]:
    """Yield loss and accuracy for each size."""
    losses = np.concatenate([run.loss.losses for run in result.runs if run.loss] or [np.ones(1)])
    losses = losses[np.isfinite(losses) & (losses > 0)]
    low, high = (losses.min(), losses.max()) if len(losses) else (0.1, 1.0)
    tested = [r.history.test_accuracy for r in result.runs if r.history is not None]
    shares = np.concatenate([t for t in tested if t is not None] or [np.zeros(1)])
    least = max(0.0, np.floor(10 * shares.min()) / 10 - 0.02) if len(shares) else 0.0
    for m in sizes:
        first = m == sizes[0]
        last = max((run.planned for run in result.of_size(m)), default=1)
        across = {"range": [-0.02 * last, 1.03 * last]}
        loss = {
            "type": "log",
            "range": np.log10([low / 1.3, high * 1.3]),
            "tickvals": log_ticks(low, high),
            "title": text("training loss, nats") if first else "",
        }
        accuracy = {
            "tickformat": ".0%",
            "range": [least, 1.015],
            "title": text("test accuracy") if first else "",
        }
        yield (
            Panel(
                across | {"showticklabels": False},
                loss,
                _heading(result, m, theme),
                high=(165, 220),
            ),
            Panel(across | {"title": _across(result, m)}, accuracy, high=(165, 220)),
        )


def _across(result: Training, m: int) -> str:
    """The title of the steps' axis, with how many steps a point of the loss stands for."""
    width = max((run.loss.width for run in result.of_size(m) if run.loss), default=1)
    steps = text("steps, {m} cases each", m=m) if m > 1 else text("steps, 1 case each")
    return steps if width == 1 else text("{steps}; loss: means of {n} steps", steps=steps, n=width)


def _heading(result: Training, m: int, theme: str) -> list[str]:
    """What a column shows, with the last accuracies."""
    runs = result.of_size(m)
    if not runs:
        return [text("<b>batches of {m}</b>: stopped before they began", m=m)]
    ends = []
    for run in runs:
        tested = None if run.history is None else run.history.test_accuracy
        if tested is not None and len(tested):
            name = colored(run.normalizer.title, method_color(run.normalizer, theme), SIZE)
            ends.append(f"<b>{name} {tested[-1]:.0%}</b>")
    head = text("<b>batches of {m}</b>", m=m)
    return [head, "   ".join(ends[:2]), *ends[2:]] if ends else [head]


def _remarks(runs: Sequence[TrainingRun]) -> list[str]:
    """Why a run is missing, has ended or was stopped."""
    lines = []
    for run in runs:
        name = text("{method} at m = {m}", method=run.normalizer.title, m=run.batch_size)
        if run.history is None:
            lines.append(f"{name}: {run.reason}")
        elif run.history.ended is not None:
            step = run.history.ended.step
            sentence = "{name} ended at step {step}: {reason}"
            lines.append(text(sentence, name=name, step=step, reason=run.reason))
        elif run.taken < run.planned:
            sentence = "{name} was stopped after step {taken:,} of {planned:,}."
            lines.append(text(sentence, name=name, taken=run.taken, planned=run.planned))
    return lines
