"""Table 1 and its relatives on a page: a real table whose cells are buttons."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

import streamlit as st

from normgeo.base.text import text
from normgeo.invariance.certificate import Verdict
from normgeo.invariance.transforms import Transform
from normgeo.normalizers.normalizer import Normalizer
from normgeo.ui import cached

_HERE = Path(__file__).parent

STATES = {"✓": "yes", "±": "flip", "≈": "limit", "✗": "no"}


def draw(
    normalizers: Mapping[str, Normalizer],
    transforms: Mapping[str, Transform],
    *,
    key: str,
    caption: str,
    selected: tuple[Normalizer, Transform] | None = None,
    negative: bool = False,
    on_pick: Callable[[str], None] | None = None,
) -> None:
    """Draw the verdict of every normalizer (row) on every transform (column).

    Args:
        normalizers, transforms: by name, as in a cell, "layer.case_rescaling".
        key: of the element. caption: what the table answers, for a screen reader.
        selected: the cell that is marked. negative: re-scalings are by δ < 0.
        on_pick: takes the cell that is clicked, before the page runs again; without it the
            cells are no buttons.

    """

    def picked() -> None:
        if on_pick is not None:
            on_pick(st.session_state[key].picked)

    content = data(normalizers, transforms, caption, selected, negative)
    _table(data={**content, "buttons": on_pick is not None}, key=key, on_picked_change=picked)


def data(
    normalizers: Mapping[str, Normalizer],
    transforms: Mapping[str, Transform],
    caption: str,
    selected: tuple[Normalizer, Transform] | None,
    negative: bool,
) -> dict[str, Any]:
    """Return what the table shows, as JSON."""
    verdicts = cached.verdicts(normalizers, transforms)
    groups = groupby(transforms.values(), key=lambda transform: transform.matrix)
    return {
        "caption": text(caption),
        "groups": [
            {"label": text("change {M}", M=matrix), "span": len(list(members))}
            for matrix, members in groups
        ],
        "columns": [
            {"label": text(transform.operation.symbol), "title": text(transform.label)}
            for transform in transforms.values()
        ],
        "rows": [
            {
                "label": _label(row, normalizer),
                "title": text(normalizer.title),
                "cells": [
                    _cell(
                        f"{row}.{column}",
                        verdicts[row, column],
                        negative,
                        (normalizer, transform) == selected,
                    )
                    for column, transform in transforms.items()
                ],
            }
            for row, normalizer in normalizers.items()
        ],
    }


def symbol_and_word(verdict: Verdict, negative: bool) -> tuple[str, str]:
    """Return the sign of a verdict, and the same in words, for δ < 0 where `negative`."""
    if negative and verdict.sign_flip:
        return "±", text("sign flip")
    return verdict.symbol, text(verdict.word)


def _label(row: str, normalizer: Normalizer) -> str:
    """Return a row's name: the two words where the table is about words, as in "batch-layer"."""
    name = ", ".join(normalizer.words) if "-" in row else text(normalizer.title)
    return text("{name}, frozen", name=name) if normalizer.statistics == "frozen" else name


def _cell(cell: str, verdict: Verdict, negative: bool, selected: bool) -> dict[str, Any]:
    symbol, word = symbol_and_word(verdict, negative)
    return {
        "cell": cell,
        "symbol": symbol,
        "word": word,
        "state": STATES[symbol],
        "selected": selected,
    }


_table = st.components.v2.component(
    "normgeo_verdict_table",
    html='<div class="scroll"><table></table></div>',
    css=(_HERE / "verdict_table.css").read_text("utf-8"),
    js=(_HERE / "verdict_table.js").read_text("utf-8"),
)
