"""How large the stream of a residual network is at each layer, and the gradients there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from normgeo.base.arrays import Array
from normgeo.depth.residual import ResidualNetwork


@final
@dataclass(frozen=True, eq=False)
class Signals:
    """Sizes by layer of a network at one place of its norm, on some cases.

    Attributes:
        stream: the rms of x_l over cases and features, l = 0 … L, (L + 1,).
        expected: the same in expectation over the start's random weights, None where no law is
            known.
        weight_gradients: the norm of the gradient in W and V of each block, (L,).

    """

    stream: Array
    expected: Array | None
    weight_gradients: Array


def signals(network: ResidualNetwork, X: ArrayLike, y: ArrayLike) -> Signals:
    """Measure a network on cases X (N, F) of the classes y (N,); raises as its `forward` does.

    The expected stream is that of weights as `ResidualNetwork.random` draws them.
    """
    passed, gradients = network.forward(X), network.gradients(X, y)
    squares = [float(np.mean(x * x)) for x in passed.stream]
    return Signals(
        np.sqrt(squares),
        _expected(network, squares[0]),
        np.array(
            [
                np.hypot(np.linalg.norm(block.W), np.linalg.norm(block.V))
                for block in gradients.blocks
            ]
        ),
    )


def _expected(network: ResidualNetwork, first: float) -> Array | None:
    normalizer = network.normalizer
    if normalizer.added_eps or (normalizer.centering.subtracts and not normalizer.scaling.divides):
        return None  # what the norm leaves depends on the stream's own spread
    normalized, carries = normalizer.scaling.divides, network.place.carries_normalized
    squares = [first]
    for _ in network.parts.blocks:
        before = squares[-1]
        after = before + (1.0 if normalized and not carries else before)
        squares.append(1.0 if normalized and carries else after)
    return np.sqrt(squares)
