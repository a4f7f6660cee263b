"""Sums over the cases from which the blocks of the Fisher information are made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.models.families import Family
from normgeo.models.linearization import ModelLinearization, ParameterLayout, Part

CASES = 1024
"""That are multiplied at once: their strip and its weighted copy stay in cache."""

Visit = Callable[[Array, Array], None]
"""Given X̂ (n, D) and MᵀKM/N (c, c, n) of n cases and the c neurons of a cluster."""

Visitor = Callable[[Array], Visit]
"""Given an array of zeros, what adds to it."""


@final
@dataclass(frozen=True, eq=False)
class ClusterSums:
    """Sums over the cases for c neurons whose outputs or statistics meet; R = 2 roles, b and g.

    Attributes:
        weights: F between w_i and the role r of neuron h, [r, :, h, i] of (R, D, c, c).
        rest: F between the roles r and t of neurons h and l, [r, t, h, l] of (R, R, c, c).
        radial: the change of the gains, −dg, for a change of w_i, [i] of (c, D, c).

    """

    weights: Array
    rest: Array
    radial: Array | None = None

    def __add__(self, other: ClusterSums) -> ClusterSums:
        return ClusterSums(self.weights + other.weights, self.rest + other.rest, self.radial)

    def radial_halves(self, i: int) -> tuple[Array, Array]:
        """Return (S_i, Q_i), each (D, c): Q_i Uᵀ_j + U_i Q_jᵀ − Q_i G Q_jᵀ = S_i Q_jᵀ + Q_i S_jᵀ.

        U_i is F between w_i and the gains, G that among the gains.
        """
        if self.radial is None:
            none = np.zeros((self.weights.shape[1], 0))
            return none, none
        Q = self.radial[i]
        return self.weights[1, :, :, i] - Q @ self.rest[1, 1] / 2, Q

    def weights_to_roles(self, i: int, h: int) -> Array:
        """Return F between w_i and the roles of neuron h, (D, R), the radial part included."""
        column: Array = self.weights[:, :, h, i].T
        if self.radial is not None:
            column = column - self.radial[i] @ self.rest[1, :, :, h].T
        return column


Sums = tuple[Array, list[ClusterSums]]
"""What was visited, and the sums of each cluster."""


def merged(these: Sums, others: Sums) -> Sums:
    """The sums over the cases of both."""
    each = zip(these[1], others[1], strict=True)
    return these[0] + others[0], [ours + theirs for ours, theirs in each]


@final
@dataclass(frozen=True, eq=False)
class Summing:
    """How cases are summed, without the cases.

    Attributes:
        family: of the outputs. times: N φ. layout: of θ.
        mixing: the center's projection over neurons, (H, H).

    """

    family: Family
    times: float
    layout: ParameterLayout
    mixing: Array

    def over(
        self,
        parts: Iterable[Part],
        shape: tuple[int, ...],
        wanted: Sequence[tuple[Array, Visitor]],
    ) -> Sums:
        """Sum over parts for some clusters, in one pass, and have each visited."""
        D, R = self.layout.features, self.layout.per_neuron - self.layout.features
        visited = np.zeros(shape)
        visits = [(cluster, visitor(visited)) for cluster, visitor in wanted]
        sizes = [len(cluster) for cluster, _ in wanted]
        found = [ClusterSums(np.zeros((R, D, c, c)), np.zeros((R, R, c, c))) for c in sizes]
        for _, at in parts:
            for (cluster, visit), sums in zip(visits, found, strict=True):
                self._add(at, cluster, visit, sums)
        return visited, found

    def _add(
        self, part: ModelLinearization, cluster: Array, visit: Visit, sums: ClusterSums
    ) -> None:
        at, kind, c = part.whole, part.kind or np.dtype(np.float64), len(cluster)
        for rows in portions(part.cases, c):
            X = at.center.project_features(at.centered_inputs[rows]).astype(kind, copy=False)
            K = self.family.covariance(part.s[rows][:, cluster]) / self.times
            K = K.astype(kind, copy=False)
            M = self.mixed(part, cluster, rows).astype(kind, copy=False)
            KM = K @ M
            visit(X, np.ascontiguousarray(np.moveaxis(M.mT @ KM, 0, -1)))
            z = part.z[rows][:, cluster]
            roles = [np.ones_like(z), z][: len(sums.rest)]
            for r, role in enumerate(roles):
                products = X.T @ (role[:, :, None] * KM).reshape(len(X), -1)
                sums.weights[r] += products.reshape(-1, c, c)
                for t, other in enumerate(roles):
                    sums.rest[r, t] += (role[:, :, None] * K * other[:, None, :]).sum(axis=0)

    def mixed(self, part: ModelLinearization, cluster: Array, rows: slice) -> Array:
        """Return M = ds/dc times the center's part over neurons, (n, c, c) or (1, c, c)."""
        at, mixing = part.whole, self.mixing[:, cluster]
        if at.scale.shared_by_neurons:
            sigma = at.sigma[rows] if len(at.sigma) > 1 else at.sigma
            here = at.point._replace(z=at.z[rows], sigma=sigma)
            M = at.scale.differential(mixing.T[:, None, :], None, here)
            M = np.moveaxis(M, 0, -1)[:, cluster]
        else:
            M = (mixing / at.sigma.T)[None, cluster]
        return M if part.gain is None else part.gain[cluster, None] * M

    def radial(self, part: ModelLinearization, cluster: Array) -> Array | None:
        """Return M_hi q_h, the change −dg_h of the gains for a change of w_i, (c, D, c)."""
        at = part.whole
        q = at.scale.radial(at.centered_inputs, at.point)
        if q is None:
            return None
        M = self.mixed(part, cluster, slice(0, 1))[0]
        radial: Array = M.T[:, None, :] * at.center.project_features(q)[cluster].T
        return radial


def portions(cases: int, neurons: int) -> Iterator[slice]:
    """Cut the cases so that neither X̂ nor the (n, c, c) arrays of a portion grow large."""
    step = max(1, min(CASES, 2**22 // neurons**2))
    return (slice(start, start + step) for start in range(0, cases, step))
