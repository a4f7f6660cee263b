"""A map of what ε takes off z: a row for each neuron, a column for each case, largest first."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from normgeo.base.text import text
from normgeo.pictures.style.annotations import method_title
from normgeo.pictures.style.sheet import Band, Panel, Sheet, told
from normgeo.pictures.style.template import SMALL, THEMES
from normgeo.pictures.your_network.layer_epsilon import LayerEpsilon

EACH, LEAST = 14, 200  # pixels: of a row, and of all of them at least
BAR = 118  # pixels at the right, for the bar and its numbers


def figure(result: LayerEpsilon, theme: str) -> go.Figure:
    """Draw the map with its bar, and above it what is to be seen."""
    look, pairs = THEMES[theme], result.pairs
    what = text("feature") if result.features else text("neuron")
    words = text(
        "{what} {h}, case {n}: ε takes {lost} off z<extra></extra>",
        what=what,
        h="%{y}",
        n="%{x}",
        lost="%{z:.3g}",
    )
    rows = max(LEAST, EACH * len(pairs.map))
    drawn = go.Heatmap(
        z=pairs.map.astype(np.float32),
        x=[str(n) for n in pairs.map_cases],
        y=[str(h) for h in pairs.map_neurons],
        colorscale=[[0, look.paper], [1, look.ink]],
        zmin=0,
        zmax=float(pairs.map.max(initial=0)) or 1.0,
        hovertemplate=words,
        ygap=1,
        name=str(what),
        colorbar={
            "thickness": 10,
            "outlinewidth": 0,
            "nticks": 5,
            "exponentformat": "power",
            "tickfont": {"size": SMALL, "color": look.muted},
        },
    )
    across = {"type": "category", "nticks": 16, "title": text("case, largest first")}
    down = {
        "type": "category",
        "autorange": "reversed",
        "nticks": 12,
        "title": text("{what}, largest first", what=what),
    }
    return Sheet(
        [
            Band([method_title(result.normalizer, theme), f"<b>{result.said}</b>"]),
            told(theme, result.shown),
        ],
        rows=[[Panel(across, down, high=(rows, rows))]],
        right=BAR,
    ).on([drawn], theme)
