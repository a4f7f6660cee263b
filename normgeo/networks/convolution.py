"""A small convolutional network: a kernel of 3 × 3, a norm over images, ReLU, a linear head.

    a = K * image,    h = ReLU(g z + b),    logits = U vec(h) + u

Images are padded with zeros and keep their size. g and b have one number per channel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike

from normgeo.base.arguments import instance_of, whole_number
from normgeo.base.arrays import Array, real_array, require_room, require_same_cases
from normgeo.base.constant import Constant
from normgeo.base.text import text
from normgeo.models.activations import ACTIVATIONS
from normgeo.models.families import FAMILIES
from normgeo.networks.image_norm import ImageNorm, Moments, Normalized
from normgeo.networks.parameters import of_shape, parts_of, require_finite

RELU = ACTIVATIONS["relu"]
FAMILY = FAMILIES["categorical"]
SIDE: Final = 3
"""The kernel's side, in pixels."""


class Kernel(NamedTuple):
    """The parameters of a convolutional network, or their gradients.

    Attributes:
        K: (C, 9). g, b: (C,). U: (H, C·P). u: (H,).

    """

    K: Array
    g: Array
    b: Array
    U: Array
    u: Array


class Passed(NamedTuple):
    """The intermediate values of a forward pass: a (N, C, P), z, s = g z + b, and logits (N, H)."""

    summed: Array
    normalized: Normalized
    s: Array
    logits: Array


def image_windows(images: ArrayLike) -> Array:
    """Return the windows of a kernel of 3 × 3 at the P = R·S positions of images, (N, 9, P).

    Args:
        images: (N, R, S), padded with zeros.

    Raises:
        ValueError: bad numbers, or windows that take too much memory.

    >>> image_windows([[[7.0]]])[0, :, 0]
    array([0., 0., 0., 0., 7., 0., 0., 0., 0.])

    """
    taken = real_array("images", images, 3).astype(np.float64, copy=False)
    require_room(text("The windows of the images"), SIDE * SIDE, *taken.shape)
    pixels = np.pad(taken, ((0, 0), (1, 1), (1, 1)))
    seen = np.lib.stride_tricks.sliding_window_view(pixels, (SIDE, SIDE), axis=(1, 2))
    return np.moveaxis(seen.reshape(len(pixels), -1, SIDE * SIDE), 1, 2).copy()


@final
@dataclass(init=False, eq=False)
class ConvolutionalNetwork(Constant):
    """A small convolutional network for classes, over the windows of images.

        a = K * image,    h = ReLU(g z + b),    logits = U vec(h) + u,    z = N(a)

    Attributes:
        norm: N, over images. parts: K (C, 9), g, b (C,), U (H, C·P), u (H,).

    Raises:
        ValueError: bad shapes or numbers.

    """

    norm: Final[ImageNorm]
    parts: Final[Kernel]

    def __init__(self, norm: ImageNorm, parts: Kernel | Sequence[ArrayLike]) -> None:
        """Take the norm and (K, g, b, U, u)."""
        self.norm = instance_of("norm", norm, ImageNorm)
        K, g, b, U, u = parts_of("parts", parts, "K g b U u")
        K, U = of_shape("K", K, None, SIDE * SIDE), real_array("U", U, 2)
        C = len(K)
        places = max(U.shape[1] // C, 1)
        U = of_shape("U", U, None, C * places)
        g, b, u = of_shape("g", g, C), of_shape("b", b, C), of_shape("u", u, len(U))
        self.parts = Kernel(K, g, b, U, u)

    @classmethod
    def random(
        cls, norm: ImageNorm, channels: int, places: int, outputs: int, rng: np.random.Generator
    ) -> ConvolutionalNetwork:
        """Return a network with Gaussian weights, of variance 2/9 in K and 1/CP in U.

        Args:
            norm: over images. channels: C. places: P, positions in an image. outputs: H, classes.

        Raises:
            ValueError: bad arguments, or weights that take too much memory.

        """
        instance_of("rng", rng, np.random.Generator)
        C, P, H = (
            whole_number(name, value, 1)
            for name, value in (("channels", channels), ("places", places), ("outputs", outputs))
        )
        require_room(text("The weights"), C, SIDE * SIDE + H * P)
        K = rng.standard_normal((C, SIDE * SIDE)) * (RELU.weight_variance / SIDE**2) ** 0.5
        U = rng.standard_normal((H, C * P)) / (C * P) ** 0.5
        return cls(norm, Kernel(K, np.ones(C), np.zeros(C), U, np.zeros(H)))

    def pack(self) -> Array:
        """Return θ, all parameters in the order of the parts."""
        return np.concatenate([part.ravel() for part in self.parts])

    def unpack(self, theta: Array) -> ConvolutionalNetwork:
        """Return the network with the same norm and parameters θ; raises for another shape."""
        *ends, size = np.cumsum([part.size for part in self.parts])
        pieces = zip(np.split(of_shape("theta", theta, size), ends), self.parts, strict=True)
        parts = Kernel(*(piece.reshape(part.shape) for piece, part in pieces))
        return ConvolutionalNetwork(self.norm, parts)

    def forward(self, seen: ArrayLike, known: Moments | None = None) -> Passed:
        """Pass windows (N, 9, P) through the network; `known` moments are for test time.

        Raises:
            ValueError: bad windows, an undefined z, or numbers that overflow or take too much
                memory.

        """
        K, g, b, U, u = self.parts
        windows = of_shape("seen", seen, None, SIDE * SIDE, U.shape[1] // len(K))
        require_room(text("What is kept of all places"), len(windows), 8, U.shape[1])
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            summed = K @ windows
            require_finite(text("The summed inputs"), [summed])
            normalized = self.norm.normalize(summed, known)
            s = g[:, None] * normalized.z + b[:, None]
            logits = RELU.value(s).reshape(len(windows), -1) @ U.T + u
        require_finite(text("The logits"), [logits])
        return Passed(summed, normalized, s, logits)

    def loss_and_gradient(self, seen: ArrayLike, y: ArrayLike) -> tuple[float, Kernel]:
        """Return −mean log P(y|x) with current statistics, nats per case, and its gradients.

        Args:
            seen: windows (N, 9, P). y: classes (N,), integers from 0.

        Raises:
            ValueError: as `forward`, and for classes that the network does not have.

        """
        K, g, _, U, u = self.parts
        passed, windows = self.forward(seen), np.asarray(seen, dtype=np.float64)
        targets = FAMILY.encode(y, len(u))
        require_same_cases(windows, targets)
        loss = -float(np.mean(FAMILY.log_likelihood(targets, passed.logits, 1.0)))
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            residual = FAMILY.likelihood(targets, len(u), 1.0).at(passed.logits).residual
            dlogits = -residual / len(windows)
            hidden = RELU.value(passed.s).reshape(len(windows), -1)
            ds = (dlogits @ U).reshape(passed.s.shape) * RELU.slope(passed.s)
            da = passed.normalized.vjp(g[:, None] * ds)
            gradients = Kernel(
                np.tensordot(da, windows, axes=((0, 2), (0, 2))).reshape(K.shape),
                (passed.normalized.z * ds).sum(axis=(0, 2)),
                ds.sum(axis=(0, 2)),
                dlogits.T @ hidden,
                dlogits.sum(axis=0),
            )
        require_finite(text("The gradients"), gradients)
        return loss, gradients
