"""The menu "Teach" in the heading of a page."""

from __future__ import annotations

import streamlit as st

from normgeo.base.text import text
from normgeo.settings import Settings
from normgeo.ui.teaching import predict


def draw(page: str, settings: Settings) -> None:
    """Draw what there is to do with a page, behind one button."""
    if page not in predict.PAGES:
        return
    with st.popover(str(text("Teach")), key="teach"):
        st.button(
            str(text("Predict, then reveal")),
            key="predict_begin",
            on_click=predict.begin,
            args=(page,),
            help=str(text("Hides the answers of this page until you have predicted them.")),
            width="stretch",
        )
