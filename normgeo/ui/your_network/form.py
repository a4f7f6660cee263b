"""The form for a visitor's own layer: its files, the layer, and the role of each tensor."""

from __future__ import annotations

from typing import Any

import streamlit as st

from normgeo.base.budget import memory
from normgeo.base.text import text
from normgeo.checkpoints.modules import ROLES
from normgeo.checkpoints.reading import WEIGHTS
from normgeo.datasets.opened import opened
from normgeo.models.families import FAMILIES
from normgeo.pictures.your_network.own_run import RUN
from normgeo.settings import Settings
from normgeo.ui import url
from normgeo.ui.your_network import uploads
from normgeo.ui.your_network.files import ONE, files
from normgeo.ui.your_network.own import Own, held

PROPOSED = "\0"  # no path of a norm
SHOWN = 500  # tensors of a file, at most, whose roles can be corrected on the page

OTHERS = {
    "gradient": (
        text("Gradient of the loss"),
        text(
            "As the weights stand in their file, or those of several batches on a first axis. It "
            "tells how far a step turns each neuron."
        ),
    ),
    "labels": (
        text("Labels y"),
        text("Of the cases of X, where the outputs of this layer are those of the model."),
    ),
    "stream": (
        text("Residual stream r"),
        text("What the outputs are added to, (N, H), where the norm takes the sum."),
    ),
}
"""Files that few visitors have: their labels and help."""

SLIDING = {
    "stride": (text("stride"), text("Of the kernel over images X: 2, or 2,1; otherwise 1.")),
    "padding": (text("padding"), text("Zeros around images X: 1, or 1,0, or same; otherwise 0.")),
    "dilation": (text("dilation"), text("Between the pixels of a window; otherwise 1.")),
}
"""How a kernel moves: the label and the help of each number."""


def ways() -> None:
    """Name the layer above the picture, and draw the ways to the others."""
    own = held()
    if url.bare():
        return
    if own is None and files().names(RUN) and opened().files.get(RUN):
        names = ", ".join(files().names(RUN))
        st.caption(text("{names!s} is below, in the tab “A training run”.", names=names))
    if own is None and WEIGHTS not in opened().files:
        return
    to_example = text("Back to the layers that ship")
    with st.container(horizontal=True, vertical_alignment="center", key="own_ways"):
        if own is None:
            uploads.way_back(WEIGHTS, "own_again", False, to_example)
            return
        st.markdown(text("{names!s}", names=", ".join(own.files.names(WEIGHTS))))
        if len(own.there.layers) > 1:
            st.session_state["own_layer"] = own.layer
            st.selectbox(
                str(text("layer")),
                own.there.layers,
                key="own_layer",
                on_change=_chosen,
                label_visibility="collapsed",
                width=320,
            )
        uploads.way_back(WEIGHTS, "own_drop", True, to_example)
    changed = [] if own.files.uploads(WEIGHTS) else opened().changed
    if changed:
        st.caption(
            text(
                "Changed on the disk since it was opened, and shown as it is now: {names!s}.",
                names=", ".join(changed),
            )
        )


def ask(settings: Settings, drawn: Any) -> None:
    """Ask for files, and show the role found for each tensor, to be corrected."""
    left, right = st.columns(2, gap="large")
    with left:
        uploads.place(
            WEIGHTS,
            text("Weights with their norm: a checkpoint"),
            text("With its `config.json`, norms are as its family has them, and ε as it says."),
        )
    with right:
        uploads.place("x", text("Inputs X of the layer, if you have them"))
    st.caption(
        text(
            "Up to {most}, never pickles; larger ones by `normgeo open FILE…`. The files stay "
            "in the memory of the server for as long as this page is open, and nobody else "
            "sees them. Norm, ε, optimizer, rate and decay are stated in Settings.",
            most=memory(ONE),
        )
    )
    own = held()
    with st.expander(str(text("More of this layer: gradient, labels, residual stream, norm"))):
        _others(own)
    uploads.named()
    if own is not None and own.there.tensors:
        _roles(own)


def _others(own: Own | None) -> None:
    """Ask for rarer files, and for facts that no file holds."""
    for column, (what, (label, help)) in zip(st.columns(3), OTHERS.items(), strict=True):
        with column:
            uploads.place(what, label, help)
    if own is None:
        return
    families = {"": text("not stated"), **{key: one.title for key, one in FAMILIES.items()}}
    norms = {PROPOSED: text("as its name proposes"), "": text("none")}
    norms |= {path: path for path in (*own.there.norms, own.norm) if path}
    with st.container(horizontal=True):
        st.selectbox(
            str(text("family of the outputs")),
            list(families),
            list(families).index(own.family or ""),
            format_func=lambda key: str(families[key]),
            key="own_family",
            on_change=_stated,
            width=240,
            help=str(
                text(
                    "With X it tells the Fisher information: its spectrum, the null directions, "
                    "and how long gradients are."
                )
            ),
        )
        st.selectbox(
            str(text("tensors of the norm")),
            list(norms),
            list(norms).index(PROPOSED if own.norm is None else own.norm),
            format_func=lambda path: str(norms[path]),
            key="own_norm",
            on_change=_stated,
            width=320,
            help=str(text("The path of the norm of this layer in the files.")),
        )
        if own.there.is_convolution:
            for name, (label, help) in SLIDING.items():
                st.text_input(
                    str(label),
                    own.sliding.get(name, ""),
                    key=f"own_{name}",
                    on_change=_stated,
                    width=120,
                    max_chars=40,
                    help=str(help),
                )


def _stated() -> None:
    url.catch_up()
    own = held()
    if own is not None:
        own.family = st.session_state["own_family"] or None
        path = st.session_state["own_norm"]
        own.norm = None if path == PROPOSED else path
        own.sliding = {name: st.session_state.get(f"own_{name}", "").strip() for name in SLIDING}


def _roles(own: Own) -> None:
    """Draw the role of each tensor, in a table whose last column can be edited."""
    shown = dict(list(own.there.tensors.items())[:SHOWN])
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


def _chosen() -> None:
    url.catch_up()
    own = held()
    if own is not None:
        own.choose(st.session_state["own_layer"])
