"""A residual network of normalized blocks for classes, and its gradients.

    s₀ = E x + e,    s_{l+1} = a block of s_l (see `blocks`),    logits = U N(s_L) + u

log P(y|x) = logit_y − log Σ exp(logits).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike

from normgeo.base.arguments import entry_of, instance_of, shown, whole_number
from normgeo.base.arrays import Array, require_room, require_same_cases
from normgeo.base.constant import Constant
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.models.families import FAMILIES
from normgeo.networks.blocks import PLACES, RELU, Back, Block, Place
from normgeo.networks.norm import Gain, norm, require_norm
from normgeo.networks.parameters import of_shape, parts_of, require_finite
from normgeo.normalizers.named import normalizer_of
from normgeo.normalizers.normalizer import Normalizer

FAMILY = FAMILIES["categorical"]


class Parts(NamedTuple):
    """The parameters of a residual network, or their gradients.

    Attributes:
        E: (D, F). e: (D,). blocks: in order. last: of the norm before the head. U: (H, D). u: (H,).

    """

    E: Array
    e: Array
    blocks: tuple[Block, ...]
    last: Gain
    U: Array
    u: Array

    def arrays(self) -> Iterator[Array]:
        """Yield every array, starting at the inputs."""
        yield from (self.E, self.e)
        for block in self.blocks:
            yield from (*(block.norm or ()), *block[1:])
        yield from (*self.last, self.U, self.u)


@final
@dataclass(frozen=True, eq=False)
class Passed:
    """The intermediate values of a forward pass.

    Attributes:
        sums: s_0 … s_L. stream: x_0 … x_L, carried by the residual connections; (N, D) each.
        logits: (N, H). read: the input of the head, (N, D).
        backs: the backward functions of the blocks, then of the norm before the head.

    """

    sums: tuple[Array, ...]
    stream: tuple[Array, ...]
    logits: Array
    read: Array
    backs: tuple[Back, ...]
    back: Callable[[Array], tuple[Array, Gain]]


@final
@dataclass(init=False, eq=False)
class ResidualNetwork(Constant):
    """A residual network for classes, with the same normalizer at the same position in all blocks.

        pre-norm:   x_{l+1} = x_l + B(N(x_l)),     logits = U N(x_L) + u
        post-norm:  x_{l+1} = N(x_l + B(x_l)),     logits = U x_L + u
        x_0 = E x + e,    B(y) = V ReLU(W y + b) + c,    N with a gain g and a shift β

    Attributes:
        normalizer: N, over the cases or the features. place: its position.
        parts: E (D, F), e (D,), the blocks, the gain and shift of the last norm, U (H, D), u (H,).
            A block is its gain and shift (D,) each, or None for no norm, W (M, D), b (M,),
            V (D, M), c (D,).

    Raises:
        ValueError: bad shapes or numbers.

    Source: Xiong et al., On Layer Normalization in the Transformer Architecture, 2020.
    """

    normalizer: Final[Normalizer]
    place: Final[Place]
    parts: Final[Parts]

    def __init__(
        self, normalizer: Normalizer | str, place: Place | str, parts: Parts | Sequence[object]
    ) -> None:
        """Take N, "pre" or "post", and (E, e, blocks, last, U, u) as arrays and lists."""
        self.normalizer = normalizer_of(normalizer)
        self.place = entry_of("place", place, PLACES, Place)
        self.parts = _checked(parts)

    @classmethod
    def random(
        cls,
        normalizer: Normalizer | str,
        place: Place | str,
        depth: int,
        width: int,
        features: int,
        outputs: int,
        rng: np.random.Generator,
    ) -> ResidualNetwork:
        """Return a network with Gaussian weights that preserve the size of their inputs.

        Variance 1/F in E, 2/D in W (before ReLU), 1/M in V and 1/D in U, with M = D. Gains are 1,
        biases 0. The output of a branch has, in expectation, the mean square of the input of W.

        Args:
            normalizer: over the cases or the features. place: "pre" or "post".
            depth: L, at least 1. width: D. features: F. outputs: H.

        Raises:
            ValueError: bad arguments, or weights that take too much memory.

        """
        chosen = entry_of("place", place, PLACES, Place)
        instance_of("rng", rng, np.random.Generator)
        L, D, F, H = (
            whole_number(name, value, 1)
            for name, value in (
                ("depth", depth),
                ("width", width),
                ("features", features),
                ("outputs", outputs),
            )
        )
        require_room(text("The weights"), L * 2 * D + F + H, D)

        def drawn(rows: int, columns: int, variance: float) -> Array:
            weights: Array = rng.standard_normal((rows, columns)) * (variance / columns) ** 0.5
            return weights

        plain = Gain(np.ones(D), np.zeros(D))
        E, blocks = drawn(D, F, 1.0), []
        for place_of in range(L):
            gain = None if chosen.carries_normalized and not place_of else plain
            W, V = drawn(D, D, RELU.weight_variance), drawn(D, D, 1.0)
            blocks.append(Block(gain, W, np.zeros(D), V, np.zeros(D)))
        parts = Parts(E, np.zeros(D), tuple(blocks), plain, drawn(H, D, 1.0), np.zeros(H))
        return cls(normalizer, chosen, parts)

    def forward(self, X: ArrayLike) -> Passed:
        """Pass cases X (N, F) through the network, with current statistics.

        Raises:
            ValueError: bad inputs, an undefined z, or numbers that overflow or take too much
                memory.

        """
        inputs, at = of_shape("X", X, None, self.parts.E.shape[1]), self.parts
        require_norm(self.normalizer, len(at.E), len(inputs))
        hidden = sum(8 * len(at.E) + 4 * len(block.W) for block in at.blocks)
        require_room(text("What is kept of each block"), len(inputs), hidden)
        sums, stream, backs = [], [], []
        with np.errstate(over="ignore", invalid="ignore"):
            sums.append(_finite(inputs @ at.E.T + at.e))
            for block in at.blocks:
                s, carried, back = self.place.step(self.normalizer, block, sums[-1])
                sums.append(_finite(s))
                stream.append(carried)
                backs.append(back)
            read, last_back = norm(self.normalizer, at.last, sums[-1])
            logits = _finite(read @ at.U.T + at.u)
        stream.append(read if self.place.carries_normalized else sums[-1])
        return Passed(tuple(sums), tuple(stream), logits, read, tuple(backs), last_back)

    def loss(self, X: ArrayLike, y: ArrayLike) -> float:
        """Return −mean log P(y|x), in nats per case, for classes y (N,)."""
        logits = self.forward(X).logits
        return -float(np.mean(FAMILY.log_likelihood(_targets(y, logits), logits, 1.0)))

    def gradients(self, X: ArrayLike, y: ArrayLike) -> Parts:
        """Return the gradients of the loss, by back-propagation; raises as `forward`."""
        return self.loss_and_gradients(X, y)[1]

    def loss_and_gradients(self, X: ArrayLike, y: ArrayLike) -> tuple[float, Parts]:
        """Return the loss, in nats per case, and its gradients; raises as `forward`."""
        at, passed = self.parts, self.forward(X)
        inputs, targets = np.asarray(X, dtype=np.float64), _targets(y, passed.logits)
        likelihood = FAMILY.likelihood(targets, len(at.U), 1.0)
        loss = -float(np.mean(FAMILY.log_likelihood(targets, passed.logits, 1.0)))
        blocks = []
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            dlogits = -likelihood.at(passed.logits).residual / len(inputs)
            ds, last = passed.back(dlogits @ at.U)
            for back in reversed(passed.backs):
                ds, block = back(ds)
                blocks.append(block)
            found = Parts(
                ds.T @ inputs,
                ds.sum(axis=0),
                tuple(blocks[::-1]),
                last,
                dlogits.T @ passed.read,
                dlogits.sum(axis=0),
            )
        require_finite(text("The gradients"), found.arrays())
        return loss, found

    def pack(self) -> Array:
        """Return θ, all parameters in the order of `Parts.arrays`."""
        return np.concatenate([part.ravel() for part in self.parts.arrays()])

    def unpack(self, theta: Array) -> ResidualNetwork:
        """Return the network with parameters θ; raises for another shape."""
        arrays = list(self.parts.arrays())
        *ends, size = np.cumsum([part.size for part in arrays])
        pieces = np.split(of_shape("theta", theta, size), ends)
        taken = (piece.reshape(part.shape) for piece, part in zip(pieces, arrays, strict=True))
        E, e = next(taken), next(taken)
        blocks = [
            Block(
                None if block.norm is None else Gain(next(taken), next(taken)),
                *(next(taken) for _ in block[1:]),
            )
            for block in self.parts.blocks
        ]
        last = Gain(next(taken), next(taken))
        parts = Parts(E, e, tuple(blocks), last, next(taken), next(taken))
        return ResidualNetwork(self.normalizer, self.place, parts)


def _targets(y: ArrayLike, logits: Array) -> Array:
    """Return classes as one-hot rows, one for each case."""
    targets: Array = FAMILY.encode(y, logits.shape[1])
    require_same_cases(logits, targets)
    return targets


def _checked(parts: object) -> Parts:
    """Return parameters as floats, after checking that their shapes agree."""
    E, e, blocks, last, U, u = parts_of("parts", parts, "E e blocks last U u")
    E = of_shape("E", E, None, None)
    D = len(E)
    if not isinstance(blocks, list | tuple) or not blocks:
        raise Refusal(
            "`blocks` must be a list with one block or more; got {value}.", value=shown(blocks)
        )

    def gain(name: str, values: object) -> Gain:
        g, beta = parts_of(name, values, "g β")
        return Gain(of_shape(f"{name} g", g, D), of_shape(f"{name} β", beta, D))

    taken = []
    for index, block in enumerate(blocks):
        name = f"blocks[{index}]"
        own, W, b, V, c = parts_of(name, block, "norm W b V c")
        W = of_shape(f"{name} W", W, None, D)
        taken.append(
            Block(
                None if own is None else gain(f"{name} norm", own),
                W,
                of_shape(f"{name} b", b, len(W)),
                of_shape(f"{name} V", V, D, len(W)),
                of_shape(f"{name} c", c, D),
            )
        )
    U = of_shape("U", U, None, D)
    e, u = of_shape("e", e, D), of_shape("u", u, len(U))
    return Parts(E, e, tuple(taken), gain("last", last), U, u)


def _finite(x: Array) -> Array:
    if not np.isfinite(x).all():
        raise Refusal(
            "The residual stream exceeds the largest float. Use fewer blocks, smaller weights "
            "or a norm."
        )
    return x
