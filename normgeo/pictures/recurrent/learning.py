"""How fast a recurrent cell learns with each method: loss against steps and against seconds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.numbers import number
from normgeo.base.progress import Progress
from normgeo.base.text import text
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.batch.training import smoothed
from normgeo.pictures.picture import Study
from normgeo.pictures.recurrent.sequence_runs import USES, Runs, Setup, cost, runs
from normgeo.settings import Settings
from normgeo.tables.table import Table

POINTS = 20  # of a curve


class Learned(NamedTuple):
    """What one method comes to.

    Attributes:
        normalizer: the method. steps: at the end of each stretch that is averaged, (P,).
        losses: of the batches of the stretch, nats per class, (seeds, P).
        seconds: that the steps had taken by then, the mean over the seeds, (P,).
        accuracy: at the end, of each seed, on sequences held out, (seeds,).
        reason: why a run is missing, or "".

    """

    normalizer: Normalizer
    steps: Array
    losses: Array
    seconds: Array
    accuracy: Array
    reason: str


class Learning(NamedTuple):
    """All methods on the same sequences from the same seeds."""

    methods: tuple[Learned, ...]
    setup: Setup


def compute(settings: Settings, progress: Progress) -> Learning:
    """Train every method from every seed; a stop keeps the runs that came to their end."""
    return Learning(tuple(map(_learned, runs(settings, progress))), Setup.of(settings))


def _learned(found: Runs) -> Learned:
    if not found.histories:
        empty = np.zeros(0)
        return Learned(found.normalizer, empty, np.zeros((0, 0)), empty, empty, found.reason)
    curves = [smoothed(history.train_loss, POINTS) for history in found.histories]
    steps = curves[0].steps
    return Learned(
        found.normalizer,
        steps,
        np.array([curve.losses for curve in curves]),
        np.mean([history.seconds[steps - 1] for history in found.histories], axis=0),
        np.array([history.test_accuracy[-1] for history in found.histories]),
        found.reason,
    )


def _table(result: Learning) -> Table:
    """The loss of each seed at each point, and the seconds until then."""
    rows = []
    for one in result.methods:
        for place, losses in enumerate(one.losses):
            seed = result.setup.seed + place
            for step, second, loss in zip(one.steps, one.seconds, losses, strict=True):
                rows.append((one.normalizer.title, seed, int(step), float(second), float(loss)))
    notes = tuple(f"{one.normalizer.title}: {one.reason}" for one in result.methods if one.reason)
    columns = ("method", "seed", "step", "mean_seconds", "train_loss")
    return Table(columns, tuple(rows), result.setup.about, notes=notes)


def _observed(result: Learning) -> str:
    """Say the last loss of each method, its time and how much of the rest it tells right."""
    return " ".join(
        text(
            "At the end {method} has a loss of {loss} nats after {seconds} s, and is right on "
            "{share:.0%} of what was held out.",
            method=one.normalizer.title,
            loss=number(float(one.losses[:, -1].mean())),
            seconds=number(float(one.seconds[-1]), 2),
            share=float(one.accuracy.mean()),
        )
        for one in result.methods
        if len(one.losses)
    )


STUDY = Study(
    name="learning",
    title=text("How fast a recurrent cell learns with each method"),
    source=text("sections 6 and 7"),
    begins=text("Train the cell"),
    alt=text(
        "Training loss of a recurrent cell with each method: on the left against the steps, on the "
        "right against the seconds that they took, a band from the lowest to the highest seed."
    ),
    uses=USES,
    compute=compute,
    table=_table,
    observed=_observed,
    cost=cost,
)
