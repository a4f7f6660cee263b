"""The size of the derivative of the last state in an earlier one, cell by cell."""

from __future__ import annotations

import plotly.graph_objects as go

from normgeo.base.text import text
from normgeo.pictures.recurrent.cells import Reaching
from normgeo.pictures.recurrent.curves_figure import Curve, Panel, drawn_panels
from normgeo.pictures.recurrent.recurrences import STAYS
from normgeo.sequences.cells import CELLS


def figure(result: Reaching, theme: str) -> go.Figure:
    """Draw a panel for each cell, and in it a line for each method."""
    panels = [
        Panel(
            str(CELLS[key].title),
            text("time t of the earlier state"),
            text("‖∂ state at T / ∂ state at t‖") if place == 0 else "",
            [Curve(result.methods[name], result.times, logs[None]) for name, logs in own.items()],
            stays=STAYS,
        )
        for place, (key, own) in enumerate(result.curves.items())
    ]
    return drawn_panels(panels, result.said, [result.about], theme)
