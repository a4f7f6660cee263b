"""A block of a residual network, and the two positions of its norm.

    pre-norm:   x_{l+1} = x_l + B(N(x_l))          the head reads N(x_L)
    post-norm:  x_{l+1} = N(x_l + B(x_l))          the head reads x_L
    B(y) = V f(W y + b) + c,    f = ReLU

Both are one chain of sums s, with a norm before every branch and before the head,

    s_{l+1} = k_l + B(y_l),    y_l = N(s_l),    head of N(s_L).

They differ in the value that the residual connection carries: with pre-norm k = s, with post-norm
k = y, where the first y is s. W reads the stream x = k, and V writes to it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, final

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.models.activations import ACTIVATIONS
from normgeo.networks.norm import Gain, exact_norm, norm
from normgeo.networks.rooted import Rooted, Sums
from normgeo.normalizers.normalizer import Normalizer

RELU = ACTIVATIONS["relu"]


class Block(NamedTuple):
    """The parameters of a block, or their gradients.

    Attributes:
        norm: g and β of the norm before its branch, None without a norm.
        W: (M, D). b: (M,). V: (D, M). c: (D,).

    """

    norm: Gain | None
    W: Array
    b: Array
    V: Array
    c: Array


Back = Callable[[Array], tuple[Array, Block]]
"""Maps a gradient in the sum after a block to those in the sum before it and in the block."""


@final
@dataclass(frozen=True)
class Place:
    """The position of the norm in a block.

    Attributes:
        key: in PLACES. title: in a few words. short: in one.
        carries_normalized: whether the residual connection carries the normalized sum.

    """

    key: str
    title: str
    short: str
    carries_normalized: bool

    def step(self, normalizer: Normalizer, block: Block, s: Array) -> tuple[Array, Array, Back]:
        """Return the sum after a block, what the residual connection carries, and the way back."""
        y, from_norm = (s, None) if block.norm is None else norm(normalizer, block.norm, s)
        summed = y @ block.W.T + block.b
        hidden, slope = RELU.value(summed), RELU.slope(summed)
        carried = y if self.carries_normalized else s

        def back(U: Array) -> tuple[Array, Block]:
            dsummed = slope * (U @ block.V)
            dy = dsummed @ block.W
            if self.carries_normalized:
                dy = dy + U
            ds, gain = (dy, None) if from_norm is None else from_norm(dy)
            if not self.carries_normalized:
                ds = ds + U
            found = Block(gain, dsummed.T @ y, dsummed.sum(axis=0), U.T @ hidden, U.sum(axis=0))
            return ds, found

        return carried + hidden @ block.V.T + block.c, carried, back

    def exact(self, normalizer: Normalizer, block: Block, s: Rooted) -> Sums:
        """Return the sum after a block of fractions, from a sum of fractions."""
        y = s if block.norm is None else exact_norm(normalizer, block.norm, s)
        carried = y if self.carries_normalized else s
        plain = carried._replace(rest=carried.rest + block.c)
        return Sums(plain, y.affine(block.W, block.b), block.V.T)


PLACES: dict[str, Place] = {
    place.key: place
    for place in (
        Place("pre", text("pre-norm"), text("pre"), carries_normalized=False),
        Place("post", text("post-norm"), text("post"), carries_normalized=True),
    )
}
