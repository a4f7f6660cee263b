"""The page Your network, of a whole one: its measured table, and what is told of a cell of it."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from normgeo.base.text import text
from normgeo.datasets.opened import opened
from normgeo.measured.changes import CHANGES
from normgeo.measured.judging import WORDS, Verdict
from normgeo.measured.places import STYLES, block_of
from normgeo.measured.roles import ROLES
from normgeo.pictures import PICTURES
from normgeo.pictures.your_network.network import Network
from normgeo.pictures.your_network.own_network import NETWORK
from normgeo.settings import Settings
from normgeo.tables import marks
from normgeo.tables.files import FILES, as_file
from normgeo.ui import results, url, verdict_table
from normgeo.ui.defects import Explained
from normgeo.ui.share.files import download
from normgeo.ui.tabs import Tabs, points, tabs
from normgeo.ui.your_network import exports, uploads
from normgeo.ui.your_network.own_network import OwnNetwork, held
from normgeo.ui.your_network.place_drawings import drawing
from normgeo.ui.your_network.sortable import sortable

PICTURE = "measured_network"
SHOWN = 400  # tensors of a table on a page: each has six buttons
_ALL = "network_vectors"


def is_asked() -> bool:
    """Whether the address asks for a whole network, and not for one layer."""
    return st.query_params.get("subject") == "network"


def controls() -> tuple[str, ...]:
    """What the heading asks for: which of the tables that ship, where it is one of them."""
    return ("network",) if held() is None else ()


def show(settings: Settings) -> None:
    """Draw a measured table, beside it how much the column moves, and beneath it the tabs."""
    mine, drawn = held(), None
    with Explained():
        if (refusal := uploads.refused(NETWORK)) is not None:
            raise refusal.anew()
    _ways(mine)
    left, right = st.columns([660, 580], gap="medium")
    with right:
        if mine is None:
            drawn = results.show(PICTURE, settings)
        else:
            with Explained():
                drawn = mine.told()
                exports.draw(PICTURES[PICTURE], drawn, settings.theme, "normgeo-own-network")
    if drawn is not None:
        with left:
            _table(drawn, mine)
        with right:
            points(map(str, drawn.said))
    known = {name: tab for name, tab in TABS.items() if drawn is not None or name == "table"}
    tabs(settings, known, "table" if drawn is None else "network", drawn)


def _ways(mine: OwnNetwork | None) -> None:
    """Say whose table it is, and draw the way to the others."""
    there = opened().files.get(NETWORK, {})
    if url.bare() or (mine is None and not there):
        return
    with st.container(horizontal=True, vertical_alignment="center", key="network_ways"):
        if mine is not None:
            st.markdown(text("{names!s}", names=", ".join(mine.files.names(NETWORK))))
        to_example = text("Back to the tables that ship")
        uploads.way_back(NETWORK, "network_other", mine is not None, to_example)


def _table(drawn: Network, mine: OwnNetwork | None) -> None:
    """Draw the marks of all weights, or of all tensors; a click selects a cell."""
    table = drawn.table
    weights = [n for n in drawn.names if table.roles.get(n, "matrix") == "matrix"]
    everything = st.toggle(
        str(
            text(
                "with the {count} gains, biases and other vectors",
                count=len(drawn.names) - len(weights),
            )
        ),
        key=_ALL,
        disabled=len(weights) == len(drawn.names),
    )
    names = drawn.names if everything else tuple(weights)

    def pick(cell: str) -> None:
        number, change = cell.split(".")
        if mine is None:
            url.change(tensor=int(number), change=change)
        else:
            mine.tensor, mine.change = int(number), change

    verdict_table.show(content(drawn, names[:SHOWN]), "network_table", pick, WORDS)
    if len(names) > SHOWN:
        st.caption(
            text(
                "The first {shown} of {count} are here; `python -m normgeo network FILE.json` "
                "prints all.",
                shown=SHOWN,
                count=len(names),
            )
        )


def content(drawn: Network, names: tuple[str, ...]) -> dict[str, Any]:
    """What the table shows of some tensors, as JSON: see `verdict_table.data`."""
    table, places = drawn.table, {name: n for n, name in enumerate(drawn.names)}
    blocks, before, rows = table.blocks, "", []
    for name in names:
        block = block_of(name)
        row: dict[str, Any] = {
            "label": name[len(block) + 1 :] if block in blocks else name,
            "title": f"{name}, {' × '.join(map(str, table.tensors[name].shape))}"
            + (f", {ROLES[table.roles[name]]}" if name in table.roles else ""),
            "drawing": drawing(table.place(name)),
            "cells": [
                None if verdict is None else _cell(drawn, places[name], change, verdict)
                for change, verdict in table.tensors[name].verdicts.items()
            ],
        }
        if block != before and block in blocks:
            style = blocks[block]
            row["over"] = {"label": block, "title": str(STYLES[style]), "state": style}
        elif block != before and before in blocks:
            row["over"] = {"label": "", "title": "", "state": ""}
        before = block
        rows.append(row)
    return {
        "caption": str(text("Whether the network ignores each change (column) of a tensor (row)")),
        "marks": {state: marks.path(sign) for sign, state in verdict_table.STATES.items()},
        "negative": False,
        "groups": [
            {"label": str(text("rows: neurons")), "span": 4},
            {"label": str(text("columns")), "span": 2},
        ],
        "columns": [{"label": str(title), "title": str(title)} for title in CHANGES.values()],
        "rows": rows,
    }


def _cell(drawn: Network, number: int, change: str, verdict: Verdict) -> dict[str, Any]:
    state = verdict_table.STATES.get(verdict.sign, "hidden")
    face = {"symbol": verdict.sign, "word": str(verdict.word), "state": state}
    return {
        "cell": f"{number}.{change}",
        "faces": [face, face],
        "selected": (number, change) == (drawn.tensor, drawn.change),
    }


def story(settings: Settings, drawn: Network) -> None:
    """Write what to see in the network, and what is to be said of all of its table."""
    if drawn.story:
        st.markdown(text(drawn.story))
    points(map(str, drawn.table.notes()))
    with st.container(horizontal=True, key="export_table"):
        for kind in FILES:
            made = partial(drawn.table.content, kind)
            download("table", kind.upper(), kind, made, file="normgeo-network")


def decay(settings: Settings, drawn: Network) -> None:
    """Draw the parameter groups for weight decay."""
    with Explained():
        table = drawn.table.groups().table()
        sortable(table, "groups_table")
        with st.container(horizontal=True, key="export_groups"):
            for kind in FILES:
                made = partial(as_file, kind, table)
                download("groups", kind.upper(), kind, made, file="normgeo-weight-decay")


def ask(settings: Settings, drawn: Network | None) -> None:
    """Ask for a table of the visitor's own."""
    uploads.place(NETWORK, text("A measured table, .json"))
    st.caption(
        text(
            '`normgeo.measure(f, parameters).save("network.json")` writes one, in any '
            "framework, and so does `python -m normgeo network MODULE:FUNCTION -o "
            "network.json`."
        )
    )
    uploads.named()


TABS: Tabs = {
    "network": (text("What to see"), story),
    "weight_decay": (text("Weight decay"), decay),
    "table": (text("Your own table"), ask),
}
