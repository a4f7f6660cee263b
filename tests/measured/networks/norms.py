"""Layer norm and RMS norm, batch norm and weight norm."""

from typing import Any

import numpy as np

from tests.measured.networks import inputs
from tests.measured.networks.known import Arrays, drawn, known
from tools.numpy_layers import (
    batch_norm,
    layer_norm,
    relu,
    rms_norm,
)


@known(
    "layer_norm_after",
    draw=drawn(W=(6, 5), b=6, g=6, s=6, V=(3, 6), v=3),
    # (W, b) × δ is a × δ. W + 1γᵀ and b + c add the same to all of a. V reads g z + s.
    signs={"W": "✗✗✓✗✗✗", "b": "✗✗✓", "g": "✗✗✗", "s": "✗✗✗", "V": "✗✗✗✗✗✗", "v": "✗✗✗"},
    places={"W": ("after_with_bias",), "V": ("before",)},
    trades=frozenset(
        {
            "all of W, all of b × δ",
            "g, s × δ, columns of V ÷ δ",
            "s + c, and v take it off",
        }
    ),
    roles={"g": "gain"},
)
def _(p: Arrays) -> Any:
    z = layer_norm(inputs.X @ p["W"].T + p["b"])
    return (z * p["g"] + p["s"]) @ p["V"].T + p["v"]


@known(
    "layer_norm_before",
    draw=drawn(E=(6, 5), g=6, W=(4, 6), b=4, V=(3, 4), v=3),
    # No shift: W reads g z, and the z of a case sum to 0. E is before the norm.
    signs={"E": "✓✗✓✗✗✗", "g": "✗✗✗", "W": "✗✗✗✗✗✗", "b": "✗✗✗", "V": "✗✗✗✗✗✗", "v": "✗✗✗"},
    places={"E": ("after",), "W": ("before",)},
    blocks={"E": 1},
    trades=frozenset({"g × δ, columns of W ÷ δ", "rows of W, b × δ, columns of V ÷ δ"}),
    roles={"g": "gain"},
)
def _(p: Arrays) -> Any:
    h = layer_norm(inputs.X @ p["E"].T) * p["g"]
    return relu(h @ p["W"].T + p["b"]) @ p["V"].T + p["v"]


@known(
    "norm_of_inputs",
    draw=drawn(g=5, s=5, V=(3, 5), v=3),
    # Nothing is before the norm: only what V still reads without g tells a gain from a shift.
    signs={"g": "✗✗✗", "s": "✗✗✗", "V": "✗✗✗✗✗✗", "v": "✗✗✗"},
    places={"V": ("before",)},
    trades=frozenset({"g, s × δ, columns of V ÷ δ", "s + c, and v take it off"}),
    roles={"g": "gain"},
)
def _(p: Arrays) -> Any:
    return (layer_norm(inputs.X) * p["g"] + p["s"]) @ p["V"].T + p["v"]


@known(
    "rms_norm_after",
    draw=drawn(W=(6, 5), g=6, V=(3, 6)),
    signs={"W": "✓✗✗✗✗✗", "g": "✗✗✗", "V": "✗✗✗✗✗✗"},
    places={"W": ("after",), "V": ("before",)},
    blocks={"W": 1},
    trades=frozenset({"g × δ, columns of V ÷ δ"}),
    roles={"g": "gain"},
)
def _(p: Arrays) -> Any:
    return relu(rms_norm(inputs.X @ p["W"].T) * p["g"]) @ p["V"].T


@known(
    "layer_norm_with_large_eps",
    draw=drawn(W=(6, 5), g=6, V=(3, 6)),
    # At an ε of 1e-2, W × δ moves z by about ε/2v (1 − 1/δ²). The shift is exact at any ε.
    signs={"W": "≈✗✓✗✗✗", "g": "✗✗✗", "V": "✗✗✗✗✗✗"},
    places={"W": ("after",)},
    blocks={"W": 1},
    roles={"g": "gain"},
)
def _(p: Arrays) -> Any:
    return np.tanh(layer_norm(inputs.X @ p["W"].T, eps=1e-2) * p["g"]) @ p["V"].T


