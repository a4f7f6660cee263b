"""The growth of a small change in a wide random recurrence, by mean-field theory.

    q^t = ρ² E f(s^{t−1})² + v^t,    factor of step t = ρ √(E f'(s^t)²) / σ^t

q is the variance of the summed inputs over the neurons, v the contribution of the inputs, |x|²/F
for W_xh ~ N(0, 1/F). Without normalization s ~ N(0, q) and σ = 1; with a scale over the neurons
s ~ N(0, 1) and σ² = q. Poole et al. 2016, Schoenholz et al. 2017. The matrix is the same at every
step, but the theory treats it as drawn anew at each.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from numpy.typing import ArrayLike

from normgeo.base.arrays import Array, real_array
from normgeo.models.activations import Activation, activation_of
from normgeo.normalizers.named import normalizer_of
from normgeo.normalizers.normalizer import Normalizer

NODES, WEIGHTS = hermegauss(60)


def mean_field_growth(
    normalizer: Normalizer | str,
    activation: str | Activation,
    X: ArrayLike,
    radius: float,
    steps: int,
) -> Array | None:
    """Return log₁₀ of the factor per step for each sequence, (S,), from a state of rms 1.

    None for methods whose σ is neither 1 nor a statistic of the neurons of a case.

    Args:
        normalizer: the method. activation: f. X: sequences (S, L, F), read again from their start.
        radius: ρ. steps: T.

    >>> from normgeo import NORMALIZERS
    >>> none = np.zeros((1, 1, 1))
    >>> 10 ** mean_field_growth(NORMALIZERS["standard"], "identity", none, 2.0, 8)
    array([2.])
    >>> 10 ** (2 * mean_field_growth(NORMALIZERS["standard"], "relu", none, 2.0, 8))
    array([2.])

    """
    scale = normalizer_of(normalizer).scaling
    if scale.divides and not scale.shared_by_neurons:
        return None
    f = activation_of(activation)
    driven = (real_array("X", X, 3) ** 2).mean(axis=2)
    mean_square, total = np.ones(len(driven)), np.zeros(len(driven))
    for t in range(steps):
        q = radius**2 * mean_square + driven[:, t % driven.shape[1]]
        sigma = np.sqrt(q) if scale.divides else np.ones_like(q)
        s = (np.sqrt(q) / sigma)[:, None] * NODES
        mean_square = _expected(f.value(s) ** 2)
        total += np.log10(radius * np.sqrt(_expected(f.slope(s) ** 2)) / sigma)
    mean: Array = total / steps
    return mean


def _expected(values: Array) -> Array:
    """The mean over a standard normal variable; the last axis holds the values at the nodes."""
    mean: Array = values @ WEIGHTS / WEIGHTS.sum()
    return mean
