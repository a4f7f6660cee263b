"""Where the KL is equal around the weights: an ellipse, or, in a plane with ŵ in it, a wedge.

Both pictures are of this kind: a plane that contains the weights, and one across them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self, final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.budget import Cost
from normgeo.base.numbers import number, round_number
from normgeo.base.progress import Progress
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.fisher.contours import CURVED, RAYS, Contours, kl_contours
from normgeo.fisher.neighborhood import Neighborhood
from normgeo.pictures.captions import USES, method_name
from normgeo.pictures.fisher.base_point import BasePoint, BasePoints, cost_of_base_points
from normgeo.pictures.picture import Study
from normgeo.settings import Settings
from normgeo.tables.table import Table

LEVELS = np.array([1.0, 2.0, 4.0, 6.0, 9.0])  # over the first; ellipses grow like their roots
WITHIN, BEYOND = 0.99, 1.995  # of ‖w‖ along it: short of w = 0, and beyond 2w, which has a point
DOUBLE = 1.01  # of ‖w‖: up to 2w, and rounding
REACH = 0.3  # of ‖w‖: how far the first ellipse reaches in the direction at random
OPEN = 1.0  # of ‖w‖: the height up to which a wedge is followed
FARTHEST = 1.6  # times as far as the ellipses: no contours are followed beyond
SMALL = 0.25  # of ‖w‖: ellipses that reach less far are small beside the others
SAME = 1e-9  # of the first level: a smaller KL is rounding
HARDLY = 0.05  # of the first level, and of the curvature across: too little to see


@final
@dataclass(frozen=True)
class Doubled:
    """What the step from w to 2w costs: the KL and ½ δᵀFδ, nats per case.

    The KL is NaN where 2w has no outputs; what is up to rounding is 0.
    """

    kl: float
    quadratic: float

    @classmethod
    def of(cls, around: Neighborhood, w: Array, least: float) -> Self:
        """The step w from a model; what is below `least` is rounding."""
        try:
            kl = around.kl(w)
        except Refusal:
            kl = float("nan")
        return cls(*(0.0 if abs(value) < least else value for value in (kl, around.quadratic(w))))


@final
@dataclass(frozen=True, eq=False)
class Plane:
    """Contours in one plane of one model.

    Attributes:
        contours: in units of ‖w‖; None where there is no such plane, or the search was stopped.
        doubled: the step from w to 2w, in a plane with the weights in it; None in another.
        added_eps: whether ε > 0: the length of w then changes something, be it less than rounding.

    """

    contours: Contours | None
    doubled: Doubled | None
    added_eps: bool = False

    @property
    def far(self) -> Array:
        """How far the contours reach in both directions, a wedge up to 2w, (2,); 0 without any."""
        if self.contours is None:
            return np.zeros(2)
        quadratic, true = self.contours.quadratic, self.contours.true
        if self.contours.strip:
            quadratic, true = (np.where(c[..., :1] < DOUBLE, c, np.nan) for c in (quadratic, true))
        ellipse = np.nanmax(np.abs(quadratic), axis=(0, 1), initial=0.0)
        true = np.nanmax(np.abs(true), axis=(0, 1), initial=0.0)
        far = np.minimum(true, FARTHEST * ellipse)
        if self.contours.strip:
            far[1] = min(true[1], OPEN)
        found: Array = np.maximum(far, ellipse)
        return found

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

    @property
    def flat(self) -> bool:
        """Whether F is singular along ŵ: nothing changes on the way to 2w."""
        if self.doubled is None or self.added_eps:
            return False
        return not self.share and not self.doubled.kl

    @property
    def small(self) -> bool:
        """Whether it has ellipses that are small beside those of the other model."""
        if self.contours is None or (self.doubled is not None and self.contours.strip):
            return False
        return float(np.nanmax(np.abs(self.contours.quadratic))) <= SMALL

    @property
    def shape(self) -> str:
        """What the contours are, in a few words."""
        if self.contours is None:
            if self.doubled is None:
                return text(
                    "not drawn, as there is no second direction across ŵ, or it was stopped"
                )
            return text("stopped")
        if self.doubled is None or not self.contours.strip:
            return text("a small ellipse") if self.small else text("an ellipse")
        if self.flat:
            return text("a wedge: F is singular")
        if self.share < HARDLY and abs(self.doubled.kl) < HARDLY * self.contours.levels[0]:
            return text("nearly a wedge: along ŵ little changes")
        return text("a long ellipse")


@final
@dataclass(frozen=True, eq=False)
class EqualKL:
    """Contours of the KL in a plane of each model.

    Attributes:
        base: the models. levels: c, nats per case. with_weights: whether ŵ is in the planes.
        planes: one for each model.

    """

    base: BasePoints
    levels: Array
    with_weights: bool
    planes: tuple[Plane, ...]


def compute(settings: Settings, progress: Progress) -> EqualKL:
    """The contours of both models in a plane that contains the weights."""
    return _contours(settings, progress, with_weights=True)


def compute_across(settings: Settings, progress: Progress) -> EqualKL:
    """The contours of both models in a plane across the weights."""
    return _contours(settings, progress, with_weights=False)


def _contours(settings: Settings, progress: Progress, *, with_weights: bool) -> EqualKL:
    base = BasePoints.of(settings)
    last = base.points[-1]
    # In units of ‖w‖, by which the norms of the two models need not agree.
    curvature = last.around.F.quad(last.steps[-1])
    levels = round_number(curvature * REACH**2 / 2) * LEVELS
    find = _plane_with_weights if with_weights else _plane_across
    models = len(base.points)
    planes = (find(it, levels, progress.part(m, models)) for m, it in enumerate(base.points))
    return EqualKL(base, levels, with_weights, tuple(planes))


def _plane_with_weights(point: BasePoint, levels: Array, progress: Progress) -> Plane:
    along, across, *_ = point.steps
    plane = np.stack([along, across])
    contours = kl_contours(
        point.around, plane, levels, within=WITHIN, beyond=BEYOND, progress=progress
    )
    least = SAME * float(levels[0])
    doubled = Doubled.of(point.around, along, least)
    return Plane(None if progress.stopped else contours, doubled, point.normalizer.added_eps > 0)


def _plane_across(point: BasePoint, levels: Array, progress: Progress) -> Plane:
    _, *across = point.steps
    if len(across) < 2:
        return Plane(None, None)
    plane = np.stack(across[::-1])
    contours = kl_contours(point.around, plane, levels, within=None, progress=progress)
    return Plane(None if progress.stopped else contours, None)


def table(result: EqualKL) -> Table:
    """The points of all contours."""
    name = "along" if result.with_weights else "across"
    rows = [
        (point.normalizer.title, name, level, *(None if np.isnan(v) else v for v in (*q, *t)))
        for point, plane in zip(result.base.points, result.planes, strict=True)
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


def _observed(result: EqualKL) -> str:
    """Say of each model what its contours are, and what doubling its weights costs."""
    sentences = []
    for point, plane in zip(result.base.points, result.planes, strict=True):
        words = {"method": method_name(point.normalizer), "shape": plane.shape}
        if plane.doubled is None or plane.contours is None:
            sentences.append(text("{method}: {shape}.", **words))
        else:
            kl = number(plane.doubled.kl, 2)
            sentences.append(
                text(
                    "{method}: {shape}; from {w} to 2{w} the KL is {kl} nats.",
                    **words,
                    w=result.base.letter,
                    kl=kl,
                )
            )
    return " ".join(map(str, sentences))


def _cost(settings: Settings) -> Cost:
    """Some four values of the KL for each ray and level, each half of an evaluation."""
    return cost_of_base_points(settings, evaluations=2 * RAYS * len(LEVELS))


STUDY = Study(
    "equal_kl",
    title=text("Equal KL in a plane that contains the weights"),
    source=text("section 5.2.1, Eq. 8 and 9"),
    alt=text(
        "Steps from w in the plane of w and the steepest direction across it: the contour of "
        "equal KL, solid and filled, over that of its quadratic form ½ δᵀFδ, dashed. A slider "
        "moves the KL. The standard model is beside the method."
    ),
    uses=(*USES, "neuron"),
    compute=compute,
    table=table,
    observed=_observed,
    cost=_cost,
)

ACROSS = Study(
    "across",
    title=text("Equal KL in a plane across the weights"),
    source=text("section 5.2.1, Eq. 8 and 9"),
    alt=text(
        "Steps from w in a plane of two directions across it, the steepest and one at random: "
        "the contour of equal KL, solid and filled, over the ellipse of its quadratic form "
        "½ δᵀFδ, dashed. A slider moves the KL. The standard model is beside the method."
    ),
    uses=(*USES, "neuron"),
    compute=compute_across,
    table=table,
    observed=_observed,
    cost=_cost,
)
