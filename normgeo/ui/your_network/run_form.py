"""The tab of training runs: the example or a visitor's own, with its form."""

from __future__ import annotations

import streamlit as st

from normgeo.base.text import text
from normgeo.datasets.opened import opened
from normgeo.pictures import PICTURES
from normgeo.pictures.your_network.layer import Neurons
from normgeo.pictures.your_network.own_run import RUN
from normgeo.pictures.your_network.training import Run
from normgeo.recordings.example import EXAMPLE
from normgeo.settings import Settings
from normgeo.ui import results, url
from normgeo.ui.defects import Explained
from normgeo.ui.tabs import points
from normgeo.ui.your_network import exports, uploads
from normgeo.ui.your_network.run import ChosenRun, held
from normgeo.ui.your_network.sortable import sortable

FOLLOWED = 2.0
"""Seconds between looks at a recording that may grow."""


def training(settings: Settings, drawn: Neurons) -> None:
    """Draw a training run, and above it the ways to another run."""
    mine, told = held(), None
    place = st.container(key="own_run_place")
    with Explained():
        if (refusal := uploads.refused(RUN)) is not None:
            raise refusal.anew()
    if mine is None:
        told = results.show("training_run", settings)
        if told is not None:
            st.markdown(text(EXAMPLE.story))
    else:
        with Explained():
            told = mine.told(settings)
            exports.draw(PICTURES["training_run"], told, settings.theme, "normgeo-own-run")
    if told is not None:
        _blocks(told)
    if mine is not None and opened().files.get(RUN) and not mine.files.uploads(RUN):
        _follow(mine, mine.files.state(RUN))
    if not url.bare():
        with place:
            _ways(mine)
            _ask(mine)


@st.fragment(run_every=FOLLOWED)
def _follow(mine: ChosenRun, seen: object) -> None:
    """Draw the page anew where the recording that the command line opened has grown."""
    if mine.files.state(RUN) != seen:
        st.rerun()


def _blocks(run: Run) -> None:
    """Draw the blocks in a sortable table; a clicked row is highlighted in the picture above."""
    table = run.blocks
    _choose(run)
    if run.lit is not None:
        st.markdown(str(run.of_block))
    sortable(table, "blocks_table", _light)
    st.caption(text("A click on a title sorts the table; a click on a row lights its block above."))
    points(map(str, table.notes))
    exports.report(lambda: table, "normgeo-run")


def _choose(run: Run) -> None:
    """Draw a menu of the blocks, to select one with the keyboard."""

    def changed() -> None:
        _light(st.session_state["block"])

    st.session_state["block"] = run.lit
    st.selectbox(
        str(text("block")),
        range(len(run.findings)),
        None,
        format_func=lambda b: run.findings[b].name,
        key="block",
        placeholder=str(text("none is lit")),
        on_change=changed,
        width=320,
    )


def _light(block: int | None) -> None:
    """Select a block; for a visitor's own run, the address does not name it."""
    mine = held()
    if mine is None:
        url.change(block=block)
    else:
        url.catch_up()
        mine.block = block


def _ways(mine: ChosenRun | None) -> None:
    """Name the run, and draw the way to the other."""
    there = opened().files.get(RUN, {})
    if mine is None and not there:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="own_run_ways"):
        if mine is not None:
            names = mine.files.names(RUN)
            st.markdown(
                str(
                    text("{name!s}", name=names[0])
                    if len(names) == 1
                    else text("{count} checkpoints", count=len(names))
                )
            )
        to_example = text("Back to the run that ships")
        uploads.way_back(RUN, "own_run_other", mine is not None, to_example)


def _ask(mine: ChosenRun | None) -> None:
    """Ask for a recording or checkpoints, and for the step of each of these."""
    with st.expander(
        str(text("A run of your own")), expanded=mine is not None and bool(mine.there.checkpoints)
    ):
        uploads.place(RUN, text("A recording, or two checkpoints and more"))
        st.caption(
            text(
                "Record a run with `normgeo.Recorder`, in any framework. Of checkpoints, state "
                "optimizer, rate and decay in Settings; names tell which norm takes the "
                "outputs of each layer, or state it there. `python -m normgeo training FILE…` "
                "prints the same."
            )
        )
        uploads.named()
        if mine is not None and mine.there.checkpoints:
            _steps(mine)


def _steps(mine: ChosenRun) -> None:
    """Draw the step of each checkpoint, in an editable table."""
    file, step = str(text("checkpoint")), str(text("step of the optimizer"))
    names, steps = zip(*mine.there.checkpoints, strict=True)
    edited = st.data_editor(
        {file: [*names], step: [*steps]},
        key=f"own_steps_{id(mine)}_{steps}",
        disabled=[file],
        hide_index=True,
        width="content",
        column_config={
            step: st.column_config.NumberColumn(required=True, min_value=0, step=1, format="%d")
        },
    )
    now = tuple(map(int, edited[step]))
    if now != steps:
        mine.steps = now
        st.rerun()
