"""The size of the stream of a residual network at each layer, and of its gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from normgeo.base.arguments import instance_of
from normgeo.base.arrays import Array
from normgeo.networks.residual import ResidualNetwork


@final
@dataclass(frozen=True, eq=False)
class Signals:
    """Sizes of stream and gradients of a residual network by layer, on some cases.

    Attributes:
        stream: the rms of x_l over cases and features, l = 0 … L, (L + 1,).
        sums: the rms of the residual sums s_l, (L + 1,).
        gradients: the norm of the gradient of the loss in W and V of each block, (L,).
        expected_stream: the stream predicted for random weights, from its first size; None if there
            is no law.
        expected_gradients: the gradients predicted for a wide network, from that of the last block;
            None if there is no law.

    """

    stream: Array
    sums: Array
    gradients: Array
    expected_stream: Array | None
    expected_gradients: Array | None


def signals(network: ResidualNetwork, X: ArrayLike, y: ArrayLike) -> Signals:
    """Measure the stream and the gradients of a residual network, layer by layer.

    The predictions are for weights from `ResidualNetwork.random`. With pre-norm the mean square of
    the stream grows by 1 in each block, since the input of a branch has mean square 1; going back,
    a branch adds |g|²/x_l² to the square of a gradient g, since its norm divides by x_l. So |g|²
    grows as x_{l+1}² falls: ‖∂loss/∂(W, V)‖ ∝ 1/x_{l+1}. A norm that leaves only signs, such as
    layer norm of two features, makes the gradients 0.

    Args:
        network: of L blocks. X: cases (N, F). y: their classes, (N,), integers from 0.

    Raises:
        ValueError: as `ResidualNetwork.forward` and its gradients do.

    Source: Xiong et al., On Layer Normalization in the Transformer Architecture, 2020.
    """
    passed = instance_of("network", network, ResidualNetwork).forward(X)
    gradients = np.array(
        [
            np.hypot(*(_rms(part) * part.size**0.5 for part in (block.W, block.V)))
            for block in network.gradients(X, y).blocks
        ]
    )
    if network.normalizer.leaves_only_signs(network.parts.U.shape[1]):
        gradients[:] = 0.0  # no small change of the stream reaches the head: the rest is rounding
    stream, sums = (np.array([_rms(x) for x in each]) for each in (passed.stream, passed.sums))
    expected, falls = _expected(network, float(stream[0])), None
    over_features = network.normalizer.scaling.shared_by_neurons
    pre_norm = not network.place.carries_normalized
    if expected is not None and over_features and pre_norm and gradients.any():
        falls = gradients[-1] * (expected[-1] / expected[1:])
    return Signals(stream, sums, gradients, expected, falls)


def _expected(network: ResidualNetwork, first: float) -> Array | None:
    normalizer = network.normalizer
    if normalizer.added_eps or (normalizer.centering.subtracts and not normalizer.scaling.divides):
        return None  # after the norm, the size depends on the spread of the stream itself
    normalized, carries = normalizer.scaling.divides, network.place.carries_normalized
    sizes = [first]
    with np.errstate(over="ignore"):
        for _ in network.parts.blocks:
            before = sizes[-1]
            after = float(np.hypot(before, 1.0 if normalized else before))
            sizes.append(1.0 if normalized and carries else after)
    return np.array(sizes)


def _rms(x: Array) -> float:
    """√(mean of x²), without squaring the largest floats."""
    largest = float(np.abs(x).max())
    with np.errstate(under="ignore"):
        return largest * float(np.sqrt(np.mean((x / largest) ** 2))) if largest else 0.0
