"""The blocks of the Fisher information by their structure, without an (N·H, P) Jacobian.

    F = E_x[ Jᵀ K J ],    K = A''(s)/φ,    ds_n = M_n dW x̂_n + db + z_n ∘ dg

x̂ is x̃ with the center's projection over features; M_n (H, H) is ds/dc with the center's
projection over neurons. The weights' block of neurons i and j is X̂ᵀ diag((MᵀKM)_ij) X̂ / N.
What a batch or weight scale adds along the vectors q of Eq. 14 is a change of the gains,
dg_h = −M_hi (q_h · dw_i), and enters by products of rank H at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.base.subspaces import triangle
from normgeo.base.text import text
from normgeo.models.families import Family
from normgeo.models.linearization import ModelLinearization
from normgeo.models.rows import Linearized

# Cases and features that are multiplied at once: their strip and its weighted copy stay in cache.
CASES, FEATURES = 1024, 196

Blocks = Mapping[tuple[int, int], Array]

Visit = Callable[[Array, Array], None]
"""Given X̂ (n, D) and MᵀKM/N (c, c, n) of n cases and the c neurons of a cluster."""

Curved = tuple[ModelLinearization, Callable[[Array], Array]]
"""The derivative of s over some of the cases, and the map V ↦ A'' V there."""


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

    Each is computed in one pass over the cases. Rounding errors are relative to E[K x̂x̂ᵀ], from
    which the radial part is subtracted.
    """

    at: Linearized
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
        squares = np.zeros((layout.neurons, layout.features))

        def adding(cluster: Array) -> Visit:
            def add(X: Array, k: Array) -> None:
                squares[cluster] += np.einsum("iin->in", k) @ X**2

            return add

        each = self._sums([(cluster, adding(cluster)) for cluster in self.clusters])
        for cluster, sums in zip(self.clusters, each, strict=True):
            for i, h in enumerate(cluster):
                S, Q = sums.radial_halves(i)
                diagonal[h, : layout.features] = squares[h] - 2 * (S * Q).sum(axis=1)
                diagonal[h, layout.features :] = sums.rest[:, :, i, i].diagonal()
        return diagonal.reshape(-1)

    def curved(self) -> Iterable[Curved]:
        """The cases, with A'' at them: kept where they are in memory, else made in one pass."""
        return self._kept if isinstance(self.at, ModelLinearization) else self._curved()

    @cached_property
    def _kept(self) -> tuple[Curved, ...]:
        return tuple(self._curved())

    def _curved(self) -> Iterator[Curved]:
        return ((at, self.family.covariance_operator(at.s)) for _, at in self.at.parts())

    def factor_times(self, V: Array, max_bytes: float) -> Array:
        """Return B V (N·H, k), where F = BᵀB, B = (A''/(φN))^½ J, for V (P, k).

        Raises:
            ValueError: it would take more than `max_bytes`.

        """
        shape = self.at.cases * self.at.layout.neurons, V.shape[1]
        check_size(shape, max_bytes, text("A factor times vectors"))
        factor, done = np.empty(shape[::-1]), 0
        for part in self._factors(V):
            factor[:, done : done + len(part)] = part.T
            done += len(part)
        return factor.T

    def factor_triangle(self, V: Array) -> Array:
        """Return the R of B V = QR, which has its singular values and right vectors."""
        R: Array = np.empty((0, V.shape[1]))
        for part in self._factors(V):
            R = triangle(np.concatenate([R, part]) if len(R) else part)
        return R

    def _factors(self, V: Array) -> Iterator[Array]:
        for _, at in self.at.parts():
            root = self.family.covariance_root_operator(at.s)
            columns = np.empty((V.shape[1], at.s.size))
            for column, v in zip(columns, V.T, strict=True):
                column[...] = root(at.jvp(v)).reshape(-1)
            columns /= np.sqrt(self.at.cases * self.phi)
            yield columns.T

    @cached_property
    def clusters(self) -> list[Array]:
        """The sets of neurons between which F is not zero: all, a group each, or one each."""
        everyone = np.arange(self.at.layout.neurons)
        if self.family.coupled:
            return [everyone]
        it, mixing = self._first.whole, self._mixing
        shared = it.scale.shared_by_neurons or np.count_nonzero(mixing) > len(everyone)
        return np.array_split(everyone, it.groups if shared else len(everyone))

    @cached_property
    def _first(self) -> ModelLinearization:
        """One part, for what all share: the words, the weights, and σ and q of a batch scale."""
        return next(self.at.parts()).at

    @cached_property
    def _mixing(self) -> Array:
        """The center's projection over neurons, (H, H)."""
        it = self._first.whole
        return it.center.project_neurons(np.eye(self.at.layout.neurons), it.groups)

    def _fill(self, blocks: Blocks) -> None:
        """Add to zero (p, p) blocks what they hold, by the pair of neurons."""
        D = self.at.layout.features
        wanted = [
            (cluster, inside) for cluster in self.clusters if (inside := _of(cluster, blocks))
        ]

        def adding(inside: Blocks) -> Visit:
            def add(X: Array, k: Array) -> None:
                for (i, j), block in inside.items():
                    if k[i, j].any():
                        _add_weighted_gram(block[:D, :D], X, k[i, j])

            return add

        each = self._sums([(cluster, adding(inside)) for cluster, inside in wanted])
        for (_, inside), sums in zip(wanted, each, strict=True):
            for (i, j), block in inside.items():
                (S, Q), (S_other, Q_other) = sums.radial_halves(i), sums.radial_halves(j)
                gram = np.tril(block[:D, :D])
                gram += np.tril(gram, -1).T
                block[:D, :D] = gram - S @ Q_other.T - Q @ S_other.T
                block[:D, D:] = sums.weights_to_roles(i, j)
                block[D:, :D] = sums.weights_to_roles(j, i).T
                block[D:, D:] = sums.rest[:, :, i, j]
                if i == j:
                    block[...] = (block + block.T) / 2

    def _sums(self, wanted: Sequence[tuple[Array, Visit]]) -> list[ClusterSums]:
        """Sum over the cases for some clusters, in one pass, and have each visited."""
        layout, found = self.at.layout, list[ClusterSums]()
        D, R = layout.features, layout.per_neuron - layout.features
        for cluster, _ in wanted:
            c, radial = len(cluster), self._radial(cluster)
            found.append(ClusterSums(np.zeros((R, D, c, c)), np.zeros((R, R, c, c)), radial))
        for _, at in self.at.parts():
            for (cluster, visit), sums in zip(wanted, found, strict=True):
                self._add(at, cluster, visit, sums)
        return found

    def _add(
        self, part: ModelLinearization, cluster: Array, visit: Visit, sums: ClusterSums
    ) -> None:
        at, kind, c = part.whole, part.kind or np.dtype(np.float64), len(cluster)
        for rows in portions(part.cases, c):
            X = at.center.project_features(at.centered_inputs[rows]).astype(kind, copy=False)
            K = self.family.covariance(part.s[rows][:, cluster]) / (self.at.cases * self.phi)
            K = K.astype(kind, copy=False)
            M = self._mixed(part, cluster, rows).astype(kind, copy=False)
            KM = K @ M
            visit(X, np.ascontiguousarray(np.moveaxis(M.mT @ KM, 0, -1)))
            z = part.z[rows][:, cluster]
            roles = [np.ones_like(z), z][: len(sums.rest)]
            for r, role in enumerate(roles):
                products = X.T @ (role[:, :, None] * KM).reshape(len(X), -1)
                sums.weights[r] += products.reshape(-1, c, c)
                for t, other in enumerate(roles):
                    sums.rest[r, t] += (role[:, :, None] * K * other[:, None, :]).sum(axis=0)

    def _mixed(self, part: ModelLinearization, cluster: Array, rows: slice) -> Array:
        """Return M = ds/dc times the center's part over neurons, (n, c, c) or (1, c, c)."""
        at, mixing = part.whole, self._mixing[:, cluster]
        if at.scale.shared_by_neurons:
            sigma = at.sigma[rows] if len(at.sigma) > 1 else at.sigma
            here = at.point._replace(z=at.z[rows], sigma=sigma)
            M = at.scale.differential(mixing.T[:, None, :], None, here)
            M = np.moveaxis(M, 0, -1)[:, cluster]
        else:
            M = (mixing / at.sigma.T)[None, cluster]
        return M if part.gain is None else part.gain[cluster, None] * M

    def _radial(self, cluster: Array) -> Array | None:
        """Return M_hi q_h, the change −dg_h of the gains for a change of w_i, (c, D, c)."""
        part = self._first
        at = part.whole
        q = at.scale.radial(at.centered_inputs, at.point)
        if q is None:
            return None
        M = self._mixed(part, cluster, slice(0, 1))[0]
        radial: Array = M.T[:, None, :] * at.center.project_features(q)[cluster].T
        return radial


def _of(cluster: Array, blocks: Blocks) -> Blocks:
    """The blocks of pairs of neurons within a cluster, by their places in it."""
    place = {int(h): i for i, h in enumerate(cluster)}
    return {
        (place[i], place[j]): block for (i, j), block in blocks.items() if i in place and j in place
    }


def portions(cases: int, neurons: int) -> Iterator[slice]:
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
