"""The menu "Teach" in the heading of a page."""

from __future__ import annotations

import streamlit as st

from normgeo.base.text import text
from normgeo.settings import Settings
from normgeo.ui import url
from normgeo.ui.teaching import break_it, predict


def draw(page: str, settings: Settings) -> None:
    """Draw the button that opens the menu."""
    with st.popover(str(text("Teach")), key="teach", on_change=url.catch_up):
        st.button(
            str(text("Present")),
            key="present_begin",
            on_click=url.show,
            kwargs={"present": "1"},
            help=str(text("Shows the page to a room: larger, without controls, tabs as slides.")),
            width="stretch",
        )
        if page in predict.PAGES:
            predict.button(page)
        break_it.buttons(page, settings)
