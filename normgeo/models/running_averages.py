"""Batch statistics at test time: running averages of those of the batches seen in training.

    μ ← (1 − ρ) μ + ρ μ_B,    v ← (1 − ρ) v + ρ v_B m/(m − 1)

m/(m − 1) makes v_B, measured from its own batch's mean, an unbiased estimate. After t batches ρ is
1/t as long as that is larger: the average starts as a plain mean, not at an arbitrary value.
Source: Ioffe and Szegedy, Batch Normalization, 2015, section 3.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.models.glm import NormalizedGLM
from normgeo.models.layers import UnitsLinearization
from normgeo.normalizers.centers import CENTERS, BatchCenter, FrozenCenter
from normgeo.normalizers.scales import SCALES, BatchScale, FrozenScale

LEAST_SHARE = 0.1


@final
@dataclass(frozen=True, eq=False)
class Running:
    """The running averages of one layer.

    Attributes:
        mean: μ (1, H), None for a center other than batch.
        variance: v (1, H), without ε; None for a scale other than batch.
        batches: how many were averaged.

    """

    mean: Array | None = None
    variance: Array | None = None
    batches: int = 0

    def updated(self, units: NormalizedGLM, at: UnitsLinearization, inputs: Array) -> Running:
        """Return the averages with one more batch, inputs (m, D) at which `at` was taken."""
        normalized = at.normalized
        share = max(LEAST_SHARE, 1 / (self.batches + 1))
        mean = variance = None
        if isinstance(normalized.center, BatchCenter):
            mean = _blend(self.mean, inputs.mean(axis=0, keepdims=True) @ units.W.T, share)
        if isinstance(normalized.scale, BatchScale):
            m = len(inputs)
            C = normalized.z * normalized.sigma
            v = normalized.scale.variance(C, normalized.centered_weights)
            variance = _blend(self.variance, v if mean is None else v * m / (m - 1), share)
        return Running(mean, variance, self.batches + 1)

    def natural_parameter(self, units: NormalizedGLM, X: Array) -> Array:
        """Return s = g z + b (N, H) at test time, each case by itself.

        Raises:
            ValueError: a σ that vanishes.

        """
        if self.mean is None and self.variance is None:
            return units.natural_parameter(X)
        words = units.normalizer
        center, scale = CENTERS[words.center], SCALES[words.scale]
        if self.mean is not None:
            center = FrozenCenter(self.mean)
        if self.variance is not None:
            scale = FrozenScale(self.variance, self.variance)
        W, X = center.project(units.W, X, words.groups)
        C = center.subtract_frozen(X @ W.T)
        v = scale.variance(C, W, words.groups) + (float(words.eps) if scale.takes_eps else 0.0)
        if (v <= 0).any():
            raise ValueError(
                f"σ must not vanish, but {scale.zero_place(v <= 0)}, so there is nothing to divide "
                "by. Use a larger eps."
            )
        z = C / np.sqrt(v)
        s: Array = z + units.b if units.g is None else units.g * z + units.b
        return s


def _blend(old: Array | None, new: Array, share: float) -> Array:
    return new if old is None else (1 - share) * old + share * new
