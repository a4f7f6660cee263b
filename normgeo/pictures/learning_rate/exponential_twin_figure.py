"""A run with weight decay and its twin: learning rates, norms, and the angle between the two."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from normgeo.base.text import text
from normgeo.dynamics.exponential_twin import Twin
from normgeo.pictures.style.lines import line, predicted_style, scientific, words, wrapped
from normgeo.pictures.style.template import (
    CLAIM,
    MEASURED,
    SIZE,
    THEMES,
    blend,
    dress,
    log_ticks,
    method_color,
)

DOMAINS = ((0.0, 0.28), (0.36, 0.64), (0.72, 1.0))
LEAST = 1e-17  # radians: where an angle of 0 is drawn


def twin_figure(
    twin: Twin, block: int, *, name: str, symbol: str, batches: str, verdict: str, theme: str
) -> go.Figure:
    """Draw the two learning rates, the two norms, and the angle between the two runs.

    Args:
        twin: the runs. block: whose norm is shown. name, symbol: of the block and its norm.
        batches: what a step sees. verdict: whether they part, in a sentence. theme: of the figure.

    """
    look = THEMES[theme]
    decayed, scheduled = twin.decayed, twin.scheduled
    color = method_color(decayed.start.normalizer)
    with_decay = {"color": color, "width": 3, "dash": MEASURED}
    growing = {"color": blend(look.paper, color, 0.5), "width": 6, "dash": MEASURED}
    names = text("weight decay λ"), text("growing η, no decay")
    figure = go.Figure()
    steps = np.arange(min(decayed.steps, scheduled.steps) + 1)
    for run, label, style in zip(
        (scheduled, decayed), reversed(names), (growing, with_decay), strict=True
    ):
        figure.add_trace(line(steps, run.rates[steps], 1, label, style, in_legend=True))
        figure.add_trace(line(steps, run.norms[steps, block], 2, label, style))
    norms = decayed.norms[twin.kept, block] * twin.predicted_growth
    figure.add_trace(
        line(twin.kept, norms, 2, text("predicted"), predicted_style(theme), in_legend=True)
    )
    angles = np.maximum(twin.angles.max(axis=1), LEAST)
    between = {"color": look.ink, "width": 2, "dash": MEASURED}
    figure.add_trace(line(twin.kept, angles, 3, text("angle between the two"), between))
    last = max(1, int(twin.kept[-1]))
    figure.add_shape(
        type="line",
        xref="x3",
        yref="y3",
        x0=0,
        x1=last,
        y0=twin.tolerance,
        y1=twin.tolerance,
        line={"color": look.muted, "dash": CLAIM, "width": 1.5},
    )

    lines = [
        text(
            "<b>{method}</b>, {name}: gradient descent, η = {rate:.3g}, λ = {decay:.3g}, "
            "{batches}; the twin has η<sub>t</sub> = η(1 − ηλ)<sup>−2t−1</sup> and no decay",
            method=decayed.start.normalizer.title,
            name=name,
            rate=decayed.rate,
            decay=decayed.decay,
            batches=batches,
        ),
        *wrapped(verdict),
    ]
    dress(figure, theme, height=420 + 19 * (len(lines) - 1))
    growth = float(scheduled.rates[steps[-1]] / decayed.rates[0])
    figure.update_layout(
        margin={"l": 8, "r": 8, "t": 62 + 19 * len(lines), "b": 44},
        legend={
            "x": 1,
            "xanchor": "right",
            "font": {"size": SIZE - 1},
            "traceorder": "reversed",
            "y": 1.09,
        },
        annotations=[
            words(lines, yshift=54),
            words(
                text("<b>learning rate</b>: × {growth} in the end", growth=_factor(growth)),
                DOMAINS[0][0],
                yshift=4,
            ),
            words(
                text(
                    "<b>norm</b>: × {growth} apart", growth=_factor(float(twin.growth[-1, block]))
                ),
                DOMAINS[1][0],
                yshift=4,
            ),
            words(
                text(
                    "<b>direction</b>: at most {angle} apart",
                    angle=scientific(float(twin.angles.max())),
                ),
                DOMAINS[2][0],
                yshift=4,
            ),
            {
                "xref": "x3 domain",
                "x": 1,
                "yref": "y3",
                "y": np.log10(twin.tolerance),
                "text": text("parted"),
                "xanchor": "right",
                "yanchor": "bottom",
                "font": {"size": SIZE - 2, "color": look.muted},
            },
        ],
    )
    titles = (
        text("learning rate of the weights η"),
        text("norm of the weights {symbol}", symbol=symbol),
        text("angle between the two, radians"),
    )
    for panel, (title, domain) in enumerate(zip(titles, DOMAINS, strict=True), start=1):
        figure.update_layout(
            {
                f"xaxis{panel}": {
                    "domain": domain,
                    "anchor": f"y{panel}",
                    "title": text("step"),
                    "range": [-0.02 * last, 1.02 * last],
                },
                f"yaxis{panel}": {
                    "anchor": f"x{panel}",
                    "title": title,
                    "type": "log",
                    "exponentformat": "power",
                },
            }
        )
    for panel, values in (
        (1, np.concatenate([decayed.rates[steps], scheduled.rates[steps]])),
        (2, np.concatenate([decayed.norms[steps, block], scheduled.norms[steps, block]])),
    ):
        figure.update_layout({f"yaxis{panel}.tickvals": log_ticks(values.min(), values.max())})
    top = max(np.log10(angles.max()), np.log10(twin.tolerance)) + 1
    figure.update_layout(
        {"yaxis3.range": [np.log10(LEAST) - 0.3, top], "yaxis3.dtick": 3, "yaxis3.nticks": 8}
    )
    return figure


def _factor(value: float) -> str:
    return scientific(value) if value >= 1e6 else f"{value:,.{0 if value >= 100 else 1}f}"
