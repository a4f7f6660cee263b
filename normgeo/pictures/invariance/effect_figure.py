"""The picture of a change: eight rows of W or X, z before and after, and the verdicts."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.invariance.before_and_after import BeforeAndAfter
from normgeo.pictures.invariance.effect import EffectOnData, parameter
from normgeo.pictures.invariance.effect_words import (
    DOTS,
    NARROW_WORDS,
    narrow_row,
    shapes,
    words,
)
from normgeo.pictures.invariance.thumbnails import BOX, LEVELS, Grid, bars, images
from normgeo.pictures.style.colors import blend, method_color
from normgeo.pictures.style.player import STRIP, add_slider
from normgeo.pictures.style.template import THEMES, dress, ink_scale
from normgeo.settings import as_text

TOP, FOOT, ROW, GAP = 64, 42, 96, 10  # heights in pixels: of the head, the axis, a method, between
PICTURES = (0.0, 0.23)  # from left to right, in widths
FADE = 0.6  # the exponent from values to ink: below 1, small values are still seen

HEAD = 22  # more of the head on a narrow screen, where the name of the change takes two lines
NARROW_PICTURES = 330

Layout = dict[str, Any]


def figure(result: EffectOnData, theme: str) -> go.Figure:
    """Draw an effect: what changes at the left, z of one case before (hollow) and after (filled).

    The frames of its slider are the strengths.
    """
    effect, opening, rows = result.effect, result.opening, list(result.rows)
    grid = Grid.of(len(effect.shown))
    drawn = go.Figure(
        [
            _outline(grid, np.arange(len(effect.shown)), THEMES[theme].muted, 1),
            _pictures(result, theme),
            _outline(grid, np.flatnonzero(effect.changed), THEMES[theme].ink, 4),
            *(t for key, m in effect.methods.items() for t in _dots(m, rows.index(key), theme)),
            *(_nothing(rows.index(key)) for key in result.hidden),
        ]
    )
    dress(drawn, theme, height=TOP + FOOT + len(rows) * (ROW + GAP))
    drawn.update_layout(
        margin={"l": 8, "r": 8, "t": TOP, "b": FOOT}, showlegend=False, **_axes(result, grid)
    )
    states = [_state(result, step, theme) for step in range(len(effect.strengths))]
    moving = [1, *(4 + 3 * m + i for m in range(len(effect.methods)) for i in (0, 1))]
    for trace, values in zip(moving, states[opening][0], strict=True):
        drawn.data[trace].update(values)
    layout = states[opening][1]
    narrow = layout["meta"]["narrow"] | _narrow(result)
    picks = [grid.picks(result.names)]
    drawn.update_layout({**layout, "meta": {"narrow": narrow, "picks": picks}})
    frames = [
        {"name": number(strength, 6), "data": data, "traces": moving, "layout": layout}
        for strength, (data, layout) in zip(effect.strengths, states, strict=True)
    ]
    add_slider(
        drawn,
        frames,
        start=opening,
        prefix=f"{parameter(effect.transform)} = ",
        theme=theme,
        setting="delta",
        values=[as_text(float(strength)) for strength in effect.strengths],
    )
    return drawn


def _state(result: EffectOnData, step: int, theme: str) -> tuple[list[dict[str, Any]], Layout]:
    """All that differs from step to step: attributes of the moving traces, and the words."""
    data = [_values(result, step)]
    for method in result.effect.methods.values():
        before, z = method.before.z, method.after[step].z
        after = np.full_like(z, np.nan) if method.after[step].problem else z
        way = np.column_stack([before, after, np.full(len(z), np.nan)])
        data += [{"y": way.ravel().astype(np.float32)}, {"y": after.astype(np.float32)}]
    layout = {
        "annotations": words(result, step, theme),
        "shapes": shapes(result, step, theme),
        "meta": {
            "narrow": {
                "annotations": words(result, step, theme, narrow=True),
                "shapes": shapes(result, step, theme, narrow=True),
            }
        },
    }
    return data, layout


def _outline(grid: Grid, which: Array, color: str, width: float) -> go.Scatter:
    """Return lines around some of the pictures."""
    x, y = grid.outlines(which)
    return go.Scatter(
        x=x, y=y, mode="lines", line={"color": color, "width": width}, hoverinfo="skip"
    )


def _pictures(result: EffectOnData, theme: str) -> go.Heatmap | go.Scatter:
    """Return the shown rows as images where the features are pixels, as bars elsewhere."""
    dataset, rows = result.dataset, result.effect.rows_before
    if dataset.image_shape is None:
        x, _ = bars(rows, 0, 1)
        return go.Scatter(
            x=x, fill="toself", mode="none", fillcolor=THEMES[theme].ink, hoverinfo="skip"
        )
    height, width = dataset.image_shape
    return go.Heatmap(
        zmin=-LEVELS,
        zmax=LEVELS,
        x0=BOX / width / 2,
        dx=BOX / width,
        y0=BOX / height / 2,
        dy=BOX / height,
        colorscale=_ink(theme),
        showscale=False,
        hoverinfo="skip",
    )


def _ink(theme: str) -> list[list[Any]]:
    """Return the scale of ink for signed values in which a fifth of the largest is still seen."""
    (_, below), (_, paper), (_, above) = ink_scale(theme)
    return [
        [(1 + v) / 2, blend(paper, above if v > 0 else below, abs(v) ** FADE)]
        for v in np.linspace(-1, 1, 41)
    ]


def _values(result: EffectOnData, step: int) -> dict[str, Any]:
    """Return what the pictures show at one step, on one scale for all steps."""
    effect, rows = result.effect, result.effect.rows_after[step]
    if result.dataset.image_shape is not None:
        largest = max(np.abs(effect.rows_after).max(), np.abs(effect.rows_before).max())
        return {"type": "heatmap", "z": images(rows, result.dataset, float(largest))}
    every = np.concatenate([effect.rows_before[None], effect.rows_after])
    sizes = np.abs(every).max(axis=(0, 1))
    # Features have units of their own, weights have one.
    unit = sizes.max() if effect.transform.matrix == "W" else sizes
    unit = np.where(unit > 0, unit, 1.0)
    low, high = (every / unit).min(), (every / unit).max()
    _, y = bars(rows / unit, min(0.0, float(low)), max(0.0, float(high)))
    return {"y": y.astype(np.float32)}


def _dots(method: BeforeAndAfter, place: int, theme: str) -> tuple[go.Scatter, ...]:
    """Return z before (hollow), the way from before to after, and z after (filled)."""
    color = method_color(method.normalizer)
    before = method.before.z
    neurons = np.arange(len(before))
    axes = {"xaxis": "x2", "yaxis": f"y{place + 2}"}
    hollow = go.Scatter(
        x=neurons,
        y=before,
        mode="markers",
        marker={
            "size": 13,
            "symbol": "circle-open",
            "color": THEMES[theme].ink,
            "line": {"width": 1.5},
        },
        cliponaxis=False,
        hovertemplate=text("neuron %{x}, before: z = %{y:.6g}<extra></extra>"),
        **axes,
    )
    way = go.Scatter(
        x=np.repeat(neurons, 3),
        mode="lines",
        line={"color": color, "width": 3},
        hoverinfo="skip",
        connectgaps=False,
        **axes,
    )
    filled = go.Scatter(
        x=neurons,
        mode="markers",
        marker={"size": 9, "color": color},
        cliponaxis=False,
        hovertemplate=text("neuron %{x}, after: z = %{y:.6g}<extra></extra>"),
        **axes,
    )
    return hollow, way, filled


def _nothing(place: int) -> go.Scatter:
    """Return a trace without points: axes that no trace uses have no place."""
    return go.Scatter(x=[None], y=[None], xaxis="x2", yaxis=f"y{place + 2}", hoverinfo="skip")


def _axes(result: EffectOnData, grid: Grid) -> Layout:
    """Return the axes: one pair for the pictures; one x, and a y for each method, for the dots."""
    rows, methods = list(result.rows), result.effect.methods
    neurons = max((len(method.before.z) for method in methods.values()), default=0)
    hidden = {"visible": False, "fixedrange": True, "constrain": "domain"}
    lowest = len(rows) + 1
    axes: Layout = {
        "xaxis": {
            **hidden,
            "domain": PICTURES,
            "range": [-0.5, grid.width + 0.5],
            "constraintoward": "left",
        },
        "yaxis": {
            **hidden,
            "range": [grid.height + 0.5, -0.5],
            "scaleanchor": "x",
            "constraintoward": "top",
        },
        "xaxis2": {
            "domain": DOTS,
            "anchor": f"y{lowest}",
            "range": [-0.6, neurons - 0.4],
            "dtick": max(1, -(-neurons // 5)),
            "title": text("neuron h"),
            "fixedrange": True,
            "visible": bool(methods),
        },
    }
    for place, key in enumerate(rows):
        where = {"domain": _domain(place, len(rows)), "anchor": "x2", "fixedrange": True}
        method = methods.get(key)
        if method is None:
            axes[f"yaxis{place + 2}"] = {**where, "range": [-1, 1], "visible": False}
            continue
        sizes = [np.abs(method.before.z).max(), *(np.abs(a.z).max() for a in method.after)]
        reach = 1.2 * max(map(float, sizes))
        axes[f"yaxis{place + 2}"] = {
            **where,
            "range": [-reach, reach],
            "nticks": 4,
            "zeroline": True,
        }
    return axes


def _domain(place: int, methods: int) -> list[float]:
    """Return the share of the height that the dots of a method have."""
    whole = methods * (ROW + GAP)
    top = 1 - place * (ROW + GAP) / whole
    return [max(0.0, top - ROW / whole), top]


def _narrow(result: EffectOnData) -> Layout:
    """Return the layout of a narrow figure: pictures, and below them words and dots by turns."""
    rows = [narrow_row(result, key) for key in result.rows]
    whole = NARROW_PICTURES + sum(rows) + len(rows) * NARROW_WORDS
    layout: Layout = {
        "height": TOP + HEAD + FOOT + GAP + whole + STRIP,
        "margin": {"t": TOP + HEAD, "b": FOOT + GAP + STRIP},
        "xaxis": {"domain": [0.0, 0.5]},
        "yaxis": {"domain": [1 - NARROW_PICTURES / whole, 1.0]},
        "xaxis2": {"domain": [0.14, 1.0]},
    }
    foot = NARROW_PICTURES
    for place, row in enumerate(rows):
        foot += NARROW_WORDS + row
        domain = [max(0.0, 1 - foot / whole), 1 - (foot - row) / whole]
        layout[f"yaxis{place + 2}"] = {"domain": domain}
    return layout
