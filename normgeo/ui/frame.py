"""What surrounds every page: the navigation, the question, the controls, the state in the URL."""

from __future__ import annotations

import gc
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextvars import ContextVar
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import streamlit as st
from threadpoolctl import threadpool_limits

from normgeo.base.characters import code
from normgeo.base.text import marking, text
from normgeo.datasets.datasets import DATASETS
from normgeo.datasets.opened import opened
from normgeo.pictures import PAGE_OF, PICTURES
from normgeo.pictures.style.player import PANEL
from normgeo.settings import SETTINGS, Settings
from normgeo.ui import presence, source, url
from normgeo.ui.ahead import Ahead
from normgeo.ui.computing.server import Server, here
from normgeo.ui.controls import controls as draw_controls
from normgeo.ui.controls import differing
from normgeo.ui.defects import Explained, each_once
from normgeo.ui.possible import Judge, left_out
from normgeo.ui.share import files
from normgeo.ui.teaching import beside, glossary, menu, pin, present, tours
from normgeo.workers.pool import Pool

_BEGUN, _SHOWN = "_begun", "_shown_page"
# Not in the session's state: a script that a click ends resets this while the next one begins and
# Streamlit iterates over that state.
_INSIDE = ContextVar("inside_app", default=False)
_HERE = Path(__file__).parent
NARROW = 150  # pixels of a widget in the heading
WARNINGS = 5  # about an address; more of them are only counted

PAGES = {
    "home": text("Home"),
    "invariance": text("Invariance"),
    "learning_rate": text("Learning rate"),
    "symmetry": text("Symmetry"),
    "fisher": text("Fisher"),
    "batch": text("Batch"),
    "recurrent": text("Recurrent"),
    "depth": text("Depth"),
    "experiments": text("Experiments"),
    "your_network": text("Your network"),
    "audit": text("The paper, checked"),
}
"""The title of each file in pages/, in the order of the navigation; the first one is the start."""


def run() -> None:
    """Show the page that the URL asks for; app.py calls this."""
    with marking(code):
        page = _navigation()
        token = _INSIDE.set(True)
        try:
            with each_once(), pin.places() as places:
                with Explained():
                    page.run()
                for place in places:
                    beside.draw(place)
        finally:
            _INSIDE.reset(token)


def begin(
    page: str,
    question: str,
    symbols: str,
    controls: Sequence[str] = (),
    more: Sequence[str] = (),
    tabs: Iterable[str] = (),
    defaults: Mapping[str, Any] = url.NONE,
    picture: Judge = "",
    follows: Iterable[str] | None = None,
) -> Settings:
    """Open a page: heading, controls, warnings about the URL; return its settings.

    Args:
        page: its name, for the state that goes from page to page. question: the heading.
        symbols: the entries of the glossary that the page needs, in order, as in "a|z|neuron".
        controls: settings in the line of the heading. more: settings behind "Settings".
        tabs: the words that the setting `tab` may be here.
        defaults: the page's own defaults, for settings that are not in the URL.
        picture: the main one, or the judge of a visitor's own layer; settings that it refuses
            cannot be chosen.
        follows: settings that it takes over from other pages; None for all that its pictures use.

    """
    _require_app()
    presence.stay()
    _open_first(page)
    server = here(_server)
    _prepare_process()
    place, lost = tours.here(page, PAGES)
    pictures = [PICTURES[name] for name, where in PAGE_OF.items() if where == page]
    used = [each.uses for each in pictures] if follows is None else [follows]
    own = {*controls, *more}.union(*used)
    settings, problems = url.read(page, tabs, {**defaults, **tours.defaults(place)}, own)
    st.html(_HERE / "style.css")
    present.begin(settings)
    if place:
        tours.bar(place, asks=bool(settings.predict))
    with st.container(horizontal=True, vertical_alignment="center", key="heading", gap="small"):
        if not url.bare():
            _pages(page)
            _options(key="show_options", data={"label": str(text("Options"))}, width="content")
        st.title(str(text(question)), anchor=False, width="stretch")
        if url.bare():
            present.leave()
        else:
            with st.container(horizontal=True, key="options", gap="small", width="content"):
                draw_controls(settings, controls, labels=False, picture=picture, width=NARROW)
                if more:
                    sliders = {each.study.slider for each in pictures}
                    _settings(settings, controls, more, picture, sliders)
                menu.draw(page, settings)
                files.button(shown=True)
                st.button(str(text("Reset")), key="reset", on_click=url.reset)
            glossary.draw(symbols, button=True)
        _player(
            key="player",
            data={"skip": str(text("To the picture"))},
            width="content",
            on_theme_change=url.catch_up,
            on_picked_change=_picked,
        )
    if url.bare():
        files.button(shown=False)
        keys = present.KEYS if url.presenting() else glossary.NO_KEYS
        glossary.draw(symbols, button=False, keys=keys)
    pin.bar(page, PAGES, settings)
    with st.container():  # the figure keeps its place when the warnings go
        _warn((*lost, *problems))
    server.on_visit(page, settings, controls)
    return settings


