"""The blocks of the Fisher information by their structure, without an (N·H, P) Jacobian.

    F = E_x[ Jᵀ K J ],    K = A''(s)/φ,    ds_n = M_n dW x̂_n + db + z_n ∘ dg

x̂ is x̃ with the center's projection over features; M_n (H, H) is ds/dc with the center's
projection over neurons. The weights' block of neurons i and j is X̂ᵀ diag((MᵀKM)_ij) X̂ / N.
What a batch or weight scale adds along the vectors q of Eq. 14 is a change of the gains,
dg_h = −M_hi (q_h · dw_i), and enters by products of rank H at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.models.families import Family
from normgeo.models.glm import ModelLinearization
from normgeo.normalizers.linearization import Linearization

# Cases and features that are multiplied at once: their strip and its weighted copy stay in cache.
CASES, FEATURES = 1024, 196

Blocks = Mapping[tuple[int, int], Array]


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
    radial: Array | None

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


@final
@dataclass(frozen=True, eq=False)
class FisherStructure:
    """The Fisher information of one linearization, its parts computed when asked for.

    Rounding errors are relative to E[K x̂x̂ᵀ], from which the radial part is subtracted.
    """

    at: ModelLinearization
    family: Family
    phi: float

    def dense(self, max_bytes: float) -> Array:
        """Return F (P, P), exactly symmetric.

        Raises:
            ValueError: it would take more than `max_bytes`.

        """
        H, p = self.at.layout.neurons, self.at.layout.per_neuron
        check_size((H * p, H * p), max_bytes)
        F = np.zeros((H * p, H * p))
        neurons = F.reshape(H, p, H, p)
        pairs = [(i, j) for cluster in self.clusters for i in cluster for j in cluster if i >= j]
        self._fill({(i, j): neurons[i, :, j] for i, j in pairs})
        for i, j in pairs:
            neurons[j, :, i] = neurons[i, :, j].T
        return F

    def neuron_blocks(self, max_bytes: float) -> Array:
        """Return the H diagonal blocks (H, p, p), p = P/H; raises as `dense` does."""
        H, p = self.at.layout.neurons, self.at.layout.per_neuron
        check_size((H, p, p), max_bytes)
        blocks = np.zeros((H, p, p))
        self._fill({(h, h): blocks[h] for h in range(H)})
        return blocks

    def block(self, i: int, j: int) -> Array:
        """Return the block of neurons i and j, (p, p)."""
        block = np.zeros((self.at.layout.per_neuron,) * 2)
        self._fill({(i, j): block})
        return block

    def diagonal(self) -> Array:
        """Return the diagonal of F (P,), at the cost of products with X̂."""
        layout = self.at.layout
        diagonal = np.zeros((layout.neurons, layout.per_neuron))
        for cluster in self.clusters:
            squares = np.zeros((len(cluster), layout.features))

            def add(X: Array, k: Array, squares: Array = squares) -> None:
                squares += np.einsum("iin->in", k) @ X**2

            sums = self._sums(cluster, add)
            for i, h in enumerate(cluster):
                S, Q = sums.radial_halves(i)
                diagonal[h, : layout.features] = squares[i] - 2 * (S * Q).sum(axis=1)
                diagonal[h, layout.features :] = sums.rest[:, :, i, i].diagonal()
        return diagonal.reshape(-1)

    def diagonal_rounding(self) -> Array:
        """Return what rounding may leave of entries of the diagonal that are 0, (P,).

        A sum of n products is off by n u Σ|terms| at most, however they cancel. Terms are counted
        by their sizes before anything is taken off: M as 2 g/σ, for layer scales take a part of
        one from it, and z as Σ|x̃||w̃|/σ. What a center leaves of a constant feature is u times
        its size, which enters squared.
        """
        at, layout, (N, H) = self._normalized, self.at.layout, self.at.s.shape
        gains = np.ones(H) if self.at.gain is None else np.abs(self.at.gain)
        rates = 2 * gains / np.broadcast_to(at.sigma, (N, H))
        sizes = np.abs(at.centered_inputs) @ np.abs(at.centered_weights).T
        sizes = (sizes if at.stream is None else sizes + np.abs(at.stream)) / at.sigma
        condition = np.maximum(1, np.sqrt((sizes**2).mean(axis=0)))
        shared = at.scale.shared_by_neurons or at.center.neuron_dimensions_lost > 0
        rounding = np.zeros((H, layout.per_neuron))
        for cluster in self.clusters:
            n = 2 * (N + len(cluster)) + layout.features + 8
            unit = n * float(np.finfo(at.z.dtype).eps)
            for rows in _portions(N, len(cluster)):
                K = np.abs(self.family.covariance(self.at.s[rows][:, cluster])) / (N * self.phi)
                rate = rates[rows][:, cluster]
                terms = K * rate[:, :, None] * rate[:, None, :]
                if shared:
                    terms[...] = terms.sum(axis=(1, 2), keepdims=True)
                own = np.einsum("nhh->hn", terms)
                part = unit * condition[cluster, None] * (own @ at.centered_inputs[rows] ** 2)
                part += unit**2 * (own @ at.inputs[rows].astype(np.float64) ** 2)
                rounding[cluster, : layout.features] += part
                if layout.has_gain:
                    z = sizes[rows][:, cluster]
                    variance = np.einsum("nhh->nh", K)
                    rounding[cluster, -1] += unit**2 * (variance * z**2).sum(axis=0)
        return rounding.reshape(-1)

    def factor_times(self, V: Array) -> Array:
        """Return B V (N·H, k), where F = BᵀB, B = (A''/(φN))^½ J, for V (P, k)."""
        root = self.family.covariance_root_operator(self.at.s)
        columns = np.empty((V.shape[1], self.at.s.size))
        for column, v in zip(columns, V.T, strict=True):
            column[...] = root(self.at.jvp(v)).reshape(-1)
        columns /= np.sqrt(len(self.at.s) * self.phi)
        return columns.T

    @cached_property
    def clusters(self) -> list[Array]:
        """The sets of neurons between which F is not zero: all, a group each, or one each."""
        at, everyone = self._normalized, np.arange(self.at.layout.neurons)
        if self.family.coupled:
            return [everyone]
        shared = at.scale.shared_by_neurons or np.count_nonzero(self._mixing) > len(everyone)
        return np.array_split(everyone, at.groups if shared else len(everyone))

    @property
    def _normalized(self) -> Linearization:
        normalized = self.at.normalized
        return normalized if isinstance(normalized, Linearization) else normalized.full

    @cached_property
    def _mixing(self) -> Array:
        """The center's projection over neurons, (H, H)."""
        at = self._normalized
        return at.center.project_neurons(np.eye(self.at.layout.neurons), at.groups)

    def _fill(self, blocks: Blocks) -> None:
        """Add to zero (p, p) blocks what they hold, by the pair of neurons."""
        for cluster in self.clusters:
            place = {int(h): i for i, h in enumerate(cluster)}
            inside = {
                (place[i], place[j]): block
                for (i, j), block in blocks.items()
                if i in place and j in place
            }
            if inside:
                self._fill_cluster(cluster, inside)

    def _fill_cluster(self, cluster: Array, blocks: Blocks) -> None:
        D = self.at.layout.features

        def add(X: Array, k: Array) -> None:
            for (i, j), block in blocks.items():
                if k[i, j].any():
                    _add_weighted_gram(block[:D, :D], X, k[i, j])

        sums = self._sums(cluster, add)
        for (i, j), block in blocks.items():
            (S, Q), (S_other, Q_other) = sums.radial_halves(i), sums.radial_halves(j)
            gram = np.tril(block[:D, :D])
            gram += np.tril(gram, -1).T
            block[:D, :D] = gram - S @ Q_other.T - Q @ S_other.T
            block[:D, D:] = sums.weights_to_roles(i, j)
            block[D:, :D] = sums.weights_to_roles(j, i).T
            block[D:, D:] = sums.rest[:, :, i, j]
            if i == j:
                block[...] = (block + block.T) / 2

    def _sums(self, cluster: Array, visit: Callable[[Array, Array], None]) -> ClusterSums:
        """Sum over the cases; `visit` is given X̂ (n, D) and MᵀKM/N (c, c, n) of n cases."""
        at, s, layout = self._normalized, self.at.s, self.at.layout
        N, c, R = len(s), len(cluster), layout.per_neuron - layout.features
        weights = np.zeros((R, layout.features, c, c))
        rest = np.zeros((R, R, c, c))
        for rows in _portions(N, c):
            X = at.center.project_features(at.centered_inputs[rows]).astype(float, copy=False)
            K = self.family.covariance(s[rows][:, cluster]) / (N * self.phi)
            M = self._mixed(cluster, rows)
            KM = K @ M
            visit(X, np.ascontiguousarray(np.moveaxis(M.mT @ KM, 0, -1)))
            roles = [np.ones_like(self.at.z[rows][:, cluster]), self.at.z[rows][:, cluster]][:R]
            for r, role in enumerate(roles):
                weights[r] += (X.T @ (role[:, :, None] * KM).reshape(len(X), -1)).reshape(-1, c, c)
                for t, other in enumerate(roles):
                    rest[r, t] += (role[:, :, None] * K * other[:, None, :]).sum(axis=0)
        return ClusterSums(weights, rest, self._radial(cluster))

    def _mixed(self, cluster: Array, rows: slice) -> Array:
        """Return M = ds/dc times the center's part over neurons, (n, c, c) or (1, c, c)."""
        at, mixing = self._normalized, self._mixing[:, cluster]
        if at.scale.shared_by_neurons:
            sigma = at.sigma[rows] if len(at.sigma) > 1 else at.sigma
            here = at.point._replace(z=at.z[rows], sigma=sigma)
            M = at.scale.differential(mixing.T[:, None, :], None, here)
            M = np.moveaxis(M, 0, -1)[:, cluster]
        else:
            M = (mixing / at.sigma.T)[None, cluster]
        return M if self.at.gain is None else self.at.gain[cluster, None] * M

    def _radial(self, cluster: Array) -> Array | None:
        """Return M_hi q_h, the change −dg_h of the gains for a change of w_i, (c, D, c)."""
        at = self._normalized
        q = at.scale.radial(at.centered_inputs, at.point)
        if q is None:
            return None
        M = self._mixed(cluster, slice(0, 1))[0]
        radial: Array = M.T[:, None, :] * at.center.project_features(q)[cluster].T
        return radial


