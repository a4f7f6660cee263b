"""How the numbers of a stream after a change of weights may stand to those before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.depth.changes import Drawn
from normgeo.depth.rooted import Over, Rooted, Roots
from normgeo.invariance import exact


class Offsets(NamedTuple):
    """What relations are made with: a number of each case (N,), of each feature (D,)."""

    of_cases: Array
    of_features: Array


@final
@dataclass(frozen=True)
class Relation:
    """How a stream stands to the one without the change.

    Attributes:
        key: of it. title: in a few words.
        impose: (s, drawn, offsets) → s' of fractions.
        expected: (numbers before, drawn) → those after, up to an offset.
        alike: the axis along which that offset is the same, None where there is none.

    """

    key: str
    title: str
    impose: Callable[[Array, Drawn, Offsets], Array]
    expected: Callable[[Rooted, Drawn], Rooted]
    alike: int | None = None

    def holds(self, before: Rooted, after: Rooted, drawn: Drawn) -> bool:
        """Whether numbers after stand so to those before."""
        roots = Roots()
        expected = self.expected(before, drawn).collected(roots)
        found = after.collected(roots)
        if self.alike is None:
            return bool((expected == found).all())
        differences = np.empty(found.shape, dtype=object)
        for place, over in np.ndenumerate(found):
            differences[place] = _difference(over, expected.item(place))
        first = differences.take([0], axis=self.alike)
        return bool((differences == first).all())


def _difference(a: Over, b: Over) -> Over:
    both = {root: a.get(root, Fraction(0)) - b.get(root, Fraction(0)) for root in {**a, **b}}
    return {root: value for root, value in both.items() if value}


def _times(x: Rooted, factor: Fraction) -> Rooted:
    return Rooted(x.rest * factor, x.terms * factor, x.squares)


def _turned(x: Rooted, Q: Array) -> Rooted:
    # At the head there are as many numbers as outputs, and no stream to turn.
    if x.rest.shape[1] != len(Q):
        return x
    return x.affine(Q, exact.fractions(np.zeros(len(Q), dtype=int)))


SAME = Relation("same", text("the same"), lambda x, d, o: x, lambda x, d: x)
RELATIONS = (
    SAME,
    Relation("times", text("× δ"), lambda x, d, o: x * d.delta, lambda x, d: _times(x, d.delta)),
    Relation(
        "turned", text("turned by Q"), lambda x, d, o: x @ d.turn.T, lambda x, d: _turned(x, d.turn)
    ),
    Relation(
        "lifted",
        text("plus a number of each case in all features"),
        lambda x, d, o: x + o.of_cases[:, None],
        lambda x, d: x,
        alike=1,
    ),
    Relation(
        "moved",
        text("plus the same vector in all cases"),
        lambda x, d, o: x + o.of_features,
        lambda x, d: x,
        alike=0,
    ),
)
