"""How fast a recurrence forgets or explodes, against its spectral radius."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from normgeo.base.text import text
from normgeo.pictures.recurrent.recurrence import Recurrences
from normgeo.pictures.style.annotations import note
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.template import MEASURED, PREDICTED, SIZE, THEMES, dress


def figure(result: Recurrences, theme: str) -> go.Figure:
    """Draw decades a step of ‖∂h^T/∂h⁰‖ for each method against the spectral radius."""
    look, radii = THEMES[theme], list(result.curves)
    drawn = go.Figure()
    for key, name in result.names.items():
        rates = np.array([curves[key].rate for curves in result.curves.values()])
        drawn.add_scatter(
            x=radii,
            y=np.where(np.isfinite(rates), rates, np.nan),
            name=name,
            mode="lines+markers",
            marker={"size": 9},
            line={"color": method_color(result.methods[key]), "width": 4, "dash": MEASURED},
            hovertemplate=text(
                "{name}, ρ = {radius}: {rate} decades a step<extra></extra>",
                name=name,
                radius="%{x}",
                rate="%{y:.3g}",
            ),
        )
    drawn.add_scatter(
        x=radii,
        y=np.log10(radii),
        name=text("f(s) = s without norm, for large T: log₁₀ ρ"),
        mode="lines",
        line={"color": look.ink, "width": 2, "dash": PREDICTED},
        hoverinfo="skip",
    )
    dress(drawn, theme, height=400, title=result.about)
    drawn.update_layout(
        margin={"l": 8, "r": 8, "t": 66, "b": 44}, legend={"font": {"size": SIZE - 1}}
    )
    drawn.update_xaxes(title=text("spectral radius of W<sub>hh</sub>, ρ"))
    drawn.update_yaxes(
        title=text("decades a step of ∂h<sup>T</sup>/∂h<sup>0</sup>"),
        zeroline=True,
        zerolinecolor=look.muted,
    )
    words = text("above 0 it explodes, below 0 it dies")
    drawn.add_annotation(note(words, 1, 0.03, xanchor="right", font={"color": look.muted}))
    return drawn
