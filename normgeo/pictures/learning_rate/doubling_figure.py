"""What doubling the weights does to each quantity: its factor, predicted (hollow) and measured."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from normgeo.base.text import text
from normgeo.dynamics.doubling import DoublingRow
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.style.template import CLAIM, SIZE, THEMES, dress, method_color

TICKS = {0.0: "0", 0.25: "× ¼", 0.5: "× ½", 1.0: "× 1"}


def doubling_figure(
    rows: Sequence[DoublingRow], normalizer: Normalizer, *, name: str, theme: str
) -> go.Figure:
    """Draw a line for each quantity, with the factor by which it changed.

    Args:
        rows: of the table. normalizer: for its color. name: of the doubled block.
        theme: of the figure.

    """
    look, color = THEMES[theme], method_color(normalizer)
    figure = go.Figure()
    figure.add_trace(
        go.Scatter(
            x=[float(row.predicted) for row in rows],
            y=[row.quantity for row in rows],
            mode="markers",
            name=text("predicted"),
            hoverinfo="skip",
            marker={"symbol": "circle-open", "size": 17, "color": look.ink, "line": {"width": 2}},
        )
    )
    known = [row for row in rows if row.measured is not None]
    figure.add_trace(
        go.Scatter(
            x=[row.measured for row in known],
            y=[row.quantity for row in known],
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
            figure.add_annotation(
                x=float(row.predicted),
                y=row.quantity,
                text=text("not measured"),
                xanchor="left",
                xshift=14,
                hovertext=row.reason,
                font={"size": SIZE - 2, "color": look.muted},
            )
    figure.add_vline(x=0.5, line={"color": look.muted, "dash": CLAIM, "width": 2}, layer="below")
    title = text("<b>{method}</b>, {name} doubled", method=normalizer.title, name=name)
    dress(figure, theme, height=90 + 27 * len(rows), title=title)
    figure.update_layout(
        margin={"l": 8, "r": 8, "t": 62, "b": 40},
        hovermode="closest",
        legend={"x": 1, "xanchor": "right"},
    )
    figure.add_annotation(
        x=0.5,
        y=0,
        yref="paper",
        xanchor="left",
        yanchor="bottom",
        xshift=6,
        text=text("the paper’s “½”"),
        font={"size": SIZE - 1, "color": look.muted},
    )
    figure.update_xaxes(
        title=text("factor (F: expected Fisher information, mean over cases)"),
        tickvals=list(TICKS),
        ticktext=list(TICKS.values()),
        range=[-0.06, 1.1],
    )
    figure.update_yaxes(autorange="reversed", showgrid=True, tickfont={"color": look.ink})
    return figure
