"""A ✗ of Table 1 on a blackboard: W, X and a before and after a change, and z² of both."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.invariance.witness import Side, Witness
from normgeo.pictures.home.arithmetic import shown
from normgeo.pictures.home.counterexamples import Counterexamples, change, worked
from normgeo.pictures.style.colors import blend, method_color
from normgeo.pictures.style.player import add_slider, frames
from normgeo.pictures.style.sheet import Band, Panel, Sheet, answer, drawn, on_panel
from normgeo.pictures.style.template import SIZE, THEMES
from normgeo.tables import marks

HIGH = 105, 90  # pixels
LIT = 0.45  # of the color of a method, over what changes
CELLS = 3  # rows and columns of the largest numbers
PHONE = (0, 1), (2,), (3, 4), (5,)


def figure(result: Counterexamples, theme: str) -> go.Figure:
    """Draw the numbers before a change above those after it; the frames are the cells."""
    cells = list(result.witnesses.items())
    grids = [_grids(one, theme) for _, one in cells]
    traces = [
        go.Heatmap(
            zmin=0,
            zmax=1,
            showscale=False,
            xgap=2,
            ygap=2,
            texttemplate="%{text}",
            hoverinfo="skip",
            textfont={"size": SIZE + 2, "color": THEMES[theme].ink},
            **on_panel(n),
            **one,
        )
        for n, one in enumerate(grids[result.opening], start=1)
    ]
    sheets = [_sheet(one, theme) for _, one in cells]
    whole, words = drawn(sheets, traces, theme, result.opening)
    add_slider(
        whole,
        frames(
            range(1, len(cells) + 1),
            [[{"type": "heatmap", **one} for one in cell] for cell in grids],
            words,
        ),
        start=result.opening,
        prefix=text("number "),
        theme=theme,
        setting="cell",
        values=[cell for cell, _ in cells],
    )
    return whole


def _grids(one: Witness, theme: str) -> list[dict[str, Any]]:
    """The numbers before and after, those that changed in color."""
    colors = [[0, THEMES[theme].panel], [1, _mixed(one, theme)]]
    found = []
    for side in (one.before, one.after):
        old = one.before
        for M, before in ((side.W, old.W), (side.X, old.X), (_a(side), _a(old))):
            rows, columns = M.shape
            words = np.full((CELLS, CELLS), "", dtype=object)
            lit = np.full((CELLS, CELLS), np.nan)
            words[:rows, :columns] = [[shown(entry) for entry in row] for row in M]
            lit[:rows, :columns] = before != M
            found.append({"text": words.tolist(), "z": lit, "colorscale": colors})
    return found


def _mixed(one: Witness, theme: str) -> str:
    return blend(THEMES[theme].paper, method_color(one.normalizer, theme), LIT)


def _a(side: Side) -> Array:
    product: Array = side.X @ side.W.T
    return product


def _sheet(one: Witness, theme: str) -> Sheet:
    said = text(
        "{method}, {label}: {change}",
        method=text(one.normalizer.title),
        label=text(one.transform.label),
        change=change(one),
    )
    rows = [
        _row(one, one.before, text("before"), ""),
        _row(one, one.after, text("after"), marks.color("✗", theme)),
    ]
    return Sheet(
        [answer(said, color=marks.color("✗", theme), sign="✗")],
        rows=rows,
        phone=PHONE,
        legend=False,
    )


def _row(one: Witness, side: Side, when: str, color: str) -> list[Panel]:
    """W, X and a on one side of the change, and the arithmetic beside them."""
    prime = "′" if color else ""
    *lines, last = worked(side, one.place)
    n, h = one.place
    z = Band([f"<b>{last}</b>"], color=color or None)
    of = text("of case {n}, neuron {h}:", n=n, h=h)
    return [
        _panel([Band([text("<b>W{prime}</b>, {when}", prime=prime, when=when)])]),
        _panel([Band([f"<b>X{prime}</b>"])]),
        _panel([Band([f"<b>a{prime}</b> = x · w"])], [Band([of, *lines]), z]),
    ]


def _panel(over: list[Band], aside: list[Band] | None = None) -> Panel:
    hidden: dict[str, Any] = {"visible": False, "fixedrange": True, "constrain": "domain"}
    return Panel(
        hidden | {"range": [-0.5, CELLS - 0.5]},
        hidden | {"range": [CELLS - 0.5, -0.5]},
        over=over,
        aside=aside or [],
        high=HIGH,
        share=2.2 if aside else 1,
        left=24,
    )
