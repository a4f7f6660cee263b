"""Integers for computing by hand: three cases of three features, weights of three neurons."""

from __future__ import annotations

import numpy as np

from normgeo.base.arrays import Array

EXAMPLE_X = np.array([[1, 2, 0], [0, 3, 0], [2, 1, 3]])
EXAMPLE_W = np.array([[0, 1, 0], [2, 2, 1], [1, 0, 0]])
EXAMPLE_PLACE = (1, 1)
"""The entry (n, h) at which every mean, σ² and ‖w‖ is an integer. σ itself cannot be: no three
integers have a variance that is the square of a fraction."""

LARGEST_ENTRY = 99
"""The largest entry for computing by hand."""


def written(*matrices: Array) -> str:
    """Return the rows of matrices as one word for a URL, one matrix after the other.

    >>> written(np.array([[1, -2]]), np.array([[0, 3]]))
    '1.-2_0.3'

    """
    return "_".join(".".join(map(str, row)) for row in np.concatenate(matrices).tolist())


def read(word: str) -> tuple[Array, Array]:
    """Return X (N, D) and W (H, D) from a word of `written(X, W)`, with N = H.

    >>> read("1.2_0.3_4.5_6.7")[1].tolist()
    [[4, 5], [6, 7]]

    """
    rows = np.array([[int(entry) for entry in row.split(".")] for row in word.split("_")])
    X, W = np.split(rows, 2)
    return X, W
