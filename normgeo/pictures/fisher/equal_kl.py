"""The true KL around the weights, against the quadratic form of the Fisher information."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.fisher.contours import Contours, kl_contours
from normgeo.fisher.ellipse import round_number
from normgeo.pictures.fisher.equal_kl_figure import contours_figure
from normgeo.pictures.fisher.pair import USES
from normgeo.pictures.fisher.standing import Standing, standing
from normgeo.pictures.style.template import Figure
from normgeo.pictures.view import Progress, View, progress_of
from normgeo.settings import Settings
from normgeo.tables.table import Table

SIZES = np.array([1.0, 2.0, 3.0])  # of the ellipses, over that of the first
WITHIN = {"across": None, "along": 0.95}  # of ‖w‖: short of w = 0
REACH = 0.3  # of ‖w‖: how far the first ellipse reaches in the direction at random


class EqualKLPicture(NamedTuple):
    """Contours of the KL in two planes for each model.

    Attributes:
        standing: the models. levels: c, nats per case.
        across, along: in the plane across the weights, and in the one that contains them, a model
            each, in units of ‖w‖; None where there is no such plane, or the search was stopped.

    """

    standing: Standing
    levels: Array
    across: tuple[Contours | None, ...]
    along: tuple[Contours | None, ...]


def _equal_kl(settings: Settings, callback: Progress | None = None) -> EqualKLPicture:
    here = standing(settings)
    last = here.stands[-1]
    # In units of ‖w‖, by which the norms of the two models need not agree.
    curvature = last.around.F.quad(last.norm * last.directions[-1])
    levels = round_number(curvature * REACH**2 / 2) * SIZES**2
    progress = progress_of(callback)
    found: dict[str, list[Contours | None]] = {"across": [], "along": []}
    for place, stand in enumerate(here.stands):
        along, *others = stand.norm * stand.directions
        planes = {"across": others[::-1], "along": [along, others[0]]}
        for number, (part, plane) in enumerate(planes.items(), start=2 * place):
            contours = None
            if len(plane) == 2 and not progress.stopped:
                contours = kl_contours(
                    stand.around,
                    np.stack(plane),
                    levels,
                    within=WITHIN[part],
                    progress=progress.part(number, 2 * len(here.stands)),
                )
            found[part].append(None if progress.stopped else contours)
    return EqualKLPicture(here, levels, tuple(found["across"]), tuple(found["along"]))


def _equal_kl_figure(picture: EqualKLPicture, theme: str) -> Figure:
    it = picture.standing
    return contours_figure(
        [(s.normalizer, s.unusual) for s in it.stands],
        picture.across,
        picture.along,
        name=it.name,
        about=it.about,
        which=it.which,
        theme=theme,
    )


def _equal_kl_table(picture: EqualKLPicture) -> Table:
    rows: list[tuple[object, ...]] = []
    for plane, sides in (("across", picture.across), ("along", picture.along)):
        for stand, contours in zip(picture.standing.stands, sides, strict=True):
            if contours is None:
                continue
            for level, quadratic, true in zip(
                contours.levels.tolist(), contours.quadratic, contours.true, strict=True
            ):
                rows += [
                    (
                        stand.normalizer.title,
                        plane,
                        level,
                        *(None if np.isnan(v) else float(v) for v in (*q, *t)),
                    )
                    for q, t in zip(quadratic, true, strict=True)
                    if np.isfinite(q).all()
                ]
    columns = ("method", "plane", "level", "quadratic_x", "quadratic_y", "kl_x", "kl_y")
    title = text(
        "Steps in units of ‖w‖ with ½ δᵀFδ = c, and with KL = c nats; {name}",
        name=picture.standing.name,
    )
    return Table(columns, tuple(rows), title, notes=(picture.standing.which,))


EQUAL_KL = View(
    "equal_kl",
    text("Contours of the KL and ellipses of its quadratic form"),
    (*USES, "neuron"),
    _equal_kl,
    _equal_kl_figure,
    _equal_kl_table,
    watched=_equal_kl,
)
