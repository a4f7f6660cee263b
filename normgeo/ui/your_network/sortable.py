"""A table of numbers, sorted by a click on a heading, with selectable rows."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite

import streamlit as st

from normgeo.base.text import marking
from normgeo.tables.table import Table

HIGH, SHORT = 320, 8  # pixels of a row, and rows in view at any size of type


def sortable(table: Table, key: str, chosen: Callable[[int | None], None] | None = None) -> None:
    """Draw the columns of a table that are not empty; `chosen` gets the selected row, or None."""

    def changed() -> None:
        rows = st.session_state[key].selection.rows
        if chosen is not None:
            chosen(int(rows[0]) if rows else None)

    columns = {
        str(title): [*map(_shown, column)]
        for title, column in zip(table.columns, zip(*table.rows, strict=True), strict=True)
    }
    known = {title: column for title, column in columns.items() if column != [None] * len(column)}
    st.dataframe(
        known,
        key=key,
        height="content" if len(table.rows) <= SHORT else HIGH,
        hide_index=True,
        placeholder="–",
        on_select="ignore" if chosen is None else changed,
        selection_mode="single-row",
        column_config={
            title: st.column_config.NumberColumn(format="%.3g")
            for title, column in known.items()
            if any(isinstance(value, float) for value in column)
        },
    )


def _shown(value: object) -> object:
    """A cell, empty for an unknown number. No cell is read as markup."""
    if isinstance(value, str):
        with marking(str):
            return str(value)
    return None if isinstance(value, float) and not isfinite(value) else value
