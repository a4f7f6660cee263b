"""The center of a normalizer: what is averaged over to form the mean μ of Eq. 5.

A center is a linear projection before the product of inputs and weights,

    C = A − μ = X̃ W̃ᵀ,

so it is its own derivative. Arrays may carry leading axes (stacks of W or X) and any element
type with + − × and division by an integer: floats of every width, `Fraction`, degrees.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.normalizers.statistic import Statistic, group_size


def without_mean(M: Array, axis: int) -> Array:
    """M minus its mean along an axis."""
    centered: Array = M - M.mean(axis=axis, keepdims=True)
    return centered


def without_group_mean(W: Array, groups: int) -> Array:
    """W (…, H, D) minus the mean row of each of G equal groups of rows."""
    if groups == 1:
        return without_mean(W, axis=-2)
    *stack, H, D = W.shape
    K = group_size(H, groups)
    return without_mean(W.reshape(*stack, groups, K, D), axis=-2).reshape(W.shape)


class Center(Statistic):
    """The projections X → X̃ and W → W̃ with A − μ = X̃ W̃ᵀ.

    A class states those that are not the identity: along the neurons, along the features, or over
    the cases, where it says what is taken off every case (`mean_case`).

    Attributes:
        subtracts: whether there is a mean at all.
        neuron_dimensions_lost: how many of the K dimensions of a group of neurons
            `project_neurons` takes away. feature_dimensions_lost: the same of D features.

    """

    subtracts: bool = True
    neuron_dimensions_lost: int = 0
    feature_dimensions_lost: int = 0

    @property
    def quantity(self) -> str:
        """What is taken."""
        return text("mean")

    def project_neurons(self, W: Array, groups: int = 1) -> Array:
        """W (…, H, any) projected along the neurons; linear and self-adjoint."""
        return W

    def project_features(self, W: Array) -> Array:
        """W (…, any, D) projected along the features; linear and self-adjoint."""
        return W

    def mean_case(self, X: Array) -> Array | None:
        """What is taken off every case of X (…, N, D), (…, 1, D); None for nothing."""
        return None

    @property
    def projects_weights(self) -> bool:
        """Whether W̃ is not W itself."""
        return self.neuron_dimensions_lost + self.feature_dimensions_lost > 0

    def project_weights(self, W: Array, groups: int = 1) -> Array:
        """W̃ (…, H, D)."""
        return self.project_features(self.project_neurons(W, groups))

    def project_inputs(self, X: Array) -> Array:
        """X̃ (…, N, D)."""
        mean = self.mean_case(X)
        return X if mean is None else X - mean

    def mean_over_cases(self, W: Array, X: Array, groups: int = 1) -> Array | None:
        """The part of μ that is averaged over the cases, (…, 1, H); None where there is none."""
        mean = self.mean_case(X)
        return None if mean is None else mean @ self.project_weights(W, groups).mT

    def freeze(self, mean: Array | None) -> Center:
        """The center of test time: a constant (1, H) in place of the mean over the cases."""
        if mean is None:
            return self
        return FrozenCenter(
            self,
            mean,
            self.shared_by_neurons,
            self.neuron_dimensions_lost,
            self.feature_dimensions_lost,
        )

    def subtract_frozen(self, C: Array) -> Array:
        """C minus the mean that does not depend on W and X; only a frozen center has one."""
        return C

    def own_neuron(self) -> Center:
        """The center that keeps each neuron's effect on itself only (Eq. 14)."""
        return OwnNeuronCenter(self) if self.neuron_dimensions_lost else self


@final
class NoCenter(Center):
    """μ = 0."""

    key, title, over, dual = "none", text("nothing"), text("nothing"), "none"
    subtracts = False


@final
class BatchCenter(Center):
    """μ_h = mean of a_nh over the cases n: X̃ is X minus its mean row."""

    key, title, over, dual = "batch", text("cases (batch)"), text("the cases"), "layer"
    shared_by_cases = True

    def mean_case(self, X: Array) -> Array | None:
        mean: Array = X.mean(axis=-2, keepdims=True)
        return mean


@final
class LayerCenter(Center):
    """μ_n = mean of a_nh over the neurons h of a group: W̃ is W minus its mean row."""

    key, title, over, dual = "layer", text("neurons (layer)"), text("the neurons"), "batch"
    shared_by_neurons = True
    neuron_dimensions_lost = 1

    def project_neurons(self, W: Array, groups: int = 1) -> Array:
        return without_group_mean(W, groups)


@final
class WeightCenter(Center):
    """μ_nh = mean_d(w_hd)·Σ_d x_nd: each row of W̃ is a row of W minus its own mean.

    It is its own dual: the projection acts between W and X, and X̃ could carry it as well.
    """

    key, title, over, dual = "weight", text("features (weight)"), text("the features"), "weight"
    feature_dimensions_lost = 1

    def project_features(self, W: Array) -> Array:
        return without_mean(W, axis=-1)

    def undefined(self, cases: int, neurons: int, features: int) -> str:
        if features > 1:
            return ""
        return text(
            "A weight center subtracts from each weight vector its own mean, so it needs at least "
            "2 features; got 1 feature, which leaves nothing. Use more features or another center."
        )


@final
@dataclass(frozen=True, eq=False)
class FrozenCenter(Center):
    """A center whose mean over the cases is a constant (1, H): C = X W̃ᵀ − m (test time)."""

    of: Center
    mean: Array
    shared_by_neurons: bool
    neuron_dimensions_lost: int
    feature_dimensions_lost: int

    def project_neurons(self, W: Array, groups: int = 1) -> Array:
        return self.of.project_neurons(W, groups)

    def project_features(self, W: Array) -> Array:
        return self.of.project_features(W)

    def subtract_frozen(self, C: Array) -> Array:
        centered: Array = C - self.mean
        return centered

    def undefined(self, cases: int, neurons: int, features: int) -> str:
        # The cases are those of the reference, which a σ of theirs answers for.
        return self.of.undefined(max(cases, 2), neurons, features)


@final
@dataclass(frozen=True, eq=False)
class OwnNeuronCenter(Center):
    """The diagonal of a center along the neurons: ∂c_h/∂w_h = (1 − 1/K) x, the rest dropped.

    (1 − r/K) where the center takes away r dimensions of K. Source: Eq. 14.
    """

    of: Center
    shared_by_neurons = True

    def project_neurons(self, W: Array, groups: int = 1) -> Array:
        own: Array = W * (1 - self.of.neuron_dimensions_lost / group_size(W.shape[-2], groups))
        return own

    def project_features(self, W: Array) -> Array:
        return self.of.project_features(W)

    def mean_case(self, X: Array) -> Array | None:
        return self.of.mean_case(X)

    def subtract_frozen(self, C: Array) -> Array:
        return self.of.subtract_frozen(C)


CENTERS: dict[str, Center] = {
    center.key: center
    for center in (
        NoCenter(),
        BatchCenter(),
        LayerCenter(),
        WeightCenter(),
    )
}
