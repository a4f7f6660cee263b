"""The spectrum of the exact Fisher information against that of Eq. 13."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.sheet import Band, Panel, Sheet
from normgeo.pictures.style.template import THEMES
from normgeo.pictures.style.values import values_axes, values_trace
from normgeo.pictures.symmetry.coupling import Coupling


def figure(result: Coupling, theme: str) -> go.Figure:
    """Draw the roots of the eigenvalues of F_WW, exact solid and by Eq. 13 dotted."""
    look, exact = THEMES[theme], result.exact.null
    top, lines = float(result.roots[0]), []
    for null, roots, name, color, claim in (
        (exact, result.roots, text("exact"), method_color(result.exact.normalizer, theme), False),
        (result.paper, result.paper_roots, text("Eq. 13"), look.ink, True),
    ):
        if null is not None and roots is not None:
            label = text("{name}: {k} null directions", name=name, k=null.dimension)
            lines.append(values_trace(roots, 1, label, color, top=top, null=False, claim=claim))
    both = [roots for roots in (result.roots, result.paper_roots) if roots is not None]
    lowest = np.minimum(both[0], both[-1])
    lowest[0] = max(float(values[0]) for values in both)
    title = text(
        "<b>{method}</b>: expected Fisher information F<sub>WW</sub> per case, "
        "N = {N:,}, φ = {phi}; {about}",
        method=result.exact.normalizer.title,
        N=exact.which.N,
        phi=number(exact.which.phi),
        about=result.exact.caption,
    )
    x, y = values_axes(
        lowest,
        count=text("eigenvalue, the largest first"),
        title=text("root of the eigenvalue √λ"),
    )
    return Sheet([Band([title])], rows=[[Panel(x, y, high=(282, 278))]]).on(lines, theme)
