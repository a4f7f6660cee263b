"""Lines against the step of a run: no more points than a screen shows, a shade for each start."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.pictures.style.colors import blend
from normgeo.pictures.style.sheet import on_panel
from normgeo.pictures.style.template import MEASURED, PREDICTED, THEMES

POINTS = 600  # at most: a screen shows no more
SHARES = (1.0, 0.72, 0.48)  # of the method's color, from the smallest norm to the largest
WIDTHS = (2.5, 4.0, 6.0)


def start_styles(color: str, theme: str) -> list[dict[str, Any]]:
    """Return the line styles of the runs from three norms, the smallest first."""
    paper = THEMES[theme].paper
    return [
        {"color": blend(paper, color, share), "width": width, "dash": MEASURED}
        for share, width in zip(SHARES, WIDTHS, strict=True)
    ]


def predicted_style(theme: str) -> dict[str, Any]:
    """Return the line style of a prediction."""
    return {"color": THEMES[theme].ink, "width": 1.5, "dash": PREDICTED}


def line(
    steps: Array,
    values: Array,
    panel: int,
    name: str,
    style: dict[str, Any],
    in_legend: bool = False,
) -> go.Scatter:
    """Return a line against the step in a panel, numbered from 1."""
    shown = np.unique(np.linspace(0, len(steps) - 1, min(POINTS, len(steps))).astype(int))
    return go.Scatter(
        x=steps[shown],
        y=compact(values[shown]),
        mode="lines",
        line=style,
        name=name,
        legendgroup=name,
        showlegend=in_legend,
        **on_panel(panel),
        hovertemplate=text(
            "{name}, step {step}: {value}<extra></extra>", name=name, step="%{x}", value="%{y:.4g}"
        ),
    )


def rounded(values: Array, digits: int = 4) -> list[float | None]:
    """Return numbers with so many digits, as JSON has them: None for a gap."""
    return [float(f"{value:.{digits}g}") if np.isfinite(value) else None for value in values]


def compact(values: Array) -> Array:
    """Return numbers in half the bytes, if they are in range."""
    fits = np.abs(values).max(initial=0.0) < np.finfo(np.float32).max
    return values.astype(np.float32) if fits else values


def end_mark(steps: Array, values: Array, panel: int, ink: str) -> go.Scatter:
    """Return the cross at the end of a run that ended early."""
    return go.Scatter(
        x=steps[-1:],
        y=values[-1:],
        mode="markers",
        showlegend=False,
        hoverinfo="skip",
        marker={"symbol": "x", "size": 10, "color": ink},
        cliponaxis=False,
        **on_panel(panel),
    )
