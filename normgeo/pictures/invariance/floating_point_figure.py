"""How exact a verdict is in floating point: the largest change of z against the strength."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby

import numpy as np
import plotly.graph_objects as go

from normgeo.base.text import text
from normgeo.invariance.certificate import Sweep
from normgeo.pictures.style.colors import BLUE, GREEN, PINK, VERMILION
from normgeo.pictures.style.template import MEASURED, SIZE, THEMES, dress

FLOOR = 1e-18
COLORS = (VERMILION, GREEN, BLUE, PINK)


def floating_point_figure(
    sweeps: Mapping[str, Sweep], title: str, rescales: bool, theme: str
) -> go.Figure:
    """Draw max|z' − z| / max|z| against δ or ‖γ‖, one line for each number type and ε.

    Unchanged z stands at the foot of the axis; a strength without a number is a cross there, with
    its reason on hover and named once.
    """
    look = THEMES[theme]
    figure = go.Figure()
    for row, (name, sweep) in enumerate(sweeps.items()):
        color = COLORS[row % len(COLORS)]
        known = ~np.isnan(sweep.change)
        figure.add_scatter(
            x=sweep.strengths,
            y=np.where(known, np.maximum(sweep.change, FLOOR), np.nan),
            name=name,
            mode="lines+markers",
            connectgaps=False,
            marker={"size": 4},
            line={"color": color, "dash": MEASURED, "width": 2},
            customdata=sweep.change,
            hovertemplate=f"{name}: %{{x:.3g}} → %{{customdata:.3g}}<extra></extra>",
        )
        if known.all():
            continue
        height = FLOOR * 10 ** (0.9 * row)
        figure.add_scatter(
            x=sweep.strengths[~known],
            y=np.full((~known).sum(), height),
            mode="markers",
            marker={"symbol": "x-thin", "size": 7, "line": {"color": color, "width": 1.5}},
            text=[reason for reason in sweep.reasons if reason],
            showlegend=False,
            hovertemplate=f"{name} at %{{x:.3g}}: %{{text}}<extra></extra>",
        )
        for word, run in groupby(zip(sweep.reasons, sweep.strengths, strict=True), _first_word):
            places = [strength for _, strength in run]
            if word:
                figure.add_annotation(
                    x=np.log10(np.sqrt(places[0]) * np.sqrt(places[-1])),
                    y=np.log10(height),
                    text=f"{sweep.dtype} {word}",
                    yshift=9,
                    font={"size": SIZE - 3, "color": color},
                )
    dress(figure, theme, height=420, title=title)
    if rescales:
        figure.add_vline(x=1, line={"color": look.muted, "dash": "dot", "width": 1})
        figure.add_annotation(
            x=0,
            y=1,
            yref="paper",
            text=text("δ = 1: nothing changed"),
            xanchor="left",
            xshift=4,
            yanchor="top",
            font={"size": SIZE - 2, "color": look.muted},
        )
    name = text("factor δ") if rescales else text("factor on the shift γ")
    figure.update_xaxes(type="log", exponentformat="power", title=name)
    figure.update_yaxes(
        type="log",
        exponentformat="power",
        dtick=3,
        range=[np.log10(FLOOR) - 0.5, 3],
        title=text("largest change of z, max|z′ − z| / max|z|"),
    )
    return figure


def _first_word(pair: tuple[str, float]) -> str:
    return pair[0].partition(":")[0]
