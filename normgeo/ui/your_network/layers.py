"""The tab of all layers of a visitor's checkpoint: a row each, which opens its layer above."""

from __future__ import annotations

import streamlit as st

from normgeo.base.text import text
from normgeo.pictures.your_network.layer import Neurons
from normgeo.settings import Settings
from normgeo.tables.layers import layer_records
from normgeo.ui.defects import Explained
from normgeo.ui.tabs import points
from normgeo.ui.your_network import exports
from normgeo.ui.your_network.own import held
from normgeo.ui.your_network.sortable import sortable


def layers(settings: Settings, drawn: Neurons | None) -> None:
    """Draw the table of all layers, what it lacks, and its files to take."""
    mine = held()
    if mine is None:
        return
    with Explained():
        table = mine.every(settings)

        def choose(row: int | None) -> None:
            if row is not None:
                mine.choose(mine.layers[row])

        sortable(table, "layers_table", choose)
        st.caption(
            str(
                text(
                    "A click on a title sorts the table; a click on a row opens its layer above. "
                    "Norm and place are those that names propose, and of the layer above those "
                    "that are stated; ε, optimizer, rate and decay are those of Settings."
                )
            )
        )
        points(map(str, table.notes))
        exports.report(lambda: table, "normgeo-layers", records=lambda: layer_records(table))
