"""The Fisher information by pairs of neurons, and one of its blocks, of two models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.numbers import power
from normgeo.base.text import text
from normgeo.fisher.neuron_blocks import ENTRIES
from normgeo.pictures.captions import variant
from normgeo.pictures.fisher.blocks import FisherBlocks, ModelBlocks
from normgeo.pictures.style.annotations import colored, method_title, note
from normgeo.pictures.style.template import SIZE, THEMES, dress, ink_scale

OVERVIEW, DETAIL = (0.0, 0.425), (0.53, 0.955)
BARS = (0.432, 0.962)
BETWEEN = 0.025
DECADES = 8.0  # of a logarithmic scale

BUTTONS = {
    "raw": text("F"),
    "log": text("log₁₀|F|"),
    "normalized": text("F over its diagonal"),
}


def figure(result: FisherBlocks, theme: str) -> go.Figure:
    """Draw the map of all blocks and one block in detail; buttons choose among ENTRIES."""
    models, drawn = result.models, go.Figure()
    for entries in ENTRIES:
        for part, bar in ((_overview, BARS[0]), (_detail, BARS[1])):
            maps = [part(each, entries) for each in models]
            scale = _scale([z for z, *_ in maps], entries, signed=part is _detail, theme=theme)
            for place, (z, x, y, words) in enumerate(maps):
                panel = place + 1 + len(models) * (part is _detail)
                drawn.add_heatmap(
                    z=z.astype(np.float32),
                    x=x,
                    y=y,
                    **scale,
                    visible=entries == result.entries,
                    xaxis=f"x{panel}",
                    yaxis=f"y{panel}",
                    hoverongaps=False,
                    hovertemplate=words,
                    showscale=not place,
                    name=models[place].normalizer.title,
                    colorbar=_bar(bar, scale, entries, theme),
                )
    dress(drawn, theme, height=424)
    muted = THEMES[theme].muted
    drawn.update_layout(
        _axes(models),
        margin={"l": 8, "r": 8, "t": 96, "b": 44},
        annotations=_heads(result, muted),
        updatemenus=[_buttons(result.entries, 2 * len(models))],
        shapes=[
            line
            for place, each in enumerate(models)
            for line in _borders(each, place + 1 + len(models), muted)
        ],
    )
    return drawn


def _overview(model: ModelBlocks, entries: str) -> tuple[Array, Array, Array, str]:
    seen = model.overview[entries]
    at = _centers(model.layout.neurons, len(seen))
    return (
        seen,
        at,
        at,
        text(
            "neurons {i} and {j}: {value}<extra></extra>",
            i="%{y:.0f}",
            j="%{x:.0f}",
            value="%{z:.3g}",
        ),
    )


def _detail(model: ModelBlocks, entries: str) -> tuple[Array, Array, Array, str]:
    seen, p = model.detail[entries], model.layout.per_neuron
    words = text(
        "row {k}, column {l}: {value}<br>w first, then b and g<extra></extra>",
        k="%{y:.0f}",
        l="%{x:.0f}",
        value="%{z:.3g}",
    )
    return seen, _centers(p, seen.shape[1]), _centers(p, seen.shape[0]), words


def _centers(length: int, shown: int) -> Array:
    return (np.arange(shown) + 0.5) * length / shown - 0.5


def _scale(maps: Sequence[Array], entries: str, *, signed: bool, theme: str) -> dict[str, Any]:
    """Return colors and limits that both models share."""
    shown = np.concatenate([z[np.isfinite(z)] for z in maps])
    largest = float(np.abs(shown).max(initial=0.0)) or 1.0
    plain = [[0.0, THEMES[theme].paper], [1.0, THEMES[theme].ink]]
    if entries == "log":
        top = float(shown.max(initial=0.0)) if len(shown) else 0.0
        low = float(shown.min(initial=top))
        return {"colorscale": plain, "zmin": max(low, top - DECADES) - 0.5, "zmax": top}
    if entries == "normalized":
        largest = 1.0
    if signed:
        return {"colorscale": ink_scale(theme), "zmin": -largest, "zmax": largest}
    return {"colorscale": plain, "zmin": 0.0, "zmax": largest}


def _bar(x: float, scale: dict[str, Any], entries: str, theme: str) -> dict[str, Any]:
    return {
        "x": x,
        "len": 1,
        "thickness": 10,
        "outlinewidth": 0,
        "xpad": 2,
        "tickfont": {"size": SIZE - 3, "color": THEMES[theme].muted},
        **_ticks(scale, entries),
    }


def _ticks(scale: dict[str, Any], entries: str) -> dict[str, Any]:
    if entries != "log":
        return {"nticks": 5}
    powers = np.arange(np.ceil(scale["zmin"]), np.floor(scale["zmax"]) + 1).astype(int)
    powers = powers[:: 1 + len(powers) // 6]
    return {"tickvals": powers, "ticktext": [power(int(k)) for k in powers]}


def _axes(models: Sequence[ModelBlocks]) -> dict[str, Any]:
    layout: dict[str, Any] = {}
    for part, (left, right) in enumerate((OVERVIEW, DETAIL)):
        width = (right - left - BETWEEN) / 2
        for place, each in enumerate(models):
            n = place + 1 + len(models) * part
            start = left + place * (width + BETWEEN)
            i, j = each.blocks.pair
            plain = {"showgrid": False, "zeroline": False, "ticks": "", "showline": False}
            x, y = (_named(each, part, which) for which in (j, i))
            layout[f"xaxis{n}"] = {
                "domain": (start, start + width),
                "anchor": f"y{n}",
                "constrain": "domain",
                **x,
                **plain,
            }
            layout[f"yaxis{n}"] = {
                "anchor": f"x{n}",
                "autorange": "reversed",
                **y,
                "scaleanchor": f"x{n}",
                "constrain": "domain",
                **plain,
                "title": y["title"] if not place else "",
            }
    return layout


def _named(model: ModelBlocks, part: int, neuron: int) -> dict[str, Any]:
    """Return the title and ticks of an axis over neurons, or over the parameters of one."""
    if not part:
        H = model.layout.neurons
        return {"title": text("neuron"), "tickmode": "linear", "tick0": 0, "dtick": max(1, H // 8)}
    D = model.layout.features
    others = "b, g" if model.layout.has_gain else "b"
    return {
        "title": text("parameters of neuron {h}", h=neuron),
        "tickvals": [(D - 1) / 2, D + 0.5],
        "ticktext": ["w", others],
    }


def _borders(model: ModelBlocks, panel: int, color: str) -> list[dict[str, Any]]:
    """Return the lines between weights and the rest."""
    at, end = model.layout.features - 0.5, model.layout.per_neuron - 0.5
    line = {
        "type": "line",
        "xref": f"x{panel}",
        "yref": f"y{panel}",
        "line": {"color": color, "width": 1},
    }
    return [
        {**line, "x0": at, "x1": at, "y0": -0.5, "y1": end},
        {**line, "x0": -0.5, "x1": end, "y0": at, "y1": at},
    ]


def _heads(result: FisherBlocks, muted: str) -> list[dict[str, Any]]:
    about = colored(f"{result.caption}<br>{result.which}", muted, SIZE - 1)
    heads = [note(about, yshift=50)]
    for place, each in enumerate(result.models):
        name = method_title(each.normalizer, variant(each.normalizer))
        i, j = each.blocks.pair
        for (left, right), more in (
            (OVERVIEW, text("{share:.0%} of ‖F‖² between neurons", share=each.blocks.between)),
            (DETAIL, text("block of neurons {i} and {j}", i=i, j=j)),
        ):
            start = left + place * (right - left + BETWEEN) / 2
            heads.append(note([name, colored(more, muted)], start, yshift=4))
    return heads


def _buttons(start: str, each: int) -> dict[str, Any]:
    look = THEMES["light"]  # in dark figures too: plotly paints the chosen one white
    return {
        "type": "buttons",
        "direction": "right",
        "active": ENTRIES.index(start),
        "x": 0.36,
        "xanchor": "left",
        "y": 1,
        "yanchor": "bottom",
        "pad": {"b": 52},
        "bgcolor": look.grid,
        "bordercolor": look.muted,
        "font": {"size": SIZE - 1, "color": look.ink},
        "buttons": [
            {
                "label": str(BUTTONS[entries]),
                "method": "restyle",
                "args": [{"visible": [shown == entries for shown in ENTRIES for _ in range(each)]}],
            }
            for entries in ENTRIES
        ],
    }
