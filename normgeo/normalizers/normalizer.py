"""Normalizers as two words (Eq. 5): the indices that the mean and the scale average over.

    h = f(g z + b),    z = (a − μ)/σ,    A = X Wᵀ

The words are the indices of a_nh = Σ_d x_nd w_hd: cases n ("batch"), neurons h ("layer"),
features d ("weight"), or "none". Those with a name, and all 4 × 4, are in `named`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike

from normgeo.base.arguments import entries, real_number, whole_number, word_of
from normgeo.base.arrays import Array, real_array, weights_and_inputs
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.normalizers.centers import CENTERS, Center
from normgeo.normalizers.fixed_cases import FixedCases, exact_number, overflow, require_normal
from normgeo.normalizers.linearization import Linearization
from normgeo.normalizers.row_cases import RowCases, frozen_over_rows
from normgeo.normalizers.row_moments import Gather
from normgeo.normalizers.scales import SCALES, Scale
from normgeo.normalizers.statistic import group_size

STATISTICS = ("current", "frozen")


class Normalized(NamedTuple):
    """The values of Eq. 5 at (W, X).

    Attributes:
        summed_inputs: A = X Wᵀ, (N, H).
        mu: the mean μ of each summed input, (N, H).
        sigma: the scale σ, broadcasts against (N, H).
        z: (A − μ)/σ, (N, H).

    """

    summed_inputs: Array
    mu: Array
    sigma: Array
    z: Array


@final
@dataclass(frozen=True)
class Normalizer:
    """A normalization of summed inputs, z = (a − μ)/σ (Eq. 5).

    Attributes:
        center: what μ averages over: "none", "batch", "layer" or "weight".
        scale: what σ² averages over, the same four words.
        groups: G equal groups of neurons for a layer statistic (group norm).
        eps: ε, added to σ² of a batch or layer scale; 0 in the paper's analysis.
        statistics: "current", or "frozen" for batch statistics taken from a reference batch and
            constant, as at test time.
        name: for users; normalizers with the same words are equal, whatever their name.

    Raises:
        ValueError: an unknown word, groups without a layer statistic, a negative ε, or frozen
            statistics without a batch statistic.

    >>> import numpy as np
    >>> W, X = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[3.0, 1.0]])
    >>> Normalizer("layer", "layer").normalize(W, X).z
    array([[ 1., -1.]])

    """

    center: str
    scale: str
    groups: int = 1
    eps: float | Fraction = 0.0
    statistics: str = "current"
    name: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        for argument, word, words in (
            ("center", self.center, CENTERS),
            ("scale", self.scale, SCALES),
            ("statistics", self.statistics, STATISTICS),
        ):
            word_of(argument, word, words)
        whole_number("groups", self.groups, 1, by_type=True)
        if self.groups > 1 and not self.shared_by_neurons:
            raise Refusal(
                "`groups` splits the neurons that a layer statistic averages over; got "
                "groups={groups} with center {center!r} and scale {scale!r}. Use groups=1, or "
                "the word 'layer'.",
                groups=self.groups,
                center=self.center,
                scale=self.scale,
            )
        real_number("eps", self.eps, least=0)
        if self.statistics == "frozen" and not self.shared_by_cases:
            raise Refusal(
                "`statistics='frozen'` freezes batch statistics; center {center!r} and scale "
                "{scale!r} have none. Use 'current'.",
                center=self.center,
                scale=self.scale,
            )

    @property
    def words(self) -> tuple[str, str]:
        """The two words (center, scale)."""
        return self.center, self.scale

    @property
    def title(self) -> str:
        """The name or, without one, the two words."""
        return self.name or f"({self.center}, {self.scale})"

    @property
    def centering(self) -> Center:
        """The center as an object, with current statistics."""
        return CENTERS[self.center]

    @property
    def scaling(self) -> Scale:
        """The scale as an object, with current statistics."""
        return SCALES[self.scale]

    @property
    def is_standard(self) -> bool:
        """Whether z = a: nothing is subtracted, nothing divides."""
        return not (self.centering.subtracts or self.scaling.divides)

    @property
    def shared_by_cases(self) -> bool:
        """Whether a word averages over the cases."""
        return self.centering.shared_by_cases or self.scaling.shared_by_cases

    @property
    def shared_by_neurons(self) -> bool:
        """Whether a word averages over the neurons of a group."""
        return self.centering.shared_by_neurons or self.scaling.shared_by_neurons

    @property
    def normalizes_weights(self) -> bool:
        """Whether a word acts on the weights themselves, so that it needs their layer.

        >>> Normalizer("batch", "weight").normalizes_weights
        True

        """
        of_weights = self.scaling.divides and not self.scaling.takes_eps
        return of_weights or self.centering.feature_dimensions_lost > 0

    @property
    def takes_bias(self) -> bool:
        """Whether a bias before it counts as a weight: in the scale, and kept by the center.

        >>> [Normalizer(word, word).takes_bias for word in ("layer", "batch", "weight")]
        [True, False, False]

        """
        divides = self.scaling.divides and not self.normalizes_weights
        return divides and not self.centering.shared_by_cases

    @property
    def bounds_outputs(self) -> bool:
        """Whether z of given cases stays bounded for weights of any length.

        A current scale grows with the weights, a frozen one does not.

        >>> Normalizer("batch", "batch", statistics="frozen").bounds_outputs
        False

        """
        frozen = self.statistics == "frozen" and self.scaling.shared_by_cases
        return self.scaling.divides and not frozen

    @property
    def added_eps(self) -> float | Fraction:
        """ε if the scale uses it, else 0."""
        return self.eps if self.scaling.takes_eps else 0

    @property
    def exact_eps(self) -> Fraction:
        """The exact value of ε, as a fraction."""
        return exact_number(self.eps)

    @property
    def dual(self) -> Normalizer | None:
        """The normalizer that gives zᵀ after W and X are exchanged; None if there is none.

        >>> Normalizer("none", "layer").dual
        Normalizer(center='none', scale='batch', groups=1, eps=0.0, statistics='current', name='')

        """
        center, scale = self.centering.dual, self.scaling.dual
        if not (center and scale) or self.groups > 1 or self.statistics == "frozen":
            return None
        return Normalizer(center, scale, eps=self.eps)

    def undefined(
        self,
        cases: int,
        neurons: int,
        features: int,
        reference: tuple[Array, Array] | None = None,
    ) -> str:
        """Return why z is undefined for all W and X of these sizes, or ''.

        `reference` is the batch (W₀, X₀) of frozen statistics, with which z is defined for any
        case.
        """
        center, scale = self._statistics(reference)
        sizes = cases, group_size(neurons, self.groups), features
        return center.undefined(*sizes) or scale.undefined(*sizes)

    def leaves_only_signs(self, neurons: int) -> bool:
        """Whether z is only a sign for each neuron, as σ is taken over a single dimension.

        >>> Normalizer("layer", "layer").leaves_only_signs(2)
        True

        """
        left = group_size(neurons, self.groups) - self.centering.neuron_dimensions_lost
        return self.scaling.shared_by_neurons and left == 1 and not self.added_eps

    def homogeneous_blocks(self, neurons: int) -> list[Array]:
        """Return the blocks of neurons whose centered weights may be scaled without changing z.

        One neuron each for a batch or weight scale, one group each with a layer statistic, none
        without a scale or with frozen statistics. For ε > 0 this holds approximately, if ε ≪ σ².

        Raises:
            ValueError: a bad number of neurons, or one that the groups do not divide.

        """
        neurons = whole_number("neurons", neurons, 1)
        if not self.scaling.divides or self.statistics == "frozen":
            return []
        size = group_size(neurons, self.groups) if self.shared_by_neurons else 1
        return list(np.arange(neurons).reshape(-1, size))

    def moments(
        self, W: Array, X: Array, reference: tuple[Array, Array] | None = None
    ) -> tuple[Array, Array]:
        """Return the numerator and the squared denominator of z, without a square root.

            C = A − μ = X̃ W̃ᵀ,    v = σ²

        Args:
            W: (…, H, D); X: (…, N, D), of any element type (`Fraction` included).
            reference: the batch (W₀, X₀) of frozen statistics.

        Returns:
            C (…, N, H) and v, which broadcasts against it, of the type of W and X; infinite where
                they overflow.

        Raises:
            ValueError: a v above 0 that loses digits to underflow, or becomes 0.

        """
        kind = np.result_type(W, X)
        reference = reference if self.statistics == "frozen" else None
        if kind.kind == "f":
            X, reference = _promoted(kind, X, reference)
            W = W.astype(X.dtype, copy=False)
        center, scale = self._statistics(reference)
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            cases = FixedCases.of(center, scale, self.groups, self.eps, W.shape[-2], X)
            W_centered = center.project_weights(W, self.groups)
            C, v = cases.moments(W_centered)
            if kind.kind != "f":
                return C, v
            numerator, square = C.astype(kind, copy=False), v.astype(kind, copy=False)
            if (square < np.finfo(kind).tiny).any():
                _, scale = self._statistics(reference, with_sigma=True)
                sigma = scale.deviation(C, W_centered, self.groups, float(cases.added))
                require_normal(square, sigma, "σ²")
        return numerator, square

    def normalize(
        self, W: ArrayLike, X: ArrayLike, reference: tuple[Array, Array] | None = None
    ) -> Normalized:
        """Return A, μ, σ and z for weights W (H, D) and cases X (N, D) (Eq. 5).

        They are computed in the type of W and X, half precision in single.

        Raises:
            ValueError: bad shapes or numbers, an overflow, a σ that vanishes or is rounding, with
                its position.

        """
        weights, inputs = weights_and_inputs(W, X)
        kind = np.result_type(weights, inputs)
        cases = self._over_checked(inputs, weights, reference)
        at, working = cases.linearize(weights), cases.X.dtype
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            w, x = weights.astype(working, copy=False), cases.X
            A = x @ w.T
            mu = cases.center.mean(w, x, self.groups) + np.zeros_like(A)
            result = Normalized(*(M.astype(kind, copy=False) for M in (A, mu, at.sigma, at.z)))
        if not all(np.isfinite(M).all() for M in result):
            raise overflow(weights, inputs, kind)
        require_normal(result.sigma, at.sigma, "σ")
        return result

    def linearize(
        self, W: ArrayLike, X: ArrayLike, reference: tuple[Array, Array] | None = None
    ) -> Linearization:
        """Return the derivative of z at W (H, D) and X (N, D); raises as `normalize` does."""
        weights, inputs = weights_and_inputs(W, X)
        return self._over_checked(inputs, weights, reference).linearize(weights)

    def over(
        self, X: ArrayLike, neurons: int, reference: tuple[Array, Array] | None = None
    ) -> FixedCases:
        """Return this normalizer of H neurons over fixed cases X (N, D), for many weights.

        Raises:
            ValueError: bad inputs, or sizes for which z is undefined.

        """
        inputs = real_array("X", X, 2)
        weights = np.empty((neurons, inputs.shape[1]), inputs.dtype)
        return self._over_checked(inputs, weights, reference)

    def over_rows(
        self,
        W: Array,
        gather: Gather,
        reference: tuple[Array, Array | Gather] | None = None,
    ) -> RowCases:
        """Return this normalizer over cases in blocks (n, D), after one pass over them.

        Args:
            W: (H, D), for which batch statistics are gathered. gather: the moments of the cases.
            reference: W₀ and X₀ of frozen statistics, X₀ (N, D) or a function that gathers its
                moments.

        Raises:
            ValueError: as `RowCases.of` does.

        """
        center, scale = self.centering, self.scaling
        if self.statistics == "frozen":
            W0, X0 = reference or (W, None)
            if callable(X0):
                W0, _ = _checked_reference((W0, W), W.shape)
                center, scale = frozen_over_rows(center, scale, self.groups, W0, X0)
            else:
                known = None if X0 is None else _checked_reference((W0, X0), W.shape)
                _, known = _promoted(W.dtype, W, known)
                center, scale = self._statistics(known, with_sigma=True)
        return RowCases.of(center, scale, self.groups, self.eps, W, gather)

    def over_test_time(
        self, X: ArrayLike, neurons: int, mean: Array | None, variance: Array | None
    ) -> FixedCases:
        """Return this normalizer over cases X at test time, with constants for shared statistics.

        Args:
            X: (N, D). neurons: H.
            mean: for `Center.mean_over_cases`, (1, H), or None if there is none.
            variance: for v, (1, H), or None if cases do not share one.

        Raises:
            ValueError: bad inputs, or sizes for which z is undefined.

        """
        center, scale = self.centering.freeze(mean), self.scaling
        if variance is not None:
            scale = scale.freeze(variance)
        inputs = real_array("X", X, 2)
        cases = FixedCases.of(center, scale, self.groups, self.eps, neurons, inputs)
        return cases.require_defined()

    def _over_checked(
        self, X: Array, W: Array, reference: tuple[Array, Array] | None
    ) -> FixedCases:
        """Return the normalizer over finite cases, for weights (H, D) like W in shape and type."""
        reference = reference if self.statistics == "frozen" else None
        if reference is not None:
            reference = _checked_reference(reference, W.shape)
        X, reference = _promoted(np.result_type(W, X), X, reference)
        center, scale = self._statistics(reference, with_sigma=True)
        cases = FixedCases.of(center, scale, self.groups, self.eps, len(W), X)
        return cases.require_defined()

    def _statistics(
        self, reference: tuple[Array, Array] | None, *, with_sigma: bool = False
    ) -> tuple[Center, Scale]:
        """The center and the scale as objects, frozen to the reference if there is one.

        `with_sigma` also measures the σ of a reference in floats, and its rounding error.
        """
        center, scale = self.centering, self.scaling
        if self.statistics != "frozen":
            return center, scale
        if reference is None:
            raise Refusal(
                "Frozen batch statistics come from a reference batch; got none. "
                "Give reference=(W, X)."
            )
        W0, X0 = reference
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            cases = FixedCases.of(center, scale, self.groups, 0, W0.shape[-2], X0)
            W0_centered = center.project_weights(W0, self.groups)
            C, v = cases.moments(W0_centered)
            mean = center.mean_over_cases(W0, X0, self.groups)
            if not with_sigma:
                return center.freeze(mean), scale.freeze(v)
            sigma, sizes = cases.deviation(C, W0_centered), cases.deviation_of_sizes(W0)
        return center.freeze(mean), scale.freeze(v, sigma, sizes)


def _promoted(
    kind: np.dtype[Any], X: Array, reference: tuple[Array, Array] | None
) -> tuple[Array, tuple[Array, Array] | None]:
    """Convert cases and a reference to the common type of all and `kind`, at least float32."""
    working = np.result_type(kind, np.float32, *(reference or ()))
    if reference is not None:
        reference = reference[0].astype(working), reference[1].astype(working)
    return X.astype(working, copy=False), reference


def _checked_reference(
    reference: tuple[Array, Array], shape: tuple[int, ...]
) -> tuple[Array, Array]:
    given = entries("reference", reference, text("two arrays, W and X"))
    if len(given) != 2:
        raise Refusal("`reference` must be a pair (W, X); got {count} entries.", count=len(given))
    W0, X0 = (real_array(f"reference[{i}]", given[i], 2) for i in (0, 1))
    if W0.shape != shape or X0.shape[1] != shape[1]:
        raise Refusal(
            "`reference` must be a batch (W, X) of the same layer, W of shape {shape} and X "
            "with {features} features; got shapes {W} and {X}.",
            shape=shape,
            features=shape[1],
            W=W0.shape,
            X=X0.shape,
        )
    return W0, X0
