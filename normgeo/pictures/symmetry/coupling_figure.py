"""The spectrum of the exact Fisher information against that of Eq. 13."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from normgeo.base.text import text
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.style.template import SIZE, THEMES, dress, method_color
from normgeo.pictures.style.values import values_axes, values_trace
from normgeo.symmetry.null_space import NullSpace


def coupling_figure(
    exact: NullSpace,
    paper: NullSpace | None,
    *,
    method: str,
    words: tuple[str, str],
    about: str,
    theme: str,
) -> go.Figure:
    """Draw the roots of the eigenvalues of F_WW, exact solid and by Eq. 13 dotted.

    Args:
        exact, paper: the null spaces; no paper where the computation was stopped before.
        method, words: title and words of the normalizer. about: the model. theme: of the figure.

    """
    look, color = THEMES[theme], method_color(Normalizer(*words))
    top = float(exact.singular_values[0])
    figure = go.Figure()
    for null, name, hue, claim in (
        (exact, text("exact"), color, False),
        (paper, text("Eq. 13"), look.ink, True),
    ):
        if null is not None:
            label = text("{name}: {k} null directions", name=name, k=null.dimension)
            figure.add_trace(
                values_trace(null.singular_values, 1, label, hue, top=top, null=False, claim=claim)
            )
    dress(figure, theme, height=400)
    both = [null.singular_values for null in (exact, paper) if null is not None]
    lowest = np.minimum(both[0], both[-1])
    lowest[0] = max(float(values[0]) for values in both)
    figure.update_layout(
        values_axes(lowest, domain=(0, 1), count=text("number of the eigenvalue, largest first")),
        margin={"l": 8, "r": 8, "t": 66, "b": 44},
        legend={"font": {"size": SIZE - 1}},
        title_text=text(
            "<b>{method}</b>: expected Fisher information F<sub>WW</sub> per case, "
            "N = {N:,}, φ = {phi:g}; {about}",
            method=method,
            N=exact.which.N,
            phi=exact.which.phi,
            about=about,
        ),
    )
    return figure
