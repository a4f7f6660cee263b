"""Statistics of the units of a convolution by position.

The paper's reason why layer norm does less well in convolutions (section 6.7): units whose
receptive field lies near the border of the image are rarely on, so their statistics differ from
those of the rest of the layer.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from normgeo.base.arguments import instance_of
from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.networks.convolution import ConvolutionalNetwork


@final
@dataclass(frozen=True, eq=False)
class PlaceStatistics:
    """Statistics of the units of a convolution by position, over all channels and cases.

    Attributes:
        on: the share of units that are on, s > 0, (side, side).
        shift: the mean of a at a position minus that of the layer, over the layer's standard
            deviation.
        spread: the standard deviation of a at a position over the layer's.

    """

    on: Array
    shift: Array
    spread: Array

    @property
    def is_border(self) -> Array:
        """Whether each position is at the border, (side, side)."""
        border = np.ones(self.on.shape, dtype=bool)
        border[1:-1, 1:-1] = False
        return border

    def at_border(self, values: Array) -> tuple[float, float]:
        """Return the mean of a statistic at the border and inside."""
        return float(values[self.is_border].mean()), float(values[~self.is_border].mean())

    @property
    def distance(self) -> Array:
        """The distance of a position's own statistics from the layer's, (side, side).

        √(shift² + (spread − 1)²): the Wasserstein distance of two normal distributions, over the
        standard deviation of the layer.
        """
        distance: Array = np.hypot(self.shift, self.spread - 1)
        return distance


def place_statistics(network: ConvolutionalNetwork, seen: ArrayLike) -> PlaceStatistics:
    """Measure the units of a convolution at each position, with current statistics.

        shift = (mean of a there − mean of a)/σ,    spread = σ there/σ

    Args:
        network: for images of the same size. seen: windows (N, 9, P) of square images.

    Raises:
        ValueError: as `ConvolutionalNetwork.forward`, images that are not square, or sums that are
            all equal.

    Source: Ba, Kiros and Hinton 2016, section 6.7.
    """
    passed = instance_of("network", network, ConvolutionalNetwork).forward(seen)
    places = passed.summed.shape[2]
    side = isqrt(places)
    if side * side != places:
        raise Refusal(
            "The windows must be of square images, with a square number of places; got {places}.",
            places=places,
        )
    a = passed.summed / (np.abs(passed.summed).max() or 1.0)
    mean, sigma = a.mean(), a.std()
    if not sigma:
        raise Refusal(
            "All sums of the layer are equal, so that it has no spread to compare with. Use "
            "other weights or images."
        )
    return PlaceStatistics(
        *(
            values.reshape(side, side)
            for values in (
                (passed.s > 0).mean(axis=(0, 1)),
                (a.mean(axis=(0, 1)) - mean) / sigma,
                a.std(axis=(0, 1)) / sigma,
            )
        )
    )
