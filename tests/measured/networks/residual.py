"""Residual networks, with norms before their blocks and after their sums."""

from typing import Any

import numpy as np

from tests.measured.networks import inputs
from tests.measured.networks.known import Arrays, drawn, known
from tools.numpy_layers import (
    layer_norm,
    relu,
    rms_norm,
)


@known(
    "pre_norm",
    draw=drawn(E=(6, 5), g=6, W=(8, 6), b=8, V=(6, 8), G=(7, 6), c=7, U=(6, 7), gf=6, H=(3, 6)),
    # What is added to the stream may be scaled together, and shifted by the same for all of D.
    signs={
        "E": "✗✗✓✗✗✗",
        "g": "✗✗✗",
        "W": "✗✗✗✗✗✗",
        "b": "✗✗✗",
        "V": "✗✗✓✗✗✗",
        "G": "✗✗✗✓✗✓",
        "c": "✗✗✗",
        "U": "✗✗✓✗✗✗",
        "gf": "✗✗✗",
        "H": "✗✗✗✗✗✗",
    },
    places={
        "E": ("after_sum",),
        "W": ("before",),
        "V": ("after_sum",),
        "G": ("before",),
        "U": ("after_sum",),
        "H": ("before",),
    },
    trades=frozenset(
        {
            "all of E, all of V, all of U × δ",
            "g × δ, columns of W ÷ δ",
            "rows of W, b × δ, columns of V ÷ δ",
            "rows of G, c × δ, columns of U ÷ δ",
            "gf × δ, columns of H ÷ δ",
        }
    ),
    roles={"g": "gain", "gf": "gain"},
)
def _(p: Arrays) -> Any:
    x = inputs.X @ p["E"].T
    x = x + relu(layer_norm(x) * p["g"] @ p["W"].T + p["b"]) @ p["V"].T
    x = x + relu(layer_norm(x) @ p["G"].T + p["c"]) @ p["U"].T  # a norm without a gain
    return layer_norm(x) * p["gf"] @ p["H"].T


@known(
    "post_norm",
    draw=drawn(E=(6, 5), W=(8, 6), b=8, V=(6, 8), c=6, g=6, s=6, U=(3, 6), u=3),
    # The inputs of W sum to 0. V and c are added to an x that is fixed: no scale, and a shift.
    signs={
        "E": "✓✗✓✗✗✗",
        "W": "✗✗✗✓✗✓",
        "b": "✗✗✗",
        "V": "✗✗✓✗✗✗",
        "c": "✗✗✓",
        "g": "✗✗✗",
        "s": "✗✗✗",
        "U": "✗✗✗✗✗✗",
        "u": "✗✗✗",
    },
    places={"E": ("after",), "W": ("before",), "V": ("centered",), "U": ("before",)},
    blocks={"E": 1},
    trades=frozenset(
        {
            "rows of W, b × δ, columns of V ÷ δ",
            "g, s × δ, columns of U ÷ δ",
            "s + c, and u take it off",
        }
    ),
    roles={"g": "gain"},
)
def _(p: Arrays) -> Any:
    x = layer_norm(inputs.X @ p["E"].T)
    x = layer_norm(x + relu(x @ p["W"].T + p["b"]) @ p["V"].T + p["c"])
    return (x * p["g"] + p["s"]) @ p["U"].T + p["u"]


@known(
    "gated_in_one_tensor",
    draw=drawn(E=(6, 5), g=6, W=(16, 6), V=(6, 8), gf=6, H=(3, 6)),
    # The product of two halves of W grows by s² against the stream, which is no ε.
    signs={
        "E": "✗✗✗✗✗✗",
        "g": "✗✗✗",
        "W": "✗✗✗✗✗✗",
        "V": "✗✗✗✗✗✗",
        "gf": "✗✗✗",
        "H": "✗✗✗✗✗✗",
    },
    places={"E": ("after_sum",), "W": ("before",), "V": ("after_sum",), "H": ("before",)},
    trades=frozenset(
        {
            "all of E, all of V × δ",
            "g × δ, columns of W ÷ δ",
            "gf × δ, columns of H ÷ δ",
            "all of W × δ, all of V ÷ δ²",
        }
    ),
    also=frozenset({"all of g × δ, all of V ÷ δ²"}),
    roles={"g": "gain", "gf": "gain"},
)
def _(p: Arrays) -> Any:
    x = inputs.X @ p["E"].T
    gate, up = np.split(rms_norm(x) * p["g"] @ p["W"].T, 2, axis=-1)
    x = x + (relu(gate) * up) @ p["V"].T
    return rms_norm(x) * p["gf"] @ p["H"].T
