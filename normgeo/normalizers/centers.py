"""The center of a normalizer: the mean μ of Eq. 5, by the index it averages over.

A center is a linear projection before the product of inputs and weights,

    C = A − μ = X̃ W̃ᵀ,

so it is its own derivative. Arrays may carry leading axes (stacks of W or X) and any element
type with + − × and division by an integer: floats of every width, `Fraction`, degrees. Every mean
is subtracted twice: the second pass removes the rounding errors of the first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.normalizers.means import added_to, group_means, mean_along, to_neurons, without
from normgeo.normalizers.statistic import Statistic, group_size


class Center(Statistic):
    """The projections X → X̃ and W → W̃ with A − μ = X̃ W̃ᵀ.

    A class defines what to subtract: the mean case from every case, the mean row from every row of
    weights, or from every row of weights its own mean. By default nothing is subtracted.

    Attributes:
        subtracts: whether there is a mean at all.
        neuron_dimensions_lost: how many of the K dimensions of a group of neurons
            `project_neurons` removes. feature_dimensions_lost: the same for D features.
        offset: the mean of a frozen center, (1, H), which does not depend on W and X.

    """

    subtracts: bool = True
    neuron_dimensions_lost: int = 0
    feature_dimensions_lost: int = 0
    offset: Array | None = None

    @property
    def quantity(self) -> str:
        """The statistic, in a word."""
        return text("mean")

    def mean_case(self, X: Array) -> Array | None:
        """The row to subtract from every case of X (…, N, D), (…, 1, D)."""
        return None

    def mean_neuron(self, W: Array, groups: int = 1) -> Array | None:
        """The row to subtract from every row of a group of W (…, H, any), (…, G, any)."""
        return None

    def mean_feature(self, W: Array) -> Array | None:
        """The number to subtract from all entries of each row of W (…, any, D), (…, any, 1)."""
        return None

    @property
    def projects_weights(self) -> bool:
        """Whether W̃ differs from W."""
        return self.neuron_dimensions_lost + self.feature_dimensions_lost > 0

    def project_neurons(self, W: Array, groups: int = 1) -> Array:
        """W (…, H, any) projected along the neurons; linear and self-adjoint."""
        return without(W, lambda M: self._mean_row(M, groups))

    def project_features(self, W: Array) -> Array:
        """W (…, any, D) projected along the features; linear and self-adjoint."""
        return without(W, self.mean_feature)

    def project_weights(self, W: Array, groups: int = 1) -> Array:
        """W̃ (…, H, D)."""
        return self.project_features(self.project_neurons(W, groups))

    def project_inputs(self, X: Array) -> Array:
        """X̃ (…, N, D)."""
        return without(X, self.mean_case)

    def weight_sizes(self, W: Array, groups: int = 1) -> Array:
        """|W| (…, H, D), plus the mean of |W| if W is centered: the scale of its rounding."""
        rows = added_to(np.abs(W), lambda M: self._mean_row(M, groups))
        return added_to(rows, self.mean_feature)

    def input_sizes(self, X: Array) -> Array:
        """|X| (…, N, D), plus the mean of |X| if X is centered: the scale of its rounding."""
        return added_to(np.abs(X), self.mean_case)

    def mean(self, W: Array, X: Array, groups: int = 1) -> Array:
        """μ, which broadcasts against A (…, N, H), from the subtracted means."""
        H = W.shape[-2]
        mu = np.zeros((1, 1), dtype=W.dtype)
        rows = self.mean_neuron(W, groups)
        if rows is not None:
            # One product per group, so that its neurons share one mean to the last bit.
            mu = mu + to_neurons((X @ rows.mT).mT, H).mT
        own = self.mean_feature(self.project_neurons(W, groups))
        if own is not None:
            mu = mu + X.sum(axis=-1, keepdims=True) * own.mT
        shared = self.mean_over_cases(W, X, groups)
        return mu if shared is None else mu + shared

    def mean_over_cases(self, W: Array, X: Array, groups: int = 1) -> Array | None:
        """The part of μ that is averaged over the cases, (…, 1, H); None if there is none."""
        mean = self.mean_case(X)
        return None if mean is None else mean @ self.project_weights(W, groups).mT

    def in_numpy(self, summed: str, batch: str, groups: int = 1) -> str:
        """Return μ as an expression of NumPy that broadcasts against (N, H); "" for none.

        Args:
            summed: the name of A. batch: the name of the matrix averaged over the cases, another A
                if frozen. groups: G; if it is not 1, `P` averages over groups, (H, H).
        """
        return ""

    def weights_in_numpy(self, weights: str, groups: int = 1) -> str:
        """Return the projection of weights, W or G by name, as an expression; "" for none."""
        return "" if self.projects_weights else weights

    def inputs_in_numpy(self) -> str:
        """Return X̃ (N, D) as an expression of NumPy; "" for none."""
        return "" if self.shared_by_cases else "X"

    def _mean_row(self, W: Array, groups: int) -> Array | None:
        rows = self.mean_neuron(W, groups)
        return None if rows is None else to_neurons(rows, W.shape[-2])

    def freeze(self, mean: Array | None) -> Center:
        """Return the center of test time: a constant (1, H) instead of the mean over the cases."""
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
        return C if self.offset is None else C - self.offset

    def own_neuron(self) -> Center:
        """The center with only each neuron's effect on itself (Eq. 14)."""
        return OwnNeuronCenter(self) if self.neuron_dimensions_lost else self


