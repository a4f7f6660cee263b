"""Whole numbers modulo a prime, as arrays: fast exact ranks of matrices of floats.

A float is a whole number times a power of two, so it has a residue; a rank modulo p is that of the
exact matrix unless p divides every minor of its size, which happens with probability about 1/p.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np

from normgeo.base.arrays import Array

PRIME = 2**31 - 1
HALF = 16  # bits: sums of up to 2²¹ products of halves are exact in float64

MORE_ROWS = 16
"""How many more rows than columns a random mixture has."""


@final
class Residues(np.ndarray[Any, Any]):
    """An array of residues that takes + − × ÷, products of matrices, sums and means.

    It passes through the same code as floats; other numbers become residues, and other functions
    raise a TypeError.

    >>> residues([0.5, 3.0]) * 2 - 1
    Residues([0, 5])

    """

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        operands = [np.asarray(residues(number)) for number in inputs]
        if method == "reduce" and ufunc is np.add:
            found = np.add.reduce(operands[0], **options)
        elif method == "__call__" and ufunc in _OPERATIONS:
            found = _OPERATIONS[ufunc](*operands)
        else:
            return NotImplemented
        return (found % PRIME).view(Residues)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        # Other functions, such as einsum, would treat residues as whole numbers.
        if function not in _ARRANGEMENTS:
            return NotImplemented
        return super().__array_function__(function, types, args, options)

    def mean(  # type: ignore[override]
        self, axis: Any = None, dtype: Any = None, out: Any = None, *, keepdims: bool = False
    ) -> Any:
        """The mean along an axis."""
        total = self.sum(axis=axis, keepdims=keepdims)
        return total / (self.size // total.size)


def residues(numbers: Any) -> Residues:
    """Return finite numbers as residues modulo `PRIME`."""
    array = np.asanyarray(numbers)
    if isinstance(array, Residues):
        return array
    if array.dtype.kind in "iu":
        small: Array = array.astype(np.int64) % PRIME
        return small.view(Residues)
    fraction, exponent = np.frexp(array.astype(np.float64))
    whole = np.ldexp(fraction, 53).astype(np.int64) % PRIME
    powers, place = np.unique(exponent - 53, return_inverse=True)
    factors = np.array([pow(2, int(power), PRIME) for power in powers], dtype=np.int64)
    found: Array = whole * factors[place].reshape(whole.shape) % PRIME
    return found.view(Residues)


def rank(M: Residues) -> int:
    """Return the rank of M (m, n)."""
    left = np.asarray(M)
    if len(left) > left.shape[1] + MORE_ROWS:
        mixture = np.random.default_rng(0).integers(
            0, 2**HALF, (left.shape[1] + MORE_ROWS, len(left))
        )
        left = _product(mixture, left)
    left = left % PRIME
    found = 0
    for column in range(left.shape[1]):
        rows = np.flatnonzero(left[found:, column])
        if not len(rows):
            continue
        left[[found, found + rows[0]]] = left[[found + rows[0], found]]
        pivot = left[found, column:] * pow(int(left[found, column]), -1, PRIME) % PRIME
        below = left[found + 1 :, column:]
        below[...] = (below - below[:, :1] * pivot) % PRIME
        found += 1
    return found


def _product(A: Array, B: Array) -> Array:
    """A @ B for numbers from 0 to p, by exact float64 products of their upper and lower halves."""
    halves = [(half.astype(np.float64), power) for half, power in _halves(B)]
    total = np.zeros((), dtype=np.int64)
    for part, power in _halves(A):
        for half, other in halves:
            product = (part.astype(np.float64) @ half).astype(np.int64) % PRIME
            total = (total + product * (2 ** (power + other) % PRIME)) % PRIME
    return total


def _halves(A: Array) -> list[tuple[Array, int]]:
    """The upper and the lower bits of whole numbers, each with its power of two."""
    return [(A >> HALF, HALF), (A & (2**HALF - 1), 0)]


def _inverse(A: Array) -> Array:
    """1/a of every entry, a^(p − 2)."""
    found, square, power = np.ones_like(A), A % PRIME, PRIME - 2
    while power:
        if power & 1:
            found = found * square % PRIME
        square, power = square * square % PRIME, power >> 1
    return found


_OPERATIONS: dict[Any, Any] = {
    np.add: np.add,
    np.subtract: np.subtract,
    np.multiply: np.multiply,
    np.negative: np.negative,
    np.true_divide: lambda A, B: A * _inverse(B),
    np.matmul: _product,
}

_ARRANGEMENTS = {
    np.broadcast_to,
    np.concatenate,
    np.expand_dims,
    np.mean,
    np.moveaxis,
    np.repeat,
    np.reshape,
    np.split,
    np.stack,
    np.sum,
    np.swapaxes,
}
