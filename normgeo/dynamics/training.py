"""Training of a small network on mini-batches, and its test with running averages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike

from normgeo.base.arguments import instance_of, real_number, seed_number, whole_number
from normgeo.base.arrays import Array, real_array, require_same_cases
from normgeo.base.progress import Ended, Progress, Report, Steps
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.datasets.hold_out import Split
from normgeo.datasets.mini_batches import MiniBatches
from normgeo.dynamics.optimizer import Optimizer
from normgeo.dynamics.optimizers import optimizer_of
from normgeo.models.layers import undefined_for_one_case
from normgeo.models.network import Network, NetworkLinearization
from normgeo.models.running_averages import Running


@final
@dataclass(frozen=True, eq=False)
class History:
    """A training run of T steps and E whole epochs.

    Attributes:
        start: the network before. network: the network after T steps.
        running: the running averages of each hidden layer after T steps.
        batch_size, rate, seed: as requested.
        train_loss: of each step's own batch before the step, nats per case, (T,).
        epoch_ends: number of steps at the end of each epoch, (E,).
        test_loss: on the held-out cases with running averages after each epoch, nats per case,
            (E,). test_accuracy: share whose most likely class is correct, (E,); None for families
            without classes.
        notes: sentences about the run. ended: the step at which a number overflowed or z was
            undefined, or None.

    """

    start: Network
    network: Network
    running: tuple[Running, ...]
    batch_size: int
    rate: float
    seed: int
    train_loss: Array
    epoch_ends: Array
    test_loss: Array
    test_accuracy: Array | None
    notes: tuple[str, ...]
    ended: Ended | None

    def natural_parameter(self, X: ArrayLike) -> Array:
        """Return s (N, H) of the output at test time."""
        return _at_test_time(self.network, self.running, np.asarray(X))


def train(
    network: Network,
    data: Split,
    *,
    batch_size: int = 128,
    epochs: int = 10,
    optimizer: str | Optimizer = "momentum",
    rate: float = 0.05,
    decay: float = 0.0,
    seed: int = 0,
    progress: Report | Progress | None = None,
) -> History:
    """Train a network on mini-batches, and test it on the held-out cases after every epoch.

    The cases are shuffled anew for each epoch. A last batch of one case is left out if a layer has
    no z for it. A run ends early, and keeps its steps, if a number overflows or z is undefined
    (`History.ended`).

    Args:
        network: the start. data: training and test cases.
        batch_size: m, from 1 (2 for batch statistics) to the number of training cases.
        epochs: at least 1. optimizer: one of OPTIMIZERS, or its key. rate: η > 0.
        decay: λ ≥ 0, of the weights of every layer; g and b have none.
        seed: of the shuffling.
        progress: called with (step, steps) after each step; a stop ends the run early.

    Raises:
        ValueError: bad arguments, or a network that has no z on the first batch.

    """
    rule = optimizer_of(optimizer)
    instance_of("network", network, Network)
    instance_of("data", data, Split)
    needs_two = any(undefined_for_one_case(layer.units) for layer in network.hidden)
    plan = MiniBatches.of(len(data.X_train), batch_size, single_allowed=not needs_two)
    epochs, seed = whole_number("epochs", epochs, 1), seed_number(seed)
    rate, decay = real_number("rate", rate, above=0), real_number("decay", decay, least=0)
    family, outputs = network.output.family, len(network.output.W)
    targets = family.encode(data.y_train, outputs)
    held_out = family.encode(data.y_test, outputs)
    X_train, X_test = real_array("X_train", data.X_train, 2), real_array("X_test", data.X_test, 2)
    require_same_cases(X_train, targets)
    require_same_cases(X_test, held_out)
    batches = ((X_train[cases], targets[cases]) for cases in plan.draw(seed))
    epoch = len(plan.bounds)

    current = _State(network, tuple(Running() for _ in network.hidden))
    losses: list[float] = []
    tests: list[tuple[int, float, float]] = []
    untested = None
    taken = Steps(_walk(current, batches, rule, rate, decay), epochs * epoch, progress)
    for step, (loss, following) in taken:
        losses.append(loss)
        current = following
        if step % epoch == 0:
            try:
                tests.append((step, *_tested(current, X_test, held_out)))
            except Refusal as error:
                reason = text("The held-out cases have no loss here. {error}", error=error.args[0])
                untested = Ended(step, reason)
                break
    ended = taken.ended
    if ended is not None:
        if not losses:
            raise Refusal(ended.reason)
        reason = text("{error} A smaller `rate` may avoid it.", error=ended.reason)
        ended = Ended(ended.step, reason)
    epoch_ends, test_loss, accuracy = np.reshape(tests, (len(tests), 3)).T
    return History(
        start=network,
        network=current.network,
        running=current.running,
        batch_size=plan.size,
        rate=rate,
        seed=seed,
        train_loss=np.array(losses),
        epoch_ends=epoch_ends.astype(int),
        test_loss=test_loss,
        test_accuracy=accuracy if family.has_classes else None,
        notes=plan.notes,
        ended=ended or untested,
    )


class _State(NamedTuple):
    """The state of a run."""

    network: Network
    running: tuple[Running, ...]


def _walk(
    state: _State,
    batches: Iterator[tuple[Array, Array]],
    rule: Optimizer,
    rate: float,
    decay: float,
) -> Iterator[tuple[float, _State]]:
    """Take a step on each batch; yield the loss on it before the step, and the state after it.

    Raises:
        ValueError: z is undefined, or a number overflows.

    """
    network, running = state
    theta = network.pack().astype(np.float64)
    memory, decays = rule.init(theta), decay * network.is_weight
    rates = np.full(theta.shape, rate)
    for X, y in batches:
        with np.errstate(over="ignore", invalid="ignore"):
            at = network.linearize(X)
            gradient = network.gradient_at(at, y)
            change, memory = rule.update(memory, theta, gradient, rates, decays)
            theta = theta + change
        if not np.isfinite(theta).all():
            raise Refusal("The gradient or the parameters after it exceed the largest float.")
        loss = network.loss_at(at.s, y)
        network, running = network.unpack(theta), _updated(running, network, at, X)
        yield loss, _State(network, running)


def _updated(
    running: tuple[Running, ...], network: Network, at: NetworkLinearization, X: Array
) -> tuple[Running, ...]:
    inputs = (X, *at.hidden)
    return tuple(
        old.updated(layer.units, point, below)
        for old, layer, point, below in zip(
            running, network.hidden, at.layers, inputs, strict=False
        )
    )


def _tested(state: _State, X: Array, targets: Array) -> tuple[float, float]:
    """Return the loss and the share of cases whose most likely class is correct, at test time.

    Without classes the share is NaN.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        s = _at_test_time(*state, X)
    family = state.network.output.family
    share = float(family.right(targets, s).mean()) if family.has_classes else float("nan")
    return state.network.loss_at(s, targets), share


def _at_test_time(network: Network, running: tuple[Running, ...], X: Array) -> Array:
    for layer, averages in zip(network.hidden, running, strict=True):
        X = layer.activation.value(averages.natural_parameter(layer.units, X))
    return network.output.natural_parameter(X)
