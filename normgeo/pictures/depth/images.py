"""A small convolution on digits with each norm: where its units are on, and what it learns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.budget import MEGABYTE, Cost
from normgeo.base.numbers import number
from normgeo.base.progress import Progress
from normgeo.base.text import text
from normgeo.depth.border import Images, Places, norms, places, trained
from normgeo.depth.shared_norm import SharedNorm
from normgeo.pictures.picture import Study
from normgeo.pictures.work import BASE
from normgeo.settings import Settings
from normgeo.tables.table import Table

SEEDS = 5
LAYER = "layer"


@final
@dataclass(frozen=True, eq=False)
class Learned:
    """What one norm gives.

    Attributes:
        norm: it. places: statistics by place of the training images after training, of the first
            seed. accuracies: on held-out digits, of each seed, (S,).

    """

    norm: SharedNorm
    places: Places
    accuracies: Array

    @property
    def on(self) -> tuple[float, float]:
        """The share of units that are on at the border, and inside."""
        return self.places.at_border(self.places.on)

    @property
    def far(self) -> tuple[float, float]:
        """How far the statistics of a place are from the layer's, at the border and inside."""
        return self.places.at_border(self.places.distance)

    @property
    def accuracy(self) -> str:
        """Mean and standard deviation over the seeds, in words."""
        mean, spread = 100 * self.accuracies.mean(), 100 * self.accuracies.std(ddof=0)
        return text("{mean:.1f} ± {spread:.1f} %", mean=mean, spread=spread)


@final
@dataclass(frozen=True, eq=False)
class OnImages:
    """The same convolution with each norm. `learned` is by the key of the norm."""

    learned: dict[str, Learned]
    epochs: int

    @property
    def answers(self) -> tuple[str, ...]:
        """What is measured, in sentences; none where nothing was."""
        if LAYER not in self.learned:
            return ()
        layer = self.learned[LAYER]
        border, inside = (f"{share:.0%}" for share in layer.on)
        near, far = (number(value, 2) for value in reversed(layer.far))
        first = text(
            "With layer norm units at the border are on {border} of the time, inside {inside}; "
            "their statistics are {far} σ from the layer's, inside {near} σ.",
            border=border,
            inside=inside,
            far=far,
            near=near,
        )
        if len(self.learned) < len(norms()):
            return (first,)
        names = sorted(self.learned.values(), key=lambda one: -one.accuracies.mean())
        words = "; ".join(f"{one.norm.title} {one.accuracy}" for one in names)
        return first, text("Held-out digits named right: {words!s}.", words=words)


def compute(settings: Settings, progress: Progress) -> OnImages:
    """Train with each norm from the same starts; a stop leaves out norms that are not done."""
    images, known = Images.digits(), norms(settings.groups)
    runs = len(known) * SEEDS
    learned: dict[str, Learned] = {}
    for index, (key, norm) in enumerate(known.items()):
        accuracies, first = [], None
        for repeat in range(SEEDS):
            found = trained(
                norm,
                images,
                epochs=settings.epochs,
                seed=settings.seed + repeat,
                progress=progress.part(index * SEEDS + repeat, runs),
            )
            if progress.stopped:
                return OnImages(learned, settings.epochs)
            first = places(found.network, images.seen_train) if first is None else first
            accuracies.append(found.accuracy)
        if first is not None:
            learned[key] = Learned(norm, first, np.array(accuracies))
    return OnImages(learned, settings.epochs)


def _table(result: OnImages) -> Table:
    rows = tuple(
        (
            one.norm.title,
            *one.on,
            *one.far,
            float(one.accuracies.mean()),
            float(one.accuracies.std()),
            len(one.accuracies),
        )
        for one in result.learned.values()
    )
    columns = (
        text("norm"),
        text("on at the border"),
        text("on inside"),
        text("distance at the border"),
        text("distance inside"),
        text("accuracy"),
        text("its deviation"),
        text("seeds"),
    )
    return Table(columns, rows, STUDY.title)


def _cost(settings: Settings) -> Cost:
    norms(settings.groups)
    return BASE + Cost(60 * MEGABYTE, 0.5 + len(norms()) * SEEDS * 0.07 * settings.epochs)


STUDY = Study(
    name="images",
    title=text("A convolution on digits with each norm"),
    alt=text(
        "Above, for each norm a map of the places of an image: how often units are on there; below "
        "the share of held-out digits that a small trained network names right, a point for each "
        "seed and a line at their mean."
    ),
    uses=("seed", "epochs", "groups"),
    compute=compute,
    table=_table,
    cost=_cost,
    observed=lambda result: " ".join(map(str, result.answers)),
    source=text("section 6.7"),
)
