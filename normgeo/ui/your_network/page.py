"""The page Your network: a layer, its neurons in a table, and what its norm decides."""

from __future__ import annotations

import streamlit as st

from normgeo.base.text import text
from normgeo.layers.examples import EXAMPLES
from normgeo.pictures.your_network.layer import Neurons
from normgeo.settings import Settings
from normgeo.tables.layer import COLUMNS
from normgeo.ui import results, url
from normgeo.ui.tabs import Tabs, points, tabs

HIGH = 320  # pixels of the table


def show(settings: Settings) -> None:
    """Draw a layer that ships, and beneath it its neurons and what is to be said of it."""
    drawn = results.show("trained_layer", settings)
    if drawn is not None:
        tabs(settings, TABS, "neurons", drawn)


def neurons(settings: Settings, drawn: Neurons) -> None:
    """Draw the neurons in a table that can be sorted; a row that is clicked is lit above."""
    _choose(drawn)
    st.markdown(str(drawn.of_neuron))
    told = drawn.told
    st.dataframe(
        {str(text(COLUMNS[key])): column for key, column in told.items()},
        key="neurons_table",
        height=HIGH,
        hide_index=True,
        on_select=_selected,
        selection_mode="single-row",
        column_config={
            str(text(COLUMNS[key])): st.column_config.NumberColumn(format="%.3g")
            for key, column in told.items()
            if isinstance(column[0], float)
        },
    )
    st.caption(
        str(text("A click on a title sorts the table; a click on a row lights its neuron above."))
    )


def _choose(drawn: Neurons) -> None:
    """Draw the number of the selected neuron, for the keyboard."""

    def changed() -> None:
        url.change(neuron=st.session_state["neuron"])

    st.session_state["neuron"] = drawn.neuron
    st.number_input(
        str(text("neuron")),
        0,
        len(drawn.values["neuron"]) - 1,
        step=1,
        key="neuron",
        on_change=changed,
        width=160,
    )


def _selected() -> None:
    rows = st.session_state["neurons_table"].selection.rows
    if rows:
        url.change(neuron=int(rows[0]))


def decided(settings: Settings, drawn: Neurons) -> None:
    """Write the story of the layer, and what its norm and its optimizer decide."""
    st.markdown(str(text(EXAMPLES[settings.layer].story)))
    points(map(str, drawn.said))


TABS: Tabs = {
    "neurons": (text("Its neurons"), neurons),
    "decided": (text("What its norm decides"), decided),
}
