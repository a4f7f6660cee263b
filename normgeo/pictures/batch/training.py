"""A small network that learns in large and in small batches."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.budget import Cost
from normgeo.base.numbers import number
from normgeo.base.progress import Progress
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.datasets.datasets import DATASETS
from normgeo.datasets.hold_out import hold_out
from normgeo.dynamics.training import History
from normgeo.normalizers.named import NORMALIZERS
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.batch.accuracy import RATE, RATE_AT, WIDTHS, has_classes, rate_of, trained
from normgeo.pictures.picture import Study
from normgeo.pictures.work import BASE, CALLS, ENTRIES, PRODUCTS
from normgeo.settings import Settings
from normgeo.tables.table import Table

LARGE_BATCH = 128
COMPARED = ("batch", "layer")  # and the chosen method
POINTS = 60  # of a loss curve, each the mean of as many steps as it takes


class Smoothed(NamedTuple):
    """Mean losses of equal stretches of steps: each one's last step and mean; its length."""

    steps: Array
    losses: Array
    width: int


@final
@dataclass(frozen=True)
class TrainingRun:
    """One training with one method, in batches of one size.

    Attributes:
        normalizer, batch_size: of the run. planned: its steps.
        history: what happened; None where nothing did. loss: smoothed, likewise.
        reason: why it ended early or never began, or "".

    """

    normalizer: Normalizer
    batch_size: int
    planned: int
    history: History | None
    loss: Smoothed | None
    reason: str

    @property
    def taken(self) -> int:
        """The number of steps taken."""
        return 0 if self.history is None else len(self.history.train_loss)


@final
@dataclass(frozen=True)
class Training:
    """A network trained with each method, in large and in small batches.

    Attributes:
        runs: large batches first. sizes: of the batches, large and small.
        rate: η, in words. network: what it is, in words. data: its title.

    """

    runs: tuple[TrainingRun, ...]
    sizes: tuple[int, int]
    rate: str
    network: str
    data: str

    def of_size(self, m: int) -> tuple[TrainingRun, ...]:
        """The runs in batches of m."""
        return tuple(run for run in self.runs if run.batch_size == m)


def compute(settings: Settings, progress: Progress) -> Training:
    """The same network from the same weights with batch norm, layer norm and the chosen method."""
    data = DATASETS[settings.dataset].load()
    if not has_classes(data):
        raise Refusal(
            "The network is trained to tell classes apart, and {data!s} has none: choose the "
            "digits, iris or wine.",
            data=data.title,
        )
    split = hold_out(data, seed=settings.seed)
    N, D = split.X_train.shape
    sizes = (min(LARGE_BATCH, N), min(settings.batch_size, N))
    planned = [
        (m, NORMALIZERS[key], settings.epochs * -(-N // m))
        for m in dict.fromkeys(sizes)
        for key in dict.fromkeys((*COMPARED, settings.method))
    ]
    total = sum(steps for *_, steps in planned)
    runs: list[TrainingRun] = []
    before, parameters = 0, 0
    for m, normalizer, steps in planned:
        try:
            history = trained(
                data,
                split,
                normalizer,
                m,
                epochs=settings.epochs,
                rate=settings.rate or rate_of(m),
                seed=settings.seed,
                progress=progress.after(before, total),
            )
        except Refusal as error:
            runs.append(TrainingRun(normalizer, m, steps, None, None, str(error)))
        else:
            parameters = max(parameters, len(history.start.pack()))
            reason = history.ended.reason if history.ended else ""
            loss = smoothed(history.train_loss)
            runs.append(TrainingRun(normalizer, m, steps, history, loss, reason))
        if progress.stopped:
            break
        before += steps
    hidden = " → ".join(map(str, (D, *WIDTHS, data.H)))
    network = text("{hidden}, ReLU, {P:,} parameters", hidden=hidden, P=parameters)
    return Training(tuple(runs), sizes, _rate(settings), network, data.title)


def _rate(settings: Settings) -> str:
    """η in words: as asked for, or in proportion to the batches."""
    if settings.rate:
        return number(settings.rate)
    return text("{rate} m/{at}", rate=number(RATE), at=RATE_AT)


def smoothed(losses: Array, points: int = POINTS) -> Smoothed:
    """The means of losses over equal stretches of steps, at most so many.

    >>> smoothed(np.array([3.0, 1.0, 2.0, 2.0, 7.0]), points=3)
    Smoothed(steps=array([2, 4, 5]), losses=array([2., 2., 7.]), width=2)

    """
    width = max(1, -(-len(losses) // points))
    starts = np.arange(0, len(losses), width)
    counts = np.diff(np.append(starts, len(losses)))
    return Smoothed(starts + counts, np.add.reduceat(losses, starts) / counts, width)


def _table(result: Training) -> Table:
    """The loss of each step's batch, and the test after each epoch."""
    rows: list[tuple[object, ...]] = []
    notes = []
    for run in result.runs:
        title = run.normalizer.title
        if run.reason:
            notes.append(f"{title}, m = {run.batch_size}: {run.reason}")
        if run.history is None:
            continue
        history = run.history
        accuracy = np.array([]) if history.test_accuracy is None else history.test_accuracy
        tests = zip(history.test_loss, accuracy, strict=True)
        tested = dict(zip(history.epoch_ends.tolist(), tests, strict=True))
        for step, loss in enumerate(history.train_loss.tolist(), start=1):
            test = tested.get(step, (None, None))
            rows.append((title, run.batch_size, step, loss, *(v and float(v) for v in test)))
    columns = ("method", "batch", "step", "train_loss", "test_loss", "test_accuracy")
    title = text(
        "{data!s}: {network}; momentum 0.9, η = {rate}; losses in nats per case",
        data=result.data,
        network=result.network,
        rate=result.rate,
    )
    return Table(columns, tuple(rows), title, notes=tuple(notes))


def _observed(result: Training) -> str:
    """Say how accurate each run is at its end, on the cases held out, if it was tested."""
    return " ".join(
        text(
            "At the end {method} in batches of {m:,} is right on {share:.0%} of the test cases.",
            method=run.normalizer.title,
            m=run.batch_size,
            share=float(accuracy[-1]),
        )
        for run in result.runs
        if run.history is not None
        and (accuracy := run.history.test_accuracy) is not None
        and len(accuracy)
    )


def _cost(settings: Settings) -> Cost:
    """Steps in large and in small batches, for every method."""
    data = DATASETS[settings.dataset].load()
    N, methods = len(data.X) * 4 // 5, 1 + len(COMPARED)
    widths = (data.D, *WIDTHS, data.H)
    parameters = sum(one * other for one, other in itertools.pairwise(widths))
    cases = 2 * methods * settings.epochs * N
    steps = methods * settings.epochs * (N / LARGE_BATCH + N / min(settings.batch_size, N))
    seconds = 8 * cases * parameters / PRODUCTS + steps * (2.5 * CALLS + 15 * parameters / ENTRIES)
    return BASE + Cost(seconds=seconds)


STUDY = Study(
    name="training",
    title=text("A small network in large and in small batches"),
    source=text("section 6"),
    begins=text("Train the network"),
    alt=text("Training loss and test accuracy against the step, a column for each batch size."),
    uses=("dataset", "seed", "rate", "batch_size", "epochs", "method"),
    compute=compute,
    table=_table,
    observed=_observed,
    cost=_cost,
)
