"""Logits of attention with and without QK-norm, as the weights of queries and keys grow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.text import text
from normgeo.pictures.depth.attention import Attention
from normgeo.pictures.depth.marks_figure import LINE, height, marks
from normgeo.pictures.style.annotations import note, subscripted, wrapped
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.panels import head
from normgeo.pictures.style.template import LARGE, MEASURED, PREDICTED, SIZE, dress, log_ticks

WIDE, NARROW = 490, 1010  # heights: panels beside each other, and one beneath the other
ABOVE, BELOW, LEFT = 8, 56, 60  # margins
COLUMNS = ((0.0, 0.25), (0.325, 0.575))
TABLE, MARKS = 0.625, (0.9, 0.97)  # where the words of a change begin, and the middle of its marks
NARROW_MARKS = 0.8, 0.93
TICKS = (0.125, 0.5, 2, 8, 32)


def figure(result: Attention, theme: str) -> go.Figure:
    """Draw the largest logit and the largest weight against the factor, and the table."""
    drawn = go.Figure([line for key in result.heads for line in _lines(result, key)])
    dress(drawn, theme, height=WIDE)
    drawn.update_layout(
        _placed(result, theme, narrow=False),
        margin={"l": LEFT, "t": ABOVE, "b": BELOW},
        meta={
            "narrow": _placed(result, theme, narrow=True)
            | {"height": NARROW, "margin": {"l": 52, "t": ABOVE, "b": BELOW}}
        },
    )
    values = np.concatenate([at.largest for at in result.heads.values()])
    low, high = float(values.min()), float(values.max())
    across = {
        "type": "log",
        "tickvals": TICKS,
        "ticktext": ["⅛", "½", "2", "8", "32"],
        "range": np.log10(result.factors[[0, -1]] * [0.9, 1.1]),
        "title": subscripted(text("W_q and W_k times")),
    }
    drawn.update_layout(
        xaxis={**across, "anchor": "y"},
        xaxis2={**across, "anchor": "x2"} | {"anchor": "y2"},
        yaxis={
            "type": "log",
            "anchor": "x",
            "range": np.log10([low / 1.5, high * 1.5]),
            "tickvals": log_ticks(low, high),
        },
        yaxis2={"anchor": "x2", "range": [0, 1.03], "tickformat": ".0%"},
    )
    return drawn


def _name(result: Attention, key: str) -> str:
    normalizer = result.heads[key].normalizer
    if normalizer.is_standard:
        return text("no norm")
    return text("{name} of q and k", name=normalizer.title)


def _lines(result: Attention, key: str) -> Iterator[go.Scatter]:
    at, name = result.heads[key], _name(result, key)
    color = method_color(at.normalizer)
    for axis, values in (("", at.largest), ("2", at.sharpest)):
        yield go.Scatter(
            x=result.factors,
            y=[float(f"{value:.5g}") for value in values],
            name=name,
            mode="lines+markers",
            line={"color": color, "width": 3, "dash": MEASURED},
            marker={"size": 6},
            showlegend=not axis,
            xaxis=f"x{axis}",
            yaxis=f"y{axis}",
            hovertemplate=text(
                "{name}, × {factor}: {value}<extra></extra>",
                name=name,
                factor="%{x:.3g}",
                value="%{y:.4g}",
            ),
        )
    if at.bound is not None:
        yield go.Scatter(
            x=result.factors[[0, -1]],
            y=[at.bound] * 2,
            name=text("its bound, {bound:.3g}", bound=at.bound),
            mode="lines",
            line={"color": color, "width": 2, "dash": PREDICTED},
            hoverinfo="skip",
        )


def _placed(result: Attention, theme: str, *, narrow: bool) -> dict[str, Any]:
    """Where everything is: words above the panels, which stand in a row or in a column."""
    room = (NARROW if narrow else WIDE) - ABOVE - BELOW
    size, across = (20, 28) if narrow else (LARGE, 80)
    answers = [line for words in result.answers for line in wrapped(words, across)]
    words = LINE * size * len(answers) + 6
    top = 1 - (words + (100 if narrow else 26) + 26) / room
    rows, table = [(0.0, top)] * 2, height(result.rows) / room
    if narrow:
        each, gap = (top - table - 0.16) / 2, 84 / room
        rows = [(top - each, top), (top - 2 * each - gap, top - each - gap)]
    axes: dict[str, Any] = {}
    for axis, column, row in zip(("", "2"), COLUMNS, rows, strict=True):
        axes[f"xaxis{axis}"] = {"domain": [0, 1] if narrow else column}
        axes[f"yaxis{axis}"] = {"domain": [max(0.0, end) for end in row]}
    heads = text("largest |logit|"), text("largest weight, mean")
    return axes | {
        "legend": {
            "x": 0,
            "xanchor": "left",
            "y": 1 - words / room,
            "yanchor": "top",
            "orientation": "v" if narrow else "h",
            "font": {"size": SIZE},
        },
        "annotations": [
            note(
                [f"<b>{subscripted(line)}</b>" for line in answers],
                0,
                1,
                yanchor="top",
                font={"size": size},
            ),
            *(head(panel, [f"<b>{title}</b>"]) for panel, title in enumerate(heads, start=1)),
            *marks(
                text("What the logits ignore"),
                [(subscripted(words), signs) for words, signs in result.rows],
                [
                    (
                        text("none") if at.normalizer.is_standard else text("norm"),
                        method_color(at.normalizer),
                    )
                    for at in result.heads.values()
                ],
                0.0 if narrow else TABLE,
                (NARROW_MARKS if narrow else MARKS)[: len(result.heads)],
                table if narrow else top + 26 / room,
                theme,
            ),
        ],
    }
