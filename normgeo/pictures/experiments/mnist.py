"""How networks with batch norm and layer norm learn digits, at small and at large batches."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.numbers import number
from normgeo.base.progress import Progress
from normgeo.base.text import text
from normgeo.experiments.results import IN_WORDS, load
from normgeo.pictures.captions import listed
from normgeo.pictures.experiments.about import NAMES
from normgeo.pictures.picture import Study
from normgeo.settings import Settings
from normgeo.tables.table import Table


class Way(NamedTuple):
    """A method at a size of batches.

    Attributes:
        missed: −log P of held-out digits, (seeds, E) at E evaluations. errors: in %, the same.
        taken: what the first seed takes the shown digits for, (E, K). test: −log P of the test set
            for each seed, of the parameters that were best on validation.

    """

    method: str
    batch: int
    missed: Array
    errors: Array
    taken: Array
    test: Array


class Digits(NamedTuple):
    """Ways to learn, and the K shown digits, their ink (K, side, side) from 0 to 16.

    Attributes:
        start: the step at which the slider opens.

    """

    ways: tuple[Way, ...]
    steps: tuple[int, ...]
    digits: Array
    ink: Array
    data: str
    start: int

    @property
    def opening(self) -> int:
        """The place of the evaluation at which it opens: the nearest."""
        return int(np.abs(np.array(self.steps) - self.start).argmin())

    @property
    def batches(self) -> tuple[int, ...]:
        """The sizes of batches, in their order."""
        return tuple(dict.fromkeys(one.batch for one in self.ways))

    def at(self, batch: int) -> tuple[Way, ...]:
        """Return the ways with batches of this size."""
        return tuple(one for one in self.ways if one.batch == batch)

    def misread(self, way: Way, place: int) -> Array:
        """Whether each shown digit is taken for another one, (K,)."""
        wrong: Array = way.taken[place] != self.digits
        return wrong

    def told(self, place: int) -> str:
        """What an evaluation has found, in words."""
        parts = [_told(self.at(batch), place) for batch in self.batches]
        return text(
            "After {step} updates: {parts!s}.", step=self.steps[place], parts="; ".join(parts)
        )

    @property
    def ended(self) -> str:
        """What the ways have come to on the test set."""
        parts = [
            text(
                "{missed} {name} at batches of {batch}",
                missed=number(float(one.test.mean()), 2),
                name=NAMES[one.method],
                batch=one.batch,
            )
            for one in self.ways
        ]
        return text(
            "On the test set, in nats per digit, mean of the seeds: {parts}.", parts=listed(parts)
        )

    @property
    def about(self) -> str:
        """Which digits are shown."""
        return text(
            "Below: the {K} held-out digits that are misread most often, after batches of 4 at "
            "the first seed; a digit fades once it is read.",
            K=len(self.digits),
        )


def _told(ways: tuple[Way, ...], place: int) -> str:
    first, second = (
        text(
            "{method} misreads {wrong}%",
            method=IN_WORDS[one.method],
            wrong=number(float(one.errors[:, place].mean()), 2),
        )
        for one in ways
    )
    return text(
        "at batches of {batch} {first!s}, {second!s}",
        batch=ways[0].batch,
        first=first,
        second=second,
    )


def compute(settings: Settings, progress: Progress) -> Digits:
    """Read what ships."""
    result = load("mnist")
    shown = result.moving["digits"]
    ink = np.array([one["ink"] for one in shown])
    side = round(ink.shape[1] ** 0.5)
    return Digits(
        tuple(map(_way, result.moving["ways"])),
        result.steps,
        np.array([one["digit"] for one in shown]),
        ink.reshape(-1, side, side),
        result.data,
        settings.updates,
    )


def _way(found: dict[str, object]) -> Way:
    (errors,) = found["others"].values()  # type: ignore[attr-defined]
    return Way(
        str(found["method"]),
        int(str(found["batch"])),
        np.array(found["validation"], dtype=float),
        np.array(errors["validation"], dtype=float),
        np.array(found["watched"]),
        np.array(found["test"], dtype=float),
    )


def _table(result: Digits) -> Table:
    """A row for each evaluation of each way to learn."""
    rows = [
        (
            str(NAMES[one.method]),
            one.batch,
            step,
            float(one.missed[:, place].mean()),
            float(one.errors[:, place].mean()),
            int(result.misread(one, place).sum()),
        )
        for one in result.ways
        for place, step in enumerate(result.steps)
    ]
    columns = ("method", "batch", "step", "−log-likelihood", "errors, %", "misread of those shown")
    return Table(columns, tuple(rows), STUDY.title, notes=(result.data, result.ended, result.about))


def _observed(result: Digits) -> str:
    return f"{result.told(result.opening)} {result.ended} {result.about}"


STUDY = Study(
    name="mnist",
    title=text("Digits that are misread while networks learn"),
    alt=text(
        "For batches of 4 and of 128 the −log-likelihood of held-out digits against the updates, "
        "a blue line with batch norm and a green one with layer norm; below, small pictures of "
        "digits, dark where a network at batches of 4 misreads them and faint where it does not."
    ),
    uses=("updates",),
    compute=compute,
    table=_table,
    observed=_observed,
    source=text("section 6.6"),
    slider="updates",
)
