"""Batch statistics at test time: running averages over the batches of training.

    μ ← (1 − ρ) μ + ρ μ_B,    v ← (1 − ρ) v + ρ v_B m/(m − 1)

m/(m − 1) makes v_B, measured from its own batch's mean, an unbiased estimate. At batch t the weight
is max(ρ, 1/t): the average starts as a plain mean, not at an arbitrary value.
Source: Ioffe and Szegedy, Batch Normalization, 2015, section 3.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from normgeo.base.arrays import Array
from normgeo.models.glm import NormalizedGLM
from normgeo.models.layers import UnitsLinearization

LEAST_SHARE = 0.1


@final
@dataclass(frozen=True, eq=False)
class Running:
    """The running averages of one layer.

    Attributes:
        mean: μ (1, H), None for a center that does not average over the cases.
        variance: v (1, H), without ε; None for a scale that does not.
        batches: their number.

    """

    mean: Array | None = None
    variance: Array | None = None
    batches: int = 0

    def updated(self, units: NormalizedGLM, at: UnitsLinearization, inputs: Array) -> Running:
        """Return the averages with one more batch, the inputs (m, D) of the linearization `at`."""
        normalized = at.normalized
        share = max(LEAST_SHARE, 1 / (self.batches + 1))
        mean = normalized.center.mean_over_cases(units.W, inputs, normalized.groups)
        variance = None
        if normalized.scale.shared_by_cases:
            C, m = normalized.z * normalized.sigma, len(inputs)
            v = normalized.scale.variance(C, normalized.centered_weights, normalized.groups)
            variance = _blend(self.variance, v if mean is None else v * m / (m - 1), share)
        if mean is not None:
            mean = _blend(self.mean, mean, share)
        return Running(mean, variance, self.batches + 1)

    def natural_parameter(self, units: NormalizedGLM, X: Array) -> Array:
        """Return s = g z + b (N, H) at test time, for each case separately.

        Raises:
            ValueError: a σ that vanishes.

        """
        if self.mean is None and self.variance is None:
            return units.natural_parameter(X)
        cases = units.normalizer.over_test_time(X, len(units.W), self.mean, self.variance)
        return units.linearize_over(cases).s


def _blend(old: Array | None, new: Array, share: float) -> Array:
    return new if old is None else (1 - share) * old + share * new
