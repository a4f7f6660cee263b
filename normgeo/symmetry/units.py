"""The units of cases, features and outputs in which no null space depends on their sizes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.models.families import Family
from normgeo.models.rows import Linearized
from normgeo.normalizers.linearization import Linearization


@final
@dataclass(frozen=True, eq=False)
class Units:
    """What passes over all cases tell of their sizes.

    Attributes:
        by_case: whether each case has a unit of its own, as it has a σ of its own.
        features: the sizes of the numbers of X̃ (D,), where cases may have any unit; else None.
        inputs: the root mean squares of X (D,), in the cases' units. z: of z (H,).
        sums: of what z would be if nothing canceled (H,).
        saturated: whether an output is so certain that its A'' is 0 in floating point.

    """

    by_case: bool
    features: Array | None
    inputs: Array
    z: Array
    sums: Array
    saturated: bool

    @classmethod
    def of(cls, at: Linearized, family: Family, weights_only: bool) -> Units:
        """Gather them from the linearization of a model."""
        it = next(at.parts()).at.whole
        by_case = len(it.sigma) > 1 or it.scale.shared_by_neurons
        features = _feature_sizes(at) if by_case and weights_only else None
        inputs, z, sums = (np.zeros(len(M)) for M in (it.inputs.T, it.z.T, it.z.T))
        units, saturated = cls(by_case, features, inputs, z, sums, False), False
        for share, part in at.parts():
            it = part.whole
            terms = it.sizes
            for size, M in (
                (inputs, it.inputs * units.of_cases(it)),
                (z, it.z.astype(np.float64)),
                (sums, terms / it.sigma),
            ):
                np.hypot(size, np.sqrt(share) * _root_mean_squares(M), out=size)
            saturated |= bool((family.covariance_diagonal(part.s) <= 0).any())
        sizes = _or_one(inputs), _or_one(z), _or_one(sums)
        return cls(by_case, features, *sizes, saturated)

    def of_cases(self, it: Linearization) -> Array:
        """The unit of each case (n, 1): with one of its own, 1/σ, or of X̃ where any will do."""
        if not self.by_case:
            return np.ones((len(it.z), 1))
        return self.steepness(it) if self.features is None else 1 / self._case_sizes(it)

    def steepness(self, it: Linearization) -> Array:
        """The mean of 1/σ over the neurons, (n, 1)."""
        steepness: Array = (1 / it.sigma.astype(np.float64)).mean(axis=1, keepdims=True)
        return steepness

    def _case_sizes(self, it: Linearization) -> Array:
        shares = np.abs(it.centered_inputs.astype(np.float64)) / self.features
        return _or_one(shares.max(axis=1, keepdims=True))


def column_sizes(M: Array) -> Array:
    """Return the root mean square of each column, 1 where it is 0."""
    return _or_one(_root_mean_squares(M))


def _root_mean_squares(M: Array) -> Array:
    largest = _or_one(np.abs(M).max(axis=0))
    sizes: Array = largest * np.sqrt(((M / largest) ** 2).mean(axis=0))
    return sizes


def _or_one(sizes: Array) -> Array:
    return np.where(sizes == 0, 1.0, sizes)


def _feature_sizes(at: Linearized) -> Array:
    """The geometric mean of the sizes of X̃ in each feature, (D,), without zeros; 1 of zeros."""
    logs = counts = np.zeros(at.layout.features)
    for _, part in at.parts():
        sizes = np.abs(part.whole.centered_inputs.astype(np.float64))
        logs = logs + np.log(_or_one(sizes)).sum(axis=0)
        counts = counts + np.count_nonzero(sizes, axis=0)
    means: Array = np.exp(logs / np.maximum(counts, 1))
    return means
