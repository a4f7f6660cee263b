"""What trained convolutional networks answer as the contrast of digits turns."""

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

FULL = 16  # levels of ink of a digit


class Answers(NamedTuple):
    """A method's errors on the test set, in %, (C,), and the chances of classes, (C, K, 10)."""

    errors: Array
    chances: Array


class Contrast(NamedTuple):
    """C contrasts, K shown digits with their ink (K, side, side) from 0 to 1, and the answers."""

    contrasts: Array
    digits: Array
    ink: Array
    methods: dict[str, Answers]
    data: str
    start: float

    @property
    def opening(self) -> int:
        """The place of the contrast at which it opens: the nearest, as a factor."""
        return int(np.abs(np.log2(self.contrasts) - np.log2(abs(self.start))).argmin())

    def told(self, place: int) -> str:
        """How often the methods err at a contrast, in words."""
        parts = listed(
            text(
                "{method} misreads {wrong}%",
                method=IN_WORDS[method],
                wrong=number(float(one.errors[place]), 3),
            )
            for method, one in self.methods.items()
        )
        return text(
            "At contrast × {delta}: {parts}.",
            delta=number(float(self.contrasts[place]), 3),
            parts=parts,
        )

    @property
    def about(self) -> str:
        """What stands still, and why."""
        drift = np.ptp(self.methods["layer"].errors)
        still = text(
            "Layer norm divides the contrast of a picture out, as section 5 says, and answers the "
            "same at each."
        )
        moved = text(
            "Layer norm divides the contrast of a picture out, as section 5 says, up to its ε: "
            "errors move by {drift} points.",
            drift=number(float(drift), 2),
        )
        return still if drift == 0 else moved

    @property
    def shown(self) -> str:
        """Which networks and digits are shown."""
        return text(
            "First seed, the {K} hardest test digits; batch norm has the statistics of "
            "contrast × 1.",
            K=len(self.digits),
        )


def compute(settings: Settings, progress: Progress) -> Contrast:
    """Read what ships."""
    result = load("convolution")
    shown = result.moving["digits"]
    ink = np.array([one["ink"] for one in shown]) / FULL
    side = round(ink.shape[1] ** 0.5)
    return Contrast(
        np.array(result.moving["contrasts"]),
        np.array([one["digit"] for one in shown]),
        ink.reshape(-1, side, side),
        {
            one["method"]: Answers(np.array(one["errors"]), np.array(one["chances"]) / 100)
            for one in result.moving["answers"]
        },
        result.data,
        settings.delta,
    )


def _table(result: Contrast) -> Table:
    """A row for each method, contrast and shown digit."""
    rows = [
        (
            str(NAMES[method]),
            float(contrast),
            float(one.errors[place]),
            int(digit),
            int(one.chances[place, k].argmax()),
            float(one.chances[place, k, digit]),
        )
        for method, one in result.methods.items()
        for place, contrast in enumerate(result.contrasts)
        for k, digit in enumerate(result.digits)
    ]
    columns = ("method", "contrast", "test errors, %", "digit", "answer", "chance of the digit")
    return Table(columns, tuple(rows), STUDY.title, notes=(result.data, result.shown))


def _observed(result: Contrast) -> str:
    return f"{result.told(result.opening)} {result.about} {result.shown}"


STUDY = Study(
    name="convolution",
    title=text("Answers as the contrast of digits turns"),
    alt=text(
        "The test errors of three convolutional networks against the contrast of the pictures: a "
        "gray line without a norm, a blue one with batch norm, a green one with layer norm. Beside "
        "it some digits at a contrast, and below, for each network, the chance that it gives to "
        "each of the ten classes, with a frame around the right one."
    ),
    uses=("delta",),
    compute=compute,
    table=_table,
    observed=_observed,
    source=text("sections 5 and 6.7"),
    slider="delta",
)
