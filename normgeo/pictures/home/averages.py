"""The picture of the Home page: what each method averages."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from normgeo.base.text import text
from normgeo.normalizers.averages import (
    EXAMPLE_PLACE,
    EXAMPLE_W,
    EXAMPLE_X,
    SHOWN_CASES,
    Average,
    Worked,
    averages,
    worked,
)
from normgeo.normalizers.normalizer import NORMALIZERS
from normgeo.pictures.home.averages_figure import averages_figure
from normgeo.pictures.model_on_data import model_on_data
from normgeo.pictures.view import DATA, View
from normgeo.settings import Settings
from normgeo.tables.table import Table

METHODS = ("batch", "layer", "weight")


class AveragesPicture(NamedTuple):
    """What each method averages on real data, and the same by hand."""

    real: dict[str, Average]
    example: dict[str, Average]
    numbers: dict[str, Worked]
    notes: tuple[str, ...]


def _averages(settings: Settings) -> AveragesPicture:
    methods = {key: NORMALIZERS[key] for key in METHODS}
    here = model_on_data(settings, "standardized", NORMALIZERS["standard"])
    W, X = here.model.W, here.X[:SHOWN_CASES]
    middle = (min(len(X), SHOWN_CASES) // 2 - 1, len(W) // 2 - 1 if len(W) > 1 else 0)
    example = averages(methods, EXAMPLE_W, EXAMPLE_X, EXAMPLE_PLACE)
    return AveragesPicture(
        averages(methods, W, X, middle),
        example,
        {key: worked(each, EXAMPLE_W, EXAMPLE_X, EXAMPLE_PLACE) for key, each in example.items()},
        here.notes,
    )


def _table(picture: AveragesPicture) -> Table:
    rows = [
        (
            name,
            key,
            each.matrix,
            row,
            column,
            float(each.values[row, column]),
            bool(each.lit[row, column]),
        )
        for name, grids in (("real", picture.real), ("example", picture.example))
        for key, each in grids.items()
        for row, column in np.ndindex(each.values.shape)
    ]
    columns = ("grid", "method", "matrix", "row", "column", "value", "averaged")
    return Table(columns, tuple(rows), title=text("What each method averages"))


AVERAGES = View(
    "averages",
    text("What each method averages"),
    DATA,
    _averages,
    lambda picture, theme: averages_figure(picture.real, picture.example, picture.numbers, theme),
    _table,
)
