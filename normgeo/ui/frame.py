"""What surrounds every page: the navigation, the question, the controls, the state in the URL."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from pathlib import Path

import streamlit as st
from threadpoolctl import threadpool_limits

from normgeo.base.text import text
from normgeo.datasets.datasets import DATASETS
from normgeo.pictures.style.export import KEYBOARD
from normgeo.settings import Settings
from normgeo.ui import url
from normgeo.ui.controls import controls as draw_controls

_INSIDE = "_inside_app"
_HERE = Path(__file__).parent

PAGES = (
    {"page": "pages/home.py", "title": "Home", "default": True},
    {"page": "pages/invariance.py", "title": "Invariance"},
    {"page": "pages/learning_rate.py", "title": "Learning rate"},
    {"page": "pages/symmetry.py", "title": "Symmetry"},
    {"page": "pages/fisher.py", "title": "Fisher"},
    {"page": "pages/batch.py", "title": "Batch"},
    {"page": "pages/recurrent.py", "title": "Recurrent"},
    {"page": "pages/audit.py", "title": "The paper, checked"},
)


def run() -> None:
    """Show the page that the URL asks for; app.py calls this."""
    page = _navigation()
    st.session_state[_INSIDE] = True
    try:
        page.run()
    finally:
        st.session_state[_INSIDE] = False


def begin(
    page: str, question: str, controls: Sequence[str] = (), more: Sequence[str] = ()
) -> Settings:
    """Open a page: heading, controls, warnings about the URL; return its settings.

    Args:
        page: its name, for the state that goes from page to page. question: the heading.
        controls: settings in the line of the heading. more: settings behind "Settings".

    """
    _require_app()
    _prepare_process()
    settings, problems = url.read(page)
    st.html(_HERE / "style.css")
    with st.container(horizontal=True, vertical_alignment="center", key="heading", gap="small"):
        st.title(text(question), anchor=False, width="stretch")
        draw_controls(settings, controls, labels=False)
        if more:
            with (
                st.popover(text("Settings"), key="settings"),
                st.container(horizontal=True, key="settings_inside"),
            ):
                draw_controls(settings, more)
        _copy_link(
            data={"label": text("Copy link"), "done": text("Copied")},
            key="copy_link",
            width="content",
        )
        st.button(text("Reset"), key="reset", on_click=url.reset)
        _keyboard(key="keyboard", width="content")
    for problem in problems:
        st.warning(problem, icon=":material/link_off:")
    return settings


def explain(error: ValueError) -> None:
    """Say in one calm sentence why there is no picture."""
    st.info(str(error), icon=":material/info:")


def _navigation() -> st.Page:
    return st.navigation([st.Page(**page) for page in PAGES], position="top")


def _require_app() -> None:
    """Start over through app.py where it did not run.

    The first request to a new server may run a file of pages/ on its own; once `st.navigation`
    was called, a rerun goes through app.py.
    """
    if not st.session_state.get(_INSIDE, False):
        _navigation()
        st.rerun()


@st.cache_resource(show_spinner=False)
def _prepare_process() -> None:
    """Once a process: one BLAS thread, as those of several sessions fight; a frozen heap.

    Streamlit collects garbage after each run: what is imported by now need not be searched again.
    Loading data imports the last heavy libraries, and with them their threads.
    """
    DATASETS[Settings().dataset].load()
    threadpool_limits(1)
    gc.collect()
    gc.freeze()


_keyboard = st.components.v2.component(
    "normgeo_keyboard",
    html="<span></span>",
    js=f"{KEYBOARD}\nexport default () => reachable(document.body);",
)

_copy_link = st.components.v2.component(
    "normgeo_copy_link",
    html='<button type="button"></button><span role="status"></span>',
    css=(_HERE / "copy_link.css").read_text("utf-8"),
    js=(_HERE / "copy_link.js").read_text("utf-8"),
)
