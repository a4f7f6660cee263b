"""Arrays of any library that NumPy can view, found in the mappings that models keep them in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.base.text import text

_NAMES = 8  # in a sentence


def found_in(arrays: object, name: str) -> Any:
    """Return the entry of a mapping, or of mappings inside it where the name has "/" in it.

    Raises:
        ValueError: no mapping, or no such name.

    >>> found_in({"params": {"Dense_0": {"kernel": 1.5}}}, "params/Dense_0/kernel")
    1.5

    """
    if isinstance(arrays, Mapping) and name in arrays:
        return arrays[name]
    here: Any = arrays
    for part in name.split("/"):
        if not isinstance(here, Mapping) or part not in here:
            held = list(arrays)[:_NAMES] if isinstance(arrays, Mapping) else ()
            raise Refusal(
                text(
                    "Weights are named as in the mapping that they are kept in, with / between "
                    "the names of nested ones; there is no {name!r} in it, which holds {names!s}.",
                    name=name,
                    names=", ".join(map(str, held)) or text("nothing"),
                )
            )
        here = here[part]
    return here


def viewed(name: str, values: Any) -> Array:
    """Return numbers as an array, without a copy where NumPy can view them, of any floating type.

    An array of another library has `__array__` or `__dlpack__`, once `detach` and `cpu` are
    called where it has them; a type that NumPy lacks becomes `float` where it has that.

    Raises:
        ValueError: no real numbers.

    """
    for method in ("detach", "cpu"):
        if callable(ready := getattr(values, method, None)):
            values = ready()
    try:
        array = _as_array(values)
    except (TypeError, ValueError, BufferError, RuntimeError) as error:
        if not callable(widened := getattr(values, "float", None)):
            raise _refused(name, type(values).__name__) from error
        array = _as_array(widened())
    if array.dtype.kind in "iub" or (array.dtype.kind == "V" and array.dtype.names is None):
        try:
            return array.astype(np.float32)
        except (TypeError, ValueError) as error:
            raise _refused(name, str(array.dtype)) from error
    if array.dtype.kind != "f":
        raise _refused(name, str(array.dtype))
    return array


def _as_array(values: Any) -> Array:
    if not hasattr(values, "__array__") and hasattr(values, "__dlpack__"):
        return np.from_dlpack(values)
    return np.asarray(values)


def _refused(name: str, kind: str) -> Refusal:
    return Refusal(
        text(
            "Weights must be arrays of real numbers that NumPy can view, by `__array__` or "
            "`__dlpack__`; {name!r} is of type {kind!s}.",
            name=name,
            kind=kind,
        )
    )
