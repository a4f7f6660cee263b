"""Exact numbers with roots in denominators, p + Σ q/√v, the result of a norm of fractions.

Each root √v is a separate symbol, even if v is a square; the only known identity is √(δ² v) = δ √v.
What is equal in these symbols is equal wherever all v are above 0: also on both sides of σ = 0,
which a centered norm of two numbers crosses when its sign changes.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from normgeo.base.arrays import Array

Over = dict[Fraction | None, Fraction]
"""The coefficient of each 1/√w in a number; None for the part without a root."""


class Rooted(NamedTuple):
    """A matrix of numbers rest + Σ_k terms_k/√squares_k.

    Attributes:
        rest: (N, M). terms: (N, M, K). squares: above 0, (N, K); all are fractions.

    """

    rest: Array
    terms: Array
    squares: Array

    @classmethod
    def rational(cls, values: Array) -> Rooted:
        """Return numbers (N, M) without roots."""
        N, M = values.shape
        return cls(values, np.empty((N, M, 0), dtype=object), np.empty((N, 0), dtype=object))

    def affine(self, A: Array, a: Array) -> Rooted:
        """Return x Aᵀ + a for A (M', M) and a (M',)."""
        return Rooted(self.rest @ A.T + a, A @ self.terms, self.squares)

    def times(self, factors: Array) -> Rooted:
        """Return the numbers times factors of their columns, (M,) or one for all."""
        return Rooted(self.rest * factors, self.terms * np.reshape(factors, (-1, 1)), self.squares)

    def collected(self, roots: Roots) -> Array:
        """Return the coefficient of each root in every number, an array (N, M) of dictionaries."""
        found = np.empty(self.rest.shape, dtype=object)
        for n in range(len(found)):
            kinds = [roots.find(v) for v in self.squares[n]]
            for m in range(self.rest.shape[1]):
                over: Over = {None: self.rest.item(n, m)}
                for (root, factor), term in zip(kinds, self.terms[n, m], strict=True):
                    over[root] = over.get(root, Fraction(0)) + term / factor
                found[n, m] = {root: value for root, value in over.items() if value}
        return found


class Roots:
    """The roots met so far, to recognize √(δ² v) as δ √v for a δ > 0."""

    def __init__(self, delta: Fraction) -> None:
        self._factors = (Fraction(1), delta, 1 / delta)
        self._squares = tuple(factor**2 for factor in self._factors)
        self._met: set[Fraction] = set()

    def find(self, v: Fraction) -> tuple[Fraction, Fraction]:
        """Return (w, r) with √v = r √w and w the first of its kind.

        >>> roots = Roots(Fraction(3))
        >>> [tuple(map(str, roots.find(Fraction(v)))) for v in (2, 18, 8)]
        [('2', '1'), ('2', '3'), ('8', '1')]

        """
        for factor, square in zip(self._factors, self._squares, strict=True):
            if (w := v / square) in self._met:
                return w, factor
        self._met.add(v)
        return v, Fraction(1)


class Sums(NamedTuple):
    """The sums after a link of a network, (N, D), or its logits, (N, H), with symbolic ReLUs.

    sum of case n = plain_n + Σ_m on_nm read_nm written_m,    on_nm = 1 if read_nm > 0, else 0

    No sign is evaluated. If corresponding ReLUs of two networks are on in the same cases, two such
    sums satisfy a linear relation for every set of active units if each of their parts does.

    Attributes:
        plain: the sum without active units. read: the input of each ReLU, (N, M).
        written: the output of each unit per input of 1, (M, D); all fractions.

    """

    plain: Rooted
    read: Rooted
    written: Array

    @classmethod
    def of(cls, plain: Rooted) -> Sums:
        """Return sums without ReLUs."""
        none = np.empty((len(plain.rest), 0), dtype=object)
        written = np.empty((0, plain.rest.shape[1]), dtype=object)
        return cls(plain, Rooted.rational(none), written)

    def arrays(self) -> tuple[Array, ...]:
        """Every number of the sums."""
        return (*self.plain, *self.read, self.written)

    def opened_as(self, before: Sums, factors: Array, roots: Roots) -> Array | None:
        """Return the output of units per input of 1 to the units of `before`, (M, D).

        A unit is on in the same cases as before, for all weights, if its input is the same, or the
        same times its own factor above 0, of `factors` (M,). None if a unit has neither.
        """
        own, first = self.read.collected(roots), before.read.collected(roots)
        grown = before.read.times(factors).collected(roots)
        same, times = (own == first).all(axis=0), (own == grown).all(axis=0)
        if not (same | times).all():
            return None
        written: Array = np.where(same[:, None], self.written, self.written * factors[:, None])
        return written
