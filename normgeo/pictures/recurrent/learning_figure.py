"""Training loss of each method against the steps, and against the seconds they took."""

from __future__ import annotations

import plotly.graph_objects as go

from normgeo.base.text import text
from normgeo.pictures.recurrent.curves_figure import Curve, Panel, drawn_panels
from normgeo.pictures.recurrent.learning import Learning


def figure(result: Learning, theme: str) -> go.Figure:
    """Draw the same losses twice: over the steps, and over the time of one processor."""
    known = [one for one in result.methods if len(one.losses)]
    titles = (text("against the steps"), text("against the time"))
    across = (text("steps"), text("seconds of one processor"))
    panels = [
        Panel(
            titles[place],
            across[place],
            text("training loss, nats") if place == 0 else "",
            [Curve(one.normalizer, (one.steps, one.seconds)[place], one.losses) for one in known],
        )
        for place in (0, 1)
    ]
    ends = "; ".join(
        text("{name} {share:.0%}", name=one.normalizer.title, share=float(one.accuracy.mean()))
        for one in known
    )
    right = text("Right of what was held out, at the end: {ends}.", ends=ends) if ends else ""
    missing = [f"{one.normalizer.title}: {one.reason}" for one in result.methods if one.reason]
    if not known and not missing:
        missing = [text("Stopped before a run came to its end.")]
    return drawn_panels(
        panels, result.said, [*filter(None, (result.setup.about, right)), *missing], theme
    )
