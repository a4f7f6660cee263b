"""Weight decay beside the learning rate that grows in its place."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from normgeo.base.text import text
from normgeo.dynamics.exponential_twin import Twin, exponential_twin
from normgeo.dynamics.gradient_descent import GradientDescent
from normgeo.pictures.learning_rate.block_on_data import BLOCK, block_on_data
from normgeo.pictures.learning_rate.descent import RUN, silent
from normgeo.pictures.learning_rate.exponential_twin_figure import twin_figure
from normgeo.pictures.learning_rate.rates import (
    batch_for_run,
    batch_words,
    decay_for_run,
    rate_for_run,
)
from normgeo.pictures.style.lines import scientific
from normgeo.pictures.style.template import Figure
from normgeo.pictures.view import DATA, Progress, View
from normgeo.settings import Settings
from normgeo.tables.table import Table

DECAYED = 2.4  # factors of e by which the weights decay in a run, where λ is left open
# Of the step size that suits a descent, where η is left open. Decay makes the steps on the unit
# sphere larger until the run is chaotic and rounding parts the two: this keeps the whole run calm.
GENTLE = 0.025


class TwinPicture(NamedTuple):
    """A run with weight decay and its twin without.

    Attributes:
        twin: the two runs. block: whose norm is shown. name, symbol: of the block and its norm.
        batches: what a step sees, in words. notes: on the batches, sentences.

    """

    twin: Twin
    block: int
    name: str
    symbol: str
    batches: str
    notes: tuple[str, ...]

    @property
    def apart(self) -> float:
        """The largest angle between the two runs' weights, radians."""
        return float(self.twin.angles.max())

    @property
    def losses_apart(self) -> float:
        """The largest difference of the two runs' losses, nats per case."""
        first, second = self.twin.decayed.loss, self.twin.scheduled.loss
        steps = min(len(first), len(second))
        return float(np.abs(first[:steps] - second[:steps]).max())


def _twin(settings: Settings, tell: Progress = silent) -> TwinPicture:
    it = block_on_data(settings)
    cases = len(it.X)
    rate = settings.rate or GENTLE * rate_for_run(settings, it, GradientDescent())
    decay = decay_for_run(settings, rate, min(0.5, DECAYED / settings.steps))
    batch = batch_for_run(settings, cases)
    twin = exponential_twin(
        it.model,
        it.X,
        it.y,
        rate=rate,
        decay=decay,
        steps=settings.steps,
        batch_size=batch,
        seed=settings.seed,
        progress=tell,
    )
    return TwinPicture(
        twin, it.block, it.name, it.symbol, batch_words(batch, cases), twin.decayed.notes
    )


def verdict(picture: TwinPicture) -> str:
    """Return in a sentence whether the two are one, and from which step they are not."""
    twin = picture.twin
    if twin.parted is None:
        return text(
            "The two turn as one: after {steps:,} steps the largest angle between them has been "
            "{angle} radians, and their losses have differed by {loss} at most.",
            steps=int(twin.kept[-1]),
            angle=scientific(picture.apart),
            loss=scientific(picture.losses_apart),
        )
    if picture.twin.decayed.start.normalizer.eps:
        return text(
            "The two part from step {step:,} on: with ε = {eps:g} the length of the weights is not "
            "free, and the law does not hold.",
            step=twin.parted,
            eps=twin.decayed.start.normalizer.eps,
        )
    return text(
        "The two part by more than {tolerance} radians from step {step:,} on: decay has made "
        "the steps on the unit sphere so large that the run is chaotic, and rounding grows. "
        "A smaller η or λ keeps it calm.",
        tolerance=scientific(twin.tolerance),
        step=twin.parted,
    )


def _twin_figure(picture: TwinPicture, theme: str) -> Figure:
    return twin_figure(
        picture.twin,
        picture.block,
        name=picture.name,
        symbol=picture.symbol,
        batches=picture.batches,
        verdict=verdict(picture),
        theme=theme,
    )


def _twin_table(picture: TwinPicture) -> Table:
    """Return a row for each step that both runs keep."""
    twin, block = picture.twin, picture.block
    kept = twin.kept
    columns = {
        "step": kept.tolist(),
        "rate": twin.decayed.rates[kept].tolist(),
        "growing_rate": twin.scheduled.rates[kept].tolist(),
        "norm": twin.decayed.norms[kept, block].tolist(),
        "twin_norm": twin.scheduled.norms[kept, block].tolist(),
        "predicted_twin_norm": (twin.decayed.norms[kept, block] * twin.predicted_growth).tolist(),
        "loss": twin.decayed.loss[kept].tolist(),
        "twin_loss": twin.scheduled.loss[kept].tolist(),
        "angle_between": twin.angles.max(axis=1).tolist(),
    }
    title = text(
        "{method}: η = {rate:g} with λ = {decay:g}, and its twin, {batches}; angles in radians",
        method=twin.decayed.start.normalizer.title,
        rate=twin.decayed.rate,
        decay=twin.decayed.decay,
        batches=picture.batches,
    )
    rows = tuple(zip(*columns.values(), strict=True))
    return Table(tuple(columns), rows, title=title, notes=(verdict(picture),))


TWIN = View(
    "twin",
    text("Weight decay is a learning rate that grows"),
    (*DATA, *BLOCK, *RUN, "decay"),
    _twin,
    _twin_figure,
    _twin_table,
    watched=_twin,
)
