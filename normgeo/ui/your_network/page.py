"""The page Your network: a layer, its neurons in a table, and what its norm decides."""

from __future__ import annotations

from functools import partial

import streamlit as st

from normgeo.base.text import text
from normgeo.layers.examples import EXAMPLES
from normgeo.pictures import PICTURES
from normgeo.pictures.style.chart import Chart
from normgeo.pictures.style.export import STATIC, to_bytes
from normgeo.pictures.style.player import CONFIG
from normgeo.pictures.style.printing import to_pdf
from normgeo.pictures.your_network.layer import Neurons
from normgeo.recordings.example import EXAMPLE
from normgeo.settings import Settings
from normgeo.tables.formats import render
from normgeo.tables.layer import COLUMNS
from normgeo.tables.printed import page
from normgeo.tables.table import Table
from normgeo.ui import results, url
from normgeo.ui.defects import Explained
from normgeo.ui.export_row import download, why_no_browser
from normgeo.ui.tabs import Tabs, points, tabs
from normgeo.ui.your_network import form, own

PICTURE = PICTURES["trained_layer"]
HIGH = 320  # pixels of the table


def controls() -> tuple[str, ...]:
    """What the heading asks for: which of the layers that ship, where it is one of them."""
    return ("layer",) if own.held() is None else ()


def show(settings: Settings) -> None:
    """Draw a layer that ships, and beneath it its neurons and what is to be said of it."""
    mine = own.held()
    place = st.container(key="own_place")
    with Explained():
        if (refusal := form.refused()) is not None:
            raise refusal.anew()
    if mine is None:
        drawn = results.show("trained_layer", settings)
    else:
        drawn = None
        with Explained():
            drawn = mine.told(settings)
            _draw(settings, drawn)
    with place:
        form.ways()
    known = TABS if drawn is not None else {"own": TABS["own"]}
    tabs(settings, known, next(iter(known)), drawn)


def _draw(settings: Settings, drawn: Neurons) -> None:
    """Draw a visitor's own layer, of which nothing is kept for others, and its files to take."""
    chart = Chart(PICTURE.figure(drawn, settings.theme))
    with st.container(key="view_trained_layer"):
        st.plotly_chart(
            chart,
            key="figure_trained_layer",
            theme=None,
            alt=PICTURE.description(drawn),
            config=CONFIG,
        )
        missing, table = why_no_browser(), PICTURE.table(drawn)
        with st.container(horizontal=True, key="export_trained_layer"):
            for format in ("html", *STATIC):
                download(
                    "trained_layer",
                    format.upper(),
                    format,
                    partial(_figure_file, drawn, settings.theme, format),
                    file="normgeo-own-layer",
                    help=missing if format in STATIC else None,
                )
            for format in ("csv", "json"):
                download(
                    "trained_layer",
                    format.upper(),
                    format,
                    partial(_table_file, table, format),
                    file="normgeo-own-layer",
                )


def _figure_file(drawn: Neurons, theme: str, format: str) -> bytes:
    return to_bytes(
        PICTURE.figure(drawn, theme),
        format,
        title=PICTURE.title,
        alt=PICTURE.description(drawn),
        about=[drawn.title],
    )


def _table_file(table: Table, format: str) -> bytes:
    return render(table, format).encode()


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
    """Select a neuron; which one of a visitor's own layer is no part of the address."""
    mine = own.held()
    if mine is None:
        url.change(neuron=neuron)
    else:
        mine.neuron = neuron


def decided(settings: Settings, drawn: Neurons) -> None:
    """Write the story of a layer that ships, and what its norm and its optimizer decide."""
    if own.held() is None:
        st.markdown(str(text(EXAMPLES[settings.layer].story)))
    points(map(str, drawn.said))
    told = drawn.told
    rows = tuple(zip(*told.values(), strict=True))
    table = Table(tuple(COLUMNS[key] for key in told), rows, drawn.title, notes=drawn.said)
    with st.container(horizontal=True, key="export_report"):
        download(
            "report",
            text("Report as HTML"),
            "html",
            lambda: page(table).encode(),
            file="normgeo-layer",
        )
        download(
            "report",
            text("Report as PDF"),
            "pdf",
            lambda: to_pdf(page(table)),
            file="normgeo-layer",
            help=why_no_browser(),
        )


def training(settings: Settings, drawn: Neurons) -> None:
    """Draw the training run that ships, and say how one's own is recorded and looked at."""
    run = results.show("training_run", settings)
    if run is None:
        return
    st.markdown(str(text(EXAMPLE.story)))
    points([str(run.optimizer.equilibrium_assumes), *map(str, run.notes)])
    st.markdown(
        str(
            text(
                "Record a run of your own with `normgeo.Recorder`, in any framework; "
                "`python -m normgeo training FILE` prints the same of it."
            )
        )
    )


TABS: Tabs = {
    "neurons": (text("Its neurons"), neurons),
    "decided": (text("What its norm decides"), decided),
    "training": (text("A training run"), training),
    "own": (text("Your own layer"), form.ask),
}
