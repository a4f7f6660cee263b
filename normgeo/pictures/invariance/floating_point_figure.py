"""How exact a verdict is in floating point: the largest change of z against the strength."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.text import text
from normgeo.pictures.invariance.floating_point import Sweeps
from normgeo.pictures.style.annotations import note, wrapped
from normgeo.pictures.style.colors import blend
from normgeo.pictures.style.panels import NARROW
from normgeo.pictures.style.template import MEASURED, SMALL, THEMES, dress

FLOOR = 1e-18
INK = (0.55, 0.7, 0.85, 1.0)  # shades of the curves: the colors are those of methods
LINE = 22  # pixels of a line of words above the panel
GAP, TOP = 2.3, 3  # powers of ten: between rows of crosses, with their words; the end of the axis
SYMBOLS = ("circle-open", "square-open", "diamond-open", "triangle-up")


def figure(result: Sweeps, theme: str) -> go.Figure:
    """Draw max|z′ − z| / max|z| against δ or ‖γ‖, one line for each number type and ε.

    Unchanged z stands at the foot of the axis; a strength without a number is a cross below it,
    with its reason on hover and named once.
    """
    look, rescales = THEMES[theme], result.transform.rescales
    foot = np.log10(FLOOR)
    drawn = go.Figure()
    for row, (name, sweep) in enumerate(result.curves):
        color = blend(look.paper, look.ink, INK[row % len(INK)])
        known = ~np.isnan(sweep.change)
        drawn.add_scatter(
            x=sweep.strengths,
            y=np.where(known, np.maximum(sweep.change, FLOOR), np.nan),
            name=name,
            mode="lines+markers",
            connectgaps=False,
            marker={"size": 7, "symbol": SYMBOLS[row % len(SYMBOLS)]},
            line={"color": color, "dash": MEASURED, "width": 2},
            customdata=sweep.change,
            hovertemplate=f"{name}: %{{x:.3g}} → %{{customdata:.3g}}<extra></extra>",
        )
        if known.all():
            continue
        foot -= GAP
        drawn.add_scatter(
            x=sweep.strengths[~known],
            y=np.full((~known).sum(), 10**foot),
            mode="markers",
            marker={"symbol": "x-thin", "size": 7, "line": {"color": color, "width": 1.5}},
            text=[str(reason) for reason in sweep.reasons if reason],
            showlegend=False,
            hovertemplate=f"{name} at %{{x:.3g}}: %{{text}}<extra></extra>",
        )
        for word, run in groupby(zip(sweep.reasons, sweep.strengths, strict=True), _first_word):
            places = [strength for _, strength in run]
            if word:
                drawn.add_annotation(
                    x=np.log10(np.sqrt(places[0]) * np.sqrt(places[-1])),
                    y=foot,
                    text=f"{sweep.dtype} {word}",
                    yshift=11,
                    font={"size": SMALL, "color": color},
                )
    title = f"{result.normalizer.title}: {result.transform.label}"
    dress(drawn, theme, height=420, title=title)
    if rescales:
        drawn.add_vline(x=1, line={"color": look.muted, "dash": "dot", "width": 1})
        drawn.add_annotation(
            x=0,
            y=1,
            yref="paper",
            text=text("δ = 1: nothing changed"),
            xanchor="left",
            xshift=4,
            yanchor="top",
            font={"size": SMALL, "color": look.muted},
        )
    name = text("factor δ") if rescales else text("factor on the shift γ")
    drawn.update_xaxes(type="log", exponentformat="e", title=name)
    drawn.update_yaxes(
        type="log",
        exponentformat="e",
        tickvals=10.0 ** np.arange(np.log10(FLOOR), TOP + 1, 3),
        range=[foot - 0.5, TOP],
        title=text("largest change of z, max|z′ − z| / max|z|"),
    )
    drawn.update_layout(meta={"narrow": _narrow(drawn, wrapped(title, NARROW), len(result.curves))})
    return drawn


def _narrow(drawn: go.Figure, title: list[str], entries: int) -> dict[str, Any]:
    """Return the layout of a narrow figure: higher, with lines that do not lie on each other."""
    names = LINE * entries + 12
    top = names + LINE * len(title) + 8
    return {
        "height": top + 480,
        "margin": {"t": top},
        "title": {"text": ""},
        "legend": {"orientation": "v"},
        "xaxis": {"nticks": 5},
        "annotations": [
            note(title, yshift=names),
            # What stands right of δ = 1 has no room there.
            *(
                one | {"xanchor": "right", "xshift": -4} if one.get("yref") == "paper" else one
                for one in (place.to_plotly_json() for place in drawn.layout.annotations)
            ),
        ],
    }


def _first_word(pair: tuple[str, float]) -> str:
    return str(pair[0]).partition(":")[0]
