"""The Fisher information, Eq. 13 and their difference by pairs of neurons."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.fisher.neuron_blocks import pooled
from normgeo.pictures.captions import variant
from normgeo.pictures.fisher.equation_13 import Equation13
from normgeo.pictures.style.annotations import colored, method_title, note
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.template import MEASURED, SIZE, THEMES, dress

MAPS = ((0.0, 0.2), (0.225, 0.425), (0.45, 0.65))
BAR, CURVE = 0.655, (0.77, 1.0)


def figure(result: Equation13, theme: str) -> go.Figure:
    """Draw three maps on one scale, and the relative error against the width."""
    look, drawn = THEMES[theme], go.Figure()
    largest = max(float(each.max()) for each in (result.exact, result.paper)) or 1.0
    for panel, values in enumerate((result.exact, result.paper, result.gap), start=1):
        drawn.add_trace(_map(values, panel, largest, theme))
    color = method_color(result.normalizer)
    for name, errors, width in (
        (text("of F<sub>WW</sub>"), [each.weights for each in result.widths], 3.0),
        (text("of F"), [each.whole for each in result.widths], 1.5),
    ):
        drawn.add_scatter(
            x=[each.neurons for each in result.widths],
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
    dress(drawn, theme, height=420)
    drawn.update_layout(
        _axes(result),
        margin={"l": 8, "r": 8, "t": 104, "b": 44},
        showlegend=bool(result.widths),
        legend={
            "x": 1,
            "xanchor": "right",
            "y": 0.99,
            "yanchor": "top",
            "orientation": "v",
            "bgcolor": "rgba(0,0,0,0)",
        },
        annotations=_heads(result, look.muted),
    )
    return drawn


def _map(values: Array, panel: int, largest: float, theme: str) -> go.Heatmap:
    look, seen = THEMES[theme], pooled(values)
    at = (np.arange(len(seen)) + 0.5) * len(values) / len(seen) - 0.5
    return go.Heatmap(
        z=seen.astype(np.float32),
        x=at,
        y=at,
        zmin=0,
        zmax=largest,
        colorscale=[[0.0, look.paper], [1.0, look.ink]],
        showscale=panel == 1,
        xaxis=f"x{panel}",
        yaxis=f"y{panel}",
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


def _axes(result: Equation13) -> dict[str, dict[str, Any]]:
    square = {
        "showgrid": False,
        "zeroline": False,
        "ticks": "",
        "showline": False,
        "constrain": "domain",
        "tickmode": "linear",
        "tick0": 0,
        "dtick": max(1, len(result.exact) // 8),
    }
    axes: dict[str, dict[str, Any]] = {}
    for n, domain in enumerate(MAPS, start=1):
        axes[f"xaxis{n}"] = {
            **square,
            "domain": domain,
            "anchor": f"y{n}",
            "title": text("neuron"),
        }
        axes[f"yaxis{n}"] = {
            **square,
            "anchor": f"x{n}",
            "autorange": "reversed",
            "scaleanchor": f"x{n}",
            "title": text("neuron") if n == 1 else "",
        }
    axes["xaxis4"] = {
        "domain": CURVE,
        "anchor": "y4",
        "visible": bool(result.widths),
        "rangemode": "tozero",
        "title": text("neurons H"),
    }
    axes["yaxis4"] = {
        "anchor": "x4",
        "visible": bool(result.widths),
        "range": [0, 1],
        "tickformat": ".0%",
        "title": text("error of Eq. 13, ‖F₁₃ − F‖/‖F‖"),
    }
    return axes


def _heads(result: Equation13, muted: str) -> list[dict[str, Any]]:
    title = method_title(result.normalizer, variant(result.normalizer))
    about = colored(f"{result.caption}; {result.which}", muted)
    left_out = (
        text("largest {value}", value=number(result.here.whole, 2))
        if result.here.agree
        else text("what Eq. 13 leaves out")
    )
    heads = [note([f"{title}: {_distance(result)}", about], yshift=54)]
    for (left, _), name, line in (
        (MAPS[0], text("exact"), text("‖F<sub>ij</sub>‖, all of J")),
        (MAPS[1], text("Eq. 13"), text("each neuron's own terms")),
        (MAPS[2], text("difference"), left_out),
    ):
        heads.append(note([f"<b>{name}</b>", colored(line, muted)], left, yshift=4))
    if result.widths:
        line = colored(text("other widths, random weights"), muted)
        heads.append(note([f"<b>{text('against the width')}</b>", line], CURVE[0], yshift=4))
    return heads


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
