"""The scale of a normalizer: what is averaged over to form the variance v = σ² of Eq. 5.

The scale is the only non-linear step, z = C/σ. Arrays may carry leading axes, and `variance`
takes any element type with + − × and division by an integer (see `centers`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.normalizers.centers import batch_of_one, group_size, layer_of_one


class ScalePoint(NamedTuple):
    """Where a scale is differentiated: z (N, H), σ against (N, H), W̃ (H, D), G groups."""

    z: Array
    sigma: Array
    centered_weights: Array
    groups: int


class Scale(ABC):
    """One word of a normalizer: v = σ² of the centered summed inputs C, and its derivative."""

    key: ClassVar[str]
    title: ClassVar[str]
    over: ClassVar[str]
    """What is averaged over, within a sentence; the title says it in a menu."""
    divides: ClassVar[bool] = True
    takes_eps: ClassVar[bool] = False
    shared_by_cases: ClassVar[bool] = False
    shared_by_neurons: ClassVar[bool] = False

    @abstractmethod
    def variance(self, C: Array, W_centered: Array, groups: int = 1) -> Array:
        """Return v, which broadcasts against C (…, N, H)."""

    @abstractmethod
    def differential(self, dC: Array, dW_centered: Array | None, at: ScalePoint) -> Array:
        """Return dz (N, H) for changes dC (N, H) and dW̃ (H, D), None where W is fixed."""

    @abstractmethod
    def adjoint(self, U: Array, at: ScalePoint) -> tuple[Array, Array | None]:
        """Return the adjoint of `differential` at U (N, H): the parts for dC and for dW̃."""

    @abstractmethod
    def radial(self, X_centered: Array, at: ScalePoint) -> Array | None:
        """Return q (H, D) of Eq. 14, where ∂z_h/∂w̃_h = (x̃ − z_h q_h)/σ_h; None where q = 0.

        Meant for scales that are not `shared_by_neurons`: the others have no such row.
        """

    def uncentered(self, A: Array, W: Array, groups: int = 1) -> Array:
        """Return what `variance` would be without a center: a v far below it is rounding."""
        return self.variance(A, W, groups)

    def freeze(self, v: Array, uncentered: Array) -> Scale:
        """Return this scale as at test time, its batch variance the constant v."""
        return self

    def own_neuron(self, dimensions_lost: int) -> Scale:
        """Return the scale that keeps each neuron's effect on itself only (Eq. 14).

        `dimensions_lost` is the center's `neuron_dimensions_lost`.
        """
        return self

    def undefined(self, cases: int, neurons: int) -> str:
        """Return why z carries nothing for every W and X of this size, or ''."""
        return ""

    def zero_place(self, zero: Array) -> str:
        """Return in words where σ vanishes; `zero` is true there, with the shape of v."""
        raise TypeError(f"The scale '{self.key}' cannot vanish.")


@final
class NoScale(Scale):
    """v = 1."""

    key, title, over = "none", text("nothing"), text("nothing")
    divides = False

    def variance(self, C: Array, W_centered: Array, groups: int = 1) -> Array:
        # The element type of C: with any other, exact or narrow numbers would silently change.
        return np.ones((1, 1), dtype=C.dtype)

    def differential(self, dC: Array, dW_centered: Array | None, at: ScalePoint) -> Array:
        return dC

    def adjoint(self, U: Array, at: ScalePoint) -> tuple[Array, Array | None]:
        return U, None

    def radial(self, X_centered: Array, at: ScalePoint) -> Array | None:
        return None


class AveragingScale(Scale):
    """v = average of C² over one axis of (N, H), and its derivative

        dz = (dC − z · average(z · dC)) / σ,

    right for ε > 0 as well: with σ² = v + ε, dσ = average(C · dC)/σ.
    """

    takes_eps = True

    @abstractmethod
    def average(self, U: Array, groups: int = 1) -> Array:
        """Return the average of U (…, N, H), which broadcasts against it; self-adjoint."""

    def variance(self, C: Array, W_centered: Array, groups: int = 1) -> Array:
        return self.average(C * C, groups)

    def differential(self, dC: Array, dW_centered: Array | None, at: ScalePoint) -> Array:
        change: Array = (dC - at.z * self.average(at.z * dC, at.groups)) / at.sigma
        return change

    def adjoint(self, U: Array, at: ScalePoint) -> tuple[Array, Array | None]:
        V = U / at.sigma
        return V - at.z * self.average(at.z * V, at.groups), None


@final
class BatchScale(AveragingScale):
    """v_h = mean of c_nh² over the cases n."""

    key, title, over = "batch", text("cases (batch)"), text("the cases")
    shared_by_cases = True

    def average(self, U: Array, groups: int = 1) -> Array:
        mean: Array = U.mean(axis=-2, keepdims=True)
        return mean

    def radial(self, X_centered: Array, at: ScalePoint) -> Array | None:
        correlation: Array = at.z.T @ X_centered / len(at.z)
        return correlation

    def freeze(self, v: Array, uncentered: Array) -> Scale:
        return FrozenScale(v, uncentered)

    def undefined(self, cases: int, neurons: int) -> str:
        return batch_of_one("variance", cases)

    def zero_place(self, zero: Array) -> str:
        return f"neuron {np.flatnonzero(zero[0])[0]} has a = μ in every case"


@final
class LayerScale(AveragingScale):
    """v_n = mean of c_nh² over the neurons h of a group."""

    key, title, over = "layer", text("neurons (layer)"), text("the neurons")
    shared_by_neurons = True

    def average(self, U: Array, groups: int = 1) -> Array:
        if groups == 1:
            mean: Array = U.mean(axis=-1, keepdims=True)
            return mean
        K = group_size(U.shape[-1], groups)
        return np.repeat(U.reshape(*U.shape[:-1], groups, K).mean(axis=-1), K, axis=-1)

    def radial(self, X_centered: Array, at: ScalePoint) -> Array | None:
        return None

    def own_neuron(self, dimensions_lost: int) -> Scale:
        return OwnNeuronLayerScale(dimensions_lost)

    def undefined(self, cases: int, neurons: int) -> str:
        return layer_of_one("variance", neurons)

    def zero_place(self, zero: Array) -> str:
        return f"case {np.argwhere(zero)[0][0]} has a = μ at every neuron of a group"


@final
class WeightScale(Scale):
    """v_h = ‖w̃_h‖², of the centered rows."""

    key, title, over = "weight", text("features (weight)"), text("the features")

    def variance(self, C: Array, W_centered: Array, groups: int = 1) -> Array:
        squares: Array = (W_centered * W_centered).sum(axis=-1)[..., None, :]
        return squares

    def unit_rows(self, at: ScalePoint) -> Array:
        """Return ŵ_h = w̃_h/‖w̃_h‖ (H, D)."""
        rows: Array = at.centered_weights / at.sigma.T
        return rows

    def differential(self, dC: Array, dW_centered: Array | None, at: ScalePoint) -> Array:
        if dW_centered is not None:
            radial = np.einsum("hd,hd->h", self.unit_rows(at), dW_centered)
            dC = dC - at.z * radial
        change: Array = dC / at.sigma
        return change

    def adjoint(self, U: Array, at: ScalePoint) -> tuple[Array, Array | None]:
        V = U / at.sigma
        radial = np.einsum("nh,nh->h", V, at.z)
        return V, -radial[:, None] * self.unit_rows(at)

    def radial(self, X_centered: Array, at: ScalePoint) -> Array | None:
        return self.unit_rows(at)

    def zero_place(self, zero: Array) -> str:
        return f"the centered weight vector of neuron {np.flatnonzero(zero[0])[0]} is zero"


@final
@dataclass(frozen=True)
class FrozenScale(Scale):
    """v_h is a constant from a reference batch (test time)."""

    key, title, over = "batch", text("cases (batch)"), text("the cases")
    takes_eps = True
    constant: Array
    constant_uncentered: Array

    def variance(self, C: Array, W_centered: Array, groups: int = 1) -> Array:
        return self.constant

    def uncentered(self, A: Array, W: Array, groups: int = 1) -> Array:
        return self.constant_uncentered

    def differential(self, dC: Array, dW_centered: Array | None, at: ScalePoint) -> Array:
        change: Array = dC / at.sigma
        return change

    def adjoint(self, U: Array, at: ScalePoint) -> tuple[Array, Array | None]:
        return U / at.sigma, None

    def radial(self, X_centered: Array, at: ScalePoint) -> Array | None:
        return None

    def zero_place(self, zero: Array) -> str:
        neuron = np.flatnonzero(zero[0])[0]
        return f"neuron {neuron} has a = μ in every case of the reference batch"


@final
@dataclass(frozen=True)
class OwnNeuronLayerScale(AveragingScale):
    """The diagonal of the layer average: what Eq. 14 keeps of a shared statistic.

    After a layer center z has mean 0 in a group, so ∂σ/∂a_h = z_h/K with or without one; but of
    da_h the center's own part has left dc_h = (1 − 1/K) da_h, and z_h da_h/K = z_h dc_h/(K − 1).
    """

    key, title, over = "layer", text("neurons (layer)"), text("the neurons")
    shared_by_neurons = True
    dimensions_lost: int

    def variance(self, C: Array, W_centered: Array, groups: int = 1) -> Array:
        return LayerScale().variance(C, W_centered, groups)

    def average(self, U: Array, groups: int = 1) -> Array:
        own: Array = U / (group_size(U.shape[-1], groups) - self.dimensions_lost)
        return own

    def radial(self, X_centered: Array, at: ScalePoint) -> Array | None:
        return None


SCALES: dict[str, Scale] = {
    scale.key: scale for scale in (NoScale(), BatchScale(), LayerScale(), WeightScale())
}
