"""The Fisher information by pairs of neurons, and one of its blocks, of two models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.numbers import power
from normgeo.base.text import text
from normgeo.fisher.neuron_blocks import ENTRIES, pooled
from normgeo.pictures.captions import variant
from normgeo.pictures.fisher.blocks import FisherBlocks, ModelBlocks, observed
from normgeo.pictures.style.annotations import colored, method_title, note, width
from normgeo.pictures.style.sheet import Band, Panel, Sheet, across, on_panel, told, upright
from normgeo.pictures.style.template import SMALL, THEMES, ink_scale, powers

HIGH = 236, 190  # pixels of a panel
BESIDE = 125  # of one that has another beside it on a phone
DECADES = 8.0  # of a logarithmic scale
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
    models, traces, colors = result.models, [], {}
    for entries in ENTRIES:
        for row in (0, 1):
            maps = [(each.detail if row else each.overview)[entries] for each in models]
            axis = f"coloraxis{3 + 2 * ENTRIES.index(entries) + row}"
            colors[axis] = _scale(maps, entries, row, theme)
            for place, (each, values) in enumerate(zip(models, maps, strict=True)):
                trace = _map(values, entries, _panel(result, row, place), row, axis)
                traces.append(
                    trace.update(name=each.normalizer.title, visible=entries == result.entries)
                )
    if result.ratio is not None:
        for row, values in enumerate((result.ratio.norms, result.ratio.block)):
            seen, kind = pooled(values), "block ratio" if row else "ratio"
            colors[_OF_RATIO[row]] = _scale([seen], kind, row, theme)
            trace = _map(seen, kind, _panel(result, row, 2), row, _OF_RATIO[row])
            traces.append(trace.update(name=str(_RATIO)))
    rows = [[*_panels(result, row, theme)] for row in (0, 1)]
    first, last = range(len(models)), [len(models)] if result.ratio else []
    again = [[place + len(rows[0]) for place in each] for each in (first, last)]
    drawn = Sheet(
        [Band([f"<b>{observed(result)}</b>"])],
        rows=rows,
        foot=[told(theme, result.caption, str(result.which))],
        phone=[each for each in (first, last, *again) if each],
        legend=False,
        menu=_buttons(result),
    ).on(traces, theme)
    return drawn.update_layout(colors)


_RATIO = text("over standard")
_OF_RATIO = "coloraxis", "coloraxis2"


def _panel(result: FisherBlocks, row: int, place: int) -> int:
    """The number of the panel of a map."""
    return row * (len(result.models) + (result.ratio is not None)) + place + 1


def _map(values: Array, entries: str, n: int, row: int, axis: str) -> go.Heatmap:
    """Return the map of a panel."""
    i, j = "%{y:.0f}", "%{x:.0f}"
    value = {1: "%{z:.3g}", 10: "10^(%{z:.0f}/10)", 100: "%{z:.0f}%"}[UNITS[entries]]
    words = (
        text("row {k}, column {l}: {value}<br>w first, then b and g", k=i, l=j, value=value)
        if row
        else text("neurons {i} and {j}: {value}", i=i, j=j, value=value)
    )
    return go.Heatmap(
        z=_compact(UNITS[entries] * values, whole=UNITS[entries] > 1),
        coloraxis=axis,
        **on_panel(n),
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


def _written(norms: Array, theme: str, wide: float, high: float) -> list[dict[str, Any]]:
    """Return the factors of the neurons' own blocks in the map of the ratio, if they have room."""
    look, own = THEMES[theme], norms.diagonal()
    if min(wide, high) < len(own) * width("0.0", SMALL):
        return []
    dark = own > np.nanmax(norms, initial=0.0) / 2
    middle = {"xref": "x", "yref": "y", "xanchor": "center", "yanchor": "middle"}
    return [
        note(f"{value:.1f}", h, h, **middle)
        | {"font": {"size": SMALL, "color": look.paper if dark[h] else look.ink}}
        for h, value in enumerate(own.tolist())
        if value < HUGE
    ]


