"""A layer of a visitor's own: its files stay in the memory of the session, and end with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any, final
from weakref import WeakSet

import streamlit as st

from normgeo.base.budget import MEGABYTE, memory
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.datasets.in_memory import as_files
from normgeo.datasets.tensor import Tensor
from normgeo.datasets.tensor_files import SUFFIXES, list_tensors
from normgeo.layers.checkpoint import Checkpoint
from normgeo.layers.loading import read_layer
from normgeo.layers.modules import ROLES, role_of
from normgeo.layers.report import layer_report
from normgeo.pictures.your_network.layer import Neurons, corrections, neurons
from normgeo.settings import Settings

ONE = 50 * MEGABYTE
"""Bytes of the files of a session together; Streamlit takes no larger file (`maxUploadSize`)."""
ALL = 400 * MEGABYTE
"""Bytes of the files of all sessions of a server."""
UNPACKED = 200 * MEGABYTE
"""Bytes of one tensor, in double precision, while a report is made."""
MOST = 16_384  # neurons: the angles of more take seconds
SHOWN = 500  # tensors of a file whose roles can be corrected on the page

_HELD, _REFUSED = "_own_layer", "_own_refused"
_FILES, _X = "own_files", "own_x"
_KINDS = [suffix[1:] for suffix in SUFFIXES]


@final
@dataclass(eq=False)
class Own:
    """What a session holds of a visitor's files, and nothing else does.

    Attributes:
        files: names and bytes of those with the weights. x: that with activations, if any.
        roles: corrections. layer: the name of the chosen one, None for the first.
        neuron: the selected one. tensors, layers: that were found, for the page to choose from.

    """

    files: list[tuple[str, bytes]]
    x: tuple[str, bytes] | None = None
    roles: dict[str, str] = field(default_factory=dict)
    layer: str | None = None
    neuron: int = 0
    tensors: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    layers: tuple[str, ...] = ()
    _kept: tuple[object, Neurons] | None = None

    @property
    def size(self) -> int:
        """Bytes."""
        return sum(len(content) for _, content in (*self.files, *([self.x] if self.x else [])))

    def told(self, settings: Settings) -> Neurons:
        """Return what is told of the layer, as the settings state its norm and its optimizer.

        Raises:
            Refusal: bad files, roles or settings, in one sentence.

        """
        if self._kept is None or self._kept[0] != self._asked(settings):
            self._kept = None
            found = self._computed(settings)  # which chooses a layer, where none is chosen
            self._kept = self._asked(settings), found
        there = self._kept[1]
        return there._replace(neuron=min(self.neuron, len(there.values["neuron"]) - 1))

    def _asked(self, settings: Settings) -> object:
        stated = settings.trained_by, settings.rate, settings.decay, settings.mini_batch
        return corrections(settings), stated, self.layer, dict(self.roles)

    def _computed(self, settings: Settings) -> Neurons:
        contents = [*self.files, *([self.x] if self.x else [])]
        self.tensors, self.layers = {}, ()
        with as_files(contents) as paths:
            files = paths[: len(self.files)]
            for one in list_tensors([*paths]):
                _require_small(one)
            # By their names: they can be corrected even where they propose no layer.
            self.tensors = {
                one.name: (
                    " × ".join(map(str, one.shape)),
                    self.roles.get(one.name, role_of(one.name, one.shape)[1]),
                )
                for one in list_tensors([*files])
            }
            found = Checkpoint.of([*files], self.roles, **corrections(settings))
            self.tensors = {
                name: (shape, found.roles[name]) for name, (shape, _) in self.tensors.items()
            }
            self.layers = tuple(one.name for one in found.proposals)
            if self.layer not in self.layers:
                self.layer = self.layers[0]
            proposal = found.choose(self.layer)
            H, _ = proposal.arrangement.shape
            if H > MOST:
                raise Refusal(
                    text(
                        "A page takes layers of up to {most:,} neurons; this one has {H:,}. Use "
                        "`python -m normgeo layer`, which takes more.",
                        most=MOST,
                        H=H,
                    )
                )
            layer = read_layer(found, proposal, {"x": paths[-1] if self.x else None})
        report = layer_report(
            layer,
            optimizer=Settings.optimizer if settings.trained_by == "auto" else settings.trained_by,
            rate=settings.rate or None,
            decay=settings.decay or 0.0,
            batch_size=settings.mini_batch or None,
        )
        H, D = layer.W.shape
        title = text("{name!s}: H = {H}, D = {D}", name=layer.title, H=H, D=D)
        return neurons(report, title, 0)


def _require_small(tensor: Tensor) -> None:
    """Refuse what a small file may hold packed, before it is unpacked."""
    size = 8 * prod(tensor.shape)
    if size > UNPACKED:
        raise Refusal(
            text(
                "A page reads tensors of up to {most} as float64; {name!r} would take {size}. Use "
                "`python -m normgeo layer`, which reads larger ones.",
                most=memory(UNPACKED),
                name=tensor.name[:80],
                size=memory(size),
            )
        )


_ALIVE: WeakSet[Own] = WeakSet()  # what sessions hold, for its size alone


def held() -> Own | None:
    """What this session holds; None where it has no files."""
    found: Own | None = st.session_state.get(_HELD)
    return found


def hold(files: list[tuple[str, bytes]], x: tuple[str, bytes] | None = None) -> None:
    """Hold files in place of those before, within the budget.

    Raises:
        Refusal: they are too large, or those of all sessions are.

    """
    before = held()
    drop()
    if not files:
        return
    own = Own(files, x)
    if own.size > ONE:
        raise Refusal(
            text(
                "The files of a session may take {most} together; these take {size}. Use `python "
                "-m normgeo layer`, which takes larger ones.",
                most=memory(ONE),
                size=memory(own.size),
            )
        )
    if sum(one.size for one in _ALIVE if one is not before) + own.size > ALL:
        raise Refusal(
            text(
                "The files of all visitors take {most}, all that this server has for them. Try "
                "again later, or use `python -m normgeo layer`.",
                most=memory(ALL),
            )
        )
    _ALIVE.add(own)
    st.session_state[_HELD] = own


def drop() -> None:
    """Hold nothing any more."""
    before = st.session_state.pop(_HELD, None)
    if before is not None:
        _ALIVE.discard(before)


def ask(settings: Settings, drawn: Any) -> None:
    """Ask for files, and show which tensor is taken for what, to be corrected."""
    left, right = st.columns(2, gap="large")
    left.file_uploader(
        str(text("Weights with their norm: a checkpoint")),
        _KINDS,
        accept_multiple_files=True,
        key=_FILES,
        on_change=_taken,
        args=(_FILES,),
    )
    right.file_uploader(
        str(text("Inputs X of the layer, if you have them")),
        _KINDS,
        key=_X,
        on_change=_taken,
        args=(_X,),
    )
    st.caption(
        str(
            text(
                "Up to {most}, never pickles. The files stay in the memory of the server for as "
                "long as this page is open, and nobody else sees them. Norm, ε, optimizer, rate "
                "and decay are stated in Settings.",
                most=memory(ONE),
            )
        )
    )
    _named(key="own_named")
    own = held()
    if own is None:
        return
    st.button(
        str(text("Back to the layers that ship")), key="own_drop", on_click=_forget, type="tertiary"
    )
    if len(own.layers) > 1:
        st.selectbox(
            str(text("layer")),
            own.layers,
            own.layers.index(own.layer) if own.layer in own.layers else 0,
            key="own_layer",
            on_change=_chosen,
        )
    if own.tensors:
        _roles(own)


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


def _taken(changed: str) -> None:
    """Hold what was given; of what was not changed, what is held already."""
    own = held() or Own([])
    given = st.session_state[changed]
    st.session_state.pop(_REFUSED, None)
    try:
        if changed == _FILES:
            hold([_content(file) for file in given], own.x or _content(st.session_state.get(_X)))
        else:
            before = [_content(file) for file in st.session_state.get(_FILES) or ()]
            hold(own.files or before, _content(given))
    except Refusal as refusal:
        st.session_state[_REFUSED] = refusal


def _content(file: Any) -> Any:
    return None if file is None else (file.name, file.getvalue())


def refused() -> Refusal | None:
    """Why the files that were given last are not held."""
    found: Refusal | None = st.session_state.get(_REFUSED)
    return found


def _chosen() -> None:
    own = held()
    if own is not None:
        own.layer, own.neuron = st.session_state["own_layer"], 0


def _forget() -> None:
    drop()
    for key in (_FILES, _X):
        st.session_state.pop(key, None)


_named = st.components.v2.component(
    "normgeo_own",
    html="<span></span>",
    js=Path(__file__).with_name("own.js").read_text("utf-8"),
)
