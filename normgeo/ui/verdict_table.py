"""Table 1 and its relatives on a page: a real table whose cells are buttons, and how to read it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import groupby
from typing import Any

import streamlit as st

from normgeo.base.budget import MEGABYTE
from normgeo.base.cache import cached
from normgeo.base.text import text
from normgeo.claims.table_1 import compare_with_table_1
from normgeo.invariance.cell import OWN
from normgeo.invariance.certificate import Verdict, certify
from normgeo.invariance.transforms import TRANSFORMS, Transform
from normgeo.normalizers.normalizer import Normalizer
from normgeo.settings import Settings
from normgeo.tables import marks
from normgeo.tables.verdicts import COLUMNS, ROWS, SIGNS, sign_and_word
from normgeo.ui import source

Known = Callable[[Normalizer, Transform, bool], bool]
"""Whether the verdict on a method and a change may be shown, for δ < 0 or for δ > 0."""

CHANGED = {"W": text("change weights W"), "X": text("change data X")}
STATES = {"✓": "yes", "±": "flip", "≈": "limit", "✗": "no"}
"""The class of a sign in the style sheet."""

RULES = (
    text(
        "**Re-centering is decided by the center:** layer gives W all +, batch gives X all +, "
        "weight gives both own +; nothing gives one +."
    ),
    text(
        "**Re-scaling is decided by the scale:** any but none gives W all ×; batch and layer give "
        "X all ×; batch and weight give W one ×, unless the center is layer; layer gives X one ×, "
        "unless the center is batch."
    ),
)
"""How two words decide a row, with current statistics at ε = 0."""

FROZEN = text(
    "**Frozen statistics are constants:** a frozen batch center or scale gives nothing, and a "
    "frozen batch center also takes away what the scale would give."
)

SOFTENED = text(
    "**With ε > 0** a batch or layer scale gives its re-scalings only in the limit σ² ≫ ε (≈)."
)


@cached(bytes=32 * MEGABYTE)
def verdict(normalizer: Normalizer, transform: Transform, seed: int = 0) -> Verdict:
    """`certify`, kept for all sessions."""
    return certify(normalizer, transform, seed=seed)


def rules(settings: Settings) -> tuple[str, ...]:
    """How two words decide a row, with the settings' ε and statistics."""
    cases = ((FROZEN, settings.statistics == "frozen"), (SOFTENED, settings.eps > 0))
    return (*RULES, *(sentence for sentence, applies in cases if applies))


def draw(
    normalizers: Mapping[str, Normalizer],
    transforms: Mapping[str, Transform],
    *,
    key: str,
    caption: str,
    seed: int = 0,
    selected: tuple[Normalizer, Transform] | None = None,
    negative: bool = False,
    on_pick: Callable[[str], None] | None = None,
    legend: bool = False,
    known: Known | None = None,
) -> None:
    """Draw the verdict of every normalizer (row) on every transform (column).

    Args:
        normalizers, transforms: by name, as in a cell, "layer.case_rescaling".
        key: of the element. caption: what the table answers, for a screen reader.
        seed: of the draws behind the verdicts.
        selected: the marked cell. negative: whether re-scalings are by δ < 0, until a slider of δ
            on the page moves.
        on_pick: gets the clicked cell, before the page runs again; without it the cells are no
            buttons.
        legend: whether a legend of the marks stands below.
        known: which verdicts are shown; the others are not sent to the page. None: all.

    """
    content = data(normalizers, transforms, caption, selected, negative, seed, known)
    met = {sign: word for sign, word in SIGNS.items() if STATES.get(sign) in content["marks"]}
    show(content, key, on_pick, met if legend else {})


def show(
    content: Mapping[str, Any],
    key: str,
    on_pick: Callable[[str], None] | None,
    legend: Mapping[str, str],
) -> None:
    """Draw a table of marks as `data` gives it, and below it what signs stand for."""

    def picked() -> None:
        if on_pick is not None:
            on_pick(st.session_state[key].picked)

    signs = [
        {"state": STATES.get(sign, "hidden"), "word": str(word)} for sign, word in legend.items()
    ]
    _table(
        data={**content, "legend": signs, "buttons": on_pick is not None},
        key=key,
        on_picked_change=picked,
    )


def draw_with_legend(
    settings: Settings, which: str, columns: str, *, known: Known | None = None, **options: Any
) -> None:
    """Draw one of `ROWS` by one of `COLUMNS` and its legend, which waits until all is known.

    `known` and `options` are those of `draw`.
    """
    draw(
        rows(settings, which),
        COLUMNS[columns],
        key="table",
        caption=text("Whether z stays the same, for each method (row) and change (column)"),
        seed=settings.seed,
        legend=known is None,
        known=known,
        **options,
    )


def about(settings: Settings) -> str:
    """Return the sentences about all cells: what they have in common, and with the paper."""
    return f"{duality(settings)} · {agreement(settings)}"


