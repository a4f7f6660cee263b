"""The picture of a small network that learns in large and in small batches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from normgeo.base.text import text
from normgeo.datasets.datasets import DATASETS
from normgeo.datasets.hold_out import hold_out
from normgeo.dynamics.training import train
from normgeo.models.network import Network
from normgeo.normalizers.normalizer import NORMALIZERS
from normgeo.pictures.batch.training_figure import TrainingRun, training_figure
from normgeo.pictures.view import Progress, View
from normgeo.settings import Settings
from normgeo.tables.table import Table

LARGE_BATCH = 128
WIDTHS = (64, 64)
RATE = 0.05
METHODS = ("batch", "layer")


@final
@dataclass(frozen=True)
class TrainingPicture:
    """A network trained with each method, in large and in small batches.

    Attributes:
        runs: large batches first. sizes: the two sizes. rate: η. epochs: asked for.
        network: what it is, in words. data: its title.

    """

    runs: tuple[TrainingRun, ...]
    sizes: tuple[int, int]
    rate: float
    epochs: int
    network: str
    data: str


def _training(settings: Settings, callback: Progress | None = None) -> TrainingPicture:
    data = DATASETS[settings.dataset].load()
    if data.family != "categorical":
        raise ValueError(
            text(
                "The network is trained to tell classes apart, and {data} has none: choose the "
                "digits, iris or wine.",
                data=data.title,
            )
        )
    split = hold_out(data, seed=settings.seed)
    N, D = split.X_train.shape
    sizes = (min(LARGE_BATCH, N), min(settings.batch_size, N))
    rate = settings.rate or RATE
    planned = [
        (m, key, settings.epochs * -(-N // m)) for m in dict.fromkeys(sizes) for key in METHODS
    ]
    total = sum(steps for *_, steps in planned)
    runs: list[TrainingRun] = []
    before, stopped = 0, False

    def watch(step: int, steps: int) -> None:
        nonlocal stopped
        if callback is None:
            return
        try:
            callback(before + step, total)
        except StopIteration:
            stopped = True
            raise

    for m, key, steps in planned:
        if stopped:
            break
        normalizer = NORMALIZERS[key]
        rng = np.random.default_rng(settings.seed)
        start = Network.random(normalizer, data.family, WIDTHS, D, data.H, rng)
        try:
            history = train(
                start,
                split,
                batch_size=m,
                epochs=settings.epochs,
                rate=rate,
                seed=settings.seed,
                progress=watch,
            )
            reason = history.ended.reason if history.ended else ""
            runs.append(TrainingRun(normalizer, m, steps, history, reason))
        except ValueError as error:
            runs.append(TrainingRun(normalizer, m, steps, None, str(error)))
        before += steps
    hidden = " → ".join(map(str, (D, *WIDTHS, data.H)))
    network = text("{hidden}, ReLU, {P:,} parameters", hidden=hidden, P=len(start.pack()))
    return TrainingPicture(tuple(runs), sizes, rate, settings.epochs, network, data.title)


def _training_table(picture: TrainingPicture) -> Table:
    """Return the loss of each step's batch, and the test after each epoch."""
    rows: list[tuple[object, ...]] = []
    notes = []
    for run in picture.runs:
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
        "{data}: {network}; momentum 0.9, η = {rate:g}; losses in nats per case",
        data=picture.data,
        network=picture.network,
        rate=picture.rate,
    )
    return Table(columns, tuple(rows), title, notes=tuple(notes))


TRAINING = View(
    "training",
    text("A small network in large and in small batches"),
    ("dataset", "seed", "rate", "batch_size", "epochs"),
    _training,
    lambda picture, theme: training_figure(
        picture.runs,
        picture.sizes,
        rate=picture.rate,
        network=picture.network,
        data=picture.data,
        theme=theme,
    ),
    _training_table,
    watched=_training,
)
