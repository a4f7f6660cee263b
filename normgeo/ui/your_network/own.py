"""A layer of a visitor's own: what is told of it, as the session has chosen and corrected it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import final

import streamlit as st

from normgeo.base.budget import MEGABYTE, memory
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.datasets.opened import opened
from normgeo.datasets.tensor import Tensor
from normgeo.datasets.tensor_files import list_tensors
from normgeo.layers.checkpoint import Checkpoint, Proposal
from normgeo.layers.loading import read_layer
from normgeo.layers.modules import role_of
from normgeo.layers.report import layer_report
from normgeo.layers.windows import Sliding, typed
from normgeo.pictures.your_network.layer import CHOICES, Neurons, corrections, neurons
from normgeo.pictures.your_network.layer_spectrum import LayerSpectrum
from normgeo.settings import Settings
from normgeo.ui.your_network.files import EXTRA, TURN, WEIGHTS, Files, files

UNPACKED = 200 * MEGABYTE
"""Bytes of one uploaded tensor, in double precision, while a report is made."""
MAPPED = 500 * MEGABYTE
"""Bytes of one tensor of a file that the command line has opened."""
MOST = 16_384  # neurons: the angles of more take seconds

_OWN = "_own_layer"


@final
@dataclass(eq=False)
class Own:
    """What a session has chosen of its files.

    Attributes:
        files: of the session. roles: corrections. neuron: the selected one.
        layer: the name of the chosen one, None for the first.
        norm: the path of its norm, "" for none, None as it is proposed.
        family: of a model whose outputs are those of the layer, None where none is stated.
        sliding: how a kernel moves over images X, as typed, by the words of `Sliding`.
        tensors, layers, norms: that were found, for the page to choose from.
        is_convolution: whether the chosen layer is one.
        spectrum: of F of the layer that was told last; None without X and a family.

    """

    files: Files
    layer: str | None = None
    roles: dict[str, str] = field(default_factory=dict)
    neuron: int = 0
    norm: str | None = None
    family: str | None = None
    sliding: dict[str, str] = field(default_factory=dict)
    tensors: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    layers: tuple[str, ...] = ()
    norms: tuple[str, ...] = ()
    is_convolution: bool = False
    spectrum: LayerSpectrum | None = None
    _kept: tuple[object, Neurons] | None = None

    def told(self, settings: Settings) -> Neurons:
        """Return what is told of the layer, as the settings state its norm and its optimizer.

        Raises:
            Refusal: bad files, roles or settings, in one sentence.

        """
        if self._kept is None or self._kept[0] != self._asked(settings):
            self._kept = None
            with TURN:
                found = self._computed(settings)  # which chooses a layer, where none is chosen
            self._kept = self._asked(settings), found
        there = self._kept[1]
        return there._replace(neuron=min(self.neuron, len(there.values["neuron"]) - 1))

    def _asked(self, settings: Settings) -> object:
        chosen = self.layer, self.norm, self.family, dict(self.sliding), dict(self.roles)
        stated = [getattr(settings, name) for name in CHOICES]
        return self.files.state(WEIGHTS, *EXTRA), stated, chosen

    def _computed(self, settings: Settings) -> Neurons:
        self.tensors, self.layers, self.norms, self.spectrum = {}, (), (), None
        with self.files.paths(WEIGHTS, *EXTRA) as paths:
            weights = tuple(paths[WEIGHTS])
            extra = {what: paths[what][0] for what in EXTRA if paths[what]}
            # By their names: they can be corrected even where they propose no layer.
            self.tensors = {
                one.name: (
                    " × ".join(map(str, one.shape)),
                    self.roles.get(one.name, role_of(one.name, one.shape)[1]),
                )
                for one in list_tensors(weights)
            }
            stated = corrections(settings)
            found = Checkpoint.of(weights, self.roles, norm=self.norm, **stated)
            self.tensors = {
                name: (shape, found.roles[name]) for name, (shape, _) in self.tensors.items()
            }
            self.layers, self.norms = tuple(one.name for one in found.proposals), found.norms
            if self.layer not in self.layers:
                self.layer = self.layers[0]
            proposal = found.choose(self.layer)
            self.is_convolution = bool(proposal.arrangement.kernel)
            most = UNPACKED if self.files.uploads(WEIGHTS) else MAPPED
            for file in extra.values():
                _require_small(list_tensors(file), UNPACKED)
            _require_small(_read_of(found, proposal), most)
            typed_in = {name: typed(word) for name, word in self.sliding.items() if word}
            layer = read_layer(found, proposal, extra, Sliding.of(**typed_in))
        report = layer_report(
            layer,
            optimizer=Settings.optimizer if settings.trained_by == "auto" else settings.trained_by,
            rate=settings.rate or None,
            decay=settings.decay or 0.0,
            batch_size=settings.mini_batch or None,
            family=self.family,
            frozen_below=settings.frozen_below,
            eigenvalues=None,
        )
        H, D = layer.W.shape
        title = text("{name!s}: H = {H}, D = {D}", name=layer.title, H=H, D=D)
        self.spectrum = LayerSpectrum.of(report, title, self.family)
        return neurons(report, title, 0)


def _read_of(found: Checkpoint, proposal: Proposal) -> Iterable[Tensor]:
    """The tensors that a layer is read from, once it has no more neurons than a page takes."""
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
    yield from proposal.module.tensors.values()
    if proposal.norm is not None:
        yield from proposal.norm.tensors.values()
    yield from (one for one in found.tensors if found.roles[one.name] in EXTRA)


def _require_small(tensors: Iterable[Tensor], most: float) -> None:
    """Refuse what is large, or what a small file may hold packed, before it is read."""
    for tensor in tensors:
        size = 8 * prod(tensor.shape)
        if size > most:
            raise Refusal(
                text(
                    "A page reads tensors of up to {most} as float64; {name!r} would take {size}. "
                    "Use `python -m normgeo layer`, which reads larger ones.",
                    most=memory(most),
                    name=tensor.name[:80],
                    size=memory(size),
                )
            )


def held() -> Own | None:
    """The layer that this session looks at; None where it is one that ships."""
    here = files()
    if not here.names(WEIGHTS):
        return None
    own: Own = st.session_state.setdefault(
        _OWN, Own(here, None if here.uploads(WEIGHTS) else opened().layer)
    )
    return own


def forget() -> None:
    """Forget what was chosen of files that are no longer looked at."""
    st.session_state.pop(_OWN, None)
