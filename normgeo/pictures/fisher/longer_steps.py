"""The KL of ever longer steps, against the quadratic form that it begins with."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.fisher.neighborhood import Neighborhood
from normgeo.pictures.fisher.longer_steps_figure import growth_figure
from normgeo.pictures.fisher.pair import USES
from normgeo.pictures.fisher.standing import DIRECTIONS, Standing, standing
from normgeo.pictures.style.template import Figure
from normgeo.pictures.view import Progress, View
from normgeo.settings import Settings
from normgeo.tables.table import Table


class GrowthPicture(NamedTuple):
    """The KL of ever longer steps.

    Attributes:
        standing: the models. lengths: of the steps over ‖w‖, (n,).
        kl, quadratic: for each model and direction, (M, k, n); NaN where there are no
            outputs, or the computation was stopped.

    """

    standing: Standing
    lengths: Array
    kl: Array
    quadratic: Array


LONGEST = np.logspace(-3, 1, 25)


def _growth(settings: Settings, callback: Progress | None = None) -> GrowthPicture:
    here = standing(settings)
    models, k = len(here.stands), len(here.stands[0].directions)
    kl, quadratic = np.full((2, models, k, len(LONGEST)), np.nan)
    for done, (m, d) in enumerate(np.ndindex(models, k), start=1):
        stand = here.stands[m]
        direction = stand.norm * stand.directions[d]
        kl[m, d] = [_kl(stand.around, length * direction) for length in LONGEST]
        quadratic[m, d] = stand.around.quadratic(direction) * LONGEST**2
        try:
            if callback is not None:
                callback(done, models * k)
        except StopIteration:
            break
    return GrowthPicture(here, LONGEST, kl, quadratic)


def _kl(around: Neighborhood, step: Array) -> float:
    try:
        return around.kl(step)
    except ValueError:
        return float("nan")


def _growth_figure(picture: GrowthPicture, theme: str) -> Figure:
    it = picture.standing
    return growth_figure(
        [(s.normalizer, s.unusual) for s in it.stands],
        picture.lengths,
        picture.kl,
        picture.quadratic,
        name=it.name,
        about=it.about,
        which=it.which,
        theme=theme,
    )


def _growth_table(picture: GrowthPicture) -> Table:
    rows = tuple(
        (
            stand.normalizer.title,
            DIRECTIONS[k],
            float(length),
            None if np.isnan(kl) else float(kl),
            float(quadratic),
        )
        for m, stand in enumerate(picture.standing.stands)
        for k in range(picture.kl.shape[1])
        for length, kl, quadratic in zip(
            picture.lengths, picture.kl[m, k], picture.quadratic[m, k], strict=True
        )
        if not np.isnan(quadratic)
    )
    title = text(
        "KL of a step over ‖w‖, and ½ δᵀFδ, nats per case; {name}", name=picture.standing.name
    )
    columns = ("method", "direction", "length", "kl", "half_quadratic_form")
    return Table(columns, rows, title, notes=(picture.standing.which,))


GROWTH = View(
    "growth",
    text("KL against its quadratic form as the step grows"),
    (*USES, "neuron"),
    _growth,
    _growth_figure,
    _growth_table,
    watched=_growth,
)
