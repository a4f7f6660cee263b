"""The smallest numbers that show a "no": a counterexample for the blackboard.

Integer candidates are evaluated in float64, smallest first, in portions, and the first one that
changes z is confirmed in exact arithmetic. Groups of neurons share only the inputs, so with G
groups a witness is one group that changes and G − 1 copies of the smallest one with a defined z.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import groupby, product
from typing import NamedTuple, final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.invariance import exact
from normgeo.invariance.certificate import Parameters, Shape, certify
from normgeo.invariance.integers import LARGEST, how_many, place_in_order, rows
from normgeo.invariance.transforms import Transform
from normgeo.invariance.witness import Side, Witness
from normgeo.normalizers.named import normalizer_of
from normgeo.normalizers.normalizer import Normalizer

SIZES_TRIED = 3
"""The number of values of N, H/G and D tried, from the smallest that is not degenerate."""

LARGEST_SEARCH = 10_000_000
"""The number of candidates after which the search gives up."""

PORTION = 1 << 13
"""The number of candidates evaluated at once."""

TOLERANCE = 1e-9


def smallest_witness(normalizer: Normalizer | str, transform: Transform) -> Witness:
    """Return the smallest integers W, X (and γ) at which `transform` changes |z|.

    Fewest entries of W, X and γ; then the smallest sum of absolute values, all in {−2, …, 2}; then
    the fewest negative ones; then the lexicographically first, 1 before 2 before 0. δ = 2. Batch
    statistics get at least 3 cases, layer statistics 3 neurons a group, a weight center 2 features.
    Frozen statistics are those of the unchanged W, X.

    Raises:
        ValueError: the normalizer is invariant to the change, so there is no witness; or the search
            has tried `LARGEST_SEARCH` candidates.

    >>> from normgeo import NORMALIZERS, TRANSFORMS
    >>> witness = smallest_witness(NORMALIZERS["weight"], TRANSFORMS["dataset_rescaling"])
    >>> witness.before.W, witness.before.X, str(witness.z_squared), str(witness.z_squared_after)
    (array([[Fraction(1, 1)]], dtype=object), array([[Fraction(1, 1)]], dtype=object), '1', '4')

    """
    normalizer = normalizer_of(normalizer)
    if certify(normalizer, transform).invariant:
        raise Refusal(
            "A witness shows that z moves, but {name} is invariant to {change}: there is none. "
            "Ask `certify` for the verdict first.",
            name=normalizer.title,
            change=transform.label,
        )
    search = _Search(replace(normalizer, eps=normalizer.exact_eps), transform)
    for shapes in search.shapes():
        witness = search.smallest([shape for shape in shapes if search.may_move(shape)])
        if witness is not None:
            return witness
    raise search.given_up()


class _Candidate(NamedTuple):
    """The integers of a witness: those of each group, (G, ·), and of the inputs, (·,)."""

    shape: Shape
    groups: Array
    inputs: Array


@final
@dataclass(frozen=True)
class _Search:
    """The search for one normalizer and change.

    A candidate has the entries of each group (its rows of W, and its part of γ if each neuron has
    its own) and those of the inputs (X, and γ if all share it). A shape here is that of one group
    of neurons.
    """

    normalizer: Normalizer
    transform: Transform
    looked_at: list[int] = field(default_factory=list)
    useful: dict[tuple[Shape, int, bool], bool] = field(default_factory=dict)

    def shapes(self) -> Iterator[list[Shape]]:
        """Return the shapes with equally many entries, fewest first."""
        normalizer = self.normalizer
        smallest = (
            3 if normalizer.shared_by_cases else 1,
            3 if normalizer.shared_by_neurons else 1,
            1 + normalizer.centering.feature_dimensions_lost,
        )
        ranges = (range(least, least + SIZES_TRIED) for least in smallest)
        every = [Shape(*sizes) for sizes in product(*ranges)]
        for _, shapes in groupby(sorted(every, key=self.entries), self.entries):
            yield list(shapes)

    def lengths(self, shape: Shape) -> tuple[int, int]:
        """Return the numbers of entries of a group and of the inputs."""
        N, K, D = shape
        of_group, of_inputs = K * D, N * D
        if not self.transform.rescales:
            (shift,) = self.transform.gamma_shape(np.empty((K, D)), np.empty((N, D)))
            if self.shifts_neurons:
                of_group += shift
            else:
                of_inputs += shift
        return of_group, of_inputs

    @property
    def shifts_neurons(self) -> bool:
        """Whether each neuron has its own entry of γ."""
        if self.transform.rescales:
            return False
        one, two = (self.transform.gamma_shape(np.empty((H, 1)), np.empty((1, 1))) for H in (1, 2))
        return one != two

    def entries(self, shape: Shape) -> int:
        """Return the number of entries of a witness with groups of this shape."""
        of_group, of_inputs = self.lengths(shape)
        return self.normalizer.groups * of_group + of_inputs

    def may_move(self, shape: Shape) -> bool:
        """Whether generic numbers of this shape change |z|; if not, none do."""
        return bool(self.holds(shape, *self.generic(shape), moved=True).all())

    def generic(self, shape: Shape) -> tuple[Array, Array]:
        """Return generic numbers for one group and for the inputs."""
        rng = np.random.default_rng(0)
        of_group, of_inputs = self.lengths(shape)
        return rng.standard_normal((1, of_group)), rng.standard_normal((1, of_inputs))

    def smallest(self, shapes: list[Shape]) -> Witness | None:
        """Return the smallest witness of some shapes with equally many entries."""
        most = max((LARGEST * self.entries(shape) for shape in shapes), default=-1)
        for total in range(most + 1):
            for shape in shapes:
                found = list(self.candidates(shape, total))
                for candidate in sorted(found, key=self.sort_key):
                    witness = self.confirmed(candidate)
                    if witness is not None:
                        return witness
        return None

    def candidates(self, shape: Shape, total: int) -> Iterator[_Candidate]:
        """Yield the smallest candidate for each inputs, if the absolute values sum to `total`."""
        others = self.normalizer.groups - 1
        most_of_group, most_of_inputs = (LARGEST * length for length in self.lengths(shape))
        for still in range(total // others + 1) if others else (0,):
            if others and not self.is_useful(shape, still, moved=False):
                continue
            left = total - others * still
            for moving in range(max(still, left - most_of_inputs), min(left, most_of_group) + 1):
                if self.is_useful(shape, moving, moved=True):
                    yield from self.split(shape, moving, still, left - moving)

    def is_useful(self, shape: Shape, size: int, moved: bool) -> bool:
        """Whether some group whose absolute values sum to `size` passes for generic inputs."""
        key = shape, size, moved
        if key not in self.useful:
            self.useful[key] = size <= LARGEST * self.lengths(shape)[0] and bool(
                self.best(shape, self.generic(shape)[1], size, moved)[0].any()
            )
        return self.useful[key]

    def split(self, shape: Shape, moving: int, still: int, inputs: int) -> Iterator[_Candidate]:
        """Yield the smallest candidate for each inputs, by the sums of groups and inputs."""
        others = self.normalizer.groups - 1
        group, _ = self.generic(shape)
        for portion in rows(self.lengths(shape)[1], inputs, PORTION):
            self.count(len(portion))
            # Skip inputs for which no generic group changes.
            some = portion[self.holds(shape, group, portion, moved=True)[0]]
            found, movers = self.best(shape, some, moving, moved=True)
            some, movers = some[found], movers[found]
            fillers = movers
            if others:
                found, fillers = self.best(shape, some, still, moved=False)
                some, movers, fillers = some[found], movers[found], fillers[found]
            for row, mover, filler in zip(some, movers, fillers, strict=True):
                yield _Candidate(shape, self.arranged(mover, filler), row)

    def arranged(self, mover: Array, filler: Array) -> Array:
        """Return the entries of all groups, (G, ·), in the order that comes first."""
        others = [filler] * (self.normalizer.groups - 1)
        first = self.changes_first_group or place_in_order(mover)[1:] < place_in_order(filler)[1:]
        return np.array([mover, *others] if first else [*others, mover])

    @property
    def changes_first_group(self) -> bool:
        """Whether only one neuron changes, the first of all."""
        return self.transform.matrix == "W" and self.transform.operation.one_row

    def best(self, shape: Shape, inputs: Array, size: int, moved: bool) -> tuple[Array, Array]:
        """Return for each inputs (I, ·) whether a group of a size passes, and the first that does.

        Returns:
            (I,) and (I, ·).

        """
        length = self.lengths(shape)[0]
        self.count(len(inputs) * how_many(length, size))
        ranks = np.full(len(inputs), np.inf)
        groups = np.zeros((len(inputs), length), dtype=np.int8)
        before = 0
        for portion in rows(length, size, max(1, PORTION // max(1, len(inputs)))):
            order = before + np.arange(len(portion)) + 2.0**40 * (portion < 0).sum(axis=1)
            holds = self.holds(shape, portion, inputs, moved)
            order = np.where(holds, order[:, None], np.inf)
            first, better = order.argmin(axis=0), order.min(axis=0) < ranks
            ranks = np.minimum(ranks, order.min(axis=0))
            groups[better] = portion[first[better]]
            before += len(portion)
        return np.isfinite(ranks), groups

    def count(self, candidates: int) -> None:
        """Count candidates; raise if there are too many."""
        self.looked_at.append(candidates)
        if sum(self.looked_at) > LARGEST_SEARCH:
            raise self.given_up()

    def given_up(self) -> Refusal:
        """Return the error of a search that found nothing."""
        return Refusal(
            "The search for a witness that {change} moves the z of {name} has become too "
            "large with {groups} groups. Use fewer groups, or the counterexample of `certify`.",
            change=self.transform.label,
            name=self.normalizer.title,
            groups=self.normalizer.groups,
        )

    def holds(self, shape: Shape, groups: Array, inputs: Array, moved: bool) -> Array:
        """Return for groups (B, ·) and inputs (I, ·) whether z is defined, (B, I), in float64.

        It must be defined before and after the change; with `moved`, the two must differ.
        """
        # Any ε > 0 decides alike: if C'²(v + ε) = C²(v' + ε) for all that share v, then C'² = rC²
        # and v' = rv, so r is 1. At ε = 1 float64 can tell it from rounding.
        eps = 1 if self.normalizer.eps else 0
        one = replace(self.normalizer, groups=1, eps=eps)
        pairs = np.repeat(groups + 0.0, len(inputs), axis=0), np.tile(inputs, (len(groups), 1))
        _, before, after = self.evaluated(one, shape, *pairs)
        if not moved and self.changes_first_group:
            after = before
        holds = ((before.v > TOLERANCE) & (after.v > TOLERANCE)).all(axis=(-2, -1))
        if moved:
            left, right = after.C**2 * before.v, before.C**2 * after.v
            differs = abs(left - right) > TOLERANCE * (left + right + 1)
            holds = holds & differs.any(axis=(-2, -1))
        return np.broadcast_to(holds, len(pairs[0])).reshape(len(groups), len(inputs))

    def sort_key(self, candidate: _Candidate) -> tuple[int, ...]:
        """Return the sort key of candidates with one sum: W first, then X, then γ."""
        return place_in_order(np.concatenate([part.ravel() for part in self.parts(candidate)]))

    def parts(self, candidate: _Candidate) -> list[Array]:
        """Return W and X, and γ for a shift."""
        N, K, D = candidate.shape
        W, own = np.split(candidate.groups, [K * D], axis=1)
        X, shared = np.split(candidate.inputs, [N * D])
        gamma = np.concatenate([own.ravel(), shared])
        return [W.reshape(-1, D), X.reshape(N, D), *([] if self.transform.rescales else [gamma])]

    def confirmed(self, candidate: _Candidate) -> Witness | None:
        """Return the witness with these entries, or None if it shows nothing."""
        W, X, *gamma = (exact.fractions(part) for part in self.parts(candidate))
        parameters, before, after = self.applied(self.normalizer, W, X, *gamma)
        left, right = after.C**2 * before.v, before.C**2 * after.v
        exact.require_fractions(left, right)
        differs = left != right
        if not (np.all(before.v > 0) and np.all(after.v > 0) and differs.any()):
            return None
        n, h = (int(i) for i in np.argwhere(differs)[0])
        z_squared, z_squared_after = (
            side.C[n, h] ** 2 / np.broadcast_to(side.v, side.C.shape)[n, h]
            for side in (before, after)
        )
        return Witness(
            self.normalizer,
            self.transform,
            parameters,
            before._replace(v=exact.fractions(before.v)),
            after._replace(v=exact.fractions(after.v)),
            (n, h),
            z_squared,
            z_squared_after,
        )

    def evaluated(
        self, normalizer: Normalizer, shape: Shape, groups: Array, inputs: Array
    ) -> tuple[Parameters, Side, Side]:
        """Return the parameters, and both sides, for one group (…, ·) and its inputs (…, ·)."""
        N, K, D = shape
        W, own = np.split(groups, [K * D], axis=-1)
        X, shared = np.split(inputs, [N * D], axis=-1)
        gamma = [] if self.transform.rescales else [np.concatenate([own, shared], axis=-1)]
        return self.applied(
            normalizer, W.reshape(*W.shape[:-1], K, D), X.reshape(*X.shape[:-1], N, D), *gamma
        )

    def applied(
        self, normalizer: Normalizer, W: Array, X: Array, gamma: Array | None = None
    ) -> tuple[Parameters, Side, Side]:
        """Return the parameters and both sides, for entries of any element type."""
        # An integer multiplies floats and fractions without changing their type.
        delta = 2 if gamma is None else None
        after = self.transform(W, X, delta=delta, gamma=gamma)
        return (
            Parameters(None if delta is None else Fraction(delta), gamma),
            Side(W, X, *normalizer.moments(W, X, (W, X))),
            Side(*after, *normalizer.moments(*after, (W, X))),
        )
