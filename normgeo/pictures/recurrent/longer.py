"""What a recurrent cell says of sequences that are longer than those it was trained on."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.budget import Cost
from normgeo.base.numbers import number
from normgeo.base.progress import Progress
from normgeo.base.text import text
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.captions import listed
from normgeo.pictures.picture import Study
from normgeo.pictures.recurrent.sequence_runs import USES, Course, Runs, Setup, trained
from normgeo.pictures.recurrent.sequence_runs import cost as cost_of_runs
from normgeo.sequences.tasks import TASKS, Sequences
from normgeo.sequences.training import TESTED, SequenceHistory
from normgeo.settings import Settings
from normgeo.tables.table import Table

TIMES = {"rows": (1, 2, 4, 8), "pixels": (1, 2, 4), "letters": (8,)}
"""How many times as long the sequences are that are read; letters are told at every step."""

STRETCH = 4  # letters that a point averages


class Read(NamedTuple):
    """What one method says.

    Attributes:
        normalizer: the method. after: steps of its training.
        losses: at each length, nats per class, (seeds, K). seeds: of the runs, (seeds,).
        reason: why a run is missing, or "".

    """

    normalizer: Normalizer
    after: int
    losses: Array
    seeds: tuple[int, ...]
    reason: str


class Longer(NamedTuple):
    """All methods on longer sequences.

    Attributes:
        methods: in their order. steps: that were read, (K,). trained: T of the training.
        every_step: whether a loss is that of the steps up to there, since the last point.
        setup: what was trained. course: the runs, to go on with.

    """

    methods: tuple[Read, ...]
    steps: Array
    trained: int
    every_step: bool
    setup: Setup
    course: Course

    @property
    def compared(self) -> tuple[Read, ...]:
        """The methods whose training came farthest."""
        known = [one for one in self.methods if len(one.losses)]
        farthest = max((one.after for one in known), default=0)
        return tuple(one for one in known if one.after == farthest)

    @property
    def said(self) -> tuple[str, ...]:
        """By what factor the loss of each method is another at the end than where training was."""
        if not self.compared:
            return ()
        trained = int(np.flatnonzero(self.steps <= self.trained)[-1])
        factors = listed(
            text(
                "× {factor} ({method})",
                factor=number(float(one.losses[:, -1].mean() / one.losses[:, trained].mean()), 3),
                method=one.normalizer.title,
            )
            for one in self.compared
        )
        return (
            text(
                "{times} times as long as trained, the loss is {factors}.",
                times=int(self.steps[-1]) // self.trained,
                factors=factors,
            ),
        )


def compute(settings: Settings, progress: Progress, before: Longer | None = None) -> Longer:
    """Train every method from every seed, and let it read on; a stop keeps the runs that ended."""
    setup = Setup.of(settings)
    T, times = TASKS[setup.task].steps, TIMES[setup.task]
    every_step = setup.data(0).every_step
    steps = np.arange(STRETCH, T * times[-1] + 1, STRETCH) if every_step else T * np.array(times)

    def read(found: Runs) -> Read:
        after, ended = found.compared(setup.steps)
        whole = {place: run for place, run in ended.items() if run.steps == after}
        losses = [_read(run, setup, place) for place, run in whole.items()]
        kept = np.reshape(losses, (len(losses), len(steps)))
        seeds = tuple(setup.seed + place for place in whole)
        return Read(found.normalizer, after, kept, seeds, found.reason)

    methods, course = trained(settings, progress, read, before and before.course)
    return Longer(methods, steps, T, every_step, setup, course)


def go_on(settings: Settings, before: Longer, progress: Progress) -> Longer:
    """Train on where runs were, and let them read anew."""
    return compute(settings, progress, before)


def _read(history: SequenceHistory, setup: Setup, place: int) -> Array:
    """The loss at each length; batch norm has the statistics of the last step from there on."""
    T, times = TASKS[setup.task].steps, TIMES[setup.task]
    losses = []
    for factor in times:
        data = setup.data(place, factor * T)
        if data.every_step:
            told = history.told(_of_training(data), "last").log_likelihood
            losses = (-told.reshape(len(told), -1, STRETCH).mean(axis=(0, 2))).tolist()
            break
        losses.append(-history.told(data, "last").log_likelihood.mean())
    return np.array(losses)


def _of_training(data: Sequences) -> Sequences:
    """Stretches of the text that was trained on: the rest is too short, and guessed badly."""
    apart = max(1, len(data.X_train) // TESTED)
    return replace(data, X_test=data.X_train[::apart], y_test=data.y_train[::apart])


def _table(result: Longer) -> Table:
    rows = [
        (one.normalizer.title, seed, int(step), float(loss))
        for one in result.compared
        for seed, losses in zip(one.seeds, one.losses, strict=True)
        for step, loss in zip(result.steps, losses, strict=True)
    ]
    notes = tuple(f"{one.normalizer.title}: {one.reason}" for one in result.methods if one.reason)
    title = text("{about}; trained on {T} steps", about=result.setup.about, T=result.trained)
    return Table(("method", "seed", "steps_read", "loss"), tuple(rows), title, notes=notes)


def _observed(result: Longer) -> str:
    """Say each method's loss within the length of training and at the end."""
    within = result.steps <= result.trained
    return " ".join(
        text(
            "Up to {T} steps {method} has a loss of {loss} nats, at {last} steps of {end}.",
            T=result.trained,
            method=one.normalizer.title,
            loss=number(float(one.losses[:, within].mean())),
            last=int(result.steps[-1]),
            end=number(float(one.losses[:, -1].mean())),
        )
        for one in result.compared
    )


def cost(settings: Settings) -> Cost:
    """The runs, and what they read."""
    read = TASKS[settings.task].steps * sum(TIMES[settings.task])
    return cost_of_runs(settings, read)


STUDY = Study(
    name="longer",
    title=text("Sequences longer than trained on"),
    source=text("sections 1, 3.1 and 7"),
    begins=text("Train, then read on"),
    go_on=go_on,
    alt=text(
        "Loss of a trained recurrent cell with each method against the number of steps that it has "
        "read, up to several times as many as in training, which an upright line marks."
    ),
    uses=USES,
    compute=compute,
    table=_table,
    observed=_observed,
    cost=cost,
)
