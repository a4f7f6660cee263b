"""Which entries of an array share a mean and a variance, in batches of several sizes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.progress import Progress
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.datasets.datasets import DATASETS
from normgeo.normalizers.shared_statistics import (
    SHARINGS,
    Sharing,
    Statistics,
    feature_maps,
    shared_statistics,
)
from normgeo.pictures.picture import Study
from normgeo.settings import Settings
from normgeo.tables.table import Table

# The arrays of the picture: cases, neurons, and the entry whose z is written.
CASES = NEURONS = 8
FLAT_MARK, MAP_MARK = (0, 2), (0, 1, 2, 2)
SIZES = (1, 2, 4, 8)


class Panel(NamedTuple):
    """One method on both arrays, in a batch of one size.

    Attributes:
        sharing: the method. flat, maps: its statistics, or why there are none.
        flat_mark, map_mark: the entry of each array whose z is written.

    """

    sharing: Sharing
    flat: Statistics | str
    maps: Statistics | str
    flat_mark: tuple[int, ...]
    map_mark: tuple[int, ...]


class Axes(NamedTuple):
    """Who shares a statistic, in batches of several sizes.

    Attributes:
        flat: cases × neurons, (8, 8). maps: cases × channels × pixels, (8, 4, 6, 6).
        panels: by the size of the batch, then by method. start: the size at which it opens.
        data: what the flat array is of.

    """

    flat: Array
    maps: Array
    panels: dict[int, dict[str, Panel]]
    start: int
    data: str


def compute(settings: Settings, progress: Progress) -> Axes:
    """All ways to share, on summed inputs of the data and on feature maps of the digits."""
    data = DATASETS[settings.dataset].load(standardize=settings.features != "raw")
    rng = np.random.default_rng(settings.seed)
    W = rng.standard_normal((NEURONS, data.D)) / data.D**0.5
    flat = data.X[:CASES] @ W.T
    digits = DATASETS["digits"].load()
    maps = feature_maps(digits.raw[:CASES].reshape(-1, *(digits.image_shape or ())))
    start = min(settings.batch_size, CASES)
    panels = {
        m: {
            key: Panel(
                sharing,
                _statistics(sharing, flat[:m], settings.groups),
                _statistics(sharing, maps[:m], settings.groups),
                FLAT_MARK,
                MAP_MARK,
            )
            for key, sharing in SHARINGS.items()
        }
        for m in sorted({*SIZES, start})
    }
    return Axes(flat, maps, panels, start, data.title)


def _statistics(sharing: Sharing, values: Array, groups: int) -> Statistics | str:
    """The statistics, or why there are none."""
    try:
        return shared_statistics(sharing.key, values, groups if sharing.takes_groups else 1)
    except Refusal as error:
        return str(error)


def _table(result: Axes) -> Table:
    rows: list[tuple[object, ...]] = []
    for m, panels in result.panels.items():
        for panel in panels.values():
            for name, found, mark in (
                ("cases × neurons", panel.flat, panel.flat_mark),
                ("cases × channels × pixels", panel.maps, panel.map_mark),
            ):
                place = (m, name, panel.sharing.title)
                if isinstance(found, str):
                    rows.append((*place, *(None,) * 7, found))
                    continue
                shared = (" × ".join(found.axes), found.mean.size, found.entries)
                rows.append((*place, *shared, *found.at(mark), found.problem))
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
    )
    return Table(columns, tuple(rows), STUDY.title)


STUDY = Study(
    name="axes",
    title=text("Which entries share a mean and a variance"),
    alt=text(
        "Arrays of cases and neurons, and of cases, channels and pixels, with the entries lit that "
        "share one mean and variance: a column of all cases in batch norm, a row in layer norm, "
        "one cell in instance norm, part of a row in group norm. Below each the shape of its "
        "statistics."
    ),
    uses=("dataset", "features", "seed", "groups", "batch_size"),
    compute=compute,
    table=_table,
)
