"""Training of a recurrent model on mini-batches of sequences: loss by step and by second."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from time import perf_counter
from typing import NamedTuple, final

import numpy as np

from normgeo.base.arguments import instance_of, real_number, seed_number, whole_number
from normgeo.base.arrays import Array
from normgeo.base.progress import Ended, Progress, Report, Steps
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.datasets.mini_batches import MiniBatches
from normgeo.dynamics.optimizer import Memory, Optimizer
from normgeo.dynamics.optimizers import optimizer_of
from normgeo.sequences.model import SequenceModel, Told
from normgeo.sequences.step_statistics import StepStatistics
from normgeo.sequences.tasks import Sequences

TESTED = 128  # sequences in a test, at most


class _State(NamedTuple):
    """The state of a run."""

    model: SequenceModel
    statistics: StepStatistics | None
    memory: Memory


@final
@dataclass(frozen=True, eq=False)
class SequenceHistory:
    """A training run of n steps.

    Attributes:
        start, model: the model before and after. statistics: of batch norm, by step, for test time;
            None if the normalizer shares no statistics among sequences.
        batch_size, rate, seed: as requested.
        train_loss: of each step's own batch before the step, nats per class, (n,).
        seconds: time used by the steps up to each one, without the tests, (n,).
        test_steps: number of steps before each test, (E,).
        test_loss, test_accuracy: on held-out sequences, at test time, (E,).
        ended: the step at which a number overflowed or z was undefined, or None.

    """

    start: SequenceModel
    model: SequenceModel
    statistics: StepStatistics | None
    batch_size: int
    rate: float
    seed: int
    train_loss: Array
    seconds: Array
    test_steps: Array
    test_loss: Array
    test_accuracy: Array
    ended: Ended | None
    _optimizer: Optimizer
    _memory: Memory

    @property
    def steps(self) -> int:
        """The number of steps."""
        return len(self.train_loss)

    def told(self, data: Sequences, beyond: str = "refuse") -> Told:
        """Return the trained model's predictions for held-out sequences, which may be longer."""
        return self.model.told(data.X_test[:TESTED], data.y_test[:TESTED], self.statistics, beyond)


def train_sequences(
    model: SequenceModel | SequenceHistory,
    data: Sequences,
    *,
    batch_size: int = 128,
    steps: int = 100,
    optimizer: str | Optimizer = "adam",
    rate: float = 0.01,
    seed: int = 0,
    tests: int = 10,
    progress: Report | Progress | None = None,
) -> SequenceHistory:
    """Train a recurrent model, or continue a run.

    A continued run keeps its batch size, rate, seed and optimizer, and gives the same numbers as
    one run without a pause.

    Args:
        model: the start, or a run to continue. data: for training and tests.
        batch_size: m sequences, at least 1 (2 for batch statistics). steps: at least 1.
        optimizer: one of OPTIMIZERS, or its key. rate: η > 0. seed: of the shuffling.
        tests: number of tests on the held-out sequences, evenly spaced over the steps.
        progress: called with (step, steps) after each step; a stop ends the run early.

    Raises:
        ValueError: bad arguments, or an undefined z on the first batch.

    """
    instance_of("data", data, Sequences)
    steps, tests = whole_number("steps", steps, 1), whole_number("tests", tests)
    before = model if isinstance(model, SequenceHistory) else None
    if before is not None:
        state = _State(before.model, before.statistics, before._memory)
        rule = before._optimizer
        batch_size, rate, seed = before.batch_size, before.rate, before.seed
    else:
        start = instance_of("model", model, SequenceModel)
        rate, seed = real_number("rate", rate, above=0), seed_number(seed)
        rule = optimizer_of(optimizer)
        state = _State(start, None, rule.init(start.pack()))
    state_before = state.model
    shares = state.model.layer.normalizer.shared_by_cases
    plan = MiniBatches.of(len(data.X_train), batch_size, single_allowed=not shares)
    earlier = 0 if before is None else before.steps
    batches = islice(plan.draw(seed), earlier, None)
    wanted = {round(steps * (index + 1) / tests) for index in range(tests)}

    losses: list[float] = []
    seconds: list[float] = []
    told: list[tuple[float, float, float]] = []
    untested = None
    going = Steps(_walk(state, data, batches, rule, rate), steps, progress)
    for step, (loss, took, following) in going:
        losses.append(loss)
        seconds.append(took)
        state = following
        if step in wanted:
            held_out = data.X_test[:TESTED], data.y_test[:TESTED]
            try:
                answer = state.model.told(*held_out, state.statistics)
            except Refusal as error:
                reason = text("The held-out sequences have no loss: {error}", error=error.args[0])
                untested = Ended(earlier + step, reason)
                break
            right = float(answer.right.mean())
            told.append((earlier + step, -float(answer.log_likelihood.mean()), right))
    ended = going.ended
    if ended is not None:
        if not losses:
            raise Refusal(ended.reason)
        ended = Ended(earlier + ended.step, ended.reason)
    first = before.start if before is not None else state_before
    test_steps, test_loss, accuracy = np.reshape(told, (len(told), 3)).T
    taken = SequenceHistory(
        start=first,
        model=state.model,
        statistics=state.statistics,
        batch_size=plan.size,
        rate=rate,
        seed=seed,
        train_loss=np.array(losses),
        seconds=np.cumsum(seconds),
        test_steps=test_steps.astype(int),
        test_loss=test_loss,
        test_accuracy=accuracy,
        ended=ended or untested,
        _optimizer=rule,
        _memory=state.memory,
    )
    return taken if before is None else _after(before, taken)


def _after(before: SequenceHistory, taken: SequenceHistory) -> SequenceHistory:
    """Join a run and its continuation to one run."""
    elapsed = before.seconds[-1] if before.steps else 0.0
    return replace(
        taken,
        train_loss=np.concatenate([before.train_loss, taken.train_loss]),
        seconds=np.concatenate([before.seconds, elapsed + taken.seconds]),
        test_steps=np.concatenate([before.test_steps, taken.test_steps]),
        test_loss=np.concatenate([before.test_loss, taken.test_loss]),
        test_accuracy=np.concatenate([before.test_accuracy, taken.test_accuracy]),
    )


def _walk(
    state: _State, data: Sequences, batches: Iterator[Array], rule: Optimizer, rate: float
) -> Iterator[tuple[float, float, _State]]:
    """Take a step on each batch; yield its loss before it, its seconds, and the state after it."""
    model, statistics, memory = state
    theta = model.pack()
    rates, decays = np.full(theta.shape, rate), np.zeros(theta.shape)
    shares = model.layer.normalizer.shared_by_cases
    for cases in batches:
        began = perf_counter()
        loss, gradient, run = model.loss_and_gradient(data.X_train[cases], data.y_train[cases])
        change, memory = rule.update(memory, theta, gradient, rates, decays)
        theta = theta + change
        if not np.isfinite(theta).all():
            raise Refusal("The parameters exceed the largest float. Use a smaller `rate`.")
        model = model.unpack(theta)
        if shares:
            statistics = run.averaged_into(statistics)
        yield loss, perf_counter() - began, _State(model, statistics, memory)
