"""Loss of trained cells against the steps that they have read."""

from __future__ import annotations

import plotly.graph_objects as go

from normgeo.base.text import text
from normgeo.pictures.recurrent.curves_figure import Curve, Panel, drawn_panels
from normgeo.pictures.recurrent.longer import Longer


def figure(result: Longer, theme: str) -> go.Figure:
    """Draw a line for each method, and an upright one where training ended."""
    known = result.compared
    panel = Panel(
        text("trained on {T} steps, the dotted line", T=result.trained),
        text("steps read"),
        text("loss there, nats"),
        [Curve(one.normalizer, result.steps, one.losses) for one in known],
        float(result.trained),
    )
    told = (
        text("Stretches of the text that was trained on; a point is the mean of four letters.")
        if result.every_step
        else text("Digits that were held out; in longer sequences each step is read several times.")
    )
    if known:
        after = text("Trained with {steps} batches.", steps=known[0].after)
        less = [one.normalizer.title for one in result.methods if 0 < one.after < known[0].after]
        behind = text(" Not yet as far: {methods}.", methods=", ".join(less)) if less else ""
        told = f"{told} {after}{behind}"
    missing = [f"{one.normalizer.title}: {one.reason}" for one in result.methods if one.reason]
    if not known and not missing:
        missing = [text("Stopped before a run came to its end.")]
    return drawn_panels([panel], result.said, [result.setup.about, told, *missing], theme)
