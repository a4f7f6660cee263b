"""What surrounds every page: the navigation, the question, the controls, the state in the URL."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Sequence
from pathlib import Path

import streamlit as st
from threadpoolctl import threadpool_limits

from normgeo.base.characters import code
from normgeo.base.text import Translation, marking, text, translated
from normgeo.datasets.datasets import DATASETS
from normgeo.pictures.style.export import KEYBOARD
from normgeo.settings import Settings
from normgeo.ui import results, url
from normgeo.ui.controls import controls as draw_controls
from normgeo.ui.defects import Explained

_INSIDE = "_inside_app"
_HERE = Path(__file__).parent
WARNINGS = 5  # about an address; of what is more, only the number is told

PAGES = {
    "home": text("Home"),
    "invariance": text("Invariance"),
    "learning_rate": text("Learning rate"),
    "symmetry": text("Symmetry"),
    "fisher": text("Fisher"),
    "batch": text("Batch"),
    "recurrent": text("Recurrent"),
    "audit": text("The paper, checked"),
}
"""The title of each file in pages/, in the order of the navigation; the first one is the start."""


def translation() -> Translation:
    """What a visitor's sentences are shown through: there is English only."""
    return str


def run() -> None:
    """Show the page that the URL asks for; app.py calls this."""
    with translated(translation()), marking(code):
        page = _navigation()
        st.session_state[_INSIDE] = True
        try:
            with Explained():
                page.run()
        finally:
            st.session_state[_INSIDE] = False


def begin(
    page: str,
    question: str,
    controls: Sequence[str] = (),
    more: Sequence[str] = (),
    tabs: Iterable[str] = (),
) -> Settings:
    """Open a page: heading, controls, warnings about the URL; return its settings.

    Args:
        page: its name, for the state that goes from page to page. question: the heading.
        controls: settings in the line of the heading. more: settings behind "Settings".
        tabs: the words that the setting `tab` may be here.

    """
    _require_app()
    _prepare_process()
    settings, problems = url.read(page, tabs)
    st.html(_HERE / "style.css")
    with st.container(horizontal=True, vertical_alignment="center", key="heading", gap="small"):
        st.title(str(text(question)), anchor=False, width="stretch")
        draw_controls(settings, controls, labels=False)
        if more:
            with (
                st.popover(str(text("Settings")), key="settings"),
                st.container(horizontal=True, key="settings_inside"),
            ):
                draw_controls(settings, more)
        _copy_link(
            data={"label": str(text("Copy link")), "done": str(text("Copied"))},
            key="copy_link",
            width="content",
        )
        st.button(str(text("Reset")), key="reset", on_click=url.reset)
        _keyboard(key="keyboard", width="content")
    _warn(problems)
    return settings


def _warn(problems: Sequence[str]) -> None:
    """Say what could not be used of the address, a few of many."""
    told = list(problems[:WARNINGS])
    if more := len(problems) - len(told):
        told.append(
            text("The address holds {more:,} more values that could not be used.", more=more)
            if more > 1
            else text("The address holds one more value that could not be used.")
        )
    for problem in told:
        st.warning(str(problem), icon=":material/link_off:")


def _navigation() -> st.Page:
    pages = [
        st.Page(f"pages/{name}.py", title=str(title), default=place == 0)
        for place, (name, title) in enumerate(PAGES.items())
    ]
    return st.navigation(pages, position="top")


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
    """Once a process: workers, one BLAS thread, as those of sessions fight; a frozen heap.

    Streamlit collects garbage after each run: what is imported by now need not be searched again.
    Loading data imports the last heavy libraries, and with them their threads.
    """
    if not st.get_option("global.appTest"):
        results.POOL.start()
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
