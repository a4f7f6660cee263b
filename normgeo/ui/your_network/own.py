"""A layer of a visitor's own: what is told of it, as the session has chosen and corrected it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any, final

import streamlit as st

from normgeo.base.budget import GIGABYTE, MEGABYTE, memory
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.datasets.opened import opened
from normgeo.datasets.tensor import Tensor
from normgeo.datasets.tensor_files import list_tensors
from normgeo.layers.checkpoint import Checkpoint, Proposal
from normgeo.layers.every_layer import every_layer, gradients_of
from normgeo.layers.loading import EXTRA, OF_CASES, read_layer, unfitting
from normgeo.layers.modules import role_of
from normgeo.layers.report import layer_report
from normgeo.layers.windows import Sliding, typed
from normgeo.pictures.your_network.layer import CHOICES, Neurons, corrections, neurons
from normgeo.pictures.your_network.layer_epsilon import LayerEpsilon
from normgeo.pictures.your_network.layer_spectrum import LayerSpectrum
from normgeo.settings import Settings
from normgeo.tables.layers import layers_table
from normgeo.tables.table import Table
from normgeo.ui.your_network.files import TURN, WEIGHTS, Files, files

UNPACKED = 200 * MEGABYTE
"""Bytes of one uploaded tensor, in double precision, while a report is made."""
MAPPED = 500 * MEGABYTE
"""Bytes of one tensor of a file that the command line has opened."""
MOST = 16_384  # neurons: the angles of more take seconds
EVERY = 2 * GIGABYTE
"""Bytes of the tensors of all layers, in double precision, that are read for one table."""
EVERY_ANGLE = 3 * MOST
"""Neurons of all layers with gradients."""

_OWN = "_own_layer"


@final
@dataclass(eq=False)
class Own:
    """What a session has chosen of its files.

    Attributes:
        files: of the session. roles: corrections. neuron: the selected one.
        layer: the name of the chosen one, None for the first that has a norm.
        norm: the path of its norm, "" for none, None as it is proposed.
        family: of a model whose outputs are those of the layer, None where none is stated.
        sliding: how a kernel moves over images X, as typed, by the words of `Sliding`.
        tensors, layers, norms: that were found, for the page to choose from.
        is_convolution: whether the chosen layer is one.
        spectrum: of F of the layer that was told last; None without X and a family.
        epsilon: where it counts there; None without X.
        left_out: that X is one of another layer, in a sentence; "" where it is not.

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
    epsilon: LayerEpsilon | None = None
    left_out: str = ""
    _kept: tuple[object, Neurons] | None = None
    _proposed: tuple[object, Proposal | None] | None = None
    _every: tuple[object, Table] | None = None

    def choose(self, layer: str) -> None:
        """Look at another of the layers."""
        self.layer, self.neuron = layer, 0

    def require_possible(self, settings: Settings) -> None:
        """Refuse what the norm of the layer can't have, by the headers of the files alone.

        Raises:
            Refusal: the settings state such a thing.

        """
        asked = self.files.state(WEIGHTS), dict(self.roles), self.layer, self.norm
        if self._proposed is None or self._proposed[0] != asked:
            self._proposed = asked, self._found()
        if (proposal := self._proposed[1]) is not None:
            proposal.corrected(**corrections(settings)).require_possible()

    def _found(self) -> Proposal | None:
        """The layer as its names propose it; None where there is none, which is told elsewhere."""
        try:
            with self.files.paths(WEIGHTS) as paths:
                found = Checkpoint.of((*paths[WEIGHTS],), self.roles, norm=self.norm)
        except (Refusal, OSError):
            return None
        return self._named(found)

    def _named(self, found: Checkpoint) -> Proposal:
        """The chosen layer; where none is, the first one that has a norm, or the first one."""
        named = [one for one in found.proposals if one.name == self.layer]
        with_norm = [one for one in found.proposals if not one.normalizer.is_standard]
        return (*named, *with_norm, *found.proposals)[0]

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

    def every(self, settings: Settings) -> Table:
        """Return what is told of all layers, a row each; of the chosen one as it is corrected.

        Raises:
            Refusal: bad files or settings, or more than a page reads, in one sentence.

        """
        stated = corrections(settings) | {"norm": self.norm}
        eps = stated.pop("eps")
        corrected = any(value is not None for value in stated.values())
        asked = self._asked(settings)[:2], dict(self.roles), self.layer if corrected else None
        if self._every is None or self._every[0] != asked:
            self._every = None
            with TURN, self.files.paths(WEIGHTS, "gradient") as paths:
                weights = tuple(paths[WEIGHTS])
                found = Checkpoint.of(weights, self.roles, eps=eps)
                other = Checkpoint.of(weights, self.roles, eps=eps, **stated)
                there = [
                    two if two.name == self.layer else one
                    for one, two in zip(found.proposals, other.proposals, strict=True)
                ]
                of = [gradients_of(found, file) for file in paths["gradient"]]
                gradients = of[0] if of else {}
                _require_all_small(there, gradients)
                every = every_layer(
                    found, there, gradients=gradients, require=self._require, **_trained(settings)
                )
                self._every = asked, layers_table(every)
        return self._every[1]

    def _asked(self, settings: Settings) -> tuple[object, ...]:
        stated = [getattr(settings, name) for name in CHOICES]
        chosen = self.layer, self.norm, self.family, dict(self.sliding), dict(self.roles)
        return self.files.state(WEIGHTS, *EXTRA), stated, chosen

    def _require(self, proposal: Proposal) -> None:
        """Refuse a layer that is too large to be read here."""
        most = UNPACKED if self.files.uploads(WEIGHTS) else MAPPED
        _require_small(_tensors_of(proposal), most)

    def _computed(self, settings: Settings) -> Neurons:
        self.tensors, self.layers, self.norms = {}, (), ()
        self.spectrum, self.epsilon, self.left_out = None, None, ""
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
            self.layers = tuple(one.name for one in found.proposals)
            proposal = self._named(found)
            self.layer = proposal.name
            self.norms = found.norms_for(proposal)
            self.is_convolution = bool(proposal.arrangement.kernel)
            if (H := proposal.arrangement.shape[0]) > MOST:
                raise Refusal(
                    text(
                        "A page takes layers of up to {most:,} neurons; this one has {H:,}. Use "
                        "`python -m normgeo layer`, which takes more.",
                        most=MOST,
                        H=H,
                    )
                )
            for file in extra.values():
                _require_small(list_tensors(file), UNPACKED)
            self._require(proposal)
            _require_small((t for t in found.tensors if found.roles[t.name] in EXTRA), UNPACKED)
            typed_in = {name: typed(word) for name, word in self.sliding.items() if word}
            self.left_out = unfitting(found, proposal, extra)
            if self.left_out:
                found, typed_in = found.without(*OF_CASES), {}
                extra = {what: file for what, file in extra.items() if what not in OF_CASES}
            layer = read_layer(found, proposal, extra, Sliding.of(**typed_in))
        report = layer_report(layer, family=self.family, eigenvalues=None, **_trained(settings))
        H, D = len(layer.W), int(layer.sizes[0])
        title = text("{name!s}: H = {H}, D = {D}", name=layer.title, H=H, D=D)
        self.spectrum = LayerSpectrum.of(report, title, self.family)
        self.epsilon = LayerEpsilon.of(report, title)
        return neurons(report, title, 0)


