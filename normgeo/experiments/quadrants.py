"""Pictures of two by two handwritten digits, and captions that tell some of them.

The digits are scikit-learn's, 8 × 8 pixels of 17 levels. No digit occurs in two parts of the data.
Of the five captions of a picture one tells all, and four a part, which other pictures share.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from normgeo.base.arrays import Array
from normgeo.datasets.datasets import load
from normgeo.experiments.captions import Part

SIDE = 16  # pixels of a picture
INK = 16.0  # the most of a pixel
PICTURES = (2000, 160, 160)  # to learn from, for validation, for the test
DIGITS = (1197, 300, 300)  # that they are made of

NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
PLACES = ("upper left", "upper right", "lower left", "lower right")


@cache
def parts() -> tuple[Part, Part, Part]:
    """Return pictures (N, 256) from 0 to 1 with captions, to learn from, validate and test."""
    digits = load("digits", standardize=False)
    order = np.random.default_rng(0).permutation(digits.N)
    pools = np.split(order, np.cumsum(DIGITS)[:-1])
    learned, validation, test = (
        _part(pool, count, seed)
        for seed, (pool, count) in enumerate(zip(pools, PICTURES, strict=True))
    )
    return learned, validation, test


def chosen(pool: Array, count: int, seed: int) -> NDArray[np.intp]:
    """Return which digits the pictures are made of, (count, 4) numbers of the pool."""
    return np.random.default_rng(seed).choice(pool, (count, len(PLACES)))


def _part(pool: Array, count: int, seed: int) -> Part:
    digits = load("digits", standardize=False)
    which = chosen(pool, count, seed)
    labels = digits.y[which].astype(int)
    rng = np.random.default_rng(seed)
    captions = [caption.split() for four in labels for caption in captions_of(four, rng)]
    return Part(together(digits.raw[which]) / INK, captions)


def together(fours: Array) -> Array:
    """Return pictures (N, 256) of four digits each, (N, 4, 64), in the order of PLACES."""
    grid = fours.reshape(-1, 2, 2, SIDE // 2, SIDE // 2)
    return grid.swapaxes(2, 3).reshape(-1, SIDE * SIDE).astype(np.float32)


def captions_of(four: NDArray[np.int_], rng: np.random.Generator) -> tuple[str, ...]:
    """Return five captions of the digits at PLACES: some, a corner, a column, a row, all."""
    a, b, c, d = (named(int(one)) for one in four)
    corner = rng.integers(len(PLACES))
    first, second = (named(int(one)) for one in rng.permutation(four)[:2])
    return (
        f"{first} and {second}",
        f"{named(int(four[corner]))} in the {PLACES[corner]}",
        " above ".join((a, c) if rng.integers(2) else (b, d)),
        " left of ".join((a, b) if rng.integers(2) else (c, d)),
        f"{a} and {b} above {c} and {d}",
    )


def named(digit: int) -> str:
    """Return a digit in words, with its article."""
    return f"{'an' if digit == 8 else 'a'} {NAMES[digit]}"
