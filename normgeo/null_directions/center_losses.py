"""The part of the weights that a center removes, as coordinates: changes of it have no effect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.linalg import qr

from normgeo.base.arrays import Array
from normgeo.normalizers.centers import Center


@final
@dataclass(frozen=True, eq=False)
class CenterLosses:
    """The part of W (H, D) beside W̃: W = W̃ + A S + B T Cᵀ, coordinates S (a, D) and T (H − a, c).

    Attributes:
        rows: A (H, a), an orthonormal basis of the part that the center removes along the neurons.
        others: B (H, H − a), a basis of the rest. features: C (D, c), the removed part along the
            features.

    """

    rows: Array
    others: Array
    features: Array

    @classmethod
    def of(cls, center: Center, neurons: int, features: int, groups: int) -> CenterLosses:
        """Return the losses of a center in layers of this size, with G groups."""
        count = groups * center.neuron_dimensions_lost
        every: Array = np.eye(neurons)
        basis = every
        if count:
            basis, _, _ = qr(every - center.project_neurons(every, groups), pivoting=True)
        along = np.eye(features) - center.project_features(np.eye(features))
        lost, _, _ = qr(along, pivoting=True)
        return cls(basis[:, :count], basis[:, count:], lost[:, : np.linalg.matrix_rank(along)])

    @property
    def row_shape(self) -> tuple[int, int]:
        """The shape of S."""
        return self.rows.shape[1], len(self.features)

    @property
    def feature_shape(self) -> tuple[int, int]:
        """The shape of T."""
        return self.others.shape[1], self.features.shape[1]

    def coordinates(self, W: Array) -> Array:
        """Return S and T as (k, m), for W (k, H, D)."""
        S, T = self.rows.T @ W, self.others.T @ W @ self.features
        (a, D), (b, c) = self.row_shape, self.feature_shape
        k = len(W)
        return np.concatenate([S.reshape(k, a * D), T.reshape(k, b * c)], axis=1)

    def weights(self, coordinates: Array) -> Array:
        """Return W − W̃ (k, H, D) for S and T (k, m)."""
        k, (a, D) = len(coordinates), self.row_shape
        S = coordinates[:, : a * D].reshape(k, a, D)
        T = coordinates[:, a * D :].reshape(k, *self.feature_shape)
        off: Array = self.rows @ S + self.others @ T @ self.features.T
        return off

    def conditions(self, sizes: Array) -> Array:
        """Return rows (m, H·D) whose product with W̃ times `sizes` (H, D) is 0."""
        D = len(self.features)
        S = np.einsum("ha,de->aehd", self.rows, np.eye(D)) / sizes
        T = np.einsum("hb,dc->bchd", self.others, self.features) / sizes
        return np.concatenate([S.reshape(-1, sizes.size), T.reshape(-1, sizes.size)])

    def sizes(self, sizes: Array) -> Array:
        """Return the units (m,) of S and T, if those of W are `sizes` (H, D)."""
        S = np.broadcast_to(sizes.max(axis=0), self.row_shape)
        T = np.full(self.feature_shape, sizes.max())
        return np.concatenate([S.reshape(-1), T.reshape(-1)])
