"""The z of one case under a method, before a change and after it, as dots."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.text import text
from normgeo.invariance.before_and_after import BeforeAndAfter
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.sheet import on_panel
from normgeo.pictures.style.template import THEMES


def dots(method: BeforeAndAfter, axes: int, theme: str) -> tuple[go.Scatter, ...]:
    """Each z before (hollow), the way to it after, and after (filled), on axes of this number."""
    color = method_color(method.normalizer, theme)
    before = method.before.z
    neurons = np.arange(len(before))
    on = on_panel(axes)
    hollow = go.Scatter(
        x=neurons,
        y=before,
        mode="markers",
        marker={
            "size": 11,
            "symbol": "circle-open",
            "color": THEMES[theme].ink,
            "line": {"width": 1.5},
        },
        cliponaxis=False,
        hovertemplate=text("neuron %{x}, before: z = %{y:.6g}<extra></extra>"),
        **on,
    )
    way = go.Scatter(
        x=np.repeat(neurons, 3),
        mode="lines",
        line={"color": color, "width": 3},
        hoverinfo="skip",
        connectgaps=False,
        **on,
    )
    filled = go.Scatter(
        x=neurons,
        mode="markers",
        marker={"size": 7, "color": color},
        cliponaxis=False,
        hovertemplate=text("neuron %{x}, after: z = %{y:.6g}<extra></extra>"),
        **on,
    )
    return hollow, way, filled


def moved(method: BeforeAndAfter, step: int) -> list[dict[str, Any]]:
    """What a strength changes of the ways and of the filled dots."""
    before, z = method.before.z, method.after[step].z
    after = np.full_like(z, np.nan) if method.after[step].problem else z
    way = np.column_stack([before, after, np.full(len(z), np.nan)])
    return [{"y": way.ravel().astype(np.float32)}, {"y": after.astype(np.float32)}]
