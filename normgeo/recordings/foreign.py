"""Find arrays of any library that NumPy can view, in the mappings of models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from normgeo.base.arrays import Array, as_array, is_masked
from normgeo.base.refusal import Refusal
from normgeo.base.text import printable, text

_NAMES = 8  # in a sentence

WEIGHTS, GRADIENTS = text("Weights"), text("Gradients")  # what arrays are, for a sentence


def found_in(arrays: object, name: str, what: str = WEIGHTS) -> Any:
    """Return the entry of a mapping, or of nested mappings for a name with "/".

    `what` names the entries in the sentence of a refusal.

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
                "{what} are named as in the mapping that they are kept in, with / between "
                "the names of nested ones; there is no {name!r} in it, which holds {names!s}.",
                what=what,
                name=name,
                names=", ".join(map(str, held)) or text("nothing"),
            )
        here = here[part]
    return here


def viewed(name: str, values: Any, what: str = WEIGHTS) -> Array:
    """Return numbers as an array, without a copy where NumPy can view them, of any floating type.

    Raises:
        ValueError: no real numbers, or a mask, which would be lost.

    """
    if is_masked(values):
        raise Refusal(
            "{what} must be plain numbers; {name!r} is a masked array, whose mask would be "
            "lost. Fill the masked ones in first.",
            what=what,
            name=name,
        )
    try:
        array = as_array(printable(name), values)
    except Refusal:
        raise
    except (TypeError, ValueError, BufferError, RuntimeError) as error:
        raise _refused(name, type(values).__name__, what) from error
    if array.dtype.kind in "iub":
        return array.astype(np.float32)
    if array.dtype.kind != "f":
        raise _refused(name, str(array.dtype), what)
    return array


def _refused(name: str, kind: str, what: str) -> Refusal:
    return Refusal(
        "{what} must be arrays of real numbers that NumPy can view, by `__array__` or "
        "`__dlpack__`; {name!r} is of type {kind!s}.",
        what=what,
        name=name,
        kind=kind,
    )
