"""Means along cases, neurons and features, and the remainders without them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from normgeo.base.arrays import Array
from normgeo.normalizers.statistic import group_size


def without(M: Array, mean: Callable[[Array], Array | None]) -> Array:
    """M minus its mean, which broadcasts against it, subtracted twice.

    The rounding error of a mean is relative to the averaged numbers. If they are far larger than
    the remainder, the second pass removes the error of the first; on exact numbers it subtracts 0.
    """
    for _ in range(2):
        taken = mean(M)
        if taken is None:
            return M
        M = M - taken
    return M


def mean_along(M: Array, axis: int) -> Array:
    """The mean along an axis, which is kept; `M.mean` with less overhead."""
    mean: Array = np.add.reduce(M, axis=axis, keepdims=True) / M.shape[axis]
    return mean


def group_means(W: Array, groups: int) -> Array:
    """The mean row of each of G equal groups of the rows of W (…, H, D), (…, G, D)."""
    if groups == 1:
        return mean_along(W, -2)
    *stack, H, D = W.shape
    rows = W.reshape(*stack, groups, group_size(H, groups), D)
    means: Array = mean_along(rows, -2)[..., 0, :]
    return means


def to_neurons(means: Array, neurons: int) -> Array:
    """Repeat rows, one for each group (…, G, D), for the H neurons."""
    groups = means.shape[-2]
    return means if groups == 1 else np.repeat(means, neurons // groups, axis=-2)


def added_to(M: Array, mean: Callable[[Array], Array | None]) -> Array:
    """M plus its mean, if it has one."""
    taken = mean(M)
    return M if taken is None else M + taken
