"""Which entries of an array share a mean and a variance, and how accurate that leaves a network.

Both for batches of several sizes.
"""

from __future__ import annotations

from math import log2
from typing import NamedTuple, Self

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.progress import Progress
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.datasets.dataset import Dataset
from normgeo.datasets.datasets import DATASETS
from normgeo.normalizers.named import NORMALIZERS
from normgeo.normalizers.shared_statistics import (
    SHARINGS,
    Entry,
    Sharing,
    feature_maps,
    shared_statistics,
)
from normgeo.pictures.batch import accuracy
from normgeo.pictures.batch.accuracy import Accuracy
from normgeo.pictures.captions import listed
from normgeo.pictures.picture import Study
from normgeo.settings import Settings
from normgeo.tables.table import Table

NEURONS = 8
DRAWN = 8  # cases, of the batch's first
FLAT_MARK, MAP_MARK = (0, 2), (0, 1, 2, 2)


class Shared(NamedTuple):
    """Which entries of an array have the same statistic as the marked one.

    Attributes:
        per: what a statistic has a value for, of "cases", "channels" and "groups".
        shape: how many values along each. entries: that share one.
        cases, channels: first and last of those that share it with the marked entry.
        entry: a, μ, σ and z of the marked entry. problem: why z says nothing, or "".

    """

    per: tuple[str, ...]
    shape: tuple[int, ...]
    entries: int
    cases: tuple[int, int]
    channels: tuple[int, int]
    entry: Entry
    problem: str

    @classmethod
    def of(cls, sharing: Sharing, values: Array, groups: int, mark: tuple[int, ...]) -> Self | str:
        """The entries that share a statistic with the marked one, or why there is none."""
        try:
            found = shared_statistics(sharing.key, values, groups if sharing.takes_groups else 1)
        except Refusal as error:
            return str(error)
        same = found.labels == found.labels[mark]
        cases, channels = np.nonzero(same.reshape(*same.shape[:2], -1).any(axis=2))
        return cls(
            found.axes,
            found.shape,
            found.entries,
            (int(cases.min()), int(cases.max())),
            (int(channels.min()), int(channels.max())),
            found.at(mark),
            found.problem,
        )


class Axes(NamedTuple):
    """Who shares a statistic, and what that costs, in batches of several sizes.

    Attributes:
        values: cases × neurons, (8, 8), or cases × channels × height × width, of images.
        panels: by the size of the batch, then by method; a sentence where there is no statistic.
        start: the size that is asked for.
        accuracy: of a network trained in such batches; None where nothing was measured.
        data: what the array is of. classes: whether it has any to tell apart.

    """

    values: Array
    panels: dict[int, dict[str, Shared | str]]
    start: int
    accuracy: Accuracy | None
    data: str
    classes: bool

    @property
    def images(self) -> bool:
        """Whether a case has images, a channel each, and not numbers, a neuron each."""
        return self.values.ndim > 2

    @property
    def mark(self) -> tuple[int, ...]:
        """The place of the marked entry."""
        return MAP_MARK if self.images else FLAT_MARK

    @property
    def opens_at(self) -> int:
        """The size at which it opens: the nearest one, as a factor."""
        return min(self.panels, key=lambda m: abs(log2(m / self.start)))

    @property
    def opening(self) -> int:
        """The place of that size."""
        return [*self.panels].index(self.opens_at)

    def told(self, method: str, m: int) -> tuple[float, float, float] | None:
        """Mean, least and largest accuracy of a method in batches of m; None without any."""
        return None if self.accuracy is None else self.accuracy.at(method, m)


def compute(settings: Settings, progress: Progress) -> Axes:
    """All ways to share, on summed inputs; accuracies as kept."""
    data, W, chosen = _drawn(settings)
    return _axes(settings, data, data.X[chosen] @ W.T, accuracy.kept(settings.dataset))


def compute_images(settings: Settings, progress: Progress) -> Axes:
    """All ways to share, on feature maps of the same cases.

    Raises:
        Refusal: data that are no images.

    """
    data, _, chosen = _drawn(settings)
    if data.image_shape is None:
        raise Refusal(
            "Channels are those of images, and {data!s} has none: choose the digits.",
            data=data.title,
        )
    images = data.raw[chosen].reshape(-1, *data.image_shape)
    return _axes(settings, data, feature_maps(images), None)


