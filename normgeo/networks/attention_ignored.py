"""Which changes of its weights an attention head ignores, certified exactly.

With fractions, logits are sums over the roots of the variances of a query and of a key. They are
compared before and after a change at random integers (see `ignored`). Each root stays symbolic, so
no sign of the drawn numbers decides. 1/√d is omitted: it is the same before and after.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, NamedTuple, final

import numpy as np

from normgeo.base.arguments import seed_number, whole_number
from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.invariance import exact
from normgeo.networks.attention import AttentionHead, require_current
from normgeo.networks.degrees import degree_of_all, variables
from normgeo.networks.rooted import Rooted, Roots
from normgeo.networks.verdict import (
    DRAWS,
    Check,
    Ignored,
    false_pass,
    judged,
    moved,
    uncontradicted,
)
from normgeo.normalizers.normalizer import Normalizer

TOKENS, FEATURES, DIMENSION, LARGEST = 5, 5, 6, 24

REGION = text("all weights and tokens, wherever no σ is 0")


class Weights(NamedTuple):
    """The parameters of a head, all fractions or all floats: W_q, W_k (d, F), g_q, g_k (d,)."""

    W_q: Array
    W_k: Array
    g_q: Array
    g_k: Array


class Drawn(NamedTuple):
    """The random numbers that changes use, all fractions or all floats.

    Attributes:
        delta: δ > 0. factors: of dimensions, above 0, (d,). a: for features, (F,).
        mix, unmix: Ω and Ω⁻ᵀ (d, d).

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
        key: its name. title: in a few words. apply: (weights, drawn) → changed ones.

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
            text("Ω W_q with Ω⁻ᵀ W_k, any Ω"),
            lambda at, d: at._replace(W_q=d.mix @ at.W_q, W_k=d.unmix @ at.W_k),
        ),
        Change(
            "gain_traded",
            text("each gain of q × δ, that of k ÷ δ"),
            lambda at, d: at._replace(g_q=at.g_q * d.factors, g_k=at.g_k / d.factors),
        ),
    )
}


def attention_ignored(
    normalizer: Normalizer | str, seed: int = 0, dimension: int = DIMENSION
) -> dict[str, Ignored]:
    """Certify which changes of weights the logits of an attention head ignore, by key.

    The logits before and after are compared exactly, at weights and tokens of random integers; a ✗
    has a witness in floats, `moved`. See `AttentionHead` for the head, docs/mathematics.md for the
    changes and what a ✓ is based on.

    Args:
        normalizer: of queries and keys. seed: of the draw. dimension: d, at most 24.

    Raises:
        ValueError: bad arguments, frozen statistics, or an undefined z.
        ContradictionError: a defect: floats contradict a ✓.

    >>> from normgeo import NORMALIZERS
    >>> [attention_ignored(NORMALIZERS[m])["q_times"].symbol for m in ("standard", "rms")]
    ['✗', '✓']

    """
    normalizer = require_current(normalizer)
    d = whole_number("dimension", dimension, 1, LARGEST)
    if reason := normalizer.undefined(TOKENS, d, FEATURES):
        raise Refusal(reason)
    return _ignored(normalizer, seed_number(seed), d)


@lru_cache(maxsize=64)
def _ignored(normalizer: Normalizer, seed: int, d: int) -> dict[str, Ignored]:
    return uncontradicted(lambda attempt: _of_draw(normalizer, seed, d, attempt))


def _of_draw(normalizer: Normalizer, seed: int, d: int, attempt: int) -> dict[str, Ignored]:
    exact_rng, rng = (np.random.default_rng((seed, kind, attempt)) for kind in range(2))
    ideal, actual = (replace(normalizer, eps=eps) for eps in (Fraction(0), normalizer.exact_eps))
    heads = [_drawn(d, lambda *shape: exact.draw(exact_rng, shape)) for _ in range(DRAWS)]
    floats: list[tuple[Weights, Drawn, Array]] = []

    def move(change: Change, index: int) -> float:
        while len(floats) <= index:
            floats.append(_drawn(d, lambda *shape: rng.standard_normal(shape)))
        at, drawn, X = floats[index]
        before, after = (
            AttentionHead(normalizer, *weights).logits(X)
            for weights in (at, change.apply(at, drawn))
        )
        return moved(before, after)

    return {
        change.key: judged(
            change.key,
            change.title,
            REGION,
            _check(actual, change, heads),
            partial(_check, ideal, change, heads) if normalizer.added_eps else None,
            partial(move, change),
        )
        for change in CHANGES.values()
    }


def _drawn(d: int, draw: Callable[..., Array]) -> tuple[Weights, Drawn, Array]:
    """Draw weights, the numbers for changes, and tokens; `draw` makes an array of a shape."""
    F = FEATURES

    def factors(count: int) -> Array:
        values = draw(count)
        return values * values + 1

    weights = Weights(draw(d, F), draw(d, F), factors(d), factors(d))
    u, v, one = draw(d), draw(d), np.eye(d, dtype=int)
    mix, unmix = one + u[:, None] * v, one - v[:, None] * u / (1 + u @ v)
    return weights, Drawn(factors(1)[0], factors(d), draw(F), mix, unmix), draw(TOKENS, F)


def _check(
    normalizer: Normalizer, change: Change, heads: list[tuple[Weights, Drawn, Array]]
) -> Check:
    """Compare the logits before and after a change at every draw."""
    for at, drawn, X in heads:
        roots = Roots(drawn.delta)
        pair = [_logits(normalizer, each, X) for each in (at, change.apply(at, drawn))]
        exact.require_fractions(*(values for logits in pair for values in logits))
        before, after = (logits.collected(roots) for logits in pair)
        if not (before == after).all():
            return Check(False)
    at, drawn, X = _drawn(len(heads[0][0].W_q), variables)
    pair = [_logits(normalizer, each, X) for each in (at, change.apply(at, drawn))]
    degree = degree_of_all(
        *(x.terms / drawn.delta for x in pair), *(x.squares / drawn.delta**2 for x in pair)
    )
    error = false_pass(1, sum(x.squares.size for x in pair), degree) ** DRAWS
    return Check(True, degree=degree, error_bound=error)


def _logits(normalizer: Normalizer, at: Weights, X: Array) -> Rooted:
    """√d times the logits of fractions, (T·T, 1), a term for each dimension."""
    q, v = normalizer.moments(at.W_q, X)
    k, w = normalizer.moments(at.W_k, X)
    terms = (at.g_q * q)[:, None] * (at.g_k * k)
    squares = np.broadcast_to(v * Fraction(1), q.shape)[:, None] * np.broadcast_to(w, k.shape)
    pairs = (len(X) ** 2, len(at.W_q))
    rest = exact.fractions(np.zeros((pairs[0], 1), dtype=int))
    return Rooted(rest, terms.reshape(pairs)[:, None], squares.reshape(pairs))
