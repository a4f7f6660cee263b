"""The Fisher information by pairs of neurons, and one of its blocks, of two models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.numbers import power
from normgeo.base.text import text
from normgeo.fisher.neuron_blocks import ENTRIES, pooled
from normgeo.pictures.captions import variant
from normgeo.pictures.fisher.blocks import FisherBlocks, ModelBlocks
from normgeo.pictures.style.annotations import NARROW, colored, method_title, note, wrapped
from normgeo.pictures.style.template import (
    FOOT_MARGIN,
    NARROW_LEFT_MARGIN,
    RIGHT_MARGIN,
    SMALL,
    THEMES,
    dress,
    ink_scale,
    powers,
)

COLUMNS = ((0.0, 0.27), (0.295, 0.565), (0.685, 0.955))
BARS = (0.572, 0.962)  # beside the second column, and beside the third
EACH, BETWEEN, TOP, BOTTOM = 236, 116, 108, 45  # pixels
LEFT, BAR = 40, 36  # margins, for the numbers of neurons and for those of a bar
NARROW_TOP, NARROW_BETWEEN = 236, 132
DECADES = 8.0  # of a logarithmic scale
WRITTEN = 12  # neurons: of no more, the factor of each block is written into the map
SINGLE = 1e-30, 1e38  # numbers whose color single precision still tells
HUGE = 100  # a larger factor has no room there
SHOWN = 2.0  # a larger ratio of an entry is as dark

UNITS = {"raw": 1, "log": 10, "normalized": 100, "ratio": 1, "block ratio": 100}
"""What values are multiplied by, so that whole numbers in a byte or two are as fine as a screen."""

BUTTONS = {
    "raw": text("F"),
    "log": text("log₁₀|F|"),
    "normalized": text("F over its diagonal"),
}


def figure(result: FisherBlocks, theme: str) -> go.Figure:
    """Draw all blocks above and one block below, of each model and of their ratio.

    Buttons choose among ENTRIES.
    """
    models, drawn, axes = result.models, go.Figure(), {}
    for entries in ENTRIES:
        for row in (0, 1):
            maps = [(each.detail if row else each.overview)[entries] for each in models]
            axis = f"coloraxis{3 + 2 * ENTRIES.index(entries) + row}"
            axes[axis] = _scale(maps, entries, row, BARS[0], theme)
            for place, (each, values) in enumerate(zip(models, maps, strict=True)):
                trace = _map(values, entries, row, place, axis)
                trace.update(name=each.normalizer.title, visible=entries == result.entries)
                drawn.add_trace(trace)
    if result.ratio is not None:
        for row, values in enumerate((result.ratio.norms, result.ratio.block)):
            axis = f"coloraxis{row + 1 if row else ''}"
            seen, kind = pooled(values), "block ratio" if row else "ratio"
            axes[axis] = _scale([seen], kind, row, BARS[1], theme)
            drawn.add_trace(_map(seen, kind, row, 2, axis).update(name=str(_RATIO)))
        if len(result.ratio.norms) <= WRITTEN:
            drawn.add_trace(_written(result.ratio.norms, theme))
    dress(drawn, theme, height=TOP + 2 * EACH + BETWEEN + BOTTOM)
    drawn.update_layout(
        {**_axes(result), **axes},
        margin={"l": LEFT, "r": BAR, "t": TOP, "b": BOTTOM},
        annotations=_heads(result, theme, narrow=False),
        updatemenus=[_buttons(result, narrow=False)],
        shapes=[line for n in _details(result) for line in _borders(models[0], n, theme)],
        meta={
            "narrow": _narrow(result, theme),
            "room": {"yaxis4": {"title": {"text": text("neuron {h}", h=models[0].blocks.pair[0])}}},
        },
    )
    return drawn


_RATIO = text("over standard")


def _map(values: Array, entries: str, row: int, place: int, axis: str) -> go.Heatmap:
    """Return one map; its axes are counted by rows of three."""
    i, j = "%{y:.0f}", "%{x:.0f}"
    value = {1: "%{z:.3g}", 10: "10^(%{z:.0f}/10)", 100: "%{z:.0f}%"}[UNITS[entries]]
    words = (
        text("row {k}, column {l}: {value}<br>w first, then b and g", k=i, l=j, value=value)
        if row
        else text("neurons {i} and {j}: {value}", i=i, j=j, value=value)
    )
    n = 3 * row + place + 1
    return go.Heatmap(
        z=_compact(UNITS[entries] * values, whole=UNITS[entries] > 1),
        coloraxis=axis,
        xaxis=f"x{n}",
        yaxis=f"y{n}",
        hoverongaps=False,
        hovertemplate=f"{words}<extra></extra>",
    )


def _compact(values: Array, *, whole: bool) -> Array:
    """Return numbers in few bytes, rounded if they may be; what is missing needs floats."""
    if not (whole and np.isfinite(values).all()):
        largest = np.nanmax(np.abs(values), initial=0.0)
        single = largest == 0 or SINGLE[0] < largest < SINGLE[1]
        return values.astype(np.float32) if single else values
    rounded: Array = np.rint(values)
    return rounded.astype(np.min_scalar_type(-int(np.abs(rounded).max(initial=1))))


def _written(norms: Array, theme: str) -> go.Scatter:
    """Return the factors of the neurons' own blocks, in the map of the ratio."""
    look, own = THEMES[theme], norms.diagonal()
    dark = own > np.nanmax(norms, initial=0.0) / 2
    return go.Scatter(
        x=np.arange(len(own)),
        y=np.arange(len(own)),
        mode="text",
        text=[f"{value:.1f}" if value < HUGE else "" for value in own],
        textfont={"size": SMALL, "color": [look.paper if each else look.ink for each in dark]},
        xaxis="x3",
        yaxis="y3",
        showlegend=False,
        hoverinfo="skip",
    )


