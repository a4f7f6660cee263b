"""Sums over the cases, from which the blocks of the Fisher information are computed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.models.families import Family
from normgeo.models.linearization import ModelLinearization, ParameterLayout, Part

CASES = 1024
"""Cases multiplied at once."""

FEATURES = 16
"""Rows of a Gram matrix computed at once, up to its diagonal."""

CACHED = 2**17
"""Numbers that fit into a processor's cache."""


@final
@dataclass(frozen=True, eq=False)
class Inputs:
    """X̂ (n, D) of some cases, and its weighted Gram matrices for many weights of the cases."""

    X: Array

    @cached_property
    def gram(self) -> Array:
        """X̂ᵀX̂ (D, D), computed once for all weights that are equal in every case."""
        gram: Array = self.X.T @ self.X
        return gram

    def add_grams(self, into: list[Array], k: Array) -> None:
        """Add the lower triangles of X̂ᵀ diag(k) X̂, (D, D) each, for m weights k (m, n)."""
        (n, D), steady = self.X.shape, (k == k[:, :1]).all(axis=1)
        for one in np.flatnonzero(steady & (k[:, 0] != 0)):
            into[one] += k[one, 0] * self.gram
        varying, step = np.flatnonzero(~steady), max(1, CACHED // (FEATURES * n))
        each = [varying[start : start + step] for start in range(0, len(varying), step)]
        for start in range(0, D, FEATURES):
            stop = min(start + FEATURES, D)
            strip = np.ascontiguousarray(self.X[:, start:stop].T)
            for some in each:
                weighted = (k[some, None] * strip).reshape(-1, n)
                products = (weighted @ self.X[:, :stop]).reshape(len(some), -1, stop)
                for one, product in zip(some, products, strict=True):
                    into[one][start:stop, :stop] += product


Places = Sequence[tuple[tuple[int, int], Array]]
"""Two places in a cluster, and the array (D, D) to which their neurons' Gram products are added."""


@final
@dataclass(frozen=True, eq=False)
class ClusterSums:
    """Sums over the cases for c neurons with shared outputs or statistics; R = 2 roles, b and g.

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
"""An array of Gram products, and the sums of each cluster."""


def merged(these: Sums, others: Sums) -> Sums:
    """The merged sums of both sets of cases."""
    each = zip(these[1], others[1], strict=True)
    return these[0] + others[0], [ours + theirs for ours, theirs in each]


@final
@dataclass(frozen=True, eq=False)
class Summing:
    """The settings of a sum over cases, without the cases.

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
        clusters: Sequence[Array],
        places_in: Callable[[Array], Sequence[Places]],
    ) -> Sums:
        """Sum over parts for some clusters, in one pass, their Gram products in one array."""
        most = max(map(len, clusters), default=1)
        D, R = self.layout.features, self.layout.per_neuron - self.layout.features
        sizes, grams = map(len, clusters), np.zeros(shape)
        found = [ClusterSums(np.zeros((R, D, c, c)), np.zeros((R, R, c, c))) for c in sizes]
        each = list(zip(clusters, places_in(grams), found, strict=True))
        for _, part in parts:
            at = part.whole
            apart = most == 1 and each and not at.scale.shared_by_neurons
            for rows in portions(part.cases, most):
                inputs = Inputs(_features(part, rows))
                if apart:
                    self._add_apart(part, rows, inputs, each)
                    continue
                for cluster, places, sums in each:
                    self._add(part, rows, inputs, cluster, places, sums)
        return grams, found

    def _add(
        self,
        part: ModelLinearization,
        rows: slice,
        inputs: Inputs,
        cluster: Array,
        places: Places,
        sums: ClusterSums,
    ) -> None:
        X, c = inputs.X, len(cluster)
        s, coupled = part.s[rows][:, cluster], self.family.coupled
        K = self.family.covariance(s) if coupled else self.family.covariance_diagonal(s)[:, :, None]
        K = (K / self.times).astype(X.dtype, copy=False)
        M = self.mixed(part, cluster, rows).astype(X.dtype, copy=False)
        KM = K @ M if coupled else K * M
        (i, j), into = np.transpose([place for place, _ in places]), [gram for _, gram in places]
        inputs.add_grams(into, np.ascontiguousarray((M.mT @ KM)[:, i, j].T))
        z = part.z[rows][:, cluster]
        roles = [np.ones_like(z), z][: len(sums.rest)]
        for r, role in enumerate(roles):
            products = X.T @ (role[:, :, None] * KM).reshape(len(X), -1)
            sums.weights[r] += products.reshape(-1, c, c)
            weighted = role[:, :, None] * K
            for t, other in enumerate(roles):
                if coupled:
                    sums.rest[r, t] += np.einsum("nhl,nl->hl", weighted, other)
                else:
                    sums.rest[r, t].flat[:: c + 1] += (weighted[:, :, 0] * other).sum(axis=0)

    def _add_apart(
        self,
        part: ModelLinearization,
        rows: slice,
        inputs: Inputs,
        each: Sequence[tuple[Array, Places, ClusterSums]],
    ) -> None:
        """`_add` for clusters of one neuron each, whose K and M are numbers, all at once."""
        X, alone = inputs.X, np.concatenate([cluster for cluster, _, _ in each])
        K = self.family.covariance_diagonal(part.s[rows][:, alone]).T / self.times
        M = (self.mixing.diagonal() / part.whole.sigma)[0, alone]
        M = (M if part.gain is None else part.gain[alone] * M)[:, None]
        z = part.z[rows][:, alone].T
        inputs.add_grams(
            [gram for _, ((_, gram),), _ in each], (K * M**2).astype(X.dtype, copy=False)
        )
        roles = [np.ones_like(z), z][: len(each[0][2].rest)]
        to_weights = [(role * K * M).astype(X.dtype, copy=False) @ X for role in roles]
        rest = [[(role * K * other).sum(axis=1) for other in roles] for role in roles]
        for i, (_, _, sums) in enumerate(each):
            for r in range(len(roles)):
                sums.weights[r, :, 0, 0] += to_weights[r][i]
                for t in range(len(roles)):
                    sums.rest[r, t] += rest[r][t][i]

    def diagonal(
        self, parts: Iterable[Part], clusters: Sequence[Array], radial: Sequence[Array | None]
    ) -> Array:
        """Return the diagonal of F over parts, (H, P/H), without blocks of any neurons.

        Of w_i it is Σ_n m_iᵀK m_i x̂², m_i the column of M, and of what is radial the same with
        m_i x̂ − z ∘ Q_i for m_i x̂.
        """
        D, H = self.layout.features, self.layout.neurons
        found = np.zeros((H, self.layout.per_neuron))
        most = max(map(len, clusters))
        for _, part in parts:
            for rows in portions(part.cases, most):
                X = _features(part, rows)
                own = np.empty((H, len(X)), X.dtype)
                for cluster, Q in zip(clusters, radial, strict=True):
                    s, z = part.s[rows][:, cluster], part.z[rows][:, cluster]
                    M = self.mixed(part, cluster, rows) / self.times**0.5
                    curved = self.family.covariance_operator(s)
                    among = self.family.covariance_products(s, z) / self.times
                    found[cluster, D] += self.family.covariance_diagonal(s).sum(axis=0) / self.times
                    if self.layout.has_gain:
                        found[cluster, D + 1] += among.diagonal()
                    for i, h in enumerate(cluster):
                        m = np.broadcast_to(M[:, :, i], s.shape)
                        bent = curved(m)
                        own[h] = np.einsum("nc,nc->n", m, bent)
                        if Q is None:
                            continue
                        at = np.flatnonzero(Q[i].any(axis=0))
                        along = X.T @ (z[:, at] * bent[:, at] / self.times**0.5)
                        inner = Q[i][:, at] @ among[np.ix_(at, at)]
                        found[h, :D] += (Q[i][:, at] * (inner - 2 * along)).sum(axis=1)
                found[:, :D] += own @ X**2
        return found

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

    def radial(self, part: ModelLinearization, clusters: Sequence[Array]) -> list[Array | None]:
        """Return M_hi q_h, the change −dg_h of the gains for a change of w_i, (c, D, c) each."""
        at = part.whole
        q = at.scale.radial(at.centered_inputs, at.point)
        if q is None:
            return [None] * len(clusters)
        q, one = at.center.project_features(q), slice(0, 1)
        mixed = [self.mixed(part, cluster, one)[0] for cluster in clusters]
        each = zip(mixed, clusters, strict=True)
        return [M.T[:, None, :] * q[cluster].T for M, cluster in each]


def _features(part: ModelLinearization, rows: slice) -> Array:
    """X̂ (n, D) of some cases."""
    at = part.whole
    X: Array = at.center.project_features(at.centered_inputs[rows])
    return X.astype(part.kind or np.float64, copy=False)


def portions(cases: int, neurons: int) -> Iterator[slice]:
    """Split the cases so that X̂ and the (n, c, c) arrays of a portion stay small."""
    step = max(1, min(CASES, 2**22 // neurons**2))
    return (slice(start, start + step) for start in range(0, cases, step))
