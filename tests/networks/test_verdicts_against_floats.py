"""Verdicts at many sizes, norms and seeds against networks of floats that are written out."""

from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from normgeo import Normalizer
from normgeo.networks.attention_ignored import attention_ignored
from normgeo.networks.ignored import residual_ignored

SEEN, ROUNDING = 1e-6, 1e-9


def z(words: tuple[str, str], groups: int, eps: float, a: np.ndarray) -> np.ndarray:
    """(a − μ)/σ over the cases or the features, by the center and the scale."""
    parts = a.reshape(len(a), groups, -1)

    def mean(word: str, values: np.ndarray) -> np.ndarray:
        return values.mean(axis=0 if word == "batch" else 2, keepdims=True)

    center, scale = words
    c = parts if center == "none" else parts - mean(center, parts)
    if scale != "none":
        c = c / np.sqrt(mean(scale, c**2) + eps)
    return c.reshape(a.shape)


def logits(norm, place: str, parts, X: np.ndarray) -> np.ndarray:
    """A residual network, written out."""
    E, e, blocks, last, U, u = parts
    words = (norm.center, norm.scale), norm.groups, float(norm.eps)

    def normed(gain, x: np.ndarray) -> np.ndarray:
        return x if gain is None else gain[0] * z(*words, x) + gain[1]

    s = X @ E.T + e
    for gain, W, b, V, c in blocks:
        y = normed(gain, s)
        s = (s if place == "pre" else y) + np.maximum(y @ W.T + b, 0) @ V.T + c
    return normed(last, s) @ U.T + u


def changed(key: str, place: str, parts, rng: np.random.Generator):
    """One of the changes, written out; of block 2 if it changes one block."""
    E, e, blocks, (g, beta), U, u = parts
    D, M = blocks[1][3].shape
    (gain, W, b, V, c), delta = blocks[1], rng.uniform(0.2, 4)
    f, h = rng.uniform(0.2, 4, D), rng.uniform(0.2, 4, M)
    a = rng.normal(0, 3, D)

    def one(*block):
        return E, e, [blocks[0], block, *blocks[2:]], (g, beta), U, u

    def written(count: int):
        scaled = [(n, W, b, delta * V, delta * c) for n, W, b, V, c in blocks[:count]]
        return delta * E, delta * e, scaled + list(blocks[count:]), (g, beta), U, u

    if key == "gain_traded":
        return one((gain[0] / f, gain[1] / f), W * f, b, V, c)
    if key == "shift_into_bias":
        return one((gain[0], gain[1] + a), W, b - W @ a, V, c)
    if key == "all_writes_times":
        return written(len(blocks))
    if key == "sum_times" and place == "pre":
        return written(2)
    if key == "sum_times":
        return one((gain[0] * delta, gain[1] * delta), W / delta, b, delta * V, delta * c)
    if key == "columns_plus":
        return one(gain, W, b, V + rng.normal(0, 3, M), c + rng.normal())
    if key == "bias_plus":
        return one(gain, W, b, V, c + a)
    if key == "hidden_traded":
        return one(gain, W * h[:, None], b * h, V / h, c)
    if key == "last_traded":
        return E, e, blocks, (g / f, beta / f), U * f, u
    if key == "head_plus":
        plus = rng.normal(0, 3, len(U))[:, None] / g
        return E, e, blocks, (g, beta), U + plus, u - plus @ beta
    if key == "reads_times":
        return one(gain, W * delta, b, V, c)
    if key == "writes_times":
        return one(gain, W, b, delta * V, delta * c)
    assert key == "turned"
    Q, _ = np.linalg.qr(rng.standard_normal((D, D)))
    ones, zeros = np.ones(D), np.zeros(D)
    turned = [
        (None, W @ Q.T, b, Q @ V, Q @ c)
        if n is None
        else ((ones, zeros), (W * n[0]) @ Q.T, b + W @ n[1], Q @ V, Q @ c)
        for n, W, b, V, c in blocks
    ]
    return Q @ E, Q @ e, turned, (ones, zeros), (U * g) @ Q.T, u + U @ beta


def drawn(place: str, size: Sequence[int], rng: np.random.Generator):
    """A network, with gains of both signs."""
    _, F, D, M, H, L = size

    def gain():
        return rng.uniform(0.4, 2, D) * rng.choice([-1, 1], D), rng.standard_normal(D)

    normal = rng.standard_normal
    blocks = [
        (
            None if place == "post" and not i else gain(),
            *(normal(shape) for shape in ((M, D), M, (D, M), D)),
        )
        for i in range(L)
    ]
    return normal((D, F)), normal(D), blocks, gain(), normal((H, D)), normal(H)


def moves(norm, place: str, size: Sequence[int], key: str, rng, tries: int) -> list[float]:
    """The change of outputs of networks by a change of weights, relative to the largest output."""
    found = []
    for _ in range(tries):
        parts, X = drawn(place, size, rng), rng.standard_normal((size[0], size[1]))
        before = logits(norm, place, parts, X)
        after = logits(norm, place, changed(key, place, parts, rng), X)
        found.append(float(np.abs(after - before).max() / np.abs(before).max()))
    return found


