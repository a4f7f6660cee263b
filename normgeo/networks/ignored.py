"""Which changes of weights a whole residual network ignores, certified exactly block by block.

A network is a chain of sums: embedding, blocks, head (see `blocks`). A change of its weights
changes the sums s after each link to s'. If s' after a link is in one of the RELATIONS to s for
every input, the next link starts from sums in that relation; if the last link ends in "the same",
the network's function is unchanged.

Each link is evaluated before and after the change in exact arithmetic, by the normalizer's own
code, at sums drawn from 2⁶² integers for each link. Its roots and its ReLUs stay symbolic (see
`rooted`), so no sign of the drawn numbers decides: a ✓ holds for every set of active units. A ✗ has
a witness: a network of floats whose outputs change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from normgeo.base.arguments import entry_of, seed_number, whole_number
from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.invariance import exact
from normgeo.networks.blocks import PLACES, Block, Place
from normgeo.networks.changes import CHANGES, Change, Drawn, reflection
from normgeo.networks.degrees import variables
from normgeo.networks.norm import Gain, exact_norm, require_norm
from normgeo.networks.parameters import parts_of
from normgeo.networks.relations import RELATIONS, SAME, Offsets, Relation
from normgeo.networks.residual import Parts, ResidualNetwork
from normgeo.networks.rooted import Rooted, Sums
from normgeo.networks.verdict import (
    DRAWS,
    Check,
    Ignored,
    Link,
    false_pass,
    judged,
    moved,
    uncontradicted,
)
from normgeo.normalizers.normalizer import Normalizer


class Size(NamedTuple):
    """The size of the drawn networks: cases, features, stream, hidden neurons, outputs, blocks."""

    N: int = 4
    F: int = 3
    D: int = 6
    M: int = 4
    H: int = 3
    L: int = 3


SIZE, SMALLEST, LARGEST = Size(), Size(2, 1, 2, 1, 1, 3), 8
"""The default; the smallest, with a block that is neither first nor last; the most of each."""

REGION = text("every set of active units, wherever no σ is 0")


def residual_ignored(
    normalizer: Normalizer | str, place: Place | str, seed: int = 0, size: Sequence[int] = SIZE
) -> dict[str, Ignored]:
    """Certify which changes of weights a residual network ignores, by key.

    The network before a change and after it are compared exactly, link by link of the chain, at
    random integers, with every ReLU symbolic; a ✗ has a witness in floats, `moved`. See
    `ResidualNetwork` for the network and docs/mathematics.md for the changes and what a ✓ is based
    on. It takes half a second, two seconds at the largest size.

    Args:
        normalizer: of the cases or the features. place: "pre" or "post". seed: of the draw.
        size: of the drawn networks, (N, F, D, M, H, L): cases, features, stream, hidden neurons,
            outputs and blocks, at most 8 each.

    Raises:
        ValueError: bad arguments, a normalizer that needs weights, or an undefined z.
        ContradictionError: a defect: floats contradict a ✓.

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
    normalizer = require_norm(normalizer, drawn.D, drawn.N)
    return _ignored(normalizer, at, seed_number(seed), drawn)


@lru_cache(maxsize=64)
def _ignored(normalizer: Normalizer, place: Place, seed: int, size: Size) -> dict[str, Ignored]:
    return uncontradicted(lambda attempt: _of_draw(normalizer, place, seed, size, attempt))


def _of_draw(
    normalizer: Normalizer, place: Place, seed: int, size: Size, attempt: int
) -> dict[str, Ignored]:
    def certifier(eps: Fraction) -> _Certifier:
        return _Certifier.of(replace(normalizer, eps=eps), place, size, (seed, 0, attempt))

    actual = certifier(normalizer.exact_eps)
    ideal = certifier(Fraction(0)) if normalizer.added_eps else None
    floats = _Floats(normalizer, place, size, np.random.default_rng((seed, 1, attempt)))
    return {
        change.key: judged(
            change.key,
            change.title,
            REGION,
            actual.check(change),
            partial(ideal.check, change) if ideal else None,
            partial(floats.move, change),
        )
        for change in CHANGES.values()
    }


class _Floats:
    """Random networks of floats, drawn on demand."""

    def __init__(
        self, normalizer: Normalizer, place: Place, size: Size, rng: np.random.Generator
    ) -> None:
        self._normalizer, self._place, self._size, self._rng = normalizer, place, size, rng
        self._met: list[tuple[Parts, Drawn, Array, Array]] = []

    def move(self, change: Change, index: int) -> float:
        """Return the size of the change of the logits, for the network with this number."""
        while len(self._met) <= index:
            parts, drawn = _drawn(
                self._place, self._size, lambda *shape: self._rng.standard_normal(shape)
            )
            X = self._rng.standard_normal((self._size.N, self._size.F))
            self._met.append((parts, drawn, X, self._logits(parts, X)))
        parts, drawn, X, before = self._met[index]
        return moved(before, self._logits(change.apply(parts, self._place, drawn), X))

    def _logits(self, parts: Parts, X: Array) -> Array:
        return ResidualNetwork(self._normalizer, self._place, parts).forward(X).logits


