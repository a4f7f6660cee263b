"""The eigenvalues of the Fisher information of two models, and how much the largest carry."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from normgeo.base.text import text
from normgeo.fisher.spectrum import Spectrum
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.style.template import (
    MEASURED,
    SIZE,
    THEMES,
    above,
    colored,
    dress,
    method_color,
    method_title,
)

LEFT, RIGHT = (0.0, 0.56), (0.63, 1.0)
ROUNDING = 1e-14  # of the largest eigenvalue: below it there is only rounding
MOST_OF = 0.9


def spectra_figure(
    methods: Sequence[tuple[Normalizer, str]],
    spectra: Sequence[Spectrum | None],
    *,
    about: str,
    which: str,
    theme: str,
) -> go.Figure:
    """Draw the eigenvalues, largest first, and the share of the trace that they add up to.

    Args:
        methods: one or two, with what is unusual about each. spectra: theirs; None where stopped.
        about, which: of the models and their Fisher information. theme: of the figure.

    """
    look, figure = THEMES[theme], go.Figure()
    top = max((float(s.values[0]) for s in spectra if s is not None), default=1.0) or 1.0
    low, count, told = top, 1, []
    for (normalizer, more), found in zip(methods, spectra, strict=True):
        title = method_title(normalizer, more)
        if found is None:
            told.append(text("{method}: stopped", method=title))
            continue
        index = np.arange(1, len(found.values) + 1)
        seen = found.values > ROUNDING * top
        low, count = min(low, *found.values[seen], top), max(count, len(index))
        shares = np.cumsum(found.values) / (found.trace or 1.0)
        line = {"color": method_color(normalizer), "width": 3, "dash": MEASURED}
        figure.add_scatter(
            x=index,
            y=np.where(seen, found.values, np.nan),
            mode="lines",
            line=line,
            name=f"{normalizer.title}{more}",
            hovertemplate=text(
                "{name}, number {i}: λ = {value}<extra></extra>",
                name=normalizer.title,
                i="%{x}",
                value="%{y:.3g}",
            ),
        )
        figure.add_scatter(
            x=index,
            y=shares,
            mode="lines",
            line=line,
            xaxis="x2",
            yaxis="y2",
            showlegend=False,
            name=normalizer.title,
            hovertemplate=text(
                "{name}: the first {i} carry {value}<extra></extra>",
                name=normalizer.title,
                i="%{x}",
                value="%{y:.1%}",
            ),
        )
        carry = int(np.searchsorted(shares, MOST_OF)) + 1
        words = text(
            "{method}: λ₁ = {first:.3g}, trace {trace:.4g}, {carry}",
            method=title,
            first=found.values[0],
            trace=found.trace,
            carry=text("{k} directions carry 90 %", k=carry)
            if carry <= len(index)
            else text("{k} carry {share:.0%}", k=len(index), share=shares[-1]),
        )
        hidden = int((~seen).sum())
        if hidden:
            words += text(", {k} are 0 up to rounding", k=hidden)
        told.append(words)
    dress(figure, theme, height=420)
    figure.update_layout(
        showlegend=False,
        margin={"l": 8, "r": 8, "t": 100, "b": 44},
        xaxis={
            "domain": LEFT,
            "title": text("number of the eigenvalue, largest first"),
            "range": [0, 1.01 * count + 1],
        },
        yaxis={
            "type": "log",
            "title": text("eigenvalue λ of F"),
            "exponentformat": "power",
            "range": [np.log10(low / 3), np.log10(top * 3)],
            "nticks": 8,
        },
        xaxis2={
            "domain": RIGHT,
            "anchor": "y2",
            "range": [0, 1.01 * count + 1],
            "title": text("number of eigenvalues taken"),
        },
        yaxis2={
            "anchor": "x2",
            "range": [0, 1.03],
            "tickformat": ".0%",
            "title": text("share of the trace"),
        },
        annotations=[
            above(colored(f"{about}; {which}", look.muted), 0.0, 62),
            above("<br>".join(told), 0.0, 8),
        ],
    )
    figure.add_shape(
        type="line",
        xref="x2 domain",
        x0=0,
        x1=1,
        yref="y2",
        y0=MOST_OF,
        y1=MOST_OF,
        line={"color": look.muted, "width": 1},
    )
    figure.add_annotation(
        text="90 %",
        xref="x2 domain",
        x=0.99,
        yref="y2",
        y=MOST_OF,
        xanchor="right",
        yanchor="top",
        showarrow=False,
        font={"color": look.muted, "size": SIZE - 2},
    )
    return figure
