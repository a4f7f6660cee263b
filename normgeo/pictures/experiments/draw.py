"""Digits that trained DRAW networks paint, glimpse by glimpse."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.numbers import number
from normgeo.base.progress import Progress
from normgeo.base.text import text
from normgeo.experiments.results import load
from normgeo.pictures.experiments.about import NAMES
from normgeo.pictures.picture import Study
from normgeo.settings import Settings
from normgeo.tables.table import Table

LEVELS = 255  # of the ink of a canvas, which ships in whole numbers


class Painted(NamedTuple):
    """A method at work on some digits.

    Attributes:
        canvases: the chance of ink of P pictures after each of T glimpses, (T, P, 8, 8).
        windows: the center x, y and the width of where each one writes, in pixels, (T, P, 3).
        missed: −log of the probability that a canvas gives to its digit, in nats, (T, P).

    """

    canvases: Array
    windows: Array
    missed: Array


class Drawing(NamedTuple):
    """Digits (P,), their pixels (P, 8, 8), and what each method paints; where it opens."""

    digits: tuple[int, ...]
    targets: Array
    methods: dict[str, Painted]
    data: str
    start: int

    @property
    def glimpses(self) -> int:
        """T."""
        return len(next(iter(self.methods.values())).canvases)

    @property
    def opening(self) -> int:
        """The place of the glimpse at which it opens: the nearest."""
        return min(self.start, self.glimpses) - 1

    def told(self, place: int) -> str:
        """What a glimpse has come to, in words."""
        without, normed = (number(float(one.missed[place].mean()), 3) for one in self._ordered)
        return text(
            "Glimpse {t} of {T}: on these {count} digits, a canvas misses by {without} nats "
            "without a norm, {normed} with it.",
            count=len(self.digits),
            t=place + 1,
            T=self.glimpses,
            without=without,
            normed=normed,
        )

    @property
    def attention(self) -> str:
        """How wide the windows are."""
        wide = np.mean([one.windows[..., 2].mean() for one in self._ordered])
        side = self.targets.shape[-1]
        words = {"side": side, "wide": number(float(wide), 2)}
        if wide < side:
            return text("Pictures are {side} pixels wide, the window {wide} on average.", **words)
        return text(
            "Pictures are {side} pixels wide, the window {wide} on average: it covers "
            "the whole picture, so there is nothing to choose.",
            **words,
        )

    @property
    def _ordered(self) -> list[Painted]:
        return [*self.methods.values()]


def compute(settings: Settings, progress: Progress) -> Drawing:
    """Read the digits that ship."""
    result = load("draw")
    pictures = {
        method: [one for one in result.moving["pictures"] if one["method"] == method]
        for method in result.methods
    }
    first = next(iter(pictures.values()))
    targets = np.array([one["target"] for one in first], dtype=float)
    return Drawing(
        tuple(one["digit"] for one in first),
        targets,
        {method: _painted(found, targets) for method, found in pictures.items()},
        result.data,
        settings.glimpse,
    )


def _painted(found: list[dict[str, list[object]]], targets: Array) -> Painted:
    canvases = np.array([one["canvases"] for one in found], dtype=float).swapaxes(0, 1)
    # A level stands for chances up to half a level away.
    chance = np.clip(canvases / LEVELS, 0.5 / LEVELS, 1 - 0.5 / LEVELS)
    missed = -(targets * np.log(chance) + (1 - targets) * np.log(1 - chance)).sum(axis=(-2, -1))
    windows = np.array([one["windows"] for one in found], dtype=float).swapaxes(0, 1)
    return Painted(canvases / LEVELS, windows, missed)


def _table(result: Drawing) -> Table:
    """A row for each glimpse at each digit."""
    rows = [
        (
            str(NAMES[method]),
            digit,
            t + 1,
            *map(float, one.windows[t, place]),
            float(one.missed[t, place]),
        )
        for method, one in result.methods.items()
        for place, digit in enumerate(result.digits)
        for t in range(result.glimpses)
    ]
    columns = ("method", "digit", "glimpse", "window x", "window y", "window width", "nats missed")
    return Table(columns, tuple(rows), STUDY.title, notes=(result.data, result.attention))


def _observed(result: Drawing) -> str:
    return f"{result.told(result.opening)} {result.attention}"


STUDY = Study(
    name="draw",
    title=text("Digits that DRAW paints, glimpse by glimpse"),
    alt=text(
        "Digits as they were given, and beside them the canvases of a network without a norm and "
        "of one with layer norm, with the window in which each writes; below, how much the "
        "canvases miss against the glimpses."
    ),
    uses=("glimpse",),
    compute=compute,
    table=_table,
    observed=_observed,
    source=text("section 6.4; Gregor et al. 2015, DRAW"),
    slider="glimpse",
)