def _settings(
    settings: Settings,
    controls: Sequence[str],
    names: Sequence[str],
    picture: Judge,
    sliders: Collection[str],
) -> None:
    """Draw the button that opens settings, and the number of those that are not the default.

    The number stands beside it: a button whose label changes would close. What a slider moves is
    seen there, and does not count.
    """
    other = differing(settings, (name for name in names if name not in sliders))
    opened = st.popover(str(text("Settings")), key="settings", on_change=url.catch_up)
    if other:
        st.markdown(f":blue-badge[{len(other)}]", width="content")
    if not opened.open:
        return
    labels = ", ".join(str(SETTINGS[name].label) for name in other)
    missing = [why for name in controls for why in left_out(picture, settings, name)]
    with opened:
        with st.container(horizontal=True, key="strip", gap="small"):
            one_method = "method" in controls
            draw_controls(settings, names, one_method=one_method, picture=picture)
        if other:
            st.caption(text("Not the default: {labels}", labels=labels))
        if missing:  # the lists of the heading have no help of their own
            told = "\n\n".join(map(str, missing))
            st.caption(text("The heading offers what works here."), help=told)


def _picked() -> None:
    """Take the case, the neuron or the tab whose picture was clicked."""
    setting, value = st.session_state["player"].picked
    if setting in ("index", "neuron", "tab"):
        url.change(**{setting: value})


def _warn(problems: Sequence[str]) -> None:
    """Warn about the first few values of the address that could not be used."""
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


def _pages(page: str) -> None:
    """Draw the menu of pages for a phone, which has no room for the navigation."""
    if st.session_state.get(_SHOWN) != page:
        st.session_state[_SHOWN], st.session_state["pages"] = page, False
    opened = st.popover(str(text("Pages")), key="pages", on_change=url.catch_up)
    if opened.open:
        with opened:
            for name, title in PAGES.items():
                st.page_link(f"pages/{name}.py", label=str(title))


def _require_app() -> None:
    """Start over through app.py where it did not run.

    The first request to a new server may run a file of pages/ on its own; once `st.navigation`
    was called, a rerun goes through app.py.
    """
    if not _INSIDE.get():
        _navigation()
        st.rerun()


def _open_first(page: str) -> None:
    """Open the files given on the command line, if a session begins at the bare address."""
    begun, st.session_state[_BEGUN] = st.session_state.get(_BEGUN, False), True
    if not begun and page == next(iter(PAGES)) and opened().files and not st.query_params:
        there = opened().files
        query = {"tab": "training"} if "training" in there else {"subject": "network"}
        query = {} if "weights" in there else query
        st.switch_page("pages/your_network.py", query_params=query)


@st.cache_resource(show_spinner=False)
def _prepare_process() -> None:
    """Once a process: limit BLAS to one thread, and freeze the heap.

    BLAS threads of several sessions compete for the cores. Streamlit collects garbage after each
    run, and need not search the modules imported so far. Loading data imports the last heavy
    libraries, with their threads.
    """
    DATASETS[Settings().dataset].load()
    threadpool_limits(1)
    gc.collect()
    gc.freeze()


@st.cache_resource(show_spinner=False)
def _server() -> Server:
    """The server of this process, which begins with what pages open with.

    Imports take seconds: workers do them before the first computation waits for them.
    """
    modules = (partial(import_module, name) for name in ("normgeo.pictures", "normgeo.claims"))
    server = Server(Pool(prepare=(*modules, DATASETS[Settings.dataset].load)))
    server.pool.start()
    Ahead(server).start()
    return server


_SCRIPTS = (
    "embed.js",
    "figures/picking.js",
    "moving.js",
    "popover.js",
    "teaching/pin.js",
    "theme.js",
)
_player = st.components.v2.component(
    "normgeo_player",
    html="<span></span>",
    js=f"{PANEL}\n{source(*_SCRIPTS)}",
)

_options = st.components.v2.component(
    "normgeo_options",
    html='<button type="button"></button>',
    css=source("component.css", "options.css"),
    js=source("options.js"),
)
