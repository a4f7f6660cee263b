"""A normalizer over fixed cases X, to be linearized at many weights W: training, sweeps, descents.

What does not depend on W is done once: the checks of X, its projection X̃, the longest of its
rows, the statistics of a reference batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from normgeo.base.arrays import Array, real_array, require_same_features
from normgeo.normalizers.centers import Center, group_size
from normgeo.normalizers.linearization import Linearization
from normgeo.normalizers.scales import Scale


@final
@dataclass(frozen=True, eq=False)
class Statistics:
    """The two words of a normalizer as objects, with what goes with them.

    Attributes:
        center, scale: frozen to a reference batch where that was asked for.
        groups: G, of neurons. eps: ε, added to v where the scale takes it.

    """

    center: Center
    scale: Scale
    groups: int
    eps: float | Fraction

    @property
    def added(self) -> float | Fraction:
        """What is added to v: ε, or 0 for a scale without one."""
        return self.eps if self.scale.takes_eps else 0

    def undefined(self, cases: int, neurons: int, features: int) -> str:
        """Return why z is undefined for all W and X of these sizes, or '' where it is not."""
        K = group_size(neurons, self.groups)
        return self.center.undefined(cases, features, K) or self.scale.undefined(cases, K)

    def moments(self, W_centered: Array, X_centered: Array) -> tuple[Array, Array]:
        """Return C = X̃ W̃ᵀ (…, N, H) less a frozen mean, and v, for any element type."""
        # Each neuron's cases side by side in memory: what follows broadcasts and averages over the
        # neurons, and NumPy is several times slower at that where the short axis is the inner one.
        C = self.center.subtract_frozen((W_centered @ X_centered.mT).mT)
        v = self.scale.variance(C, W_centered, self.groups)
        if self.added:
            # A float would silently turn exact numbers into floats, and a Fraction the reverse.
            v = v + (Fraction(self.added) if v.dtype == object else float(self.added))
        return C, v


@final
@dataclass(frozen=True, eq=False)
class FixedCases:
    """A normalizer of H neurons over N cases, checked and projected once.

    Attributes:
        statistics: the words of the normalizer. neurons: H.
        X: (N, D). X_centered: X̃ (N, D). longest: the largest ‖x_n‖.

    Raises:
        ValueError: sizes for which z is undefined.

    """

    statistics: Statistics
    neurons: int
    X: Array
    X_centered: Array
    longest: Array

    @classmethod
    def of(cls, statistics: Statistics, neurons: int, X: Array) -> FixedCases:
        """Prepare finite cases X (N, D)."""
        if reason := statistics.undefined(len(X), neurons, X.shape[1]):
            raise ValueError(reason)
        with np.errstate(over="ignore", invalid="ignore"):
            X_centered = statistics.center.project_inputs(X)
            return cls(statistics, neurons, X, X_centered, _lengths(X).max())

    def rows(self, cases: Array) -> FixedCases:
        """Return the same over some of the cases, by their indices."""
        return self.of(self.statistics, self.neurons, self.X[cases])

    def linearize(self, W: ArrayLike) -> Linearization:
        """Return the derivative of z at W (H, D).

        Raises:
            ValueError: bad weights, an overflow, or a σ that vanishes, with the place.

        """
        weights = real_array("W", W, 2)
        require_same_features(weights, self.X)
        if len(weights) != self.neurons:
            raise ValueError(
                f"`W` must have a row for each of the {self.neurons} neurons that were asked for; "
                f"got shape {weights.shape}."
            )
        statistics = self.statistics
        with np.errstate(over="ignore", invalid="ignore"):
            W_centered = statistics.center.project_weights(weights, statistics.groups)
            C, v = statistics.moments(W_centered, self.X_centered)
            if not (np.isfinite(C).all() and np.isfinite(v).all()):
                raise overflow(weights, self.X)
            self._check_scale(weights, v)
        sigma = np.sqrt(v)
        return Linearization(
            statistics.center,
            statistics.scale,
            C / sigma,
            sigma,
            W_centered,
            self.X_centered,
            statistics.groups,
        )

    def _check_scale(self, W: Array, v: Array) -> None:
        """Refuse a σ that is zero, or that is only the rounding of what it was averaged from."""
        scale, zero = self.statistics.scale, v <= 0
        if scale.divides and not self.statistics.added:
            # |a_nh| ≤ max ‖x‖·‖w_h‖ (Cauchy–Schwarz) spares the product A nearly always.
            if (v > self._rounding(W, self.longest * _lengths(W)[None], v.dtype)).all():
                return
            rounding = self._rounding(W, self.X @ W.T, v.dtype)
            if not np.isfinite(rounding).all():
                raise overflow(W, self.X)
            zero = v <= rounding
        if zero.any():
            raise ValueError(
                f"σ must not vanish, but {scale.zero_place(zero)}, so there is nothing to divide "
                "by. Change that row, drop it, or use a larger eps with a batch or layer scale."
            )

    def _rounding(self, W: Array, A: Array, kind: np.dtype[Any]) -> Array:
        """The v below which there is only rounding, for uncentered summed inputs A (…, H)."""
        # NumPy sums float16 in float32.
        unit = float(np.finfo(np.result_type(kind, np.float32)).eps) / 2
        uncentered = self.statistics.scale.uncentered(A, W, self.statistics.groups)
        rounding: Array = (max(*self.X.shape, len(W)) * unit) ** 2 * uncentered
        return rounding


def overflow(W: Array, X: Array) -> ValueError:
    """Return the error of summed inputs that are too large for their type."""
    return ValueError(
        f"The summed inputs or their squares overflow {np.result_type(W, X)}: the largest |x| is "
        f"{np.abs(X).max():.3g} and the largest |w| {np.abs(W).max():.3g}. "
        "Scale them down or use a wider type."
    )


def _lengths(rows: Array) -> Array:
    lengths: Array = np.sqrt(np.einsum("rd,rd->r", rows, rows))
    return lengths
