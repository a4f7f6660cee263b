"""The true KL around the weights, against the quadratic form of the Fisher information."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.budget import Cost
from normgeo.base.progress import Progress
from normgeo.base.text import text
from normgeo.fisher.contours import CURVED, RAYS, Contours, kl_contours
from normgeo.fisher.ellipse import round_number
from normgeo.pictures.captions import USES
from normgeo.pictures.fisher.base_point import BasePoint, BasePoints
from normgeo.pictures.fisher.beside_standard import cost_beside_standard
from normgeo.pictures.picture import Study
from normgeo.settings import Settings
from normgeo.tables.table import Table

SIZES = np.array([1.0, 2.0, 3.0])  # of the ellipses, over that of the first
WITHIN = 0.95  # of ‖w‖ along it: short of w = 0
REACH = 0.3  # of ‖w‖: how far the first ellipse reaches in the direction at random


@final
@dataclass(frozen=True, eq=False)
class Plane:
    """Contours in one plane of one model.

    Attributes:
        contours: in units of ‖w‖; None where there is no such plane, or the search was stopped.

    """

    contours: Contours | None

    @property
    def curvatures(self) -> tuple[float, float]:
        """The curvatures in both directions; NaN without contours."""
        if self.contours is None:
            return float("nan"), float("nan")
        first, second = self.contours.metric.diagonal().tolist()
        return first, second

    @property
    def share(self) -> float:
        """The first curvature over the second; 0 where it is rounding."""
        first, second = self.curvatures
        return 0.0 if abs(first) < CURVED * second else first / second


@final
@dataclass(frozen=True, eq=False)
class EqualKL:
    """Contours of the KL in two planes for each model.

    Attributes:
        base: the models. levels: c, nats per case.
        across, along: the plane across the weights and the one that contains them, a model each.

    """

    base: BasePoints
    levels: Array
    across: tuple[Plane, ...]
    along: tuple[Plane, ...]


def compute(settings: Settings, progress: Progress) -> EqualKL:
    """The contours of both models in both planes."""
    base = BasePoints.of(settings)
    last = base.points[-1]
    # In units of ‖w‖, by which the norms of the two models need not agree.
    curvature = last.around.F.quad(last.steps[-1])
    levels = round_number(curvature * REACH**2 / 2) * SIZES**2
    models = len(base.points)
    planes = [_planes(each, levels, progress.part(m, models)) for m, each in enumerate(base.points)]
    across, along = zip(*planes, strict=True)
    return EqualKL(base, levels, across, along)


def _planes(point: BasePoint, levels: Array, progress: Progress) -> tuple[Plane, Plane]:
    """The plane across the weights, and the one that contains them."""
    along, *across = point.steps
    found = []
    for part, (plane, within) in enumerate(((across[::-1], None), ((along, across[0]), WITHIN))):
        contours, here = None, progress.part(part, 2)
        if len(plane) == 2:
            contours = kl_contours(
                point.around, np.stack(plane), levels, within=within, progress=here
            )
        found.append(Plane(None if here.stopped else contours))
    return found[0], found[1]


def table(result: EqualKL) -> Table:
    """The points of all contours."""
    rows = [
        (point.normalizer.title, name, level, *(None if np.isnan(v) else v for v in (*q, *t)))
        for name, planes in (("across", result.across), ("along", result.along))
        for point, plane in zip(result.base.points, planes, strict=True)
        for level, q, t in _points(plane.contours)
        if np.isfinite(q).all()
    ]
    columns = ("method", "plane", "level", "quadratic_x", "quadratic_y", "kl_x", "kl_y")
    title = text(
        "Steps in units of ‖w‖ with ½ δᵀFδ = c, and with KL = c nats; {name}",
        name=result.base.name,
    )
    return Table(columns, tuple(rows), title, notes=(str(result.base.which),))


def _points(contours: Contours | None) -> Iterable[tuple[float, list[float], list[float]]]:
    """The level, the point of the quadratic form and that of the KL, along all contours."""
    if contours is None:
        return
    for i, level in enumerate(contours.levels.tolist()):
        for q, t in zip(contours.quadratic[i].tolist(), contours.true[i].tolist(), strict=True):
            yield level, q, t


def _cost(settings: Settings) -> Cost:
    """Some four values of the KL for each ray and level, each half of an evaluation."""
    return cost_beside_standard(settings, matrices=1, evaluations=2 * RAYS * len(SIZES) * 2)


STUDY = Study(
    "equal_kl",
    title=text("Contours of the KL and ellipses of its quadratic form"),
    alt=text(
        "Contours of equal KL, solid, and of its quadratic form, dashed. Left, in a plane across "
        "the weights; right, in a plane with the weights in it, where a model that does not see "
        "their length has rays from the origin, and strips for the quadratic form."
    ),
    uses=(*USES, "neuron"),
    compute=compute,
    table=table,
    cost=_cost,
)
