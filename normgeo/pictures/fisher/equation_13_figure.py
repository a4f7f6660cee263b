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
from normgeo.pictures.style.annotations import colored, method_title, note, wrapped
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.panels import NARROW, head, lines_of, stacked
from normgeo.pictures.style.template import LARGE, MEASURED, SIZE, SMALL, THEMES, Theme, dress

MAPS = ((0.0, 0.2), (0.225, 0.425), (0.45, 0.65))
BAR, CURVE = 0.655, (0.77, 1.0)
TOP, NARROW_TOP = 136, 276


def figure(result: Equation13, theme: str) -> go.Figure:
    """Draw three maps on one scale, and the relative error against the width."""
    look, drawn = THEMES[theme], go.Figure()
    largest = max(float(each.max()) for each in (result.exact, result.paper)) or 1.0
    for panel, values in enumerate((result.exact, result.paper, result.gap), start=1):
        drawn.add_trace(_map(values, panel))
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
    dress(drawn, theme, height=440)
    drawn.update_layout(
        _axes(result),
        coloraxis=_scale(largest, look),
        margin={"l": 40, "t": TOP},
        showlegend=bool(result.widths),
        legend={
            "x": 1,
            "xanchor": "right",
            "y": 0.99,
            "yanchor": "top",
            "orientation": "v",
            "bgcolor": "rgba(0,0,0,0)",
        },
        annotations=_heads(result, look.muted, narrow=False),
        meta={"narrow": _narrow(result, look.muted)},
    )
    return drawn


def _map(values: Array, panel: int) -> go.Heatmap:
    seen = pooled(values)
    at = (np.arange(len(seen)) + 0.5) * len(values) / len(seen) - 0.5
    return go.Heatmap(
        z=seen.astype(np.float32),
        x=at,
        y=at,
        coloraxis="coloraxis",
        xaxis=f"x{panel}",
        yaxis=f"y{panel}",
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
            "x": BAR,
            "len": 1,
            "thickness": 10,
            "outlinewidth": 0,
            "nticks": 5,
            "tickfont": {"size": SMALL, "color": look.muted},
        },
    }


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
            "constraintoward": "left",
            "domain": domain,
            "anchor": f"y{n}",
            "title": text("neuron"),
        }
        axes[f"yaxis{n}"] = {
            **square,
            "constraintoward": "top",
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


def _narrow(result: Equation13, muted: str) -> dict[str, Any]:
    """Return the layout on a phone: panels below each other, without a bar."""
    panels = [[n] for n in range(1, 5 if result.widths else 4)]
    layout = stacked(panels, each=240, between=124, top=NARROW_TOP)
    if not result.widths:
        layout |= {"xaxis4": {"domain": [0, 1]}, "yaxis4": {"domain": [0, 0.1]}}
    return {
        **layout,
        "coloraxis": {"showscale": False},
        "legend": {"y": 0.2 if result.widths else 0.99},
        "annotations": _heads(result, muted, narrow=True),
    }


def _heads(result: Equation13, muted: str, *, narrow: bool) -> list[dict[str, Any]]:
    title = method_title(result.normalizer, variant(result.normalizer))
    about = [
        colored(line, muted, SMALL)
        for line in lines_of((f"{result.caption}; {result.which}",), narrow)
    ]
    verdict = wrapped(_distance(result), NARROW - 8) if narrow else [_distance(result)]
    size = LARGE if result.here.agree or not np.isnan(result.here.weights) else SIZE
    verdict = [_sized(line, SIZE if narrow else size - 4) for line in verdict]
    left_out = (
        text("largest {value}", value=number(result.here.whole, 2))
        if result.here.agree
        else text("what Eq. 13 leaves out")
    )
    top = NARROW_TOP if narrow else TOP
    heads = [note([*about, title, *verdict], yanchor="top", yshift=top - 2)]
    for n, name, line in (
        (1, text("exact"), text("‖F<sub>ij</sub>‖, all of J")),
        (2, text("Eq. 13"), text("each neuron's own terms")),
        (3, text("difference"), left_out),
    ):
        heads.append(head(n, [f"<b>{name}</b>", colored(line, muted)]))
    if result.widths:
        line = colored(text("other widths, random weights"), muted)
        heads.append(head(4, [f"<b>{text('against the width')}</b>", line]))
    return heads


def _sized(words: str, size: int) -> str:
    return f'<b><span style="font-size:{size}px">{words}</span></b>'


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
