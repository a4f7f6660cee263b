"""Files of tensors, and the layers that their names and sizes propose, before any is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import final

from normgeo.base.arguments import entry_of, instance_of, real_number, whole_number
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.datasets.tensor import Tensor
from normgeo.datasets.tensor_files import Files, list_tensors
from normgeo.layers.modules import ROLES, Module, modules
from normgeo.layers.pairing import normalizer_of, standing
from normgeo.layers.place import PLACES, Place, require_place
from normgeo.layers.weights import Arrangement
from normgeo.normalizers.named import NORMALIZERS
from normgeo.normalizers.normalizer import Normalizer
from normgeo.normalizers.statistic import group_size

EPS = 1e-5
"""ε of PyTorch's batch, layer and group norm: no checkpoint holds it."""


@final
@dataclass(frozen=True, eq=False)
class Proposal:
    """A layer that files hold, before its numbers are read.

    Attributes:
        name: of the weights, and of a part of them. arrangement: how W is taken from its tensor.
        module: the layer's own tensors. norm: those of its norm, None where it is none or weight
            norm. normalizer: with ε. place: where it stands. why: what that was taken from.

    """

    name: str
    arrangement: Arrangement
    module: Module
    norm: Module | None
    normalizer: Normalizer
    place: Place
    why: str

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
    ) -> Proposal:
        """Return it with what is stated of its norm; None keeps what was found.

        Args:
            norm: its module, "" for none. place, normalizer, groups, eps: of it.

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
            found = replace(self, norm=of_norm, normalizer=_with_eps(taken, EPS))
        chosen = normalizer or found.normalizer
        if normalizer is not None or eps is not None:
            chosen = _with_eps(chosen, EPS if eps is None else real_number("eps", eps, least=0))
        if groups is not None:
            chosen = replace(chosen, groups=whole_number("groups", groups, 1))
        kept = norm is None and place is None and normalizer is None
        why = self.why if kept else text("as stated")
        return replace(found, normalizer=chosen, place=place or self.place, why=why)

    def require_possible(self) -> None:
        """Refuse a place that its norm can't have, or where its numbers or groups are for others.

        Raises:
            ValueError: it is one.

        """
        require_place(self.place, self.normalizer, prod(self.arrangement.kernel))
        group_size(self.channels, self.normalizer.groups)
        if self.norm is not None and self.channels % self.norm.channels:
            raise Refusal(
                text(
                    "A norm that stands {place} of a layer with W of shape {shape} takes "
                    "{channels} numbers of each case; {norm!r} has {count}. State another place "
                    "or another norm.",
                    place=self.place.title,
                    shape=self.arrangement.shape,
                    channels=self.channels,
                    norm=self.norm.path,
                    count=self.norm.channels,
                )
            )


@final
@dataclass(frozen=True, eq=False)
class Checkpoint:
    """Files with the layers that their names propose.

    Attributes:
        tensors: by their headers. roles: the corrected role of each by name, as found otherwise.
        proposals: the layers, in the order of their names.

    """

    tensors: tuple[Tensor, ...]
    roles: Mapping[str, str]
    proposals: tuple[Proposal, ...]

    def without(self, *roles: str) -> Checkpoint:
        """Return the same with nothing for some of the roles."""
        kept = {name: "other" if role in roles else role for name, role in self.roles.items()}
        return replace(self, roles=kept)

    @classmethod
    def of(
        cls,
        files: Files,
        roles: Mapping[str, str] | None = None,
        *,
        norm: str | None = None,
        place: str | None = None,
        normalizer: str | Normalizer | None = None,
        groups: int | None = None,
        eps: float | None = None,
    ) -> Checkpoint:
        """Look into files, and propose layers.

        Args:
            files: one or more paths. roles: corrections, tensor → a word of ROLES.
            norm: the path of the one whose gain and statistics are meant, "" for none.
            place, normalizer, groups, eps: of it. All of these correct every layer; None keeps
                what is found.

        Raises:
            ValueError: bad files, an unknown tensor or word, or no weights in them.
            OSError: a file that can't be read.

        """
        tensors = list_tensors(files)
        corrected = _checked_roles({} if roles is None else roles, tensors)
        if not corrected and sum(len(t.shape) == 2 for t in tensors) == len(tensors) == 1:
            corrected = {tensors[0].name: "weight"}  # a file of one matrix
        found = modules(tensors, corrected)
        proposals = [
            proposal.corrected(_norm(norm, found), place, normalizer, groups, eps)
            for module in found.values()
            if module.is_layer
            for proposal in _proposals(module, found)
        ]
        if not proposals:
            raise Refusal(
                text(
                    "The files must hold weights, a tensor of two axes or more; none of their "
                    "{count} tensors is known for one. Say which with `roles`: {example}.",
                    count=len(tensors),
                    example='{"name": "weight"}',
                )
            )
        of_module = {t.name: r for m in found.values() for r, t in m.tensors.items()}
        return cls(
            tensors, {t.name: of_module.get(t.name, "other") for t in tensors}, (*proposals,)
        )

    def norms_for(self, proposal: Proposal) -> tuple[str, ...]:
        """The paths of the norms that a layer can have by their sizes, in the order of names."""
        return tuple(
            path
            for path, module in modules(self.tensors, self.roles).items()
            if module.is_norm and replace(proposal, norm=module).places
        )

    def choose(self, name: str | None) -> Proposal:
        """Return the layer of this name, or whose weights have it; the only one for None.

        Raises:
            ValueError: no such layer, or several.

        """
        if name is not None:
            instance_of("layer", name, str)
        names = [proposal.name for proposal in self.proposals]
        found = [p for p in self.proposals if name in {None, p.name, p.weight.name, p.module.path}]
        if len(found) != 1:
            shown = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
            raise Refusal(
                text(
                    "Choose one of the {count} layers of the files by its name; got {name!r}, and "
                    "they are {names!s}.",
                    count=len(names),
                    name=name,
                    names=shown,
                )
            )
        return found[0]


def _proposals(module: Module, found: Mapping[str, Module]) -> list[Proposal]:
    norms = {path: other for path, other in found.items() if other.is_norm}
    proposals = []
    for name, how in Arrangement.all_of(module):
        H, D = how.shape
        where = standing(module, H, D, norms)
        norm = norms.get(where.norm)
        place = PLACES[where.place]
        normalizer = normalizer_of(norm, module, 0 if place.over_features else H)
        proposals.append(
            Proposal(name, how, module, norm, _with_eps(normalizer, EPS), place, where.why)
        )
    return proposals


def _norm(path: str | None, found: Mapping[str, Module]) -> Module | str | None:
    """The norm that is asked for, "" for none, None where nothing is asked for."""
    if path is not None:
        instance_of("norm", path, str)
    norms = [name for name, module in found.items() if module.is_norm]
    if not path or path in norms:
        return found[path] if path else path
    raise Refusal(
        text(
            "`norm` must be the path of a norm in the files; got {path!r}, and they hold "
            "{norms!s}.",
            path=path[:80],
            norms=", ".join(norms[:8]) + (", …" if len(norms) > 8 else "") or text("none"),
        )
    )


def _with_eps(normalizer: Normalizer, eps: float) -> Normalizer:
    return replace(normalizer, eps=eps) if normalizer.scaling.takes_eps else normalizer


def _checked_roles(roles: Mapping[str, str], tensors: tuple[Tensor, ...]) -> dict[str, str]:
    names = {tensor.name for tensor in tensors}
    for name, role in instance_of("roles", roles, Mapping).items():
        if name not in names or role not in ROLES:
            raise Refusal(
                text(
                    "A correction gives a tensor of the files one of {roles}; got {name!r} and "
                    "{role!r}.",
                    roles=", ".join(ROLES),
                    name=str(name)[:80],
                    role=str(role)[:40],
                )
            )
    return dict(roles)
