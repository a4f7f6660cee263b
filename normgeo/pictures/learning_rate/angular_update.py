"""By how much one step of an optimizer turns the weights, at several of their norms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from normgeo.base.budget import Cost
from normgeo.base.numbers import factor, fraction, number
from normgeo.base.progress import Progress
from normgeo.base.text import text
from normgeo.dynamics.angular_update import AngularUpdates, angular_updates
from normgeo.dynamics.loss_plane import LossPlane, loss_plane
from normgeo.dynamics.optimizers import OPTIMIZERS
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.learning_rate.block_on_data import BLOCK, block_on_data, sizes_of_block
from normgeo.pictures.learning_rate.runs import rate_for_run
from normgeo.pictures.picture import DATA, Study
from normgeo.pictures.work import weights
from normgeo.settings import Settings
from normgeo.tables.table import Table

NORMS = 2.0 ** (np.arange(-2, 9) / 2)  # of the frames: half octaves from ½ to 16
SHOWN = (1.0, 2.0, 4.0)  # norms with an arrow of their own in every frame
APART = 0.155  # a share of the reach, between two steps with words
# Where the loss depends on the norm, its plane is measured at these.
RADII = 2.0 ** np.arange(-2, 6)
AROUND = np.linspace(-np.pi, np.pi, 91)  # the angles of a plane of wedges
# Most of what is seen of another plane lies about the weights.
AHEAD = np.radians([*range(-180, -60, 20), *range(-60, 90, 5), *range(90, 181, 15)])


class Change(NamedTuple):
    """How a quantity changes from the first norm to another one.

    Attributes:
        quantity: in words. before, after: its values. unit: of these.
        factor, predicted: by which it changes, measured and in theory (None without a law); that
            of the angle is of its tangent. approximate: whether the law is that of small angles.

    """

    quantity: str
    before: float
    after: float
    factor: float
    predicted: float | None
    unit: str = ""
    approximate: bool = False


@final
@dataclass(frozen=True, eq=False)
class AngularUpdate:
    """The first step of an optimizer at several norms of a block.

    Attributes:
        normalizer: the method. curve: measured at the norms of the slider.
        planes: the loss by angle at one norm, or at several where it depends on the norm.
        has_law: whether z stays where the norm changes, at ε = 0.
        name, symbol: of the block and its norm. start: the norm that the settings ask for.
        notes: what a reader should know, in sentences.

    """

    normalizer: Normalizer
    curve: AngularUpdates
    planes: tuple[LossPlane, ...]
    has_law: bool
    name: str
    symbol: str
    start: float
    notes: tuple[str, ...]

    @property
    def opening(self) -> int:
        """The place among the frames of the one that is nearest to where the settings ask for."""
        return self.place(self.start)

    def place(self, norm: float) -> int:
        """The place among the frames of the one whose norm is nearest, as a factor."""
        return int(np.abs(np.log(self.curve.norms / norm)).argmin())

    def way(self, step: int) -> tuple[float, float]:
        """How far a step goes along the weights and across them."""
        length, cosine = float(self.curve.step_norms[step]), float(self.curve.step_radial[step])
        return length * cosine, length * float(np.sqrt(max(0.0, 1 - cosine**2)))

    @property
    def elsewhere(self) -> str:
        """A sentence where the settings ask for a norm that has no frame; else nothing."""
        nearest = float(self.curve.norms[self.opening])
        if np.isclose(nearest, self.start, rtol=2e-3):
            return ""
        return text(
            "The slider has no step at {symbol} = {start}; it opens at the nearest, {nearest}.",
            symbol=self.symbol,
            start=number(self.start),
            nearest=norm_words(nearest),
        )

    @property
    def no_law(self) -> str:
        """Why there is no law here; nothing where there is one."""
        if self.has_law:
            return ""
        cosine = float(self.curve.radial[np.abs(self.curve.radial).argmax()])
        return text(
            "No law here: a longer weight vector is another function, and the gradient is not "
            "orthogonal to the weights (cosine {cosine}).",
            cosine=number(cosine, 2),
        )

    @property
    def same_along_rays(self) -> bool:
        """Whether the loss is the same along each ray, so that its plane is wedges."""
        return len(self.planes) == 1

    def changes(self, step: int) -> tuple[Change, ...]:
        """How norm, gradient, angle and loss change from the first norm to one of the slider.

        The length of the step stands for the gradient where it does not follow it.
        """
        curve, k = self.curve, float(self.curve.norms[step])
        here, angle = curve.here, float(curve.angles[step])
        gradient, loss = float(curve.gradient_norms[step]), float(curve.loss[step])
        power = curve.optimizer.power
        predicted = (k ** (1 - power), k**-power, 1.0) if self.has_law else (None, None, None)
        pushed = Change(
            text("gradient ‖G‖"),
            here.gradient_norm,
            gradient,
            gradient / here.gradient_norm,
            predicted[0],
        )
        if not curve.optimizer.linear:
            length = float(curve.step_norms[step])
            pushed = Change(
                text("length of the step"),
                here.step_norm,
                length,
                length / here.step_norm,
                predicted[0],
            )
        return (
            Change(text("norm {symbol}", symbol=self.symbol), 1.0, k, k, None),
            pushed,
            Change(
                text("turn, tan θ"),
                float(np.degrees(here.angle)),
                float(np.degrees(angle)),
                float(np.tan(angle) / np.tan(here.angle)),
                predicted[1],
                "°",
                not (curve.optimizer.linear or self.normalizer.added_eps),
            ),
            Change(text("loss"), here.loss, loss, loss / here.loss, predicted[2]),
        )


def norm_words(norm: float) -> str:
    """A norm of the slider: ½, √½, 1, √2, …"""
    if np.isclose(norm**2, 0.5):
        return "√½"
    return factor(norm) if norm >= 1 else fraction(norm)


def _compute(settings: Settings, progress: Progress) -> AngularUpdate:
    it = block_on_data(settings, homogeneous=False)
    has_law, optimizer = it.objective.blocks.homogeneous, OPTIMIZERS[settings.optimizer]
    rate = rate_for_run(settings, it, optimizer)
    curve = angular_updates(
        it.model,
        it.X,
        it.y,
        NORMS,
        rate,
        block=it.block,
        homogeneous=has_law,
        optimizer=optimizer,
    )
    own, toward = it.objective.own, None
    if not optimizer.linear:  # its step does not lie in the plane of the gradient
        gradient = it.objective.at(own).gradient
        toward = it.objective.centered(optimizer.first_step(own, gradient, rate))
    radii, angles = ((1.0,), AROUND) if _wedges(settings, has_law) else (RADII.tolist(), AHEAD)
    planes = tuple(
        loss_plane(
            it.model,
            it.X,
            it.y,
            angles=angles,
            norm=radius,
            toward=toward,
            block=it.block,
            homogeneous=has_law,
        )
        for radius in progress.over(radii)
    )
    return AngularUpdate(
        it.model.normalizer,
        curve,
        planes,
        has_law,
        it.name,
        it.symbol,
        settings.growth,
        it.notes,
    )


def _wedges(settings: Settings, has_law: bool) -> bool:
    """Whether the loss does not depend on the norm."""
    return has_law and not settings.normalizer.added_eps


def _table(result: AngularUpdate) -> Table:
    curve = result.curve
    columns = {
        "norm": curve.norms,
        "loss": curve.loss,
        "gradient_norm": curve.gradient_norms,
        "angle": curve.angles,
        "cosine_with_weights": curve.radial,
        "step_norm": curve.step_norms,
    }
    if result.has_law:
        columns |= {
            "predicted_gradient_norm": curve.predicted_gradient_norms,
            "predicted_angle": curve.predicted_angles,
            "halved_angle": curve.halved_angles,
        }
    rows = zip(*(values.tolist() for values in columns.values()), strict=True)
    title = text(
        "{method}, {name}, {optimizer}, η = {rate}; angles in radians, losses in nats per case",
        method=result.normalizer.title,
        optimizer=curve.optimizer.title,
        name=result.name,
        rate=number(curve.rate, 6),
    )
    return Table(tuple(columns), tuple(rows), title=title)


def _observed(result: AngularUpdate) -> str:
    """Say by which factors gradient or step, angle and loss change up to where it opens."""
    norm, gradient, angle, loss = result.changes(result.opening)
    found = text(
        "{optimizer}, from norm 1 to {norm}: {what} × {gradient}, tangent of the angle × {angle}, "
        "loss × {loss}.",
        optimizer=result.curve.optimizer.title.capitalize(),
        what=gradient.quantity,
        norm=norm_words(norm.factor),
        gradient=number(gradient.factor),
        angle=number(angle.factor),
        loss=number(loss.factor),
    )
    if gradient.predicted is None or angle.predicted is None:
        return f"{found} {result.no_law}"
    return text(
        "{found} Predicted: × {gradient}, × {angle} and × 1.",
        found=found,
        gradient=number(gradient.predicted),
        angle=number(angle.predicted),
    )


def _cost(settings: Settings) -> Cost:
    """Evaluations at the norms of the slider and the angles of the planes."""
    sizes = sizes_of_block(settings)
    has_law = bool(settings.normalizer.homogeneous_blocks(sizes.H))
    plane = len(AROUND) if _wedges(settings, has_law) else len(RADII) * len(AHEAD)
    return weights(settings, sizes) + sizes.evaluations(plane + len(NORMS) + 3)


STUDY = Study(
    name="turn",
    title=text("One step turns a long weight vector less"),
    source=text("section 5.2.2; van Laarhoven 2017"),
    alt=text(
        "Above: the factors by which the norm of a weight vector, its gradient or the length of "
        "the step, the turn of a step and the loss change. Left: the loss in the plane of the "
        "weights and the step, with one step at several norms. Right: the angle per step against "
        "the norm on logarithmic axes; where there is a law, beside its prediction and a line of "
        "another slope."
    ),
    uses=(*DATA, *BLOCK, "optimizer", "rate", "growth"),
    compute=_compute,
    table=_table,
    observed=_observed,
    cost=_cost,
    slider="growth",
)
