"""Descent from one function at several weight norms: loss, norm and angle, step by step."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.pictures.learning_rate.descent import Descents
from normgeo.pictures.style.annotations import colored, note
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.lines import end_mark, line, predicted_style, start_styles
from normgeo.pictures.style.player import add_slider, frames
from normgeo.pictures.style.sheet import Band, Panel, Sheet, on_panel
from normgeo.pictures.style.template import THEMES, log_ticks

FRAMES = 101  # at most: a picture of each step of a hundred, of some steps of more


def figure(result: Descents, theme: str) -> go.Figure:
    """Draw three runs side by side: loss, ‖w‖ and angle per step against the step."""
    look, color = THEMES[theme], method_color(result.runs[0].start.normalizer, theme)
    lines = [*_measured(result, color, theme), *_predicted(result, theme)]
    drawn = Sheet(
        [Band(_sentences(result))],
        rows=[_panels(result, look.muted)],
    ).on([*lines, *_dots(result, 0, look.ink, color)], theme)
    moving = [len(lines) + panel for panel in range(3)]
    last = max(1, result.steps)
    steps = [*range(0, last, -(-last // (FRAMES - 1))), last]
    changes = [
        [{"type": "scatter", "x": x, "y": y} for x, y in _places(result, step)] for step in steps
    ]
    moved = frames(steps, changes, traces=moving)
    add_slider(drawn, moved, start=0, prefix=text("step "), theme=theme, single=True)
    return drawn


def _measured(result: Descents, color: str, theme: str) -> list[go.Scatter]:
    """Return the lines of the runs, the largest norm first, with marks of early ends."""
    traces = []
    styles = start_styles(color, theme)
    for run, start, style in reversed(list(zip(result.runs, result.starts, styles, strict=True))):
        name = text("from {symbol} = {norm}", symbol=result.symbol, norm=number(start))
        for panel, (steps, values) in enumerate(result.measured(run), start=1):
            traces.append(line(steps, values, panel, name, style, panel == 1))
            if run.diverged:
                traces.append(end_mark(steps, values, panel, THEMES[theme].ink))
    return traces


def _predicted(result: Descents, theme: str) -> list[go.Scatter]:
    """Return the dashed lines; the first angle of them stands in the legend."""
    panels = (3, 2)
    return [
        line(*series, panel, text("predicted"), predicted_style(theme), place == 0 and panel == 3)
        for place, run in enumerate(result.runs)
        for panel in panels
        if (series := result.predicted(run)[panel - 1]) is not None
    ]


def _places(result: Descents, step: int) -> list[tuple[list[int], list[float]]]:
    """Return where the runs are at one step, (x, y) for each panel."""
    places: list[tuple[list[int], list[float]]] = [([], []), ([], []), ([], [])]
    for run in result.runs:
        for (x, y), (steps, values) in zip(places, result.measured(run), strict=True):
            if len(steps):
                place = min(max(step - int(steps[0]), 0), len(steps) - 1)
                x.append(int(steps[place]))
                y.append(float(f"{values[place]:.5g}"))
    return places


def _dots(result: Descents, step: int, ink: str, color: str) -> list[go.Scatter]:
    """Return where the runs are at one step, a trace for each panel."""
    return [
        go.Scatter(
            x=x,
            y=y,
            mode="markers",
            showlegend=False,
            cliponaxis=False,
            marker={"size": 10, "color": color, "line": {"color": ink, "width": 1.5}},
            **on_panel(panel),
            hovertemplate=text(
                "step {step}: {value}<extra></extra>", step="%{x}", value="%{y:.4g}"
            ),
        )
        for panel, (x, y) in enumerate(_places(result, step), start=1)
    ]


def _panels(result: Descents, muted: str) -> list[Panel]:
    last = max(1, result.steps)
    x = {"title": text("step"), "range": [-0.02 * last, 1.02 * last]}
    losses, norms, angles = (
        np.concatenate([result.measured(run)[panel].values for run in result.runs])
        for panel in range(3)
    )
    many = losses.min() > 0 and losses.max() > 50 * losses[0]
    loss = {"type": "log"} if many else {"rangemode": "tozero"}
    few = norms.max() < 100 * norms.min()
    norm = {"type": "log"} | ({"tickvals": 2.0 ** np.arange(-3, 10)} if few else {})
    seen = angles[angles > 0]
    angle = {"type": "log"} | (
        {"tickvals": log_ticks(seen.min(), seen.max())} if len(seen) else {"showticklabels": False}
    )
    no_law = [] if result.has_norm_law else [colored(text("no prediction for the norm"), muted)]
    middle = {"xanchor": "center", "yanchor": "middle", "font": {"color": muted}}
    no_run = [] if result.steps else [note(text("no run completed a step"), 0.5, 0.5, **middle)]
    own: tuple[tuple[str, dict[str, Any], list[str], list[dict[str, Any]]], ...] = (
        (text("loss, nats per case"), loss, [], []),
        (text("norm {symbol}", symbol=result.symbol), norm, no_law, []),
        (text("angle θ of the step, degrees"), angle, [], no_run),
    )
    return [
        Panel(x, {"title": title, "exponentformat": "power"} | axis, head, notes, high=(290, 200))
        for title, axis, head, notes in own
    ]


def _sentences(result: Descents) -> list[str]:
    """Return the sentences above the panels: what runs, the first angles, the law, early ends."""
    run = result.runs[0]
    lines = [
        text(
            "<b>{method}</b>, {name}: {optimizer} on all parameters, η = {rate}, λ = {decay}, "
            "{batches}; the same function from three norms",
            method=run.start.normalizer.title,
            name=result.name,
            optimizer=run.optimizer.title,
            rate=number(run.rate),
            decay=number(run.decay),
            batches=result.batches,
        )
    ]
    if result.first_angles is not None and result.power is not None:
        turns = ", ".join(f"{number(angle)}°" for angle in np.degrees(result.first_angles))
        lines.append(
            text(
                "The first step turns {turns}: tan θ falls as {symbol} to the power {power}.",
                turns=turns,
                symbol=result.symbol,
                power=number(result.power),
            )
        )
    lines.append(run.optimizer.assumes)
    ended = [
        (start, run.diverged)
        for run, start in zip(result.runs, result.starts, strict=True)
        if run.diverged
    ]
    if ended:
        places = ", ".join(
            text("from {norm} at step {step}", norm=number(start), step=end.step)
            for start, end in ended
        )
        sentence = text("Runs that ended early: {places}.", places=places)
        lines.append(f"{sentence} {ended[0][1].reason}")
    return lines
