"""Descent from one function at several weight norms: loss, norm and angle, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.dynamics.trajectory import Trajectory
from normgeo.pictures.style.lines import (
    end_mark,
    line,
    predicted_style,
    start_styles,
    words,
    wrapped,
)
from normgeo.pictures.style.player import Frame, add_player
from normgeo.pictures.style.template import SIZE, THEMES, dress, log_ticks, method_color

FRAMES = 101  # at most: a picture of each step of a hundred, of some steps of more
DOMAINS = ((0.0, 0.28), (0.36, 0.64), (0.72, 1.0))


def descent_figure(
    runs: Sequence[Trajectory],
    block: int,
    *,
    name: str,
    symbol: str,
    batches: str,
    theme: str,
) -> go.Figure:
    """Draw three runs side by side: loss, ‖w‖ and angle per step against the step.

    Args:
        runs: from the same function at growing norms. block: whose norm and angle are shown.
        name, symbol: of the block and its norm. batches: what a step sees, in words.
        theme: of the figure.

    """
    look = THEMES[theme]
    color = method_color(runs[0].start.normalizer)
    figure = go.Figure()
    for run, style in reversed(list(zip(runs, start_styles(color, theme), strict=True))):
        start = text("from {symbol} = {norm:.3g}", symbol=symbol, norm=run.norms[0, block])
        for panel, (steps, values) in enumerate(_measured(run, block), start=1):
            figure.add_trace(line(steps, values, panel, start, style, panel == 1))
            if run.diverged:
                figure.add_trace(end_mark(steps, values, panel, look.ink))
    for place, run in enumerate(runs):
        for panel, (steps, values) in _predicted(run, block).items():
            first = place == 0 and panel == 3
            style = predicted_style(theme)
            figure.add_trace(line(steps, values, panel, text("predicted"), style, first))
    moving = [len(figure.data) + panel for panel in range(3)]
    figure.add_traces(_dots(runs, block, 0, look.ink, color))

    lines = _lines(runs, block, name, symbol, batches)
    dress(figure, theme, height=430 + 19 * (len(lines) - 1))
    figure.update_layout(
        margin={"l": 8, "r": 8, "t": 34 + 19 * len(lines), "b": 40},
        legend={"x": 1, "xanchor": "right", "font": {"size": SIZE - 1}, "traceorder": "reversed"},
        annotations=[
            words(lines, yshift=30),
            *_no_law(runs[0], look.muted),
            *_no_step(runs, look.muted),
        ],
    )
    _axes(figure, runs, block, symbol)
    last = max(1, *(run.steps for run in runs))
    frames: list[Frame] = [
        {
            "name": str(step),
            "traces": moving,
            "data": [{"type": "scatter", "x": x, "y": y} for x, y in _places(runs, block, step)],
        }
        for step in [*range(0, last, -(-last // (FRAMES - 1))), last]
    ]
    add_player(figure, frames, prefix=text("step "), theme=theme)
    return figure


def _measured(run: Trajectory, block: int) -> tuple[tuple[Array, Array], ...]:
    """Return (steps, values) of loss, norm and angle in degrees."""
    points, steps = np.arange(run.steps + 1), np.arange(1, run.steps + 1)
    return (
        (points, run.loss),
        (points, run.norms[:, block]),
        (steps, np.degrees(run.angles[:, block])),
    )


def _predicted(run: Trajectory, block: int) -> dict[int, tuple[Array, Array]]:
    """Return (steps, values) by panel, of the quantities that have a law."""
    points, steps = np.arange(run.steps + 1), np.arange(1, run.steps + 1)
    found = {3: (steps, np.degrees(run.predicted_angles[:, block]))}
    if run.predicted_norms.size:
        found[2] = (points, run.predicted_norms[:, block])
    return found


def _places(
    runs: Sequence[Trajectory], block: int, step: int
) -> list[tuple[list[int], list[float]]]:
    """Return where the runs are at one step, (x, y) for each panel."""
    places = []
    for panel in range(3):
        x, y = [], []
        for run in runs:
            steps, values = _measured(run, block)[panel]
            if len(steps):
                place = min(max(step - int(steps[0]), 0), len(steps) - 1)
                x.append(int(steps[place]))
                y.append(float(f"{values[place]:.5g}"))
        places.append((x, y))
    return places


def _dots(
    runs: Sequence[Trajectory], block: int, step: int, ink: str, color: str
) -> list[go.Scatter]:
    """Return where the runs are at one step, a trace for each panel."""
    return [
        go.Scatter(
            x=x,
            y=y,
            mode="markers",
            showlegend=False,
            cliponaxis=False,
            marker={"size": 10, "color": color, "line": {"color": ink, "width": 1.5}},
            xaxis=f"x{panel}",
            yaxis=f"y{panel}",
            hovertemplate=text(
                "step {step}: {value}<extra></extra>", step="%{x}", value="%{y:.4g}"
            ),
        )
        for panel, (x, y) in enumerate(_places(runs, block, step), start=1)
    ]


def _axes(figure: go.Figure, runs: Sequence[Trajectory], block: int, symbol: str) -> None:
    losses = np.concatenate([run.loss for run in runs])
    titles = (
        text("loss, nats per case"),
        text("norm of the weights {symbol}", symbol=symbol),
        text("angle turned by the step θ, degrees"),
    )
    last = max(1, *(run.steps for run in runs))
    for panel, (title, domain) in enumerate(zip(titles, DOMAINS, strict=True), start=1):
        figure.update_layout(
            {
                f"xaxis{panel}": {
                    "domain": domain,
                    "anchor": f"y{panel}",
                    "title": text("step"),
                    "range": [-0.02 * last, 1.02 * last],
                },
                f"yaxis{panel}": {"anchor": f"x{panel}", "title": title, "exponentformat": "power"},
            },
        )
    if losses.min() > 0 and losses.max() > 50 * losses[0]:
        figure.update_layout({"yaxis.type": "log"})
    else:
        figure.update_layout({"yaxis.rangemode": "tozero"})
    norms = np.concatenate([run.norms[:, block] for run in runs])
    angles = np.degrees(np.concatenate([run.angles[:, block] for run in runs]))
    angles = angles[angles > 0]
    figure.update_layout({"yaxis2.type": "log", "yaxis3.type": "log"})
    if norms.max() < 100 * norms.min():
        figure.update_layout({"yaxis2.tickvals": 2.0 ** np.arange(-3, 10)})
    if len(angles):
        figure.update_layout({"yaxis3.tickvals": log_ticks(angles.min(), angles.max())})
    else:
        figure.update_layout({"yaxis3.showticklabels": False})


def _no_step(runs: Sequence[Trajectory], muted: str) -> list[dict[str, Any]]:
    """Return what stands in place of the angles, where every run ended in its first step."""
    if any(run.steps for run in runs):
        return []
    return [
        {
            "text": text("no run completed a step"),
            "xref": "x3 domain",
            "yref": "y3 domain",
            "x": 0.5,
            "y": 0.5,
            "font": {"color": muted},
        }
    ]


def _no_law(run: Trajectory, muted: str) -> list[dict[str, Any]]:
    """Return what stands in place of a predicted norm, where there is none."""
    if run.predicted_norms.size:
        return []
    return [
        words(
            text("no law for the norm"),
            DOMAINS[1][0],
            1,
            yshift=4,
            font={"size": SIZE - 1, "color": muted},
        )
    ]


def _lines(
    runs: Sequence[Trajectory], block: int, name: str, symbol: str, batches: str
) -> list[str]:
    """Return the lines above the panels: what runs, the first turns, the law, why a run ended."""
    first = runs[0]
    lines = [
        text(
            "<b>{method}</b>, {name}: {optimizer} on all parameters, η = {rate:.3g}, "
            "λ = {decay:.3g}, {batches}; the same function from three norms",
            method=first.start.normalizer.title,
            name=name,
            optimizer=first.optimizer.title,
            rate=first.rate,
            decay=first.decay,
            batches=batches,
        )
    ]
    lines += _first_turns(runs, block, symbol)
    lines += wrapped(first.optimizer.assumes)
    ended = [(run.norms[0, block], run.diverged) for run in runs if run.diverged]
    if ended:
        places = (
            text("from {norm:.3g} at step {step}", norm=norm, step=end.step) for norm, end in ended
        )
        sentence = text("Runs that ended early: {places}.", places=", ".join(places))
        lines += wrapped(f"{sentence} {ended[0][1].reason}")
    return lines


def _first_turns(runs: Sequence[Trajectory], block: int, symbol: str) -> list[str]:
    """Return the turns of the first step, and the power of the norm by which they fall."""
    begun = [run for run in runs if run.steps and 0 < run.angles[0, block] < np.pi / 2]
    if len(begun) < len(runs):
        return []
    angles = np.array([run.angles[0, block] for run in begun])
    slope, _ = np.polyfit(np.log([run.norms[0, block] for run in begun]), np.log(np.tan(angles)), 1)
    turns = ", ".join(f"{angle:.3g}°" for angle in np.degrees(angles))
    words_ = text(
        "The first step turns {turns}: tan θ falls as {symbol} to the power {slope:.2f}.",
        turns=turns,
        symbol=symbol,
        slope=slope,
    )
    return [words_.replace("-", "−")]
