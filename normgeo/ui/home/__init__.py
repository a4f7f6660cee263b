"""The parts of the page Home."""

from __future__ import annotations

import streamlit as st

from normgeo.base.text import text
from normgeo.settings import Settings
from normgeo.ui import results, url, verdict_table
from normgeo.ui.home import linked_example
from normgeo.ui.home.ways import draw_ways

__all__ = ["draw_example", "draw_real_data", "draw_table", "draw_ways"]


def draw_example(settings: Settings) -> None:
    """Draw the integers that can be changed."""
    linked_example.draw(settings)
    st.caption(str(text("Sections 2 and 3, Eq. 2 and 3; section 5.1, Eq. 5: z = (a − μ)/σ.")))


def draw_table(settings: Settings) -> None:
    """Draw Table 1, whose cells lead to their pictures."""
    st.markdown(str(text("**What follows:** the changes that leave z as it is")))
    verdict_table.draw_with_legend(
        settings,
        "paper",
        "paper",
        on_pick=lambda cell: st.switch_page(
            "pages/invariance.py",
            query_params={**url.view_elsewhere(), **settings.to_query(), "cell": cell},
        ),
    )


def draw_real_data(settings: Settings) -> None:
    """Draw the averages in the chosen data, with the current example."""
    st.markdown(str(text("**The same in real data**, and the example as a figure for slides")))
    results.show("averages", settings)
