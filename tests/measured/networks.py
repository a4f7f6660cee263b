"""Networks in NumPy whose verdicts are derived by hand, beside each the derivation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Known:
    """A network and the truth about it.

    Attributes:
        f: parameters → outputs. parameters: drawn anew by `draw`.
        signs: of the changes of each tensor in the order of CHANGES: all ×, row ×, all +, own +,
            column ×, columns +; "-" where there is none to ask. A 1-D tensor has the first three.
        places: where a norm stands to a weight. trades: what is ignored together, sorted lines.
            also: others that are true, sums of these. roles: of vectors that are no plain ones.
        dead, zeros: rows. blocks: of the tensors that have their own.

    """

    f: Callable[[Any], Any]
    draw: Callable[[np.random.Generator], Any]
    signs: dict[str, str]
    places: dict[str, tuple[str, ...]] = field(default_factory=dict)
    trades: frozenset[str] = frozenset()
    also: frozenset[str] = frozenset()
    roles: dict[str, str] = field(default_factory=dict)
    dead: dict[str, tuple[int, ...]] = field(default_factory=dict)
    zeros: dict[str, tuple[int, ...]] = field(default_factory=dict)
    blocks: dict[str, int] = field(default_factory=dict)


NETWORKS: dict[str, Known] = {}


def known(name: str, **truth: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(f: Callable[..., Any]) -> Callable[..., Any]:
        NETWORKS[name] = Known(f, **truth)
        return f

    return register


# Parts.

X = np.random.default_rng(7).standard_normal((40, 5))  # cases of the plain networks
T = np.random.default_rng(8).standard_normal((2, 6, 5))  # sequences of tokens


def drawn(**shapes: Any) -> Callable[[np.random.Generator], Arrays]:
    """Draw matrices around 0, gains around 1½, other vectors small, so that no unit is dead."""

    def draw(rng: np.random.Generator) -> Arrays:
        return {
            name: rng.standard_normal(shape) * (1 if isinstance(shape, tuple) else 0.3)
            + 1.5 * name.startswith("g")
            for name, shape in shapes.items()
        }

    return draw


def layer_norm(a: Any, eps: float = 0.0, groups: int = 1) -> Any:
    parts = a.reshape(*a.shape[:-1], groups, -1)
    c = parts - parts.mean(axis=-1, keepdims=True)
    return (c / np.sqrt((c**2).mean(axis=-1, keepdims=True) + eps)).reshape(a.shape)


def rms_norm(a: Any, eps: float = 0.0) -> Any:
    return a / np.sqrt((a**2).mean(axis=-1, keepdims=True) + eps)


def batch_norm(a: Any, eps: float = 0.0) -> Any:
    axes = tuple(range(a.ndim - 1))
    c = a - a.mean(axis=axes, keepdims=True)
    return c / np.sqrt((c**2).mean(axis=axes, keepdims=True) + eps)


def relu(a: Any) -> Any:
    return np.maximum(a, 0)


def softmax(a: Any) -> Any:
    e = np.exp(a - a.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def heads(a: Any, count: int) -> Any:
    """(N, T, count · d) → (N, count, T, d)."""
    return a.reshape(*a.shape[:2], count, -1).swapaxes(1, 2)


def attend(q: Any, k: Any, v: Any) -> Any:
    """Attention of heads (N, count, T, d), back as (N, T, count · d)."""
    shares = softmax(q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5)
    out = (shares @ v).swapaxes(1, 2)
    return out.reshape(*out.shape[:2], -1)


# Layer norm and RMS norm.


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
    z = layer_norm(X @ p["W"].T + p["b"])
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
    h = layer_norm(X @ p["E"].T) * p["g"]
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
    return (layer_norm(X) * p["g"] + p["s"]) @ p["V"].T + p["v"]


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
    return relu(rms_norm(X @ p["W"].T) * p["g"]) @ p["V"].T


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
    return np.tanh(layer_norm(X @ p["W"].T, eps=1e-2) * p["g"]) @ p["V"].T


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
    return (rms_norm(X @ p["W"].T, eps=1e-6) * (1 + p["g"])) @ p["V"].T


# Batch norm and weight norm.


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
    z = batch_norm(X @ p["W"].T + p["b"], eps=1e-5)
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
    z = (X @ p["W"].T - p["mean"]) / np.sqrt(p["var"])
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
    return relu(X @ W.T + p["b"]) @ p["V"].T


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
    return relu(layer_norm(X @ p["W"].T, groups=2) * p["g"]) @ p["V"].T


# Without a norm.


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
    h = relu(X @ p["W"].T + p["b"])
    return relu(h @ p["V"].T + p["c"]) @ p["U"].T + p["u"]


@known(
    "tanh",
    draw=drawn(W=(6, 5), b=6, V=(3, 6)),
    signs={"W": "✗✗✗✗✗✗", "b": "✗✗✗", "V": "✗✗✗✗✗✗"},
)
def _(p: Arrays) -> Any:
    return np.tanh(X @ p["W"].T + p["b"]) @ p["V"].T


@known(
    "gated",
    draw=drawn(G=(6, 5), U=(6, 5), D=(3, 6)),
    # silu(G x) is not homogeneous, U x is.
    signs={"G": "✗✗✗✗✗✗", "U": "✗✗✗✗✗✗", "D": "✗✗✗✗✗✗"},
    trades=frozenset({"rows of U × δ, columns of D ÷ δ"}),
)
def _(p: Arrays) -> Any:
    a = X @ p["G"].T
    return (a / (1 + np.exp(-a)) * (X @ p["U"].T)) @ p["D"].T


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
    return relu(X @ p["W"].T + p["b"]) @ p["V"].T


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
    return np.tanh(X @ p["W"].T + p["b"]) @ p["V"].T


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
    return (batch_norm(X @ p["W"].T, eps=1e-5) * p["g"] + p["s"]) @ p["V"].T


# Residual networks.


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
    x = X @ p["E"].T
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
    x = layer_norm(X @ p["E"].T)
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
    x = X @ p["E"].T
    gate, up = np.split(rms_norm(x) * p["g"] @ p["W"].T, 2, axis=-1)
    x = x + (relu(gate) * up) @ p["V"].T
    return rms_norm(x) * p["gf"] @ p["H"].T


# Attention.


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
    q, k, v = (heads(T @ p[x].T + p[f"{x}b"], 2) for x in "qkv")
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
    q, k, v = (heads(T @ p[x].T, 2) for x in "qkv")
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
    h = layer_norm(T @ p["E"].T) * p["g"] + p["s"]
    q, k, v = h @ p["q"].T + p["qb"], h @ p["k"].T, h @ p["v"].T + p["vb"]
    return attend(*(heads(a, 2) for a in (q, k, v))) @ p["o"].T


def turned(a: Any) -> Any:
    """Rotary positions: pairs of numbers turn by an angle that grows with the position."""
    half = a.shape[-1] // 2
    angles = np.arange(a.shape[-2])[:, None] / 10.0 ** np.arange(half)
    x, y = a[..., :half], a[..., half:]
    c, s = (wave(angles).astype(a.dtype) for wave in (np.cos, np.sin))
    return np.concatenate([x * c - y * s, x * s + y * c], axis=-1)


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
    x = T @ p["E"].T
    h = rms_norm(x, 1e-6) * p["ga"]
    q, k, v = (heads(h @ p[n].T, count) for n, count in (("q", 4), ("k", 2), ("v", 2)))
    q, k = rms_norm(q, 1e-6) * p["gq"], rms_norm(k, 1e-6) * p["gk"]
    k, v = np.repeat(k, 2, axis=1), np.repeat(v, 2, axis=1)
    x = x + attend(turned(q), turned(k), v) @ p["o"].T
    h = rms_norm(x, 1e-6) * p["gm"]
    a = h @ p["gate"].T
    x = x + (a / (1 + np.exp(-a)) * (h @ p["up"].T)) @ p["down"].T
    return rms_norm(x, 1e-6) * p["gf"] @ p["head"].T


# Embeddings and convolutions.

TOKENS = np.arange(28).reshape(4, 7) % 6


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
    return rms_norm(p["E"][TOKENS]) * p["g"] @ p["U"].T


@known(
    "embedding_tied",
    draw=drawn(E=(6, 4), g=4),
    # The head moves with the embedding; only all of it trades, as columns change the norm.
    signs={"E": "✗✗✗✗✗✗", "g": "✗✗✗"},
    trades=frozenset({"all of E × δ, all of g ÷ δ"}),
    roles={"g": "gain"},
)
def _(p: Arrays) -> Any:
    return rms_norm(p["E"][TOKENS]) * p["g"] @ p["E"].T


IMAGES = np.random.default_rng(9).standard_normal((4, 2, 7, 7))


def convolve(images: Any, K: Any) -> Any:
    windows = np.lib.stride_tricks.sliding_window_view(images, (3, 3), axis=(2, 3))
    return np.einsum("ncxyij,ocij->noxy", windows, K)


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

    h = relu(norm(convolve(IMAGES, p["K"])) * each(p["g"]) + each(p["s"]))
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

    x = relu(norm(convolve(IMAGES, p["K"]), p["g"], p["s"]))
    h = norm(np.einsum("ncxy,oc->noxy", x, p["L"][:, :, 0, 0]), p["gl"], p["sl"])
    return relu(x + h).mean(axis=(2, 3)) @ p["V"].T + p["v"]