def _scale(maps: Sequence[Array], entries: str, row: int, bar: float, theme: str) -> dict[str, Any]:
    """Return the colors and limits that maps share, and their bar."""
    look, unit = THEMES[theme], UNITS[entries]
    shown = np.concatenate([z[np.isfinite(z)] for z in maps])
    largest = float(np.abs(shown).max(initial=0.0)) or 1.0
    plain = [[0.0, look.paper], [1.0, look.ink]]
    ticks: dict[str, Any] = {"nticks": 5}
    if entries == "log":
        top = float(shown.max(initial=0.0)) if len(shown) else 0.0
        low = max(float(shown.min(initial=top)), top - DECADES) - 0.5
        scale: dict[str, Any] = {"colorscale": plain, "cmin": unit * low, "cmax": unit * top}
        ticks = _powers(low, top)
    else:
        if unit > 1:
            ticks |= {"ticksuffix": " %"}
        limits = {"normalized": 1.0, "block ratio": min(largest, SHOWN)}
        most = unit * limits.get(entries, largest)
        colors, low = (ink_scale(theme), -most) if row else (plain, 0.0)
        scale = {"colorscale": colors, "cmin": low, "cmax": most}
    paper = 2 * EACH + BETWEEN
    colorbar = {
        "x": bar,
        "y": EACH / 2 / paper if row else 1 - EACH / 2 / paper,
        "yanchor": "middle",
        "len": EACH / paper,
        "thickness": 10,
        "outlinewidth": 0,
        "xpad": 2,
        "ypad": 0,
        "tickfont": {"size": SMALL, "color": look.muted},
        **ticks,
    }
    return {**scale, "colorbar": colorbar}


def _powers(low: float, high: float) -> dict[str, Any]:
    ticks = powers(low, high)
    return {"tickvals": UNITS["log"] * np.array(ticks), "ticktext": [*map(power, ticks)]}


def _details(result: FisherBlocks) -> list[int]:
    """Return the numbers of the axes of the maps of one block."""
    count = len(result.models) + (result.ratio is not None)
    return list(range(4, 4 + count))


