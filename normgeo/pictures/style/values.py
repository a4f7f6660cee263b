"""Singular values on a logarithmic axis that also has a place for 0."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.pictures.style.template import CLAIM, MEASURED

FLOOR = 1e-18  # of the largest value: where an exact 0 is drawn


def values_trace(
    values: Array, first: int, name: str, color: str, *, top: float, null: bool, claim: bool
) -> go.Scatter:
    """Return the trace of values against their index.

    Args:
        values: descending, (n,). first: the index of the first, from 1.
        name, color: of the trace. top: the largest value of the picture.
        null: marked apart, hollow. claim: the paper's, dotted.

    """
    return go.Scatter(
        x=np.arange(first, first + len(values)),
        y=np.maximum(values, FLOOR * (top or 1.0)),
        name=name,
        customdata=values,
        mode="markers" if null else "lines",
        line={"color": color, "width": 3, "dash": CLAIM if claim else MEASURED},
        marker={"color": color, "size": 7, "symbol": "diamond-open", "line": {"width": 1.5}},
        hovertemplate=text(
            "{name}, number {i}: {value}<extra></extra>",
            name=name,
            i="%{x}",
            value="%{customdata:.3g}",
        ),
    )


def values_axes(values: Array, *, count: str, title: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the axes: index, and singular values from the floor up."""
    top = float(values.max()) or 1.0
    low = float(values.min()) / top
    low = max(FLOOR, low) if low < 1e-6 else low
    x = {"title": count, "range": [0, 1.01 * len(values) + 1]}
    y = {
        "type": "log",
        "title": title,
        "exponentformat": "power",
        "range": [np.log10(low * top / 4), np.log10(top * 6)],
        "nticks": 8,
    }
    return x, y
