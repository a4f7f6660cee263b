"""What each method averages to normalize one summed input, on real data and on a blackboard."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from normgeo.base.arrays import Array, weights_and_inputs
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.normalizers.normalizer import Normalizer
from normgeo.normalizers.statistic import group_size

EXAMPLE_X = np.array([[1, 2, 0], [0, 3, 0], [2, 1, 3]])
EXAMPLE_W = np.array([[0, 1, 0], [2, 2, 1], [1, 0, 0]])
EXAMPLE_PLACE = (1, 1)
"""Integers to follow by hand: at this place (n, h) every mean, σ² and ‖w‖ is whole. No three
numbers have a mean square deviation that is the square of a fraction: σ itself can't be whole."""

SHOWN_CASES = 12


@final
@dataclass(frozen=True, eq=False)
class Average:
    """What the scale of one method averages for the summed input at one place.

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

    @property
    def rule(self) -> str:
        """What is averaged, in words."""
        rows, columns = self.lit.any(axis=1), self.lit.any(axis=0)
        if self.matrix == "W":
            return text("one weight vector, over its features")
        if columns.sum() == 1:
            return text("one neuron, over the cases")
        if rows.sum() > 1:
            return text("over cases and neurons")
        if columns.all():
            return text("one case, over the neurons")
        return text("one case, over a group of neurons")


@final
@dataclass(frozen=True, eq=False)
class Worked:
    """Eq. 5 at one place, in numbers: z = (a − μ)/σ.

    Attributes:
        a, mu, sigma, z: at the place.
        mean_of: the summed inputs that μ is the mean of; none where it is no such mean.
        deviations: what σ² is the sum of squares of, over a divisor: their number for a mean,
            1 for ‖w‖². of_weights: whether they are those of w.

    """

    a: float
    mu: float
    sigma: float
    z: float
    mean_of: Array
    deviations: Array
    divisor: float
    of_weights: bool


def averages(
    normalizers: Mapping[str, Normalizer], W: Array, X: Array, place: tuple[int, int]
) -> dict[str, Average]:
    """What each normalizer averages for a_nh, the place (n, h); its scale word decides.

    Args:
        normalizers: by key, each with a scale. W: (H, D); X: (N, D). place: n and h.

    Raises:
        ValueError: a normalizer without a scale.

    """
    A = X @ W.T
    found = {}
    for key, normalizer in normalizers.items():
        if not normalizer.scaling.divides:
            raise Refusal(text("An average needs a scale; {name} has none.", name=normalizer.title))
        for matrix, values in (("A", A), ("W", W)):

            def seen(M: Array, matrix: str = matrix, normalizer: Normalizer = normalizer) -> Array:
                C, weights = (M, 0 * W) if matrix == "A" else (0 * A, M)
                v = normalizer.scaling.variance(C, weights, normalizer.groups)
                at_place = np.broadcast_to(v, (*v.shape[:-2], *A.shape))[..., *place]
                return np.broadcast_to(at_place > 0, len(M))

            lit = _averaged(seen, values.shape)
            if lit.any():
                break
        found[key] = Average(normalizer, matrix, values, lit, place if matrix == "A" else None)
    return found


def _averaged(seen: Callable[[Array], Array], shape: tuple[int, ...]) -> Array:
    """Return which entries of a matrix are in a sum of squares, (R, S).

    `seen` tells of each matrix (k, R, S) whether the sum is above 0: a single entry leaves
    something of it where it is averaged. Rows are tried as a whole first.
    """
    rows, columns = shape
    lit = np.zeros(shape, dtype=bool)
    for row in range(rows):
        units = np.zeros((columns, rows, columns))
        units[:, row] = 1.0
        if seen(units[:1])[0]:
            units[:, row] = np.eye(columns)
            lit[row] = seen(units)
    return lit


def worked(average: Average, W: Array, X: Array, place: tuple[int, int]) -> Worked:
    """The numbers of Eq. 5 for a_nh, from the same normalizer as everywhere.

    Args:
        average: of one method, from `averages`. W: (H, D); X: (N, D). place: n and h.

    Raises:
        ValueError: as `Normalizer.normalize` does.

    """
    weights, inputs = weights_and_inputs(W, X)
    normalizer = average.normalizer
    result = normalizer.normalize(weights, inputs)
    a, mu, sigma, z = (float(np.broadcast_to(value, result.z.shape)[place]) for value in result)
    center = normalizer.centering
    shared = np.zeros(result.z.shape, dtype=bool)
    shared[:, place[1]] = center.shared_by_cases
    if center.shared_by_neurons:
        size = group_size(len(weights), normalizer.groups)
        shared[place[0], place[1] // size * size :][:size] = True
    centered = center.project_weights(weights, normalizer.groups)
    deviations = (result.z * result.sigma if average.matrix == "A" else centered)[average.lit]
    divisor = float((deviations**2).sum() / sigma**2)
    mean_of = result.summed_inputs[shared]
    return Worked(a, mu, sigma, z, mean_of, deviations, divisor, average.matrix == "W")
