"""Checks of array arguments of any meaning."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from normgeo.base.refusal import Refusal
from normgeo.base.text import text

Array = NDArray[Any]

MOST_AXES = 64
"""The most axes of a NumPy array."""

LARGEST_BYTES = 2 * 2**30
"""Largest memory of an array whose size a number decides, such as the steps of a run."""


def real_array(name: str, values: ArrayLike, ndim: int, most: int | None = None) -> Array:
    """Return `values` as a finite, non-empty array of real floats with `ndim` axes.

    float16, float32 and float64 keep their type; integers, booleans and longer floats become
    float64.

    Args:
        name: of the argument. values: what arrived.
        ndim: the number of axes, or the least where `most` is the largest.

    Raises:
        Refusal: the values are not real numbers, not finite, empty, masked, of rows with
            different lengths, or have another number of axes.

    """
    if type(values) is np.ndarray and _is_plain(values) and ndim <= values.ndim <= (most or ndim):
        return values  # as in each step of a training, whose arrays are computed
    require_unmasked(name, values)
    try:
        array = as_array(name, values)
    except Refusal:
        raise  # the value itself refused to become an array
    except (TypeError, BufferError, RuntimeError) as error:
        raise _no_numbers(name, type(values).__name__) from error
    except ValueError as error:
        raise Refusal(
            "`{name}` must be a rectangular array of numbers; got rows of different lengths.",
            name=name,
        ) from error
    if array.dtype.kind in "bui" or (array.dtype.kind == "f" and array.dtype.itemsize > 8):
        with np.errstate(over="ignore"):
            array = array.astype(np.float64)
    if array.dtype.kind != "f":
        raise _no_numbers(name, str(array.dtype))
    if not ndim <= array.ndim <= (ndim if most is None else most):
        raise Refusal(
            "`{name}` must have {axes}; got an array of shape {shape}.",
            name=name,
            axes=_axes(ndim, most),
            shape=array.shape,
        )
    if array.size == 0:
        raise Refusal(
            "`{name}` must not be empty; got an array of shape {shape}.",
            name=name,
            shape=array.shape,
        )
    bad = array.size - np.count_nonzero(np.isfinite(array))
    if bad:
        raise Refusal(
            "`{name}` must hold finite numbers; got {bad} NaN or infinite among {size}. "
            "Remove or impute them first.",
            name=name,
            bad=bad,
            size=array.size,
        )
    # Arrays from files keep the byte order of the file, which not every library supports.
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _is_plain(array: Array) -> bool:
    """Whether there is nothing to convert or to refuse in an array, but its number of axes."""
    dtype, flags = array.dtype, array.flags
    return bool(
        dtype.kind == "f"
        and dtype.itemsize <= 8
        and dtype.isnative
        and (flags.c_contiguous or flags.f_contiguous)
        and array.size
        and np.isfinite(array).all()
    )


def as_array(name: str, values: Any) -> Array:
    """Return numbers of any library as an array, without a copy where NumPy can view them.

    An array of another library has `__array__` or `__dlpack__`, after `detach` and `cpu` if it has
    these. A floating type that NumPy lacks becomes float32, by the array's `float` if necessary.

    Raises:
        Refusal: an array of that name would take too much memory.
        TypeError, ValueError, BufferError, RuntimeError: the other library's own reason.

    """
    require_extent(name, values)
    for method in ("detach", "cpu"):
        if callable(ready := getattr(values, method, None)):
            values = ready()
    try:
        array = _viewed(values)
    except (TypeError, ValueError, BufferError, RuntimeError):
        if not callable(widened := getattr(values, "float", None)):
            raise
        array = _viewed(widened())
    if array.dtype.kind == "V" and array.dtype.names is None:
        array = array.astype(np.float32)
    require_extent(name, array)
    return array


def _viewed(values: Any) -> Array:
    if not hasattr(values, "__array__") and hasattr(values, "__dlpack__"):
        return np.from_dlpack(values)
    return np.asarray(values)


def _no_numbers(name: str, kind: str) -> Refusal:
    return Refusal(
        "`{name}` must hold real numbers; got elements of type {kind}.", name=name, kind=kind
    )


def require_unmasked(name: str, values: object) -> None:
    """Refuse a masked array, or one inside lists, whose mask would be lost."""
    if is_masked(values):
        raise Refusal(
            "`{name}` must hold plain numbers; got a masked array, whose mask would be lost. "
            "Drop the masked cases or fill them in first.",
            name=name,
        )


def is_masked(values: object) -> bool:
    """Whether a mask would be lost, of an array or of one inside lists."""
    waiting, seen = [values], set[int]()
    while waiting:
        value = waiting.pop()
        if isinstance(value, np.ma.MaskedArray):
            return True
        if isinstance(value, list | tuple) and id(value) not in seen:
            seen.add(id(value))
            waiting.extend(value)
    return False


def require_extent(name: str, values: object) -> None:
    """Refuse small objects that stand for large arrays: ranges, repeated views, nested lists.

    The shape is taken from the first entries; lists of other lengths are refused later.
    """
    shape: list[int] = []
    inside: Any = values
    while isinstance(inside, list | tuple | range):
        if len(shape) == MOST_AXES:
            raise Refusal(
                "`{name}` must be an array of at most {most} axes; got lists that are nested "
                "deeper.",
                name=name,
                most=MOST_AXES,
            )
        shape.append(_length(inside))
        if not shape[-1]:
            return
        inside = inside[0]
    if isinstance(inside, np.ndarray) and (shape or _repeats(inside)):
        shape += inside.shape
    require_room(f"`{name}`", *shape)


def require_same_features(W: Array, X: Array) -> None:
    """Refuse W (H, D) and X (N, D) that do not agree in D."""
    if W.shape[1] != X.shape[1]:
        raise Refusal(
            "`W` (H, D) and `X` (N, D) must have the same number of features D; "
            "got W of shape {W} and X of shape {X}.",
            W=W.shape,
            X=X.shape,
        )


def require_same_cases(X: Array, y: Array) -> None:
    """Refuse inputs X (N, D) and targets y (N,) or (N, H) that do not agree in N."""
    if len(X) != len(y):
        raise Refusal(
            "`X` and `y` must have a row for each of the same cases; got {X} rows in X and {y} "
            "in y.",
            X=len(X),
            y=len(y),
        )


def weights_and_inputs(W: ArrayLike, X: ArrayLike) -> tuple[Array, Array]:
    """Return W (H, D) and X (N, D) as finite float matrices that agree in D."""
    weights, inputs = real_array("W", W, 2), real_array("X", X, 2)
    require_same_features(weights, inputs)
    return weights, inputs


def require_room(what: str, *shape: int) -> None:
    """Refuse an array of floats of a shape that would take more than LARGEST_BYTES."""
    if 8 * prod(shape) > LARGEST_BYTES:
        raise Refusal(
            "{what} would take {needed:.3g} GiB of memory; at most {most:.3g} GiB are taken. "
            "Ask for less.",
            what=what,
            needed=8 * prod(shape) / 2**30,
            most=LARGEST_BYTES / 2**30,
        )


def _repeats(array: Array) -> bool:
    """Whether an array has more entries than fit into its memory from the first to the last."""
    steps = zip(array.shape, array.strides, strict=True)
    reach = array.itemsize + sum(abs(step) * (count - 1) for count, step in steps)
    return bool(array.nbytes > reach)


def _length(values: Sequence[object]) -> int:
    if isinstance(values, range):  # their `len` fails from 2⁶³
        return max(0, -(-(values.stop - values.start) // values.step))
    return len(values)


def _axes(ndim: int, most: int | None) -> str:
    if most is not None:
        return text("{ndim} to {most} axes", ndim=ndim, most=most)
    return text("1 axis") if ndim == 1 else text("{ndim} axes", ndim=ndim)
