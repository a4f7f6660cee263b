"""The Fisher information, Eq. 13 and their difference by pairs of neurons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.fisher.neuron_blocks import pooled
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

MAPS = ((0.0, 0.2), (0.225, 0.425), (0.45, 0.65))
BAR, CURVE = 0.655, (0.77, 1.0)
ROUNDING = 1e-9


class Distance(Protocol):
    """How far Eq. 13 is from F, for H neurons: of the whole, and of the weights alone."""

    @property
    def neurons(self) -> int: ...
    @property
    def whole(self) -> float: ...
    @property
    def weights(self) -> float: ...


def equation_13_figure(
    normalizer: Normalizer,
    unusual: str,
    exact: Array,
    paper: Array,
    gap: Array,
    *,
    here: Distance,
    widths: Sequence[Distance],
    about: str,
    which: str,
    theme: str,
) -> go.Figure:
    """Draw three maps on one scale, and the relative error against the width.

    Args:
        normalizer, unusual: the method. exact, paper, gap: norms of blocks, (H, H).
        here: the distance in these maps. widths: in layers of other widths; may be empty.
        about, which: of the model and its Fisher information. theme: of the figure.

    """
    look, figure = THEMES[theme], go.Figure()
    largest = max(float(each.max()) for each in (exact, paper)) or 1.0
    H = len(exact)
    for place, values in enumerate((exact, paper, gap), start=1):
        seen = pooled(values)
        at = (np.arange(len(seen)) + 0.5) * H / len(seen) - 0.5
        figure.add_heatmap(
            z=seen.astype(np.float32),
            x=at,
            y=at,
            zmin=0,
            zmax=largest,
            colorscale=[[0.0, look.paper], [1.0, look.ink]],
            showscale=place == 1,
            xaxis=f"x{place}",
            yaxis=f"y{place}",
            hovertemplate=text(
                "neurons {i} and {j}: {value}<extra></extra>",
                i="%{y:.0f}",
                j="%{x:.0f}",
                value="%{z:.3g}",
            ),
            colorbar={
                "x": BAR,
                "len": 1,
                "thickness": 10,
                "outlinewidth": 0,
                "nticks": 5,
                "tickfont": {"size": SIZE - 3, "color": look.muted},
            },
        )
    color = method_color(normalizer)
    for name, errors, width in (
        (text("of F<sub>WW</sub>"), [each.weights for each in widths], 3.0),
        (text("of F"), [each.whole for each in widths], 1.5),
    ):
        figure.add_scatter(
            x=[each.neurons for each in widths],
            y=errors,
            mode="lines+markers",
            name=name,
            line={"color": color, "width": width, "dash": MEASURED},
            xaxis="x4",
            yaxis="y4",
            hovertemplate=text(
                "H = {H}, {name}: {value}<extra></extra>", H="%{x}", name=name, value="%{y:.1%}"
            ),
        )
    dress(figure, theme, height=420)
    square = {
        "showgrid": False,
        "zeroline": False,
        "ticks": "",
        "showline": False,
        "constrain": "domain",
        "tickmode": "linear",
        "tick0": 0,
        "dtick": max(1, H // 8),
    }
    panels = {
        f"{axis}axis{n}": {**square, **own}
        for n, domain in enumerate(MAPS, start=1)
        for axis, own in (
            ("x", {"domain": domain, "anchor": f"y{n}", "title": text("neuron")}),
            (
                "y",
                {
                    "anchor": f"x{n}",
                    "autorange": "reversed",
                    "scaleanchor": f"x{n}",
                    "title": text("neuron") if n == 1 else "",
                },
            ),
        )
    }
    figure.update_layout(
        panels,
        xaxis4={
            "domain": CURVE,
            "anchor": "y4",
            "visible": bool(widths),
            "rangemode": "tozero",
            "title": text("neurons H"),
        },
        yaxis4={
            "anchor": "x4",
            "visible": bool(widths),
            "range": [0, 1],
            "tickformat": ".0%",
            "title": text("error of Eq. 13, ‖F₁₃ − F‖/‖F‖"),
        },
        margin={"l": 8, "r": 8, "t": 104, "b": 44},
        showlegend=bool(widths),
        legend={
            "x": 1,
            "xanchor": "right",
            "y": 0.99,
            "yanchor": "top",
            "orientation": "v",
            "bgcolor": "rgba(0,0,0,0)",
        },
        annotations=_heads(normalizer, unusual, here, widths, f"{about}; {which}", look.muted),
    )
    return figure


def _heads(
    normalizer: Normalizer,
    unusual: str,
    here: Distance,
    widths: Sequence[Distance],
    about: str,
    muted: str,
) -> list[dict[str, Any]]:
    agree = here.whole < ROUNDING
    first = (
        text("they agree: no statistic is shared by neurons")
        if agree and not normalizer.shared_by_neurons
        else text("F<sub>WW</sub> is 0, as no output changes with the weights, and so is Eq. 13's")
        if np.isnan(here.weights)
        else text(
            "Eq. 13 is off by {whole:.0%} of ‖F‖, and {weights:.0%} of ‖F<sub>WW</sub>‖",
            whole=here.whole,
            weights=here.weights,
        )
    )
    words = [
        above(f"{method_title(normalizer, unusual)}: {first}<br>{colored(about, muted)}", 0.0, 54)
    ]
    for (left, _), title, line in (
        (MAPS[0], text("exact"), text("‖F<sub>ij</sub>‖, all of J")),
        (MAPS[1], text("Eq. 13"), text("each neuron's own terms")),
        (
            MAPS[2],
            text("difference"),
            text("largest {value:.2g}", value=here.whole)
            if agree
            else text("what Eq. 13 leaves out"),
        ),
    ):
        words.append(above(f"<b>{title}</b><br>{colored(line, muted)}", left, 4))
    if widths:
        line = colored(text("other widths, random weights"), muted)
        words.append(above(f"<b>{text('against the width')}</b><br>{line}", CURVE[0], 4))
    return words