def _drawn(place: Place, size: Size, draw: Callable[..., Array]) -> tuple[Parts, Drawn]:
    """Draw a network and the numbers for changes; `draw` makes an array of a shape."""
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


class _Network:
    """An exact network, or one of variables, with its own stream before every link."""

    def __init__(
        self, normalizer: Normalizer, place: Place, size: Size, draw: Callable[..., Array]
    ) -> None:
        self.normalizer, self.place = normalizer, place
        self.parts, self.drawn = _drawn(place, size, draw)
        self.starts = [draw(size.N, size.F), *(draw(size.N, size.D) for _ in range(size.L + 1))]
        self.offsets = Offsets(draw(size.N), draw(size.D))
        self.before = [self._after(self.parts, i, x) for i, x in enumerate(self.starts)]

    def changed(self, change: Change) -> Parts:
        """The parameters after a change."""
        return change.apply(self.parts, self.place, self.drawn)

    def after(self, changed: Parts, index: int, relation: Relation) -> Sums:
        """The output of a link with changed parameters, for a stream in a relation to its own."""
        return self._after(
            changed, index, relation.impose(self.starts[index], self.drawn, self.offsets)
        )

    def _after(self, at: Parts, index: int, x: Array) -> Sums:
        s = Rooted.rational(x)
        if not index:
            return Sums.of(s.affine(at.E, at.e))
        if index > len(at.blocks):
            return Sums.of(exact_norm(self.normalizer, at.last, s).affine(at.U, at.u))
        return self.place.exact(self.normalizer, at.blocks[index - 1], s)

    def touched(self, changed: Parts) -> list[bool]:
        """The links whose weights have changed."""

        def differ(before: Any, after: Any) -> bool:
            return any(a is not b for a, b in zip(before, after, strict=True))

        own = self.parts
        return [
            differ(own[:2], changed[:2]),
            *(differ(*pair) for pair in zip(own.blocks, changed.blocks, strict=True)),
            differ(own[3:], changed[3:]),
        ]


@dataclass(frozen=True)
class _Certifier:
    """Exact networks, and one of variables that bounds the degree of the comparisons."""

    networks: tuple[_Network, ...]
    symbolic: _Network

    @classmethod
    def of(
        cls, normalizer: Normalizer, place: Place, size: Size, seed: tuple[int, ...]
    ) -> _Certifier:
        rng = np.random.default_rng(seed)
        networks = tuple(
            _Network(normalizer, place, size, lambda *shape: exact.draw(rng, shape))
            for _ in range(DRAWS)
        )
        return cls(networks, _Network(normalizer, place, size, variables))

    def check(self, change: Change) -> Check:
        """Follow a change along the chain, until no relation holds."""
        changed = [network.changed(change) for network in self.networks]
        touched = self.networks[0].touched(changed[0])
        relation: Relation | None = SAME
        links: list[Link] = []
        compared: list[tuple[int, Relation]] = []
        for index, other in enumerate(touched):
            if relation is None:
                break
            if other or relation is not SAME:
                compared.append((index, relation))
                relation = self._relation(changed, index, relation)
            title = _title(index, len(touched) - 1)
            links.append(Link(title, relation.title if relation else ""))
        if relation is not SAME:
            return Check(False, tuple(links))
        return Check(True, tuple(links), *self._bounds(change, compared))

    def _relation(self, changed: list[Parts], index: int, relation: Relation) -> Relation | None:
        """Return the first relation that holds after a link at every draw."""
        pairs = []
        for network, parts in zip(self.networks, changed, strict=True):
            after = network.after(parts, index, relation)
            exact.require_fractions(*after.arrays())
            pairs.append((network.before[index], after, network.drawn))
        return next((r for r in RELATIONS if all(r.holds(*pair) for pair in pairs)), None)

    def _bounds(self, change: Change, compared: list[tuple[int, Relation]]) -> tuple[int, float]:
        """Return the degree of the comparisons, and the share of draws that pass a false one."""
        symbolic, largest, error = self.symbolic, 0, 0.0
        changed, drawn = symbolic.changed(change), symbolic.drawn
        for index, relation in compared:
            before, after = symbolic.before[index], symbolic.after(changed, index, relation)
            degree = max(r.degree(before, after, drawn) for r in RELATIONS)
            squares = sum(x.squares.size for sums in (before, after) for x in sums[:2])
            units = before.read.rest.shape[1]
            one = false_pass(1 + 2 * units, squares, degree)
            largest, error = max(largest, degree), error + len(RELATIONS) * one**DRAWS
        return largest, min(1.0, error)


def _title(index: int, last: int) -> str:
    if not index:
        return text("embedding")
    if index == last:
        return text("head")
    return text("block {number}", number=index)
