"""The scale of a normalizer: the variance v = σ² of Eq. 5, by the index it averages over.

The scale is the only non-linear step, z = C/σ. Arrays may carry leading axes, and `variance`, of
degree 2 in (C, W̃), takes any element type with + − × and division by an integer (see `centers`).
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.normalizers.statistic import Statistic, group_size


class ScalePoint(NamedTuple):
    """The point of differentiation: z (N, H), σ broadcast against (N, H), W̃ (H, D), G groups."""

    z: Array
    sigma: Array
    centered_weights: Array
    groups: int


class Scale(Statistic):
    """v = σ² of the centered summed inputs C, and its derivative.

    Attributes:
        divides: whether σ may differ from 1. takes_eps: whether ε is added to v.
        frozen: whether σ is a constant. known: whether it does not depend on these cases.
        sigma_of_sizes: the size of a known σ without cancellation, None if unknown.

    """

    divides: bool = True
    takes_eps: bool = False
    frozen: bool = False
    known: bool = False
    sigma_of_sizes: Array | None = None

    @property
    def quantity(self) -> str:
        """The statistic, in a word."""
        return text("variance")

    @abstractmethod
    def variance(self, C: Array, W_centered: Array, groups: int = 1) -> Array:
        """Return v, which broadcasts against C (…, N, H)."""

    @abstractmethod
    def differential(self, dC: Array, dW_centered: Array | None, at: ScalePoint) -> Array:
        """Return dz (…, N, H) for changes dC (…, N, H) and dW̃ (…, H, D), None for a fixed W."""

    @abstractmethod
    def adjoint(self, U: Array, at: ScalePoint) -> tuple[Array, Array | None]:
        """Return the adjoint of `differential` at U (…, N, H): the parts for dC and for dW̃."""

    @abstractmethod
    def radial(self, X_centered: Array, at: ScalePoint) -> Array | None:
        """Return q (H, D) of Eq. 14, where ∂z_h/∂w̃_h = (x̃ − z_h q_h)/σ_h; None where q = 0.

        Only for scales that are not `shared_by_neurons`: the others have no such row.
        """

    def unit_rows(self, at: ScalePoint) -> Array | None:
        """Return r (H, D) if σ depends on W̃ itself, dσ_h = r_h · dw̃_h; None if only on C."""
        return None

    def of_first(self, features: int) -> Scale:
        """Return the scale for the weights of only the first features."""
        return self

    def of_equal_sizes(self, sigma: Array, sizes: Array) -> Scale:
        """Return the scale after σ (1, H) is scaled to 1, and features by their sizes (D,)."""
        return self

    def deviation(self, C: Array, W_centered: Array, groups: int = 1, added: float = 0.0) -> Array:
        """σ = √(v + ε) of floats, which broadcasts against C, without an overflow of v.

        v is of degree 2 in (C, W̃). If it overflows or underflows, C and W̃ are first scaled by a
        power of two, which is exact, as in LAPACK's norms.
        """
        v = self.variance(C, W_centered, groups) + added
        low, high, power = _squares_between(v.dtype)
        sigma = np.sqrt(v)
        if low < v.min() and v.max() < high:
            return sigma
        for factor, there in ((power, v <= low), (1 / power, ~(v < high))):
            scaled = self.variance(C * factor, W_centered * factor, groups)
            sigma = np.where(there, np.sqrt(scaled + added * factor * factor) / factor, sigma)
        return sigma

    def freeze(
        self, v: Array, sigma: Array | None = None, sigma_of_sizes: Array | None = None
    ) -> Scale:
        """Return the scale at test time: constants for v and σ if it averages over the cases."""
        if not self.shared_by_cases:
            return self
        return FrozenScale(v, sigma, sigma_of_sizes, self.takes_eps)

    def own_neuron(self, dimensions_lost: int) -> Scale:
        """Return the scale with only each neuron's effect on itself (Eq. 14).

        Args:
            dimensions_lost: the center's `neuron_dimensions_lost`.

        Raises:
            Refusal: neurons share σ, and the class does not define a neuron's own part.

        """
        if self.shared_by_neurons:
            raise Refusal(
                "Eq. 13 and 14 keep what is a neuron's own, which of a σ that neurons share "
                "its scale must say; {word!r} does not. Use the exact Fisher information, or "
                "write `own_neuron` of that scale.",
                word=self.key,
            )
        return self

    def in_numpy(self, centered: str, weights: str, added: str, groups: int = 1) -> str:
        """Return σ as an expression of NumPy that broadcasts against (N, H); "" for none.

        Args:
            centered, weights: C and W̃ as expressions. added: " + ε", or nothing at ε = 0.
            groups: G; if it is not 1, `P` averages over groups, (H, H).
        """
        return ""

    def adjoint_in_numpy(self, groups: int = 1) -> tuple[str, str]:
        """Return the parts of `adjoint` at U as expressions of NumPy in V = U/σ and z.

        The first is that for C, "" if the class defines none. The second is the r (H,) of a part
        −r_h w̃_h for W̃, "" if there is none.
        """
        return "", ""

    def zero_place(self, zero: Array) -> str:
        """Return where σ vanishes, for a sentence; `zero` is true there, with the shape of v."""
        if self.shared_by_cases:
            return text("neuron {h} has a = μ in every case", h=np.argwhere(zero)[0][-1])
        return text("case {n} has a = μ at every neuron of a group", n=np.argwhere(zero)[0][0])


@final
class NoScale(Scale):
    """v = 1."""

    key, title, over = "none", text("nothing"), text("nothing")
    dual = "none"
    divides = False

    def variance(self, C: Array, W_centered: Array, groups: int = 1) -> Array:
        # Keep the element type of C: any other would silently convert exact or narrow numbers.
        return np.ones((1, 1), dtype=C.dtype)

    def differential(self, dC: Array, dW_centered: Array | None, at: ScalePoint) -> Array:
        return dC

    def adjoint(self, U: Array, at: ScalePoint) -> tuple[Array, Array | None]:
        return U, None

    def radial(self, X_centered: Array, at: ScalePoint) -> Array | None:
        return None

    def in_numpy(self, centered: str, weights: str, added: str, groups: int = 1) -> str:
        return "1.0"

    def adjoint_in_numpy(self, groups: int = 1) -> tuple[str, str]:
        return "V", ""


class AveragingScale(Scale):
    """v = average of C² over one axis of (N, H), and its derivative

        dz = (dC − z · average(z · dC)) / σ,

    which also holds for ε > 0: with σ² = v + ε, dσ = average(C · dC)/σ.
    """

    takes_eps = True

    @abstractmethod
    def average(self, U: Array, groups: int = 1) -> Array:
        """Return the average of U (…, N, H), which broadcasts against it; self-adjoint."""

    def average_product(self, U: Array, V: Array, groups: int = 1) -> Array:
        """Return the average of U V (…, N, H)."""
        return self.average(U * V, groups)

    def variance(self, C: Array, W_centered: Array, groups: int = 1) -> Array:
        return self.average_product(C, C, groups)

    def differential(self, dC: Array, dW_centered: Array | None, at: ScalePoint) -> Array:
        change: Array = (dC - at.z * self.average_product(at.z, dC, at.groups)) / at.sigma
        return change

    def adjoint(self, U: Array, at: ScalePoint) -> tuple[Array, Array | None]:
        V = U / at.sigma
        V -= at.z * self.average_product(at.z, V, at.groups)
        return V, None

    def radial(self, X_centered: Array, at: ScalePoint) -> Array | None:
        if self.shared_by_neurons:
            return None
        correlations = self.average(at.z * X_centered.T[:, :, None], at.groups)
        return correlations[:, 0, :].T


@final
class BatchScale(AveragingScale):
    """v_h = mean of c_nh² over the cases n."""

    key, title, over, dual = "batch", text("cases (batch)"), text("the cases"), "layer"
    shared_by_cases = True
    merges = True

    def average(self, U: Array, groups: int = 1) -> Array:
        mean: Array = U.mean(axis=-2, keepdims=True)
        return mean

    def radial(self, X_centered: Array, at: ScalePoint) -> Array | None:
        # Computed as a product of matrices, which is faster.
        correlation: Array = at.z.T @ X_centered / len(at.z)
        return correlation

    def in_numpy(self, centered: str, weights: str, added: str, groups: int = 1) -> str:
        return f"np.sqrt((({centered}) ** 2).mean(axis=0){added})"

    def adjoint_in_numpy(self, groups: int = 1) -> tuple[str, str]:
        return "V - z * (z * V).mean(axis=0)", ""


@final
class LayerScale(AveragingScale):
    """v_n = mean of c_nh² over the neurons h of a group."""

    key, title, over, dual = "layer", text("neurons (layer)"), text("the neurons"), "batch"
    shared_by_neurons = True

    def average(self, U: Array, groups: int = 1) -> Array:
        if groups == 1:
            mean: Array = U.mean(axis=-1, keepdims=True)
            return mean
        K = group_size(U.shape[-1], groups)
        return np.repeat(U.reshape(*U.shape[:-1], groups, K).mean(axis=-1), K, axis=-1)

    def average_product(self, U: Array, V: Array, groups: int = 1) -> Array:
        if groups == 1 and U.dtype == V.dtype and U.dtype.kind == "f":
            mean: Array = np.einsum("...h,...h->...", U, V)[..., None] / U.shape[-1]  # in one pass
            return mean
        return self.average(U * V, groups)

    def own_neuron(self, dimensions_lost: int) -> Scale:
        return OwnNeuronLayerScale(dimensions_lost)

    def in_numpy(self, centered: str, weights: str, added: str, groups: int = 1) -> str:
        mean = ".mean(axis=1, keepdims=True)" if groups == 1 else " @ P"
        return f"np.sqrt((({centered}) ** 2){mean}{added})"

    def adjoint_in_numpy(self, groups: int = 1) -> tuple[str, str]:
        mean = ".mean(axis=1, keepdims=True)" if groups == 1 else " @ P"
        return f"V - z * ((z * V){mean})", ""


@final
class WeightScale(Scale):
    """v_h = ‖w̃_h‖², of the centered rows."""

    key, title, over = "weight", text("features (weight)"), text("the features")

    def variance(self, C: Array, W_centered: Array, groups: int = 1) -> Array:
        squares: Array = (W_centered * W_centered).sum(axis=-1)[..., None, :]
        return squares

    def unit_rows(self, at: ScalePoint) -> Array:
        """Return ŵ_h = w̃_h/‖w̃_h‖ (H, D)."""
        rows: Array = at.centered_weights / at.sigma.mT
        return rows

    def differential(self, dC: Array, dW_centered: Array | None, at: ScalePoint) -> Array:
        if dW_centered is not None:
            radial = np.einsum("...hd,...hd->...h", self.unit_rows(at), dW_centered)
            dC = dC - at.z * radial[..., None, :]
        change: Array = dC / at.sigma
        return change

    def adjoint(self, U: Array, at: ScalePoint) -> tuple[Array, Array | None]:
        V = U / at.sigma
        radial = np.einsum("...nh,...nh->...h", V, at.z)
        return V, -radial[..., None] * self.unit_rows(at)

    def radial(self, X_centered: Array, at: ScalePoint) -> Array | None:
        return self.unit_rows(at)

    def in_numpy(self, centered: str, weights: str, added: str, groups: int = 1) -> str:
        return f"np.linalg.norm({weights}, axis=1)"

    def adjoint_in_numpy(self, groups: int = 1) -> tuple[str, str]:
        return "V", "(z * V).sum(axis=0) / sigma"

    def zero_place(self, zero: Array) -> str:
        neuron = np.argwhere(zero)[0][-1]
        return text("the centered weight vector of neuron {h} is zero", h=neuron)


@final
@dataclass(frozen=True, eq=False)
class FrozenScale(Scale):
    """v is a constant from a reference batch (test time)."""

    constant: Array
    sigma: Array | None
    sigma_of_sizes: Array | None
    takes_eps: bool = True
    frozen = True
    known = True

    def variance(self, C: Array, W_centered: Array, groups: int = 1) -> Array:
        return self.constant

    def deviation(self, C: Array, W_centered: Array, groups: int = 1, added: float = 0.0) -> Array:
        sigma: Array = np.sqrt(self.constant) if self.sigma is None else self.sigma
        return np.hypot(sigma, sigma.dtype.type(added**0.5)) if added else sigma

    def differential(self, dC: Array, dW_centered: Array | None, at: ScalePoint) -> Array:
        change: Array = dC / at.sigma
        return change

    def adjoint(self, U: Array, at: ScalePoint) -> tuple[Array, Array | None]:
        return U / at.sigma, None

    def radial(self, X_centered: Array, at: ScalePoint) -> Array | None:
        return None

    def zero_place(self, zero: Array) -> str:
        neuron = np.argwhere(zero)[0][-1]
        return text("neuron {h} has a = μ in every case of the reference batch", h=neuron)


@final
@dataclass(frozen=True, eq=False)
class OwnNeuronLayerScale(AveragingScale):
    """The diagonal of the layer average: the part of a shared statistic in Eq. 14.

    After a layer center z has mean 0 in a group, so ∂σ/∂a_h = z_h/K with or without a center. But
    the center's own part turns da_h into dc_h = (1 − 1/K) da_h, so z_h da_h/K = z_h dc_h/(K − 1).
    """

    dimensions_lost: int
    shared_by_neurons = True

    def variance(self, C: Array, W_centered: Array, groups: int = 1) -> Array:
        return LayerScale().variance(C, W_centered, groups)

    def average(self, U: Array, groups: int = 1) -> Array:
        own: Array = U / (group_size(U.shape[-1], groups) - self.dimensions_lost)
        return own


@cache
def _squares_between(kind: np.dtype[Any]) -> tuple[float, float, float]:
    """The range of squares that keep their digits, and a power of two that scales others into it.

    Below the range, significant parts of a sum lose digits.
    """
    limits = np.finfo(kind)
    lowest = int(limits.minexp) + 2 * int(limits.nmant)
    power: int = 2 * int(limits.maxexp) // 3
    return 2.0**lowest, float(limits.max) / 2**10, 2.0**power


SCALES: dict[str, Scale] = {
    scale.key: scale
    for scale in (
        NoScale(),
        BatchScale(),
        LayerScale(),
        WeightScale(),
    )
}
