"""What doubling the weights does to each quantity: its factor, predicted (hollow) and measured."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import plotly.graph_objects as go

from normgeo.base.text import text
from normgeo.pictures.learning_rate.doubling import CLAIMED, Doubling, factor_words
from normgeo.pictures.style.annotations import NARROW, note, wrapped
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.template import CLAIM, SMALL, THEMES, dress

NAMES = 272  # pixels for the names of the quantities
TICKS = (Fraction(0), Fraction(1, 4), CLAIMED, Fraction(1))


def figure(result: Doubling, theme: str) -> go.Figure:
    """Draw a line for each quantity, with the factor by which it changed."""
    look, color, rows = THEMES[theme], method_color(result.normalizer), result.rows
    drawn = go.Figure()
    drawn.add_trace(
        go.Scatter(
            x=[float(row.predicted) for row in rows],
            y=[text(row.quantity) for row in rows],
            mode="markers",
            name=text("predicted"),
            hoverinfo="skip",
            marker={"symbol": "circle-open", "size": 17, "color": look.ink, "line": {"width": 2}},
        )
    )
    known = [row for row in rows if row.measured is not None]
    drawn.add_trace(
        go.Scatter(
            x=[row.measured for row in known],
            y=[text(row.quantity) for row in known],
            mode="markers",
            name=text("measured"),
            marker={"size": 9, "color": color},
            hovertemplate=text(
                "{quantity}: {value}<extra></extra>", quantity="%{y}", value="%{x:.6g}"
            ),
        )
    )
    for row in rows:
        if row.reason:
            drawn.add_annotation(
                x=float(row.predicted),
                y=text(row.quantity),
                text=text("not measured"),
                xanchor="left",
                xshift=14,
                hovertext=text(row.reason),
                font={"size": SMALL, "color": look.muted},
            )
    drawn.add_vline(
        x=float(CLAIMED), line={"color": look.muted, "dash": CLAIM, "width": 2}, layer="below"
    )
    title = text(
        "<b>{method}</b>, {name} doubled", method=result.normalizer.title, name=result.name
    )
    dress(drawn, theme, height=90 + 27 * len(rows), title=title)
    drawn.update_layout(
        margin={"l": NAMES, "t": 62},
        hovermode="closest",
        legend={"x": 1, "xanchor": "right"},
    )
    drawn.add_annotation(
        note(
            text("the paper’s “½”"),
            float(CLAIMED),
            0,
            xref="x",
            xshift=6,
            font={"size": SMALL, "color": look.muted},
        )
    )
    drawn.update_xaxes(
        title=text("factor (F: expected Fisher information, mean over cases)"),
        tickvals=[float(factor) for factor in TICKS],
        ticktext=[factor_words(factor) for factor in TICKS],
        range=[-0.06, 1.1],
    )
    drawn.update_yaxes(autorange="reversed", showgrid=True, tickfont={"color": look.ink})
    drawn.update_layout(meta={"narrow": _narrow(drawn, result, wrapped(title, NARROW))})
    return drawn


def _narrow(drawn: go.Figure, result: Doubling, title: list[str]) -> dict[str, Any]:
    """Return the layout of a narrow figure: the name of a quantity stands above its line."""
    top = 22 * len(title) + 44
    place: dict[str, Any] = {"xref": "x domain", "yref": "y", "yshift": 6, "font": {"size": SMALL}}
    names = [
        note(text(row.quantity), 0, **place) | {"y": text(row.quantity)} for row in result.rows
    ]
    return {
        "height": top + 46 * len(result.rows) + 80,
        "margin": {"l": 16, "t": top, "b": 80},
        "title": {"text": ""},
        "xaxis": {"title": {"text": "<br>".join(wrapped(drawn.layout.xaxis.title.text, NARROW))}},
        "yaxis": {"showticklabels": False},
        "annotations": [
            note(title, yshift=36),
            *(one.to_plotly_json() for one in drawn.layout.annotations),
            *names,
        ],
    }
