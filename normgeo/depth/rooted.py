"""Exact numbers with roots beneath, p + Σ q/√v, as a norm makes them of fractions.

A sum of such numbers over roots that have no rational relation is 0 only if every coefficient is.
The roots of a random draw have none, except where one v is another times a square, which is found.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from math import isqrt
from typing import NamedTuple

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.text import text

DIGITS = 120
"""Of the decimals that tell the sign of a number: far more than a draw's integers have."""

Over = dict[Fraction | None, Fraction]
"""What stands over each root √w of a number; None for what has no root."""


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

    def plus(self, other: Rooted) -> Rooted:
        """Return the sum with numbers over the same roots, or over none."""
        terms = self.terms + other.terms if other.terms.size else self.terms
        return self._replace(rest=self.rest + other.rest, terms=terms)

    def relu(self) -> Rooted:
        """Return max(x, 0)."""
        on = np.empty(self.rest.shape, dtype=object)
        for (n, m), rest in np.ndenumerate(self.rest):
            on[n, m] = Fraction(_positive(rest, self.terms[n, m], self.squares[n]))
        return Rooted(self.rest * on, self.terms * on[..., None], self.squares)

    def collected(self, roots: Roots) -> Array:
        """Return for every number what stands over each root, an array (N, M) of dictionaries."""
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
    """The roots that were met, so that √(r² v) is known as r √v."""

    def __init__(self) -> None:
        self._met: dict[Fraction, tuple[Fraction | None, Fraction]] = {}

    def find(self, v: Fraction) -> tuple[Fraction | None, Fraction]:
        """Return (w, r) with √v = r √w and w the first of its kind; w is None for a plain r."""
        if v not in self._met:
            self._met[v] = next(self._related(v), (v, Fraction(1)))
        return self._met[v]

    def _related(self, v: Fraction) -> Iterator[tuple[Fraction | None, Fraction]]:
        if root := _root(v):
            yield None, root
        for w in [w for w, _ in self._met.values() if w is not None]:
            if root := _root(v / w):
                yield w, root


def _root(v: Fraction) -> Fraction | None:
    """√v where it is a fraction."""
    above, below = isqrt(v.numerator), isqrt(v.denominator)
    exact = above * above == v.numerator and below * below == v.denominator
    return Fraction(above, below) if exact else None


def _positive(rest: Fraction, terms: Array, squares: Array) -> bool:
    if not terms.any():
        return rest > 0
    with localcontext() as context:
        context.prec = DIGITS
        parts = [_decimal(rest)]
        parts += [_decimal(t) / _decimal(v).sqrt() for t, v in zip(terms, squares, strict=True)]
        total, size = sum(parts, Decimal(0)), sum(map(abs, parts), Decimal(0))
        if abs(total) <= size * Decimal(10) ** (10 - DIGITS):
            raise ArithmeticError(
                text("The sign of a number could not be told from {digits} digits.", digits=DIGITS)
            )
        return total > 0


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)
