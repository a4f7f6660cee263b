"""What a page asks of a visitor's own layer: files, which layer, and which tensor is what."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from normgeo.base.budget import memory
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.datasets.opened import opened
from normgeo.datasets.tensor_files import SUFFIXES
from normgeo.layers.modules import ROLES
from normgeo.settings import Settings
from normgeo.ui import url
from normgeo.ui.your_network.files import EXTRA, ONE, WEIGHTS, files, hold
from normgeo.ui.your_network.own import Own, forget, held

SHOWN = 500  # tensors of a file whose roles can be corrected on the page

_REFUSED = "_own_refused"
_KINDS = [suffix[1:] for suffix in SUFFIXES]


def ways() -> None:
    """Say above the picture whose layer it is, and draw the ways to the others."""
    own = held()
    if url.bare() or (own is None and WEIGHTS not in opened().files):
        return
    with st.container(horizontal=True, vertical_alignment="center", key="own_ways"):
        if own is None:
            there = opened().files[WEIGHTS]
            st.button(
                str(text("Back to {names!s}", names=", ".join(path.name for path in there))),
                key="own_again",
                on_click=_leave,
                args=(False,),
                type="tertiary",
            )
            return
        st.markdown(str(text("{names!s}", names=", ".join(own.files.names(WEIGHTS)))))
        if len(own.layers) > 1:
            st.selectbox(
                str(text("layer")),
                own.layers,
                own.layers.index(own.layer) if own.layer in own.layers else 0,
                key="own_layer",
                on_change=_chosen,
                label_visibility="collapsed",
                width=320,
            )
        st.button(
            str(text("Back to the layers that ship")),
            key="own_drop",
            on_click=_leave,
            type="tertiary",
        )
    changed = [] if own.files.uploads(WEIGHTS) else opened().changed
    if changed:
        st.caption(
            str(
                text(
                    "Changed on the disk since it was opened, and shown as it is now: {names!s}.",
                    names=", ".join(changed),
                )
            )
        )


def ask(settings: Settings, drawn: Any) -> None:
    """Ask for files, and show which tensor is taken for what, to be corrected."""
    left, right = st.columns(2, gap="large")
    with left:
        _uploader(WEIGHTS, text("Weights with their norm: a checkpoint"))
    with right:
        _uploader("x", text("Inputs X of the layer, if you have them"))
    st.caption(
        str(
            text(
                "Up to {most}, never pickles; larger ones by `normgeo open FILE…`. The files stay "
                "in the memory of the server for as long as this page is open, and nobody else "
                "sees them. Norm, ε, optimizer, rate and decay are stated in Settings.",
                most=memory(ONE),
            )
        )
    )
    _named(key="own_named")
    own = held()
    if own is not None and own.tensors:
        _roles(own)


def _uploader(what: str, label: str) -> None:
    st.file_uploader(
        str(label),
        _KINDS,
        accept_multiple_files=what == WEIGHTS,
        key=f"own_{what}",
        on_change=_taken,
        args=(what,),
    )


def _roles(own: Own) -> None:
    """Draw which tensor is what, in a table whose last column can be changed."""
    shown = dict(list(own.tensors.items())[:SHOWN])
    titles = {role: str(text(title)) for role, title in ROLES.items()}
    columns = [str(text(word)) for word in ("tensor", "shape", "taken for")]
    edited = st.data_editor(
        {
            columns[0]: list(shown),
            columns[1]: [shape for shape, _ in shown.values()],
            columns[2]: [titles[role] for _, role in shown.values()],
        },
        key=f"own_roles_{id(own)}_{len(own.roles)}",
        disabled=columns[:2],
        hide_index=True,
        column_config={
            columns[2]: st.column_config.SelectboxColumn(
                options=list(titles.values()), required=True
            )
        },
    )
    words = {title: role for role, title in titles.items()}
    now = dict(zip(shown, map(words.__getitem__, edited[columns[2]]), strict=True))
    if changed := {name: role for name, role in now.items() if role != shown[name][1]}:
        own.roles |= changed
        st.rerun()


def _taken(what: str) -> None:
    """Hold what was given, in place of what was given for the same before."""
    given = st.session_state[f"own_{what}"] or []
    st.session_state.pop(_REFUSED, None)
    if what == WEIGHTS:
        forget()
    try:
        several = given if isinstance(given, list) else [given]
        hold(what, [(file.name, file.getvalue()) for file in several])
    except Refusal as refusal:
        st.session_state[_REFUSED] = refusal


def refused() -> Refusal | None:
    """Why the files that were given last are not held."""
    found: Refusal | None = st.session_state.get(_REFUSED)
    return found


def _chosen() -> None:
    own = held()
    if own is not None:
        own.layer, own.neuron = st.session_state["own_layer"], 0


def _leave(left: bool = True) -> None:
    """Look at what ships and hold nothing any more, or again at what the command line opened."""
    forget()
    for what in (WEIGHTS, *EXTRA):
        hold(what, [])
        st.session_state.pop(f"own_{what}", None)
    files().left = left


_named = st.components.v2.component(
    "normgeo_own",
    html="<span></span>",
    js=Path(__file__).with_name("own.js").read_text("utf-8"),
)
