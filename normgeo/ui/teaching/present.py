"""Presenting: a page as slides for a room, and one figure alone for slides and platforms.

The address says which: `?present=1` and `?embed=true`.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

import streamlit as st

from normgeo.base.text import text
from normgeo.settings import Settings
from normgeo.ui import source, url

_HERE = Path(__file__).parent
MAIN = Settings.tab
"""The slide without a tab: the page's main picture."""

KEYS = {
    text("→ and Page Down, ← and Page Up"): text(
        "The next slide, and the one before; in a tour, its stops. On a slider → and ← move it."
    ),
    text("Escape"): text("Ends presenting."),
    text("?"): text("Opens this list."),
}
"""What the keys of a presentation do."""


def begin(settings: Settings) -> None:
    """Style a page for presenting or embedding, if the address asks for it."""
    if not url.bare():
        return
    st.html(_HERE / "present.css")
    embedded = url.embedded()
    if embedded:
        st.html(_HERE / "embed.css")
        page, _, state = url.link(settings).partition("?")
        query = urlencode({**url.view(), **dict(parse_qsl(state))})
        whole = f"{page}?{query}" if query else page
        st.html(
            f'<a class="whole" href="{escape(whole)}" target="_blank">{text("The whole page")}</a>'
        )
    _present(key="present", data={"embedded": embedded})


def leave() -> None:
    """Draw the button that ends presenting; Escape presses it."""
    st.button(
        "✕",
        key="present_leave",
        help=str(text("End presenting (Escape)")),
        type="tertiary",
        on_click=url.show,
        kwargs={"present": None},
    )


def slides(settings: Settings, titles: Mapping[str, str]) -> str:
    """Draw the buttons between the slides of a page; return the current tab, `MAIN` for none.

    Args:
        settings: their tab is the slide. titles: of the page's tabs, by name.

    """
    names = [MAIN, *titles]
    here = names.index(settings.tab) if settings.tab in titles else 0
    if not url.embedded():
        with st.container(key="slides", horizontal=True, gap="small", width="content"):
            st.markdown(titles.get(names[here], ""))
            for key, by, label in (("back", -1, "‹"), ("next", 1, "›")):
                st.button(
                    label,
                    key=f"slide_{key}",
                    help=str(text("The slide before") if by < 0 else text("The next slide")),
                    type="tertiary",
                    disabled=not 0 <= here + by < len(names),
                    on_click=url.change,
                    kwargs={"tab": names[(here + by) % len(names)]},
                )
    return names[here]


_present = st.components.v2.component(
    "normgeo_present",
    html="<span></span>",
    js=source("teaching/arrows.js", "teaching/present.js"),
)
