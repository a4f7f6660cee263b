"""Descent from one function at several weight norms: loss, norm and angle, step by step."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.pictures.learning_rate.descent import Descents
from normgeo.pictures.style.annotations import note, wrapped
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.lines import end_mark, line, predicted_style, start_styles
from normgeo.pictures.style.panels import ABOVE, head, stacked
from normgeo.pictures.style.player import BUTTONS, STRIP, Frame, add_player
from normgeo.pictures.style.template import SMALL, THEMES, dress, log_ticks

FRAMES = 101  # at most: a picture of each step of a hundred, of some steps of more
LINE, LEGEND = 21, 92  # pixels: a line of words; the names of the lines below each other
DOMAINS = ((0.0, 0.28), (0.36, 0.64), (0.72, 1.0))


def figure(result: Descents, theme: str) -> go.Figure:
    """Draw three runs side by side: loss, ‖w‖ and angle per step against the step."""
    look, color = THEMES[theme], method_color(result.runs[0].start.normalizer)
    drawn = go.Figure()
    drawn.add_traces(_measured(result, color, theme))
    drawn.add_traces(_predicted(result, theme))
    moving = [len(drawn.data) + panel for panel in range(3)]
    drawn.add_traces(_dots(result, 0, look.ink, color))

    lines, narrow = (_lines(result, letters) for letters in ABOVE)
    dress(drawn, theme, height=430 + LINE * (len(lines) - 1))
    drawn.update_layout(
        margin={"t": 34 + LINE * len(lines), "b": 40},
        legend={"x": 1, "xanchor": "right", "font": {"size": SMALL}, "traceorder": "reversed"},
        annotations=[note(lines, yshift=30), *_missing(result, look.muted)],
        meta={
            "narrow": {
                **stacked(
                    [[1], [2], [3]],
                    each=200,
                    between=76,
                    top=LEGEND + 20 + LINE * len(narrow),
                    bottom=44 + STRIP + BUTTONS,
                ),
                "legend": {"x": 0, "xanchor": "left", "orientation": "v"},
                "annotations": [
                    note(narrow, yshift=LEGEND + 12),
                    *_missing(result, look.muted),
                ],
            }
        },
    )
    _axes(drawn, result)
    last = max(1, result.steps)
    frames: list[Frame] = [
        {
            "name": str(step),
            "traces": moving,
            "data": [{"type": "scatter", "x": x, "y": y} for x, y in _places(result, step)],
        }
        for step in [*range(0, last, -(-last // (FRAMES - 1))), last]
    ]
    add_player(drawn, frames, prefix=text("step "), theme=theme)
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
            xaxis=f"x{panel}",
            yaxis=f"y{panel}",
            hovertemplate=text(
                "step {step}: {value}<extra></extra>", step="%{x}", value="%{y:.4g}"
            ),
        )
        for panel, (x, y) in enumerate(_places(result, step), start=1)
    ]


def _axes(drawn: go.Figure, result: Descents) -> None:
    last = max(1, result.steps)
    titles = (
        text("loss, nats per case"),
        text("norm {symbol}", symbol=result.symbol),
        text("angle θ of the step, degrees"),
    )
    for panel, (title, domain) in enumerate(zip(titles, DOMAINS, strict=True), start=1):
        across = {
            "domain": domain,
            "anchor": f"y{panel}",
            "title": text("step"),
            "range": [-0.02 * last, 1.02 * last],
        }
        up = {"anchor": f"x{panel}", "title": title, "exponentformat": "power"}
        drawn.update_layout({f"xaxis{panel}": across, f"yaxis{panel}": up})
    losses, norms, angles = (
        np.concatenate([result.measured(run)[panel].values for run in result.runs])
        for panel in range(3)
    )
    if losses.min() > 0 and losses.max() > 50 * losses[0]:
        drawn.update_layout({"yaxis.type": "log"})
    else:
        drawn.update_layout({"yaxis.rangemode": "tozero"})
    drawn.update_layout({"yaxis2.type": "log", "yaxis3.type": "log"})
    if norms.max() < 100 * norms.min():
        drawn.update_layout({"yaxis2.tickvals": 2.0 ** np.arange(-3, 10)})
    seen = angles[angles > 0]
    if len(seen):
        drawn.update_layout({"yaxis3.tickvals": log_ticks(seen.min(), seen.max())})
    else:
        drawn.update_layout({"yaxis3.showticklabels": False})


def _missing(result: Descents, muted: str) -> list[dict[str, Any]]:
    """Return what stands in place of a predicted norm and of angles, where there are none."""
    notes = []
    if not result.has_norm_law:
        font = {"size": SMALL, "color": muted}
        notes.append(head(2, [text("no law for the norm")], font=font))
    if not result.steps:
        middle = {"xref": "x3 domain", "yref": "y3 domain", "x": 0.5, "y": 0.5}
        font = {"color": muted}
        notes.append({"text": text("no run completed a step"), **middle, "font": font})
    return notes


def _lines(result: Descents, width: int) -> list[str]:
    """Return the lines above the panels: what runs, the first angles, the law, early ends."""
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
    return [line for sentence in lines for line in wrapped(sentence, width)]
