"""By how much one step of gradient descent turns the weights, at several of their norms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from normgeo.base.budget import Cost
from normgeo.base.numbers import number
from normgeo.base.progress import Progress
from normgeo.base.text import text
from normgeo.dynamics.angular_update import AngularUpdates, angular_updates
from normgeo.dynamics.loss_plane import LossPlane, loss_plane
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.learning_rate.block_on_data import BLOCK, block_on_data
from normgeo.pictures.learning_rate.runs import rate_for_block
from normgeo.pictures.picture import DATA, Study
from normgeo.pictures.work import Sizes, weights
from normgeo.settings import Settings
from normgeo.tables.table import Table

# Norms at which the plane of the loss is measured, where ε makes it depend on the norm.
SOFTENED = (0.25, 0.5, 1.0, 2.0, 4.0, 16.0)


class Change(NamedTuple):
    """How a quantity changes from the first norm to another one.

    Attributes:
        quantity: in words. before, after: its values. unit: of these.
        factor, predicted: by which it changes, measured and in theory; that of the angle is of
            its tangent.

    """

    quantity: str
    before: float
    after: float
    factor: float
    predicted: float
    unit: str = ""


@final
@dataclass(frozen=True, eq=False)
class AngularUpdate:
    """One step of gradient descent at several norms of a block.

    Attributes:
        normalizer: the method. curve: measured at the norms of the slider.
        planes: the loss by angle at one norm, or at several where ε makes it depend on the norm.
        name, symbol: of the block and its norm. start: where the slider opens.
        notes: what a reader should know, in sentences.

    """

    normalizer: Normalizer
    curve: AngularUpdates
    planes: tuple[LossPlane, ...]
    name: str
    symbol: str
    start: float
    notes: tuple[str, ...]

    @property
    def opening(self) -> int:
        """The place among the norms of the one at which the slider opens."""
        return self.place(self.start)

    def place(self, norm: float) -> int:
        """The place of a norm among those of the slider."""
        return int(np.abs(self.curve.norms - norm).argmin())

    def changes(self, step: int) -> tuple[Change, ...]:
        """How norm, gradient, angle and loss change from the first norm to one of the slider."""
        curve, k = self.curve, float(self.curve.factors[step])
        here, angle = curve.here, float(curve.angles[step])
        gradient, loss = float(curve.gradient_norms[step]), float(curve.loss[step])
        return (
            Change(self.symbol, 1.0, k, k, k),
            Change(
                text("gradient ‖G‖"),
                here.gradient_norm,
                gradient,
                gradient / here.gradient_norm,
                1 / k,
            ),
            Change(
                text("turn per step, tan θ"),
                float(np.degrees(here.angle)),
                float(np.degrees(angle)),
                float(np.tan(angle) / np.tan(here.angle)),
                1 / k**2,
                "°",
            ),
            Change(text("loss"), here.loss, loss, loss / here.loss, 1.0),
        )


def _compute(settings: Settings, progress: Progress) -> AngularUpdate:
    it = block_on_data(settings)
    model, X, y, block = it.model, it.X, it.y, it.block
    rate = rate_for_block(settings, it.objective.at(it.objective.own).gradient)
    curve = angular_updates(model, X, y, _norms(settings.growth), rate, block=block)
    softened = model.normalizer.added_eps > 0
    radii, count = (SOFTENED, 49) if softened else ((1.0,), 121)
    angles = np.linspace(-np.pi, np.pi, count)
    planes = tuple(
        loss_plane(model, X, y, block=block, angles=angles, norm=radius)
        for radius in progress.over(radii)
    )
    return AngularUpdate(
        model.normalizer, curve, planes, it.name, it.symbol, settings.growth, it.notes
    )


def _norms(start: float) -> list[float]:
    """Return the norms of the slider: half octaves from 1 to 16, or as far as the start needs."""
    halves = 2 * np.log2(start)
    low, high = min(0, int(np.ceil(halves - 1e-3))), max(8, int(np.floor(halves + 1e-3)))
    norms = [2.0 ** (i / 2) for i in range(low, high + 1)]
    return norms if np.isclose(start, norms, rtol=1e-3).any() else sorted([*norms, start])


def _table(result: AngularUpdate) -> Table:
    curve = result.curve
    columns = {
        "norm": curve.norms,
        "loss": curve.loss,
        "gradient_norm": curve.gradient_norms,
        "predicted_gradient_norm": curve.predicted_gradient_norms,
        "angle": curve.angles,
        "predicted_angle": curve.predicted_angles,
        "halved_angle": curve.halved_angles,
    }
    rows = zip(*(values.tolist() for values in columns.values()), strict=True)
    title = text(
        "{method}, {name}, η = {rate}; angles in radians, losses in nats per case",
        method=result.normalizer.title,
        name=result.name,
        rate=number(curve.rate, 6),
    )
    return Table(tuple(columns), tuple(rows), title=title)


def _observed(result: AngularUpdate) -> str:
    """Say by which factors gradient, angle and loss change up to the largest norm."""
    norm, gradient, angle, loss = result.changes(len(result.curve.norms) - 1)
    return text(
        "From norm 1 to {norm} the gradient takes a factor of {gradient} (predicted {predicted}), "
        "the tangent of the angle {angle} (predicted {square}), and the loss {loss}.",
        norm=number(norm.factor),
        gradient=number(gradient.factor),
        predicted=number(gradient.predicted),
        angle=number(angle.factor),
        square=number(angle.predicted),
        loss=number(loss.factor),
    )


def _cost(settings: Settings) -> Cost:
    """Evaluations at the norms of the slider and the angles of the planes."""
    points = len(_norms(settings.growth)) + max(121, len(SOFTENED) * 49) + 3
    if not settings.eps:
        points -= len(SOFTENED) * 49 - 121
    sizes = Sizes.of(settings)
    return weights(settings, sizes) + sizes.evaluations(points)


STUDY = Study(
    name="turn",
    title=text("One gradient step turns a large weight vector less"),
    alt=text(
        "Left: the loss in the plane of a weight vector and its negative gradient, with one step "
        "at several norms. Right: the angle per step against the norm on logarithmic axes, "
        "measured, predicted with slope −2, and with slope −1, if a doubled norm halved it."
    ),
    uses=(*DATA, *BLOCK, "rate", "growth"),
    compute=_compute,
    table=_table,
    observed=_observed,
    cost=_cost,
)
