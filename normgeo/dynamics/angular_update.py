"""One function at several weight norms: the angle of the first step of an optimizer at each.

Scaling a homogeneous block to w̃ ↦ k w̃ does not change z, so the loss is the same, its gradient
shrinks by 1/k, the radius grows by k, and a gradient step turns the block by

    tan θ(k) = η‖G‖/(k²‖w̃‖) = tan θ(1)/k².

A step of Adam or Lion has the same length at any scale of the gradient, so for small angles

    tan θ(k) ≈ tan θ(1)/k.

Source: section 5.2.2 of the paper, which states a factor of ½ when ‖w‖ doubles.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from normgeo.base.arguments import real_number
from normgeo.base.arrays import Array, real_array
from normgeo.base.refusal import Refusal
from normgeo.dynamics.optimizer import Optimizer
from normgeo.dynamics.optimizers import optimizer_of
from normgeo.models.glm import NormalizedGLM
from normgeo.models.objective import BlockObjective
from normgeo.normalizers.blocks import angles_turned, cosines, lengths


@final
@dataclass(frozen=True, eq=False)
class AngularUpdate:
    """Measurements of one block at one norm.

    Attributes:
        norm: ‖w̃‖. loss: −mean log-likelihood, nats per case. gradient_norm: ‖G‖, G = ∂L/∂w̃.
        angle: of one step, radians.
        radial: w̃·G/(‖w̃‖‖G‖), 0 in theory.
        step_norm: the length of the step. step_radial: its cosine with w̃.
        fisher_length: ds = √(½ dwᵀ F dw) of dw = the unit vector along G at the model's own norm,
            nats^½: the same dw at every norm.

    """

    norm: float
    loss: float
    gradient_norm: float
    angle: float
    radial: float
    step_norm: float
    step_radial: float
    fisher_length: float


@final
@dataclass(frozen=True, eq=False)
class AngularUpdates:
    """The angular update of one block by the first step of an optimizer, at several norms.

    Attributes:
        neurons: of the block, (K,). rate: η. optimizer: whose step it is.
        here: measurements at the model's own norm, through which the predictions pass.
        norms, loss, gradient_norms, angles, radial, step_norms, step_radial, fisher_lengths: as in
            `AngularUpdate`, measured, (M,).

    """

    neurons: Array
    rate: float
    optimizer: Optimizer
    here: AngularUpdate
    norms: Array
    loss: Array
    gradient_norms: Array
    angles: Array
    radial: Array
    step_norms: Array
    step_radial: Array
    fisher_lengths: Array

    @property
    def factors(self) -> Array:
        """k, the norms divided by the model's own, (M,)."""
        factors: Array = self.norms / self.here.norm
        return factors

    @property
    def predicted_loss(self) -> Array:
        """The same at every norm, (M,)."""
        return np.full(len(self.norms), self.here.loss)

    @property
    def predicted_gradient_norms(self) -> Array:
        """‖G‖/k, (M,)."""
        predicted: Array = self.here.gradient_norm / self.factors
        return predicted

    @property
    def predicted_fisher_lengths(self) -> Array:
        """ds/k, (M,)."""
        predicted: Array = self.here.fisher_length / self.factors
        return predicted

    @property
    def predicted_angles(self) -> Array:
        """The angle in (0, π) with tan θ = tan θ(1)/k^p, radians, (M,): slope −p on log axes.

        p = 2 for gradient descent and momentum; p = 1, for small angles, where the step has the
        same length at every norm. If ε or rounding makes the first angle larger than a right angle,
        the predictions are too.
        """
        return self.angles_by_power(self.optimizer.power)

    @property
    def halved_angles(self) -> Array:
        """The angle with tan θ = tan θ(1)/k, radians, (M,): slope −1, for halving.

        This reads the factor "½" of section 5.2.2 as a statement on the angle, which the paper does
        not make. It is right for the gradient, for ds and for the angle of a fixed dw.
        """
        return self.angles_by_power(1)

    def angles_by_power(self, power: int) -> Array:
        """The angle with tan θ = tan θ(1)/k^power, radians, (M,)."""
        # Divide by one after the other: their product may overflow when the angle does not.
        divisors = [self.factors] * power
        across = np.full(len(self.norms), np.sin(self.here.angle))
        with np.errstate(over="ignore"):
            for divisor in divisors:
                across = across / divisor
        angles: Array = np.arctan2(across, np.cos(self.here.angle))
        return angles


