"""Networks without a norm, dead units and rows of zeros among them."""

from typing import Any

import numpy as np

from tests.measured.networks import inputs
from tests.measured.networks.known import Arrays, drawn, known
from tools.numpy_layers import (
    batch_norm,
    relu,
)


@known(
    "relu_pairs",
    draw=lambda rng: {
        n: a + 2 * (n == "c")
        for n, a in drawn(W=(6, 5), b=6, V=(4, 6), c=4, U=(3, 4), u=3)(rng).items()
    },
    signs={
        "W": "✗✗✗✗✗✗",
        "b": "✗✗✗",
        "V": "✗✗✗✗✗✗",
        "c": "✗✗✗",
        "U": "✗✗✗✗✗✗",
        "u": "✗✗✗",
    },
    trades=frozenset({"rows of W, b × δ, columns of V ÷ δ", "rows of V, c × δ, columns of U ÷ δ"}),
)
def _(p: Arrays) -> Any:
    h = relu(inputs.X @ p["W"].T + p["b"])
    return relu(h @ p["V"].T + p["c"]) @ p["U"].T + p["u"]


@known(
    "tanh",
    draw=drawn(W=(6, 5), b=6, V=(3, 6)),
    signs={"W": "✗✗✗✗✗✗", "b": "✗✗✗", "V": "✗✗✗✗✗✗"},
)
def _(p: Arrays) -> Any:
    return np.tanh(inputs.X @ p["W"].T + p["b"]) @ p["V"].T


@known(
    "gated",
    draw=drawn(G=(6, 5), U=(6, 5), D=(3, 6)),
    # silu(G x) is not homogeneous, U x is.
    signs={"G": "✗✗✗✗✗✗", "U": "✗✗✗✗✗✗", "D": "✗✗✗✗✗✗"},
    trades=frozenset({"rows of U × δ, columns of D ÷ δ"}),
)
def _(p: Arrays) -> Any:
    a = inputs.X @ p["G"].T
    return (a / (1 + np.exp(-a)) * (inputs.X @ p["U"].T)) @ p["D"].T


def _units(rng: np.random.Generator) -> Arrays:
    return drawn(W=(6, 5), b=6, V=(3, 6))(rng)


def with_dead_unit(rng: np.random.Generator) -> Arrays:
    p = _units(rng)
    p["b"][1] = -100
    return p


@known(
    "dead_relu",
    draw=with_dead_unit,
    signs={"W": "✗✗✗✗✗✗", "b": "✗✗✗", "V": "✗✗✗✗✗✗"},
    dead={"W": (1,), "b": (1,)},
    trades=frozenset({"rows of W, b × δ, columns of V ÷ δ"}),
)
def _(p: Arrays) -> Any:
    return relu(inputs.X @ p["W"].T + p["b"]) @ p["V"].T


def with_row_of_zeros(rng: np.random.Generator) -> Arrays:
    p = _units(rng)
    p["W"][2] = 0
    return p


@known(
    "row_of_zeros",
    draw=with_row_of_zeros,
    signs={"W": "✗✗✗✗✗✗", "b": "✗✗✗", "V": "✗✗✗✗✗✗"},
    zeros={"W": (2,)},
)
def _(p: Arrays) -> Any:
    return np.tanh(inputs.X @ p["W"].T + p["b"]) @ p["V"].T


def with_gain_of_zero(rng: np.random.Generator) -> Arrays:
    p = drawn(W=(6, 5), g=6, s=6, V=(3, 6), unused=6)(rng)
    p["g"][2] = 0
    return p


@known(
    "gain_of_zero",
    draw=with_gain_of_zero,
    # What the gain multiplies by 0 may be anything; the norm whose gain is `unused` is not called.
    signs={"W": "≈≈✗✗✗✗", "g": "✗✗✗", "s": "✗✗✗", "V": "✗✗✗✗✗✗", "unused": "---"},
    places={"W": ("after",), "V": ("before",), "unused": ("unused",)},
    blocks={"W": 6},
    zeros={"g": (2,)},
    dead={"W": (2,), "unused": tuple(range(6))},
    trades=frozenset({"g, s × δ, columns of V ÷ δ"}),
    roles={"g": "gain"},
)
def _(p: Arrays) -> Any:
    return (batch_norm(inputs.X @ p["W"].T, eps=1e-5) * p["g"] + p["s"]) @ p["V"].T
