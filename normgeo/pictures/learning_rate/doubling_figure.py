"""What doubling the weights does to each quantity: its factor, predicted (hollow) and measured."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import plotly.graph_objects as go

from normgeo.base.text import text
from normgeo.pictures.learning_rate.doubling import CLAIMED, Doubling, factor_words
from normgeo.pictures.style.annotations import note
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.sheet import Band, Panel, Sheet, upright
from normgeo.pictures.style.template import CLAIM, SMALL, THEMES

TICKS = (Fraction(0), Fraction(1, 4), CLAIMED, Fraction(1))


def figure(result: Doubling, theme: str) -> go.Figure:
    """Draw a line for each quantity, with the factor by which it changed."""
    look, color = THEMES[theme], method_color(result.normalizer, theme)
    rows = list(enumerate(result.rows))
    known = [(place, row) for place, row in rows if row.measured is not None]
    names = [str(text(row.quantity)) for _, row in rows]
    aside: dict[str, Any] = {"xref": "x", "yref": "y", "font": {"size": SMALL, "color": look.muted}}
    words = [
        note(text("not measured"), float(row.predicted), place, **aside)
        | {"yanchor": "middle", "xshift": 14, "hovertext": text(row.reason)}
        for place, row in rows
        if row.reason
    ]
    claim = note(text("the paper’s “½”"), float(CLAIMED), 0, **{**aside, "yref": "paper"}, xshift=6)
    title = text(
        "<b>{method}</b>, {name} doubled", method=result.normalizer.title, name=result.name
    )
    panel = Panel(
        {
            "title": text("factor (F: expected Fisher information, mean over cases)"),
            "tickvals": [float(factor) for factor in TICKS],
            "ticktext": [factor_words(factor) for factor in TICKS],
            "range": [-0.06, 1.1],
        },
        {
            "tickvals": [place for place, _ in rows],
            "ticktext": names,
            "range": [len(rows) - 0.5, -0.5],
            "showgrid": True,
            "tickfont": {"color": look.ink},
        },
        notes=[*words, claim],
        shapes=[upright(float(CLAIMED), {"color": look.muted, "dash": CLAIM, "width": 2})],
        high=(27 * len(rows), 46 * len(rows)),
    )
    predicted = go.Scatter(
        x=[float(row.predicted) for _, row in rows],
        y=[place for place, _ in rows],
        mode="markers",
        name=text("predicted"),
        hoverinfo="skip",
        marker={"symbol": "circle-open", "size": 17, "color": look.ink, "line": {"width": 2}},
    )
    measured = go.Scatter(
        x=[row.measured for _, row in known],
        y=[place for place, _ in known],
        customdata=[names[place] for place, _ in known],
        mode="markers",
        name=text("measured"),
        marker={"size": 9, "color": color},
        hovertemplate=text(
            "{quantity}: {value}<extra></extra>", quantity="%{customdata}", value="%{x:.6g}"
        ),
    )
    drawn = Sheet([Band([title])], rows=[[panel]]).on([predicted, measured], theme)
    return drawn.update_layout(hovermode="closest")
