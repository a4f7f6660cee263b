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


class Panel(NamedTuple):
    """One method in a batch of one size: on cases × neurons, and on feature maps if there are any.

    A sentence says why there is no statistic.
    """

    sharing: Sharing
    flat: Shared | str
    maps: Shared | str | None


class Axes(NamedTuple):
    """Who shares a statistic, and what that costs, in batches of several sizes.

    Attributes:
        flat: cases × neurons, (8, 8). maps: cases × channels × height × width, of images.
        panels: by the size of the batch, then by method. start: the size that is asked for.
        accuracy: of a network trained in such batches; None where nothing was measured.
        data: what the arrays are of. classes: whether it has any to tell apart.

    """

    flat: Array
    maps: Array | None
    panels: dict[int, dict[str, Panel]]
    start: int
    accuracy: Accuracy | None
    data: str
    classes: bool

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
    """All ways to share, on summed inputs and, of images, feature maps; accuracies as kept."""
    data = DATASETS[settings.dataset].load(standardize=settings.features != "raw")
    sizes = accuracy.sizes_of(data)
    rng = np.random.default_rng(settings.seed)
    W = rng.standard_normal((NEURONS, data.D)) / data.D**0.5
    chosen = rng.permutation(data.N)[: max(sizes)]
    flat, maps = data.X[chosen] @ W.T, _maps(data, chosen)
    panels = {
        m: {
            key: Panel(
                sharing,
                Shared.of(sharing, flat[:m], settings.groups, FLAT_MARK),
                None if maps is None else Shared.of(sharing, maps[:m], settings.groups, MAP_MARK),
            )
            for key, sharing in SHARINGS.items()
        }
        for m in sizes
    }
    return Axes(
        flat[:DRAWN],
        None if maps is None else maps[:DRAWN],
        panels,
        settings.batch_size,
        accuracy.kept(settings.dataset),
        data.title,
        accuracy.has_classes(data),
    )


def _maps(data: Dataset, chosen: Array) -> Array | None:
    if data.image_shape is None:
        return None
    return feature_maps(data.raw[chosen].reshape(-1, *data.image_shape))


def _table(result: Axes) -> Table:
    """A row for each size, array and method, with the accuracy where one was measured."""
    rows: list[tuple[object, ...]] = []
    for m, panels in result.panels.items():
        for key, panel in panels.items():
            told = result.told(key, m) or (None, None, None)
            for name, found in (
                ("cases × neurons", panel.flat),
                ("cases × channels × height × width", panel.maps),
            ):
                place = (m, name, panel.sharing.title)
                if isinstance(found, str):
                    rows.append((*place, *(None,) * 7, found, *told))
                elif found is not None:
                    count = int(np.prod(found.shape))
                    shared = (" × ".join(found.per), count, found.entries)
                    rows.append((*place, *shared, *found.entry, found.problem, *told))
    columns = (
        "batch",
        "array",
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
    return Table(columns, tuple(rows), STUDY.title)


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
        "On the left, grids of cases × neurons and, for images, cases × channels. The entries "
        "that share one mean and variance are lit: a column over all cases in the batch in "
        "batch norm, a row in layer norm, one cell in instance norm, a part of a row in group "
        "norm. On the right, where the data have classes, the accuracy of a small network "
        "against the size m of the batches that it was trained in, for batch norm and for "
        "layer norm."
    ),
    uses=("dataset", "features", "seed", "groups", "batch_size"),
    compute=compute,
    table=_table,
    observed=_observed,
    slider="batch_size",
)
