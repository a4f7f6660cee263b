"""Figures of points in space, seen along parallel rays and turned by hand.

They are drawn flat, as any other figure: no WebGL, files of every format. A trace keeps its points
in `customdata`, so that `turning.js` can draw them as seen from another angle.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.text import text

AZIMUTH, ELEVATION = 115.0, 25.0
"""Degrees, at the start: the plane of equal coordinates is then seen at half its height."""


def project(points: Array, azimuth: float = AZIMUTH, elevation: float = ELEVATION) -> Array:
    """Points (n, 3) as seen from an azimuth and an elevation in degrees: right and up, (n, 2).

    >>> project(np.eye(3), 0, 0).tolist()
    [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]

    """
    a, e = np.radians([azimuth, elevation])
    right = [-np.sin(a), np.cos(a), 0]
    up = [-np.cos(a) * np.sin(e), -np.sin(a) * np.sin(e), np.cos(e)]
    flat: Array = points @ np.array([right, up]).T + 0.0
    return flat


def in_space(points: Array, middle: Array) -> dict[str, Any]:
    """What a trace states of its points (n, 3), turned around a middle; NaN ends a line."""
    return {
        **_flat(points - middle),
        "customdata": points.astype(np.float32),
        "meta": {"middle": middle.tolist()},
    }


def between(before: Array, after: Array, middle: Array, traces: tuple[int, int]) -> dict[str, Any]:
    """What a trace of lines states that lead from the points of one trace to those of another."""
    ends = np.stack([before, after, np.full_like(before, np.nan)], axis=1).reshape(-1, 3)
    return {**_flat(ends - middle), "meta": {"middle": middle.tolist(), "between": traces}}


def _flat(points: Array) -> dict[str, Array]:
    x, y = project(points).astype(np.float32).T
    return {"x": x, "y": y}


def turnable(figure: go.Figure) -> None:
    """Let a figure be turned by mouse, touch and keys."""
    words = {
        "label": text("View of the points. The arrow keys turn it, Home turns it back."),
        "hint": text("drag to turn"),
        "left": text("turn left"),
        "right": text("turn right"),
        "up": text("tilt up"),
        "down": text("tilt down"),
        "back": text("turn back to the start"),
    }
    meta = figure.layout.meta or {}
    figure.update_layout(
        meta={
            **meta,
            "turning": {
                "azimuth": AZIMUTH,
                "elevation": ELEVATION,
                "words": {key: str(word) for key, word in words.items()},
            },
        }
    )
