"""The center of a normalizer: what is averaged over to form the mean μ of Eq. 5.

A center is a linear projection before the product of inputs and weights,

    C = A − μ = X̃ W̃ᵀ,

so it is its own derivative. Arrays may carry leading axes (stacks of W or X) and any element
type with + − × and division by an integer: floats of every width, `Fraction`, degrees.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, final

from normgeo.base.arrays import Array
from normgeo.base.text import text


def without_mean(M: Array, axis: int) -> Array:
    """Return M minus its mean along `axis`."""
    centered: Array = M - M.mean(axis=axis, keepdims=True)
    return centered


def group_size(neurons: int, groups: int) -> int:
    """Return K = H/G, the number of neurons that share a layer statistic."""
    if neurons % groups:
        raise ValueError(
            "`groups` must divide the number of neurons; "
            f"got groups={groups} for {neurons} neurons."
        )
    return neurons // groups


class Center(ABC):
    """One word of a normalizer: the projections X → X̃ and W → W̃ with A − μ = X̃ W̃ᵀ."""

    key: ClassVar[str]
    title: ClassVar[str]
    over: ClassVar[str]
    """What is averaged over, within a sentence; the title says it in a menu."""
    shared_by_cases: ClassVar[bool] = False
    shared_by_neurons: ClassVar[bool] = False
    neuron_dimensions_lost: ClassVar[int] = 0
    """How many of the K dimensions of a group of neurons the projection takes away."""

    def project_weights(self, W: Array, groups: int = 1) -> Array:
        """Return W̃ (…, H, D); linear and self-adjoint, over neurons and over features apart."""
        return self.project_features(self.project_neurons(W, groups))

    def project_neurons(self, W: Array, groups: int = 1) -> Array:
        """Return the part of `project_weights` that acts along the neurons, (…, H, any)."""
        return W

    def project_features(self, W: Array) -> Array:
        """Return the part of `project_weights` that acts along the features, (…, any, D)."""
        return W

    @property
    def projects_weights(self) -> bool:
        """Whether W̃ is not W itself."""
        own = type(self)
        return (own.project_neurons, own.project_features) != (
            Center.project_neurons,
            Center.project_features,
        )

    def project_inputs(self, X: Array) -> Array:
        """Return X̃ (…, N, D); linear and self-adjoint."""
        return X

    def project(self, W: Array, X: Array, groups: int = 1) -> tuple[Array, Array]:
        """Return (W̃, X̃), so that X̃ W̃ᵀ = A − μ up to a frozen mean (`subtract_frozen`)."""
        return self.project_weights(W, groups), self.project_inputs(X)

    def subtract_frozen(self, C: Array) -> Array:
        """Return C minus the mean that does not depend on W and X; only a frozen center has one."""
        return C

    def freeze(self, W: Array, X: Array) -> Center:
        """Return this center as at test time, its batch mean taken from the reference (W, X)."""
        return self

    def own_neuron(self) -> Center:
        """Return the center that keeps each neuron's effect on itself only (Eq. 14)."""
        return self

    @abstractmethod
    def undefined(self, cases: int, features: int, neurons: int) -> str:
        """Return why A − μ vanishes for every W and X of this size, or ''.

        `neurons` counts those that share a layer statistic.
        """


@final
class NoCenter(Center):
    """μ = 0."""

    key, title, over = "none", text("nothing"), text("nothing")

    def undefined(self, cases: int, features: int, neurons: int) -> str:
        return ""


@final
class BatchCenter(Center):
    """μ_h = mean of a_nh over the cases n: X̃ is X minus its mean row."""

    key, title, over = "batch", text("cases (batch)"), text("the cases")
    shared_by_cases = True

    def project_inputs(self, X: Array) -> Array:
        return without_mean(X, axis=-2)

    def freeze(self, W: Array, X: Array) -> Center:
        return FrozenCenter(X.mean(axis=-2, keepdims=True) @ W.mT)

    def undefined(self, cases: int, features: int, neurons: int) -> str:
        return batch_of_one("mean", cases)


@final
class LayerCenter(Center):
    """μ_n = mean of a_nh over the neurons h of a group: W̃ is W minus its mean row."""

    key, title, over = "layer", text("neurons (layer)"), text("the neurons")
    shared_by_neurons = True
    neuron_dimensions_lost = 1

    def project_neurons(self, W: Array, groups: int = 1) -> Array:
        if groups == 1:
            return without_mean(W, axis=-2)
        *stack, H, D = W.shape
        K = group_size(H, groups)
        return without_mean(W.reshape(*stack, groups, K, D), axis=-2).reshape(W.shape)

    def own_neuron(self) -> Center:
        return OwnNeuronLayerCenter()

    def undefined(self, cases: int, features: int, neurons: int) -> str:
        return layer_of_one("mean", neurons)


@final
class WeightCenter(Center):
    """μ_nh = mean_d(w_hd)·Σ_d x_nd: each row of W̃ is a row of W minus its own mean."""

    key, title, over = "weight", text("features (weight)"), text("the features")

    def project_features(self, W: Array) -> Array:
        return without_mean(W, axis=-1)

    def undefined(self, cases: int, features: int, neurons: int) -> str:
        if features > 1:
            return ""
        return (
            "A weight center subtracts from each weight vector its own mean, so it needs at least "
            "2 features; got 1 feature, which leaves nothing. Use more features or another center."
        )


@final
@dataclass(frozen=True)
class FrozenCenter(Center):
    """μ_h is a constant from a reference batch: C = X Wᵀ − μ (test time)."""

    key, title, over = "batch", text("cases (batch)"), text("the cases")
    mean: Array

    def subtract_frozen(self, C: Array) -> Array:
        centered: Array = C - self.mean
        return centered

    def undefined(self, cases: int, features: int, neurons: int) -> str:
        return ""


@final
class OwnNeuronLayerCenter(Center):
    """The diagonal of the layer center: ∂c_h/∂w_h = (1 − 1/K) x, the rest dropped (Eq. 14)."""

    key, title, over = "layer", text("neurons (layer)"), text("the neurons")
    shared_by_neurons = True

    def project_neurons(self, W: Array, groups: int = 1) -> Array:
        own: Array = W * (1 - 1 / group_size(W.shape[-2], groups))
        return own

    def undefined(self, cases: int, features: int, neurons: int) -> str:
        return layer_of_one("mean", neurons)


def batch_of_one(statistic: str, cases: int) -> str:
    """Return why a batch statistic of a single case says nothing, or ''."""
    if cases > 1:
        return ""
    return (
        f"A batch {statistic} is taken over the cases, so it needs at least 2 of them; got 1 case, "
        "which it maps to nothing or to a sign. Use more cases, or frozen statistics."
    )


def layer_of_one(statistic: str, neurons: int) -> str:
    """Return why a layer statistic of a single neuron says nothing, or ''."""
    if neurons > 1:
        return ""
    return (
        f"A layer {statistic} is taken over the neurons of a group, so it needs at least 2 of them "
        "per group; got 1 neuron, which it maps to nothing or to a sign. "
        "Use more neurons or fewer groups."
    )


CENTERS: dict[str, Center] = {
    center.key: center for center in (NoCenter(), BatchCenter(), LayerCenter(), WeightCenter())
}
