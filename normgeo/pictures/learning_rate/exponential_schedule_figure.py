"""A run with weight decay and its twin: learning rates, norms, and the angle between the two."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.pictures.learning_rate.exponential_schedule import ExponentialSchedule
from normgeo.pictures.style.annotations import note, wrapped
from normgeo.pictures.style.colors import blend, method_color
from normgeo.pictures.style.lines import line, predicted_style
from normgeo.pictures.style.panels import ABOVE, head, stacked
from normgeo.pictures.style.template import (
    CLAIM,
    LEFT_MARGIN,
    LEGEND_FIRST,
    MEASURED,
    SMALL,
    THEMES,
    dress,
    log_ticks,
)

LINE, LEGEND = 21, 72  # pixels: a line of words; the names of the lines below each other
DOMAINS = ((0.0, 0.28), (0.36, 0.64), (0.72, 1.0))
LEAST = 1e-17  # radians: where an angle of 0 is drawn


def figure(result: ExponentialSchedule, theme: str) -> go.Figure:
    """Draw the two learning rates, the two norms, and the angle between the two runs."""
    look, twin = THEMES[theme], result.twin
    drawn = go.Figure()
    drawn.add_traces(_runs(result, theme))
    drawn.add_trace(
        line(
            twin.kept,
            result.predicted_norms,
            2,
            text("predicted"),
            predicted_style(theme),
            in_legend=True,
        )
    )
    angles = np.maximum(result.angles, LEAST)
    between = {"color": look.ink, "width": 2, "dash": MEASURED}
    drawn.add_trace(line(twin.kept, angles, 3, text("angle between the two"), between))
    drawn.add_shape(
        type="line",
        xref="x3",
        yref="y3",
        x0=0,
        x1=max(1, int(twin.kept[-1])),
        y0=twin.tolerance,
        y1=twin.tolerance,
        line={"color": look.muted, "dash": CLAIM, "width": 1.5},
    )

    lines, narrow = (_lines(result, letters) for letters in ABOVE)
    dress(drawn, theme, height=420 + LINE * (len(lines) - 1))
    drawn.update_layout(
        margin={"t": 62 + LINE * len(lines)},
        legend={**LEGEND_FIRST, "traceorder": "reversed"},
        annotations=[note(lines, yshift=28), *_captions(result, look.muted)],
        meta={
            "narrow": {
                **stacked(
                    [[1], [2], [3]],
                    each=200,
                    between=100,
                    top=LEGEND + 36 + LINE * len(narrow),
                    left=LEFT_MARGIN,
                ),
                "legend": {"orientation": "v"},
                "annotations": [
                    note(narrow, yshift=28),
                    *_captions(result, look.muted),
                ],
            }
        },
    )
    _axes(drawn, result)
    return drawn


def _runs(result: ExponentialSchedule, theme: str) -> list[go.Scatter]:
    """Return learning rate and norm of both runs, the growing rate first."""
    twin, steps = result.twin, result.steps
    color = method_color(twin.decayed.start.normalizer)
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


def _lines(result: ExponentialSchedule, width: int) -> list[str]:
    """Return the lines above the panels: what runs, and whether the two part."""
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
    return [*wrapped(about, width), *wrapped(result.verdict, width)]


def _captions(result: ExponentialSchedule, muted: str) -> list[dict[str, Any]]:
    """Return a line above each panel, and the name of the tolerance."""
    sentences = (
        text("<b>learning rate</b>: × {growth} in the end", growth=number(result.rate_growth)),
        text("<b>norm</b>: × {growth} apart", growth=number(result.norm_growth)),
        text("<b>direction</b>: at most {angle} apart", angle=number(result.apart, 1)),
    )
    return [
        *(head(panel, [sentence]) for panel, sentence in enumerate(sentences, start=1)),
        {
            "xref": "x3 domain",
            "x": 1,
            "yref": "y3",
            "y": np.log10(result.twin.tolerance),
            "text": text("parted"),
            "xanchor": "right",
            "yanchor": "bottom",
            "font": {"size": SMALL, "color": muted},
        },
    ]


def _axes(drawn: go.Figure, result: ExponentialSchedule) -> None:
    twin, steps, block = result.twin, result.steps, result.block
    last = max(1, int(twin.kept[-1]))
    titles = (
        text("learning rate η"),
        text("norm {symbol}", symbol=result.symbol),
        text("angle, radians"),
    )
    for panel, (title, domain) in enumerate(zip(titles, DOMAINS, strict=True), start=1):
        across = {
            "domain": domain,
            "anchor": f"y{panel}",
            "title": text("step"),
            "range": [-0.02 * last, 1.02 * last],
        }
        up = {"anchor": f"x{panel}", "title": title, "type": "log", "exponentformat": "power"}
        drawn.update_layout({f"xaxis{panel}": across, f"yaxis{panel}": up})
    runs = (twin.decayed, twin.scheduled)
    for panel, values in (
        (1, np.concatenate([run.rates[steps] for run in runs])),
        (2, np.concatenate([run.norms[steps, block] for run in runs])),
    ):
        drawn.update_layout({f"yaxis{panel}.tickvals": log_ticks(values.min(), values.max())})
    top = max(np.log10(max(result.apart, LEAST)), np.log10(twin.tolerance)) + 1
    drawn.update_layout(
        {"yaxis3.range": [np.log10(LEAST) - 0.3, top], "yaxis3.dtick": 3, "yaxis3.nticks": 8}
    )
