"""Bounds of rounding errors in entries of the Fisher information that are 0."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from normgeo.base.arrays import Array
from normgeo.fisher.cluster_sums import portions
from normgeo.fisher.structure import FisherStructure
from normgeo.models.families import Family
from normgeo.models.linearization import ParameterLayout, Part

Sizes = tuple[Array, Array, Array, Array]


def diagonal_rounding(structure: FisherStructure) -> Array:
    """Return a bound of the rounding error of diagonal entries that are 0, (P,).

    The error of a sum of n products is at most n u Σ|terms|, despite cancellation. Terms count by
    their size before any subtraction: M as 2 g/σ, since layer scales subtract a part of it, and z
    as Σ|x̃||w̃|/σ. A center leaves u times the size of a constant feature, which enters squared.
    """
    over, family = structure.at, structure.family
    layout, N = over.layout, over.cases
    H, D = layout.neurons, layout.features
    clusters, times = structure.clusters, N * structure.phi
    centered, whole, mean_squares, along_gains = over.gathered(
        lambda parts: _sums_of_sizes(parts, family, layout, clusters, times), _added
    )
    condition = np.maximum(1, np.sqrt(mean_squares))
    members = np.empty((H, 1))
    for cluster in structure.clusters:
        members[cluster] = len(cluster)
    kind = next(over.parts()).at.z.dtype
    unit = (2 * (N + members) + D + 8) * float(np.finfo(kind).eps)
    rounding = np.zeros((H, layout.per_neuron))
    rounding[:, :D] = unit * condition[:, None] * centered + unit**2 * whole
    if layout.has_gain:
        rounding[:, -1] = unit[:, 0] ** 2 * along_gains
    return rounding.reshape(-1)


def _sums_of_sizes(
    parts: Iterator[Part],
    family: Family,
    layout: ParameterLayout,
    clusters: list[Array],
    times: float,
) -> Sizes:
    """Sums of sizes of terms over the centered inputs and the inputs (H, D), of z² and z (H,)."""
    H, D = layout.neurons, layout.features
    centered, whole = np.zeros((H, D)), np.zeros((H, D))
    mean_squares, along_gains = np.zeros(H), np.zeros(H)
    for share, part in parts:
        at = part.whole
        gains = np.ones(H) if part.gain is None else np.abs(part.gain)
        rates = 2 * gains / np.broadcast_to(at.sigma, part.s.shape)
        sizes = at.sizes / at.sigma
        mean_squares += share * (sizes**2).mean(axis=0)
        shared = at.scale.shared_by_neurons or at.center.neuron_dimensions_lost > 0
        for cluster in clusters:
            for rows in portions(part.cases, len(cluster)):
                K = np.abs(family.covariance(part.s[rows][:, cluster])) / times
                rate = rates[rows][:, cluster]
                terms = K * rate[:, :, None] * rate[:, None, :]
                if shared:
                    terms[...] = terms.sum(axis=(1, 2), keepdims=True)
                own = np.einsum("nhh->hn", terms)
                centered[cluster] += own @ at.centered_inputs[rows] ** 2
                whole[cluster] += own @ at.inputs[rows].astype(np.float64) ** 2
                variance, z = np.einsum("nhh->nh", K), sizes[rows][:, cluster]
                along_gains[cluster] += (variance * z**2).sum(axis=0)
    return centered, whole, mean_squares, along_gains


def _added(these: Sizes, others: Sizes) -> Sizes:
    first, second, third, fourth = (a + b for a, b in zip(these, others, strict=True))
    return first, second, third, fourth
