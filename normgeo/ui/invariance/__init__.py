"""The tabs for a cell of the table: why, how certain, and a counterexample to write down."""

from __future__ import annotations

from typing import Any

import streamlit as st

from normgeo.base.text import text
from normgeo.invariance.cell import OWN
from normgeo.invariance.transforms import TRANSFORMS
from normgeo.settings import Settings
from normgeo.ui import results, url, verdict_table
from normgeo.ui.controls import controls
from normgeo.ui.invariance.blackboard import blackboard
from normgeo.ui.invariance.certificate import certificate
from normgeo.ui.invariance.why import why
from normgeo.ui.tabs import Tabs
from normgeo.ui.verdict_table import verdict


def floating_point(settings: Settings, picture: Any) -> None:
    """Draw how exact the verdict is in floating point."""
    results.show("floating_point", settings)


def where_z_lives(settings: Settings, picture: Any) -> None:
    """Draw the cases as points in the space of three neurons."""
    found = results.show("where_z_lives", settings)
    if found is not None:
        st.caption(" ".join(map(str, found.notes)))


def own(settings: Settings, picture: Any) -> None:
    """Draw the row of one's own normalizer: two words, groups, ε, frozen."""
    with st.container(horizontal=True):
        words = "center", "scale", "groups", "eps", "statistics"
        controls(settings, words, prefix="own_", shown_to_a_room=True)
    verdict_table.draw(
        {OWN: settings.own_normalizer},
        TRANSFORMS,
        key="own_table",
        caption=text("The verdicts on your own normalizer"),
        seed=settings.seed,
        selected=settings.selected if settings.cell.startswith(f"{OWN}.") else None,
        negative=settings.delta < 0,
        on_pick=lambda picked: url.change(cell=picked, tab="own"),
    )
    st.caption(
        str(text("Choose a cell: the picture, Why, Certificate and Blackboard are then about it."))
    )


TABS: Tabs = {
    "why": (text("Why"), why),
    "certificate": (text("Certificate"), certificate),
    "floating_point": (text("Floating point"), floating_point),
    "blackboard": (text("Blackboard"), blackboard),
    "own": (text("Build your own"), own),
    "where_z_lives": (text("Where z lives"), where_z_lives),
}

OF_A_CELL: Tabs = {key: TABS[key] for key in ("why", "certificate", "floating_point", "blackboard")}
"""The tabs about the selected cell alone."""


def opening(settings: Settings) -> str:
    """The tab that opens for a cell: for ✗, the smallest counterexample."""
    found = verdict(*settings.selected, settings.seed)
    if found.only_without_eps:
        return "floating_point"
    return "why" if found.invariant else "blackboard"
