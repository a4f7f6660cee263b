"""Exact numbers for certificates: random integers as fractions, and polynomial degrees.

A polynomial identity of degree d that holds at integers drawn from 2⁶¹ values each is true except
with probability d/2⁶¹ (Schwartz 1980, Zippel 1979). Both number types run through the same code
that the application runs in floating point.
"""

from __future__ import annotations

from fractions import Fraction
from operator import index
from typing import Any, final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.text import text

FIELD_BITS = 61
"""Every variable is drawn from at least 2⁶¹ integers."""


def fractions(values: Any) -> Array:
    """Return an object array of `Fraction`, from integers of any kind or fractions.

    NumPy integers go through `index`: a `Fraction` that kept a 64-bit numerator would overflow
    silently and certify what is false.
    """
    array = np.asarray(values, dtype=object)
    exact = np.empty(array.shape, dtype=object)
    for position, value in np.ndenumerate(array):
        exact[position] = value if type(value) is Fraction else Fraction(index(value))
    return exact


def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Return fractions drawn uniformly from the integers in [−2⁶¹, 2⁶¹)."""
    return fractions(rng.integers(-(2**FIELD_BITS), 2**FIELD_BITS, size=shape))


def draw_factor(rng: np.random.Generator) -> Fraction:
    """Return a fraction drawn uniformly from the 2⁶¹ integers from 1 to 2⁶¹, ends included."""
    return Fraction(int(rng.integers(1, 2**FIELD_BITS, endpoint=True)))


def require_fractions(*arrays: Array) -> None:
    """Refuse arrays that contain anything but `Fraction`.

    Raises:
        TypeError: names the type found. Otherwise the arithmetic would silently stop being exact.

    """
    for array in arrays:
        kinds = {type(value) for value in np.ravel(array)} - {Fraction}
        if kinds:
            found = ", ".join(sorted(kind.__name__ for kind in kinds))
            raise TypeError(
                text(
                    "Exact evaluation must stay in Fraction; got {found}. A float constant or a "
                    "NumPy integer entered a projection or `variance`: divide by whole numbers "
                    "instead.",
                    found=found,
                )
            )


@final
class Degree:
    """The degree of a polynomial, carried through + − × and division by a constant.

    It is an upper bound: cancellation is ignored.
    """

    __slots__ = ("value",)

    def __init__(self, value: int) -> None:
        self.value = value

    def __add__(self, other: object) -> Degree:
        return Degree(max(self.value, degree(other)))

    def __mul__(self, other: object) -> Degree:
        return Degree(self.value + degree(other))

    def __truediv__(self, other: object) -> Degree:
        if degree(other):
            raise TypeError(text("A certificate needs polynomials; got a division by a variable."))
        return self

    __radd__ = __sub__ = __rsub__ = __add__
    __rmul__ = __mul__


def degree(value: object) -> int:
    """Return the degree of `value`: 0 for a constant."""
    return value.value if isinstance(value, Degree) else 0


def variables(shape: tuple[int, ...]) -> Array:
    """Return an object array of polynomials of degree 1."""
    array = np.empty(shape, dtype=object)
    array.fill(Degree(1))
    return array