def data(
    normalizers: Mapping[str, Normalizer],
    transforms: Mapping[str, Transform],
    caption: str,
    selected: tuple[Normalizer, Transform] | None,
    negative: bool,
    seed: int = 0,
    known: Known | None = None,
) -> dict[str, Any]:
    """The content of the table, as JSON: each cell has a face for δ > 0 and one for δ < 0."""
    faces = {
        (row, column, side): _face(
            verdict(normalizer, transform, seed)
            if known is None or known(normalizer, transform, side)
            else None,
            side,
        )
        for row, normalizer in normalizers.items()
        for column, transform in transforms.items()
        for side in (False, True)
    }
    groups = groupby(transforms.values(), key=lambda transform: transform.matrix)
    shown = {face["state"] for face in faces.values()}
    return {
        "caption": str(caption),
        "marks": {state: marks.path(sign) for sign, state in STATES.items() if state in shown},
        "negative": negative,
        "groups": [
            {"label": str(CHANGED[matrix]), "span": len(list(members))}
            for matrix, members in groups
        ],
        "columns": [
            {
                "label": _change(transform),
                "title": str(text(transform.label)),
            }
            for transform in transforms.values()
        ],
        "rows": [
            {
                "label": _label(row, normalizer),
                "title": str(text(normalizer.title)),
                "cells": [
                    {
                        "cell": f"{row}.{column}",
                        "faces": [faces[row, column, side] for side in (False, True)],
                        "selected": (normalizer, transform) == selected,
                    }
                    for column, transform in transforms.items()
                ],
            }
            for row, normalizer in normalizers.items()
        ],
    }


def verdicts(
    normalizers: Mapping[str, Normalizer],
    transforms: Mapping[str, Transform],
    seed: int = 0,
) -> dict[tuple[str, str], Verdict]:
    """The verdict of every normalizer on every transform, by both names."""
    return {
        (row, column): verdict(normalizer, transform, seed)
        for row, normalizer in normalizers.items()
        for column, transform in transforms.items()
    }


def rows(settings: Settings, which: str) -> dict[str, Normalizer]:
    """The rows of a table, with the settings' ε, groups and statistics.

    In the paper's rows, duals stand next to each other, where their exchanged halves show best.
    The selected row is always included.
    """
    keys = (*_duals(), *ROWS[which]) if which == "paper" else ROWS[which]
    found = {key: settings.adapt(ROWS[which][key]) for key in keys}
    chosen = settings.selected[0]
    if chosen not in found.values():
        found[settings.cell.partition(".")[0]] = chosen
    return found


def duality(settings: Settings) -> str:
    """Whether the row of a method is that of its dual with W and X exchanged, in a sentence."""
    batch, layer = _duals()
    words = {
        "one": text(ROWS["paper"][layer].title),
        "other": text(ROWS["paper"][batch].title),
    }
    found = verdicts(rows(settings, "paper"), TRANSFORMS, settings.seed)
    if all(
        found[layer, key].symbol == found[batch, transform.dual.key].symbol
        for key, transform in TRANSFORMS.items()
    ):
        return text("{one} = {other} with W and X exchanged", **words)
    return text(
        "with frozen statistics, {one} is no longer {other} with W and X exchanged", **words
    )


def agreement(settings: Settings) -> str:
    """How many cells of the paper's Table 1 hold for the settings."""
    found = compare_with_table_1(verdicts(rows(settings, "paper"), COLUMNS["paper"], settings.seed))
    words = text(
        "{agreeing} of {cells} cells agree with the paper (section 5.1, Table 1, for δ > 0)",
        agreeing=found.agreeing,
        cells=found.cells,
    )
    if found.differing:
        return text("{words}, whose table is for ε = 0 and current statistics", words=words)
    return words


def _duals() -> tuple[str, str]:
    """The two rows of the paper's table that are duals of each other."""
    paper = ROWS["paper"]
    one, other = (
        key
        for key, normalizer in paper.items()
        if any(
            normalizer.dual == replace(another, name="")
            for row, another in paper.items()
            if row != key
        )
    )
    return one, other


def _change(transform: Transform) -> str:
    """A change by what it does to W or X, as in "W+γ" or "one w×δ"."""
    which, sign = transform.operation.symbol.split()
    changed, by = transform.matrix, text("δ") if sign == "×" else text("γ")
    if transform.operation.one_row:
        changed = text("one {row}", row=changed.lower())
    if which == "own":
        return str(text("own {by}", by=by))
    return str(text("{changed}{sign}{by}", changed=changed, sign=sign, by=by))


def _label(row: str, normalizer: Normalizer) -> str:
    """A row's name: its two words if the table is about words, as in "batch-layer"."""
    name = ", ".join(normalizer.words) if "-" in row else text(normalizer.title)
    if row == OWN:
        name = text("your own: {words}", words=", ".join(normalizer.words))
    frozen = normalizer.statistics == "frozen"
    return str(text("{name}, frozen", name=name)) if frozen else str(name)


def _face(verdict: Verdict | None, negative: bool) -> dict[str, str]:
    """The sign of a cell, its word and their CSS class."""
    symbol, word = "?", text("not predicted yet")
    if verdict is not None:
        symbol, word = sign_and_word(verdict, negative)
    return {"symbol": symbol, "word": str(word), "state": STATES.get(symbol, "hidden")}


_COLORS = "\n".join(
    f".{state} {{ color: light-dark({', '.join(marks.COLORS[sign])}); }}"
    for sign, state in STATES.items()
)

_table = st.components.v2.component(
    "normgeo_verdict_table",
    html='<div class="scroll"><table></table></div><p class="legend"></p>',
    css=f"{source('component.css', 'verdict_table.css')}\n{_COLORS}",
    js=source("component.js", "verdict_table.js"),
)
