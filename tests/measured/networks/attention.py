"""Attention, with and without norms, and a decoder."""

from typing import Any

import numpy as np

from tests.measured.networks import inputs
from tests.measured.networks.known import Arrays, drawn, known
from tools.numpy_layers import (
    attend,
    heads,
    layer_norm,
    rms_norm,
    turned,
)


@known(
    "attention",
    draw=drawn(q=(4, 5), qb=4, k=(4, 5), kb=4, v=(4, 5), vb=4, o=(3, 4), ob=3),
    # A constant key moves all scores of a query alike: kb is dead. The shares of a row sum to 1.
    signs={
        **dict.fromkeys("qkvo", "✗✗✗✗✗✗"),
        "qb": "✗✗✗",
        "kb": "---",
        "vb": "✗✗✗",
        "ob": "✗✗✗",
    },
    places={"kb": ("unused",)},
    dead={"kb": (0, 1, 2, 3)},
    trades=frozenset(
        {
            "rows of q, qb × δ, rows of k ÷ δ",
            "rows of v, vb × δ, columns of o ÷ δ",
            "vb + c, and ob take it off",
        }
    ),
)
def _(p: Arrays) -> Any:
    q, k, v = (heads(inputs.T @ p[x].T + p[f"{x}b"], 2) for x in "qkv")
    return attend(q, k, v) @ p["o"].T + p["ob"]


@known(
    "qk_norm",
    draw=drawn(q=(4, 5), k=(4, 5), gq=2, gk=2, v=(4, 5), o=(3, 4)),
    # Each head of q and of k is a block of two rows.
    signs={
        "q": "✓✗✗✗✗✗",
        "k": "✓✗✗✗✗✗",
        "gq": "✗✗✗",
        "gk": "✗✗✗",
        "v": "✗✗✗✗✗✗",
        "o": "✗✗✗✗✗✗",
    },
    places={"q": ("after",), "k": ("after",)},
    blocks={"q": 2, "k": 2},
    trades=frozenset({"gq × δ, gk ÷ δ", "rows of v × δ, columns of o ÷ δ"}),
    roles={"gq": "gain", "gk": "gain"},
)
def _(p: Arrays) -> Any:
    q, k, v = (heads(inputs.T @ p[x].T, 2) for x in "qkv")
    return attend(rms_norm(q) * p["gq"], rms_norm(k) * p["gk"], v) @ p["o"].T


@known(
    "shared_norm",
    draw=drawn(E=(6, 5), g=6, s=6, q=(4, 6), qb=4, k=(4, 6), v=(4, 6), vb=4, o=(3, 4)),
    # One norm is read by q, k and v. A shift of k alone is the same for all keys.
    signs={
        "E": "✓✗✓✗✗✗",
        "g": "✗✗✗",
        "s": "✗✗✗",
        "qb": "✗✗✗",
        "vb": "✗✗✗",
        **dict.fromkeys("qkvo", "✗✗✗✗✗✗"),
    },
    places={"E": ("after",), **dict.fromkeys("qkv", ("before",))},
    blocks={"E": 1},
    trades=frozenset(
        {
            "g, s × δ, columns of q, columns of k, columns of v ÷ δ",
            "rows of q, qb × δ, rows of k ÷ δ",
            "rows of v, vb × δ, columns of o ÷ δ",
            "s + c, and qb, vb take it off",
        }
    ),
    roles={"g": "gain"},
)
def _(p: Arrays) -> Any:
    h = layer_norm(inputs.T @ p["E"].T) * p["g"] + p["s"]
    q, k, v = h @ p["q"].T + p["qb"], h @ p["k"].T, h @ p["v"].T + p["vb"]
    return attend(*(heads(a, 2) for a in (q, k, v))) @ p["o"].T


DECODER = {"q": (16, 6), "k": (8, 6), "v": (8, 6), "gq": 4, "gk": 4, "o": (6, 16)}
DECODER |= {"gm": 6, "gate": (8, 6), "up": (8, 6), "down": (6, 8), "gf": 6, "head": (5, 6)}


@known(
    "decoder",
    draw=drawn(E=(6, 5), ga=6, **DECODER),
    # Two heads of q share one of k and v: v and o trade as a whole. Positions turn pairs of q and
    # k, so their gains trade as a whole. silu(gate x) is not homogeneous.
    signs={
        **dict.fromkeys(["E", "v", "o", "gate", "up", "down", "head"], "✗✗✗✗✗✗"),
        **dict.fromkeys(["ga", "gq", "gk", "gm", "gf"], "✗✗✗"),
        **dict.fromkeys("qk", "≈✗✗✗✗✗"),
    },
    places={
        **dict.fromkeys(["E", "o", "down"], ("after_sum",)),
        **dict.fromkeys("qk", ("after", "before")),
        **dict.fromkeys(["v", "gate", "up", "head"], ("before",)),
    },
    blocks={"q": 4, "k": 2},
    trades=frozenset(
        {
            "ga × δ, columns of q, columns of k, columns of v ÷ δ",
            "gm × δ, columns of gate, columns of up ÷ δ",
            "rows of up × δ, columns of down ÷ δ",
            "gf × δ, columns of head ÷ δ",
            "all of gq × δ, all of gk ÷ δ",
            "all of v × δ, all of o ÷ δ",
            "all of E, all of o, all of down × δ",
        }
    ),
    roles=dict.fromkeys(["ga", "gq", "gk", "gm", "gf"], "gain"),
)
def _(p: Arrays) -> Any:
    x = inputs.T @ p["E"].T
    h = rms_norm(x, 1e-6) * p["ga"]
    q, k, v = (heads(h @ p[n].T, count) for n, count in (("q", 4), ("k", 2), ("v", 2)))
    q, k = rms_norm(q, 1e-6) * p["gq"], rms_norm(k, 1e-6) * p["gk"]
    k, v = np.repeat(k, 2, axis=1), np.repeat(v, 2, axis=1)
    x = x + attend(turned(q), turned(k), v) @ p["o"].T
    h = rms_norm(x, 1e-6) * p["gm"]
    a = h @ p["gate"].T
    x = x + (a / (1 + np.exp(-a)) * (h @ p["up"].T)) @ p["down"].T
    return rms_norm(x, 1e-6) * p["gf"] @ p["head"].T
