"""Statements on convolutions: section 6.7."""

from __future__ import annotations

import numpy as np

from normgeo.base.text import text
from normgeo.claims.claim import HOLDS, HOLDS_IF, Claim, Finding, by_method, numbers, plain, shared
from normgeo.claims.examples import Example
from normgeo.networks.image_norm import norms
from normgeo.networks.images import Images
from normgeo.networks.place_statistics import place_statistics
from normgeo.networks.training import ConvolutionHistory, train_convolution

STARTS, EPOCHS = 2, 2
RATES = (0.003, 0.01, 0.03, 0.1, 0.3)
SMALL, USUAL = 0.003, 0.01


@shared
def _images(example: Example) -> Images:
    return Images.digits(example.seed, 3 * example.digits)


@shared
def _trained(example: Example, method: str, rate: float) -> tuple[ConvolutionHistory, ...]:
    """Return convolutions trained on digits with a norm, from each start."""
    norm, images = norms()[method], _images(example)
    return tuple(
        train_convolution(
            norm, images, epochs=EPOCHS, rate=rate, seed=STARTS * example.seed + start
        )
        for start in range(STARTS)
    )


def _loss(example: Example, method: str, rate: float) -> float:
    """Return the training loss, the mean over all steps and starts: low for fast methods."""
    return float(np.mean([one.losses.mean() for one in _trained(example, method, rate)]))


def _least(example: Example, method: str) -> float:
    """Return the loss at the best learning rate of each start."""
    losses = [[one.losses.mean() for one in _trained(example, method, r)] for r in RATES]
    return float(np.min(losses, axis=0).mean())


def _border(example: Example) -> Finding:
    """Compare units at the border of the digits with those inside, after training."""
    seen = _images(example).seen_train
    on: list[tuple[float, float]] = []
    far: list[tuple[float, float]] = []
    for one in _trained(example, "layer", USUAL):
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


def _best_norm(example: Example) -> Finding:
    """Compare the losses of batch and layer norm, each at its best learning rate."""
    losses = {method: _least(example, method) for method in ("batch", "layer")}
    return plain(losses["batch"] < losses["layer"], by_method(text("loss in training"), losses))


def _faster_than_none(example: Example) -> Finding:
    """Compare layer norm with no norm at one small learning rate, and each at its best."""
    names = {"without": text("no norm"), "layer": text("layer norm")}
    small = {name: _loss(example, key, SMALL) for key, name in names.items()}
    best = {name: _least(example, key) for key, name in names.items()}
    (slow, fast), (without, within) = small.values(), best.values()
    return Finding(
        fast < slow and within < without,
        fast < slow,
        numbers(text("loss in training, both at η = {rate:g}", rate=SMALL), small)
        + numbers(text("loss in training, each at its best of five η"), best),
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
        remark=text("8 kernels of 3 × 3 on digits of 8 × 8, after two epochs, from two starts."),
    ),
    Claim(
        "layer_norm_in_convolutions",
        text("In convolutional networks layer norm does less well than batch norm."),
        text("section 6.7"),
        _best_norm,
        HOLDS,
        "depth?tab=images",
        remark=text(
            "One convolution of 8 kernels on digits of 8 × 8 pixels, two epochs, two starts, each "
            "norm at the best of five learning rates. That says little of deep networks on large "
            "images, which the paper speaks of. The page Experiments asks more, 60% of the steps "
            "in every seed: there it is open."
        ),
    ),
    Claim(
        "faster_than_no_norm",
        text("Convolutional networks learn faster with layer norm than without a norm."),
        text("section 6.7"),
        _faster_than_none,
        HOLDS_IF,
        "depth?tab=images",
        condition=text("both have the same small learning rate"),
        remark=text(
            "Where each has the best of five learning rates, this is not reproduced at this size: "
            "one convolution of 8 kernels on digits of 8 × 8 pixels is faster without a norm, at a "
            "larger rate."
        ),
    ),
)
