"""The normalized inputs of one case before and after a change, at every strength of the change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.invariance.certificate import Verdict, certify
from normgeo.invariance.transforms import Transform
from normgeo.normalizers.normalizer import Normalized, Normalizer

NEARLY_ZERO = 1e-9
"""A mean of standardized features smaller than this, relative to their size, is rounding."""

ROUNDING = 8 * np.finfo(float).eps
"""Fraction of the largest sum of sizes below which a mean is rounding."""


@final
@dataclass(frozen=True, eq=False)
class Moments:
    """A, μ, σ and z of one case, each (H,), and the relative change of z.

    Attributes:
        mu: 0 if the mean is only rounding.
        change: max|z' − z| / max|z| over the neurons of this case; 0 before any change.
        problem: why z is undefined, or "".

    """

    summed_inputs: Array
    mu: Array
    sigma: Array
    z: Array
    change: float = 0.0
    problem: str = ""


@final
@dataclass(frozen=True, eq=False)
class BeforeAndAfter:
    """One normalizer under a change: its exact verdict, and one case before and after.

    Attributes:
        normalizer, verdict: the method and its certified verdict.
        before: the case unchanged. after: the case at each strength, S of them.

    """

    normalizer: Normalizer
    verdict: Verdict
    before: Moments
    after: tuple[Moments, ...]


@final
@dataclass(frozen=True, eq=False)
class AppliedChange:
    """A change of weights or data on real numbers, at several strengths.

    Attributes:
        transform: the change. strengths: δ, or the factor on γ, (S,).
        case: the case whose z is shown. index: the neuron or case that changes.
        shown: the rows of X, or of W, that are shown, (R,). changed: which of them change, (R,).
        rows_before: these rows unchanged, (R, D). rows_after: at each strength, (S, R, D).
        methods: the normalizers side by side, by their keys.

    """

    transform: Transform
    strengths: Array
    case: int
    index: int
    shown: NDArray[np.int_]
    changed: NDArray[np.bool_]
    rows_before: Array
    rows_after: Array
    methods: Mapping[str, BeforeAndAfter]

    @property
    def neuron(self) -> int:
        """The neuron whose numbers are shown: the one that changes, or one with a large z."""
        if self.transform.matrix == "W":
            return self.index
        return int(np.abs(next(iter(self.methods.values())).before.z).argmax())


def shift_pattern(transform: Transform, W: Array, X: Array, rng: np.random.Generator) -> Array:
    """Return γ of unit strength for a shift of W (H, D) or X (N, D).

    For rows of X it is the mean case, as an overlay of the same image on every image; for offsets
    of X random positive scalars, a brightness each; otherwise, and if the mean case is zero,
    random. Its root mean square is a third of the matrix's, so at strength 3 the change is as large
    as the matrix.
    """
    M = transform.changed(W, X)
    shape = transform.gamma_shape(W, X)
    size = np.sqrt(np.mean(M * M))
    gamma = rng.standard_normal(shape)
    if transform.key == "case_offsets":
        gamma = rng.uniform(0.5, 1.5, shape)
    elif transform.matrix == "X" and np.abs(X.mean(axis=0)).max() > NEARLY_ZERO * size:
        gamma = X.mean(axis=0)
    pattern: Array = gamma * (size / np.sqrt(np.mean(gamma * gamma)) / 3)
    return pattern


def apply_change(
    normalizers: Mapping[str, Normalizer],
    transform: Transform,
    W: Array,
    X: Array,
    strengths: Sequence[float] | Array,
    *,
    gamma: Array | None = None,
    index: int = 0,
    shown: Sequence[int] | NDArray[np.int_] | None = None,
    seed: int = 0,
) -> AppliedChange:
    """Apply a change at every strength and return one case's normalized inputs for each normalizer.

    Frozen statistics refer to the unchanged (W, X). The case shown is the one that changes, or
    the first.

    Args:
        normalizers: the methods to compare, by key.
        transform: a re-scaling by `strengths`, or a shift by `strengths` × `gamma`.
        W: (H, D); X: (N, D). gamma: of `transform.gamma_shape`. index: the row.
        shown: the rows of the changed matrix to keep; None for all.
        seed: of the draw for the verdict.

    Raises:
        ValueError: an index outside the rows, or a z that is undefined before any change.

    """
    case = index if transform.matrix == "X" else 0
    changed = []
    for strength in strengths:
        if transform.rescales:
            changed.append(transform(W, X, delta=strength, index=index))
        else:
            changed.append(transform(W, X, gamma=strength * np.asarray(gamma), index=index))
    M = transform.changed(W, X)
    rows = np.arange(len(M)) if shown is None else np.asarray(shown, int)
    methods = {}
    for key, normalizer in normalizers.items():
        base = normalizer.normalize(W, X, (W, X))
        before = _case(base, case, W, X)
        largest = np.abs(before.z).max()
        after = []
        for W1, X1 in changed:
            try:
                result = normalizer.normalize(W1, X1, (W, X))
            except Refusal as error:
                after.append(replace(before, problem=error.args[0]))
                continue
            found = _case(result, case, W1, X1)
            moved = np.abs(found.z - before.z).max()
            after.append(replace(found, change=float(moved / largest) if moved else 0.0))
        verdict = certify(normalizer, transform, seed=seed)
        methods[key] = BeforeAndAfter(normalizer, verdict, before, tuple(after))
    return AppliedChange(
        transform,
        np.asarray(strengths, float),
        case,
        index,
        rows,
        np.ones(len(rows), bool) if not transform.operation.one_row else rows == index,
        M[rows].copy(),
        np.array([transform.changed(*both)[rows] for both in changed]),
        methods,
    )


def _case(result: Normalized, case: int, W: Array, X: Array) -> Moments:
    shape = result.z.shape
    # Copy: a view of a row would keep all cases in memory.
    a, mu, sigma, z = (np.broadcast_to(value, shape)[case].copy() for value in result)
    # The mean of centered data is not 0, but the rounding of its sums.
    rounding = ROUNDING * (np.abs(X) @ np.abs(W).T).max()
    mu[np.abs(mu) <= rounding] = 0.0
    return Moments(a, mu, sigma, z)
