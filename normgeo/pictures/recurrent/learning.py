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
from normgeo.pictures.captions import listed
from normgeo.pictures.picture import Study
from normgeo.pictures.recurrent.sequence_runs import USES, Course, Runs, Setup, cost, trained
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
        seeds: of the runs, (seeds,). reason: why a run is missing, or "".

    """

    normalizer: Normalizer
    steps: Array
    losses: Array
    seconds: Array
    accuracy: Array
    seeds: tuple[int, ...]
    reason: str


class Learning(NamedTuple):
    """All methods on the same sequences from the same seeds.

    Attributes:
        methods: their curves. setup: what was trained. course: the runs, to go on with.

    """

    methods: tuple[Learned, ...]
    setup: Setup
    course: Course

    @property
    def said(self) -> tuple[str, ...]:
        """Which method has the lowest loss, if from every seed, of those that came farthest."""
        known = [one for one in self.methods if len(one.losses)]
        if not known:
            return ()
        last = max(int(one.steps[-1]) for one in known)
        farthest = (one for one in known if one.steps[-1] == last)
        ends = sorted(farthest, key=lambda one: one.losses[:, -1].mean())
        first, *others = ends
        losses = listed(
            text("{loss} ({method})", loss=number(loss, 2), method=one.normalizer.title)
            for one in ends
            for loss in [float(one.losses[:, -1].mean())]
        )
        if not others:
            words = text("After {steps} steps the loss is {losses}.")
        elif all(first.losses[:, -1].max() < one.losses[:, -1].min() for one in others):
            words = text("After {steps} steps {method} is ahead: a loss of {losses}.")
        else:
            words = text("After {steps} steps no method is clearly ahead: a loss of {losses}.")
        method = first.normalizer.title
        return (text(words, steps=last, method=method, losses=losses),)


def compute(settings: Settings, progress: Progress, before: Learning | None = None) -> Learning:
    """Train every method from every seed; a stop keeps the runs, of which whole ones are drawn."""
    setup = Setup.of(settings)
    curves, course = trained(
        settings, progress, lambda found: _learned(found, setup), before and before.course
    )
    return Learning(curves, setup, course)


def go_on(settings: Settings, before: Learning, progress: Progress) -> Learning:
    """Go on where runs were."""
    return compute(settings, progress, before)


def _learned(found: Runs, setup: Setup) -> Learned:
    last, ended = found.compared(setup.steps)
    if not last:
        empty = np.zeros(0)
        return Learned(found.normalizer, empty, np.zeros((0, 0)), empty, empty, (), found.reason)
    histories = ended.values()
    curves = [smoothed(history.train_loss[:last], POINTS) for history in histories]
    steps = curves[0].steps
    return Learned(
        found.normalizer,
        steps,
        np.array([curve.losses for curve in curves]),
        np.mean([history.seconds[steps - 1] for history in histories], axis=0),
        np.array([h.test_accuracy[h.test_steps == last][0] for h in histories]),
        tuple(setup.seed + place for place in ended),
        found.reason,
    )


def _table(result: Learning) -> Table:
    """The loss of each seed at each point, and the seconds until then."""
    rows = []
    for one in result.methods:
        for seed, losses in zip(one.seeds, one.losses, strict=True):
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
    go_on=go_on,
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
