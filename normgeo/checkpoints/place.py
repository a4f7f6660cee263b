"""The place of a layer's norm, and which changes of the weights the layer then ignores.

    after W:               y = g N(x Wᵀ) + β
    before W:              y = (g N(x) + β) Wᵀ + b
    after a residual sum:  y = g N(r + x Wᵀ) + β

N(u) = C/√v. Every verdict is an exact evaluation at random integers, by the lines that the
normalizer itself runs (see `certificate`): the numerators of y and the v under each of them, before
and after a change. The roots of different v in a draw have no rational relation, so y is unchanged
exactly if the numerators over each v are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple, final

import numpy as np

from normgeo.base.arguments import seed_number
from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.invariance import exact
from normgeo.invariance.operations import OPERATIONS, Rescaling
from normgeo.normalizers.normalizer import Normalizer


class Parts(NamedTuple):
    """The parameters of a layer with its norm: W (H, D), its bias b, the norm's g and β."""

    W: Array
    b: Array
    g: Array
    beta: Array


class Terms(NamedTuple):
    """y as a sum of terms over roots: each n_k/√v_k, and what has no root.

    Attributes:
        numerators: (N, H, K). squares: v, (N, H, K). rest: (N, H).

    """

    numerators: Array
    squares: Array
    rest: Array


def _of_weights(W: Array, X: Array, stream: Array) -> tuple[Array, Array]:
    return W, X


def _of_inputs(W: Array, X: Array, stream: Array) -> tuple[Array, Array]:
    return _identity(X.shape[1], X), X


def _of_sum(W: Array, X: Array, stream: Array) -> tuple[Array, Array]:
    """Of r + x Wᵀ = (x, r)(W, 1)ᵀ."""
    return (
        np.concatenate([W, _identity(len(W), W)], axis=1),
        np.concatenate([X, stream], axis=1),
    )


def _identity(size: int, like: Array) -> Array:
    one = np.eye(size, dtype=int)
    return exact.fractions(one) if like.dtype == object else one.astype(like.dtype)


@final
@dataclass(frozen=True)
class Change:
    """A change of the parameters of a layer by a factor δ and scalars c.

    Attributes:
        key: its name. title: in a few words. apply: (parameters, δ, c) → changed ones.

    """

    key: str
    title: str
    apply: Callable[[Parts, Fraction, Array], Parts]


def _row_change(key: str) -> Callable[[Parts, Fraction, Array], Parts]:
    operation = OPERATIONS[key]

    def apply(at: Parts, delta: Fraction, c: Array) -> Parts:
        if isinstance(operation, Rescaling):
            return at._replace(W=operation.rescale(at.W, delta, 0))
        (length,) = operation.gamma_shape(at.W)
        return at._replace(W=operation.shift(at.W, c[:length], 0))

    return apply


def _traded(at: Parts, delta: Fraction, c: Array) -> Parts:
    factors = np.array([delta, *(1 + c[1 : len(at.g)] ** 2)], dtype=object)
    return at._replace(W=at.W * factors, g=at.g / factors, beta=at.beta / factors)


def _offset_over_gain(at: Parts, delta: Fraction, c: Array) -> Parts:
    shift = c[: len(at.W), None] / at.g
    return at._replace(W=at.W + shift, b=at.b - (shift * at.beta).sum(-1))


_OF_W = (
    Change("all_times", text("all of W × δ"), _row_change("all_times")),
    Change("one_times", text("one row of W × δ"), _row_change("one_times")),
    Change("all_plus", text("the same vector added to all rows of W"), _row_change("all_plus")),
    Change("one_plus", text("a vector added to one row of W"), _row_change("one_plus")),
    Change("own_plus", text("to each row of W a number of its own"), _row_change("own_plus")),
)
_OF_W_AND_GAIN = (
    Change("traded", text("columns of W × δ, with the norm's gain and shift ÷ δ"), _traded),
    Change(
        "offset_over_gain",
        text("to each row of W a number of its own over the gain, with the bias corrected"),
        _offset_over_gain,
    ),
)


@final
@dataclass(frozen=True)
class Place:
    """A place of the norm.

    Attributes:
        key: in PLACES. title: in a few words.
        normalized: (W, X, residual stream (N, H)) → the weights and inputs whose product N takes.
        changes: those that are decided.
        over_features: whether N normalizes the features, so that the gain has a number for each.
        takes_stream: whether N takes a residual stream as well.

    """

    key: str
    title: str
    normalized: Callable[[Array, Array, Array], tuple[Array, Array]]
    changes: tuple[Change, ...] = _OF_W
    over_features: bool = False
    takes_stream: bool = False

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle its key: another process has the same places."""
        return _place, (self.key,)

    @property
    def takes_outputs(self) -> bool:
        """Whether N takes the layer's outputs and nothing else, so that the bias is a weight."""
        return not (self.over_features or self.takes_stream)

    def terms(self, normalizer: Normalizer, at: Parts, X: Array, stream: Array) -> Terms:
        """Return y, computed from exact numbers."""
        C, v = normalizer.moments(*self.normalized(at.W, X, stream + at.b))
        squares = np.broadcast_to(v * Fraction(1), C.shape)  # without a scale v is a plain 1
        if not self.over_features:
            shape = (*C.shape, 1)
            rest = np.broadcast_to(at.beta, C.shape)
            return Terms((at.g * C).reshape(shape), squares.reshape(shape), rest)
        terms = (at.g * C)[:, None, :] * at.W
        rest = np.broadcast_to((at.W * at.beta).sum(-1) + at.b, terms.shape[:2])
        return Terms(terms, np.broadcast_to(squares[:, None, :], terms.shape), rest)


