"""Relations of a stream after a change of weights to the same stream before it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.invariance import exact
from normgeo.networks.changes import Drawn
from normgeo.networks.degrees import degree_of_all
from normgeo.networks.rooted import Over, Rooted, Roots, Sums


class Offsets(NamedTuple):
    """The offsets in relations: one number per case (N,), one per feature (D,)."""

    of_cases: Array
    of_features: Array


@final
@dataclass(frozen=True)
class Relation:
    """A relation of the stream after a change to the stream before it.

    Attributes:
        key: its name. title: in a few words.
        impose: (s, drawn, offsets) → s' of fractions.
        expected: (numbers before, drawn) → those after, up to an offset.
        alike: the axis along which that offset is constant, None without an offset.

    """

    key: str
    title: str
    impose: Callable[[Array, Drawn, Offsets], Array]
    expected: Callable[[Rooted, Drawn], Rooted]
    alike: int | None = None

    def holds(self, before: Sums, after: Sums, drawn: Drawn) -> bool:
        """Whether the sums before and after are in this relation, for every set of active units."""
        roots = Roots(drawn.delta)
        written = after.opened_as(before, drawn.hidden[: len(after.written)], roots)
        if written is None or not self._stand(before.plain, after.plain, self.alike, drawn, roots):
            return False
        # A unit may be active in some cases only, so cases cannot share an offset.
        alike = 1 if self.alike == 1 else None
        first, own = (Rooted.rational(values) for values in (before.written, written))
        return self._stand(first, own, alike, drawn, roots)

    def degree(self, before: Sums, after: Sums, drawn: Drawn) -> int:
        """Return a bound on the degree of the comparison in `holds`, from sums of variables."""
        factors = drawn.hidden[: len(after.written)]
        written = Rooted.rational(after.written * factors[:, None])
        compared = []
        for x in (
            *(self.expected(before.plain, drawn), after.plain),
            *(before.read.times(factors), after.read),
            *(self.expected(Rooted.rational(before.written), drawn), written),
        ):
            compared += [x.rest, x.terms / drawn.delta, x.squares / drawn.delta**2]
        return degree_of_all(*compared)

    def _stand(
        self, before: Rooted, after: Rooted, alike: int | None, drawn: Drawn, roots: Roots
    ) -> bool:
        expected = self.expected(before, drawn).collected(roots)
        found = after.collected(roots)
        if alike is None:
            return bool((expected == found).all())
        differences = np.empty(found.shape, dtype=object)
        for index, over in np.ndenumerate(found):
            differences[index] = _difference(over, expected.item(index))
        first = differences[:, :1] if alike else differences[:1]
        return bool((differences == first).all())


def _difference(a: Over, b: Over) -> Over:
    both = {root: a.get(root, Fraction(0)) - b.get(root, Fraction(0)) for root in {**a, **b}}
    return {root: value for root, value in both.items() if value}


def _turned(x: Rooted, Q: Array) -> Rooted:
    # The head has one number per output: there is no stream to rotate.
    if x.rest.shape[1] != len(Q):
        return x
    return x.affine(Q, exact.fractions(np.zeros(len(Q), dtype=int)))


SAME = Relation("same", text("the same"), lambda x, d, o: x, lambda x, d: x)
RELATIONS = (
    SAME,
    Relation("times", text("× δ"), lambda x, d, o: x * d.delta, lambda x, d: x.times(d.delta)),
    Relation(
        "turned", text("turned by Q"), lambda x, d, o: x @ d.turn.T, lambda x, d: _turned(x, d.turn)
    ),
    Relation(
        "lifted",
        text("plus one number for each case"),
        lambda x, d, o: x + o.of_cases[:, None],
        lambda x, d: x,
        alike=1,
    ),
    Relation(
        "moved",
        text("plus one vector for all cases"),
        lambda x, d, o: x + o.of_features,
        lambda x, d: x,
        alike=0,
    ),
)
