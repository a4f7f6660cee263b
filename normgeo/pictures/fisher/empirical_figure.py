"""Curvatures at labels of the data and at labels of the model, over those of the Fisher matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.pictures.captions import variant
from normgeo.pictures.fisher.base_point import DIRECTIONS
from normgeo.pictures.fisher.empirical import EmpiricalFisher, Ratio
from normgeo.pictures.style.annotations import colored, method_title, note
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.sheet import Band, Panel, Sheet, across, told
from normgeo.pictures.style.template import PREDICTED, SIZE, THEMES, Theme

BETWEEN = 1.7  # places from the last direction of a model to the first of the next


def figure(result: EmpiricalFisher, theme: str) -> go.Figure:
    """Draw sampled and observed curvatures over the expected ones, a place for each direction."""
    look, base = THEMES[theme], result.base
    traces: list[go.Scatter] = []
    notes: list[dict[str, Any]] = []
    places: dict[float, str] = {}
    for each in result.models:
        start = max(places) + BETWEEN if places else 0.0
        for k, ratio in enumerate(each.ratios):
            places[start + k] = str(DIRECTIONS[k])
            if ratio is None:
                notes.append(_nothing(start + k, look.muted))
            else:
                color = method_color(each.normalizer, theme)
                traces += _marks(ratio, start + k, each.curvatures.draws, color)
        title = method_title(each.normalizer, theme, variant(each.normalizer))
        notes.append(note(title, start - 0.3, xref="x", yshift=4))
    ratios = [ratio for each in result.models for ratio in each.ratios if ratio is not None]
    top = max([1.0, *(value for r in ratios for value in (r.sampled, r.observed))])
    directions = {
        "tickvals": list(places),
        "ticktext": list(places.values()),
        "range": [-0.6, max(places, default=0.0) + BETWEEN - 0.3],
        "showgrid": False,
        "zeroline": False,
    }
    curvatures = {
        "range": [0, 1.15 * top],
        "title": text("curvature over vᵀFv"),
        "zeroline": False,
    }
    expected = across(1, {"color": look.ink, "width": 1.5, "dash": PREDICTED})
    panel = Panel(directions, curvatures, notes=notes, shapes=[expected], high=(254, 300))
    about = base.name, f"{base.caption}; {base.which}"
    said = []
    if ratios:
        low, high = min(r.observed for r in ratios), max(r.observed for r in ratios)
        said = [
            text(
                "<b>With the labels of the data: × {low} to × {high} of the curvature</b>",
                low=number(low, 2),
                high=number(high, 2),
            )
        ]
    sheet = Sheet([Band(said, SIZE + 4)], rows=[[panel]], foot=[told(theme, *about)])
    return sheet.on([*traces, *_legend(look)], theme)


def _marks(ratio: Ratio, place: float, draws: int, color: str) -> Sequence[go.Scatter]:
    return (
        go.Scatter(
            x=[place - 0.12],
            y=[ratio.sampled],
            mode="markers",
            showlegend=False,
            error_y={"array": [ratio.error], "color": color, "thickness": 2},
            marker={"size": 11, "color": color},
            hovertemplate=text(
                "labels of the model, {n} sets: {value} × expected<extra></extra>",
                n=draws,
                value="%{y:.4g}",
            ),
        ),
        go.Scatter(
            x=[place + 0.12],
            y=[ratio.observed],
            mode="markers",
            showlegend=False,
            marker={"size": 12, "color": color, "symbol": "diamond-open", "line": {"width": 3}},
            hovertemplate=text(
                "labels of the data: {value} × expected<extra></extra>", value="%{y:.4g}"
            ),
        ),
    )


def _legend(look: Theme) -> list[go.Scatter]:
    marks = [
        go.Scatter(
            x=[None],
            y=[None],
            mode="markers",
            name=str(label),
            marker={"size": 11, "color": look.muted, "symbol": symbol, "line": {"width": width}},
        )
        for symbol, width, label in (
            ("circle", 0, text("labels of the model, ± 2 standard errors")),
            ("diamond-open", 3, text("labels of the data")),
        )
    ]
    line = {"color": look.ink, "width": 1.5, "dash": PREDICTED}
    name = str(text("F, the expectation"))
    return [*marks, go.Scatter(x=[None], y=[None], mode="lines", name=name, line=line)]


def _nothing(place: float, muted: str) -> dict[str, Any]:
    words = colored(text("0, whatever<br>the labels"), muted)
    return note(words, place, xref="x", yref="y", xanchor="center", align="center", yshift=4)
