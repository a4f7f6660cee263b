"""The spectrum of the exact Fisher information against that of Eq. 13."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.pictures.style.annotations import note, wrapped
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.panels import NARROW
from normgeo.pictures.style.template import SMALL, THEMES, dress
from normgeo.pictures.style.values import values_axes, values_trace
from normgeo.pictures.symmetry.coupling import Coupling

LINE = 22  # pixels of a line of words above the panel


def figure(result: Coupling, theme: str) -> go.Figure:
    """Draw the roots of the eigenvalues of F_WW, exact solid and by Eq. 13 dotted."""
    look, exact, drawn = THEMES[theme], result.exact.null, go.Figure()
    top = float(result.roots[0])
    for null, roots, name, color, claim in (
        (exact, result.roots, text("exact"), method_color(result.exact.normalizer), False),
        (result.paper, result.paper_roots, text("Eq. 13"), look.ink, True),
    ):
        if null is not None and roots is not None:
            label = text("{name}: {k} null directions", name=name, k=null.dimension)
            drawn.add_trace(values_trace(roots, 1, label, color, top=top, null=False, claim=claim))
    dress(drawn, theme, height=400)
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
    drawn.update_layout(
        values_axes(
            lowest,
            domain=(0, 1),
            count=text("eigenvalue, the largest first"),
            title=text("root of the eigenvalue √λ"),
        ),
        margin={"t": 66},
        legend={"font": {"size": SMALL}},
        title_text=str(title),
        meta={"narrow": _narrow(wrapped(title, NARROW), len(drawn.data))},
    )
    return drawn


def _narrow(title: list[str], entries: int) -> dict[str, Any]:
    """Return the layout of a narrow figure: the words above in lines, then the names of lines."""
    names = LINE * entries + 12
    top = names + LINE * len(title) + 8
    return {
        "height": top + 330,
        "margin": {"t": top},
        "title": {"text": ""},
        "legend": {"orientation": "v"},
        "annotations": [note(title, yshift=names)],
    }
