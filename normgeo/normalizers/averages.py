"""What each method averages to normalize one summed input, on real data and on a blackboard."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from normgeo.base.arrays import Array, weights_and_inputs
from normgeo.normalizers.normalizer import Normalizer
from normgeo.normalizers.scales import SCALES

EXAMPLE_X = np.array([[1, 2, 0], [0, 3, 0], [2, 1, 3]])
EXAMPLE_W = np.array([[0, 1, 0], [2, 2, 1], [1, 0, 0]])
EXAMPLE_PLACE = (1, 1)
"""Integers to follow by hand: at this place (n, h) every mean, σ² and ‖w‖ is whole. No three
numbers have a mean square deviation that is the square of a fraction: σ itself can't be whole."""

SHOWN_CASES = 12


@final
@dataclass(frozen=True, eq=False)
class Average:
    """What one method averages for the summed input at one place.

    Attributes:
        normalizer: the method. matrix: "A" or "W", in which the averaged entries are.
        values: that matrix, (N, H) or (H, D). lit: which entries are averaged.
        mark: the place of a_nh in A, or None where the matrix is W.

    """

    normalizer: Normalizer
    matrix: str
    values: Array
    lit: Array
    mark: tuple[int, int] | None


@final
@dataclass(frozen=True, eq=False)
class Worked:
    """Eq. 5 at one place, in numbers: z = (a − μ)/σ.

    Attributes:
        a, mu, sigma, z: at the place. averaged: the entries that σ² is made of.
        divisor: by how much the sum of squares is divided: their number, or 1 for ‖w‖².

    """

    a: float
    mu: float
    sigma: float
    z: float
    averaged: Array
    divisor: int


def averages(
    normalizers: Mapping[str, Normalizer], W: Array, X: Array, place: tuple[int, int]
) -> dict[str, Average]:
    """Return what each normalizer averages for a_nh, the place (n, h); its scale word decides.

    Args:
        normalizers: by key, each with a scale. W: (H, D); X: (N, D). place: n and h.

    Raises:
        ValueError: a normalizer without a scale.

    """
    n, h = place
    A = X @ W.T
    found = {}
    for key, normalizer in normalizers.items():
        if not SCALES[normalizer.scale].divides:
            raise ValueError(f"An average needs a scale; {normalizer.title} has none.")
        matrix = "W" if normalizer.scale == "weight" else "A"
        values = W if matrix == "W" else A
        lit = np.zeros(values.shape, dtype=bool)
        # The word names the index that runs; the others stay.
        if normalizer.scale == "batch":
            lit[:, h] = True
        elif normalizer.scale == "layer":
            lit[n] = np.arange(len(W)) * normalizer.groups // len(
                W
            ) == h * normalizer.groups // len(W)
        else:
            lit[h] = True
        found[key] = Average(normalizer, matrix, values, lit, place if matrix == "A" else None)
    return found


def worked(average: Average, W: Array, X: Array, place: tuple[int, int]) -> Worked:
    """Return the numbers of Eq. 5 for a_nh, from the same normalizer as everywhere.

    Args:
        average: of one method, from `averages`. W: (H, D); X: (N, D). place: n and h.

    Raises:
        ValueError: as `Normalizer.normalize` does.

    """
    weights, inputs = weights_and_inputs(W, X)
    result = average.normalizer.normalize(weights, inputs)
    a, mu, sigma, z = (float(np.broadcast_to(value, result.z.shape)[place]) for value in result)
    entries = average.values[average.lit]
    return Worked(a, mu, sigma, z, entries, 1 if average.matrix == "W" else len(entries))
