"""The whole numbers of the story's example, which a visitor may change."""

from __future__ import annotations

import numpy as np
import streamlit as st

from normgeo.base.text import text
from normgeo.normalizers.example import LARGEST_ENTRY, read, written
from normgeo.settings import Settings
from normgeo.ui import url


def draw(settings: Settings) -> None:
    """Draw the numbers of X and W behind a button; what is typed goes into the address."""
    X, W = read(settings.example)
    with st.popover(str(text("Change the numbers")), key="numbers"):
        tables = {"X": (X, text("X: a row is a case")), "W": (W, text("W: a row is a neuron"))}
        edited = []
        for name, (M, title) in tables.items():
            st.markdown(str(title))
            entry = st.column_config.NumberColumn(
                min_value=-LARGEST_ENTRY, max_value=LARGEST_ENTRY, step=1, required=True
            )
            # The address keeps an edit: a new table begins from there.
            key = f"example_{name}_{settings.example}"
            columns = {str(d): entry for d in range(M.shape[1])}
            edited.append(st.data_editor(M, key=key, column_config=columns, hide_index=True))
    found = written(*(np.asarray(one, int) for one in edited))
    if found != settings.example:
        url.change(example=found)
        st.rerun()
