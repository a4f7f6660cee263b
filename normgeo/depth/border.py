"""How units of a convolution differ by place, and what training gives with each norm.

The paper's reason why layer norm does less well in convolutions (section 6.7): units whose
receptive field lies near the border of the image are rarely on, so that their statistics are not
those of the rest of the layer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from normgeo.base.arguments import real_number, seed_number, whole_number
from normgeo.base.arrays import Array
from normgeo.base.progress import Progress, Report
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.datasets.datasets import DATASETS
from normgeo.datasets.hold_out import held_out_cases
from normgeo.datasets.mini_batches import MiniBatches
from normgeo.depth.convolution import ConvolutionalNetwork, windows
from normgeo.depth.shared_norm import Moments, SharedNorm
from normgeo.dynamics.optimizers import OPTIMIZERS
from normgeo.normalizers.shared_statistics import SHARINGS


def norms(groups: int = 2, eps: float = 1e-5) -> dict[str, SharedNorm]:
    """The norms over images, by key; the first is none."""
    return {"without": SharedNorm(None)} | {
        key: SharedNorm(sharing, groups if sharing.takes_groups else 1, eps)
        for key, sharing in SHARINGS.items()
    }


@final
@dataclass(frozen=True, eq=False)
class Images:
    """Digits as the windows of a convolution.

    Attributes:
        side: of the images, in pixels. seen_train, seen_test: (N, 9, P). y_train, y_test: (N,).

    """

    side: int
    seen_train: Array
    y_train: Array
    seen_test: Array
    y_test: Array

    @classmethod
    def digits(cls, seed: int = 0, most: int | None = None) -> Images:
        """Return the digits, ink from 0 to 1, a fifth of them held out.

        Args:
            seed: of what is held out. most: how many to train on, None for all.

        """
        data = DATASETS["digits"].load()
        train, test = held_out_cases(data, seed=seed)
        train = train[:most]
        side = int(data.raw.shape[1] ** 0.5)
        seen = windows(data.raw.reshape(-1, side, side) / data.raw.max())
        return cls(side, seen[train], data.y[train], seen[test], data.y[test])


@final
@dataclass(frozen=True, eq=False)
class Places:
    """Statistics of the units of a convolution by place, all channels and cases together.

    Attributes:
        on: the share of units that are on, s > 0, (side, side).
        shift: the mean of a there less that of the layer, over the layer's deviation.
        spread: the deviation of a there over the layer's.

    """

    on: Array
    shift: Array
    spread: Array

    @property
    def is_border(self) -> Array:
        """Which places lie at the border, (side, side)."""
        border = np.ones(self.on.shape, dtype=bool)
        border[1:-1, 1:-1] = False
        return border

    def at_border(self, values: Array) -> tuple[float, float]:
        """Return the mean of a statistic at the border and inside."""
        return float(values[self.is_border].mean()), float(values[~self.is_border].mean())

    @property
    def distance(self) -> Array:
        """How far a place's own statistics are from the layer's, (side, side).

        √(shift² + (spread − 1)²): the distance between two normal laws by how far one must carry
        the mass of the other (Wasserstein), over the deviation of the layer.
        """
        distance: Array = np.hypot(self.shift, self.spread - 1)
        return distance


def places(network: ConvolutionalNetwork, seen: Array) -> Places:
    """Measure a network on windows (N, 9, P) of square images, with current statistics."""
    passed = network.forward(seen)
    side = int(seen.shape[2] ** 0.5)
    a = passed.summed
    mean, sigma = a.mean(), a.std()
    return Places(
        *(
            values.reshape(side, side)
            for values in (
                (passed.s > 0).mean(axis=(0, 1)),
                (a.mean(axis=(0, 1)) - mean) / sigma,
                a.std(axis=(0, 1)) / sigma,
            )
        )
    )


@final
@dataclass(frozen=True, eq=False)
class Trained:
    """A trained convolutional network.

    Attributes:
        network: it. moments: of all training images, None without a norm.
        losses: of each step's own batch before the step, (steps,).
        accuracy: share of held-out images that it names right.

    """

    network: ConvolutionalNetwork
    moments: Moments | None
    losses: Array
    accuracy: float

    def logits(self, seen: Array) -> Array:
        """Return logits at test time: where cases share statistics, by those of training."""
        return self.network.forward(seen, self.moments).logits


def trained(
    norm: SharedNorm,
    images: Images,
    *,
    channels: int = 8,
    epochs: int = 5,
    batch_size: int = 64,
    rate: float = 0.01,
    seed: int = 0,
    progress: Report | Progress | None = None,
) -> Trained:
    """Train a convolutional network by Adam from a random start; the same seed, the same start.

    Args:
        norm: over images. images: to train on and to test.
        channels: C. epochs, batch_size, rate: of the training. seed: of the start and the batches.
        progress: told (step, steps) after each; a stop ends the training with what it has.

    Raises:
        ValueError: bad arguments, or a loss beyond floats.

    """
    seed, rate = seed_number(seed), real_number("rate", rate, above=0)
    plan = MiniBatches.of(len(images.y_train), batch_size)
    steps = whole_number("epochs", epochs, 1) * len(plan.bounds)
    network = ConvolutionalNetwork.random(
        norm,
        channels,
        images.seen_train.shape[2],
        int(images.y_train.max()) + 1,
        np.random.default_rng(seed),
    )
    theta, losses = network.pack(), []
    update = OPTIMIZERS["adam"].start(np.zeros_like(theta))
    rates, batches = np.full(theta.shape, rate), plan.draw(seed)
    for _ in Progress.of(progress).over(range(steps)):
        cases = next(batches)
        seen, y = images.seen_train[cases], images.y_train[cases]
        loss, gradients = network.loss_and_gradient(seen, y)
        losses.append(loss)
        gradient = np.concatenate([part.ravel() for part in gradients])
        theta = update(theta, gradient, rates)
        if not np.isfinite(theta).all():
            raise Refusal(text("The training leaves the range of floats. Use a smaller `rate`."))
        network = network.unpack(theta)
    found = Trained(
        network,
        network.forward(images.seen_train).normalized.moments,
        np.array(losses),
        accuracy=float("nan"),
    )
    right = found.logits(images.seen_test).argmax(axis=1) == images.y_test
    return replace(found, accuracy=float(right.mean()))
