"""The KL of ever longer steps, against the quadratic form that it begins with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.budget import Cost
from normgeo.base.progress import Progress
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.fisher.neighborhood import Neighborhood
from normgeo.pictures.captions import USES
from normgeo.pictures.fisher.base_point import DIRECTIONS, BasePoints, cost_of_base_points
from normgeo.pictures.picture import Study
from normgeo.settings import Settings
from normgeo.tables.table import Table

LONGEST = np.logspace(-3, 1, 25)
NOTHING = 1e-13  # nats at a step as long as w: less is rounding
WRITTEN = 0.1  # of ‖w‖: the step whose numbers are written out
ROUNDING = 1e-14  # a written number that is smaller is 0


@final
@dataclass(frozen=True)
class WrittenStep:
    """One step of one model in numbers.

    Attributes:
        method: the title. direction: in words. length: ‖δ‖. curvature: F in the direction.
        quadratic, kl: ½ δᵀFδ and the true KL, nats per case.

    """

    method: str
    direction: str
    length: float
    curvature: float
    quadratic: float
    kl: float


@final
@dataclass(frozen=True)
class FirstOutput:
    """The output of one neuron in the first case: s, E[y] = A'(s) and Var[y]/φ = A''(s)."""

    s: float
    mean: float
    variance: float


@final
@dataclass(frozen=True, eq=False)
class LongerSteps:
    """The KL of ever longer steps.

    Attributes:
        base: the models. lengths: of the steps over ‖w‖, (n,).
        kl, quadratic, ratio: KL, ½ δᵀFδ and one over the other for each model and direction,
            (M, k, n); NaN where there are no outputs, or the computation was stopped. The ratio
            is NaN too where the quadratic form is 0.
        silent: whether the quadratic form of a model and direction is 0 to rounding, (M, k).
        output: of the neuron whose weights are meant, under the method.

    """

    base: BasePoints
    lengths: Array
    kl: Array
    quadratic: Array
    ratio: Array
    silent: Array
    output: FirstOutput

    @property
    def written(self) -> tuple[WrittenStep, ...]:
        """The steps of the length `WRITTEN`, of every model in every direction computed."""
        at = int(np.abs(self.lengths - WRITTEN).argmin())
        found = []
        for (m, k), quadratic in np.ndenumerate(self.quadratic[..., at]):
            point = self.base.points[m]
            length = float(self.lengths[at] * point.norm)
            numbers = (2 * quadratic / length**2, quadratic, self.kl[m, k, at])
            plain = [0.0 if abs(value) < ROUNDING else float(value) for value in numbers]
            if not np.isnan(quadratic):
                title = point.normalizer.title
                found.append(WrittenStep(title, DIRECTIONS[k], length, *plain))
        return tuple(found)


def compute(settings: Settings, progress: Progress) -> LongerSteps:
    """The steps of both models in all directions."""
    base = BasePoints.of(settings)
    models, k = len(base.points), len(base.points[0].directions)
    kl, quadratic = np.full((2, models, k, len(LONGEST)), np.nan)
    for m, d in progress.over(list(np.ndindex(models, k))):
        point = base.points[m]
        step = point.steps[d]
        kl[m, d] = [_kl(point.around, length * step) for length in LONGEST]
        quadratic[m, d] = point.around.quadratic(step) * LONGEST**2
    silent = quadratic[:, :, np.abs(LONGEST - 1).argmin()] < NOTHING
    ratio = kl / np.where(silent[..., None], np.nan, quadratic)
    output = _output(base.points[-1].around, settings.neuron)
    return LongerSteps(base, LONGEST, kl, quadratic, ratio, silent, output)


def _output(around: Neighborhood, neuron: int) -> FirstOutput:
    s, family = around.s[:1], around.model.family
    values = (s, family.mean(s), family.covariance_diagonal(s))
    return FirstOutput(*(float(value[0, neuron]) for value in values))


def _kl(around: Neighborhood, step: Array) -> float:
    try:
        return around.kl(step)
    except Refusal:
        return float("nan")


def table(result: LongerSteps) -> Table:
    """The KL and its quadratic form at every length."""
    rows = tuple(
        (
            point.normalizer.title,
            DIRECTIONS[k],
            float(length),
            None if np.isnan(kl) else float(kl),
            float(quadratic),
        )
        for m, point in enumerate(result.base.points)
        for k in range(result.kl.shape[1])
        for length, kl, quadratic in zip(
            result.lengths, result.kl[m, k], result.quadratic[m, k], strict=True
        )
        if not np.isnan(quadratic)
    )
    title = text("KL of a step over ‖w‖, and ½ δᵀFδ, nats per case; {name}", name=result.base.name)
    columns = ("method", "direction", "length", "kl", "half_quadratic_form")
    return Table(columns, rows, title, notes=(str(result.base.which),))


def _cost(settings: Settings) -> Cost:
    """Every length in three directions."""
    return cost_of_base_points(settings, evaluations=4 * len(LONGEST))


STUDY = Study(
    "growth",
    title=text("KL against its quadratic form as the step grows"),
    source=text("section 5.2.1, Eq. 8 and 9"),
    alt=text(
        "The KL and half the quadratic form against the length of the step on logarithmic axes, "
        "equal for short steps in every direction, and their ratio, which tends to 1."
    ),
    uses=(*USES, "neuron"),
    compute=compute,
    table=table,
    cost=_cost,
)
