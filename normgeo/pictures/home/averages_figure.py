"""The example worked by hand: X and W, what each method averages in A, and z below it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.pictures.home.arithmetic import arithmetic, shown
from normgeo.pictures.home.averages import Averages
from normgeo.pictures.style.annotations import note
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.player import add_slider, frames
from normgeo.pictures.style.sheet import Band, Panel, Sheet, answer, drawn, on_panel
from normgeo.pictures.style.template import SIZE, THEMES
from normgeo.settings import as_text
from normgeo.tables.marks import color

HIGH = 120, 110  # pixels
LIT = 0.35  # of the color of a method, over what it averages
PHONE = (0, 1), (2, 3), (4, 5), (6, 7)
HIDDEN: dict[str, Any] = {"visible": False, "fixedrange": True, "constrain": "domain"}


def figure(result: Averages, theme: str) -> go.Figure:
    """Draw X and W at the left, and a column for each method; the frames are factors of a case."""
    every = range(len(result.factors))
    grids = [_grids(result, step) for step in every]
    moving = [place for place in range(len(grids[0])) if place != 1]  # W stays
    lit, colors = _lit(result), _colors(result, theme)
    traces: list[Any] = [
        _grid(words, mask, tint, n, theme)
        for n, (words, mask, tint) in enumerate(
            zip(grids[result.opening], lit, colors, strict=True), start=1
        )
    ]
    sheets = [_sheet(result, step, theme) for step in every]
    whole, layouts = drawn(sheets, traces, theme, result.opening)
    add_slider(
        whole,
        frames(
            (number(factor, 6) for factor in result.factors),
            [[{"type": "heatmap", "text": one[place]} for place in moving] for one in grids],
            layouts,
            moving,
        ),
        start=result.opening,
        prefix=text("contrast × "),
        theme=theme,
        setting="delta",
        values=[as_text(factor) for factor in result.factors],
    )
    return whole


def _grids(result: Averages, step: int) -> list[list[list[str]]]:
    """The words of all grids in the order of their panels."""
    here = result.steps[step]
    grids = [_whole(here.X), _whole(result.W.T)]
    for key in result.averaged:
        grids += [_whole(here.A), [[_z(one) for one in row] for row in here.z[key].tolist()]]
    return grids


def _z(value: float) -> str:
    return "–" if np.isnan(value) else number(value)


def _whole(M: Array) -> list[list[str]]:
    return [[shown(Fraction(entry)) for entry in row] for row in M.tolist()]


def _lit(result: Averages) -> list[Array]:
    """Which entries of each grid are colored."""
    n, h = result.place
    nothing, one = np.zeros((3, 3), dtype=bool), np.zeros((3, 3), dtype=bool)
    one[n, h] = True
    row, column = nothing.copy(), nothing.copy()
    row[n] = True
    found = [row, column]
    for average in result.averaged.values():
        of_weights = average.matrix == "W"
        if of_weights:
            column |= average.lit.T
        found += [one if of_weights else average.lit, one]
    return found


def _colors(result: Averages, theme: str) -> list[str]:
    averaged = result.averaged.values()
    of_weights = [method_color(a.normalizer, theme) for a in averaged if a.matrix == "W"]
    own = [method_color(a.normalizer, theme) for a in averaged for _ in range(2)]
    return [THEMES[theme].muted, *(of_weights[:1] or [THEMES[theme].muted]), *own]


def _sheet(result: Averages, step: int, theme: str) -> Sheet:
    factor = number(result.factors[step], 6)
    first = (
        _panel(
            result,
            [
                answer(text("one case × {factor}", factor=factor)),
                Band([text("<b>X</b>: a row is a case")]),
            ],
        ),
        _panel(result, [Band([text("<b>Wᵀ</b>: a column is a neuron")])]),
    )
    columns = [first, *(_method(result, key, step, theme) for key in result.averaged)]
    return Sheet([], rows=[columns], phone=PHONE, right=8, legend=False)


def _method(result: Averages, key: str, step: int, theme: str) -> tuple[Panel, Panel]:
    """The summed inputs with what a method averages, and its z with the arithmetic."""
    average = result.averaged[key]
    *lines, last = arithmetic(result.steps[step].numbers[key])
    # On a phone, long lines go on under what stands at the left.
    right: dict[str, Any] = {"xanchor": "right", "align": "right"}
    below = note([*lines, f"<b>{last}</b>"], 1, 0, yanchor="top", yshift=-6, **right)
    title = answer(text(average.normalizer.title), color=method_color(average.normalizer, theme))
    rule = average.rule if average.matrix == "W" else f"<b>A = X Wᵀ</b>: {average.rule}"
    above = [title, Band([rule])]
    return (
        _panel(result, above),
        _panel(result, [_moved(result, key, step, theme)], [below]),
    )


def _moved(result: Averages, key: str, step: int, theme: str) -> Band:
    """Whether the marked z is another one than at the factor 1."""
    before, after = (float(one.z[key][result.place]) for one in (result.before, result.steps[step]))
    if result.factors[step] == 1:
        return Band([text("<b>z</b> = (a − μ)/σ")])
    if np.isnan(after):
        return Band([text("<b>z</b>: none")])
    if result.stays(key, step):
        return Band(
            [text("<b>z</b>: {z}, as before", z=_z(after))], color=color("✓", theme), sign="✓"
        )
    words = text("<b>z</b>: {before} → {after}", before=_z(before), after=_z(after))
    return Band([words], color=color("✗", theme), sign="✗")


def _panel(result: Averages, over: list[Band], notes: list[dict[str, Any]] | None = None) -> Panel:
    return Panel(
        HIDDEN | {"range": [-0.5, 2.5]},
        HIDDEN | {"range": [2.5, -0.5]},
        over=over,
        notes=notes or [],
        high=HIGH,
    )


def _grid(words: list[list[str]], lit: Array, tint: str, n: int, theme: str) -> go.Heatmap:
    look = THEMES[theme]
    return go.Heatmap(
        z=lit.astype(float),
        zmin=0,
        zmax=1,
        showscale=False,
        xgap=2,
        ygap=2,
        colorscale=[[0, look.panel], [1, tint]],
        opacity=LIT if lit.any() else 1,
        text=words,
        texttemplate="%{text}",
        hoverinfo="skip",
        textfont={"size": SIZE + 2, "color": look.ink},
        **on_panel(n),
    )