def _trained(settings: Settings) -> dict[str, Any]:
    """How a layer was trained, as the settings state it."""
    return {
        "optimizer": Settings.optimizer if settings.trained_by == "auto" else settings.trained_by,
        "rate": settings.rate or None,
        "decay": settings.decay or 0.0,
        "batch_size": settings.mini_batch or None,
        "frozen_below": settings.frozen_below,
    }


def _tensors_of(proposal: Proposal) -> Iterator[Tensor]:
    """The tensors that a layer is read from."""
    yield from proposal.module.tensors.values()
    if proposal.norm is not None:
        yield from proposal.norm.tensors.values()


def _require_all_small(proposals: Iterable[Proposal], gradients: Mapping[str, Tensor]) -> None:
    """Refuse layers that together take long to read."""
    size = neurons = 0
    for one in proposals:
        size += 8 * prod(one.weight.shape)
        neurons += one.arrangement.shape[0] if one.weight.name in gradients else 0
    if size > EVERY or neurons > EVERY_ANGLE:
        raise Refusal(
            text(
                "A page tells all layers of up to {most} as float64, and of up to {neurons:,} "
                "neurons with gradients; these take {size}, with {have:,}. Use `python -m normgeo "
                "layer`, which takes more.",
                most=memory(EVERY),
                neurons=EVERY_ANGLE,
                size=memory(size),
                have=neurons,
            )
        )


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
