"""The page Your network: a layer, its neurons in a table, and the effects of its norm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from normgeo.base.text import text
from normgeo.checkpoints.examples import EXAMPLES
from normgeo.pictures import PICTURES
from normgeo.pictures.your_network.layer import SHARES, Neurons
from normgeo.settings import Settings
from normgeo.tables.layer import COLUMNS
from normgeo.tables.table import Table
from normgeo.ui import results, url
from normgeo.ui.defects import Explained
from normgeo.ui.possible import Judge
from normgeo.ui.tabs import Tabs, points, tabs
from normgeo.ui.your_network import exports, form, layers, network, own, run_form, uploads
from normgeo.ui.your_network.sortable import HIGH, sortable


def controls() -> tuple[str, ...]:
    """The controls of the heading: a layer or a network, and the choice of an example."""
    if network.is_asked():
        return "subject", *network.controls()
    return ("subject", "layer") if own.held() is None else ("subject",)


def defaults() -> dict[str, Any]:
    """The neuron that is selected where the address names none: that of the story."""
    shown = EXAMPLES.get(st.query_params.get("layer", Settings.layer))
    mine = network.is_asked() or own.held() is not None
    return {} if mine or shown is None else {"neuron": shown.neuron}


def question() -> str:
    """The question that the page answers, of a layer or of a network."""
    if network.is_asked():
        return text("Which changes of its weights does a network ignore?")
    return text("Which neurons still turn?")


def main_picture() -> Judge:
    """The picture that refuses settings that cannot be drawn."""
    if network.is_asked():
        return network.PICTURE
    mine = own.held()
    return "trained_layer" if mine is None else mine.require_possible


def show(settings: Settings) -> None:
    """Draw a network, or a layer and beneath it its neurons and its notes."""
    if network.is_asked():
        network.show(settings)
        return
    mine = own.held()
    place = st.container(key="own_place")
    with Explained():
        if (refusal := uploads.refused(*uploads.OF_LAYER)) is not None:
            raise refusal.anew()
    if mine is None:
        drawn = results.show("trained_layer", settings)
    else:
        drawn = None
        with Explained():
            drawn = mine.told(settings)
            exports.draw(PICTURES["trained_layer"], drawn, settings.theme, "normgeo-own-layer")
            st.caption(str(mine.there.taken_from))
            if mine.there.left_out:
                st.info(str(mine.there.left_out), icon=":material/info:")
    with place:
        form.ways()
    several = mine is None or len(mine.there.layers) > 1
    known = {
        name: tab
        for name, tab in TABS.items()
        if name not in network.TABS
        and (several if name == "layers" else name == "own" or drawn is not None)
    }
    tabs(settings, known, "own" if drawn is None else "neurons", drawn)


def neurons(settings: Settings, drawn: Neurons) -> None:
    """Draw the neurons in a sortable table; a clicked row is highlighted in the picture above."""
    _choose(drawn)
    st.markdown(str(drawn.of_neuron))
    columns = dict(_in_units(key, column) for key, column in drawn.told.items())
    st.dataframe(
        columns,
        key="neurons_table",
        height=HIGH,
        hide_index=True,
        on_select=_selected,
        selection_mode="single-row",
        placeholder="–",
        column_config={
            title: st.column_config.NumberColumn(format="%.3g")
            for title, column in columns.items()
            if any(isinstance(value, float) for value in column)
        },
    )
    st.caption(
        text("A click on a title sorts the table; a click on a row lights its neuron above.")
    )


def _in_units(key: str, column: Sequence[Any]) -> tuple[str, Sequence[Any]]:
    """The title and the values of a column: of shares, in percent as in the picture."""
    if key not in SHARES:
        return str(text(COLUMNS[key])), column
    title = text("{share}, %", share=COLUMNS[key])
    return str(title), [None if value is None else 100 * value for value in column]


def _choose(drawn: Neurons) -> None:
    """Draw a field for the number of the selected neuron, for use with the keyboard."""

    def changed() -> None:
        _light(st.session_state["neuron"])

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
        _light(int(rows[0]))


def _light(neuron: int) -> None:
    """Select a neuron; for a visitor's own layer, the address does not name it."""
    mine = own.held()
    if mine is None:
        url.change(neuron=neuron)
    else:
        url.catch_up()
        mine.neuron = neuron


def decided(settings: Settings, drawn: Neurons) -> None:
    """Write the story of an example layer, and the effects of its norm and its optimizer."""
    mine = own.held()
    if mine is None:
        st.markdown(text(EXAMPLES[settings.layer].story))
        words = st.container(key="said")
        spectrum = results.show("layer_spectrum", settings)
    else:
        words, spectrum = st.container(key="said"), mine.there.spectrum
        if spectrum is not None:
            picture = PICTURES["layer_spectrum"]
            exports.draw(picture, spectrum, settings.theme, "normgeo-own-spectrum")
    said = drawn.said if spectrum is None else spectrum.said
    told = drawn.told
    rows = tuple(zip(*told.values(), strict=True))
    table = Table(tuple(COLUMNS[key] for key in told), rows, drawn.title, notes=said)
    with words:
        points(map(str, said))
        exports.report(lambda: table, "normgeo-layer")


def epsilon(settings: Settings, drawn: Neurons) -> None:
    """Draw how much ε reduces z, and beneath it a table of the most affected pairs."""
    mine = own.held()
    if mine is None:
        found = results.show("layer_epsilon", settings)
    elif (found := mine.there.epsilon) is not None:
        picture = PICTURES["layer_epsilon"]
        exports.draw(picture, found, settings.theme, "normgeo-own-epsilon")
    else:
        st.info(str(drawn.without_pairs), icon=":material/info:")
    if found is not None:
        sortable(found.table, "epsilon_table")
        points(map(str, found.table.notes))


TABS: Tabs = {
    "neurons": (text("Its neurons"), neurons),
    "decided": (text("What its norm decides"), decided),
    "epsilon": (text("Where ε counts"), epsilon),
    "layers": (text("All layers"), layers.layers),
    "training": (text("A training run"), run_form.training),
    "own": (text("Your own layer"), form.ask),
    **network.TABS,
}
