"""A run with weight decay and its twin: learning rates, norms, and the angle between the two."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.pictures.learning_rate.exponential_schedule import ExponentialSchedule
from normgeo.pictures.style.annotations import note
from normgeo.pictures.style.colors import blend, method_color
from normgeo.pictures.style.lines import line, predicted_style
from normgeo.pictures.style.sheet import Band, Panel, Sheet, across
from normgeo.pictures.style.template import CLAIM, MEASURED, SMALL, THEMES, log_ticks

LEAST = 1e-17  # radians: where an angle of 0 is drawn


def figure(result: ExponentialSchedule, theme: str) -> go.Figure:
    """Draw the two learning rates, the two norms, and the angle between the two runs."""
    look, twin = THEMES[theme], result.twin
    predicted = predicted_style(theme)
    angles = np.maximum(result.angles, LEAST)
    between = {"color": look.ink, "width": 2, "dash": MEASURED}
    return Sheet(
        [Band(_sentences(result))],
        rows=[_panels(result, look.muted)],
    ).on(
        [
            *_runs(result, theme),
            line(
                twin.kept,
                result.predicted_norms,
                2,
                text("predicted"),
                predicted,
                in_legend=True,
            ),
            line(twin.kept, angles, 3, text("angle between the two"), between),
        ],
        theme,
    )


def _runs(result: ExponentialSchedule, theme: str) -> list[go.Scatter]:
    """Return learning rate and norm of both runs, the growing rate first."""
    twin, steps = result.twin, result.steps
    color = method_color(twin.decayed.start.normalizer, theme)
    with_decay = {"color": color, "width": 3, "dash": MEASURED}
    growing = {"color": blend(THEMES[theme].paper, color, 0.5), "width": 6, "dash": MEASURED}
    return [
        trace
        for run, name, style in (
            (twin.scheduled, text("growing η, no decay"), growing),
            (twin.decayed, text("weight decay λ"), with_decay),
        )
        for trace in (
            line(steps, run.rates[steps], 1, name, style, in_legend=True),
            line(steps, run.norms[steps, result.block], 2, name, style),
        )
    ]


def _sentences(result: ExponentialSchedule) -> list[str]:
    """Return the sentences above the panels: what runs, and whether the two part."""
    decayed = result.twin.decayed
    about = text(
        "<b>{method}</b>, {name}: gradient descent, η = {rate}, λ = {decay}, "
        "{batches}; the twin has η<sub>t</sub> = η(1 − ηλ)<sup>−2t−1</sup> and no decay",
        method=decayed.start.normalizer.title,
        name=result.name,
        rate=number(decayed.rate),
        decay=number(decayed.decay),
        batches=result.batches,
    )
    return [about, result.verdict]


def _panels(result: ExponentialSchedule, muted: str) -> list[Panel]:
    twin, steps, block = result.twin, result.steps, result.block
    last = max(1, int(twin.kept[-1]))
    x = {"title": text("step"), "range": [-0.02 * last, 1.02 * last]}
    runs = (twin.decayed, twin.scheduled)
    rates = np.concatenate([run.rates[steps] for run in runs])
    norms = np.concatenate([run.norms[steps, block] for run in runs])
    top = max(np.log10(max(result.apart, LEAST)), np.log10(twin.tolerance)) + 1
    parted = note(
        text("parted"),
        1,
        np.log10(twin.tolerance),
        yref="y",
        xanchor="right",
        font={"size": SMALL, "color": muted},
    )
    dotted = across(twin.tolerance, {"color": muted, "dash": CLAIM, "width": 1.5})
    own = (
        (
            text("learning rate η"),
            {"tickvals": log_ticks(rates.min(), rates.max())},
            text("<b>learning rate</b>: × {growth} in the end", growth=number(result.rate_growth)),
        ),
        (
            text("norm {symbol}", symbol=result.symbol),
            {"tickvals": log_ticks(norms.min(), norms.max())},
            text("<b>norm</b>: × {growth} apart", growth=number(result.norm_growth)),
        ),
        (
            text("angle, radians"),
            {"range": [np.log10(LEAST) - 0.3, top], "dtick": 3, "nticks": 8},
            text("<b>direction</b>: at most {angle} apart", angle=number(result.apart, 1)),
        ),
    )
    log = {"type": "log", "exponentformat": "power"}
    first, second, third = (
        Panel(x, {**log, "title": title, **axis}, [head], high=(280, 200))
        for title, axis, head in own
    )
    return [first, second, third._replace(notes=[parted], shapes=[dotted])]
