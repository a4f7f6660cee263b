"""The eigenvalues of F of a layer, and apart from them its null directions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.text import text
from normgeo.pictures.fisher.spectra_figure import in_a_sentence, values_axes, values_line
from normgeo.pictures.style.annotations import colored, note, wrapped
from normgeo.pictures.style.colors import VERMILION
from normgeo.pictures.style.template import LEFT_MARGIN, SMALL, THEMES, dress
from normgeo.pictures.your_network.layer_spectrum import NULL, UNDECIDED, LayerSpectrum

TOP, NARROW_TOP = 92, 190


def figure(result: LayerSpectrum, theme: str) -> go.Figure:
    """Draw the eigenvalues, largest first, over the line of rounding with the null directions."""
    look = THEMES[theme]
    drawn = go.Figure([values_line(result.model, result.rounding), *_apart(result, look.muted)])
    dress(drawn, theme, height=400)
    values = result.model.values
    high = float(values[0]) or 1.0
    axes = values_axes(len(values), result.rounding, high)
    drawn.update_layout(
        axes,
        showlegend=False,
        margin={"t": TOP},
        annotations=_words(result, look.muted, narrow=False),
        shapes=[
            {
                "type": "line",
                "xref": "x domain",
                "x0": 0,
                "x1": 1,
                "yref": "y",
                "y0": result.rounding,
                "y1": result.rounding,
                "line": {"color": look.muted, "width": 2, "dash": "dot"},
            }
        ],
        meta={
            "narrow": {
                "height": 480,
                "margin": {"t": NARROW_TOP, "l": LEFT_MARGIN},
                "annotations": _words(result, look.muted, narrow=True),
            }
        },
    )
    return drawn


def _apart(result: LayerSpectrum, muted: str) -> Iterator[go.Scatter]:
    """The directions that have no eigenvalue to speak of, on the line of rounding."""
    for answer, title, color, symbol in (
        (NULL, text("null"), VERMILION, "x-thin"),
        (UNDECIDED, text("undecided"), muted, "circle-open"),
    ):
        at = [i for i, one in enumerate(result.answers, start=1) if one == answer]
        if at:
            yield go.Scatter(
                x=at,
                y=np.full(len(at), result.rounding),
                mode="markers",
                marker={
                    "color": color,
                    "size": 9,
                    "symbol": symbol,
                    "line": {"width": 1.5, "color": color},
                },
                cliponaxis=False,
                name=title,
                hovertemplate=text("number {i}: {answer}<extra></extra>", i="%{x}", answer=title),
            )


def _words(result: LayerSpectrum, muted: str, *, narrow: bool) -> list[dict[str, Any]]:
    width, top = (40, NARROW_TOP) if narrow else (140, TOP)
    about = text("F of W, outputs {family}; {which}", family=result.family, which=_which(result))
    lines = [
        *wrapped(in_a_sentence(result.model, -np.inf), width),
        *(f"<b>{line}</b>" for line in wrapped(result.of_null, width)),
        *(colored(line, muted, SMALL) for line in wrapped(about, width)),
    ]
    line = note(
        text("rounding of float64: 10⁻¹⁴ of the largest"),
        0.01,
        np.log10(result.rounding),
        xref="x domain",
        yref="y",
        yshift=4,
        font={"color": muted, "size": SMALL},
    )
    return [note(lines, yanchor="top", yshift=top - 2), line]


def _which(result: LayerSpectrum) -> str:
    return "" if result.model.spectrum is None else str(result.model.spectrum.which)