def _axes(result: FisherBlocks) -> dict[str, Any]:
    layout: dict[str, Any] = {}
    paper = 2 * EACH + BETWEEN
    maps = [*result.models, *result.models[-1:]] if result.ratio else result.models
    i, j = result.models[0].blocks.pair
    for row, domain in enumerate(((1 - EACH / paper, 1.0), (0.0, EACH / paper))):
        for place, each in enumerate(maps):
            n = 3 * row + place + 1
            plain = {"showgrid": False, "zeroline": False, "ticks": "", "showline": False}
            names = _names(each, row, ratio=place == 2)
            layout[f"xaxis{n}"] = {
                "domain": COLUMNS[place],
                "anchor": f"y{n}",
                "constrain": "domain",
                "constraintoward": "left",
                "title": text("parameters of neuron {h}", h=j) if row else text("neuron"),
                **names,
                **plain,
            }
            title = text("parameters of neuron {h}", h=i) if row else text("neuron")
            layout[f"yaxis{n}"] = {
                "domain": domain,
                "anchor": f"x{n}",
                "autorange": "reversed",
                "scaleanchor": f"x{n}",
                "constrain": "domain",
                "constraintoward": "top",
                "title": "" if place else title,
                **names,
                **plain,
            }
    return layout


def _names(model: ModelBlocks, row: int, *, ratio: bool) -> dict[str, Any]:
    """Return the ticks of an axis over neurons, or over the parameters of one."""
    H, D = model.layout.neurons, model.layout.features
    if row:
        p = model.layout.per_neuron - (ratio and model.layout.has_gain)
        shown = min(p, len(model.detail["raw"])) / p  # cells a parameter
        others = "b, g" if model.layout.has_gain and not ratio else "b"
        at = [(D - 1) / 2 * shown, (D + 0.5) * shown]
        return {"tickvals": at, "ticktext": ["w", others]}
    cells = len(model.overview["raw"])
    every = max(1, H // 8)
    at = [(h + 0.5) * cells / H - 0.5 for h in range(0, H, every)]
    return {"tickvals": at, "ticktext": [str(h) for h in range(0, H, every)]}


def _borders(model: ModelBlocks, n: int, theme: str) -> list[dict[str, Any]]:
    """Return the lines between weights and the rest."""
    at = model.layout.features - 0.5
    line = {
        "type": "line",
        "xref": f"x{n}",
        "yref": f"y{n}",
        "line": {"color": THEMES[theme].muted, "width": 1},
    }
    return [
        {**line, "x0": at, "x1": at, "yref": f"y{n} domain", "y0": 0, "y1": 1},
        {**line, "y0": at, "y1": at, "xref": f"x{n} domain", "x0": 0, "x1": 1},
    ]


def _heads(result: FisherBlocks, theme: str, *, narrow: bool) -> list[dict[str, Any]]:
    muted = THEMES[theme].muted
    about = lines_of((result.caption, str(result.which)), narrow)
    lines = [colored(line, muted, SMALL) for line in about]
    heads = [note(lines, yanchor="top", yshift=(NARROW_TOP - 4) if narrow else TOP - 2)]
    i, j = result.models[0].blocks.pair
    block = text("block of neurons {i} and {j}", i=i, j=j)
    for place, each in enumerate(result.models):
        name = method_title(each.normalizer, variant(each.normalizer))
        between = f"{each.blocks.between:.0%}"
        share = text("{share} of ‖F‖² between neurons", share=between)
        if narrow:  # two beside each other
            share = text("{share} between", share=between)
            block = text("neurons {i} and {j}", i=i, j=j)
        for n, words in ((place + 1, share), (place + 4, block)):
            heads.append(head(n, [name, colored(words, muted, SMALL)]))
    if result.ratio is not None:
        name = method_title(result.models[-1].normalizer)
        title = text("{method} over standard", method=name)
        entries = text("entries over √(F<sub>kk</sub> F<sub>ll</sub>) of standard")
        for n, words in ((3, result.ratio.said), (6, entries)):
            heads.append(head(n, [title, colored(words, muted, SMALL)]))
    return heads


def _buttons(result: FisherBlocks, *, narrow: bool) -> dict[str, Any]:
    look = THEMES["light"]  # in dark figures too: plotly paints the chosen one white
    each = 2 * len(result.models)
    others = (2 + (len(result.ratio.norms) <= WRITTEN)) if result.ratio is not None else 0
    return {
        "type": "buttons",
        "direction": "right",
        "active": ENTRIES.index(result.entries),
        "x": 0 if narrow else 1,
        "xanchor": "left" if narrow else "right",
        "y": 1,
        "yanchor": "bottom",
        "pad": {"b": 60, "l": 0, "r": 0},
        "bgcolor": look.grid,
        "bordercolor": look.muted,
        "font": {"size": SMALL, "color": look.ink},
        "buttons": [
            {
                "label": str(BUTTONS[entries]),
                "method": "restyle",
                "args": [
                    {
                        "visible": [
                            *(shown == entries for shown in ENTRIES for _ in range(each)),
                            *[True] * others,
                        ]
                    }
                ],
            }
            for entries in ENTRIES
        ],
    }


def _narrow(result: FisherBlocks, theme: str) -> dict[str, Any]:
    """Return the layout on a phone: both models beside each other, their ratio below."""
    models = len(result.models)
    rows = [[row * 3 + place + 1 for place in range(models)] for row in (0, 1)]
    if result.ratio is not None:
        rows = [rows[0], [3], rows[1], [6]]
    layout = stacked(
        rows, each=190, between=NARROW_BETWEEN, top=NARROW_TOP, bottom=BOTTOM, left=LEFT, right=8
    )
    for axis in ("coloraxis", *(f"coloraxis{n}" for n in range(2, 9))):
        layout[axis] = {"showscale": False}
    for axis in ("xaxis4", "yaxis4", "xaxis5"):
        layout.get(axis, {})["title"] = {"text": ""}
    return {
        **layout,
        "annotations": _heads(result, theme, narrow=True),
        "updatemenus": [_buttons(result, narrow=True)],
    }


def stacked(
    panels: Sequence[Sequence[int]],
    *,
    each: int,
    between: int,
    top: int,
    bottom: int = FOOT_MARGIN,
    left: int = NARROW_LEFT_MARGIN,
    right: int = RIGHT_MARGIN,
) -> dict[str, Any]:
    """Return the layout in which panels stand below each other, for `meta["narrow"]`.

    Args:
        panels: rows of the numbers of axes, from the top; those of a row stand beside each other.
        each: the height of a panel in pixels. between: what their titles and heads take.
        top, bottom, left, right: the margins.

    """
    rows = len(panels)
    paper = rows * each + (rows - 1) * between
    layout: dict[str, Any] = {
        "height": top + paper + bottom,
        "margin": {"l": left, "r": right, "t": top, "b": bottom},
    }
    for row, numbers in enumerate(panels):
        low = 1 - (row * (each + between) + each) / paper
        for place, n in enumerate(numbers):
            across = [(place + 0.04 * bool(place)) / len(numbers), (place + 0.96) / len(numbers)]
            name = "" if n == 1 else str(n)
            layout[f"xaxis{name}"] = {"domain": across if len(numbers) > 1 else [0.0, 1.0]}
            layout[f"yaxis{name}"] = {"domain": [max(low, 0.0), min(low + each / paper, 1.0)]}
    return layout


def lines_of(sentences: Sequence[str], narrow: bool) -> list[str]:
    """Return sentences in lines of a wide or a narrow figure, each beginning a new one."""
    return [line for words in sentences for line in wrapped(words, NARROW if narrow else 120)]


def head(panel: int, words: Sequence[str], **place: Any) -> dict[str, Any]:
    """Return the words above a panel: they follow its axes, wherever those are."""
    return {
        "text": "<br>".join(map(str, words)),
        "x": 0,
        "y": 1,
        "xref": "x domain" if panel == 1 else f"x{panel} domain",
        "yref": "y domain" if panel == 1 else f"y{panel} domain",
        "xanchor": "left",
        "yanchor": "bottom",
        "align": "left",
        "yshift": 4,
        **place,
    }
