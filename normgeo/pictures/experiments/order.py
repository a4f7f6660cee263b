"""Captions that trained order embeddings read word by word, and the pictures that they find."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from normgeo.base.arrays import Array
from normgeo.base.numbers import number
from normgeo.base.progress import Progress
from normgeo.base.text import text
from normgeo.experiments.results import load
from normgeo.pictures.captions import listed
from normgeo.pictures.experiments.about import NAMES
from normgeo.pictures.picture import Study
from normgeo.settings import Settings
from normgeo.tables.table import Table


class Reading(NamedTuple):
    """A method that reads a caption.

    Attributes:
        method: of NAMES. words: of the caption, (T,). right: the place of its picture.
        best: the places of the best pictures after each word, (T, 5).
        ranks: of the right picture after each word, (T,).

    """

    method: str
    words: tuple[str, ...]
    right: int
    best: NDArray[np.int_]
    ranks: Array

    def place(self, step: int) -> int:
        """Return the place of the last word that is read after a step."""
        return min(step, len(self.words)) - 1


class Order(NamedTuple):
    """Readings, all captions by one method and then by the next; the pictures (C, 16, 16)."""

    readings: tuple[Reading, ...]
    pictures: NDArray[np.int_]
    data: str
    start: int

    @property
    def captions(self) -> tuple[tuple[str, ...], ...]:
        """The captions, each once."""
        return tuple(dict.fromkeys(one.words for one in self.readings))

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods, each once."""
        return tuple(dict.fromkeys(one.method for one in self.readings))

    @property
    def steps(self) -> int:
        """The number of frames: the words of the longest caption."""
        return max(map(len, self.captions))

    @property
    def opening(self) -> int:
        """The place of the frame at which it opens: the nearest."""
        return min(self.start, self.steps) - 1

    def of(self, words: tuple[str, ...], method: str) -> Reading:
        """Return how a method reads a caption."""
        return next(one for one in self.readings if (one.words, one.method) == (words, method))

    def told(self, step: int) -> str:
        """Where the right pictures stand after a step, in words."""
        parts = []
        for method in self.methods:
            mine = [self.of(words, method) for words in self.captions]
            ranks = text(" and ").join(number(float(one.ranks[one.place(step)])) for one in mine)
            parts.append(text("{ranks} {method}", ranks=ranks, method=NAMES[method]))
        return text(
            "After word {step}, ranks {parts}.",
            step=step,
            parts=listed(parts),
        )


def compute(settings: Settings, progress: Progress) -> Order:
    """Read the captions and pictures that ship."""
    result = load("order")
    found = result.moving["captions"]
    return Order(
        tuple(
            Reading(
                one["method"],
                tuple(one["words"]),
                one["right"],
                np.array(one["best"]),
                np.array(one["ranks"], dtype=float),
            )
            for one in found
        ),
        np.array([[int(level, 16) for level in one] for one in result.moving["pictures"]]).reshape(
            -1, SIDE, SIDE
        ),
        result.data,
        settings.word,
    )


def _table(result: Order) -> Table:
    """A row for each word that a method reads."""
    rows = [
        (
            str(NAMES[one.method]),
            " ".join(one.words),
            place + 1,
            word,
            float(one.ranks[place]),
            " ".join(map(str, one.best[place])),
        )
        for one in result.readings
        for place, word in enumerate(one.words)
    ]
    columns = ("method", "caption", "words read", "word", "rank", "best pictures")
    return Table(columns, tuple(rows), STUDY.title, notes=(result.data,))


def _observed(result: Order) -> str:
    quoted = listed(text("“{words!s}”", words=" ".join(words)) for words in result.captions)
    told = result.told(result.opening + 1)
    return text("The captions are {quoted}. {told}", quoted=quoted, told=told)


SIDE = 16  # pixels of a picture

STUDY = Study(
    name="order",
    title=text("Pictures that a caption finds, word by word"),
    alt=text(
        "For each of two captions, as far as it is read, the five best pictures of a network "
        "without a norm and of one with layer norm, with a frame around the right one; below, the "
        "rank of the right picture against the words that are read."
    ),
    uses=("word",),
    compute=compute,
    table=_table,
    observed=_observed,
    source=text("section 6.1; Vendrov et al. 2016, Order-embeddings of images and language"),
    slider="word",
)
