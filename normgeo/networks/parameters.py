"""Checks of parameters that come in parts, each an array of a shape."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from normgeo.base.arguments import shown
from normgeo.base.arrays import Array, real_array
from normgeo.base.refusal import Refusal


def parts_of(name: str, values: object, letters: str) -> tuple[Any, ...]:
    """Return the parts that the letters name, given as a list or a tuple.

    >>> parts_of("last", [1, 2], "g β")
    (1, 2)

    """
    if not isinstance(values, list | tuple) or len(values) != len(letters.split()):
        listed = ", ".join(letters.split())
        raise Refusal(
            "`{name}` must be ({parts}); got {value}.", name=name, parts=listed, value=shown(values)
        )
    return tuple(values)


def of_shape(name: str, values: ArrayLike, *shape: int | None) -> Array:
    """Return finite float64 numbers in a shape; None stands for any length.

    >>> of_shape("b", [1, 2], 2)
    array([1., 2.])

    """
    array = real_array(name, values, len(shape)).astype(np.float64, copy=False)
    if any(wanted not in (None, found) for wanted, found in zip(shape, array.shape, strict=True)):
        raise Refusal(
            "`{name}` must have shape ({shape}); got {found}.",
            name=name,
            shape=", ".join("…" if one is None else str(one) for one in shape),
            found=array.shape,
        )
    return array


def require_finite(what: str, arrays: Iterable[Array]) -> None:
    """Refuse results that overflowed."""
    if not all(np.isfinite(array).all() for array in arrays):
        raise Refusal(
            "{what} exceed the largest float. Use smaller weights, smaller inputs or a norm.",
            what=what,
        )
