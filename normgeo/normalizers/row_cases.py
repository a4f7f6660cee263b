"""A normalizer over cases in blocks: z and its derivative, one block at a time.

One pass gathers the shared statistics: x̄, and for a batch scale σ_h and p_h = mean c_nh x̃_n.
Given these, z of a case does not depend on other cases, and neither does its derivative,

    dz_nh = (dc_nh − z_nh q_h · dw̃_h)/σ_h,    q_h = mean z_nh x̃_n = p_h/σ_h    (Eq. 14),

since mean z_nh dc_nh = q_h · dw̃_h: a batch scale over given cases is a function of W alone, like a
weight scale. The rest is the same as for cases in memory, by `FixedCases` and `Linearization`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.normalizers.centers import Center
from normgeo.normalizers.fixed_cases import FixedCases, overflow
from normgeo.normalizers.row_moments import Gather, RowMoments
from normgeo.normalizers.scales import Scale, ScalePoint
from normgeo.normalizers.statistic import Statistic, group_size

SMALLEST_SQUARE = 1e-280
"""A mean square below it has lost digits to underflow."""


@final
@dataclass(frozen=True, eq=False)
class RowsCenter(Center):
    """A center that subtracts the mean case of all blocks."""

    of: Center
    moments: RowMoments
    neuron_dimensions_lost: int
    feature_dimensions_lost: int
    shared_by_cases = True

    def mean_neuron(self, W: Array, groups: int = 1) -> Array | None:
        return self.of.mean_neuron(W, groups)

    def mean_feature(self, W: Array) -> Array | None:
        return self.of.mean_feature(W)

    def project_neurons(self, W: Array, groups: int = 1) -> Array:
        return self.of.project_neurons(W, groups)

    def project_features(self, W: Array) -> Array:
        return self.of.project_features(W)

    def project_inputs(self, X: Array) -> Array:
        near: Array = X - self.moments.origin.astype(X.dtype)
        near -= self.moments.mean.astype(X.dtype)
        return near

    def input_sizes(self, X: Array) -> Array:
        sizes: Array = np.abs(X) + self.moments.sizes
        return sizes

    def undefined(self, cases: int, neurons: int, features: int) -> str:
        # A block may be one case; the center itself checks the number of all cases.
        return self.of.undefined(max(cases, 2), neurons, features)


@final
@dataclass(frozen=True, eq=False)
class RowsScale(Scale):
    """A scale over all cases, applied to a block; it does not follow changes of the inputs.

    Attributes:
        constant: v (1, H), without ε. products: p_h (H, D). sigma_of_sizes: (1, H).

    """

    constant: Array
    products: Array
    sigma_of_sizes: Array | None
    takes_eps: bool
    shared_by_cases = True
    known = True

    def variance(self, C: Array, W_centered: Array, groups: int = 1) -> Array:
        return self.constant

    def deviation(self, C: Array, W_centered: Array, groups: int = 1, added: float = 0.0) -> Array:
        sigma: Array = np.sqrt(self.constant + added).astype(C.dtype)
        return sigma

    def differential(self, dC: Array, dW_centered: Array | None, at: ScalePoint) -> Array:
        if dW_centered is None:
            raise Refusal(
                "Over rows in blocks only the weights change: a change of an input would "
                "reach the other blocks by their batch statistic."
            )
        along = np.einsum("hd,...hd->...h", self.radial(dC, at), dW_centered)
        change: Array = (dC - at.z * along[..., None, :]) / at.sigma
        return change

    def adjoint(self, U: Array, at: ScalePoint) -> tuple[Array, Array | None]:
        V = U / at.sigma
        along = np.einsum("...nh,nh->...h", V, at.z)
        return V, -along[..., None] * self.radial(U, at)

    def radial(self, X_centered: Array, at: ScalePoint) -> Array:
        q: Array = self.products.astype(at.sigma.dtype) / at.sigma.T
        return q

    def of_first(self, features: int) -> RowsScale:
        return replace(self, products=self.products[:, :features])

    def of_equal_sizes(self, sigma: Array, sizes: Array) -> RowsScale:
        return replace(self, products=self.products / sigma.T / sizes)

    def undefined(self, cases: int, neurons: int, features: int) -> str:
        return ""  # a block may be one case; the scale itself has checked the number of all cases

    def zero_place(self, zero: Array) -> str:
        neuron = np.argwhere(zero)[0][-1]
        return text("neuron {h} has a = μ in every case", h=neuron)


@final
@dataclass(frozen=True, eq=False)
class RowCases:
    """A normalizer of H neurons over N cases in blocks, with known shared statistics.

    Attributes:
        center, scale: with the gathered statistics.
        groups: G, of neurons. eps: ε. neurons: H. cases: N.

    """

    center: Center
    scale: Scale
    groups: int
    eps: float | Fraction
    neurons: int
    cases: int

    @classmethod
    def of(
        cls,
        center: Center,
        scale: Scale,
        groups: int,
        eps: float | Fraction,
        W: Array,
        gather: Gather,
    ) -> RowCases:
        """Gather the shared statistics of cases in blocks at W (H, D), in one pass.

        Raises:
            ValueError: sizes for which z is undefined, an overflow, or a custom statistic that
                is not a mean over the cases.

        """
        (H, D), K = W.shape, group_size(len(W), groups)
        moments = gather(center.project_weights(W, groups))
        N = moments.cases
        if reason := center.undefined(N, K, D) or scale.undefined(N, K, D):
            raise Refusal(reason)
        _require_means(center, scale)
        over_center, over_scale = center, scale
        if scale.shared_by_cases:
            v, sizes, products = _variance(center, W, groups, moments)
            over_scale = RowsScale(v, products, sizes, scale.takes_eps)
        if center.shared_by_cases:
            lost = center.neuron_dimensions_lost, center.feature_dimensions_lost
            over_center = RowsCenter(center, moments, *lost)
        return cls(over_center, over_scale, groups, eps, H, N)

    def block(self, X: Array) -> FixedCases:
        """The normalizer over one block (n, D) of the cases, 1 or more."""
        cases = FixedCases.of(self.center, self.scale, self.groups, self.eps, self.neurons, X)
        return cases.require_defined()


def frozen_over_rows(
    center: Center, scale: Scale, groups: int, W: Array, gather: Gather
) -> tuple[Center, Scale]:
    """Return the center and the scale with the constants of test time, from a reference in blocks.

    Raises:
        ValueError: as `RowCases.of`, except for the number of cases.

    """
    _require_means(center, scale)
    moments = gather(center.project_weights(W, groups))
    if center.shared_by_cases:
        center_then = center.freeze((moments.W_centered @ moments.mean_case)[None])
    else:
        center_then = center
    if not scale.shared_by_cases:
        return center_then, scale
    v, sizes, _ = _variance(center, W, groups, moments)
    return center_then, scale.freeze(v, np.sqrt(v), sizes)


def _variance(
    center: Center, W: Array, groups: int, moments: RowMoments
) -> tuple[Array, Array, Array]:
    """Return v (1, H), the size of σ without cancellation (1, H), and p_h (H, D)."""
    v, products = moments.around(center)
    with np.errstate(over="ignore"):
        rows = center.weight_sizes(W.astype(np.float64), groups)
        square = moments.square_sizes(center) @ (rows**2).T
    if not (np.isfinite(square).all() and np.isfinite(products).all()):
        raise overflow(W, np.array([moments.largest]), np.dtype(np.float64))
    if (square < SMALLEST_SQUARE).any():
        raise Refusal(
            "Over rows in blocks the squares of the summed inputs are added up, which must not "
            "be below {least:g}; their size is {size:.3g}. Scale W or X up.",
            least=SMALLEST_SQUARE,
            size=float(square.min()),
        )
    return v[None], np.sqrt(square)[None], products


def _require_means(*words: Statistic) -> None:
    for word in words:
        if word.shared_by_cases and not word.merges:
            raise Refusal(
                "Over rows in blocks a statistic of the cases must be a mean over them, whose "
                "parts add up; of {word!r} that is not known. Hold the cases in memory, or say "
                "`merges = True` in its class where it is so.",
                word=word.key,
            )
