"""Weight decay beside the learning rate that grows exponentially in its place."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log
from typing import final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.budget import Cost
from normgeo.base.numbers import number
from normgeo.base.progress import Progress
from normgeo.base.text import text
from normgeo.dynamics.exponential_schedule import DecayAsSchedule, decay_as_schedule
from normgeo.dynamics.gradient_descent import GradientDescent
from normgeo.pictures.learning_rate.block_on_data import BLOCK, block_on_data
from normgeo.pictures.learning_rate.runs import (
    ONLY,
    RUN,
    batch_for_run,
    batch_words,
    cost_of_runs,
    decay_for_run,
    rate_for_run,
)
from normgeo.pictures.picture import DATA, Study
from normgeo.settings import Settings
from normgeo.tables.table import Table

# Factors of e by which the weights decay in a run, where λ is left open: η doubles. More makes the
# steps on the unit sphere so large that the run is chaotic, and rounding parts the two.
DECAYED = log(2) / 2
COMPARED = 16 * 2**20  # bytes of the weights of each run that are compared


@final
@dataclass(frozen=True, eq=False)
class ExponentialSchedule:
    """A run with weight decay, and its twin with the exponential schedule and no decay.

    Attributes:
        twin: the two runs, of one block; the angles are the largest of all blocks.
        block: its place in them. name, symbol: of the block and its norm.
        batches: what a step sees, in words. notes: on the batches, sentences.

    """

    twin: DecayAsSchedule
    block: int
    name: str
    symbol: str
    batches: str
    notes: tuple[str, ...]

    @property
    def steps(self) -> Array:
        """The steps that both runs have taken, from 0."""
        return np.arange(min(self.twin.decayed.steps, self.twin.scheduled.steps) + 1)

    @property
    def predicted_norms(self) -> Array:
        """‖w‖ of the twin, from that of the run with decay, at the steps in `twin.kept`."""
        twin = self.twin
        norms: Array = twin.decayed.norms[twin.kept, self.block] * twin.predicted_growth
        return norms

    @property
    def angles(self) -> Array:
        """The largest angle between the two runs' blocks, radians, at the steps in `twin.kept`."""
        largest: Array = self.twin.angles.max(axis=1)
        return largest

    @property
    def apart(self) -> float:
        """The largest angle between the two runs' weights, radians."""
        return float(self.twin.angles.max())

    @property
    def losses_apart(self) -> float:
        """The largest difference of the two runs' losses, nats per case."""
        first, second = self.twin.decayed.loss, self.twin.scheduled.loss
        return float(np.abs(first[self.steps] - second[self.steps]).max())

    @property
    def rate_growth(self) -> float:
        """The twin's last learning rate over that of the run with decay."""
        return float(self.twin.scheduled.rates[self.steps[-1]] / self.twin.decayed.rates[0])

    @property
    def norm_growth(self) -> float:
        """‖w‖ of the twin over that of the run with decay, at the end."""
        return float(self.twin.growth[-1, self.block])

    @property
    def verdict(self) -> str:
        """Whether the two are one, and from which step they are not, in a sentence."""
        twin, eps = self.twin, self.twin.decayed.start.normalizer.eps
        if twin.parted is None:
            return text(
                "Both runs turn alike: in {steps:,} steps the angle between them was {angle} "
                "radians at most, and their losses differed by {loss} at most.",
                steps=int(twin.kept[-1]),
                angle=number(self.apart, 1),
                loss=number(self.losses_apart, 1),
            )
        if eps:
            return text(
                "The two runs part from step {step:,} on: at ε = {eps}, z depends on the "
                "length of the weights, and the law does not hold.",
                step=twin.parted,
                eps=number(float(eps)),
            )
        return text(
            "The two runs part by more than {tolerance} radians from step {step:,} on: decay "
            "has made the steps on the unit sphere so large that the run is chaotic and "
            "rounding errors grow. A smaller η or λ avoids this.",
            tolerance=number(twin.tolerance, 1),
            step=twin.parted,
        )


def _compute(settings: Settings, progress: Progress) -> ExponentialSchedule:
    it = block_on_data(settings)
    cases = len(it.X)
    rate = rate_for_run(settings, it, GradientDescent())
    decay = decay_for_run(settings, rate, min(0.5, DECAYED / settings.steps))
    batch = batch_for_run(settings, cases)
    twin = decay_as_schedule(
        it.model,
        it.X,
        it.y,
        rate=rate,
        decay=decay,
        steps=settings.steps,
        batch_size=batch,
        seed=settings.seed,
        block=it.block,
        checkpoint_bytes=COMPARED,
        progress=progress,
    )
    twin = replace(
        twin,
        decayed=twin.decayed.of_block(ONLY),
        scheduled=twin.scheduled.of_block(ONLY),
        angles=twin.angles.max(axis=1, keepdims=True),
    )
    return ExponentialSchedule(
        twin, ONLY, it.name, it.symbol, batch_words(batch, cases), twin.decayed.notes
    )


def _table(result: ExponentialSchedule) -> Table:
    """Return a row for each step that both runs keep."""
    twin, block = result.twin, result.block
    kept = twin.kept
    columns = {
        "step": kept,
        "rate": twin.decayed.rates[kept],
        "growing_rate": twin.scheduled.rates[kept],
        "norm": twin.decayed.norms[kept, block],
        "twin_norm": twin.scheduled.norms[kept, block],
        "predicted_twin_norm": result.predicted_norms,
        "loss": twin.decayed.loss[kept],
        "twin_loss": twin.scheduled.loss[kept],
        "angle_between": result.angles,
    }
    title = text(
        "{method}: η = {rate} with λ = {decay}, and its twin, {batches}; angles in radians",
        method=twin.decayed.start.normalizer.title,
        rate=number(twin.decayed.rate, 6),
        decay=number(twin.decayed.decay, 6),
        batches=result.batches,
    )
    rows = tuple(zip(*(values.tolist() for values in columns.values()), strict=True))
    return Table(tuple(columns), rows, title=title, notes=(result.verdict,))


def _observed(result: ExponentialSchedule) -> str:
    """Say how far the two runs are apart, in angle and in norm."""
    return text(
        "In {steps:,} steps the angle is {angle}° at most; in the end the norms differ by a "
        "factor of {growth}, predicted {predicted}.",
        steps=int(result.steps[-1]),
        angle=number(float(np.degrees(result.angles.max())), 2),
        growth=number(float(result.twin.growth[-1, result.block])),
        predicted=number(float(result.twin.predicted_growth[-1])),
    )


def _cost(settings: Settings) -> Cost:
    """Two runs, whose weights on the way are compared."""
    return cost_of_runs(settings, 2, checkpoint_bytes=2 * COMPARED)


STUDY = Study(
    name="twin",
    title=text("Weight decay is a learning rate that grows"),
    source=text("Li and Arora 2019"),
    alt=text(
        "Left: a constant learning rate, and one that grows exponentially. Middle: the norms of "
        "the weights with decay, and with the growing rate in its place. Right: the angle between "
        "the two runs."
    ),
    uses=(*DATA, *BLOCK, *RUN, "decay"),
    compute=_compute,
    table=_table,
    observed=_observed,
    cost=_cost,
)
