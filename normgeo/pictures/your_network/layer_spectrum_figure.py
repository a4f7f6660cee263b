"""The eigenvalues of F of a layer, and apart from them its null directions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import plotly.graph_objects as go

from normgeo.base.text import text
from normgeo.pictures.fisher.spectra_figure import in_a_sentence, values_axes, values_line
from normgeo.pictures.style.annotations import note
from normgeo.pictures.style.colors import VERMILION, on_paper
from normgeo.pictures.style.sheet import Band, Panel, Sheet, across, told
from normgeo.pictures.style.template import CLAIM, SMALL, THEMES
from normgeo.pictures.your_network.layer_spectrum import NULL, UNDECIDED, LayerSpectrum


def figure(result: LayerSpectrum, theme: str) -> go.Figure:
    """Draw the eigenvalues, largest first, over the line of rounding with the null directions."""
    look, values = THEMES[theme], result.model.values
    x, y = values_axes(len(values), result.rounding, float(values[0]) or 1.0)
    about = text("F of W, outputs {family}; {which}", family=result.family, which=_which(result))
    line = note(
        text("rounding of float64: 10⁻¹⁴ of the largest"),
        0.01,
        np.log10(result.rounding),
        yref="y",
        yshift=4,
        font={"color": look.muted, "size": SMALL},
    )
    dotted = {"color": look.muted, "width": 2, "dash": CLAIM}
    sentences = [in_a_sentence(result.model, -np.inf, theme), f"<b>{result.of_null}</b>"]
    panel = Panel(x, y, notes=[line], shapes=[across(result.rounding, dotted)], high=(250, 240))
    return Sheet([Band(sentences), told(theme, about)], rows=[[panel]], legend=False).on(
        [values_line(result.model, result.rounding, theme), *_apart(result, theme)],
        theme,
    )


def _apart(result: LayerSpectrum, theme: str) -> Iterator[go.Scatter]:
    """The directions that have no eigenvalue to speak of, on the line of rounding."""
    for answer, title, color, symbol in (
        (NULL, text("null"), on_paper(VERMILION, theme), "x-thin"),
        (UNDECIDED, text("undecided"), THEMES[theme].muted, "circle-open"),
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


def _which(result: LayerSpectrum) -> str:
    return "" if result.model.spectrum is None else str(result.model.spectrum.which)
