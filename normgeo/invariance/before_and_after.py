"""What a change does to the normalized inputs of one case, at every strength: before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.invariance.certificate import Verdict, certify
from normgeo.invariance.transforms import Transform
from normgeo.normalizers.normalizer import Normalized, Normalizer

NEARLY_ZERO = 1e-9
"""The mean of standardized features, next to their size, is rounding."""


@final
@dataclass(frozen=True, eq=False)
class Moments:
    """A, μ, σ and z of one case, each (H,), and how far z moved over all cases.

    Attributes:
        change: max|z' − z| / max|z| over all cases and neurons; 0 before any change.
        problem: why there is no z, "" where there is one.

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
        normalizer, verdict: the method and what is certified of it.
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
        row_before: the row that is shown changing, (D,): of X, or of W. row_after: (S, D).
        methods: the normalizers side by side, by their keys.

    """

    transform: Transform
    strengths: Array
    case: int
    index: int
    row_before: Array
    row_after: Array
    methods: Mapping[str, BeforeAndAfter]

    @property
    def neuron(self) -> int:
        """The neuron whose numbers are written: the one that changes, or one with a large z."""
        if self.transform.matrix == "W":
            return self.index
        return int(np.abs(next(iter(self.methods.values())).before.z).argmax())


def shift_pattern(transform: Transform, W: Array, X: Array, rng: np.random.Generator) -> Array:
    """Return γ of unit strength for a shift of W (H, D) or X (N, D).

    For rows of X it is the mean case, the overlay that a class would draw on every picture; for
    offsets of X positive scalars, a brightness each; else, and where the mean case is zero,
    random. Its root mean square is a third of the matrix's, so that a strength of 3 is a change
    as large as the matrix.
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
    seed: int = 0,
) -> AppliedChange:
    """Apply a change at every strength and return what each normalizer makes of one case.

    Frozen statistics refer to the unchanged (W, X). The case shown is the one that changes, or
    the first.

    Args:
        normalizers: the methods to compare, by key.
        transform: a re-scaling by `strengths`, or a shift by `strengths` × `gamma`.
        W: (H, D); X: (N, D). gamma: of `transform.gamma_shape`. index: the row.
        seed: of the draw that the verdict rests on.

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
    rows = np.array([transform.changed(*both)[index] for both in changed])
    methods = {}
    for key, normalizer in normalizers.items():
        base = normalizer.normalize(W, X, (W, X))
        after = []
        for W1, X1 in changed:
            try:
                result = normalizer.normalize(W1, X1, (W, X))
            except Refusal as error:
                after.append(replace(_case(base, case), problem=error.args[0]))
                continue
            moved = np.abs(result.z - base.z).max() / np.abs(base.z).max()
            after.append(replace(_case(result, case), change=float(moved)))
        verdict = certify(normalizer, transform, seed=seed)
        methods[key] = BeforeAndAfter(normalizer, verdict, _case(base, case), tuple(after))
    row = transform.changed(W, X)[index].copy()
    return AppliedChange(transform, np.asarray(strengths, float), case, index, row, rows, methods)


def _case(result: Normalized, case: int) -> Moments:
    shape = result.z.shape
    # Copies: a row of an array would keep all cases in memory.
    values = (np.broadcast_to(value, shape)[case].copy() for value in result)
    return Moments(*values)
