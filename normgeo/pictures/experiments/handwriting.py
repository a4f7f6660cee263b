"""Lines that trained networks write, and a hand that they learned from, step by step of the pen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.progress import Progress
from normgeo.base.text import text
from normgeo.experiments.results import load
from normgeo.pictures.captions import listed
from normgeo.pictures.experiments.about import NAMES
from normgeo.pictures.picture import Study
from normgeo.settings import Settings
from normgeo.tables.table import Table

EVERY = 5  # steps of the pen between two frames
WRITERS = {
    "data": text("the hand that they learn from"),
    **{method: NAMES[method] for method in ("none", "layer")},
}


class Line(NamedTuple):
    """A written line.

    Attributes:
        writer: a key of WRITERS. words: that were to be written.
        points: where the pen is after each of P steps, in heights of an x, (P, 2).
        lifts: whether it leaves the paper then, (P,).
        window: the character that is written, as a place in the words, (P,).

    """

    writer: str
    words: str
    points: Array
    lifts: Array
    window: Array

    def character(self, step: int) -> int:
        """Return the place of the character at a step of the pen."""
        place = self.window[min(step, len(self.window)) - 1]
        return int(np.clip(round(float(place)), 0, len(self.words) - 1))


class Handwriting(NamedTuple):
    """The lines, and the step of the pen at which the slider opens."""

    lines: tuple[Line, ...]
    data: str
    start: int

    @property
    def words(self) -> tuple[str, ...]:
        """The texts, each once."""
        return tuple(dict.fromkeys(one.words for one in self.lines))

    @property
    def steps(self) -> tuple[int, ...]:
        """The steps of the frames, the last one after the end of every line."""
        longest = max(len(one.points) for one in self.lines)
        return tuple(range(EVERY, longest + EVERY, EVERY))

    @property
    def opening(self) -> int:
        """The place of the frame at which it opens: the nearest."""
        return int(np.abs(np.array(self.steps) - self.start).argmin())

    def of(self, writer: str, words: str) -> Line:
        """Return the line of a writer."""
        return next(one for one in self.lines if (one.writer, one.words) == (writer, words))

    def ended(self, step: int) -> str:
        """How many lines are whole at a step of the pen."""
        whole = sum(len(one.points) <= step for one in self.lines)
        return text(
            "After {step} steps of the pen {whole} of {all} lines have ended.",
            step=step,
            whole=whole,
            all=len(self.lines),
        )


def compute(settings: Settings, progress: Progress) -> Handwriting:
    """Read the lines that ship."""
    result = load("handwriting")
    return Handwriting(tuple(map(_line, result.moving["lines"])), result.data, settings.pen)


def _line(found: dict[str, object]) -> Line:
    points = np.array(found["points"], dtype=float)
    return Line(
        str(found["method"]),
        str(found["text"]),
        points[:, :2].cumsum(axis=0),
        points[:, 2] > 0,
        np.array(found["window"], dtype=float),
    )


def _table(result: Handwriting) -> Table:
    """A row for each step of the pen."""
    rows = [
        (str(WRITERS[one.writer]), one.words, step, *map(float, point), bool(lift), float(place))
        for one in result.lines
        for step, (point, lift, place) in enumerate(
            zip(one.points, one.lifts, one.window, strict=True), start=1
        )
    ]
    columns = ("writer", "text", "step", "x", "y", "pen leaves the paper", "character")
    return Table(columns, tuple(rows), STUDY.title, notes=(result.data,))


def _observed(result: Handwriting) -> str:
    quoted = listed(text("“{words!s}”", words=words) for words in result.words)
    ended = result.ended(result.steps[result.opening])
    return text("The texts are {quoted}. {ended}", quoted=quoted, ended=ended)


STUDY = Study(
    name="handwriting",
    title=text("Lines that networks write, stroke by stroke"),
    alt=text(
        "Lines of handwriting: of the hand that the networks learn from, of a network without a "
        "norm and of one with layer norm, as far as the pen has come; above each the text, with "
        "the character underlined that the pen is at."
    ),
    uses=("pen",),
    compute=compute,
    table=_table,
    observed=_observed,
    source=text("section 6.5; Graves 2013, Generating sequences with recurrent neural networks"),
    slider="pen",
)
