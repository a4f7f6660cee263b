"""z = (a − μ)/σ of Eq. 5, over fixed cases X, for any weights W: the only code that computes it.

    C = A − μ = X̃ W̃ᵀ,    v = σ²,    z = C/√(v + ε)

Work that does not depend on W is done once: the checks of X, its projection X̃, the longest of its
rows, the statistics of a reference batch. Training, sweeps and descents evaluate many weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from numbers import Rational
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

TINY = np.finfo(np.float64).tiny


@final
@dataclass(frozen=True, eq=False)
class FixedCases:
    """A normalizer of H neurons over N cases, which are projected once.

    Attributes:
        center, scale: frozen to a reference batch, if there is one.
        groups: G, of neurons. added: ε if the scale uses it, else 0. neurons: H.
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

    def of_type(self, kind: np.dtype[Any]) -> FixedCases:
        """Return the same cases, computed in a floating-point type."""
        if self.X.dtype == kind:
            return self
        X = self.X.astype(kind)
        return self.of(self.center, self.scale, self.groups, self.added, self.neurons, X)

    def require_defined(self) -> Self:
        """Return itself, unless z is undefined for all weights at these sizes.

        Raises:
            ValueError: z is undefined, with the reason.

        """
        (N, D), K = self.X.shape, group_size(self.neurons, self.groups)
        if reason := self.center.undefined(N, K, D) or self.scale.undefined(N, K, D):
            raise Refusal(reason)
        return self

    def rows(self, cases: Array) -> FixedCases:
        """Return the normalizer over some of the cases; raises as `require_defined` does."""
        X = self.X[cases]
        part = self.of(self.center, self.scale, self.groups, self.added, self.neurons, X)
        return part.require_defined()

    def centered(self, W_centered: Array) -> Array:
        """C = X̃ W̃ᵀ (…, N, H) minus a frozen mean, for W̃ of any element type."""
        # Each neuron's cases are contiguous in memory: the next steps broadcast and average over
        # neurons, and NumPy is several times slower at that if the short axis is the inner one.
        return self.center.subtract_frozen((W_centered @ self.X_centered.mT).mT)

    def moments(self, W_centered: Array) -> tuple[Array, Array]:
        """C (…, N, H) and v + ε, for W̃ of any element type."""
        C = self.centered(W_centered)
        v = self.scale.variance(C, W_centered, self.groups)
        if self.added:
            # A float would silently turn exact numbers into floats, and a Fraction the reverse.
            v = v + (exact_number(self.added) if v.dtype == object else float(self.added))
        return C, v

    def deviation(self, C: Array, W_centered: Array) -> Array:
        """σ = √(v + ε) of floats."""
        return self.scale.deviation(C, W_centered, self.groups, float(self.added))

    def linearize(self, W: ArrayLike) -> Linearization:
        """Z at W (H, D), with its derivative.

        Raises:
            ValueError: bad weights, an overflow, or a σ that vanishes, with its position.

        """
        weights = real_array("W", W, 2)
        require_same_features(weights, self.X)
        if len(weights) != self.neurons:
            raise Refusal(
                "`W` must have a row for each of the {neurons} neurons that were asked for; "
                "got shape {shape}.",
                neurons=self.neurons,
                shape=weights.shape,
            )
        kind = np.result_type(weights, self.X, np.float32)
        if kind != self.X.dtype:
            return self.of_type(kind).linearize(weights)
        weights = weights.astype(kind, copy=False)
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            W_centered = self.center.project_weights(weights, self.groups)
            C = self.centered(W_centered)
            sigma = self.deviation(C, W_centered)
            self._check_scale(weights, sigma)
            z = C / sigma
        if not (np.isfinite(z).all() and np.isfinite(sigma).all()):
            raise overflow(weights, self.X, kind)
        return Linearization(
            self.center,
            self.scale,
            z,
            sigma,
            W_centered,
            self.X_centered,
            self.X,
            self.groups,
            float(self.added),
        )

    def sizes(self, W: Array) -> Array:
        """The size of C (N, H) at W (H, D) without cancellation; times u, it is C's rounding error.

        √Σ_d (x w)², from the sizes of the numbers whose differences are X̃ and W̃: their rounding
        errors, which are independent, change C by this.
        """
        cases, rows = self.center.input_sizes(self.X), self.center.weight_sizes(W, self.groups)
        x, w = (np.maximum(M.max(axis=-1, keepdims=True), TINY) for M in (cases, rows))
        sizes: Array = np.sqrt((cases / x) ** 2 @ ((rows / w) ** 2).mT) * x * w.mT
        return sizes if self.center.offset is None else sizes + np.abs(self.center.offset)

    def deviation_of_sizes(self, W: Array) -> Array:
        """The size of σ at W (H, D) without cancellation."""
        if self.scale.known:
            known = self.scale.sigma_of_sizes
            return np.zeros((1, 1)) if known is None else known
        rows = self.center.weight_sizes(W, self.groups)
        return self.scale.deviation(self.sizes(W), rows, self.groups)

    @property
    def rounding(self) -> float:
        """A σ of at most k u times its size without cancellation is refused.

        k = 64 leaves six bits: rounding errors of W and X alone then change z by a hundredth. A sum
        of D products requires √D, if that is more, and two passes leave (nu)² of a mean of n
        numbers, which matters for many numbers of single precision.
        """
        (N, D), H = self.X.shape, self.neurons
        unit = float(np.finfo(self.X.dtype).eps) / 2
        k: float = max(64, D**0.5, unit * max(N, H) ** 2)
        return k * unit

    @cached_property
    def _largest_deviation(self) -> Array:
        """A quick, rough bound of `deviation_of_sizes` for weights up to 1."""
        H, D = self.neurons, self.X.shape[1]
        largest = 8 * D**0.5 * float(np.abs(self.X).max())
        sizes, rows = (np.full(shape, size) for shape, size in (((1, H), largest), ((H, D), 4.0)))
        return self.scale.deviation(sizes, rows, self.groups)

    def _check_scale(self, W: Array, sigma: Array) -> None:
        """Refuse a σ that is zero, or that may consist of rounding errors."""
        if not self.scale.divides:
            return
        if not self.scale.known and self.center.offset is None:
            # This nearly always makes the product of the sizes unnecessary.
            bound = float(np.abs(W).max()) * self._largest_deviation
            least = np.maximum(self.rounding * bound, np.finfo(sigma.dtype).tiny)
            if (sigma > least).all():
                return
        of_sizes = self.deviation_of_sizes(W)
        if not np.isfinite(of_sizes).all():
            raise overflow(W, self.X, sigma.dtype)
        least = self.rounding * of_sizes
        if (sigma <= least).any():
            place = self.scale.zero_place(sigma <= least)
            if sigma.all():
                place = text("{place} to within rounding", place=place)
            raise Refusal(
                "σ must not vanish, but {place}, so there is nothing to divide by. Change "
                "that row, drop it, or use a larger eps with a batch or layer scale.",
                place=place,
            )
        require_normal(sigma, sigma, "σ")


def exact_number(value: float | Fraction) -> Fraction:
    """A real number as a fraction; a `Fraction` of a NumPy integer would keep its 64 bits."""
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    return Fraction(float(value))


def require_normal(values: Array, sigma: Array, name: str) -> None:
    """Refuse values, σ or σ², that have lost digits to underflow although σ is above 0."""
    tiny = np.finfo(values.dtype).tiny
    small = (values < tiny) & (sigma > 0)
    if small.any():
        raise Refusal(
            "{name} must not be below the smallest normal number of {kind}, {tiny:.3g}; got "
            "σ = {sigma:.3g}. Scale W or X up, or use a wider type.",
            name=name,
            kind=values.dtype,
            tiny=tiny,
            sigma=np.broadcast_to(sigma, small.shape)[small].min(),
        )


def overflow(W: Array, X: Array, kind: np.dtype[Any]) -> Refusal:
    """The error for summed inputs that are too large for their type."""
    return Refusal(
        "The summed inputs overflow {kind}: the largest |x| is {x:.3g} and the largest |w| "
        "{w:.3g}. Scale them down or use a wider type.",
        kind=kind,
        x=np.abs(X).max(),
        w=np.abs(W).max(),
    )