@final
class NoCenter(Center):
    """μ = 0."""

    key, title, over, dual = "none", text("nothing"), text("nothing"), "none"
    subtracts = False

    def in_numpy(self, summed: str, batch: str, groups: int = 1) -> str:
        return "0.0"


@final
class BatchCenter(Center):
    """μ_h = mean of a_nh over the cases n: X̃ is X minus its mean row."""

    key, title, over, dual = "batch", text("cases (batch)"), text("the cases"), "layer"
    shared_by_cases = True
    merges = True

    def mean_case(self, X: Array) -> Array | None:
        return mean_along(X, -2)

    def in_numpy(self, summed: str, batch: str, groups: int = 1) -> str:
        return f"{batch}.mean(axis=0)"

    def inputs_in_numpy(self) -> str:
        return "X - X.mean(axis=0)"


@final
class LayerCenter(Center):
    """μ_n = mean of a_nh over the neurons h of a group: W̃ is W minus its mean row."""

    key, title, over, dual = "layer", text("neurons (layer)"), text("the neurons"), "batch"
    shared_by_neurons = True
    neuron_dimensions_lost = 1

    def mean_neuron(self, W: Array, groups: int = 1) -> Array | None:
        return group_means(W, groups)

    def in_numpy(self, summed: str, batch: str, groups: int = 1) -> str:
        return f"{summed}.mean(axis=1, keepdims=True)" if groups == 1 else f"{summed} @ P"

    def weights_in_numpy(self, weights: str, groups: int = 1) -> str:
        mean = f"{weights}.mean(axis=0)" if groups == 1 else f"P @ {weights}"
        return f"{weights} - {mean}"


@final
class WeightCenter(Center):
    """μ_nh = mean_d(w_hd)·Σ_d x_nd: each row of W̃ is a row of W minus its own mean.

    It is its own dual: the projection acts between W and X, and could be applied to X instead.
    """

    key, title, over, dual = "weight", text("features (weight)"), text("the features"), "weight"
    feature_dimensions_lost = 1

    def mean_feature(self, W: Array) -> Array | None:
        return mean_along(W, -1)

    def in_numpy(self, summed: str, batch: str, groups: int = 1) -> str:
        return "X.sum(axis=1, keepdims=True) * W.mean(axis=1)"

    def weights_in_numpy(self, weights: str, groups: int = 1) -> str:
        return f"{weights} - {weights}.mean(axis=1, keepdims=True)"

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
    offset: Array
    shared_by_neurons: bool
    neuron_dimensions_lost: int
    feature_dimensions_lost: int

    def mean_neuron(self, W: Array, groups: int = 1) -> Array | None:
        return self.of.mean_neuron(W, groups)

    def mean_feature(self, W: Array) -> Array | None:
        return self.of.mean_feature(W)

    def mean_over_cases(self, W: Array, X: Array, groups: int = 1) -> Array | None:
        return self.offset

    def project_neurons(self, W: Array, groups: int = 1) -> Array:
        return self.of.project_neurons(W, groups)

    def project_features(self, W: Array) -> Array:
        return self.of.project_features(W)

    def undefined(self, cases: int, neurons: int, features: int) -> str:
        # The cases are those of the reference; its σ covers their rounding errors.
        return self.of.undefined(max(cases, 2), neurons, features)


@final
@dataclass(frozen=True, eq=False)
class OwnNeuronCenter(Center):
    """The diagonal of a center along the neurons: ∂c_h/∂w_h = (1 − 1/K) x, without the rest.

    The factor is 1 − r/K if the center removes r of K dimensions. Source: Eq. 14.
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
