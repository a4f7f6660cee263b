"""Which Fisher information: expected, sampled, or at the labels of the data."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from normgeo.base.text import text
from normgeo.fisher.empirical import LabelFisher, label_fisher
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.fisher.empirical_figure import labels_figure
from normgeo.pictures.fisher.pair import USES, pair
from normgeo.pictures.fisher.standing import DIRECTIONS, standing
from normgeo.pictures.style.template import Figure
from normgeo.pictures.view import Progress, View
from normgeo.settings import Settings
from normgeo.tables.table import Table

DRAWS = 100


class LabelsPicture(NamedTuple):
    """Curvatures in three directions by whose labels they are of.

    Attributes:
        methods: normalizers with what is unusual about them. found: theirs.
        name: of the weights. about, which: for the reader.

    """

    methods: tuple[tuple[Normalizer, str], ...]
    found: tuple[LabelFisher, ...]
    name: str
    about: str
    which: str


def _labels(settings: Settings, callback: Progress | None = None) -> LabelsPicture:
    here, both = standing(settings), pair(settings)
    rng = np.random.default_rng((settings.seed, 4))
    found: list[LabelFisher] = []
    for it, stand in zip(both.scenes.values(), here.stands, strict=True):
        steps = stand.norm * stand.directions
        found.append(label_fisher(it.model, it.X, it.y, steps, draws=DRAWS, rng=rng))
        try:
            if callback is not None:
                callback(len(found), len(here.stands))
        except StopIteration:
            break
    methods = tuple((stand.normalizer, stand.unusual) for stand in here.stands[: len(found)])
    return LabelsPicture(methods, tuple(found), here.name, here.about, here.which)


def _figure(picture: LabelsPicture, theme: str) -> Figure:
    return labels_figure(
        picture.methods, picture.found, name=picture.name, about=picture.about, theme=theme
    )


def _table(picture: LabelsPicture) -> Table:
    rows = tuple(
        (
            normalizer.title,
            DIRECTIONS[k],
            *(
                float(values[k])
                for values in (each.expected, each.sampled, each.error, each.observed)
            ),
        )
        for (normalizer, _), each in zip(picture.methods, picture.found, strict=True)
        for k in range(len(each.expected))
    )
    columns = ("method", "direction", "expected", "sampled", "standard_error", "observed")
    title = text("Curvatures vᵀFv, steps in units of ‖w‖; {name}", name=picture.name)
    return Table(columns, rows, title, notes=(picture.which,))


LABELS = View(
    "labels",
    text("The expected Fisher information against outer products at labels"),
    (*USES, "neuron"),
    _labels,
    _figure,
    _table,
    watched=_labels,
)
