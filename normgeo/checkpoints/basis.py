"""How the norm of a layer is known: stated, seen, known from tensors, guessed, or not at all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce
from typing import final

from normgeo.base.text import text
from normgeo.checkpoints.place import Change, Place, freedoms
from normgeo.normalizers.normalizer import Normalizer

STATED, SEEN, TENSORS, NAMES, UNKNOWN = "stated", "seen", "tensors", "names", "unknown"

BASES = {
    STATED: text("stated"),
    SEEN: text("seen while the network ran"),
    TENSORS: text("known from the tensors"),
    NAMES: text("guessed from names"),
    UNKNOWN: text("unknown"),
}
"""How the norm is known, in words."""


@final
@dataclass(frozen=True)
class Basis:
    """How the norm of a layer and its place are known, and what is still open.

    Attributes:
        key: one of BASES. sharing: the names of other layers behind the same norm.
        may_center: whether the norm may be a layer norm without a bias as well as an RMS norm.

    """

    key: str = STATED
    sharing: tuple[str, ...] = ()
    may_center: bool = False

    @property
    def is_unknown(self) -> bool:
        """Whether the norm is unknown."""
        return self.key == UNKNOWN

    @property
    def title(self) -> str:
        """The key in words."""
        return text(BASES[self.key])


def sentence(place: Place, normalizer: Normalizer, basis: Basis | None = None) -> str:
    """Say where the norm stands and which changes the layer then ignores, as `freedoms` decides.

    Without a basis, norm and place are taken as stated.
    """
    basis = basis or Basis()
    if basis.is_unknown:
        return text(
            "Unknown: no name tells which norm this layer has, and where. It is told as a layer "
            "without one; state norm and place."
        )
    found = freedoms(place, normalizer)
    either: list[Change] = []
    if basis.may_center:
        other = freedoms(place, replace(normalizer, center="layer"))
        pairs = [*zip(found, other, strict=False)]
        either = [a.change for a, b in pairs if a != b] + [b.change for b in other[len(pairs) :]]
    sure = [one for one in found if one.change not in either]
    titles = {one.change.key: _together(one.change, basis) for one in found}
    free = [titles[one.change.key] for one in sure if one.free]
    nearly = [titles[one.change.key] for one in sure if one.only_without_eps]
    seen = [titles[one.change.key] for one in sure if not (one.free or one.only_without_eps)]
    parts = [
        text("There is no norm.")
        if normalizer.is_standard
        else text("{name} stands {place}.", name=normalizer.title, place=place.title),
        text("Ignored: {changes}.", changes=_listed(free)) if free else "",
        text("Ignored where ε is small: {changes}.", changes=_listed(nearly)) if nearly else "",
        text("Not ignored: {changes}.", changes=_listed(seen)) if seen else "",
        text(
            "Ignored by a layer norm alone, which this one may be, for no name tells: {changes}.",
            changes=_listed(change.title for change in either),
        )
        if either
        else "",
    ]
    return reduce(
        lambda some, last: text("{some} {last}", some=some, last=last), filter(None, parts)
    )


_SHOWN = 4  # layers that are named


def _together(change: Change, basis: Basis) -> str:
    """A change in words, and which other layers have to change with it."""
    if change.key != "traded":
        return change.title
    if not basis.sharing:
        return text("{change}, where nothing else takes this norm", change=change.title)
    names: str = text("{name!s}", name=basis.sharing[0])
    for name in basis.sharing[1:_SHOWN]:
        names = text("{names}, {name!s}", names=names, name=name)
    if len(basis.sharing) > _SHOWN:
        names = text("{names} …", names=names)
    return text(
        "{change}, in all that take this norm together, as {names}",
        change=change.title,
        names=names,
    )


def _listed(titles: Iterable[str]) -> str:
    return reduce(lambda some, last: text("{some}; {last}", some=some, last=last), titles)