def head_moves(norm, d: int, key: str, rng, tries: int) -> list[float]:
    """The same for the logits of attention with a norm of q and k."""

    def scores(W_q, W_k, g_q, g_k):
        q, k = (
            g * (z(words, norm.groups, float(norm.eps), a) if norm.scale != "weight" else a / w)
            for g, a, w in ((g_q, X @ W_q.T, size(W_q)), (g_k, X @ W_k.T, size(W_k)))
        )
        return q @ k.T

    def size(W):
        return np.linalg.norm(W, axis=1)

    words, found = (norm.center, norm.scale), []
    for _ in range(tries):
        W_q, W_k, X = (rng.standard_normal(shape) for shape in ((d, 4), (d, 4), (6, 4)))
        g_q, g_k, f = rng.uniform(0.4, 2, (3, d)) * rng.choice([-1, 1], (3, d))
        delta, A, row = rng.uniform(0.2, 4), rng.standard_normal((d, d)), np.ones((d, 1))
        row[0] = delta
        after = {
            "q_times": (delta * W_q, W_k, g_q, g_k),
            "k_times": (W_q, delta * W_k, g_q, g_k),
            "traded": (delta * W_q, W_k / delta, g_q, g_k),
            "row_times": (row * W_q, W_k, g_q, g_k),
            "row_traded": (row * W_q, W_k / row, g_q, g_k),
            "rows_plus": (W_q + rng.normal(0, 3, 4), W_k, g_q, g_k),
            "mixed": (A @ W_q, np.linalg.inv(A).T @ W_k, g_q, g_k),
            "gain_traded": (W_q, W_k, g_q * f, g_k / f),
        }[key]
        before = scores(W_q, W_k, g_q, g_k)
        found.append(float(np.abs(scores(*after) - before).max() / np.abs(before).max()))
    return found


WORDS = ("none", "batch", "layer")
MORE = 300
"""Networks tried until one of them changes."""


def a_norm(rng: np.random.Generator, words: tuple[str, ...] = WORDS) -> Normalizer:
    """Any center and scale, groups of two to four with a layer statistic, and sometimes an ε."""
    center, scale = (str(word) for word in rng.choice(words, 2))
    groups = int(rng.integers(1, 4)) if "layer" in (center, scale) else 1
    return Normalizer(center, scale, groups, eps=float(rng.choice([0, 0, 0, 0.1])))


def residual(rng: np.random.Generator, most: int) -> tuple[object, ...]:
    """The arguments for a residual network: norm, position, seed, size."""
    norm = a_norm(rng)
    D = norm.groups * int(rng.integers(2, 4)) if norm.groups > 1 else int(rng.integers(2, 7))
    N, F, M, H, L = rng.integers((2, 1, 1, 1, 3), (most, 4, most, 4, most + 1))
    size = tuple(int(length) for length in (N, F, D if D <= 8 else 6, M, H, L))
    return norm, str(rng.choice(["pre", "post"])), int(rng.integers(1000)), size


def contradictions(verdicts, moved) -> Iterator[tuple[str, str, float]]:
    """Verdicts that floats contradict; `moved` is (key, tries) → the change of outputs."""
    for key, one in verdicts.items():
        if one.certified:
            largest = max(moved(key, 6))
            if largest > ROUNDING or one.moved > ROUNDING:
                yield key, one.symbol, max(largest, one.moved)
            continue
        largest = next((m for _ in range(MORE) if (m := moved(key, 1)[0]) > SEEN), 0.0)
        # "?" claims nothing: where z is only a sign, a network that changes may be too rare to
        # find.
        if one.symbol != "?" and largest <= SEEN:
            yield key, one.symbol, largest


def wrong_of_residual(rng: np.random.Generator, most: int = 4) -> list[object]:
    """The contradictions in one random draw of all arguments, with these arguments."""
    norm, place, seed, size = residual(rng, most)
    verdicts = residual_ignored(norm, place, seed, size)

    def moved(key: str, tries: int) -> list[float]:
        return moves(norm, place, size, key, rng, tries)

    return [(norm, place, seed, size, *one) for one in contradictions(verdicts, moved)]


def wrong_of_attention(rng: np.random.Generator) -> list[object]:
    """The same for an attention head."""
    norm, seed = a_norm(rng), int(rng.integers(1000))
    d = norm.groups * int(rng.integers(2, 5))
    verdicts = attention_ignored(norm, seed, d)

    def moved(key: str, tries: int) -> list[float]:
        return head_moves(norm, d, key, rng, tries)

    return [(norm, seed, d, *one) for one in contradictions(verdicts, moved)]


def test_no_verdict_is_contradicted_by_floats() -> None:
    rng = np.random.default_rng(1)
    assert [one for _ in range(8) for one in wrong_of_residual(rng)] == []
    assert [one for _ in range(3) for one in wrong_of_attention(rng)] == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(2))
def test_no_verdict_of_many_is_contradicted_by_floats(seed: int) -> None:
    rng = np.random.default_rng((seed, 7))
    assert [one for _ in range(15) for one in wrong_of_residual(rng, most=5)] == []
    assert [one for _ in range(5) for one in wrong_of_attention(rng)] == []
