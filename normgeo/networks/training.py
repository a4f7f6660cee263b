"""Training of small networks by Adam: a convolutional one on images, a residual one on cases."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from normgeo.base.arguments import instance_of, real_number, seed_number, whole_number
from normgeo.base.arrays import Array, require_room, require_same_cases
from normgeo.base.progress import Progress, Report
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.datasets.mini_batches import MiniBatches
from normgeo.dynamics.optimizers import OPTIMIZERS
from normgeo.dynamics.schedules import Schedule, rates_of
from normgeo.networks.convolution import ConvolutionalNetwork
from normgeo.networks.image_norm import ImageNorm, Moments
from normgeo.networks.images import Images
from normgeo.networks.residual import ResidualNetwork


@final
@dataclass(frozen=True, eq=False)
class ConvolutionHistory:
    """A training run of a convolutional network.

    Attributes:
        network: after training. moments: of all training images, None without a norm.
        losses: of each step's own batch before the step, (steps,).
        accuracy: share of held-out images classified correctly.

    """

    network: ConvolutionalNetwork
    moments: Moments | None
    losses: Array
    accuracy: float

    def logits(self, seen: ArrayLike) -> Array:
        """Return logits (N, H) of windows (N, 9, P) at test time.

        Statistics that cases share are those of the training images. Raises as `forward`.
        """
        return self.network.forward(seen, self.moments).logits


def train_convolution(
    norm: ImageNorm,
    images: Images,
    *,
    channels: int = 8,
    epochs: int = 5,
    batch_size: int = 64,
    rate: float = 0.01,
    seed: int = 0,
    progress: Report | Progress | None = None,
) -> ConvolutionHistory:
    """Train a convolutional network on images by Adam; the same seed, the same start.

    Args:
        norm: over images. images: for training and test.
        channels: C. epochs, batch_size, rate: of the training. seed: of the start and the batches.
        progress: called with (step, steps) after each step; a stop ends the training early.

    Raises:
        ValueError: bad arguments, an undefined z, numbers that overflow, or a run that takes too
            much memory.

    Source: Kingma and Ba, Adam, 2015; small versions of the networks of section 6.7.
    """
    instance_of("norm", norm, ImageNorm)
    instance_of("images", images, Images)
    seed, rate = seed_number(seed), real_number("rate", rate, above=0)
    plan = MiniBatches.of(len(images.y_train), batch_size)
    steps = whole_number("epochs", epochs, 1) * len(plan.bounds)
    require_room(text("The losses of all steps"), steps)
    network = ConvolutionalNetwork.random(
        norm,
        channels,
        images.seen_train.shape[2],
        int(max(images.y_train.max(), images.y_test.max())) + 1,
        np.random.default_rng(seed),
    )
    theta, losses = network.pack(), []
    rule, decays = OPTIMIZERS["adam"], np.zeros_like(theta)
    memory = rule.init(theta)
    require_room(
        text("What is kept of all images"), len(images.y_train), 8, network.parts.U.shape[1]
    )
    rates, batches = np.full(theta.shape, rate), plan.draw(seed)
    for _ in Progress.of(progress).over(range(steps)):
        cases = next(batches)
        seen, y = images.seen_train[cases], images.y_train[cases]
        loss, gradients = network.loss_and_gradient(seen, y)
        losses.append(loss)
        gradient = np.concatenate([part.ravel() for part in gradients])
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            change, memory = rule.update(memory, theta, gradient, rates, decays)
            theta = theta + change
        if not np.isfinite(theta).all():
            raise Refusal("The training leaves the range of floats. Use a smaller `rate`.")
        network = network.unpack(theta)
    found = ConvolutionHistory(
        network,
        network.forward(images.seen_train).normalized.moments,
        np.array(losses),
        accuracy=float("nan"),
    )
    right = found.logits(images.seen_test).argmax(axis=1) == images.y_test
    return replace(found, accuracy=float(right.mean()))


@final
@dataclass(frozen=True, eq=False)
class ResidualHistory:
    """A training run of a residual network.

    Attributes:
        network: after the last whole step. losses: of each step's own batch before the step, (T,).
        ended: why the run ended before its last step, in a sentence; "" where it did not.

    """

    network: ResidualNetwork
    losses: Array
    ended: str

    def right(self, X: ArrayLike, y: ArrayLike) -> int | None:
        """Count the cases whose class has the largest logit; None if the run ended early."""
        if self.ended:
            return None
        return int((self.network.forward(X).logits.argmax(axis=1) == np.asarray(y)).sum())


def train_residual(
    network: ResidualNetwork,
    X: ArrayLike,
    y: ArrayLike,
    *,
    rate: float | Schedule = 0.003,
    epochs: int = 10,
    batch_size: int = 64,
    seed: int = 0,
    progress: Report | Progress | None = None,
) -> ResidualHistory:
    """Train a residual network by Adam; the same seed, the same batches.

    A run ends where numbers overflow, and says so.

    Args:
        network: the start. X: cases (N, F). y: their classes, (N,), integers from 0.
        rate: η, or a schedule. epochs, batch_size: of the training. seed: of the batches.
        progress: called with (step, steps) after each step; a stop ends the training early.

    Raises:
        ValueError: bad arguments, or a run that takes too much memory.

    Source: Kingma and Ba, Adam, 2015; Xiong et al. 2020 for the warm-up.
    """
    instance_of("network", network, ResidualNetwork)
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    require_same_cases(X, y)
    plan = MiniBatches.of(len(X), batch_size)
    steps = whole_number("epochs", epochs, 1) * len(plan.bounds)
    require_room(text("The losses of all steps"), steps)
    theta, losses, ended = network.pack(), [], ""
    rule, decays = OPTIMIZERS["adam"], np.zeros_like(theta)
    memory, rates = rule.init(theta), rates_of(rate, np.arange(steps))
    batches = plan.draw(seed)
    for step in Progress.of(progress).over(range(steps)):
        cases = next(batches)
        try:
            loss, gradients = network.loss_and_gradients(X[cases], y[cases])
            gradient = np.concatenate([part.ravel() for part in gradients.arrays()])
            with np.errstate(over="ignore", invalid="ignore", under="ignore"):
                change, memory = rule.update(memory, theta, gradient, rates[step], decays)
            theta = theta + change
            network = network.unpack(theta)
        except Refusal as error:
            ended = str(error)
            break
        losses.append(loss)
    return ResidualHistory(network, np.array(losses), ended)
