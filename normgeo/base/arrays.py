"""Checks that any array argument must pass, whatever it means."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from normgeo.base.refusal import Refusal

Array = NDArray[Any]


def is_whole(value: object) -> bool:
    """Whether `value` is an integer by type, Python's or NumPy's."""
    return isinstance(value, Integral)


def real_array(name: str, values: ArrayLike, ndim: int) -> Array:
    """Return `values` as a finite, non-empty array of real floats with `ndim` axes.

    float16, float32 and float64 keep their type; integers and booleans become float64.

    Raises:
        ValueError: the values are not real numbers, not finite, empty, or have another number
            of axes.

    """
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise Refusal(
            f"`{name}` must be a rectangular array of numbers; got rows of different lengths."
        ) from error
    if array.dtype.kind in "bui":
        array = array.astype(np.float64)
    if array.dtype.kind != "f":
        raise Refusal(f"`{name}` must hold real numbers; got elements of type {array.dtype}.")
    if array.ndim != ndim:
        raise Refusal(
            f"`{name}` must have {ndim} {'axis' if ndim == 1 else 'axes'}; "
            f"got an array of shape {array.shape}."
        )
    if array.size == 0:
        raise Refusal(f"`{name}` must not be empty; got an array of shape {array.shape}.")
    bad = array.size - np.count_nonzero(np.isfinite(array))
    if bad:
        raise Refusal(
            f"`{name}` must hold finite numbers; got {bad} NaN or infinite among {array.size}. "
            "Remove or impute them first."
        )
    return array


def require_same_features(W: Array, X: Array) -> None:
    """Refuse W (H, D) and X (N, D) that do not agree in D."""
    if W.shape[1] != X.shape[1]:
        raise Refusal(
            "`W` (H, D) and `X` (N, D) must have the same number of features D; "
            f"got W of shape {W.shape} and X of shape {X.shape}."
        )


def weights_and_inputs(W: ArrayLike, X: ArrayLike) -> tuple[Array, Array]:
    """Return W (H, D) and X (N, D) as finite float matrices that agree in D."""
    weights, inputs = real_array("W", W, 2), real_array("X", X, 2)
    require_same_features(weights, inputs)
    return weights, inputs