def _portions(cases: int, neurons: int) -> Iterator[slice]:
    """Cut the cases so that neither X̂ nor the (n, c, c) arrays of a portion grow large."""
    step = max(1, min(CASES, 2**22 // neurons**2))
    return (slice(start, start + step) for start in range(0, cases, step))


def _add_weighted_gram(into: Array, X: Array, k: Array) -> None:
    """Add the lower triangle of Xᵀ diag(k) X, (D, D), by strips of its columns."""
    for start in range(0, X.shape[1], FEATURES):
        columns = slice(start, start + FEATURES)
        into[start:, columns] += X[:, start:].T @ (k[:, None] * X[:, columns])


def check_size(
    shape: tuple[int, ...], max_bytes: float, what: str = text("A stored Fisher information")
) -> None:
    """Refuse an array of floats that would take more than `max_bytes`."""
    size = 8.0 * prod(shape)
    if size > max_bytes:
        raise Refusal(
            text(
                "{what} must fit in {most:.3g} GiB (`max_bytes`); one of shape {shape} would "
                "take {needed:.3g} GiB. Use form='operator', whose products and `spectrum` "
                "with a k store none, or ask for more: fisher(…, max_bytes=…).",
                what=what,
                most=max_bytes / 2**30,
                shape=shape,
                needed=size / 2**30,
            )
        )
