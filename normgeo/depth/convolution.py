"""A small convolutional network: a kernel of 3 × 3, a norm over images, ReLU, a head of classes.

    a = K * image,    h = ReLU(g z + b),    logits = U vec(h) + u

Images keep their size, with zeros around them. g and b have a number for each channel.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike

from normgeo.base.arguments import whole_number
from normgeo.base.arrays import Array, real_array
from normgeo.depth.shared_norm import Moments, Normalized, SharedNorm
from normgeo.models.activations import ACTIVATIONS
from normgeo.models.families import FAMILIES

RELU = ACTIVATIONS["relu"]
FAMILY = FAMILIES["categorical"]
SIDE: Final = 3
"""Of the kernel, in pixels."""


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
    """What a network made of images: a (N, C, P), z of the norm, s = g z + b, and logits (N, H)."""

    summed: Array
    normalized: Normalized
    s: Array
    logits: Array


def windows(images: ArrayLike) -> Array:
    """Return what the kernel sees at each place of images (N, R, S), (N, 9, P)."""
    pixels = np.pad(real_array("images", images, 3), ((0, 0), (1, 1), (1, 1)))
    seen = np.lib.stride_tricks.sliding_window_view(pixels, (SIDE, SIDE), axis=(1, 2))
    return np.moveaxis(seen.reshape(len(pixels), -1, SIDE * SIDE), 1, 2).copy()


@final
@dataclass(frozen=True, eq=False)
class ConvolutionalNetwork:
    """A convolutional network over windows of images.

    Attributes:
        norm: over images. parts: the parameters.

    """

    norm: SharedNorm
    parts: Kernel

    @classmethod
    def random(
        cls, norm: SharedNorm, channels: int, places: int, outputs: int, rng: np.random.Generator
    ) -> ConvolutionalNetwork:
        """Return a network with Gaussian weights, of variance 2/9 in K and 1/CP in U."""
        C, P, H = (
            whole_number(name, value, 1)
            for name, value in (("channels", channels), ("places", places), ("outputs", outputs))
        )
        K = rng.standard_normal((C, SIDE * SIDE)) * (RELU.weight_variance / SIDE**2) ** 0.5
        U = rng.standard_normal((H, C * P)) / (C * P) ** 0.5
        return cls(norm, Kernel(K, np.ones(C), np.zeros(C), U, np.zeros(H)))

    def pack(self) -> Array:
        """Return all parameters, (P,)."""
        return np.concatenate([part.ravel() for part in self.parts])

    def unpack(self, theta: Array) -> ConvolutionalNetwork:
        """Return the network of the same kind with these parameters."""
        ends = np.cumsum([part.size for part in self.parts])[:-1]
        pieces = zip(np.split(theta, ends), self.parts, strict=True)
        return replace(self, parts=Kernel(*(piece.reshape(part.shape) for piece, part in pieces)))

    def forward(self, seen: Array, known: Moments | None = None) -> Passed:
        """Pass windows (N, 9, P) through the network; `known` moments are those of test time."""
        K, g, b, U, u = self.parts
        summed = K @ seen
        normalized = self.norm.normalize(summed, known)
        s = g[:, None] * normalized.z + b[:, None]
        return Passed(summed, normalized, s, RELU.value(s).reshape(len(seen), -1) @ U.T + u)

    def loss_and_gradient(self, seen: Array, y: ArrayLike) -> tuple[float, Kernel]:
        """Return −mean log P(y|x) with current statistics, nats per case, and its gradients."""
        K, g, _, U, u = self.parts
        passed = self.forward(seen)
        loss = -float(np.mean(FAMILY.log_likelihood(y, passed.logits, 1.0)))
        dlogits = -FAMILY.likelihood(y, len(u), 1.0).at(passed.logits).residual / len(seen)
        hidden = RELU.value(passed.s).reshape(len(seen), -1)
        ds = (dlogits @ U).reshape(passed.s.shape) * RELU.slope(passed.s)
        da = passed.normalized.vjp(g[:, None] * ds)
        return loss, Kernel(
            np.tensordot(da, seen, axes=((0, 2), (0, 2))).reshape(K.shape),
            (passed.normalized.z * ds).sum(axis=(0, 2)),
            ds.sum(axis=(0, 2)),
            dlogits.T @ hidden,
            dlogits.sum(axis=0),
        )
