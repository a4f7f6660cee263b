"""The eigenvalues of the Fisher information of two models, and how much the largest carry."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.pictures.captions import variant
from normgeo.pictures.fisher.spectra import MOST_OF, ModelSpectrum, Spectra
from normgeo.pictures.style.annotations import method_title, note
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.sheet import Panel, Sheet, across, told
from normgeo.pictures.style.template import MEASURED, SMALL, THEMES


def figure(result: Spectra, theme: str) -> go.Figure:
    """Draw the eigenvalues, largest first, and the share of the trace that they add up to."""
    muted = THEMES[theme].muted
    values = np.concatenate([np.array([result.largest]), *(each.values for each in result.models)])
    low = float(values[values > result.rounding].min())
    count = max(1, *(len(each.values) for each in result.models))
    x, y = values_axes(count, low, result.largest)
    ninety = note(
        f"{MOST_OF:.0%}",
        0.99,
        MOST_OF,
        yref="y",
        xanchor="right",
        yanchor="top",
        font={"color": muted, "size": SMALL},
    )
    return Sheet(
        [],
        foot=[told(theme, result.caption, str(result.which))],
        rows=[
            [
                Panel(
                    x,
                    y,
                    [in_a_sentence(each, result.rounding, theme) for each in result.models],
                    high=(268, 260),
                    share=1.5,
                ),
                Panel(
                    {"range": x["range"], "title": text("number of eigenvalues taken")},
                    {"range": [0, 1.03], "tickformat": ".0%", "title": text("share of the trace")},
                    notes=[ninety],
                    shapes=[across(MOST_OF, {"color": muted, "width": 1})],
                    high=(268, 260),
                ),
            ]
        ],
        legend=False,
    ).on(
        [
            line
            for each in result.models
            if each.spectrum is not None
            for line in _lines(each, result.rounding, theme)
        ],
        theme,
    )


def _lines(model: ModelSpectrum, rounding: float, theme: str) -> tuple[go.Scatter, go.Scatter]:
    """Return the eigenvalues that are no rounding, and the shares of the trace."""
    title = model.normalizer.title
    shares = go.Scatter(
        x=np.arange(1, len(model.values) + 1),
        y=model.shares,
        mode="lines",
        line=_line(model, theme),
        xaxis="x2",
        yaxis="y2",
        showlegend=False,
        name=title,
        hovertemplate=text(
            "{name}: the first {i} carry {value}<extra></extra>",
            name=title,
            i="%{x}",
            value="%{y:.1%}",
        ),
    )
    return values_line(model, rounding, theme), shares


def values_line(model: ModelSpectrum, rounding: float, theme: str) -> go.Scatter:
    """Return the eigenvalues that are no rounding, largest first."""
    title = model.normalizer.title
    return go.Scatter(
        x=np.arange(1, len(model.values) + 1),
        y=np.where(model.values > rounding, model.values, np.nan),
        mode="lines",
        line=_line(model, theme),
        name=f"{title}{variant(model.normalizer)}",
        hovertemplate=text(
            "{name}, number {i}: λ = {value}<extra></extra>",
            name=title,
            i="%{x}",
            value="%{y:.3g}",
        ),
    )


def _line(model: ModelSpectrum, theme: str) -> dict[str, Any]:
    return {"color": method_color(model.normalizer, theme), "width": 3, "dash": MEASURED}


def values_axes(count: int, low: float, high: float) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the axes of this many eigenvalues from `low` to `high`."""
    x = {"title": text("eigenvalue, the largest first"), "range": [0, 1.01 * count + 1]}
    y = {
        "type": "log",
        "title": text("eigenvalue λ of F"),
        "exponentformat": "power",
        "range": [np.log10(low / 3), np.log10(high * 3)],
        "nticks": 8,
    }
    return x, y


def in_a_sentence(model: ModelSpectrum, rounding: float, theme: str) -> str:
    """Say what the spectrum of a model is."""
    title = method_title(model.normalizer, theme, variant(model.normalizer))
    if model.spectrum is None:
        return text("{method}: stopped", method=title)
    carry = (
        text("{k} carry {share:.0%}", k=len(model.values), share=model.shares[-1])
        if model.carriers is None
        else text("{k} directions carry {share:.0%}", k=model.carriers, share=MOST_OF)
    )
    hidden = int((model.values <= rounding).sum())
    return text(
        "{method}: λ₁ = {first}, trace {trace}, {carry}{zero}",
        method=title,
        first=number(model.values[0]),
        trace=number(model.spectrum.trace, 4),
        carry=carry,
        zero=text(", {k} are 0 up to rounding", k=hidden) if hidden else "",
    )
