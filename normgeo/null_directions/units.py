"""Units of cases, features and outputs that make null spaces independent of their sizes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.models.families import Family
from normgeo.models.linearization import Part
from normgeo.models.rows import Linearized
from normgeo.normalizers.linearization import Linearization


@final
@dataclass(frozen=True, eq=False)
class Units:
    """Sizes measured in passes over all cases.

    Attributes:
        by_case: whether each case has a unit of its own, as it has its own σ.
        features: the sizes of the numbers of X̃ (D,), if cases may have any unit; else None.
        inputs: the root mean squares of X (D,), in the cases' units. z: of z (H,).
        sums: of z if nothing canceled (H,).
        saturated: whether an output is so certain that its A'' is 0 in floating point.
        variance: the mean of A''.

    """

    by_case: bool
    features: Array | None
    inputs: Array
    z: Array
    sums: Array
    saturated: bool
    variance: float

    @classmethod
    def of(cls, at: Linearized, family: Family, weights_only: bool) -> Units:
        """Measure them from the linearization of a model."""
        it = next(at.parts()).at.whole
        by_case = len(it.sigma) > 1 or it.scale.shared_by_neurons
        features = _feature_sizes(at) if by_case and weights_only else None
        zeros = np.zeros(it.inputs.shape[1]), np.zeros(it.z.shape[1]), np.zeros(it.z.shape[1])
        units = cls(by_case, features, *zeros, False, 0.0)

        def step(parts: Iterator[Part]) -> Units:
            return reduce(Units._with, (units._of_part(part, family) for part in parts))

        found = at.gathered(step, Units._with)
        sizes = _or_one(found.inputs), _or_one(found.z), _or_one(found.sums)
        return cls(by_case, features, *sizes, found.saturated, found.variance)

    def _of_part(self, part: Part, family: Family) -> Units:
        """Return the contribution of some cases to the squares of the sizes."""
        it = part.at.whole
        inputs, z, sums = (
            np.sqrt(part.share) * _root_mean_squares(M)
            for M in (self.scaled(it.inputs, it), it.z.astype(np.float64), it.sizes / it.sigma)
        )
        variances = family.covariance_diagonal(part.at.s)
        saturated, mean = bool((variances <= 0).any()), part.share * float(variances.mean())
        return Units(self.by_case, self.features, inputs, z, sums, saturated, mean)

    def _with(self, other: Units) -> Units:
        return Units(
            self.by_case,
            self.features,
            np.hypot(self.inputs, other.inputs),
            np.hypot(self.z, other.z),
            np.hypot(self.sums, other.sums),
            self.saturated or other.saturated,
            self.variance + other.variance,
        )

    def scaled(self, X: Array, it: Linearization) -> Array:
        """X (n, D) in the cases' units: 1/σ, the size of X̃ if any unit will do, or none."""
        if not self.by_case:
            return X
        return X * (self.steepness(it) if self.features is None else 1 / self._case_sizes(it))

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
    """The geometric mean of the nonzero sizes of X̃ in each feature, (D,); 1 if all are zero."""

    def step(parts: Iterator[Part]) -> Array:
        sums = np.zeros((2, features))
        for _, part in parts:
            sizes = np.abs(part.whole.centered_inputs.astype(np.float64))
            sums += np.log(_or_one(sizes)).sum(axis=0), np.count_nonzero(sizes, axis=0)
        return sums

    features = at.layout.features
    logs, counts = at.gathered(step, add)
    means: Array = np.exp(logs / np.maximum(counts, 1))
    return means
