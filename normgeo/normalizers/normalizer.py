"""Normalizers as two words (Eq. 5): what the mean and what the scale average over.

    h = f(g z + b),    z = (a − μ)/σ,    A = X Wᵀ

The indices of a_nh = Σ_d x_nd w_hd name the words: cases n ("batch"), neurons h ("layer"),
features d ("weight"), or "none". `GRID` holds all 4 × 4, `NORMALIZERS` those with a name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import isfinite
from numbers import Real
from typing import NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike

from normgeo.base.arrays import Array, is_whole, real_array, weights_and_inputs
from normgeo.normalizers.centers import CENTERS, group_size
from normgeo.normalizers.fixed_cases import FixedCases, Statistics, overflow
from normgeo.normalizers.linearization import Linearization
from normgeo.normalizers.scales import SCALES

STATISTICS = ("current", "frozen")


class Normalized(NamedTuple):
    """What a normalizer makes of (W, X).

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
        statistics: "current", or "frozen" for batch statistics taken from a reference batch
            and constant, as at test time.
        name: a name for people; equal words are equal normalizers whatever the name.

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
            if word not in words:
                raise ValueError(f"`{argument}` must be one of {', '.join(words)}; got {word!r}.")
        if not is_whole(self.groups) or self.groups < 1:
            raise ValueError(f"`groups` must be a whole number from 1 up; got {self.groups!r}.")
        if self.groups > 1 and not self.shared_by_neurons:
            raise ValueError(
                "`groups` splits the neurons that a layer statistic averages over; "
                f"got groups={self.groups} with center {self.center!r} and scale {self.scale!r}. "
                "Use groups=1, or the word 'layer'."
            )
        if not isinstance(self.eps, Real) or not isfinite(self.eps) or self.eps < 0:
            raise ValueError(f"`eps` must be a finite number from 0 up; got {self.eps!r}.")
        if self.statistics == "frozen" and not self.shared_by_cases:
            raise ValueError(
                "`statistics='frozen'` freezes batch statistics; "
                f"center {self.center!r} and scale {self.scale!r} have none. Use 'current'."
            )

    @property
    def words(self) -> tuple[str, str]:
        """The two words (center, scale)."""
        return self.center, self.scale

    @property
    def title(self) -> str:
        """The name, or the two words where there is none."""
        return self.name or f"({self.center}, {self.scale})"

    @property
    def shared_by_cases(self) -> bool:
        """Whether a word averages over the cases."""
        return CENTERS[self.center].shared_by_cases or SCALES[self.scale].shared_by_cases

    @property
    def shared_by_neurons(self) -> bool:
        """Whether a word averages over the neurons of a group."""
        return CENTERS[self.center].shared_by_neurons or SCALES[self.scale].shared_by_neurons

    def undefined(
        self,
        cases: int,
        neurons: int,
        features: int,
        reference: tuple[Array, Array] | None = None,
    ) -> str:
        """Return why z is undefined for all W and X of these sizes, or '' where it is not.

        `reference` is the batch (W₀, X₀) of frozen statistics, which any case has a z by.
        """
        return self._statistics(reference).undefined(cases, neurons, features)

    def homogeneous_blocks(self, neurons: int) -> list[Array]:
        """Return the blocks of neurons whose centered weights may be scaled without changing z.

        One neuron each for a batch or weight scale, one group each where a layer statistic is
        involved, none without a scale or with frozen statistics. For ε > 0 this holds as far as
        ε ≪ σ².
        """
        if not SCALES[self.scale].divides or self.statistics == "frozen":
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
            C (…, N, H) and v, which broadcasts against it.

        """
        statistics = self._statistics(reference)
        return statistics.moments(*statistics.center.project(W, X, self.groups))

    def normalize(
        self, W: ArrayLike, X: ArrayLike, reference: tuple[Array, Array] | None = None
    ) -> Normalized:
        """Return A, μ, σ and z for weights W (H, D) and cases X (N, D) (Eq. 5).

        Raises:
            ValueError: bad shapes or numbers, or a σ that vanishes, with the place.

        """
        weights, inputs = weights_and_inputs(W, X)
        at = self._over(inputs, weights.shape, reference).linearize(weights)
        with np.errstate(over="ignore", invalid="ignore"):
            A = inputs @ weights.T
        if not np.isfinite(A).all():
            raise overflow(weights, inputs)
        return Normalized(A, A - at.z * at.sigma, at.sigma, at.z)

    def linearize(
        self, W: ArrayLike, X: ArrayLike, reference: tuple[Array, Array] | None = None
    ) -> Linearization:
        """Return the derivative of z at W (H, D) and X (N, D); raises as `normalize` does."""
        weights, inputs = weights_and_inputs(W, X)
        return self._over(inputs, weights.shape, reference).linearize(weights)

    def over(
        self, X: ArrayLike, neurons: int, reference: tuple[Array, Array] | None = None
    ) -> FixedCases:
        """Return this normalizer of H neurons over fixed cases X (N, D), for many weights.

        Raises:
            ValueError: bad inputs, or sizes for which z is undefined.

        """
        inputs = real_array("X", X, 2)
        return self._over(inputs, (neurons, inputs.shape[1]), reference)

    def _over(
        self, X: Array, shape: tuple[int, ...], reference: tuple[Array, Array] | None
    ) -> FixedCases:
        """Return this normalizer of weights of a shape (H, D) over checked cases."""
        if reference is not None and self.statistics == "frozen":
            reference = _checked_reference(reference, shape)
        with np.errstate(over="ignore", invalid="ignore"):
            return FixedCases.of(self._statistics(reference), shape[0], X)

    def _statistics(self, reference: tuple[Array, Array] | None) -> Statistics:
        """Return the two words as objects, frozen to the reference where asked for."""
        center, scale = CENTERS[self.center], SCALES[self.scale]
        if self.statistics == "frozen":
            if reference is None:
                raise ValueError(
                    "Frozen batch statistics come from a reference batch; got none. "
                    "Give reference=(W, X)."
                )
            W0, X0 = reference
            W_centered, X_centered = center.project(W0, X0, self.groups)
            v0 = scale.variance(X_centered @ W_centered.mT, W_centered, self.groups)
            scale = scale.freeze(v0, scale.uncentered(X0 @ W0.mT, W0, self.groups))
            center = center.freeze(W0, X0)
        return Statistics(center, scale, self.groups, self.eps)


def _checked_reference(
    reference: tuple[Array, Array], shape: tuple[int, ...]
) -> tuple[Array, Array]:
    W0, X0 = (real_array(f"reference[{i}]", reference[i], 2) for i in (0, 1))
    if W0.shape != shape or X0.shape[1] != shape[1]:
        raise ValueError(
            f"`reference` must be a batch (W, X) of the same layer, W of shape {shape} and X "
            f"with {shape[1]} features; got shapes {W0.shape} and {X0.shape}."
        )
    return W0, X0


def _named(name: str, center: str, scale: str, groups: int = 1) -> Normalizer:
    return Normalizer(center, scale, groups=groups, name=name)


NORMALIZERS: dict[str, Normalizer] = {
    "standard": _named("standard", "none", "none"),
    "batch": _named("batch norm", "batch", "batch"),
    "weight": _named("weight norm", "none", "weight"),
    "layer": _named("layer norm", "layer", "layer"),
    "rms": _named("RMS norm", "none", "layer"),
    "group": _named("group norm", "layer", "layer", groups=2),
    "mean_only_batch_weight": _named("mean-only batch + weight norm", "batch", "weight"),
    "centered_weight": _named("centered weight norm", "weight", "weight"),
}

_NAMES = {(n.words, n.groups): n.name for n in NORMALIZERS.values()}

GRID: dict[tuple[str, str], Normalizer] = {
    (center, scale): _named(_NAMES.get(((center, scale), 1), ""), center, scale)
    for center in CENTERS
    for scale in SCALES
}