def _drawn(settings: Settings) -> tuple[Dataset, Array, Array]:
    """The data, weights of the neurons, and the cases of the largest batch."""
    data = DATASETS[settings.dataset].load(standardize=settings.features != "raw")
    rng = np.random.default_rng(settings.seed)
    W = rng.standard_normal((NEURONS, data.D)) / data.D**0.5
    return data, W, rng.permutation(data.N)[: max(accuracy.sizes_of(data))]


def _axes(settings: Settings, data: Dataset, values: Array, accuracies: Accuracy | None) -> Axes:
    mark = MAP_MARK if values.ndim > 2 else FLAT_MARK
    panels = {
        m: {
            key: Shared.of(sharing, values[:m], settings.groups, mark)
            for key, sharing in SHARINGS.items()
        }
        for m in accuracy.sizes_of(data)
    }
    classes = accuracy.has_classes(data)
    return Axes(values[:DRAWN], panels, settings.batch_size, accuracies, data.title, classes)


def _table(result: Axes) -> Table:
    """A row for each size and method, with the accuracy where one was measured."""
    rows: list[tuple[object, ...]] = []
    for m, panels in result.panels.items():
        for key, found in panels.items():
            told = result.told(key, m) or (None, None, None)
            first = (m, SHARINGS[key].title)
            if isinstance(found, str):
                rows.append((*first, *(None,) * 7, found, *told))
            else:
                count = int(np.prod(found.shape))
                shared = (" × ".join(found.per), count, found.entries)
                rows.append((*first, *shared, *found.entry, found.problem, *told))
    columns = (
        "batch",
        "method",
        "one statistic for each",
        "statistics",
        "entries each",
        "marked entry",
        "mu",
        "sigma",
        "z",
        "problem",
        "test accuracy",
        "lowest",
        "highest",
    )
    return Table(columns, tuple(rows), (IMAGES if result.images else STUDY).title)


def _observed(result: Axes) -> str:
    """Say how accurate the network is at each size, or why nothing was measured."""
    if result.accuracy is None:
        return nothing_measured(result)
    lines = []
    for method in result.accuracy.shares:
        shares = listed(
            text("none at m = {m}", m=m)
            if (told := result.told(method, m)) is None
            else text("{share:.0%} at m = {m}", share=told[0], m=m)
            for m in result.accuracy.sizes
        )
        lines.append(f"{NORMALIZERS[method].title}: {shares}.")
    return text(
        "Accuracy on the test cases. {lines} It opens at m = {m}.",
        lines=" ".join(lines),
        m=result.opens_at,
    )


def nothing_measured(result: Axes) -> str:
    """Why there is no accuracy of the network on these data."""
    if not result.classes:
        return text(
            "{data!s} has no classes to tell apart, so there is no accuracy. The tab Small "
            "batches below shows what a small batch costs.",
            data=result.data,
        )
    return text("The accuracy on {data!s} has not been measured yet.", data=result.data)


STUDY = Study(
    name="axes",
    title=text("Which entries share a mean and a variance, and what a small batch costs"),
    source=text("sections 2 and 3, Eq. 2 and 3; Wu and He 2018"),
    alt=text(
        "On the left, grids of cases × neurons. The entries that share one mean and variance are "
        "lit: a column over all cases in the batch in batch norm, a row in layer norm, one cell "
        "in instance norm, a part of a row in group norm. On the right, where the data have "
        "classes, the accuracy of a small network against the size m of the batches that it was "
        "trained in, for batch norm and for layer norm."
    ),
    uses=("dataset", "features", "seed", "groups", "batch_size"),
    compute=compute,
    table=_table,
    observed=_observed,
    slider="batch_size",
)
IMAGES = Study(
    name="channels",
    title=text("Which pixels of images share a mean and a variance"),
    source=text("Wu and He 2018, Fig. 2"),
    alt=text(
        "Grids of cases × channels, each an image. The images whose pixels share one mean and "
        "variance are lit: a column over all cases in the batch in batch norm, a row in layer "
        "norm, one image in instance norm, a part of a row in group norm."
    ),
    uses=STUDY.uses,
    compute=compute_images,
    table=_table,
    slider="batch_size",
)