PLACES: dict[str, Place] = {
    place.key: place
    for place in (
        Place("after", text("after W"), _of_weights),
        Place("before", text("before W"), _of_inputs, (*_OF_W, *_OF_W_AND_GAIN), True),
        Place("residual", text("after a residual sum"), _of_sum, takes_stream=True),
    )
}


def _place(key: str) -> Place:
    return PLACES[key]


@final
@dataclass(frozen=True)
class Freedom:
    """Whether a layer with its norm ignores a change.

    Attributes:
        change: of the parameters. free: at the ε in use. only_without_eps: only at ε = 0.

    """

    change: Change
    free: bool
    only_without_eps: bool


def require_place(place: Place, normalizer: Normalizer, pixels: int = 1) -> None:
    """Refuse frozen statistics, and places that a norm can't have.

    A norm of the weights stands after W. No norm stands before a kernel of several pixels: it would
    normalize pixels, which the windows share.
    """
    if normalizer.statistics == "frozen":
        raise Refusal(
            "A layer is looked at as it is trained, with current statistics; got a normalizer "
            "with frozen ones."
        )
    if normalizer.normalizes_weights and not place.takes_outputs:
        raise Refusal(
            "{name} normalizes the weights themselves, so it stands after W; got one that "
            "stands {place}. State “after W”, or another norm.",
            name=normalizer.title,
            place=place.title,
        )
    if pixels > 1 and place.over_features:
        raise Refusal(
            "A norm before a convolution takes pixels, which the windows of its kernel share; "
            "got one that stands {place}, and a kernel of {pixels} pixels. State “after W” or "
            "“after a residual sum”.",
            pixels=pixels,
            place=place.title,
        )


@lru_cache(maxsize=256)
def freedoms(place: Place, normalizer: Normalizer, seed: int = 0) -> tuple[Freedom, ...]:
    """Decide exactly which changes of its parameters a layer with its norm ignores.

    The draw proves a "no"; a "yes" is checked at the draw, as in `certify`.

    >>> [f.change.key for f in freedoms(PLACES["after"], Normalizer("none", "layer")) if f.free]
    ['all_times']
    >>> [f.change.key for f in freedoms(PLACES["before"], Normalizer("none", "layer")) if f.free]
    ['traded']

    """
    require_place(place, normalizer)
    # The number of groups changes no verdict once there is more than one.
    shared = replace(normalizer, groups=min(normalizer.groups, 2))
    ideal, actual = (replace(shared, eps=eps) for eps in (Fraction(0), shared.exact_eps))
    rng = np.random.default_rng(seed_number(seed))
    N, H, D = 5, 6, 6
    X, stream = exact.draw(rng, (N, D)), exact.draw(rng, (N, H))
    length = D if place.over_features else H
    at = Parts(*(exact.draw(rng, shape) for shape in ((H, D), (H,), (length,), (length,))))
    delta, c = exact.draw_factor(rng), exact.draw(rng, (max(H, D),))

    def same(using: Normalizer, change: Change) -> bool:
        before = place.terms(using, at, X, stream)
        return _equal(before, place.terms(using, change.apply(at, delta, c), X, stream))

    found = []
    for change in place.changes:
        free = same(actual, change)
        found.append(Freedom(change, free, not free and bool(actual.eps) and same(ideal, change)))
    return tuple(found)


def _equal(first: Terms, second: Terms) -> bool:
    exact.require_fractions(*first, *second)
    return bool((first.rest == second.rest).all()) and all(
        _over_roots(first, i) == _over_roots(second, i) for i in np.ndindex(first.rest.shape)
    )


def _over_roots(terms: Terms, place: tuple[int, ...]) -> dict[Fraction, Fraction]:
    """The numerator over each root in one entry of y; with a single root, the signed square.

    n/√v = m/√w exactly if n²/v = m²/w and the signs agree.
    """
    over: dict[Fraction, Fraction] = {}
    for n, v in zip(terms.numerators[place], terms.squares[place], strict=True):
        over[v] = over.get(v, Fraction(0)) + n
    over = {v: n for v, n in over.items() if n}
    if len(over) == 1:
        ((v, n),) = over.items()
        return {Fraction(1): n * abs(n) / v}
    return over


def rescalable(place: Place, normalizer: Normalizer) -> bool:
    """Whether scaling W leaves y unchanged, if ε is small."""
    first = freedoms(place, normalizer)[0]
    return first.free or first.only_without_eps
