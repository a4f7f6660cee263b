"""A norm as a layer of its own, y = g N(x) + β, N(x) = (x − μ)/σ: forward, backward and exact.

It is the normalizer of a layer whose weights are the identity, so its "neurons" are the features.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.invariance import exact
from normgeo.networks.rooted import Rooted
from normgeo.normalizers.named import normalizer_of
from normgeo.normalizers.normalizer import Normalizer


class Gain(NamedTuple):
    """The parameters of a norm: g and β, (D,), or their gradients."""

    g: Array
    beta: Array


def require_norm(normalizer: Normalizer | str, features: int, cases: int) -> Normalizer:
    """Return a normalizer that works without weights, over cases of this many features.

    Raises:
        ValueError: it normalizes weights, is frozen, or z is undefined at this size.

    """
    normalizer = normalizer_of(normalizer)
    if normalizer.normalizes_weights:
        raise Refusal(
            "This network normalizes the residual stream, not weights. Choose a norm of cases "
            "or features, such as layer norm."
        )
    if normalizer.statistics == "frozen":
        raise Refusal(
            "A network is looked at as it is trained, with current statistics; got a "
            "normalizer with frozen ones."
        )
    if reason := normalizer.undefined(cases, features, features):
        raise Refusal(reason)
    return normalizer


def norm(
    normalizer: Normalizer, gain: Gain, x: Array
) -> tuple[Array, Callable[[Array], tuple[Array, Gain]]]:
    """Return y (N, D), and a function from a gradient in y to those in x and in the gain."""
    at = normalizer.linearize(np.eye(x.shape[1]), x)

    def back(U: Array) -> tuple[Array, Gain]:
        return at.vjp_inputs(gain.g * U), Gain((at.z * U).sum(axis=0), U.sum(axis=0))

    return gain.g * at.z + gain.beta, back


def exact_norm(normalizer: Normalizer, gain: Gain, x: Rooted) -> Rooted:
    """Return y of fractions: numerators over the roots of σ².

    Each feature has its own root if the cases share σ; each case (and group) if the features do.
    """
    if x.terms.size:
        raise TypeError(text("A norm takes fractions; got numbers with roots."))
    N, D = x.rest.shape
    C, v = normalizer.moments(exact.fractions(np.eye(D, dtype=int)), x.rest)
    numerators = C * gain.g
    if not normalizer.scaling.divides:
        return Rooted.rational(numerators + gain.beta)
    squares = np.broadcast_to(v, (N, D))
    terms = np.full((N, D, D), Fraction(0), dtype=object)
    terms[:, range(D), range(D)] = numerators
    rest = np.broadcast_to(gain.beta, (N, D))
    return _merged(Rooted(rest, terms, squares))


def _merged(x: Rooted) -> Rooted:
    """Merge terms with equal roots, if every case has the same number of them."""
    kinds = [list(dict.fromkeys(row)) for row in x.squares]
    K = max(map(len, kinds))
    if x.squares.shape[1] == K or {len(row) for row in kinds} != {K}:
        return x
    terms = np.array(
        [
            [[sum(t[row == v], Fraction(0)) for v in kind] for t in case]
            for case, row, kind in zip(x.terms, x.squares, kinds, strict=True)
        ],
        dtype=object,
    )
    return Rooted(x.rest, terms, np.array(kinds, dtype=object))
