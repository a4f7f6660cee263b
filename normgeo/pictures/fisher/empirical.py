"""Which Fisher information: expected, sampled, or at the labels of the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, final

import numpy as np

from normgeo.base.budget import Cost
from normgeo.base.progress import Progress
from normgeo.base.text import text
from normgeo.fisher.empirical import EmpiricalCurvatures, empirical_curvatures
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.captions import USES
from normgeo.pictures.fisher.base_point import DIRECTIONS, BasePoints, cost_of_base_points
from normgeo.pictures.picture import Study
from normgeo.settings import Settings
from normgeo.tables.table import Table

DRAWS = 100
NOTHING = 1e-20  # of the largest curvature: less is rounding


@final
@dataclass(frozen=True)
class Ratio:
    """Curvatures in one direction over that of the Fisher information.

    Attributes:
        sampled: at labels drawn from the model. error: twice its standard error.
        observed: at the labels of the data.

    """

    sampled: float
    error: float
    observed: float


@final
@dataclass(frozen=True, eq=False)
class ModelCurvatures:
    """Curvatures of one model in some directions, by whose labels they are of.

    Attributes:
        normalizer: its method. curvatures: vᵀFv, steps in units of ‖w‖.
        ratios: of each direction; None where there is no curvature.

    """

    normalizer: Normalizer
    curvatures: EmpiricalCurvatures
    ratios: tuple[Ratio | None, ...]

    @classmethod
    def of(cls, normalizer: Normalizer, found: EmpiricalCurvatures) -> Self:
        """The curvatures of a model, and their ratios."""
        least = NOTHING * found.expected.max()
        ratios = tuple(
            None
            if expected <= least
            else Ratio(
                float(found.sampled[k] / expected),
                float(2 * found.error[k] / expected),
                float(found.observed[k] / expected),
            )
            for k, expected in enumerate(found.expected)
        )
        return cls(normalizer, found, ratios)


@final
@dataclass(frozen=True, eq=False)
class EmpiricalFisher:
    """Curvatures of both models, the standard one first, fewer where stopped, and of what."""

    base: BasePoints
    models: tuple[ModelCurvatures, ...]


def compute(settings: Settings, progress: Progress) -> EmpiricalFisher:
    """The curvatures of both models in three directions."""
    base = BasePoints.of(settings)
    rng = np.random.default_rng((settings.seed, 4))
    models: list[ModelCurvatures] = []
    for point in progress.over(base.points):
        it = point.data
        found = empirical_curvatures(it.model, it.X, it.y, point.steps, draws=DRAWS, rng=rng)
        models.append(ModelCurvatures.of(point.normalizer, found))
    return EmpiricalFisher(base, tuple(models))


def table(result: EmpiricalFisher) -> Table:
    """The curvatures themselves."""
    rows = tuple(
        (
            each.normalizer.title,
            DIRECTIONS[k],
            *(
                float(values[k])
                for values in (
                    each.curvatures.expected,
                    each.curvatures.sampled,
                    each.curvatures.error,
                    each.curvatures.observed,
                )
            ),
        )
        for each in result.models
        for k in range(len(each.ratios))
    )
    columns = ("method", "direction", "expected", "sampled", "standard_error", "observed")
    title = text("Curvatures vᵀFv, steps in units of ‖w‖; {name}", name=result.base.name)
    return Table(columns, rows, title, notes=(str(result.base.which),))


def _cost(settings: Settings) -> Cost:
    """Every draw of labels, half of an evaluation each."""
    return cost_of_base_points(settings, evaluations=DRAWS / 2)


STUDY = Study(
    "labels",
    title=text("The expected Fisher information against outer products at labels"),
    source=text("section 5.2.1, Eq. 9"),
    alt=text(
        "For each model and direction, the curvature from two kinds of labels, divided by the "
        "expected one: with labels drawn from the model it is 1 within its error; with the "
        "labels of the data it is not."
    ),
    uses=(*USES, "neuron"),
    compute=compute,
    table=table,
    cost=_cost,
)
