"""Why a change changes z or not: the effect on a, μ and σ, found by exact evaluation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from typing import final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.invariance import exact
from normgeo.invariance.transforms import Transform
from normgeo.normalizers.normalizer import Normalizer


class Law(StrEnum):
    """The effect of a change on a quantity."""

    ABSENT = "absent"
    """There is no such quantity: μ = 0, or σ = 1."""
    SAME = "same"
    SCALED = "scaled"
    """It is multiplied by δ; a scale by |δ|, since σ is not negative."""
    SHIFTED = "shifted"
    """It moves by the same s as a."""
    OTHERWISE = "otherwise"


@final
@dataclass(frozen=True)
class Laws:
    """The effect of a change on the summed input, its mean and its scale, where rows change.

    Attributes:
        summed_input, mean, scale: of a, μ and σ, at ε = 0.
        elsewhere: whether z changes where no row was changed.

    """

    summed_input: Law
    mean: Law
    scale: Law
    elsewhere: bool


def laws(normalizer: Normalizer, transform: Transform) -> Laws:
    """Return the effect of a change on a, μ and σ of z = (a − μ)/σ, for generic W and X.

    It is evaluated once at random integers below 2⁶¹ in exact arithmetic, as in `certify`; frozen
    statistics are those of another batch.

    >>> from normgeo import NORMALIZERS, TRANSFORMS
    >>> found = laws(NORMALIZERS["layer"], TRANSFORMS["case_rescaling"])
    >>> found.mean, found.scale
    (<Law.SCALED: 'scaled'>, <Law.SCALED: 'scaled'>)

    """
    rng = np.random.default_rng(0)
    ideal = replace(normalizer, eps=Fraction(0))
    neurons = 4 if normalizer.groups == 1 else 3 * normalizer.groups
    W, X, W0, X0 = (exact.draw(rng, (rows, 4)) for rows in (neurons, 5, neurons, 5))
    delta, gamma = exact.draw_factor(rng), None
    if transform.rescales:
        W1, X1 = transform(W, X, delta=delta)
    else:
        gamma = exact.draw(rng, transform.gamma_shape(W, X))
        W1, X1 = transform(W, X, gamma=gamma)
    A, A1 = X @ W.T, X1 @ W1.T
    (C, v), (C1, v1) = ideal.moments(W, X, (W0, X0)), ideal.moments(W1, X1, (W0, X0))
    v, v1 = np.broadcast_to(v, C.shape), np.broadcast_to(v1, C.shape)
    here = transform.reaches(C.shape)
    moved = C1 * C1 * v != C * C * v1
    return Laws(
        _law(A[here], A1[here], delta, (A1 - A)[here]),
        _law((A - C)[here], (A1 - C1)[here], delta, (A1 - A)[here])
        if normalizer.centering.subtracts
        else Law.ABSENT,
        _law(v[here], v1[here], delta * delta, None) if normalizer.scaling.divides else Law.ABSENT,
        elsewhere=bool(moved[~here].any()),
    )


def _law(before: Array, after: Array, factor: Fraction, shift: Array | None) -> Law:
    if np.array_equal(after, before):
        return Law.SAME
    if np.array_equal(after, factor * before):
        return Law.SCALED
    if shift is not None and np.array_equal(after - before, shift):
        return Law.SHIFTED
    return Law.OTHERWISE
