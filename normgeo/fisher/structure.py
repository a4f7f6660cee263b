"""The blocks of the Fisher information by their structure, without an (N·H, P) Jacobian.

    F = E_x[ Jᵀ K J ],    K = A''(s)/φ,    ds_n = M_n dW x̂_n + db + z_n ∘ dg

x̂ is x̃ with the center's projection over features; M_n (H, H) is ds/dc with the center's
projection over neurons. The weights' block of neurons i and j is X̂ᵀ diag((MᵀKM)_ij) X̂ / N.
What a batch or weight scale adds along the vectors q of Eq. 14 is a change of the gains,
dg_h = −M_hi (q_h · dw_i), and enters by products of rank H at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from math import prod
from operator import add
from typing import TypeVar, final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.base.subspaces import triangle
from normgeo.base.text import text
from normgeo.fisher.cluster_sums import Places, Summing, merged
from normgeo.fisher.packed_columns import PackedColumns
from normgeo.models.families import Family
from normgeo.models.linearization import ModelLinearization, Part
from normgeo.models.rows import Linearized, Merge

T = TypeVar("T")

Pair = tuple[int, int]
"""Two neurons, or their places in a cluster."""

BlockOf = Callable[[Array, int, int], Array]
"""(array, two neurons) → the view (p, p) of their block."""

Curved = tuple[ModelLinearization, Callable[[Array], Array]]
"""The derivative of s over some of the cases, and the map V ↦ A'' V there."""


@final
@dataclass(frozen=True, eq=False)
class FisherStructure:
    """The Fisher information of one linearization, with parts computed on request.

    Each part takes one pass over the cases. Rounding errors are relative to E[K x̂x̂ᵀ], from which
    the radial part is subtracted.
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
        pairs = [(i, j) for cluster in self.clusters for i in cluster for j in cluster if i >= j]

        def block(F: Array, i: int, j: int) -> Array:
            return F.reshape(H, p, H, p)[i, :, j]

        F = self._filled((H * p, H * p), pairs, block)
        for i, j in pairs:
            block(F, j, i)[...] = block(F, i, j).T
        return F

    def neuron_blocks(self, max_bytes: float) -> Array:
        """Return the H diagonal blocks (H, p, p), p = P/H; raises as `dense` does."""
        H, p = self.at.layout.neurons, self.at.layout.per_neuron
        check_size((H, p, p), max_bytes)
        return self._filled((H, p, p), [(h, h) for h in range(H)], lambda blocks, i, j: blocks[i])

    def block(self, i: int, j: int) -> Array:
        """Return the block of neurons i and j, (p, p)."""
        p = self.at.layout.per_neuron
        return self._filled((p, p), [(i, j)], lambda block, i, j: block)

    def diagonal(self) -> Array:
        """Return the diagonal of F (P,), at the cost of products with X̂."""
        summing, clusters = self._summing, self.clusters
        radial = summing.radial(self._first, clusters)
        diagonal: Array = self.at.gathered(
            lambda parts: summing.diagonal(parts, clusters, radial), add
        )
        return diagonal.reshape(-1)

    def curved(self, step: Callable[[Iterable[Curved]], T], merge: Merge[T]) -> T:
        """Return `gathered` over the cases with their A'', which stays where the cases are."""
        if isinstance(self.at, ModelLinearization):
            return step(self._kept)
        family = self.family
        return self.at.gathered(lambda parts: step(_curved(parts, family)), merge)

    @cached_property
    def _kept(self) -> tuple[Curved, ...]:
        return tuple(_curved(self.at.parts(), self.family))

    def require_curved(self) -> None:
        """Refuse cases in memory at once if A'' refuses them."""
        if isinstance(self.at, ModelLinearization):
            self._kept  # noqa: B018

    def factor_times(self, V: Array, max_bytes: float) -> Array:
        """Return B V (N·H, k), where F = BᵀB, B = (A''/(φN))^½ J, for V (P, k).

        Raises:
            ValueError: it would take more than `max_bytes`.

        """
        N, H, k = self.at.cases, self.at.layout.neurons, V.shape[1]
        check_size((N * H, k), max_bytes, text("A factor times vectors"))
        factor, done = np.empty((k, N, H)), 0
        for part in self._factors(V, list, add):
            stop = done + part.shape[1]
            factor[:, done:stop] = part
            done = stop
        return factor.reshape(k, N * H).T

    def factor_triangle(self, V: Array) -> Array:
        """Return the R of B V = QR, with the same singular values and right vectors.

        Outputs of independent clusters have their own R on the diagonal, (m, k).
        """
        packed = self.packed(V)
        return packed.together(
            self._apart(packed, triangle, lambda R, S: triangle(np.concatenate([R, S])))
        )

    def factor_root(self, V: Array) -> Array:
        """Return an R with RᵀR = (B V)ᵀ(B V), like `factor_triangle`, but faster.

        Its relative error is the square root of that of rounding.
        """
        packed = self.packed(V)
        return packed.together(
            [_root(gram) for gram in self._apart(packed, lambda M: M.T @ M, add)]
        )

    def packed(self, V: Array) -> PackedColumns:
        """Return columns V (P, k) packed by the clusters."""
        return PackedColumns.of(V, self.clusters, self.at.layout)

    def _apart(
        self, packed: PackedColumns, of: Callable[[Array], Array], merge: Merge[Array]
    ) -> list[Array]:
        """Return a function of the outputs of each cluster, merged over parts."""

        def join(these: list[Array], others: list[Array]) -> list[Array]:
            return [merge(*both) for both in zip(these, others, strict=True)]

        return self._factors(
            packed.V,
            lambda parts: reduce(join, ([of(M) for M in packed.apart(part)] for part in parts)),
            join,
        )

    def _factors(self, V: Array, step: Callable[[Iterator[Array]], T], merge: Merge[T]) -> T:
        family, times = self.family, self.at.cases * self.phi
        return self.at.gathered(
            lambda parts: step(_factor(family, at, V, times) for _, at in parts), merge
        )

    @cached_property
    def clusters(self) -> list[Array]:
        """The sets of dependent neurons, between which F is not zero: all, a group, or one each."""
        everyone = np.arange(self.at.layout.neurons)
        if self.family.coupled:
            return [everyone]
        it, mixing = self._first.whole, self._mixing
        shared = it.scale.shared_by_neurons or np.count_nonzero(mixing) > len(everyone)
        return np.array_split(everyone, it.groups if shared else len(everyone))

    @cached_property
    def _first(self) -> ModelLinearization:
        """Any part, for the values that all share: the words, weights, σ and q of a batch scale."""
        return next(self.at.parts()).at

    @cached_property
    def _mixing(self) -> Array:
        """The center's projection over neurons, (H, H)."""
        it = self._first.whole
        return it.center.project_neurons(np.eye(self.at.layout.neurons), it.groups)

    @cached_property
    def _summing(self) -> Summing:
        return Summing(self.family, self.at.cases * self.phi, self.at.layout, self._mixing)

    def _filled(
        self, shape: tuple[int, ...], pairs: Sequence[tuple[int, int]], block: BlockOf
    ) -> Array:
        """Return an array with some (p, p) blocks filled, by the pair of neurons."""
        D = self.at.layout.features
        each = [(cluster, inside) for cluster in self.clusters if (inside := _of(cluster, pairs))]
        clusters, summing = [cluster for cluster, _ in each], self._summing

        def places_in(F: Array) -> list[Places]:
            return [
                [(place, block(F, *pair)[:D, :D]) for place, pair in inside] for _, inside in each
            ]

        F, found = self.at.gathered(
            lambda parts: summing.over(parts, shape, clusters, places_in), merged
        )
        radial = summing.radial(self._first, clusters)
        for (_, inside), of_cluster, q in zip(each, found, radial, strict=True):
            sums = replace(of_cluster, radial=q)
            for (i, j), pair in inside:
                (S, Q), (S_other, Q_other) = sums.radial_halves(i), sums.radial_halves(j)
                here = block(F, *pair)
                gram = np.tril(here[:D, :D])
                gram += np.tril(gram, -1).T
                here[:D, :D] = gram - S @ Q_other.T - Q @ S_other.T
                here[:D, D:] = sums.weights_to_roles(i, j)
                here[D:, :D] = sums.weights_to_roles(j, i).T
                here[D:, D:] = sums.rest[:, :, i, j]
                if i == j:
                    here[...] = (here + here.T) / 2
        return F


