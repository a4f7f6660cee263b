"""Which changes of its weights a head of attention ignores, certified exactly.

The logits of fractions are sums over the roots of the two variances of a query and a key, and are
compared before and after a change at random integers (see `ignored`). 1/√d is left out: it is the
same before and after.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple, final

import numpy as np

from normgeo.base.arguments import seed_number
from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.depth.attention import AttentionHead, require_current
from normgeo.depth.ignored import Ignored, moved
from normgeo.depth.rooted import Rooted, Roots
from normgeo.invariance import exact
from normgeo.normalizers.normalizer import Normalizer

TOKENS, FEATURES, DIMENSION = 5, 5, 6


class Weights(NamedTuple):
    """The parameters of a head, all fractions or all floats: W_q, W_k (d, F), g_q, g_k (d,)."""

    W_q: Array
    W_k: Array
    g_q: Array
    g_k: Array


class Drawn(NamedTuple):
    """What changes are made with, all fractions or all floats.

    Attributes:
        delta: δ > 0. factors: of dimensions, above 0, (d,). a: for features, (F,).
        mix, unmix: A and A⁻ᵀ (d, d).

    """

    delta: Any
    factors: Array
    a: Array
    mix: Array
    unmix: Array


@final
@dataclass(frozen=True)
class Change:
    """A change of the weights of a head.

    Attributes:
        key: of it. title: in a few words. apply: (weights, drawn) → changed ones.

    """

    key: str
    title: str
    apply: Callable[[Weights, Drawn], Weights]


def _first_row_times(W: Array, delta: Any) -> Array:
    return np.concatenate([W[:1] * delta, W[1:]])


CHANGES: dict[str, Change] = {
    change.key: change
    for change in (
        Change("q_times", text("W_q × δ"), lambda at, d: at._replace(W_q=at.W_q * d.delta)),
        Change("k_times", text("W_k × δ"), lambda at, d: at._replace(W_k=at.W_k * d.delta)),
        Change(
            "traded",
            text("W_q × δ, W_k ÷ δ"),
            lambda at, d: at._replace(W_q=at.W_q * d.delta, W_k=at.W_k / d.delta),
        ),
        Change(
            "row_times",
            text("a row of W_q × δ"),
            lambda at, d: at._replace(W_q=_first_row_times(at.W_q, d.delta)),
        ),
        Change(
            "row_traded",
            text("a row of W_q × δ, that of W_k ÷ δ"),
            lambda at, d: at._replace(
                W_q=_first_row_times(at.W_q, d.delta),
                W_k=_first_row_times(at.W_k, 1 / d.delta),
            ),
        ),
        Change(
            "rows_plus",
            text("a vector added to all rows of W_q"),
            lambda at, d: at._replace(W_q=at.W_q + d.a),
        ),
        Change(
            "mixed",
            text("A W_q with A⁻ᵀ W_k, any A"),
            lambda at, d: at._replace(W_q=d.mix @ at.W_q, W_k=d.unmix @ at.W_k),
        ),
        Change(
            "gain_traded",
            text("each gain of q × δ, that of k ÷ δ"),
            lambda at, d: at._replace(g_q=at.g_q * d.factors, g_k=at.g_k / d.factors),
        ),
    )
}


def attention_ignored(normalizer: Normalizer, seed: int = 0) -> dict[str, Ignored]:
    """Certify which changes of weights the logits of an attention head ignore, by their keys.

    The logits before and after are compared exactly, at weights and tokens of random integers; a ✗
    has a witness of floats, `moved`. Head and changes: `AttentionHead`, docs/mathematics.md.

    Args:
        normalizer: of queries and keys. seed: of the draw.

    Raises:
        ValueError: bad arguments, or frozen statistics.

    >>> from normgeo import NORMALIZERS
    >>> [attention_ignored(NORMALIZERS[m])["q_times"].symbol for m in ("standard", "rms")]
    ['✗', '✓']

    """
    require_current(normalizer)
    # How many groups there are decides nothing, once there is more than one.
    shared = replace(normalizer, groups=min(normalizer.groups, 2))
    return _ignored(shared, seed_number(seed))


@lru_cache(maxsize=64)
def _ignored(normalizer: Normalizer, seed: int) -> dict[str, Ignored]:
    exact_rng, rng = np.random.default_rng((seed, 0)), np.random.default_rng((seed, 1))
    ideal, actual = (replace(normalizer, eps=eps) for eps in (Fraction(0), normalizer.exact_eps))

    def draw(*shape: int) -> Array:
        return exact.draw(exact_rng, shape)

    at, drawn, X = _drawn(draw)
    floats, floats_drawn, floats_X = _drawn(lambda *shape: rng.standard_normal(shape))
    before = AttentionHead(normalizer, *floats).logits(floats_X)
    found = {}
    for change in CHANGES.values():
        after = change.apply(at, drawn)
        certified = _same(actual, at, after, X)
        moved_floats = AttentionHead(normalizer, *change.apply(floats, floats_drawn))
        found[change.key] = Ignored(
            change.key,
            change.title,
            certified,
            bool(not certified and normalizer.added_eps) and _same(ideal, at, after, X),
            moved(before, moved_floats.logits(floats_X)),
        )
    return found


def _drawn(draw: Callable[..., Array]) -> tuple[Weights, Drawn, Array]:
    """Weights, what changes are made with, and tokens, of numbers that `draw` makes by shape."""
    d, F = DIMENSION, FEATURES

    def factors(count: int) -> Array:
        values = draw(count)
        return values * values + 1

    weights = Weights(draw(d, F), draw(d, F), factors(d), factors(d))
    u, v, one = draw(d), draw(d), np.eye(d, dtype=int)
    mix, unmix = one + u[:, None] * v, one - v[:, None] * u / (1 + u @ v)
    return weights, Drawn(factors(1)[0], factors(d), draw(F), mix, unmix), draw(TOKENS, F)


def _same(normalizer: Normalizer, first: Weights, second: Weights, X: Array) -> bool:
    roots = Roots()
    before, after = (_logits(normalizer, at, X).collected(roots) for at in (first, second))
    return bool((before == after).all())


def _logits(normalizer: Normalizer, at: Weights, X: Array) -> Rooted:
    """√d times the logits of fractions, (T·T, 1), a term for each dimension."""
    q, v = normalizer.moments(at.W_q, X)
    k, w = normalizer.moments(at.W_k, X)
    exact.require_fractions(q, k, at.g_q * at.g_k)
    terms = (at.g_q * q)[:, None] * (at.g_k * k)
    squares = np.broadcast_to(v * Fraction(1), q.shape)[:, None] * np.broadcast_to(w, k.shape)
    pairs = (len(X) ** 2, len(at.W_q))
    rest = exact.fractions(np.zeros((pairs[0], 1), dtype=int))
    return Rooted(rest, terms.reshape(pairs)[:, None], squares.reshape(pairs))
