"""How fast each neuron of a layer turns, side by side, so that no mark covers another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.pictures.style.colors import VERMILION, on_paper
from normgeo.pictures.style.template import PREDICTED, SIZE, THEMES
from normgeo.pictures.your_network.layer import Neurons
from normgeo.tables.layer import COLUMNS

LABELED = 24  # neurons at most whose numbers stand under their marks


def ordered(heights: Array, shown: Array) -> Array:
    """The neurons that are drawn and have a height, the smallest first."""
    order = shown[np.argsort(heights[shown], kind="stable")]
    found: Array = order[~np.isnan(heights[order])]
    return found


def places(order: Array, first: str) -> dict[str, Any]:
    """An axis with a place for each neuron, by its number where there is room.

    Args:
        order: of the neurons. first: what the first one is.

    """
    few = len(order) <= LABELED
    words = {
        "tickvals": list(range(1, len(order) + 1)),
        "ticktext": [str(h) for h in order.tolist()],
        "title": text("neuron, {which} first", which=first),
    }
    return {
        "range": [0.3, max(len(order), 1) + 0.7],
        "showgrid": False,
        "zeroline": False,
        **(words if few else {"title": text("neurons, {which} first", which=first), "nticks": 5}),
    }


def one_by_one(
    result: Neurons,
    heights: Array,
    balanced: Array | None,
    order: Array,
    color: str,
    theme: str,
) -> Iterator[go.Scatter]:
    """The neurons side by side, so that none covers another, with the balance of each."""
    ink, muted = THEMES[theme].ink, THEMES[theme].muted
    at, on = np.arange(1, len(order) + 1), {"xaxis": "x2", "yaxis": "y2", "showlegend": False}
    if balanced is not None:
        to = balanced[order]
        gap = np.full(len(at), np.nan)
        yield go.Scatter(
            x=np.stack([at, at, gap], axis=1).ravel(),
            y=np.stack([heights[order], to, gap], axis=1).ravel(),
            mode="lines",
            line={"color": muted, "width": 1, "dash": PREDICTED},
            hoverinfo="skip",
            **on,
        )
        marker = {"color": muted, "size": 9, "symbol": "diamond-open", "line": {"width": 1.5}}
        yield go.Scatter(x=at, y=to, mode="markers", marker=marker, hoverinfo="skip", **on)
    frozen = np.isin(order, result.frozen)
    size = 11 if len(order) <= 40 else 5
    yield go.Scatter(
        x=at,
        y=heights[order],
        mode="markers",
        marker={
            "color": [on_paper(VERMILION, theme) if still else color for still in frozen],
            "symbol": ["x" if still else "circle" for still in frozen],
            "size": size,
        },
        cliponaxis=False,
        hovertext=[text("neuron {h}", h=h) for h in order.tolist()],
        hovertemplate=text(
            "{neuron}: {what} {y}<extra></extra>",
            neuron="%{hovertext}",
            what=text(COLUMNS[result.height]),
            y="%{y:.3g}",
        ),
        **on,
    )
    ring = {"color": ink, "size": 16, "symbol": "circle-open", "line": {"width": 2.5}}
    own = order == result.neuron
    if own.any():
        yield go.Scatter(
            x=at[own],
            y=heights[order][own],
            mode="markers+text",
            marker=ring,
            text=[f"<b>{result.neuron}</b>" if len(order) > LABELED else ""],
            textposition="bottom center",
            textfont={"size": SIZE, "color": ink},
            hoverinfo="skip",
            **on,
        )
