"""The smallest numbers that show a "no": a counterexample for the blackboard.

Every integer candidate of a size is evaluated in float64 at once, smallest first, and the first
one that moves z is confirmed in exact arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import groupby, product
from math import prod
from typing import NamedTuple, final

import numpy as np
from numpy.polynomial.polynomial import polypow

from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.invariance import exact
from normgeo.invariance.certificate import Parameters, Shape, certify
from normgeo.invariance.transforms import Transform
from normgeo.normalizers.normalizer import Normalizer

SIZES_TRIED = 3
"""How many values of N, H/G and D are tried, from the smallest that is not degenerate."""

LARGEST_SEARCH = 3_000_000
"""How many candidates of one size are looked at before the search gives up."""

CHUNK = 1 << 14
TOLERANCE = 1e-9


class Side(NamedTuple):
    """One side of a witness, before or after the change.

    Attributes:
        W, X: (H, D) and (N, D). C, v: a − μ (N, H) and σ², which broadcasts against it.

    """

    W: Array
    X: Array
    C: Array
    v: Array


@final
@dataclass(frozen=True, eq=False)
class Witness:
    """The smallest integers at which a change moves |z|; every number is a `Fraction`.

    Attributes:
        normalizer, transform: what moves z.
        parameters: δ = 2 or γ, and the row that changes where one does.
        before, after: W, X, C and v.
        place: (n, h), the first where |z'| ≠ |z|. z_squared, z_squared_after: c²/v there.

    """

    normalizer: Normalizer
    transform: Transform
    parameters: Parameters
    before: Side
    after: Side
    place: tuple[int, int]
    z_squared: Fraction
    z_squared_after: Fraction


def smallest_witness(normalizer: Normalizer, transform: Transform) -> Witness:
    """Return the smallest integers W, X (and γ) at which `transform` moves |z|.

    Fewest entries of W, X and γ; then the least sum of their sizes, all in {−2, …, 2}; then the
    fewest negative ones; then the lexicographically first, 1 before 2 before 0. δ = 2. A batch
    word gets at least 3 cases, a layer word 3 neurons a group, a weight center 2 features.
    Frozen statistics are those of the unchanged W, X.

    Raises:
        ValueError: the normalizer is invariant to the change, so there is none; or the search
            grows too large (three groups of neurons or more).

    >>> from normgeo import NORMALIZERS, TRANSFORMS
    >>> witness = smallest_witness(NORMALIZERS["weight"], TRANSFORMS["dataset_rescaling"])
    >>> witness.before.W, witness.before.X, str(witness.z_squared), str(witness.z_squared_after)
    (array([[Fraction(1, 1)]], dtype=object), array([[Fraction(1, 1)]], dtype=object), '1', '4')

    """
    if certify(normalizer, transform).invariant:
        raise Refusal(
            text(
                "A witness shows that z moves, but {name} is invariant to {change}: there is none. "
                "Ask `certify` for the verdict first.",
                name=normalizer.title,
                change=transform.label,
            )
        )
    search = _Search(replace(normalizer, eps=Fraction(normalizer.eps)), transform)
    for shapes in search.shapes():
        usable = [shape for shape in shapes if search.may_move(shape)]
        entries = max((search.entries(shape) for shape in usable), default=-1)
        for total in range(2 * entries + 1):
            for shape in usable:
                witness = next(search.hits(shape, total), None)
                if witness is not None:
                    return witness
    raise search.given_up()


@final
@dataclass(frozen=True)
class _Search:
    normalizer: Normalizer
    transform: Transform

    def shapes(self) -> Iterator[list[Shape]]:
        """Return the shapes with equally many entries, fewest first."""
        normalizer, G = self.normalizer, self.normalizer.groups
        smallest = (
            3 if normalizer.shared_by_cases else 1,
            3 if normalizer.shared_by_neurons else 1,
            1 + normalizer.centering.feature_dimensions_lost,
        )
        ranges = (range(least, least + SIZES_TRIED) for least in smallest)
        every = [Shape(N, K * G, D) for N, K, D in product(*ranges)]
        for _, shapes in groupby(sorted(every, key=self.entries), self.entries):
            yield list(shapes)

    def parts(self, shape: Shape) -> list[tuple[int, ...]]:
        """Return the shapes of W, X and, for a shift, γ."""
        W, X = np.empty((shape.H, shape.D)), np.empty((shape.N, shape.D))
        gamma = [] if self.transform.rescales else [self.transform.gamma_shape(W, X)]
        return [W.shape, X.shape, *gamma]

    def entries(self, shape: Shape) -> int:
        """Return how many numbers a witness of this shape has."""
        return sum(map(prod, self.parts(shape)))

    def may_move(self, shape: Shape) -> bool:
        """Whether generic numbers of this shape move |z|; where they don't, none can."""
        rng = np.random.default_rng(0)
        return bool(self.moved(shape, rng.standard_normal((1, self.entries(shape))))[0])

    def hits(self, shape: Shape, total: int) -> Iterator[Witness]:
        """Return the witnesses of this shape whose entries' sizes sum to `total`."""
        length = self.entries(shape)
        # As many as the coefficient of x^total in (1 + 2x + 2x²)^length: entries 0, ±1, ±2.
        if polypow([1, 2, 2], length)[total] > LARGEST_SEARCH:
            raise self.given_up()
        candidates = _integers(length, total)
        order = np.argsort((candidates < 0).sum(axis=1), kind="stable")
        for chunk in np.array_split(order, len(order) // CHUNK + 1):
            rows = candidates[chunk]
            found = (self.confirmed(shape, row) for row in rows[self.moved(shape, rows + 0.0)])
            yield from filter(None, found)

    def given_up(self) -> Refusal:
        """Return the error of a search that found nothing."""
        return Refusal(
            text(
                "The search for a witness that {change} moves the z of {name} has become too "
                "large; got groups={groups}. Use fewer groups, or the counterexample of `certify`.",
                change=self.transform.label,
                name=self.normalizer.title,
                groups=self.normalizer.groups,
            )
        )

    def moved(self, shape: Shape, rows: Array) -> Array:
        """Return for each row of entries (S, ·) whether |z'| ≠ |z| somewhere, in float64."""
        moved = np.zeros(len(rows), dtype=bool)
        # C'²v − C²v' is linear in ε: where it vanishes at 0 and at 1, it does at every ε, also
        # at one that float64 could not tell from rounding.
        for eps in (0, 1) if self.normalizer.eps else (0,):
            screen = replace(self, normalizer=replace(self.normalizer, eps=eps))
            _, before, after = screen.evaluated(shape, rows)
            left, right = after.C**2 * before.v, before.C**2 * after.v
            differs = abs(left - right) > TOLERANCE * (left + right + 1)
            defined = (before.v > TOLERANCE) & (after.v > TOLERANCE)
            moved |= defined.all(axis=(-2, -1)) & differs.any(axis=(-2, -1))
        return moved

    def confirmed(self, shape: Shape, row: Array) -> Witness | None:
        """Return the witness with these entries (·,), or None where it shows nothing."""
        parameters, before, after = self.evaluated(shape, exact.fractions(row))
        left, right = after.C**2 * before.v, before.C**2 * after.v
        exact.require_fractions(left, right)
        differs = left != right
        if not (np.all(before.v > 0) and np.all(after.v > 0) and differs.any()):
            return None
        n, h = (int(i) for i in np.argwhere(differs)[0])
        z_squared, z_squared_after = ((side.C**2 / side.v)[n, h] for side in (before, after))
        return Witness(
            self.normalizer,
            self.transform,
            parameters,
            before._replace(v=exact.fractions(before.v)),
            after._replace(v=exact.fractions(after.v)),
            (n, h),
            z_squared,
            z_squared_after,
        )

    def evaluated(self, shape: Shape, entries: Array) -> tuple[Parameters, Side, Side]:
        """Return the parameters, and both sides, for entries (…, ·) of any element type."""
        parts = self.parts(shape)
        cuts = np.cumsum([prod(part) for part in parts])[:-1]
        W, X, *shift = (
            flat.reshape(*entries.shape[:-1], *part)
            for flat, part in zip(np.split(entries, cuts, axis=-1), parts, strict=True)
        )
        gamma = shift[0] if shift else None
        # A whole number multiplies floats and fractions alike, and leaves them what they are.
        delta = None if shift else 2
        after = self.transform(W, X, delta=delta, gamma=gamma)
        return (
            Parameters(None if delta is None else Fraction(delta), gamma),
            Side(W, X, *self.normalizer.moments(W, X, (W, X))),
            Side(*after, *self.normalizer.moments(*after, (W, X))),
        )


@lru_cache(maxsize=128)
def _integers(length: int, total: int) -> Array:
    """Return all rows of integers in {−2, …, 2} whose sizes sum to `total`, (·, length)."""
    if length == 0:
        return np.zeros((int(total == 0), 0), dtype=np.int8)
    blocks = []
    for first in (1, 2, 0, -1, -2):
        if abs(first) <= total:
            rest = _integers(length - 1, total - abs(first))
            blocks.append(np.insert(rest, 0, first, axis=1))
    return np.concatenate(blocks)
