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
from normgeo.networks.image_norm import ImageNorm, norms
from normgeo.networks.images import Images
from normgeo.networks.place_statistics import PlaceStatistics, place_statistics
from normgeo.networks.training import train_convolution
from normgeo.pictures.captions import listed
from normgeo.pictures.picture import Study
from normgeo.pictures.work import BASE
from normgeo.settings import Settings
from normgeo.tables.table import Table

SEEDS = 5
LAYER = "layer"
COMPARED = (LAYER, "batch")


@final
@dataclass(frozen=True, eq=False)
class Learned:
    """What one norm gives.

    Attributes:
        norm: it. places: statistics by place of the training images after training, of each seed.
        accuracies: on held-out digits, of each seed, (S,).

    """

    norm: ImageNorm
    places: tuple[PlaceStatistics, ...]
    accuracies: Array

    @property
    def on(self) -> Array:
        """How often units are on at each place, the mean over the seeds, (side, side)."""
        mean: Array = np.mean([at.on for at in self.places], axis=0)
        return mean

    @property
    def distances(self) -> Array:
        """How far a place's statistics are from the layer's, the mean over the seeds."""
        mean: Array = np.mean([at.distance for at in self.places], axis=0)
        return mean

    @property
    def shares(self) -> Array:
        """The share of units that are on at the border and inside, for each seed, (S, 2)."""
        return np.array([at.at_border(at.on) for at in self.places])

    @property
    def far(self) -> tuple[float, float]:
        """How far the statistics of a place are from the layer's, at the border and inside."""
        return self.places[0].at_border(self.distances)


def _percent(values: Array) -> str:
    """Mean and standard deviation over the seeds."""
    digits = 0 if values.std() > 0.01 else 1
    mean, spread = f"{100 * values.mean():.{digits}f}", f"{100 * values.std():.{digits}f}"
    return text("{mean} ± {spread}%", mean=mean, spread=spread)


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
        border, inside = (_percent(share) for share in layer.shares.T)
        far, near = (number(value, 2) for value in layer.far)
        others = [
            text("{name} {share}", name=one.norm.title, share=_percent(one.accuracies))
            for key, one in self.learned.items()
            if key in COMPARED
        ]
        return (
            text(
                "With layer norm units at the border are on {border} of the time, inside {inside}.",
                border=border,
                inside=inside,
            ),
            text(
                "A place's statistics are {far} σ from the layer's at the border, {near} σ inside.",
                far=far,
                near=near,
            ),
            text("Right on held-out digits: {shares}.", shares=listed(others)),
        )

    @property
    def range(self) -> tuple[float, float]:
        """Between what shares the maps are shaded, in tens of percent that hold all of them."""
        shares = np.concatenate([one.on.ravel() for one in self.learned.values()] or [np.ones(1)])
        low, high = np.floor(10 * shares.min()) / 10, np.ceil(10 * shares.max()) / 10
        return float(low), float(max(high, low + 0.1))

    @property
    def about(self) -> str:
        """In a line."""
        low, high = self.range
        return text(
            "maps: how often units are on, from {low:.0f}% (paper) to {high:.0f}% (ink), at the "
            "border / inside; {seeds} starts, epochs: {epochs}",
            low=100 * low,
            high=100 * high,
            seeds=SEEDS,
            epochs=self.epochs,
        )


def compute(settings: Settings, progress: Progress) -> OnImages:
    """Train with each norm from the same starts; a stop leaves out norms that are not done."""
    images, known = Images.digits(), norms(settings.groups)
    runs = len(known) * SEEDS
    learned: dict[str, Learned] = {}
    for index, (key, norm) in enumerate(known.items()):
        accuracies, found_at = [], []
        for repeat in range(SEEDS):
            found = train_convolution(
                norm,
                images,
                epochs=settings.epochs,
                seed=settings.seed + repeat,
                progress=progress.part(index * SEEDS + repeat, runs),
            )
            if progress.stopped:
                return OnImages(learned, settings.epochs)
            found_at.append(place_statistics(found.network, images.seen_train))
            accuracies.append(found.accuracy)
        learned[key] = Learned(norm, tuple(found_at), np.array(accuracies))
    return OnImages(learned, settings.epochs)


def _table(result: OnImages) -> Table:
    rows = tuple(
        (
            one.norm.title,
            *map(float, one.shares.mean(axis=0)),
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
