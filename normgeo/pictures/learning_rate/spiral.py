"""The path of a weight vector under gradient descent: every step tangent, so the path spirals."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.dynamics.gradient_descent import GradientDescent
from normgeo.dynamics.plane_path import PlanePath, plane_path
from normgeo.dynamics.trajectory import Trajectory
from normgeo.pictures.learning_rate.block_on_data import BLOCK, block_on_data
from normgeo.pictures.learning_rate.descent import RUN, endings, silent, train_from
from normgeo.pictures.learning_rate.rates import (
    MINI_BATCH,
    batch_for_run,
    batch_words,
    rate_for_run,
)
from normgeo.pictures.learning_rate.spiral_figure import spiral_figure
from normgeo.pictures.style.template import Figure
from normgeo.pictures.view import DATA, Progress, View
from normgeo.settings import Settings
from normgeo.tables.table import Table


class SpiralPicture(NamedTuple):
    """A run of gradient descent without decay from ‖w‖ = 1.

    Attributes:
        run: the run. block: whose path is shown. plane: the path in the plane of the start and
            the first step. name, symbol: of the block and its norm.
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
    def turned(self) -> Array:
        """The sum of the angles of all steps before, radians, (T+1,)."""
        turned: Array = np.append(0.0, np.cumsum(self.run.angles[:, self.block]))
        return turned

    @property
    def deviation(self) -> float:
        """The largest |measured/predicted − 1| of the radius."""
        return float(np.abs(self.radii / self.predicted_radii - 1).max())


def _spiral(settings: Settings, tell: Progress = silent) -> SpiralPicture:
    it = block_on_data(settings)
    cases = len(it.X)
    batch = batch_for_run(settings, cases, MINI_BATCH)
    rate = rate_for_run(settings, it, GradientDescent())
    (run,) = train_from(
        (1.0,), it, settings, tell, rate=rate, decay=0.0, batch=batch, optimizer=GradientDescent()
    )
    if run.diverged and not run.steps:
        raise ValueError(
            text(
                "The first step has no end: {reason} Choose a smaller step size η.",
                reason=run.diverged.reason,
            )
        )
    plane = plane_path(run, block=it.block, plane="first_step")
    return SpiralPicture(
        run, it.block, plane, it.name, it.symbol, batch_words(batch, cases), run.notes
    )


def _spiral_figure(picture: SpiralPicture, theme: str) -> Figure:
    return spiral_figure(
        picture.radii,
        picture.predicted_radii,
        picture.turned,
        picture.plane,
        picture.run.start.normalizer,
        symbol=picture.symbol,
        about=about(picture),
        theme=theme,
    )


def about(picture: SpiralPicture) -> list[str]:
    """Return what runs, and why it ended early."""
    first = text(
        "<b>{method}</b>, {name}: gradient descent without decay, η = {rate:.3g}, {batches}",
        method=picture.run.start.normalizer.title,
        name=picture.name,
        rate=picture.run.rate,
        batches=picture.batches,
    )
    return [first, *endings((picture.run,), picture.block)]


def _spiral_table(picture: SpiralPicture) -> Table:
    """Return a row for each kept step; the plane is that of the start and the first step."""
    kept, plane = picture.plane.steps, picture.plane
    columns = {
        "step": kept.tolist(),
        "radius": picture.radii[kept].tolist(),
        "predicted_radius": picture.predicted_radii[kept].tolist(),
        "turned": picture.turned[kept].tolist(),
        "plane_x": plane.coordinates[:, 0].tolist(),
        "plane_y": plane.coordinates[:, 1].tolist(),
        "share_in_plane": plane.share.tolist(),
    }
    title = text(
        "{method}: gradient descent, η = {rate:g}, {batches}; angles in radians",
        method=picture.run.start.normalizer.title,
        rate=picture.run.rate,
        batches=picture.batches,
    )
    rows = tuple(zip(*columns.values(), strict=True))
    return Table(tuple(columns), rows, title=title, notes=endings((picture.run,), picture.block))


SPIRAL = View(
    "spiral",
    text("Every step is tangent, so the path spirals outward"),
    (*DATA, *BLOCK, *RUN),
    _spiral,
    _spiral_figure,
    _spiral_table,
    watched=_spiral,
)
