"""What is told of a layer of one's own files, or of all of them: read and computed apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, NamedTuple, final

from normgeo.base.arrays import Array
from normgeo.base.budget import GIGABYTE, MEGABYTE, memory
from normgeo.base.progress import Progress
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.checkpoints.checkpoint import Checkpoint, Proposal
from normgeo.checkpoints.loading import every_layer, gradients_of, unfitting
from normgeo.checkpoints.modules import Module, role_of
from normgeo.checkpoints.reading import EXTRA, OF_CASES, WEIGHTS, read_layer
from normgeo.checkpoints.report import layer_report
from normgeo.checkpoints.windows import Sliding, typed
from normgeo.datasets.given_files import Given
from normgeo.datasets.tensor import Tensor
from normgeo.datasets.tensor_files import list_tensors
from normgeo.pictures.your_network.layer import Neurons, corrections, neurons
from normgeo.pictures.your_network.layer_epsilon import LayerEpsilon
from normgeo.pictures.your_network.layer_spectrum import LayerSpectrum
from normgeo.settings import Settings
from normgeo.tables.layers import layers_table
from normgeo.tables.table import Table

UNPACKED = 200 * MEGABYTE
"""Bytes of one uploaded tensor, in double precision, while a report is made."""
MAPPED = 500 * MEGABYTE
"""Bytes of one tensor of a file that the command line has opened."""
MOST = 16_384  # neurons: the angles of more take seconds
EVERY = 2 * GIGABYTE
"""Bytes of the tensors of all layers, in double precision, that are read for one table."""
EVERY_ANGLE = 3 * MOST
"""Neurons of all layers with gradients."""

SECONDS_A_BYTE = 1e-6
"""Of a file, at most, as long as no family is stated: its names and numbers are looked through."""


class Choice(NamedTuple):
    """What was chosen of files.

    Attributes:
        layer: its name, None for the first that has a norm. roles: corrections.
        norm: the path of its norm, "" for none, None as it is proposed.
        family: of a model whose outputs are those of the layer, None where none is stated.
        sliding: how a kernel moves over images X, as typed, by the words of `Sliding`.

    """

    layer: str | None
    roles: Mapping[str, str]
    norm: str | None
    family: str | None
    sliding: Mapping[str, str]


@final
@dataclass(eq=False)
class OwnLayer:
    """What is told of a layer, as far as it went.

    Attributes:
        tensors: shape and role of each by its name. layers, norms: to choose from.
        proposal: the layer as its names propose it, without its numbers.
        taken_from: what its norm is, and what that is taken from, in a sentence.
        left_out: that X is one of another layer, in a sentence; "" where it is not.
        neurons, spectrum, epsilon: None where they are not known.
        refusal: why it went no further.

    """

    tensors: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    layers: tuple[str, ...] = ()
    norms: tuple[str, ...] = ()
    proposal: Proposal | None = None
    taken_from: str = ""
    left_out: str = ""
    neurons: Neurons | None = None
    spectrum: LayerSpectrum | None = None
    epsilon: LayerEpsilon | None = None
    refusal: Refusal | None = None

    @property
    def is_convolution(self) -> bool:
        """Whether the layer is one."""
        return self.proposal is not None and bool(self.proposal.arrangement.kernel)


def seconds(given: Given, family: str | None = None) -> float:
    """Return how long it takes to tell a layer of files, at most."""
    return float("inf") if family else given.size * SECONDS_A_BYTE


def proposed(given: Given, choice: Choice) -> Proposal | None:
    """The layer as its names propose it; None where there is none, which is told elsewhere."""
    try:
        with given.paths() as paths:
            return _named(Checkpoint.of((*paths[WEIGHTS],), choice.roles, norm=choice.norm), choice)
    except (Refusal, OSError):
        return None


def own_layer(given: Given, choice: Choice, settings: Settings, progress: Progress) -> OwnLayer:
    """Return what is told of a layer; what is wrong with it is its `refusal`."""
    told = OwnLayer()
    try:
        with given.paths() as paths:
            _tell(told, given, paths, choice, settings)
    except Refusal as refusal:
        told.refusal = refusal
    return told


def own_layers(given: Given, choice: Choice, settings: Settings, progress: Progress) -> Table:
    """Return what is told of all layers, a row each; of the chosen one as it is corrected.

    Raises:
        Refusal: bad files or settings, or more than a page reads, in one sentence.

    """
    stated = corrections(settings) | {"norm": choice.norm}
    eps = stated.pop("eps")
    with given.paths() as paths:
        found = Checkpoint.of((*paths[WEIGHTS],), choice.roles, eps=eps)
        there = [*found.proposals]
        if any(value is not None for value in stated.values()):
            other = Checkpoint.of((*paths[WEIGHTS],), choice.roles, eps=eps, **stated).proposals
            there = [
                two if two.name == choice.layer else one
                for one, two in zip(there, other, strict=True)
            ]
        of = [gradients_of(found, file) for file in paths.get("gradient", ())]
        gradients = of[0] if of else {}
        _require_all_small(there, gradients)
        every = every_layer(
            found,
            progress.over(there),
            gradients=gradients,
            require=lambda one: _require_small(_tensors_of(one), _most(given)),
            **_trained(settings),
        )
        return layers_table(every, found.left_out)


def _tell(
    told: OwnLayer, given: Given, paths: Mapping[str, Any], choice: Choice, settings: Settings
) -> None:
    weights, stated = tuple(paths[WEIGHTS]), corrections(settings)
    extra = {what: paths[what][0] for what in EXTRA if paths.get(what)}
    # By their names: they can be corrected even where they propose no layer.
    told.tensors = {
        one.name: (
            " × ".join(map(str, one.shape)),
            choice.roles.get(one.name, role_of(one.name, one.shape)[1]),
        )
        for one in list_tensors(weights)
    }
    found = Checkpoint.of(weights, choice.roles, norm=choice.norm)
    told.tensors = {name: (shape, found.roles[name]) for name, (shape, _) in told.tensors.items()}
    told.layers = tuple(one.name for one in found.proposals)
    proposal = _named(found, choice)
    told.proposal = _without_numbers(proposal)
    proposal = proposal.corrected(**stated)
    told.norms, told.taken_from = found.norms_for(proposal), _taken_from(proposal)
    if (H := proposal.arrangement.shape[0]) > MOST:
        raise Refusal(
            "A page takes layers of up to {most:,} neurons; this one has {H:,}. Use "
            "`python -m normgeo layer`, which takes more.",
            most=MOST,
            H=H,
        )
    for file in extra.values():
        _require_small(list_tensors(file), UNPACKED)
    _require_small(_tensors_of(proposal), _most(given))
    _require_small((t for t in found.tensors if found.roles[t.name] in EXTRA), UNPACKED)
    typed_in = {name: typed(word) for name, word in choice.sliding.items() if word}
    told.left_out = unfitting(found, proposal, extra)
    if told.left_out:
        found, typed_in = found.without(*OF_CASES), {}
        extra = {what: file for what, file in extra.items() if what not in OF_CASES}
    layer = read_layer(found, proposal, extra, Sliding.of(**typed_in))
    report = layer_report(layer, family=choice.family, eigenvalues=None, **_trained(settings))
    H, D = len(layer.W), int(layer.sizes[0])
    title = text("{name!s}: H = {H}, D = {D}", name=layer.title, H=H, D=D)
    told.spectrum = LayerSpectrum.of(report, title, choice.family)
    told.epsilon = LayerEpsilon.of(report, title)
    told.neurons = neurons(report, title, 0)


def _named(found: Checkpoint, choice: Choice) -> Proposal:
    """The chosen layer; where none is, the first one that has a norm, or the first one."""
    named = [one for one in found.proposals if one.name == choice.layer]
    with_norm = [one for one in found.proposals if not one.normalizer.is_standard]
    return (*named, *with_norm, *found.proposals)[0]


def _taken_from(proposal: Proposal) -> str:
    if proposal.basis.is_unknown:
        return text(
            "The norm of this layer is unknown, for no name tells it: state norm and place in "
            "Settings, and its tensors in the tab “Your own layer”."
        )
    if proposal.normalizer.is_standard:
        return text("No norm: {basis}.", basis=proposal.basis.title)
    return text(
        "{norm} {place}: {basis}.",
        norm=proposal.normalizer.title,
        place=proposal.place.title,
        basis=proposal.basis.title,
    )


def _trained(settings: Settings) -> dict[str, Any]:
    """How a layer was trained, as the settings state it."""
    return {
        "optimizer": Settings.optimizer if settings.trained_by == "auto" else settings.trained_by,
        "rate": settings.rate or None,
        "decay": settings.decay or 0.0,
        "batch_size": settings.mini_batch or None,
        "frozen_below": settings.frozen_below,
    }


def _without_numbers(proposal: Proposal) -> Proposal:
    """A layer by its headers alone, which another process can be sent."""

    def headers(module: Module) -> Module:
        return replace(
            module,
            tensors={role: replace(of, load=_not_here) for role, of in module.tensors.items()},
        )

    norm = None if proposal.norm is None else headers(proposal.norm)
    return replace(proposal, module=headers(proposal.module), norm=norm)


def _not_here() -> Array:
    raise RuntimeError("numbers are read where their file is")


def _most(given: Given) -> float:
    return UNPACKED if given.contents.get(WEIGHTS) else MAPPED


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
            "A page tells all layers of up to {most} as float64, and of up to {neurons:,} "
            "neurons with gradients; these take {size}, with {have:,}. Use `python -m normgeo "
            "layer`, which takes more.",
            most=memory(EVERY),
            neurons=EVERY_ANGLE,
            size=memory(size),
            have=neurons,
        )


def _require_small(tensors: Iterable[Tensor], most: float) -> None:
    """Refuse what is large, or what a small file may hold packed, before it is read."""
    for tensor in tensors:
        size = 8 * prod(tensor.shape)
        if size > most:
            raise Refusal(
                "A page reads tensors of up to {most} as float64; {name!r} would take {size}. "
                "Use `python -m normgeo layer`, which reads larger ones.",
                most=memory(most),
                name=tensor.name[:80],
                size=memory(size),
            )
