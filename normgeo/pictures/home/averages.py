"""What each scale averages, on real data and worked by hand: the first picture of all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from normgeo.base.budget import Cost
from normgeo.base.progress import Progress
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.normalizers.averages import SHOWN_CASES, Average, Worked, averages, worked
from normgeo.normalizers.example import read
from normgeo.normalizers.named import NORMALIZERS
from normgeo.normalizers.normalizer import Normalizer
from normgeo.normalizers.scales import SCALES
from normgeo.pictures.home.arithmetic import arithmetic
from normgeo.pictures.model_on_data import model_on_data
from normgeo.pictures.picture import DATA, Study
from normgeo.pictures.work import Sizes, weights
from normgeo.settings import Settings
from normgeo.tables.table import Table


class Averages(NamedTuple):
    """What a method of each scale averages on real data, and the same by hand.

    Attributes:
        real, example: by the key or the words of the method. numbers: of the example.
        notes: sentences for the reader.

    """

    real: dict[str, Average]
    example: dict[str, Average]
    numbers: dict[str, Worked]
    notes: tuple[str, ...]


def compute(settings: Settings, progress: Progress) -> Averages:
    """A method of each scale: the chosen one for its own scale, elsewhere the first by name."""
    example_X, example_W = read(settings.example)
    n, h = map(int, settings.place.split("."))
    here = model_on_data(settings, "standardized", NORMALIZERS["standard"])
    W, X = here.model.W, here.X[:SHOWN_CASES]
    middle = (min(len(X), SHOWN_CASES) // 2 - 1, len(W) // 2 - 1 if len(W) > 1 else 0)
    real, example, numbers = {}, {}, {}
    notes = list(here.notes)
    for scale in SCALES.values():
        for name, method in _methods(scale.key, settings.method) if scale.divides else ():
            one = {name: method}
            try:
                found = averages(one, example_W, example_X, (n, h))
                numbers[name] = worked(found[name], example_W, example_X, (n, h))
                real.update(averages(one, W, X, middle))
            except Refusal as error:
                notes.append(text("No {name} here: {why}", name=method.title, why=error))
                continue
            example.update(found)
            break
    return Averages(real, example, numbers, tuple(notes))


def _methods(scale: str, chosen: str) -> Iterator[tuple[str, Normalizer]]:
    """The methods with a scale, the first to be tried first."""
    if NORMALIZERS[chosen].scale == scale:
        yield chosen, NORMALIZERS[chosen]
    yield from ((key, method) for key, method in NORMALIZERS.items() if method.scale == scale)
    plain = Normalizer("none", scale)
    yield plain.title, plain


def _table(result: Averages) -> Table:
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
        for name, grids in (("real", result.real), ("example", result.example))
        for key, each in grids.items()
        for row, column in np.ndindex(each.values.shape)
    ]
    columns = ("grid", "method", "matrix", "row", "column", "value", "averaged")
    return Table(columns, tuple(rows), title=STUDY.title)


def _cost(settings: Settings) -> Cost:
    """Twelve cases, one row of a matrix at a time."""
    return weights(settings, Sizes.of(settings, "standardized"))


def _observed(result: Averages) -> str:
    """The arithmetic of the example, method by method."""
    return " ".join(
        f"{text(result.example[key].normalizer.title)}: {'; '.join(arithmetic(numbers))}."
        for key, numbers in result.numbers.items()
    ).replace("..", ".")


STUDY = Study(
    name="averages",
    title=text("What each method averages"),
    source=text("sections 2 and 3, Eq. 2 and 3; section 5.1, Eq. 5"),
    alt=text(
        "Three grids where the entries that are averaged are lit: one neuron over the cases in "
        "batch norm, one case over the neurons in layer norm, one weight vector over its "
        "features in weight norm. Below each the same in integers, with the arithmetic."
    ),
    uses=(*DATA, "method", "example", "place"),
    compute=compute,
    table=_table,
    cost=_cost,
    observed=_observed,
)
