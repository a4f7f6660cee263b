"""A function of a tree of JAX arrays, compiled once and run in double precision where it can be."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from normgeo.measured.measuring import measure as measure_function
from normgeo.measured.table import MeasuredTable


def measure(
    f: Callable[..., Any],
    parameters: Any,
    inputs: Sequence[Any] | None = None,
    *,
    neurons: int | None = None,
    **options: Any,
) -> MeasuredTable:
    """Measure which changes of its parameters a function ignores.

    Args:
        f: (parameters) → outputs, or (parameters, x) → outputs where there are `inputs`. It is
            compiled, so random numbers need a key that stays the same.
        parameters: a tree of arrays: of Flax `variables["params"]`, a module of Equinox, any other
            one. Its leaves that are no arrays of floats are left as they are.
        neurons: the axis that counts the neurons; None for 0 of an Equinox module, −1 of others.
        options: of `normgeo.measure`.

    Raises:
        ValueError: as of `normgeo.measure`.

    Names are paths with "/", as "Dense_0/kernel". Outputs are all arrays of floats that f returns.

    """
    import jax

    named = named_leaves(parameters)
    if neurons is None:
        neurons = 0 if _is_equinox(parameters) else -1
    with jax.enable_x64(True):
        return measure_function(_compiled(f, parameters), named, inputs, neurons=neurons, **options)


def named_leaves(tree: Any) -> dict[str, Any]:
    """Return the arrays of floats of a tree by path, as "Dense_0/kernel"."""
    import jax

    return {
        jax.tree_util.keystr(path, simple=True, separator="/"): leaf
        for path, leaf in jax.tree_util.tree_flatten_with_path(tree)[0]
        if _is_float(leaf)
    }


def _compiled(f: Callable[..., Any], tree: Any) -> Callable[..., Any]:
    """(Leaves by name, and an input) → outputs of floats, compiled."""
    import jax

    leaves, structure = jax.tree_util.tree_flatten(tree)
    places = [place for place, leaf in enumerate(leaves) if _is_float(leaf)]

    def outputs(floats: Sequence[Any], *inputs: Any) -> list[Any]:
        given = list(leaves)
        for place, leaf in zip(places, floats, strict=True):
            given[place] = leaf
        answer = f(jax.tree_util.tree_unflatten(structure, given), *inputs)
        return [leaf for leaf in jax.tree_util.tree_leaves(answer) if _is_float(leaf)]

    compiled = jax.jit(outputs)

    def run(named: Mapping[str, Any], *inputs: Any) -> list[Any]:
        if {str(leaf.dtype) for leaf in named.values()} == {"float64"}:
            inputs = jax.tree_util.tree_map(_widened, inputs)
        found: list[Any] = compiled([*named.values()], *inputs)
        return found

    return run


def _is_float(leaf: Any) -> bool:
    import jax.numpy as jnp

    return hasattr(leaf, "dtype") and jnp.issubdtype(leaf.dtype, jnp.floating)


def _widened(leaf: Any) -> Any:
    import jax.numpy as jnp

    return jnp.asarray(leaf, jnp.float64) if _is_float(leaf) else leaf


def _is_equinox(tree: Any) -> bool:
    equinox = sys.modules.get("equinox")
    return equinox is not None and isinstance(tree, equinox.Module)
