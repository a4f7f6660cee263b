"""The Fisher information, Eq. 13 and their difference by pairs of neurons."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.fisher.neuron_blocks import pooled
from normgeo.pictures.captions import variant
from normgeo.pictures.fisher.equation_13 import Equation13
from normgeo.pictures.style.annotations import colored, method_title
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.sheet import Band, Panel, Sheet, on_panel, told
from normgeo.pictures.style.template import (
    LARGE,
    MEASURED,
    SIZE,
    SMALL,
    THEMES,
    Theme,
)


def figure(result: Equation13, theme: str) -> go.Figure:
    """Draw three maps on one scale, and the relative error against the width."""
    look, muted = THEMES[theme], THEMES[theme].muted
    largest = max(float(each.max()) for each in (result.exact, result.paper)) or 1.0
    maps = [
        _map(values, panel)
        for panel, values in enumerate((result.exact, result.paper, result.gap), start=1)
    ]
    title = method_title(result.normalizer, theme, variant(result.normalizer))
    large = result.here.agree or not np.isnan(result.here.weights)
    about = told(theme, f"{result.caption}; {result.which}")
    verdict = Band([f"<b>{_distance(result)}</b>"], LARGE - 4 if large else SIZE)
    panels = [*_maps(result, muted), *([_curve(result, muted)] if result.widths else [])]
    drawn = Sheet([verdict, Band([title])], rows=[panels], foot=[about]).on(
        [*maps, *_errors(result, theme)], theme
    )
    return drawn.update_layout(coloraxis=_scale(largest, look))


def _errors(result: Equation13, theme: str) -> Iterator[go.Scatter]:
    for name, errors, width in (
        (text("error of F<sub>WW</sub>"), [each.weights for each in result.widths], 3.0),
        (text("error of F"), [each.whole for each in result.widths], 1.5),
    ):
        if errors:
            color = method_color(result.normalizer, theme)
            yield go.Scatter(
                x=[each.neurons for each in result.widths],
                y=errors,
                mode="lines+markers",
                name=name,
                line={"color": color, "width": width, "dash": MEASURED},
                xaxis="x4",
                yaxis="y4",
                hovertemplate=text(
                    "H = {H}, {name}: {value}<extra></extra>",
                    H="%{x}",
                    name=name,
                    value="%{y:.1%}",
                ),
            )


def _map(values: Array, panel: int) -> go.Heatmap:
    seen = pooled(values)
    at = (np.arange(len(seen)) + 0.5) * len(values) / len(seen) - 0.5
    return go.Heatmap(
        z=seen.astype(np.float32),
        x=at,
        y=at,
        coloraxis="coloraxis",
        **on_panel(panel),
        hovertemplate=text(
            "neurons {i} and {j}: {value}<extra></extra>",
            i="%{y:.0f}",
            j="%{x:.0f}",
            value="%{z:.3g}",
        ),
    )


def _scale(largest: float, look: Theme) -> dict[str, Any]:
    """Return the colors that all maps share, and their bar."""
    return {
        "cmin": 0,
        "cmax": largest,
        "colorscale": [[0.0, look.paper], [1.0, look.ink]],
        "colorbar": {
            "thickness": 10,
            "outlinewidth": 0,
            "nticks": 5,
            "tickfont": {"size": SMALL, "color": look.muted},
        },
    }


def _maps(result: Equation13, muted: str) -> Iterator[Panel]:
    square = {
        "showgrid": False,
        "zeroline": False,
        "ticks": "",
        "showline": False,
        "constrain": "domain",
        "range": [-0.5, len(result.exact) - 0.5],
        "tickmode": "linear",
        "tick0": 0,
        "dtick": max(1, len(result.exact) // 8),
    }
    left_out = (
        text("largest {value}", value=number(result.here.whole, 2))
        if result.here.agree
        else text("what Eq. 13 leaves out")
    )
    for n, name, line in (
        (1, text("exact"), text("‖F<sub>ij</sub>‖, all of J")),
        (2, text("Eq. 13"), text("each neuron's own terms")),
        (3, text("difference"), left_out),
    ):
        down = {
            "constraintoward": "top",
            "range": [len(result.exact) - 0.5, -0.5],
            "scaleanchor": f"x{n}",
            "title": text("neuron") if n == 1 else "",
        }
        yield Panel(
            {**square, "constraintoward": "left", "title": text("neuron")},
            square | down,
            [f"<b>{name}</b>", colored(line, muted)],
            high=(252, 240),
            bars=["coloraxis"] if n == 3 else (),
        )


def _curve(result: Equation13, muted: str) -> Panel:
    return Panel(
        {"rangemode": "tozero", "title": text("neurons H")},
        {"range": [0, 1], "tickformat": ".0%", "title": text("error of Eq. 13, ‖F₁₃ − F‖/‖F‖")},
        [
            text("<b>against the width</b>"),
            colored(text("other widths, random weights"), muted),
        ],
        high=(252, 240),
        share=1.15,
    )


def _distance(result: Equation13) -> str:
    """Say how far the two matrices are apart."""
    if result.here.agree and not result.normalizer.shared_by_neurons:
        return text("they agree: no statistic is shared by neurons")
    if np.isnan(result.here.weights):
        return text(
            "F<sub>WW</sub> is 0, as no output changes with the weights, and so is Eq. 13's"
        )
    return text(
        "Eq. 13 is off by {whole:.0%} of ‖F‖, and {weights:.0%} of ‖F<sub>WW</sub>‖",
        whole=result.here.whole,
        weights=result.here.weights,
    )
