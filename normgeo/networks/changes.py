"""Changes of the weights of a residual network; some leave its function unchanged.

Each is a function of the parameters, the position of the norm and the random numbers, the same for
fractions as for floats. A change of one block changes block ℓ, which is neither the first nor the
last.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.networks.blocks import Block, Place
from normgeo.networks.norm import Gain
from normgeo.networks.residual import Parts

BLOCK = 1
"""ℓ, counted from 0."""


class Drawn(NamedTuple):
    """The random numbers that changes use, all fractions or all floats.

    Attributes:
        delta: δ > 0. factors: of features, above 0, (D,). hidden: of hidden neurons, (M,).
        a: numbers for features, (D,). h: for hidden neurons, (M,). t: one more. own: for outputs,
            (H,). turn: an orthogonal matrix Q (D, D).

    """

    delta: Any
    factors: Array
    hidden: Array
    a: Array
    h: Array
    t: Any
    own: Array
    turn: Array


@final
@dataclass(frozen=True)
class Change:
    """A change of the weights of a residual network.

    Attributes:
        key: its name. title: in a few words. apply: (parameters, place, drawn) → changed
            parameters.

    """

    key: str
    title: str
    apply: Callable[[Parts, Place, Drawn], Parts]


def _with(at: Parts, index: int, change: Callable[[Block], Block]) -> Parts:
    """Return the parameters with one block changed."""
    blocks = (change(block) if i == index else block for i, block in enumerate(at.blocks))
    return at._replace(blocks=tuple(blocks))


def _written_times(block: Block, delta: Any) -> Block:
    return block._replace(V=block.V * delta, c=block.c * delta)


def _reads_times(at: Parts, place: Place, drawn: Drawn) -> Parts:
    return _with(at, BLOCK, lambda block: block._replace(W=block.W * drawn.delta))


def _writes_times(at: Parts, place: Place, drawn: Drawn) -> Parts:
    return _with(at, BLOCK, lambda block: _written_times(block, drawn.delta))


def _hidden_traded(at: Parts, place: Place, drawn: Drawn) -> Parts:
    factors = drawn.hidden
    return _with(
        at,
        BLOCK,
        lambda block: block._replace(
            W=block.W * factors[:, None], b=block.b * factors, V=block.V / factors
        ),
    )


def _gain_traded(at: Parts, place: Place, drawn: Drawn) -> Parts:
    factors = drawn.factors
    return _with(
        at,
        BLOCK,
        lambda block: block._replace(norm=_over(_gain(block), factors), W=block.W * factors),
    )


def _gain(block: Block) -> Gain:
    if block.norm is None:
        raise ValueError(text("This block has no norm of its own."))
    return block.norm


def _over(gain: Gain, factors: Any) -> Gain:
    return Gain(gain.g / factors, gain.beta / factors)


def _shift_into_bias(at: Parts, place: Place, drawn: Drawn) -> Parts:
    a = drawn.a

    def moved(block: Block) -> Block:
        g, beta = _gain(block)
        return block._replace(norm=Gain(g, beta + a), b=block.b - block.W @ a)

    return _with(at, BLOCK, moved)


def _all_writes_times(at: Parts, place: Place, drawn: Drawn) -> Parts:
    return _first_writes_times(at, len(at.blocks), drawn.delta)


def _first_writes_times(at: Parts, count: int, delta: Any) -> Parts:
    blocks = tuple(
        _written_times(block, delta) if i < count else block for i, block in enumerate(at.blocks)
    )
    return at._replace(E=at.E * delta, e=at.e * delta, blocks=blocks)


def _sum_times(at: Parts, place: Place, drawn: Drawn) -> Parts:
    delta = drawn.delta
    if not place.carries_normalized:  # a sum carries the outputs of all earlier blocks
        return _first_writes_times(at, BLOCK + 1, delta)

    def times(block: Block) -> Block:
        gain, W = _over(_gain(block), 1 / delta), block.W / delta
        return _written_times(block, delta)._replace(norm=gain, W=W)

    return _with(at, BLOCK, times)


def _columns_plus(at: Parts, place: Place, drawn: Drawn) -> Parts:
    return _with(at, BLOCK, lambda block: block._replace(V=block.V + drawn.h, c=block.c + drawn.t))


def _bias_plus(at: Parts, place: Place, drawn: Drawn) -> Parts:
    return _with(at, BLOCK, lambda block: block._replace(c=block.c + drawn.a))


def _turned(at: Parts, place: Place, drawn: Drawn) -> Parts:
    Q = drawn.turn

    def turned(block: Block) -> Block:
        written = block._replace(V=Q @ block.V, c=Q @ block.c)
        if block.norm is None:
            return written._replace(W=block.W @ Q.T)
        gain, W, b = _folded(block.norm, block.W, block.b)
        return written._replace(norm=gain, W=W @ Q.T, b=b)

    last, U, u = _folded(at.last, at.U, at.u)
    return Parts(Q @ at.E, Q @ at.e, tuple(map(turned, at.blocks)), last, U @ Q.T, u)


def _folded(gain: Gain, W: Array, b: Array) -> tuple[Gain, Array, Array]:
    """Fold a norm's gain and shift into the weights and biases after it; return all three."""
    g, beta = gain
    return Gain(g / g, beta - beta), W * g, b + W @ beta


def _last_traded(at: Parts, place: Place, drawn: Drawn) -> Parts:
    return at._replace(last=_over(at.last, drawn.factors), U=at.U * drawn.factors)


def _head_plus(at: Parts, place: Place, drawn: Drawn) -> Parts:
    g, beta = at.last
    shift = drawn.own[:, None] / g
    return at._replace(U=at.U + shift, u=at.u - (shift * beta).sum(axis=1))


CHANGES: dict[str, Change] = {
    change.key: change
    for change in (
        Change("gain_traded", text("gain of a norm ÷ δ, columns of its W × δ"), _gain_traded),
        Change("shift_into_bias", text("shift of a norm moved into the next b"), _shift_into_bias),
        Change(
            "all_writes_times",
            text("everything written to the stream, scaled by δ"),
            _all_writes_times,
        ),
        Change("turned", text("the stream and all that reads it, rotated by Q"), _turned),
        Change("sum_times", text("both inputs of one sum, scaled by δ"), _sum_times),
        Change("columns_plus", text("a constant added to each column of V"), _columns_plus),
        Change("bias_plus", text("a vector added to c"), _bias_plus),
        Change("hidden_traded", text("rows of W and b × δ, columns of V ÷ δ"), _hidden_traded),
        Change("last_traded", text("gain of the last norm ÷ δ, of U × δ"), _last_traded),
        Change(
            "head_plus", text("a constant, divided by the gain, added to each row of U"), _head_plus
        ),
        Change("reads_times", text("W of one block, scaled by δ"), _reads_times),
        Change("writes_times", text("V and c of one block, scaled by δ"), _writes_times),
    )
}


def reflection(v: Array) -> Array:
    """Return the orthogonal matrix 1 − 2vvᵀ/v·v, in fractions if v is."""
    one = np.eye(len(v), dtype=int)
    matrix: Array = one - 2 * v[:, None] * v / (v * v).sum()
    return matrix
