"""z = (a − μ)/σ of Eq. 5, over fixed cases X, for any weights W: the one place it is computed.

    C = A − μ = X̃ W̃ᵀ,    v = σ²,    z = C/√(v + ε)

What does not depend on W is done once: the checks of X, its projection X̃, the longest of its
rows, the statistics of a reference batch. Training, sweeps and descents ask at many weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike

from normgeo.base.arrays import Array, real_array, require_same_features
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.normalizers.centers import Center
from normgeo.normalizers.linearization import Linearization
from normgeo.normalizers.scales import Scale
from normgeo.normalizers.statistic import group_size


@final
@dataclass(frozen=True, eq=False)
class FixedCases:
    """A normalizer of H neurons over N cases, whose projection is taken once.

    Attributes:
        center, scale: frozen to a reference batch where that was asked for.
        groups: G, of neurons. added: ε where the scale takes it, else 0. neurons: H.
        X: (N, D). X_centered: X̃ (N, D).

    """

    center: Center
    scale: Scale
    groups: int
    added: float | Fraction
    neurons: int
    X: Array
    X_centered: Array

    @classmethod
    def of(
        cls,
        center: Center,
        scale: Scale,
        groups: int,
        eps: float | Fraction,
        neurons: int,
        X: Array,
    ) -> FixedCases:
        """Prepare cases X (…, N, D) of any element type."""
        added = eps if scale.takes_eps else 0
        with np.errstate(over="ignore", invalid="ignore"):
            return cls(center, scale, groups, added, neurons, X, center.project_inputs(X))

    def require_defined(self) -> Self:
        """Itself, unless z is undefined for all weights at these sizes.

        Raises:
            ValueError: it is, with the reason.

        """
        (N, D), K = self.X.shape, group_size(self.neurons, self.groups)
        if reason := self.center.undefined(N, K, D) or self.scale.undefined(N, K, D):
            raise Refusal(reason)
        return self

    def rows(self, cases: Array) -> FixedCases:
        """The same over some of the cases, by their indices; raises as `require_defined` does."""
        X = self.X[cases]
        part = self.of(self.center, self.scale, self.groups, self.added, self.neurons, X)
        return part.require_defined()

    def moments(self, W_centered: Array) -> tuple[Array, Array]:
        """C = X̃ W̃ᵀ (…, N, H) less a frozen mean, and v + ε, for W̃ of any element type."""
        # Each neuron's cases side by side in memory: what follows broadcasts and averages over the
        # neurons, and NumPy is several times slower at that where the short axis is the inner one.
        C = self.center.subtract_frozen((W_centered @ self.X_centered.mT).mT)
        v = self.scale.variance(C, W_centered, self.groups)
        if self.added:
            # A float would silently turn exact numbers into floats, and a Fraction the reverse.
            v = v + (Fraction(self.added) if v.dtype == object else float(self.added))
        return C, v

    def linearize(self, W: ArrayLike) -> Linearization:
        """Z at W (H, D), with its derivative.

        Raises:
            ValueError: bad weights, an overflow, or a σ that vanishes, with the place.

        """
        weights = real_array("W", W, 2)
        require_same_features(weights, self.X)
        if len(weights) != self.neurons:
            raise Refusal(
                text(
                    "`W` must have a row for each of the {neurons} neurons that were asked for; "
                    "got shape {shape}.",
                    neurons=self.neurons,
                    shape=weights.shape,
                )
            )
        with np.errstate(over="ignore", invalid="ignore"):
            W_centered = self.center.project_weights(weights, self.groups)
            C, v = self.moments(W_centered)
            if not (np.isfinite(C).all() and np.isfinite(v).all()):
                raise overflow(weights, self.X)
            self._check_scale(weights, v)
        sigma = np.sqrt(v)
        z = C / sigma
        return Linearization(
            self.center, self.scale, z, sigma, W_centered, self.X_centered, self.groups
        )

    @cached_property
    def longest(self) -> Array:
        """The largest ‖x_n‖."""
        with np.errstate(over="ignore", invalid="ignore"):
            longest: Array = _lengths(self.X).max()
        return longest

    def _check_scale(self, W: Array, v: Array) -> None:
        """Refuse a σ that is zero, or that is only the rounding of what it was averaged from."""
        zero = v <= 0
        if self.scale.divides and not self.added:
            # |a_nh| ≤ max ‖x‖·‖w_h‖ (Cauchy–Schwarz) spares the product A nearly always.
            if (v > self._rounding(W, self.longest * _lengths(W)[None], v.dtype)).all():
                return
            rounding = self._rounding(W, self.X @ W.T, v.dtype)
            if not np.isfinite(rounding).all():
                raise overflow(W, self.X)
            zero = v <= rounding
        if zero.any():
            raise Refusal(
                text(
                    "σ must not vanish, but {place}, so there is nothing to divide by. Change "
                    "that row, drop it, or use a larger eps with a batch or layer scale.",
                    place=self.scale.zero_place(zero),
                )
            )

    def _rounding(self, W: Array, A: Array, kind: np.dtype[Any]) -> Array:
        """The v below which there is only rounding, for uncentered summed inputs A (…, H)."""
        # NumPy sums float16 in float32.
        unit = float(np.finfo(np.result_type(kind, np.float32)).eps) / 2
        uncentered = self.scale.uncentered(A, W, self.groups)
        rounding: Array = (max(*self.X.shape, len(W)) * unit) ** 2 * uncentered
        return rounding


def overflow(W: Array, X: Array) -> Refusal:
    """The error of summed inputs that are too large for their type."""
    return Refusal(
        text(
            "The summed inputs or their squares overflow {kind}: the largest |x| is {x:.3g} and "
            "the largest |w| {w:.3g}. Scale them down or use a wider type.",
            kind=np.result_type(W, X),
            x=np.abs(X).max(),
            w=np.abs(W).max(),
        )
    )


def _lengths(rows: Array) -> Array:
    lengths: Array = np.sqrt(np.einsum("rd,rd->r", rows, rows))
    return lengths