@known(
    "gemma",
    draw=lambda rng: (
        {"W": rng.standard_normal((6, 5)), "g": 0.3 * rng.standard_normal(6)}
        | {"V": rng.standard_normal((3, 6))}
    ),
    # 1 + g is the gain: g × δ alone trades with nothing, (1 + g) × δ does.
    signs={"W": "≈✗✗✗✗✗", "g": "✗✗✗", "V": "✗✗✗✗✗✗"},
    places={"W": ("after",), "V": ("before",)},
    blocks={"W": 1},
    trades=frozenset({"g × δ, columns of V ÷ δ"}),
    roles={"g": "gain_from_one"},
)
def _(p: Arrays) -> Any:
    return (rms_norm(inputs.X @ p["W"].T, eps=1e-6) * (1 + p["g"])) @ p["V"].T


@known(
    "batch_norm",
    draw=drawn(W=(6, 5), b=6, g=6, s=6, V=(3, 6), v=3),
    # The mean over the batch takes b off: it is dead. Each row of W by itself.
    signs={"W": "≈≈✗✗✗✗", "b": "---", "g": "✗✗✗", "s": "✗✗✗", "V": "✗✗✗✗✗✗", "v": "✗✗✗"},
    places={"W": ("after",), "b": ("unused",), "V": ("before",)},
    blocks={"W": 6},
    dead={"b": tuple(range(6))},
    trades=frozenset({"g, s × δ, columns of V ÷ δ"}),
    roles={"g": "gain"},
)
def _(p: Arrays) -> Any:
    z = batch_norm(inputs.X @ p["W"].T + p["b"], eps=1e-5)
    return relu(z * p["g"] + p["s"]) @ p["V"].T + p["v"]


@known(
    "batch_norm_frozen",
    draw=lambda rng: (
        drawn(W=(6, 5), g=6, s=6, V=(3, 6))(rng)
        | {"mean": rng.standard_normal(6), "var": rng.uniform(0.5, 2, 6)}
    ),
    # A linear map: a − mean over √(var + ε). The mean shifts as s does: mean + c, s + gc/σ.
    signs={
        "W": "✗✗✗✗✗✗",
        "g": "✗✗✗",
        "s": "✗✗✗",
        "V": "✗✗✗✗✗✗",
        "mean": "✗✗✗",
        "var": "✗✗✗",
    },
    places={"V": ("before",)},
    trades=frozenset(
        {
            "g, s × δ, columns of V ÷ δ",
            "rows of W, mean × δ, g ÷ δ",
            "var × δ², g × δ",
        }
    ),
    also=frozenset({"var × δ², rows of W, mean × δ"}),
    roles={"g": "gain"},
)
def _(p: Arrays) -> Any:
    z = (inputs.X @ p["W"].T - p["mean"]) / np.sqrt(p["var"])
    return relu(z * p["g"] + p["s"]) @ p["V"].T


@known(
    "weight_norm",
    draw=drawn(W=(6, 5), g=(6, 1), b=6, V=(3, 6)),
    signs={"W": "✓✓✗✗✗✗", "g": "✗✗✗", "b": "✗✗✗", "V": "✗✗✗✗✗✗"},
    places={"W": ("after",), "V": ("before",)},
    blocks={"W": 6},
    trades=frozenset({"g, b × δ, columns of V ÷ δ"}),
    roles={"g": "gain"},
)
def _(p: Arrays) -> Any:
    W = p["W"] / np.linalg.norm(p["W"], axis=1, keepdims=True) * p["g"]
    return relu(inputs.X @ W.T + p["b"]) @ p["V"].T


@known(
    "group_norm",
    draw=drawn(W=(6, 5), g=6, V=(3, 6)),
    # Two groups of three rows. The same for all rows is the same in each group.
    signs={"W": "✓✗✓✗✗✗", "g": "✗✗✗", "V": "✗✗✗✗✗✗"},
    places={"W": ("after",), "V": ("before",)},
    blocks={"W": 2},
    trades=frozenset({"g × δ, columns of V ÷ δ"}),
    roles={"g": "gain"},
)
def _(p: Arrays) -> Any:
    return relu(layer_norm(inputs.X @ p["W"].T, groups=2) * p["g"]) @ p["V"].T