def angular_updates(
    model: NormalizedGLM,
    X: ArrayLike,
    y: ArrayLike,
    norms: ArrayLike,
    rate: float,
    *,
    block: int = 0,
    homogeneous: bool = True,
    optimizer: str | Optimizer = "gradient_descent",
) -> AngularUpdates:
    """Measure the first step of an optimizer at several norms of one block, all else fixed.

    The step is measured before it is added to the weights and rounded, so the law is visible at any
    norm. With ε > 0 the function itself changes when σ² is near ε, and measured values deviate from
    the predicted ones.

    Args:
        model: the function. X: (N, D). y: as the family takes.
        norms: values of ‖w̃‖, (M,), above 0. rate: η > 0.
        block: its number among the homogeneous blocks.
        homogeneous: False measures single neurons if there is no homogeneous block; the predictions
            do not hold for these.
        optimizer: an `Optimizer` or its key in OPTIMIZERS, at the start of its memory.

    Raises:
        ValueError: a norm or rate not above 0, no such block, or an undefined z.

    >>> from normgeo import NORMALIZERS
    >>> model = NormalizedGLM(NORMALIZERS["weight"], "gaussian", [[3.0, 4.0]])
    >>> curve = angular_updates(model, [[1.0, 0.0], [0.0, 1.0]], [0.0, 1.0], [5.0, 10.0], 0.1)
    >>> print(np.round(np.tan(curve.angles[1]) / np.tan(curve.angles[0]), 12))
    0.25

    """
    radii = real_array("norms", norms, 1).astype(np.float64)
    if not (radii > 0).all():
        raise Refusal("`norms` must be above 0; got {least:g}.", least=radii.min())
    rate, rule = real_number("rate", rate, above=0), optimizer_of(optimizer)
    objective = BlockObjective.of(model, X, y, block, homogeneous=homogeneous)
    own, own_norm = objective.own, objective.own_norm
    gradient = objective.at(own).gradient
    unit = own / own_norm
    dtheta = objective.embed(gradient / (lengths(gradient) or 1.0))

    def measure(norm: float) -> AngularUpdate:
        w = norm * unit
        at, loss, G = objective.at(w)
        with np.errstate(over="ignore", invalid="ignore"):
            step = objective.centered(rule.first_step(w, G, rate))
            ds = at.jvp(dtheta)
            if np.isfinite(ds).all():
                squares = float(np.vdot(ds, model.family.covariance_times(at.s, ds)))
            else:
                squares = np.inf
            found = AngularUpdate(
                norm=float(norm),
                loss=loss,
                gradient_norm=float(lengths(G)),
                angle=float(angles_turned(w, step)),
                radial=float(cosines(w, G)),
                step_norm=float(lengths(step)),
                step_radial=float(cosines(w, step)),
                fisher_length=float(np.sqrt(squares / (2 * len(ds) * model.phi))),
            )
        require_floats(norm, *astuple(found))
        return found

    def require_floats(norm: float, *numbers: float) -> None:
        if not np.isfinite(numbers).all():
            raise Refusal(
                "At ‖w‖ = {norm:g} the step or its length, measured or predicted, exceeds the "
                "largest float. Measure nearer to the model's own norm, {own:g}, or with a "
                "smaller `rate`.",
                norm=norm,
                own=own_norm,
            )

    points = [measure(norm) for norm in radii]
    here = measure(own_norm)
    for norm in radii:
        with np.errstate(all="ignore"):
            factor = norm / own_norm
            predicted = np.array([1.0, here.gradient_norm, here.fisher_length]) / factor
        require_floats(norm, factor, *predicted)
    shortest = min(point.gradient_norm for point in points)
    if shortest > 0 and not np.finfo(float).tiny <= rate * shortest < np.inf:
        raise Refusal(
            "A step η‖G‖ must be a number from {least:.3g} to {most:.3g}, so that it has an "
            "angle; got η = {rate:.3g} and ‖G‖ = {length:.3g}. Use another `rate`.",
            least=np.finfo(float).tiny,
            most=np.finfo(float).max,
            rate=rate,
            length=shortest,
        )
    return AngularUpdates(
        neurons=objective.neurons,
        rate=rate,
        optimizer=rule,
        here=here,
        norms=radii,
        loss=np.array([point.loss for point in points]),
        gradient_norms=np.array([point.gradient_norm for point in points]),
        angles=np.array([point.angle for point in points]),
        radial=np.array([point.radial for point in points]),
        step_norms=np.array([point.step_norm for point in points]),
        step_radial=np.array([point.step_radial for point in points]),
        fisher_lengths=np.array([point.fisher_length for point in points]),
    )
