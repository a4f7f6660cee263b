"""The path of a weight vector under gradient descent: every step tangent, so the path spirals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.budget import Cost
from normgeo.base.numbers import number
from normgeo.base.progress import Progress
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.dynamics.descent import CHECKPOINT_BYTES
from normgeo.dynamics.gradient_descent import GradientDescent
from normgeo.dynamics.plane_path import PlanePath, plane_path
from normgeo.dynamics.trajectory import Trajectory
from normgeo.pictures.learning_rate.block_on_data import BLOCK, block_on_data
from normgeo.pictures.learning_rate.runs import (
    MINI_BATCH,
    ONLY,
    RUN,
    batch_for_run,
    batch_words,
    cost_of_runs,
    endings,
    rate_for_run,
    train_from,
)
from normgeo.pictures.picture import DATA, Study
from normgeo.settings import Settings
from normgeo.tables.table import Table

WHOLE = 0.9995  # a share of ‖w‖² in the plane from which the path is taken to lie in it


@final
@dataclass(frozen=True, eq=False)
class Spiral:
    """A run of gradient descent without decay from ‖w‖ = 1.

    Attributes:
        run: the run. block: the place in it of the one that is shown.
        plane: the path in the plane of the start and the first step.
        name, symbol: of the block and its norm.
        batches: what a step sees, in words. notes: on the batches, sentences.

    """

    run: Trajectory
    block: int
    plane: PlanePath
    name: str
    symbol: str
    batches: str
    notes: tuple[str, ...]

    @property
    def radii(self) -> Array:
        """‖w‖ at every step, (T+1,)."""
        radii: Array = self.run.norms[:, self.block]
        return radii

    @property
    def predicted_radii(self) -> Array:
        """√(‖w₀‖² + Σ η²‖G‖²) over the steps before, (T+1,)."""
        steps = self.run.rate * self.run.gradient_norms[:, self.block]
        radii: Array = np.sqrt(self.radii[0] ** 2 + np.append(0.0, np.cumsum(steps**2)))
        return radii

    @property
    def deviation(self) -> float:
        """The largest |measured/predicted − 1| of the radius."""
        return float(np.abs(self.radii / self.predicted_radii - 1).max())

    @property
    def turned(self) -> Array:
        """The sum of the angles of all steps before, radians, (T+1,)."""
        turned: Array = np.append(0.0, np.cumsum(self.run.angles[:, self.block]))
        return turned

    @property
    def unrolled(self) -> Array:
        """The path with its triangles laid side by side in one plane, (T+1, 2)."""
        directions = np.column_stack([np.cos(self.turned), np.sin(self.turned)])
        path: Array = self.radii[:, None] * directions
        return path

    @property
    def leaves_plane(self) -> bool:
        """Whether the path turns out of the plane of the start and the first step."""
        return bool(self.plane.share[-1] < WHOLE)

    @property
    def shadow_radii(self) -> Array:
        """The length of the path's projection on the plane, at the steps in `plane.steps`."""
        lengths: Array = np.linalg.norm(self.plane.coordinates, axis=1)
        return lengths


def _compute(settings: Settings, progress: Progress) -> Spiral:
    it = block_on_data(settings)
    cases, optimizer = len(it.X), GradientDescent()
    batch = batch_for_run(settings, cases, MINI_BATCH)
    rate = rate_for_run(settings, it, optimizer)
    (run,) = train_from(
        (1.0,),
        it,
        settings,
        progress,
        rate=rate,
        batch=batch,
        optimizer=optimizer,
        checkpoint_bytes=CHECKPOINT_BYTES,
    )
    if run.diverged and not run.steps:
        raise Refusal(
            "The first step cannot be taken: {reason} Choose a smaller learning rate η.",
            reason=run.diverged.reason,
        )
    plane = plane_path(run, block=ONLY, plane="first_step")
    run = run.of_block(ONLY)
    return Spiral(run, ONLY, plane, it.name, it.symbol, batch_words(batch, cases), run.notes)


def _table(result: Spiral) -> Table:
    """Return a row for each kept step; the plane is that of the start and the first step."""
    kept, plane = result.plane.steps, result.plane
    columns = {
        "step": kept,
        "radius": result.radii[kept],
        "predicted_radius": result.predicted_radii[kept],
        "turned": result.turned[kept],
        "plane_x": plane.coordinates[:, 0],
        "plane_y": plane.coordinates[:, 1],
        "share_in_plane": plane.share,
    }
    title = text(
        "{method}: gradient descent, η = {rate}, {batches}; angles in radians",
        method=result.run.start.normalizer.title,
        rate=number(result.run.rate, 6),
        batches=result.batches,
    )
    rows = tuple(zip(*(values.tolist() for values in columns.values()), strict=True))
    return Table(tuple(columns), rows, title=title, notes=endings((result.run,), result.block))


def _observed(result: Spiral) -> str:
    """Say how the radius changes, and how far from its law."""
    return text(
        "The radius goes from {first} to {last} and differs from the law by at most {off} of "
        "its size; the path turns by {turned}° in all.",
        first=number(float(result.radii[0])),
        last=number(float(result.radii[-1])),
        off=number(result.deviation, 1),
        turned=number(float(np.degrees(result.turned[-1]))),
    )


def _cost(settings: Settings) -> Cost:
    """One run, whose weights on the way are projected."""
    return cost_of_runs(settings, 1, MINI_BATCH, CHECKPOINT_BYTES)


STUDY = Study(
    name="spiral",
    title=text("Every step is tangent, so the path spirals outward"),
    source=text("section 5.2.2; van Laarhoven 2017"),
    alt=text(
        "Left: the path of the weight vector, unrolled, beside the circle of its start. Right: its "
        "radius against the step, measured and predicted."
    ),
    uses=(*DATA, *BLOCK, *RUN),
    compute=_compute,
    table=_table,
    observed=_observed,
    cost=_cost,
)
