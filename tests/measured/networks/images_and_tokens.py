"""Embeddings and convolutions."""

from typing import Any

import numpy as np

from tests.measured.networks import inputs
from tests.measured.networks.known import Arrays, drawn, known
from tools.numpy_layers import (
    batch_norm,
    convolve,
    relu,
    rms_norm,
)


@known(
    "embedding",
    draw=drawn(E=(6, 4), g=4, U=(6, 4)),
    signs={"E": "✓✓✗✗✗✗", "g": "✗✗✗", "U": "✗✗✗✗✗✗"},
    places={"E": ("after",), "U": ("before",)},
    blocks={"E": 6},
    trades=frozenset({"g × δ, columns of U ÷ δ"}),
    roles={"g": "gain"},
)
def _(p: Arrays) -> Any:
    return rms_norm(p["E"][inputs.TOKENS]) * p["g"] @ p["U"].T


@known(
    "embedding_tied",
    draw=drawn(E=(6, 4), g=4),
    # The head moves with the embedding; only all of it trades, as columns change the norm.
    signs={"E": "✗✗✗✗✗✗", "g": "✗✗✗"},
    trades=frozenset({"all of E × δ, all of g ÷ δ"}),
    roles={"g": "gain"},
)
def _(p: Arrays) -> Any:
    return rms_norm(p["E"][inputs.TOKENS]) * p["g"] @ p["E"].T


@known(
    "convolution",
    draw=drawn(K=(4, 2, 3, 3), g=4, s=4, L=(5, 4, 3, 3), gl=5, V=(3, 5)),
    signs={
        "K": "≈≈✗✗✗✗",
        "g": "✗✗✗",
        "s": "✗✗✗",
        "L": "≈≈✗✗✗✗",
        "gl": "✗✗✗",
        "V": "✗✗✗✗✗✗",
    },
    places={"K": ("after",), "L": ("after", "before"), "V": ("before",)},
    blocks={"K": 4, "L": 5},
    trades=frozenset({"g, s × δ, columns of L ÷ δ", "gl × δ, columns of V ÷ δ"}),
    roles={"g": "gain", "gl": "gain"},
)
def _(p: Arrays) -> Any:
    def norm(a: Any) -> Any:
        return np.moveaxis(batch_norm(np.moveaxis(a, 1, -1), eps=1e-5), -1, 1)

    def each(v: Any) -> Any:
        return v[:, None, None]

    h = relu(norm(convolve(inputs.IMAGES, p["K"])) * each(p["g"]) + each(p["s"]))
    h = relu(norm(convolve(h, p["L"])) * each(p["gl"]))
    return h.mean(axis=(2, 3)) @ p["V"].T


@known(
    "residual_convolution",
    draw=drawn(K=(4, 2, 3, 3), g=4, s=4, L=(4, 4, 1, 1), gl=4, sl=4, V=(3, 4), v=3),
    # What is added up is scaled with all that reads the sum: L on the way, and V at its end.
    signs={
        "K": "≈≈✗✗✗✗",
        "L": "≈≈✗✗✗✗",
        "V": "✗✗✗✗✗✗",
        **dict.fromkeys(["g", "s", "gl", "sl", "v"], "✗✗✗"),
    },
    places={"K": ("after",), "L": ("after", "before"), "V": ("before",)},
    blocks={"K": 4, "L": 4},
    trades=frozenset({"g, s, gl, sl × δ, columns of L, columns of V ÷ δ"}),
    roles={"g": "gain", "gl": "gain"},
)
def _(p: Arrays) -> Any:
    def norm(a: Any, g: Any, s: Any) -> Any:
        z = batch_norm(np.moveaxis(a, 1, -1), eps=1e-5)
        return np.moveaxis(z * g + s, -1, 1)

    x = relu(norm(convolve(inputs.IMAGES, p["K"]), p["g"], p["s"]))
    h = norm(np.einsum("ncxy,oc->noxy", x, p["L"][:, :, 0, 0]), p["gl"], p["sl"])
    return relu(x + h).mean(axis=(2, 3)) @ p["V"].T + p["v"]
