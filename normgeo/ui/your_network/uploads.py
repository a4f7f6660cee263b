"""Upload fields for a visitor's own files, and the reason if the last upload was refused."""

from __future__ import annotations

import streamlit as st

from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.checkpoints.reading import EXTRA, WEIGHTS
from normgeo.datasets.opened import opened
from normgeo.datasets.tensor_files import SUFFIXES
from normgeo.pictures.your_network.own_network import NETWORK
from normgeo.pictures.your_network.own_run import RUN
from normgeo.ui import source, url
from normgeo.ui.your_network import own, own_network, run
from normgeo.ui.your_network.files import files, hold

OF_LAYER = (WEIGHTS, *EXTRA)
SEVERAL = (WEIGHTS, RUN)

_REFUSED, _EMPTIED = "_own_refused", "_own_emptied"
_OF_TENSORS = [suffix[1:] for suffix in SUFFIXES]
_DESCRIBED = [*_OF_TENSORS, "json"]  # with config.json, which says the family of the network
_KINDS = {RUN: None, NETWORK: ["json"], WEIGHTS: _DESCRIBED}


def place(what: str, label: str, help: str | None = None) -> None:
    """Draw the upload field for one purpose."""
    st.file_uploader(
        str(label),
        _KINDS.get(what, _OF_TENSORS),
        accept_multiple_files=what in SEVERAL,
        key=_key(what),
        on_change=_taken,
        args=(what,),
        help=None if help is None else str(help),
    )


def named() -> None:
    """Name the upload fields above for screen readers."""
    _named(key="own_named")


def refused(*whats: str) -> Refusal | None:
    """Why the last upload for one of these purposes was refused."""
    what, why = st.session_state.get(_REFUSED, ("", None))
    return why if what in whats else None


def leave(what: str, left: bool = True) -> None:
    """Release the uploads and show the example, or return to the files of the command line.

    `what` is WEIGHTS, which includes all other files of the layer, or RUN, or NETWORK.
    """
    url.catch_up()
    _forget(what)
    for each in OF_LAYER if what == WEIGHTS else (what,):
        hold(each, [])
        emptied = st.session_state.setdefault(_EMPTIED, {})
        emptied[each] = emptied.get(each, 0) + 1
    (files().left.add if left else files().left.discard)(what)


def way_back(what: str, key: str, own: bool, to_example: str) -> None:
    """Draw the button from a visitor's own to the example, or from it to the opened files."""
    names = ", ".join(path.name for path in opened().files.get(what, {}))
    st.button(
        str(to_example if own else text("Back to {names!s}", names=names)),
        key=key,
        on_click=leave,
        args=(what, own),
        type="tertiary",
    )


def _key(what: str) -> str:
    """The key of an upload field; a new one empties it, as a browser keeps the files of the old."""
    times = st.session_state.get(_EMPTIED, {}).get(what, 0)
    return f"own_{what}_{times}" if times else f"own_{what}"


def _taken(what: str) -> None:
    """Hold the upload, in place of the previous one for the same purpose."""
    url.catch_up()
    given = st.session_state[_key(what)] or []
    _forget(what)
    try:
        several = given if isinstance(given, list) else [given]
        hold(what, [(file.name, file.getvalue()) for file in several], several)
    except Refusal as refusal:
        st.session_state[_REFUSED] = what, refusal


def _forget(what: str) -> None:
    """Forget the choices for files that are no longer shown."""
    st.session_state.pop(_REFUSED, None)
    if what == WEIGHTS:
        own.forget()
    elif what == RUN:
        run.forget()
    elif what == NETWORK:
        own_network.forget()


_named = st.components.v2.component(
    "normgeo_own",
    html="<span></span>",
    js=source("your_network/own.js"),
)
