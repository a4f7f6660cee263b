"""The entrances on the page Home: tours, each with its stops."""

from __future__ import annotations

import streamlit as st

from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.ui.frame import PAGES
from normgeo.ui.teaching import tours


def draw_ways() -> None:
    """Draw a button for each tour, which opens a list of its stops."""
    with st.container(horizontal=True, key="ways", gap="small"):
        for name in tours.names():
            try:
                tour = tours.tour(name, PAGES)
            except Refusal as error:
                st.warning(str(error), icon=":material/link_off:")
                continue
            with st.popover(str(text(tour.title)), key=f"way_{name}"):
                tours.stops(tour, "home")
