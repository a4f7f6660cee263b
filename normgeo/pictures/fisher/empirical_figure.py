"""Curvatures at labels of the data and at labels of the model, over those of the Fisher matrix."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from normgeo.base.text import text
from normgeo.fisher.empirical import LabelFisher
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.style.template import (
    LEGEND_ABOVE,
    PREDICTED,
    SIZE,
    THEMES,
    above,
    colored,
    dress,
    method_color,
    method_title,
)

NOTHING = 1e-20  # of the largest curvature: less is rounding


def labels_figure(
    methods: Sequence[tuple[Normalizer, str]],
    found: Sequence[LabelFisher],
    *,
    name: str,
    about: str,
    theme: str,
) -> go.Figure:
    """Draw sampled and observed curvatures over the expected ones, a place for each direction.

    Args:
        methods: one or two, with what is unusual about each. found: theirs, ŵ first.
        name: of the weights. about: the models. theme: of the figure.

    """
    look, figure = THEMES[theme], go.Figure()
    names = (text("along ŵ"), text("steepest"), text("at random"))
    places, marks, place = [], [], 0.0
    words = [above(f"<b>{name}</b><br>{colored(about, look.muted)}", 0.0, 40)]
    for (normalizer, more), each in zip(methods, found, strict=True):
        color = method_color(normalizer)
        start = place
        for k, expected in enumerate(each.expected):
            places.append(place)
            marks.append(names[k])
            if expected <= NOTHING * each.expected.max():
                figure.add_annotation(
                    x=place,
                    y=1,
                    yanchor="bottom",
                    showarrow=False,
                    yshift=4,
                    text=colored(text("0, whatever<br>the labels"), look.muted),
                )
                place += 1
                continue
            sampled, observed = each.sampled[k] / expected, each.observed[k] / expected
            error = 2 * each.error[k] / expected
            figure.add_scatter(
                x=[place - 0.12],
                y=[sampled],
                mode="markers",
                showlegend=False,
                error_y={"array": [error], "color": color, "thickness": 2},
                marker={"size": 11, "color": color},
                hovertemplate=text(
                    "labels of the model, {n} sets: {value} × expected<extra></extra>",
                    n=each.draws,
                    value="%{y:.4g}",
                ),
            )
            hollow = {"size": 12, "color": color, "symbol": "diamond-open", "line": {"width": 3}}
            figure.add_scatter(
                x=[place + 0.12],
                y=[observed],
                mode="markers",
                showlegend=False,
                marker=hollow,
                hovertemplate=text(
                    "labels of the data: {value} × expected<extra></extra>", value="%{y:.4g}"
                ),
            )
            place += 1
        words.append(
            {
                "text": method_title(normalizer, more),
                "x": start - 0.3,
                "xref": "x",
                "y": 1,
                "yref": "paper",
                "yanchor": "bottom",
                "xanchor": "left",
                "yshift": 4,
            }
        )
        place += 0.7
    for symbol, width, label in (
        ("circle", 0, text("labels drawn from the model, ± 2 standard errors")),
        ("diamond-open", 3, text("labels of the data")),
    ):
        figure.add_scatter(
            x=[None],
            y=[None],
            mode="markers",
            name=label,
            marker={"size": 11, "color": look.muted, "symbol": symbol, "line": {"width": width}},
        )
    dress(figure, theme, height=380)
    top = max([1.0, *(float(t.y[0]) for t in figure.data if t.y[0] is not None)])
    figure.update_layout(
        margin={"l": 8, "r": 8, "t": 92, "b": 30},
        legend=LEGEND_ABOVE,
        annotations=[*figure.layout.annotations, *words],
        xaxis={
            "tickvals": places,
            "ticktext": marks,
            "range": [-0.6, place - 0.3],
            "showgrid": False,
            "zeroline": False,
        },
        yaxis={"range": [0, 1.15 * top], "title": text("curvature over vᵀFv"), "zeroline": False},
    )
    figure.add_shape(
        type="line",
        xref="x domain",
        x0=0,
        x1=1,
        y0=1,
        y1=1,
        line={"color": look.ink, "width": 1.5, "dash": PREDICTED},
    )
    figure.add_annotation(
        text=text("F, the expectation"),
        xref="x domain",
        x=1,
        y=1,
        xanchor="right",
        yanchor="bottom",
        showarrow=False,
        font={"size": SIZE - 2, "color": look.ink},
    )
    return figure
