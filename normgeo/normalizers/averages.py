"""The entries that each method averages for one summed input, and the arithmetic by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.normalizers.normalizer import Normalizer
from normgeo.normalizers.statistic import group_size


@final
@dataclass(frozen=True, eq=False)
class Average:
    """The entries that the scale of one method averages for one summed input.

    Attributes:
        normalizer: the method. matrix: "A" or "W", which holds the averaged entries.
        values: that matrix, (N, H) or (H, D). lit: which entries are averaged.
        mark: the position of a_nh in A, or None if the matrix is W.

    """

    normalizer: Normalizer
    matrix: str
    values: Array
    lit: Array
    mark: tuple[int, int] | None

    @property
    def rule(self) -> str:
        """The averaged entries, in words."""
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
    """Eq. 5 for one summed input, in exact numbers: z = (a − μ)/√v.

    Attributes:
        a, mu, variance: of the summed input.
        mean_of: the summed inputs whose mean is μ; empty if μ is no such mean.
        squares: their sum over a divisor is v; the divisor is their number, or 1 for ‖w‖².
        of_weights: whether these are squares of weights.

    """

    a: Fraction
    mu: Fraction
    variance: Fraction
    mean_of: tuple[Fraction, ...]
    squares: tuple[Fraction, ...]
    divisor: int
    of_weights: bool

    @property
    def z(self) -> float | None:
        """(a − μ)/σ; None if σ = 0."""
        return float(self.a - self.mu) / sqrt(self.variance) if self.variance else None


def averages(
    normalizers: Mapping[str, Normalizer], W: Array, X: Array, place: tuple[int, int]
) -> dict[str, Average]:
    """The entries that each normalizer averages for a_nh, at the position (n, h), by its scale.

    Args:
        normalizers: by key, each with a scale. W: (H, D); X: (N, D). place: n and h.

    Raises:
        ValueError: a normalizer without a scale.

    """
    A = X @ W.T
    found = {}
    for key, normalizer in normalizers.items():
        if not normalizer.scaling.divides:
            raise Refusal("An average needs a scale; {name} has none.", name=normalizer.title)
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
    """Return which entries of a matrix contribute to a sum of squares, (R, S).

    `seen` says for each matrix in a stack (k, R, S) whether the sum is above 0, which a single
    nonzero entry achieves if it is averaged. Rows are tried as a whole first.
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
    """The exact numbers of Eq. 5 for a_nh, computed by the normalizer's own code.

    Args:
        average: of one method, from `averages`. W: (H, D); X: (N, D). place: n and h.

    """
    normalizer, (n, h) = average.normalizer, place
    weights, inputs = as_fractions(W), as_fractions(X)
    A = inputs @ weights.T
    C, v = normalizer.moments(weights, inputs)
    variance = np.broadcast_to(v, A.shape)[place]
    center = normalizer.centering
    shared = np.zeros(A.shape, dtype=bool)
    shared[:, h] = center.shared_by_cases
    if center.shared_by_neurons:
        size = group_size(len(W), normalizer.groups)
        shared[n, h // size * size :][:size] = True
    of_weights = average.matrix == "W"
    summed = center.project_weights(weights, normalizer.groups) if of_weights else C
    squares = tuple(deviation**2 for deviation in summed[average.lit])
    divisor = round(sum(squares) / variance) if variance else len(squares)
    return Worked(
        A[place],
        A[place] - C[place],
        variance,
        tuple(A[shared]),
        squares,
        1 if of_weights else divisor,
        of_weights,
    )


def as_fractions(M: Array) -> Array:
    """The exact values of a matrix, as fractions."""
    values = [[Fraction(entry) for entry in row] for row in M.tolist()]
    return np.array(values, dtype=object).reshape(M.shape)