def _scale(maps: Sequence[Array], entries: str, row: int, theme: str) -> dict[str, Any]:
    """Return the colors and limits that maps share, and their bar."""
    look, unit = THEMES[theme], UNITS[entries]
    shown = np.concatenate([z[np.isfinite(z)] for z in maps])
    largest = float(np.abs(shown).max(initial=0.0)) or 1.0
    plain = [[0.0, look.paper], [1.0, look.ink]]
    ticks: dict[str, Any] = {"nticks": 3}
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
    colorbar = {
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


def _panels(result: FisherBlocks, row: int, theme: str) -> Iterator[Panel]:
    """The maps of a row: all blocks, or one; of each model, and of their ratio."""
    muted, models = THEMES[theme].muted, result.models
    i, j = models[0].blocks.pair
    plain = {"showgrid": False, "zeroline": False, "ticks": "", "showline": False}
    square = {**plain, "constrain": "domain", "title": text("neuron")}
    along, up = square, square
    if row:
        along = {**square, "title": text("parameters of neuron {h}", h=j)}
        up = {**square, "title": text("parameters of neuron {h}", h=i)}
    for place, (model, title, words) in enumerate(_heads(result, row, theme)):
        ratio = result.ratio if place == len(models) else None
        names = _names(model, row, ratio=bool(ratio))
        bars = [_OF_RATIO[row]] if ratio else []
        if place == len(models) - 1:
            bars = [f"coloraxis{3 + 2 * n + row}" for n in range(len(ENTRIES))]
        yield Panel(
            {**along, "constraintoward": "left", **names},
            {
                **(up if not place else {**up, "title": ""}),
                "constraintoward": "top",
                "scaleanchor": "x",
                **names,
                "range": names["range"][::-1],
            },
            [title, colored(words, muted)],
            partial(_written, ratio.norms, theme) if ratio and not row else (),
            _borders(models[0], theme) if row else (),
            high=HIGH if ratio or len(models) == 1 else (HIGH[0], BESIDE),
            bars=bars,
        )


def _heads(result: FisherBlocks, row: int, theme: str) -> Iterator[tuple[ModelBlocks, str, str]]:
    """The model of each map of a row, its title, and what is seen."""
    i, j = result.models[0].blocks.pair
    block = text("block of neurons {i} and {j}", i=i, j=j)
    if i == j:
        block = text("block of neuron {i}", i=i)
    for each in result.models:
        share = text("{share} of ‖F‖² between neurons", share=f"{each.blocks.between:.0%}")
        name = method_title(each.normalizer, theme, variant(each.normalizer))
        yield each, name, block if row else share
    if result.ratio is not None:
        last = result.models[-1]
        title = text("{method} over standard", method=method_title(last.normalizer, theme))
        entries = text("entries over √(F<sub>kk</sub> F<sub>ll</sub>) of standard")
        yield last, title, entries if row else result.ratio.said


def _names(model: ModelBlocks, row: int, *, ratio: bool) -> dict[str, Any]:
    """Return the ticks of an axis over neurons, or over the parameters of one."""
    H, D = model.layout.neurons, model.layout.features
    if row:
        p = model.layout.per_neuron - (ratio and model.layout.has_gain)
        shown = min(p, len(model.detail["raw"])) / p  # cells a parameter
        others = "b, g" if model.layout.has_gain and not ratio else "b"
        at = [(D - 1) / 2 * shown, (D + 0.5) * shown]
        ends = [-0.5, shown * p - 0.5]
        return {"tickvals": at, "ticktext": ["w", others], "range": ends}
    cells = len(model.overview["raw"])
    every = max(1, H // 5)
    at = [(h + 0.5) * cells / H - 0.5 for h in range(0, H, every)]
    return {
        "tickvals": at,
        "ticktext": [str(h) for h in range(0, H, every)],
        "range": [-0.5, cells - 0.5],
    }


def _borders(model: ModelBlocks, theme: str) -> list[dict[str, Any]]:
    """The lines between weights and the rest."""
    at, line = model.layout.features - 0.5, {"color": THEMES[theme].muted, "width": 1}
    return [upright(at, line) | {"layer": "above"}, across(at, line)]


def _buttons(result: FisherBlocks) -> dict[str, Any]:
    look = THEMES["light"]  # in dark figures too: plotly paints the chosen one white
    each = 2 * len(result.models)
    others = 2 * (result.ratio is not None)
    return {
        "active": ENTRIES.index(result.entries),
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
