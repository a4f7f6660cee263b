"""Rows of the integers −2, …, 2, smallest first, in portions.

The order of a witness: the smallest sum of absolute values; then the fewest negative numbers; then
the lexicographically first row, 1 before 2 before 0 before −1 before −2.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.polynomial.polynomial import polypow

from normgeo.base.arrays import Array

ORDER = (1, 2, 0, -1, -2)
LARGEST = max(ORDER)


def how_many(length: int, total: int) -> int:
    """Return the number of rows of a length whose absolute values sum to `total`.

    It is the coefficient of x^total in (1 + 2x + 2x²)^length.

    >>> how_many(2, 1), how_many(2, 4)
    (4, 4)

    """
    return int(_numbers(length, total)[total])


def rows(length: int, total: int, portion: int) -> Iterator[Array]:
    """Yield those rows in lexicographic order, (·, length), at most `portion` rows at once.

    >>> [block.tolist() for block in rows(2, 1, portion=3)]
    [[[1, 0], [0, 1], [0, -1]], [[-1, 0]]]

    """
    # Given how many rows follow each first number, the rank of a row determines its numbers.
    numbers = [_numbers(left, total) for left in range(length + 1)]
    count = int(numbers[length][total])
    for start in range(0, count, portion):
        rank = np.arange(start, min(start + portion, count))
        left = np.full(len(rank), total)
        found = np.zeros((len(rank), length), dtype=np.int8)
        for position in range(length):
            waiting = np.ones(len(rank), dtype=bool)
            for value in ORDER:
                remaining = left - abs(value)
                after = np.where(
                    remaining < 0, 0, numbers[length - position - 1][np.maximum(remaining, 0)]
                )
                here = waiting & (rank < after)
                found[here, position] = value
                left[here] = remaining[here]
                waiting &= ~here
                rank[waiting] -= after[waiting]
        yield found


def place_in_order(row: Array) -> tuple[int, ...]:
    """Return the sort key of rows with one sum: negative numbers, then numbers as in `ORDER`.

    >>> place_in_order(np.array([1, 0, -2]))
    (1, 0, 2, 4)

    """
    return (int((row < 0).sum()), *(ORDER.index(int(value)) for value in row))


def _numbers(length: int, most: int) -> Array:
    """Return the number of rows of a length for each sum from 0 to `most`, (most + 1,)."""
    coefficients = polypow([1, 2, 2], length)[: most + 1]
    numbers: Array = np.zeros(most + 1, dtype=np.int64)
    numbers[: len(coefficients)] = np.minimum(coefficients, 2.0**60)
    return numbers
