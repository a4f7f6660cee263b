"""What becomes of one function that is trained from several norms of its weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.budget import Cost
from normgeo.base.numbers import number
from normgeo.base.progress import Progress
from normgeo.base.text import text
from normgeo.dynamics.optimizers import OPTIMIZERS
from normgeo.dynamics.trajectory import Trajectory
from normgeo.pictures.learning_rate.block_on_data import BLOCK, block_on_data
from normgeo.pictures.learning_rate.runs import (
    ONLY,
    RUN,
    STARTS,
    batch_for_run,
    batch_words,
    cost_of_runs,
    endings,
    rate_for_run,
    start_of,
    train_from,
)
from normgeo.pictures.picture import DATA, Study
from normgeo.settings import Settings
from normgeo.tables.table import Table


class Series(NamedTuple):
    """A quantity against the step: steps and values, both (n,)."""

    steps: Array
    values: Array


@final
@dataclass(frozen=True, eq=False)
class Descents:
    """Runs from one function at ‖w‖ = 1, 2, 4.

    Attributes:
        runs: one from each norm. block: the place in them of the one that is shown.
        name, symbol: of the block and its norm. batches: what a step sees, in words.
        notes: sentences for the reader.

    """

    runs: tuple[Trajectory, ...]
    block: int
    name: str
    symbol: str
    batches: str
    notes: tuple[str, ...]

    @property
    def starts(self) -> tuple[float, ...]:
        """The norms that the runs began from."""
        return tuple(start_of(run, self.block) for run in self.runs)

    @property
    def steps(self) -> int:
        """The number of steps of the longest run."""
        return max(run.steps for run in self.runs)

    @property
    def first_angles(self) -> Array | None:
        """The angle of each run's first step, radians; None if one has no tangent above 0."""
        if not all(run.steps and 0 < run.angles[0, self.block] < np.pi / 2 for run in self.runs):
            return None
        return np.array([run.angles[0, self.block] for run in self.runs])

    @property
    def power(self) -> float | None:
        """The power of the norm by which the tangent of the first angle falls."""
        if self.first_angles is None:
            return None
        slope, _ = np.polyfit(np.log(self.starts), np.log(np.tan(self.first_angles)), 1)
        return float(slope)

    def measured(self, run: Trajectory) -> tuple[Series, Series, Series]:
        """Loss, norm, and angle of the step in degrees."""
        points, steps = np.arange(run.steps + 1), np.arange(1, run.steps + 1)
        return (
            Series(points, run.loss),
            Series(points, run.norms[:, self.block]),
            Series(steps, np.degrees(run.angles[:, self.block])),
        )

    def predicted(self, run: Trajectory) -> tuple[Series | None, Series | None, Series | None]:
        """The same as theory has them; None without a law."""
        points, steps = np.arange(run.steps + 1), np.arange(1, run.steps + 1)
        norms = Series(points, run.predicted_norms[:, self.block]) if self.has_norm_law else None
        return None, norms, Series(steps, np.degrees(run.predicted_angles[:, self.block]))

    @property
    def has_norm_law(self) -> bool:
        """Whether theory predicts the norm."""
        return bool(self.runs[0].predicted_norms.size)


def _compute(settings: Settings, progress: Progress) -> Descents:
    it = block_on_data(settings)
    cases = len(it.X)
    batch = batch_for_run(settings, cases)
    rate = rate_for_run(settings, it, OPTIMIZERS[settings.optimizer])
    decay = settings.decay or 0.0
    runs = train_from(STARTS, it, settings, progress, rate=rate, decay=decay, batch=batch)
    return Descents(runs, ONLY, it.name, it.symbol, batch_words(batch, cases), runs[0].notes)


def _table(result: Descents) -> Table:
    """Return a row for each run and step; the angle is that of the step to come."""
    rows: list[tuple[float | int | None, ...]] = []
    block = result.block
    for run, start in zip(result.runs, result.starts, strict=True):
        predicted: list[float | None] = [None] * (run.steps + 1)
        if result.has_norm_law:
            predicted = run.predicted_norms[:, block].tolist()
        by_step = (run.gradient_norms, run.angles, run.predicted_angles)
        measured = [[*values[:, block].tolist(), None] for values in by_step]
        columns = (run.loss.tolist(), run.norms[:, block].tolist(), predicted, *measured)
        first = float(np.round(start, 12))
        rows += [(first, step, *row) for step, row in enumerate(zip(*columns, strict=True))]
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
    run = result.runs[0]
    title = text(
        "{method}: {optimizer}, η = {rate}, λ = {decay}, {batches}; angles in radians, losses "
        "in nats per case",
        method=run.start.normalizer.title,
        optimizer=run.optimizer.title,
        rate=number(run.rate, 6),
        decay=number(run.decay, 6),
        batches=result.batches,
    )
    notes = (run.optimizer.assumes, *endings(result.runs, block))
    return Table(names, tuple(rows), title=title, notes=notes)


def _observed(result: Descents) -> str:
    """Say how far the first step of each run turns, and what its norm and loss become."""
    return " ".join(
        text(
            "From norm {start} the first step turns by {angle}°; the norm ends at {norm}, the loss "
            "at {loss}.",
            start=number(start),
            angle=number(float(np.degrees(run.angles[0, result.block]))),
            norm=number(float(run.norms[-1, result.block])),
            loss=number(float(run.loss[-1])),
        )
        for run, start in zip(result.runs, result.starts, strict=True)
        if run.steps
    )


def _cost(settings: Settings) -> Cost:
    """A run from each norm."""
    return cost_of_runs(settings, len(STARTS))


STUDY = Study(
    name="descent",
    title=text("Training from three norms of the weights"),
    source=text("section 5.2.2; van Laarhoven 2017"),
    alt=text(
        "Loss, norm of the weights and angle per step against the step, from norms 1, 2 and 4, "
        "measured solid and, where there is a law, predicted dashed."
    ),
    uses=(*DATA, *BLOCK, *RUN, "optimizer", "decay"),
    compute=_compute,
    table=_table,
    observed=_observed,
    cost=_cost,
)
