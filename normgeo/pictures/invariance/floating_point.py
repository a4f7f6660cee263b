"""How exact a verdict is in floating point, by number type and ε."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from normgeo.base.budget import Cost
from normgeo.base.numbers import number
from normgeo.base.progress import Progress
from normgeo.base.text import text
from normgeo.invariance.floating_point import Sweep, sweep
from normgeo.invariance.transforms import Transform
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.invariance.effect import CHANGE, SHOWN, batch, shift
from normgeo.pictures.model_on_data import model_on_data
from normgeo.pictures.picture import DATA, Study
from normgeo.pictures.work import Sizes, weights
from normgeo.settings import Settings
from normgeo.tables.table import Table

NUMBER_TYPES = ("float16", "float32", "float64")
USUAL_EPS = 1e-5
STRENGTHS = 97  # of a re-scaling; a shift has fewer


class Sweeps(NamedTuple):
    """One change of one method at many strengths, a curve for each number type and ε.

    Attributes:
        normalizer, transform: the method and the change. curves: name and sweep of each.

    """

    normalizer: Normalizer
    transform: Transform
    curves: tuple[tuple[str, Sweep], ...]


def compute(settings: Settings, progress: Progress) -> Sweeps:
    """Sweeps of the selected change, over decades at both sides of no change."""
    chosen, transform = settings.selected
    here = model_on_data(settings, "standardized", chosen)
    W, (_, index, X) = here.model.W, batch(settings, here)
    reach = 24 if transform.rescales else 8
    strengths = np.logspace(-reach, reach, 4 * reach + 1)
    gamma = shift(settings, W, X)
    ideal = replace(chosen, eps=0.0)
    planned = [(text("{dtype}, ε = 0", dtype=dtype), ideal, dtype) for dtype in NUMBER_TYPES]
    if chosen.scaling.takes_eps:
        eps = chosen.eps or USUAL_EPS
        name = text("float64, ε = {eps}", eps=number(float(eps)))
        planned.append((name, replace(chosen, eps=eps), "float64"))
    curves = [
        (
            name,
            sweep(
                normalizer,
                transform,
                W,
                X,
                strengths,
                gamma=gamma,
                index=index,
                dtype=dtype,
            ),
        )
        for name, normalizer, dtype in progress.over(planned)
    ]
    return Sweeps(chosen, transform, tuple(curves))


def _table(result: Sweeps) -> Table:
    rows = tuple(
        (name, curve.dtype, float(strength), None if reason else float(change), reason)
        for name, curve in result.curves
        for strength, change, reason in zip(
            curve.strengths, curve.change, curve.reasons, strict=True
        )
    )
    return Table(("curve", "dtype", "strength", "change", "reason"), rows)


def _cost(settings: Settings) -> Cost:
    """A sweep for each number type and one at an ε."""
    sizes = Sizes.of(settings, "standardized")
    swept = sizes.of_cases(SHOWN)
    return weights(settings, sizes) + swept.evaluations(4 * STRENGTHS)


STUDY = Study(
    name="floating_point",
    title=text("Invariance in floating point"),
    source=text("section 5.1, Table 1"),
    alt=text(
        "Largest change of z against the strength of the change, a line for each number type."
    ),
    uses=(*DATA, *CHANGE),
    compute=compute,
    table=_table,
    cost=_cost,
)
