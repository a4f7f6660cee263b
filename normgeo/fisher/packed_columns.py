"""Sums of vectors on independent neurons: one product with F serves all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.linalg import block_diag

from normgeo.base.arrays import Array
from normgeo.models.linearization import ParameterLayout


@final
@dataclass(frozen=True, eq=False)
class PackedColumns:
    """Columns (P, k) as sums (P, m) of at most one column of each of several clusters of neurons.

    Between clusters F is zero, so the sums lose nothing: their products with F contain the products
    of the columns side by side. Columns that extend over several clusters are left unchanged.

    Attributes:
        V: the sums. columns: the numbers of the columns of each cluster, in the order of sums.
        clusters: of neurons, one for all unchanged columns. layout: of θ.

    """

    V: Array
    columns: Sequence[Array]
    clusters: Sequence[Array]
    layout: ParameterLayout

    @classmethod
    def of(cls, V: Array, clusters: Sequence[Array], layout: ParameterLayout) -> PackedColumns:
        """Pack columns V (P, k)."""
        neurons, k = layout.neurons, V.shape[1]
        alive: Array = (V != 0).reshape(neurons, layout.per_neuron, k).any(axis=1)
        lives = np.stack([alive[cluster].any(axis=0) for cluster in clusters])
        if not k or (np.count_nonzero(lives, axis=0) > 1).any():
            return cls(V, [np.arange(k)], [np.arange(neurons)], layout)
        home = lives.argmax(axis=0)
        clusters = [clusters[c] for c in np.unique(home)]
        columns = [np.flatnonzero(home == c) for c in np.unique(home)]
        packed = np.zeros((len(V), max(map(len, columns))))
        for inside in columns:
            packed[:, : len(inside)] += V[:, inside]
        return cls(packed, columns, clusters, layout)

    def unpacked(self, products: Array) -> Array:
        """Return F V (P, k) of the columns, from that of the sums."""
        shape = self.layout.neurons, self.layout.per_neuron
        found = np.zeros((*shape, sum(map(len, self.columns))))
        each = products.reshape(*shape, self.V.shape[1])
        for cluster, inside in zip(self.clusters, self.columns, strict=True):
            found[cluster[:, None, None], np.arange(found.shape[1])[:, None], inside] = each[
                cluster, :, : len(inside)
            ]
        return found.reshape(self.layout.size, found.shape[2])

    def apart(self, effects: Array) -> Iterator[Array]:
        """Yield the effects (n·c, k) of a cluster's columns on its outputs, of those (m, n, H)."""
        for cluster, inside in zip(self.clusters, self.columns, strict=True):
            own = effects.mT[: len(inside)]
            if len(cluster) < self.layout.neurons:
                own = own[:, cluster]
            yield own.reshape(len(inside), len(cluster) * own.shape[2]).T

    def together(self, triangles: Sequence[Array]) -> Array:
        """Return an R (m, k) of all columns, from those of each cluster."""
        R: Array = block_diag(*triangles)
        found = np.zeros_like(R)
        found[:, np.concatenate(list(self.columns))] = R
        return found
