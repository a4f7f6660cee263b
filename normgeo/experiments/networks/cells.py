"""Normalized LSTM and GRU cells in JAX: the equations of normgeo.CELLS, to be compiled.

    (f, i, o, u) = LN(W_h h) + LN(W_x x)
    c' = σ(f) ⊙ c + σ(i) ⊙ tanh(u),    h' = σ(o) ⊙ tanh(LN(c'))

and, of a GRU,

    (z, r) = LN(W_h h) + LN(W_x x)
    u = tanh(LN(W x) + σ(r) ⊙ LN(U h)),    h' = (1 − σ(z)) ⊙ h + σ(z) ⊙ u

Statistics are common to all gates of a product, as printed in Eq. 20 of the paper; those of batch
norm are over the cases, at each time step. Without a norm LN(a) = a + b. Gradients are JAX's.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from normgeo.experiments.results import BATCH, EVERYWHERE, LAYER

EPS = 1e-5  # added to σ²: at the first step h = 0, and W_h h has no spread

AXES = {"g": -1, "g_batch": -2}
"""What a gain says by its name: whether statistics are over the neurons or over the cases."""

FIRST_GAIN = {LAYER: 1.0, BATCH: 0.1, EVERYWHERE: 0.1}
"""1 in the paper, 0.1 in Cooijmans et al., Recurrent batch normalization, 2017."""

Tree = dict[str, Any]
"""Parameters or cases: arrays by name, in dictionaries of dictionaries."""

State = tuple[jax.Array, jax.Array]
"""h and c, each (S, H)."""


def normalize(unit: Tree, a: jax.Array) -> jax.Array:
    """LN(a) = g (a − μ)/√(σ² + ε) + b for a (cases, neurons); a + b for a unit without a gain."""
    for gain, axis in AXES.items():
        if gain in unit:
            centered = a - a.mean(axis, keepdims=True)
            variance = (centered * centered).mean(axis, keepdims=True)
            return unit[gain] * centered * jax.lax.rsqrt(variance + EPS) + unit["b"]
    return a + unit["b"]


def gains(method: str, neurons: int) -> Tree:
    """Return the first gains of a unit under the name that says how it is normalized, if it is."""
    if method not in FIRST_GAIN:
        return {}
    name = "g" if method == LAYER else "g_batch"
    return {name: FIRST_GAIN[method] * jnp.ones(neurons)}


def init_lstm(key: jax.Array, neurons: int, features: int, method: str) -> Tree:
    """Return W_h (4H, H) and W_x (4H, F) of variance 1/D, gains, and a forget bias of 1."""
    of_state, of_inputs = jax.random.split(key)
    forget = jnp.repeat(jnp.array([1.0, 0, 0, 0]), neurons)
    normed = gains(method, 4 * neurons)
    cell: Tree = {
        "h": {"W": _normal(of_state, 4 * neurons, neurons), "b": forget, **normed},
        "x": {"W": _normal(of_inputs, 4 * neurons, features), "b": jnp.zeros(4 * neurons)} | normed,
    }
    if normed:
        cell["c"] = {"b": jnp.zeros(neurons), **gains(method, neurons)}
    return cell


def lstm(cell: Tree, state: State, x: jax.Array) -> State:
    """Return the state after a step with inputs x (S, F)."""
    h, c = state
    sums = sum(normalize(cell[of], a @ cell[of]["W"].T) for of, a in (("h", h), ("x", x)))
    f, i, o, u = jnp.split(sums, 4, axis=-1)
    c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(u)
    shown = normalize(cell["c"], c) if "c" in cell else c
    return jax.nn.sigmoid(o) * jnp.tanh(shown), c


def init_gru(key: jax.Array, neurons: int, features: int, method: str) -> Tree:
    """Return W_h (2H, H), W_x (2H, F), W (H, F) and U (H, H), of variance 1/D, and gains."""
    sizes = {
        "h": (2 * neurons, neurons),
        "x": (2 * neurons, features),
        "W": (neurons, features),
        "U": (neurons, neurons),
    }
    cell: Tree = {}
    for one, (name, (outputs, inputs)) in zip(
        jax.random.split(key, len(sizes)), sizes.items(), strict=True
    ):
        cell[name] = init_linear(one, outputs, inputs) | gains(method, outputs)
    return cell


def gru(cell: Tree, h: jax.Array, x: jax.Array) -> jax.Array:
    """Return the state (S, H) after a step with inputs x (S, F)."""
    of_h, of_x, of_input, of_state = (
        normalize(cell[name], a @ cell[name]["W"].T)
        for name, a in (("h", h), ("x", x), ("W", x), ("U", h))
    )
    z, r = jnp.split(jax.nn.sigmoid(of_h + of_x), 2, axis=-1)
    return h + z * (jnp.tanh(of_input + r * of_state) - h)


def rest(cases: int, neurons: int) -> State:
    """h⁰ = c⁰ = 0, (S, H) each."""
    return jnp.zeros((cases, neurons)), jnp.zeros((cases, neurons))


def init_linear(key: jax.Array, outputs: int, inputs: int, size: float = 1.0) -> Tree:
    """Return W (K, D) of variance size²/D, and b = 0."""
    return {"W": size * _normal(key, outputs, inputs), "b": jnp.zeros(outputs)}


def linear(unit: Tree, x: jax.Array) -> jax.Array:
    """W x + b."""
    return x @ unit["W"].T + unit["b"]


def _normal(key: jax.Array, outputs: int, inputs: int) -> jax.Array:
    return jax.random.normal(key, (outputs, inputs)) / inputs**0.5