def _curved(parts: Iterable[Part], family: Family) -> Iterator[Curved]:
    return ((at, family.covariance_operator(at.s)) for _, at in parts)


def _factor(family: Family, at: ModelLinearization, V: Array, times: float) -> Array:
    """The effects (k, n, H) of columns V (P, k) on a part, with each neuron's cases contiguous."""
    root, directions = family.covariance_root_operator(at.s), V.T / np.sqrt(times)
    effects: Array = np.empty((len(directions), *at.s.shape[::-1])).mT
    for some in at.stacks(len(effects)):
        effects[some] = root(at.jvp(directions[some]))
    return effects


def _root(gram: Array) -> Array:
    squares, vectors = np.linalg.eigh(gram)
    root: Array = np.sqrt(np.maximum(squares, 0))[:, None] * vectors.T
    return root


def _of(cluster: Array, pairs: Iterable[Pair]) -> list[tuple[Pair, Pair]]:
    """The pairs of neurons within a cluster, by their places in it."""
    place = {int(h): i for i, h in enumerate(cluster)}
    return [((place[i], place[j]), (i, j)) for i, j in pairs if i in place and j in place]


def check_size(
    shape: tuple[int, ...], max_bytes: float, what: str = text("A stored Fisher information")
) -> None:
    """Refuse an array of floats that would take more than `max_bytes`."""
    size = 8.0 * prod(shape)
    if size > max_bytes:
        raise Refusal(
            "{what} must fit in {most:.3g} GiB (`max_bytes`); one of shape {shape} would "
            "take {needed:.3g} GiB. Use form='operator', whose products and `spectrum` "
            "with a k store none, or ask for more: fisher(…, max_bytes=…).",
            what=what,
            most=max_bytes / 2**30,
            shape=shape,
            needed=size / 2**30,
        )
