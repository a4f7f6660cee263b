"""Descent from one function at several weight norms: loss, norm and angle, step by step."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo import Trajectory
from normgeo._arrays import Array
from normgeo.figures.template import (
    MEASURED,
    PREDICTED,
    SIZE,
    THEMES,
    add_slider,
    blend,
    dress,
    log_ticks,
    method_colour,
)
from normgeo.text import text

FRAMES, POINTS = 50, 600  # at most: a screen shows no more
SHARES = (1.0, 0.72, 0.48)  # of the method's colour, from the smallest norm to the largest
WIDTHS = (2.5, 4.0, 6.0)
DOMAINS = ((0.0, 0.28), (0.36, 0.64), (0.72, 1.0))


def descent_figure(
    runs: Sequence[Trajectory], block: int, *, name: str, symbol: str, theme: str
) -> go.Figure:
    """Draw three runs side by side: loss, ‖w‖ and angle per step against the step.

    Args:
        runs: from the same function at growing norms. block: whose norm and angle are shown.
        name, symbol: of the block and its norm. theme: of the figure.

    """
    look = THEMES[theme]
    colour = method_colour(runs[0].start.normalizer)
    shades = [blend(look.paper, colour, share) for share in SHARES]
    figure = go.Figure()
    for run, shade, width in reversed(list(zip(runs, shades, WIDTHS, strict=True))):
        start = text("from {symbol} = {norm:.3g}", symbol=symbol, norm=run.norms[0, block])
        for panel, (steps, values) in enumerate(_measured(run, block), start=1):
            style = {"color": shade, "width": width, "dash": MEASURED}
            figure.add_trace(_line(steps, values, panel, start, style, panel == 1))
            if run.diverged:
                figure.add_trace(_end(steps, values, panel, look.ink))
    for place, run in enumerate(runs):
        for panel, (steps, values) in enumerate(_predicted(run, block), start=2):
            style = {"color": look.ink, "width": 1.5, "dash": PREDICTED}
            first = place == 0 and panel == 2
            figure.add_trace(_line(steps, values, panel, text("predicted"), style, first))
    moving = [len(figure.data) + panel for panel in range(3)]
    figure.add_traces(_dots(runs, block, 0, look.ink, colour))

    words = _words(runs, block, name, symbol)
    dress(figure, theme, height=430 + 19 * (len(words) - 1))
    figure.update_layout(
        margin={"l": 8, "r": 8, "t": 34 + 19 * len(words), "b": 40},
        legend={"x": 1, "xanchor": "right", "font": {"size": SIZE - 1}, "traceorder": "reversed"},
        annotations=[_caption(words)],
    )
    _axes(figure, runs, block, symbol)
    last = max(1, *(run.steps for run in runs))
    frames = [
        go.Frame(name=str(step), traces=moving, data=_dots(runs, block, step, look.ink, colour))
        for step in [*range(0, last, -(-last // FRAMES)), last]
    ]
    add_slider(figure, frames, start=0, prefix=text("step "), theme=theme)
    figure.update_layout(
        {"sliders[0].x": 0.13, "sliders[0].len": 0.87, "sliders[0].pad.t": 44,
         "sliders[0].font.size": SIZE - 3},
        updatemenus=[_play(theme)],
    )  # fmt: skip
    return figure


def _measured(run: Trajectory, block: int) -> tuple[tuple[Array, Array], ...]:
    """Return (steps, values) of loss, norm and angle in degrees."""
    points, steps = np.arange(run.steps + 1), np.arange(1, run.steps + 1)
    return (
        (points, run.loss),
        (points, run.norms[:, block]),
        (steps, np.degrees(run.angles[:, block])),
    )


def _predicted(run: Trajectory, block: int) -> tuple[tuple[Array, Array], ...]:
    points, steps = np.arange(run.steps + 1), np.arange(1, run.steps + 1)
    return (
        (points, run.predicted_norms[:, block]),
        (steps, np.degrees(run.predicted_angles[:, block])),
    )


def _line(
    steps: Array, values: Array, panel: int, name: str, style: dict[str, Any], in_legend: bool
) -> go.Scatter:
    shown = np.unique(np.linspace(0, len(steps) - 1, min(POINTS, len(steps))).astype(int))
    return go.Scatter(
        x=steps[shown], y=values[shown].astype(np.float32), mode="lines", line=style, name=name,
        legendgroup=name, showlegend=in_legend, xaxis=f"x{panel}", yaxis=f"y{panel}",
        hovertemplate=text("{name}, step {step}: {value}<extra></extra>",
                           name=name, step="%{x}", value="%{y:.4g}"),
    )  # fmt: skip


def _end(steps: Array, values: Array, panel: int, ink: str) -> go.Scatter:
    return go.Scatter(
        x=steps[-1:], y=values[-1:], mode="markers", showlegend=False, hoverinfo="skip",
        marker={"symbol": "x", "size": 10, "color": ink}, cliponaxis=False,
        xaxis=f"x{panel}", yaxis=f"y{panel}",
    )  # fmt: skip


def _dots(
    runs: Sequence[Trajectory], block: int, step: int, ink: str, colour: str
) -> list[go.Scatter]:
    """Return where the runs are at one step, a trace for each panel."""
    traces = []
    for panel in range(3):
        x, y = [], []
        for run in runs:
            steps, values = _measured(run, block)[panel]
            if len(steps):
                place = min(max(step - int(steps[0]), 0), len(steps) - 1)
                x.append(int(steps[place]))
                y.append(float(values[place]))
        traces.append(
            go.Scatter(
                x=x, y=y, mode="markers", showlegend=False, cliponaxis=False,
                marker={"size": 10, "color": colour, "line": {"color": ink, "width": 1.5}},
                xaxis=f"x{panel + 1}", yaxis=f"y{panel + 1}",
                hovertemplate=text("step {step}: {value}<extra></extra>",
                                   step="%{x}", value="%{y:.4g}"),
            )
        )  # fmt: skip
    return traces


def _axes(figure: go.Figure, runs: Sequence[Trajectory], block: int, symbol: str) -> None:
    losses = np.concatenate([run.loss for run in runs])
    titles = (
        text("loss, nats per case"),
        text("norm of the weights {symbol}", symbol=symbol),
        text("angle turned by the step θ"),
    )
    last = max(1, *(run.steps for run in runs))
    for panel, (title, domain) in enumerate(zip(titles, DOMAINS, strict=True), start=1):
        figure.update_layout(
            {f"xaxis{panel}": {"domain": domain, "anchor": f"y{panel}", "title": text("step"),
                               "range": [-0.02 * last, 1.02 * last]},
             f"yaxis{panel}": {"anchor": f"x{panel}", "title": title,
                               "exponentformat": "power"}},
        )  # fmt: skip
    if losses.min() > 0 and losses.max() > 50 * losses[0]:
        figure.update_layout({"yaxis.type": "log"})
    else:
        figure.update_layout({"yaxis.rangemode": "tozero"})
    norms = np.concatenate([run.norms[:, block] for run in runs])
    angles = np.degrees(np.concatenate([run.angles[:, block] for run in runs]))
    angles = angles[angles > 0]
    figure.update_layout({"yaxis2.type": "log", "yaxis3.type": "log", "yaxis3.ticksuffix": "°"})
    if norms.max() < 100 * norms.min():
        figure.update_layout({"yaxis2.tickvals": 2.0 ** np.arange(-3, 10)})
    if len(angles):
        figure.update_layout({"yaxis3.tickvals": log_ticks(angles.min(), angles.max())})


def _words(runs: Sequence[Trajectory], block: int, name: str, symbol: str) -> list[str]:
    """Return the lines above the panels: what runs, and why a run ended."""
    lines = [
        text(
            "<b>{method}</b>, {name}: gradient descent on all parameters, η = {rate:.3g}, the same "
            "function from three norms",
            method=runs[0].start.normalizer.title,
            name=name,
            rate=runs[0].rate,
        )
    ]
    ended = [(run.norms[0, block], run.diverged) for run in runs if run.diverged]
    if ended:
        places = (
            text("from {norm:.3g} at step {step}", norm=norm, step=end.step) for norm, end in ended
        )
        sentence = text("Runs that ended early: {places}.", places=", ".join(places))
        lines += textwrap.wrap(f"{sentence} {ended[0][1].reason}", 140)
    return lines


def _caption(lines: Sequence[str]) -> dict[str, Any]:
    return {"text": "<br>".join(lines), "x": 0, "y": 1, "xref": "paper", "yref": "paper",
            "xanchor": "left", "yanchor": "bottom", "align": "left", "yshift": 30}  # fmt: skip


def _play(theme: str) -> dict[str, Any]:
    """Return the two buttons beside the slider."""
    look = THEMES[theme]
    run = {"frame": {"duration": 80, "redraw": False}, "transition": {"duration": 0},
           "fromcurrent": True, "mode": "immediate"}  # fmt: skip
    halt = {**run, "frame": {"duration": 0, "redraw": False}}
    return {
        "type": "buttons", "direction": "left", "x": 0, "xanchor": "left", "y": 0,
        "yanchor": "top", "pad": {"t": 62, "l": 0, "r": 0}, "showactive": False,
        "bgcolor": look.panel, "bordercolor": look.muted, "font": {"color": look.ink},
        "buttons": [
            {"label": text("▶ play"), "method": "animate", "args": [None, run]},
            {"label": text("❚❚"), "method": "animate", "args": [[None], halt]},
        ],
    }  # fmt: skip
