"""A layer in files, with the norm that names suggest, before its numbers are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import prod
from typing import final

from normgeo.base.arguments import entry_of, flag, real_number, whole_number
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.checkpoints.basis import STATED, UNKNOWN, Basis
from normgeo.checkpoints.modules import Module
from normgeo.checkpoints.pairing import Norms, may_center, normalizer_of, standing
from normgeo.checkpoints.place import PLACES, Place, require_place
from normgeo.checkpoints.weights import Arrangement
from normgeo.datasets.tensor import Tensor
from normgeo.normalizers.named import NORMALIZERS
from normgeo.normalizers.normalizer import Normalizer
from normgeo.normalizers.statistic import group_size

EPS = 1e-5
"""ε of PyTorch's batch, layer and group norm: no checkpoint holds it."""

MOST_SHARING = 16
"""How many layers are named that share a norm: there may be hundreds of experts."""

NO_NORM = NORMALIZERS["standard"]


@final
@dataclass(frozen=True, eq=False)
class Proposal:
    """A layer in files, before its numbers are read.

    Attributes:
        name: of the weights, or of a part of them. arrangement: where W is in its tensor.
        module: the layer's own tensors. norm: those of its norm; None without one, and for weight
            norm. normalizer: with ε. place: of the norm. why: the reason for both.
        basis: how they are known. one_plus: whether 1 is added to the gain of the file.

    """

    name: str
    arrangement: Arrangement
    module: Module
    norm: Module | None
    normalizer: Normalizer
    place: Place
    why: str
    basis: Basis
    one_plus: bool = False

    @property
    def weight(self) -> Tensor:
        """The tensor of the weights."""
        return self.module.tensors["weight"]

    @property
    def channels(self) -> int:
        """How many numbers a norm at its place takes of each case."""
        H, D = self.arrangement.shape
        return D if self.place.over_features else H

    @property
    def places(self) -> tuple[str, ...]:
        """The keys of the places that its norm can have here."""
        return tuple(key for key, place in PLACES.items() if replace(self, place=place)._possible)

    @property
    def _possible(self) -> bool:
        try:
            self.require_possible()
        except Refusal:
            return False
        return True

    def corrected(
        self,
        norm: Module | str | None = None,
        place: Place | str | None = None,
        normalizer: Normalizer | str | None = None,
        groups: int | None = None,
        eps: float | None = None,
        one_plus: bool | None = None,
    ) -> Proposal:
        """Return the proposal with what is stated of its norm; None keeps what was found.

        Args:
            norm: its module, "" for none. place, normalizer, groups, eps: of the norm.
            one_plus: whether 1 is added to the gain of the file.

        Raises:
            ValueError: bad words or numbers.

        """
        found = self
        if place is not None:
            place = entry_of("place", place, PLACES, Place)
        if normalizer is not None:
            normalizer = entry_of("normalizer", normalizer, NORMALIZERS, Normalizer)
        if norm is not None:
            of_norm = norm if isinstance(norm, Module) else None
            if of_norm is None:
                place = place or PLACES["after"]  # of the weights themselves, or none
            H, _ = self.arrangement.shape
            taken = normalizer_of(of_norm, self.module, H)
            basis = Basis(STATED, may_center=may_center(of_norm))
            found = _called(
                replace(
                    self,
                    norm=of_norm,
                    normalizer=_with_eps(taken, EPS),
                    basis=basis,
                    one_plus=False,
                )
            )
        chosen = normalizer or found.normalizer
        if normalizer is not None or eps is not None:
            chosen = _with_eps(chosen, EPS if eps is None else real_number("eps", eps, least=0))
        if groups is not None:
            chosen = replace(chosen, groups=whole_number("groups", groups, 1))
        basis, why = found.basis, self.why
        if norm is not None or normalizer is not None or (place and not basis.is_unknown):
            sharing = basis.sharing if norm is None else ()
            basis = Basis(STATED, sharing, basis.may_center and normalizer is None)
            why = text("as stated")
        if one_plus is not None:
            found = replace(found, one_plus=flag("one_plus", one_plus))
        place = place or self.place
        return replace(found, normalizer=chosen, place=place, why=why, basis=basis)

    def require_possible(self) -> None:
        """Refuse a place that the norm can't have, or sizes and groups that do not fit there.

        Raises:
            ValueError: they do not fit.

        """
        require_place(self.place, self.normalizer, prod(self.arrangement.kernel))
        group_size(self.channels, self.normalizer.groups)
        if self.norm is not None and self.channels % self.norm.channels:
            raise Refusal(
                "A norm that stands {place} of a layer with W of shape {shape} takes "
                "{channels} numbers of each case; {norm!r} has {count}. State another place "
                "or another norm.",
                place=self.place.title,
                shape=self.arrangement.shape,
                channels=self.channels,
                norm=self.norm.path,
                count=self.norm.channels,
            )


def proposals_of(module: Module, norms: Norms) -> list[Proposal]:
    """Return the layers in the weights of a module."""
    proposals = []
    for name, how in Arrangement.all_of(module):
        H, D = how.shape
        where = standing(module, H, D, prod(how.kernel), norms)
        norm = norms.by_path.get(where.norm)
        place = PLACES[where.place]
        found = NO_NORM
        if where.basis != UNKNOWN:
            found = normalizer_of(norm, module, 0 if place.over_features else H)
        basis = Basis(where.basis, may_center=may_center(norm, where.is_rms))
        normalizer = _with_eps(found, EPS)
        proposals.append(
            _called(
                Proposal(
                    name, how, module, norm, normalizer, place, where.why, basis, where.one_plus
                )
            )
        )
    return proposals


def _called(proposal: Proposal) -> Proposal:
    """Give the norm both of its names, if it is unknown whether it subtracts the mean."""
    if not proposal.basis.may_center:
        return proposal
    either = text("{name} or layer norm", name=proposal.normalizer.title)
    return replace(proposal, normalizer=replace(proposal.normalizer, name=either))


def with_sharing(proposals: Sequence[Proposal]) -> tuple[Proposal, ...]:
    """The layers, each with the names of the others behind the same norm."""
    of_norm: dict[str, list[str]] = {}
    for one in proposals:
        if one.norm is not None and one.place.over_features:
            of_norm.setdefault(one.norm.path, []).append(one.name)

    def with_others(one: Proposal) -> Proposal:
        if one.norm is None or not one.place.over_features:
            return one
        others = islice((n for n in of_norm[one.norm.path] if n != one.name), MOST_SHARING)
        return replace(one, basis=replace(one.basis, sharing=(*others,)))

    return tuple(map(with_others, proposals))


def _with_eps(normalizer: Normalizer, eps: float) -> Normalizer:
    return replace(normalizer, eps=eps) if normalizer.scaling.takes_eps else normalizer
