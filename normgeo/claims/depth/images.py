"""Statements on convolutions: section 6.7."""

from __future__ import annotations

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.claims.claim import (
    FAILS,
    HOLDS_IF,
    Claim,
    Finding,
    by_method,
    number,
    numbers,
    shared,
)
from normgeo.claims.examples import Example
from normgeo.depth.image_norm import norms
from normgeo.depth.images import Images
from normgeo.depth.place_statistics import place_statistics
from normgeo.depth.training import ConvolutionHistory, train_convolution

SEEDS, EPOCHS = 3, 3


@shared
def _images(example: Example) -> Images:
    return Images.digits(example.seed, 4 * example.digits)


@shared
def _trained(example: Example, method: str) -> tuple[ConvolutionHistory, ...]:
    """Return convolutions trained on digits with a norm, from three starts."""
    norm, images = norms()[method], _images(example)
    return tuple(
        train_convolution(norm, images, epochs=EPOCHS, seed=SEEDS * example.seed + repeat)
        for repeat in range(SEEDS)
    )


def _border(example: Example) -> Finding:
    """Compare units at the border of the digits with those inside, after training."""
    seen = _images(example).seen_train
    on: list[tuple[float, float]] = []
    far: list[tuple[float, float]] = []
    for one in _trained(example, "layer"):
        at = place_statistics(one.network, seen)
        on.append(at.at_border(at.on))
        far.append(at.at_border(at.distance))

    def named(values: list[tuple[float, float]]) -> dict[str, float]:
        border, inside = np.mean(values, axis=0)
        return {text("border"): float(border), text("inside"): float(inside)}

    less = all(border < inside for border, inside in on)
    apart = all(border > inside for border, inside in far)
    return Finding(
        less and apart,
        apart,
        numbers(text("share of units that are on"), named(on))
        + numbers(text("distance of a place's statistics from the layer's"), named(far), "σ"),
    )


def _convolutions(example: Example) -> Finding:
    """Compare accuracies on held-out digits, by how much the starts make them differ."""
    accuracies: dict[str, Array] = {
        method: np.array([one.accuracy for one in _trained(example, method)])
        for method in ("batch", "layer")
    }
    means = {method: float(values.mean()) for method, values in accuracies.items()}
    spread = float(np.hypot(*(values.std(ddof=1) for values in accuracies.values())))
    difference = means["batch"] - means["layer"]
    return Finding(
        difference > spread,
        abs(difference) <= spread,
        by_method(text("accuracy on held-out digits"), means)
        + number(text("spread over the starts"), spread),
    )


CLAIMS = (
    Claim(
        "border_units",
        text(
            "In a convolution with layer norm the units near the border of the image are on less "
            "often than the others, and their statistics are not those of the layer."
        ),
        text("section 6.7"),
        _border,
        HOLDS_IF,
        "depth?tab=images",
        condition=text("it means their statistics; how often they are on depends on the start"),
        remark=text(
            "8 kernels of 3 × 3 on digits of 8 × 8, after three epochs, from three starts."
        ),
    ),
    Claim(
        "layer_norm_in_convolutions",
        text("In convolutional networks layer norm does less well than batch norm."),
        text("section 6.7"),
        _convolutions,
        FAILS,
        "depth?tab=images",
        repair=text(
            "not in every one: for a small convolution on digits the two do as well, within their "
            "spread over the starts"
        ),
        remark=text(
            "One convolution on digits of 8 × 8 pixels, three starts. Units at the border differ "
            "there, too, and it costs nothing. That says little of deep networks on large images, "
            "which the paper speaks of."
        ),
    ),
)
