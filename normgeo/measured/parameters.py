"""The arrays of a tree that can be measured, each with the axis of its neurons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, final

import numpy as np

from normgeo.base.arguments import entries, instance_of, shown, whole_number
from normgeo.base.arrays import Array, require_unmasked
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.measured.tree import is_array, leaves, viewed
from normgeo.normalizers.blocks import lengths


@final
@dataclass(frozen=True, eq=False)
class Tensor:
    """One array of the parameters, with the axes of its neurons and of its inputs.

    Attributes:
        name: its path. values: its numbers, read-only. rows: the axis of its neurons, or of its
            entries. columns: the axis of its inputs, None for a vector.
        tied: names of tensors in the same memory, and whether they are transposed.

    """

    name: str
    values: Array
    rows: int
    columns: int | None
    tied: tuple[tuple[str, bool], ...] = ()

    @classmethod
    def of(
        cls,
        name: str,
        values: Array,
        neurons: int,
        tied: Sequence[tuple[str, bool]] = (),
        *,
        is_matrix: bool | None = None,
    ) -> Tensor:
        """See an array with its neurons along the first axis, or along the last one (−1).

        An array with a single long axis among two or more is the matrix of a layer with one output
        or one input, or a vector. No change distinguishes them: a gain whose outputs are summed is
        a weight with one row. Unless stated, two axes with one row are a matrix, others a vector.

        >>> Tensor.of("k", np.ones((3, 3, 4, 8)), -1).columns
        2
        >>> Tensor.of("g", np.ones((8, 1)), 0).columns is None
        True
        >>> Tensor.of("k", np.ones((1, 8, 1, 1)), 0, is_matrix=True).columns
        1

        """
        last = values.ndim - 1
        rows, columns = (0, 1) if neurons == 0 else (last, last - 1)
        long = [axis for axis, length in enumerate(values.shape) if length > 1]
        if is_matrix is None:
            is_matrix = values.ndim == 2 and long == [columns]
        if values.ndim < 2 or (len(long) < 2 and not is_matrix):
            return cls(name, values, long[0] if long else 0, None, tuple(tied))
        return cls(name, values, rows, columns, tuple(tied))

    @property
    def is_vector(self) -> bool:
        """Whether it has one number for each neuron, as a gain or a bias."""
        return self.columns is None

    def along(self, axis: int) -> int:
        """How many rows or columns there are along an axis; 1 for a single number."""
        return self.values.shape[axis] if self.values.ndim else 1

    @property
    def size(self) -> float:
        """The root mean square of its entries."""
        flat = self.values.astype(np.float64, copy=False).reshape(1, -1)
        return float(lengths(flat)[0] / sqrt(flat.size))


def measurable(parameters: Any) -> dict[str, Any]:
    """Return the arrays of floats of a tree, by name; refuse a tree without any."""
    found = {}
    for name, leaf in leaves(parameters).items():
        if not is_array(leaf):
            continue
        require_unmasked(name, leaf)
        values = viewed(name, leaf)
        if values.dtype.kind == "c":
            raise Refusal("{name!r} must hold real numbers; got complex ones.", name=name)
        if values.dtype.kind != "f" or not values.size:
            continue
        found[name] = leaf
    if not found:
        raise Refusal(
            "`parameters` must hold at least one array of floats, in dictionaries, lists or "
            "tuples; got {parameters}.",
            parameters=shown(parameters),
        )
    return found


Neurons = int | Mapping[str, int]
"""The axis of the neurons, 0 or −1: for all tensors, or by name and 0 for the others."""


def axis_of(neurons: Neurons, name: str) -> int:
    """Return the axis of the neurons of one tensor.

    >>> axis_of({"kernel": -1}, "kernel"), axis_of({"kernel": -1}, "weight")
    (-1, 0)

    """
    return neurons if isinstance(neurons, int) else neurons.get(name, 0)


def require_axes(neurons: Any) -> Neurons:
    """Return the axis of the neurons, or axes by name, as they were given; refuse others."""
    if not isinstance(neurons, Mapping):
        return whole_number("neurons", neurons, -1, 0)
    return {str(name): whole_number("neurons", axis, -1, 0) for name, axis in neurons.items()}


def require_names(argument: str, given: Any) -> tuple[str, ...]:
    """Return names of tensors as they were given; refuse others."""
    names = entries(argument, given, text("names"))
    return tuple(instance_of(argument, name, str) for name in names)


def tensors_of(
    arrays: Mapping[str, Any], neurons: Neurons, matrices: Sequence[str] | None = None
) -> dict[str, Tensor]:
    """Turn arrays into tensors; arrays in the same memory become one.

    Args:
        arrays: by name. neurons, matrices: as in `measure`.

    """
    seen: dict[str, tuple[Array, list[tuple[str, bool]]]] = {}
    for name, leaf in arrays.items():
        values = viewed(name, leaf)
        for first, (other, tied) in seen.items():
            if leaf is arrays[first] or _same(values, other):
                tied.append((name, False))
            elif _same(values.T, other):
                tied.append((name, True))
            elif isinstance(leaf, np.ndarray) and np.shares_memory(values, other):
                raise Refusal(
                    "{name!r} and {first!r} share some of their memory, so neither is changed "
                    "alone. Give the whole array once, and take its parts in the function.",
                    name=name,
                    first=first,
                )
            else:
                continue
            break
        else:
            seen[name] = values, []
    return {
        name: Tensor.of(
            name,
            values,
            axis_of(neurons, name),
            tied,
            is_matrix=None if matrices is None else name in matrices,
        )
        for name, (values, tied) in seen.items()
    }


def _same(one: Array, other: Array) -> bool:
    """Whether two arrays are the same view of the same memory."""
    address = one.__array_interface__["data"][0]
    return (
        one.size > 0
        and address == other.__array_interface__["data"][0]
        and (one.shape, one.strides) == (other.shape, other.strides)
    )
