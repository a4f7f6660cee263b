"""A bound on the degree of the compared polynomials, carried through the same lines as the numbers.

After Laurent: with a variable for the inverse of every divisor, of the divisor's degree, the
numbers of a link are polynomials. A sum of degree d contains no inverse to a power above d, so
multiplying by each divisor to the power d removes the inverses: a polynomial of degree
d (1 + the number of divisors) at most.
"""

from __future__ import annotations

from typing import final

import numpy as np

from normgeo.base.arrays import Array


@final
class Quotient:
    """A bound on the degree of a sum of products and quotients, which ignores cancellation."""

    __slots__ = ("divisors", "value")

    def __init__(self, value: int, divisors: frozenset[Quotient] = frozenset()) -> None:
        self.value, self.divisors = value, divisors

    @property
    def degree(self) -> int:
        """The degree of the polynomial after the sum is multiplied by its divisors."""
        return self.value * (1 + len(self.divisors))

    def __add__(self, other: object) -> Quotient:
        if not isinstance(other, Quotient):
            return self
        return Quotient(max(self.value, other.value), self.divisors | other.divisors)

    def __mul__(self, other: object) -> Quotient:
        if not isinstance(other, Quotient):
            return self
        return Quotient(self.value + other.value, self.divisors | other.divisors)

    def __truediv__(self, other: object) -> Quotient:
        return self * other.inverse() if isinstance(other, Quotient) else self

    def __rtruediv__(self, other: object) -> Quotient:
        return self.inverse()

    def inverse(self) -> Quotient:
        """Return 1/d, with d among the divisors."""
        return Quotient(self.value, self.divisors | {self})

    def __pow__(self, power: int) -> Quotient:
        return Quotient(self.value * power, self.divisors)

    def __neg__(self) -> Quotient:
        return self

    __radd__ = __sub__ = __rsub__ = __add__
    __rmul__ = __mul__


def variables(*shape: int) -> Array:
    """Return an array of variables."""
    found = np.empty(shape, dtype=object)
    for index in np.ndindex(shape):
        found[index] = Quotient(1)
    return found


def degree_of_all(*compared: Array) -> int:
    """Return a bound on the degree of any sum of the numbers, with any signs.

    >>> x, y = variables(2)
    >>> degree_of_all(np.array([x * x, x / y], dtype=object))
    4

    """
    total = Quotient(0)
    for value in {id(v): v for array in compared for v in array.flat}.values():
        total = total + value
    return total.degree
