"""How fast a recurrence forgets or explodes, against its spectral radius."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from normgeo.base.text import text
from normgeo.normalizers.normalizer import NORMALIZERS
from normgeo.pictures.style.template import MEASURED, PREDICTED, SIZE, THEMES, dress, method_color


def radii_figure(
    radii: Sequence[float], rates: Mapping[str, Sequence[float]], *, about: str, theme: str
) -> go.Figure:
    """Draw decades a step of ‖∂h^T/∂h⁰‖ for each method against the spectral radius.

    Args:
        radii: ρ. rates: by method, one for each radius; −∞ where the norm is 0.
        about: what runs. theme: of the figure.

    """
    look = THEMES[theme]
    figure = go.Figure()
    names = {"standard": text("without normalization"), "layer": text("with layer norm")}
    for key, values in rates.items():
        seen = np.array(values)
        figure.add_scatter(
            x=radii,
            y=np.where(np.isfinite(seen), seen, np.nan),
            name=names[key],
            mode="lines+markers",
            marker={"size": 9},
            line={"color": method_color(NORMALIZERS[key]), "width": 4, "dash": MEASURED},
            hovertemplate=text(
                "{name}, ρ = {radius}: {rate} decades a step<extra></extra>",
                name=names[key],
                radius="%{x}",
                rate="%{y:.3g}",
            ),
        )
    figure.add_scatter(
        x=radii,
        y=np.log10(radii),
        name=text("predicted for f(s) = s: log₁₀ ρ"),
        mode="lines",
        line={"color": look.ink, "width": 2, "dash": PREDICTED},
        hoverinfo="skip",
    )
    dress(figure, theme, height=400, title=about)
    figure.update_layout(
        margin={"l": 8, "r": 8, "t": 66, "b": 44}, legend={"font": {"size": SIZE - 1}}
    )
    figure.update_xaxes(title=text("spectral radius of W<sub>hh</sub>, ρ"))
    figure.update_yaxes(
        title=text("decades a step of ∂h<sup>T</sup>/∂h<sup>0</sup>"),
        zeroline=True,
        zerolinecolor=look.muted,
    )
    figure.add_annotation(
        text=text("above 0 it explodes, below 0 it dies"),
        x=1,
        y=0.03,
        xref="paper",
        yref="paper",
        xanchor="right",
        yanchor="bottom",
        font={"color": look.muted},
    )
    return figure
