"""Training with the norm at each place: the loss against the step, and the accuracy at the end."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from normgeo.base.text import text
from normgeo.pictures.batch.training import smoothed
from normgeo.pictures.depth.accuracy import KINDS, WARMING
from normgeo.pictures.depth.places_figure import place_color
from normgeo.pictures.depth.training import Placements, Trained
from normgeo.pictures.style.annotations import KEPT
from normgeo.pictures.style.sheet import Band, Panel, Sheet, on_panel, told
from normgeo.pictures.style.template import MEASURED, log_ticks

NUMBERS = 19  # type of the accuracies


def figure(result: Placements, theme: str) -> go.Figure:
    """Draw the loss of each place without warm-up, and beside it with."""
    seen = np.concatenate([run.history.losses for run in result.runs] or [np.ones(1)])
    seen = seen[np.isfinite(seen) & (seen > 0)]
    low, high = (float(seen.min()), float(seen.max())) if len(seen) else (0.1, 1.0)
    up = {
        "type": "log",
        "range": np.log10([low / 1.3, high * 1.3]),
        "tickvals": log_ticks(low, high),
        "title": text("training loss, nats"),
    }
    last = max((run.planned for run in result.runs), default=1)
    across = {"title": text("step"), "range": [-0.02 * last, 1.03 * last]}
    return Sheet(
        [],
        rows=[
            [
                Panel(
                    across,
                    up if place == 0 else up | {"title": ""},
                    over=[
                        Band([text("<b>{warmed}</b>, right at the end:", warmed=warmed)]),
                        Band([_ends(result, warming, theme)], NUMBERS),
                    ],
                )
                for place, (warming, warmed) in enumerate(WARMING.items())
            ]
        ],
        foot=[told(theme, result.about, *(run.remark for run in result.runs if run.remark))],
    ).on(
        [
            _line(run, place, theme)
            for place, warming in enumerate(WARMING, start=1)
            for run in result.of(warming)
            if len(run.history.losses)
        ],
        theme,
    )


def _ends(result: Placements, warming: str, theme: str) -> str:
    """The accuracy of each run that has an end, in its color."""
    runs = result.of(warming)
    if not runs:
        return text("stopped before it began")
    words = []
    for run in runs:
        share, name = result.share(run), KINDS[run.kind]
        told_ = text("{name} –", name=name)
        if share is not None:
            told_ = text("{name} {share:.0%}", name=name, share=share)
        kept = str(told_).replace(" ", KEPT)
        words.append(f'<b style="color:{place_color(run.kind, theme)}">{kept}</b>')
    return "  ".join(words)


def _line(run: Trained, place: int, theme: str) -> go.Scatter:
    name, loss = KINDS[run.kind], smoothed(run.history.losses)
    return go.Scatter(
        x=loss.steps,
        y=loss.losses,
        mode="lines",
        name=name,
        legendgroup=name,
        showlegend=place == 1,
        line={"color": place_color(run.kind, theme), "width": 3, "dash": MEASURED},
        hovertemplate=text(
            "{name}, step {step}: {loss} nats<extra></extra>",
            name=name,
            step="%{x}",
            loss="%{y:.4g}",
        ),
        **on_panel(place),
    )
