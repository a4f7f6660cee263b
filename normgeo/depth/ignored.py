"""Which changes of weights a whole residual network ignores, certified exactly block by block.

A network is a chain of sums: embedding, blocks, head (see `blocks`). A change makes of its weights
others, and of the sums s after each link others, s'. If after a link s' stands in one of the
RELATIONS to s whatever came in, the next link starts from sums in that relation; and where the last
one ends in "the same", the network's function has not changed.

Each link is evaluated before and after the change in exact arithmetic, by the normalizer's own
lines and with its roots kept apart (see `rooted`), at sums drawn anew from 2⁶² integers. A ✗
has a witness: a network of floats whose outputs the change moves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple, final

import numpy as np

from normgeo.base.arguments import entry_of, instance_of, seed_number, whole_number
from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.depth.blocks import PLACES, Block, Place
from normgeo.depth.changes import CHANGES, Change, Drawn, reflection
from normgeo.depth.norm import Gain, exact_norm, require_norm
from normgeo.depth.parameters import parts_of
from normgeo.depth.relations import RELATIONS, SAME, Offsets, Relation
from normgeo.depth.residual import Parts, ResidualNetwork
from normgeo.depth.rooted import Rooted
from normgeo.invariance import exact
from normgeo.normalizers.normalizer import Normalizer

MOVES = 1e-6
"""Of the largest output: a change that moves outputs by more is seen."""


class Size(NamedTuple):
    """Of the networks that are drawn: cases, features, stream, hidden neurons, outputs, blocks."""

    N: int = 4
    F: int = 3
    D: int = 6
    M: int = 4
    H: int = 3
    L: int = 3


SIZE, SMALLEST, LARGEST = Size(), Size(2, 1, 2, 1, 1, 3), 8
"""What is drawn; the least, with a block that is neither first nor last; the most of each."""


@final
@dataclass(frozen=True)
class Link:
    """One link of the chain, and how the sum after it stands to the unchanged one.

    Attributes:
        title: of the link. relation: one of RELATIONS in words, "" where it stands in none of them.

    """

    title: str
    relation: str


@final
@dataclass(frozen=True, eq=False)
class Ignored:
    """Whether a function is unchanged by a change of its weights.

    Attributes:
        key, title: of the change. certified: whether it is unchanged at the ε in use.
        only_without_eps: whether it is at ε = 0 alone.
        moved: largest change of an output over the largest output, of one of floats drawn with the
            same seed.
        links: of the chain that certifies it, up to where no relation is found.

    """

    key: str
    title: str
    certified: bool
    only_without_eps: bool
    moved: float
    links: tuple[Link, ...] = ()

    @property
    def symbol(self) -> str:
        """✓ ignored, ✗ not, ≈ only at ε = 0; ? where nothing is certified and nothing moves."""
        if self.certified:
            return "✓"
        if self.only_without_eps:
            return "≈"
        return "✗" if self.moved > MOVES else "?"


def residual_ignored(
    normalizer: Normalizer, place: Place | str, seed: int = 0, size: Sequence[int] = SIZE
) -> dict[str, Ignored]:
    """Certify which changes of weights a residual network ignores, by their keys.

    The network is compared before and after each change exactly, link by link of its chain, at
    random integers; a ✗ has a witness of floats, `moved`. Network and changes: `ResidualNetwork`,
    docs/mathematics.md. Half a second; at the largest size up to five.

    Args:
        normalizer: of the cases or the features. place: "pre" or "post". seed: of the draw.
        size: of what is drawn, (N, F, D, M, H, L): cases, features, stream, hidden neurons,
            outputs and blocks, at most 8 each.

    Raises:
        ValueError: bad arguments, or a normalizer that cannot stand by itself.

    >>> from normgeo import NORMALIZERS
    >>> rms = NORMALIZERS["rms"]
    >>> {p: residual_ignored(rms, p)["all_writes_times"].symbol for p in ("pre", "post")}
    {'pre': '✓', 'post': '✗'}

    """
    at = entry_of("place", place, PLACES, Place)
    drawn = Size(
        *(
            whole_number(f"size {letter}", value, least, LARGEST)
            for letter, value, least in zip(
                Size._fields, parts_of("size", size, "N F D M H L"), SMALLEST, strict=True
            )
        )
    )
    instance_of("normalizer", normalizer, Normalizer)
    # How many groups there are decides nothing, once there is more than one.
    shared = replace(normalizer, groups=min(normalizer.groups, 2))
    require_norm(shared, drawn.D, drawn.N)
    return _ignored(shared, at, seed_number(seed), drawn)


@lru_cache(maxsize=64)
def _ignored(normalizer: Normalizer, place: Place, seed: int, size: Size) -> dict[str, Ignored]:
    actual = _Chain(replace(normalizer, eps=normalizer.exact_eps), place, seed, size)
    ideal = _Chain(replace(normalizer, eps=Fraction(0)), place, seed, size)
    rng = np.random.default_rng((seed, 1))
    parts, drawn = _drawn(place, size, lambda *shape: rng.standard_normal(shape))
    X = rng.standard_normal((size.N, size.F))
    before = ResidualNetwork(normalizer, place, parts).forward(X).logits
    found = {}
    for change in CHANGES.values():
        after = (
            ResidualNetwork(normalizer, place, change.apply(parts, place, drawn)).forward(X).logits
        )
        links, certified = actual.links(change)
        found[change.key] = Ignored(
            change.key,
            change.title,
            certified,
            bool(not certified and normalizer.added_eps) and ideal.links(change)[1],
            moved(before, after),
            links,
        )
    return found


def moved(before: Array, after: Array) -> float:
    """Return max|after − before| / max|before|, 0 where both are 0."""
    return float(np.abs(after - before).max() / (np.abs(before).max() or 1.0))


def _drawn(place: Place, size: Size, draw: Callable[..., Array]) -> tuple[Parts, Drawn]:
    """A network and what changes are made with, of numbers that `draw` makes by their shape."""
    _, F, D, M, H, L = size

    def factors(count: int) -> Array:
        values = draw(count)
        return values * values + 1

    def gain() -> Gain:
        return Gain(factors(D), draw(D))

    blocks = tuple(
        Block(
            None if place.carries_normalized and not i else gain(),
            draw(M, D),
            draw(M),
            draw(D, M),
            draw(D),
        )
        for i in range(L)
    )
    parts = Parts(draw(D, F), draw(D), blocks, gain(), draw(H, D), draw(H))
    delta, t = factors(1)[0], draw(1)[0]
    turn = reflection(draw(D))
    return parts, Drawn(delta, factors(D), factors(M), draw(D), draw(M), t, draw(H), turn)


class _Chain:
    """An exact network, with a stream of its own drawn before every link."""

    def __init__(self, normalizer: Normalizer, place: Place, seed: int, size: Size) -> None:
        rng = np.random.default_rng((seed, 0))

        def draw(*shape: int) -> Array:
            return exact.draw(rng, shape)

        self.normalizer, self.place = normalizer, place
        self.parts, self.drawn = _drawn(place, size, draw)
        self.starts = [draw(size.N, size.F), *(draw(size.N, size.D) for _ in range(size.L + 1))]
        self.offsets = Offsets(draw(size.N), draw(size.D))
        self.before = [
            link(x) for link, x in zip(self._links(self.parts), self.starts, strict=True)
        ]

    def links(self, change: Change) -> tuple[tuple[Link, ...], bool]:
        """The chain under a change, to where no relation is found, and whether it ends in SAME."""
        changed = change.apply(self.parts, self.place, self.drawn)
        exact.require_fractions(*changed.arrays())
        relation: Relation | None = SAME
        found: list[Link] = []
        for place, link in enumerate(self._links(changed)):
            if relation is None:
                break
            if relation is not SAME or self._touched(changed)[place]:
                after = link(relation.impose(self.starts[place], self.drawn, self.offsets))
                known = (r for r in RELATIONS if r.holds(self.before[place], after, self.drawn))
                relation = next(known, None)
            found.append(Link(self._title(place), relation.title if relation else ""))
        return tuple(found), relation is SAME

    def _title(self, place: int) -> str:
        if not place:
            return text("embedding")
        if place > len(self.parts.blocks):
            return text("head")
        return text("block {number}", number=place)

    def _links(self, at: Parts) -> list[Callable[[Array], Rooted]]:
        """The links of a network, each from fractions to numbers with roots."""

        def embedding(x: Array) -> Rooted:
            return Rooted.rational(x).affine(at.E, at.e)

        def block(of: Block) -> Callable[[Array], Rooted]:
            return lambda x: self.place.exact(self.normalizer, of, Rooted.rational(x))

        def head(x: Array) -> Rooted:
            return exact_norm(self.normalizer, at.last, Rooted.rational(x)).affine(at.U, at.u)

        return [embedding, *map(block, at.blocks), head]

    def _touched(self, changed: Parts) -> list[bool]:
        """Which links have other weights than before."""

        def differ(before: Any, after: Any) -> bool:
            return any(a is not b for a, b in zip(before, after, strict=True))

        own = self.parts
        return [
            differ(own[:2], changed[:2]),
            *(differ(*pair) for pair in zip(own.blocks, changed.blocks, strict=True)),
            differ(own[3:], changed[3:]),
        ]
