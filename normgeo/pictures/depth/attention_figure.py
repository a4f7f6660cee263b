"""Logits of attention with and without QK-norm, as the weights of queries and keys grow."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import plotly.graph_objects as go

from normgeo.base.text import text
from normgeo.pictures.captions import method_name
from normgeo.pictures.depth.attention import Attention
from normgeo.pictures.style.annotations import subscripted
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.lines import rounded
from normgeo.pictures.style.sheet import Panel, Sheet, answer, marks
from normgeo.pictures.style.template import MEASURED, PREDICTED, log_ticks

TICKS = (0.125, 0.5, 2, 8, 32)


def figure(result: Attention, theme: str) -> go.Figure:
    """Draw the largest logit and the largest weight against the factor, and the table."""
    values = np.concatenate([at.largest for at in result.heads.values()])
    low, high = float(values.min()), float(values.max())
    across = {
        "type": "log",
        "tickvals": TICKS,
        "ticktext": ["⅛", "½", "2", "8", "32"],
        "range": np.log10(result.factors[[0, -1]] * [0.9, 1.1]),
        "title": subscripted(text("W_q and W_k times")),
    }
    logits = {
        "type": "log",
        "range": np.log10([low / 1.5, high * 1.5]),
        "tickvals": log_ticks(low, high),
    }
    heads = [
        (
            text("none") if at.normalizer.is_standard else text("norm"),
            method_color(at.normalizer, theme),
        )
        for at in result.heads.values()
    ]
    rows = [(subscripted(words), signs) for words, signs in result.rows]
    return Sheet(
        [answer(*map(subscripted, result.answers))],
        rows=[
            [
                Panel(across, logits, [text("<b>largest |logit|</b>")]),
                Panel(
                    across,
                    {"range": [0, 1.03], "tickformat": ".0%"},
                    [text("<b>largest weight, mean</b>")],
                ),
                marks(theme, text("What the logits ignore"), heads, rows, share=1.5),
            ]
        ],
    ).on([line for key in result.heads for line in _lines(result, key, theme)], theme)


def _name(result: Attention, key: str) -> str:
    normalizer = result.heads[key].normalizer
    name = method_name(normalizer)
    return name if normalizer.is_standard else text("{name} of q and k", name=name)


def _lines(result: Attention, key: str, theme: str) -> Iterator[go.Scatter]:
    at, name = result.heads[key], _name(result, key)
    color = method_color(at.normalizer, theme)
    for axis, values in (("", at.largest), ("2", at.sharpest)):
        yield go.Scatter(
            x=result.factors,
            y=rounded(values),
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
