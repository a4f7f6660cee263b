"""Parameters in nested dictionaries, lists and tuples, with arrays of any library."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from normgeo.base.arguments import shown
from normgeo.base.arrays import Array, as_array
from normgeo.base.refusal import Refusal

DEEPEST = 64
"""The most levels of a tree: one that contains itself would have no end."""


def leaves(tree: Any, name: str = "parameters") -> dict[str, Any]:
    """Return the leaves of a tree by their paths, as "blocks/0/weight".

    >>> leaves({"a": [1.5, {"b": 2.5}]})
    {'a/0': 1.5, 'a/1/b': 2.5}

    """
    found: dict[str, Any] = {}
    _collect(tree, (), found, name)
    return found


def _collect(node: Any, path: tuple[str, ...], found: dict[str, Any], name: str) -> None:
    if len(path) > DEEPEST:
        raise Refusal(
            "`{name}` may be nested {most} levels deep; got more.", name=name, most=DEEPEST
        )
    inside = _inside(node)
    if inside is None:
        found["/".join(path) or name] = node
        return
    for key, value in inside:
        _collect(value, (*path, str(key)), found, name)


def _inside(node: Any) -> list[tuple[Any, Any]] | None:
    if isinstance(node, Mapping):
        return list(node.items())
    return list(enumerate(node)) if isinstance(node, list | tuple) else None


def with_leaves(tree: Any, replaced: Mapping[str, Any], path: tuple[str, ...] = ()) -> Any:
    """Return the tree in new containers of the same kind, with some leaves replaced.

    >>> with_leaves({"a": (1, 2)}, {"a/1": 5})
    {'a': (1, 5)}

    """
    inside = _inside(tree)
    if inside is None:
        return replaced.get("/".join(path) or "parameters", tree)
    new = [with_leaves(value, replaced, (*path, str(key))) for key, value in inside]
    if isinstance(tree, Mapping):
        items = dict(zip(tree, new, strict=True))
        return items if isinstance(tree, dict) and type(tree) is dict else _like(tree, items)
    return type(tree)(*new) if hasattr(tree, "_fields") else type(tree)(new)


def _like(tree: Any, items: dict[Any, Any]) -> Any:
    try:
        return type(tree)(items)
    except TypeError:  # a kind of mapping that is not made from a mapping
        return items


def is_array(leaf: Any) -> bool:
    """Whether a leaf is an array of some library."""
    return hasattr(leaf, "__array__") or hasattr(leaf, "__dlpack__")


def viewed(name: str, leaf: Any) -> Array:
    """Return a leaf as NumPy sees it; floating types that NumPy lacks as float32."""
    try:
        return as_array(name, leaf)
    except (TypeError, ValueError, BufferError, RuntimeError) as error:
        raise Refusal(
            "{name!r} must be an array that NumPy can view; got {kind}, which says: {error!s}",
            name=name,
            kind=type(leaf).__name__,
            error=error,
        ) from error


def kind_of(leaf: Any) -> str:
    """Return the name of an array's type of numbers: "float32", "bfloat16"."""
    return str(getattr(leaf, "dtype", type(leaf).__name__)).rpartition(".")[-1]


def given_back(leaf: Any, values: Array, *, wide: bool) -> Any:
    """Return numbers as an array of the leaf's library and type, or of float64 where `wide`.

    The library is never imported: its own array makes another one.
    """
    if isinstance(leaf, np.ndarray | np.generic):
        array = np.asarray(values, np.float64 if wide else leaf.dtype).view()
        array.flags.writeable = False
        return array
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a library without float64 warns that it takes another
        if callable(made := getattr(leaf, "new_tensor", None)):
            return (made([]).double().new_tensor if wide else made)(values)
        if callable(space := getattr(leaf, "__array_namespace__", None)):
            library = space()
            return library.asarray(values, dtype=library.float64 if wide else leaf.dtype)
        try:
            return type(leaf)(values)
        except (TypeError, ValueError) as error:
            raise Refusal(
                "A changed array must be given back in the kind that came; got {kind}, which "
                "is not made from numbers: {leaf!s}. Give `parameters` as arrays of NumPy and "
                "convert them in the function.",
                kind=type(leaf).__name__,
                leaf=shown(leaf),
            ) from error
