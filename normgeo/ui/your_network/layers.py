"""The tab of all layers, of the examples or of a visitor's checkpoint; a row opens its layer."""

from __future__ import annotations

import streamlit as st

from normgeo.base.text import text
from normgeo.checkpoints.examples import EXAMPLES
from normgeo.pictures.your_network.layer import Neurons, every_example
from normgeo.settings import Settings
from normgeo.tables.layers import layer_records, layers_table
from normgeo.ui import url
from normgeo.ui.defects import Explained
from normgeo.ui.tabs import points
from normgeo.ui.your_network import exports
from normgeo.ui.your_network.own import held
from normgeo.ui.your_network.sortable import sortable


def layers(settings: Settings, drawn: Neurons | None) -> None:
    """Draw the table of all layers, what is missing from it, and its downloads."""
    mine = held()
    keys = (*EXAMPLES,) if mine is None else mine.there.layers
    names = keys if mine is not None else [str(one.title) for one in EXAMPLES.values()]

    def choose(row: int | None) -> None:
        if row is None:
            return
        if mine is None:
            url.change(layer=keys[row])
        else:
            url.catch_up()
            mine.choose(keys[row])

    with Explained():
        table = layers_table(every_example(settings)) if mine is None else mine.every(settings)
        sortable(table, "layers_table", choose)
        st.caption(
            text(
                "A click on a title sorts the table; a click on a row opens its layer above. "
                "Norm and place are as the names propose, and for the layer above as you "
                "state them; ε, optimizer, rate and decay are those of Settings."
            )
        )
        points(map(str, table.notes))
        exports.report(
            lambda: table,
            "normgeo-layers",
            records=lambda: layer_records(table, names),
        )
