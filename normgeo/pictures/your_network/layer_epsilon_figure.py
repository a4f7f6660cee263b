"""A map of what ε takes off z: a row for each neuron, a column for each case, largest first."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.text import text
from normgeo.pictures.style.annotations import colored, method_title, note, wrapped
from normgeo.pictures.style.template import LEFT_MARGIN, SMALL, THEMES, dress
from normgeo.pictures.your_network.layer_epsilon import LayerEpsilon

TOP, NARROW_TOP = 92, 200
EACH, LEAST = 14, 200  # pixels: of a row, and of all of them at least
BAR, NARROW_BAR, BOTTOM = 118, 100, 52  # margins: for the numbers of the bar, those of cases


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
    drawn = go.Figure(
        go.Heatmap(
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
    )
    dress(drawn, theme, height=TOP + rows + BOTTOM)
    drawn.update_layout(
        xaxis={"type": "category", "nticks": 16, "title": {"text": text("case, largest first")}},
        yaxis={
            "type": "category",
            "autorange": "reversed",
            "nticks": 12,
            "title": {"text": text("{what}, largest first", what=what)},
        },
        margin={"t": TOP, "l": LEFT_MARGIN, "r": BAR, "b": BOTTOM},
        annotations=_words(result, look.muted, narrow=False),
        meta={
            "narrow": {
                "height": NARROW_TOP + rows + BOTTOM,
                "margin": {"t": NARROW_TOP, "l": LEFT_MARGIN, "r": NARROW_BAR},
                "xaxis": {"nticks": 6},
                "annotations": _words(result, look.muted, narrow=True),
            }
        },
    )
    return drawn


def _words(result: LayerEpsilon, muted: str, *, narrow: bool) -> list[dict[str, Any]]:
    width, top = (34, NARROW_TOP) if narrow else (130, TOP)
    lines = [
        method_title(result.normalizer),
        *(f"<b>{line}</b>" for line in wrapped(result.said, width)),
        *(colored(line, muted, SMALL) for line in wrapped(result.shown, width)),
    ]
    return [note(lines, yanchor="top", yshift=top - 2)]
