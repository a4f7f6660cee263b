"""What becomes of one function that is trained from several norms of its weights."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from normgeo.base.progress import Stop
from normgeo.base.text import text
from normgeo.dynamics.descent import descend
from normgeo.dynamics.optimizer import Optimizer
from normgeo.dynamics.optimizers import OPTIMIZERS
from normgeo.dynamics.trajectory import Trajectory
from normgeo.pictures.learning_rate.block_on_data import BLOCK, BlockOnData, at_norm, block_on_data
from normgeo.pictures.learning_rate.descent_figure import descent_figure
from normgeo.pictures.learning_rate.rates import batch_for_run, batch_words, rate_for_run
from normgeo.pictures.style.template import Figure
from normgeo.pictures.view import DATA, Progress, View
from normgeo.settings import Settings
from normgeo.tables.table import Table

STARTS = (1.0, 2.0, 4.0)


class DescentPicture(NamedTuple):
    """Runs from one function at ‖w‖ = 1, 2, 4.

    Attributes:
        runs: one from each norm. block: whose norm and angle are shown.
        name, symbol: of the block and its norm. batches: what a step sees, in words.
        notes: sentences for the reader.

    """

    runs: tuple[Trajectory, ...]
    block: int
    name: str
    symbol: str
    batches: str
    notes: tuple[str, ...]


def silent(done: int, steps: int) -> None:
    """Tell nobody of a progress."""


def train_from(
    starts: tuple[float, ...],
    it: BlockOnData,
    settings: Settings,
    tell: Progress,
    *,
    rate: float,
    decay: float,
    batch: int | None,
    optimizer: Optimizer | None = None,
) -> tuple[Trajectory, ...]:
    """Train one function from several norms of its weights; one stop ends all runs.

    By the settings' optimizer where none is named.
    """
    rule = optimizer or settings.optimizer
    steps, total, stopped = settings.steps, len(starts) * settings.steps, False

    def run(place: int, norm: float) -> Trajectory:
        def watch(step: int, steps: int) -> None:
            nonlocal stopped
            if not stopped:
                try:
                    tell(place * steps + step, total)
                    return
                except StopIteration:
                    stopped = True
            raise Stop

        return descend(
            at_norm(it.model, norm),
            it.X,
            it.y,
            rule,
            steps=steps,
            rate=rate,
            decay=decay,
            batch_size=batch,
            seed=settings.seed,
            progress=watch,
        )

    return tuple(run(place, norm) for place, norm in enumerate(starts))


def _descent(settings: Settings, tell: Progress = silent) -> DescentPicture:
    it = block_on_data(settings)
    cases = len(it.X)
    batch = batch_for_run(settings, cases)
    rate = rate_for_run(settings, it, OPTIMIZERS[settings.optimizer])
    runs = train_from(
        STARTS, it, settings, tell, rate=rate, decay=settings.decay or 0.0, batch=batch
    )
    return DescentPicture(
        runs, it.block, it.name, it.symbol, batch_words(batch, cases), runs[0].notes
    )


def _descent_figure(picture: DescentPicture, theme: str) -> Figure:
    return descent_figure(
        picture.runs,
        picture.block,
        name=picture.name,
        symbol=picture.symbol,
        batches=picture.batches,
        theme=theme,
    )


def about(run: Trajectory, batches: str) -> str:
    """Return what runs, for the title of a table."""
    return text(
        "{method}: {optimizer}, η = {rate:g}, λ = {decay:g}, {batches}; angles in radians, losses "
        "in nats per case",
        method=run.start.normalizer.title,
        optimizer=run.optimizer.title,
        rate=run.rate,
        decay=run.decay,
        batches=batches,
    )


def endings(runs: tuple[Trajectory, ...], block: int) -> tuple[str, ...]:
    """Return a sentence on each run that ended early."""
    return tuple(
        text(
            "From {norm:g} ended at step {step}: {reason}",
            norm=run.norms[0, block],
            step=run.diverged.step,
            reason=run.diverged.reason,
        )
        for run in runs
        if run.diverged
    )


def _descent_table(picture: DescentPicture) -> Table:
    """Return a row for each run and step; the angle is that of the step to come."""
    rows: list[tuple[float | int | None, ...]] = []
    block = picture.block
    for run in picture.runs:
        predicted: list[float | None] = [None] * (run.steps + 1)
        if run.predicted_norms.size:
            predicted = run.predicted_norms[:, block].tolist()
        by_step = (run.gradient_norms, run.angles, run.predicted_angles)
        measured = [[*values[:, block].tolist(), None] for values in by_step]
        columns = (run.loss.tolist(), run.norms[:, block].tolist(), predicted, *measured)
        start = float(np.round(run.norms[0, block], 12))
        rows += [(start, step, *row) for step, row in enumerate(zip(*columns, strict=True))]
    names = (
        "start",
        "step",
        "loss",
        "norm",
        "predicted_norm",
        "gradient_norm",
        "angle",
        "predicted_angle",
    )
    first = picture.runs[0]
    notes = (first.optimizer.assumes, *endings(picture.runs, block))
    return Table(names, tuple(rows), title=about(first, picture.batches), notes=notes)


RUN = ("rate", "steps", "mini_batch")  # the settings of a run, whatever its optimizer

DESCENT = View(
    "descent",
    text("Training from three norms of the weights"),
    (*DATA, *BLOCK, *RUN, "optimizer", "decay"),
    _descent,
    _descent_figure,
    _descent_table,
    watched=_descent,
)
