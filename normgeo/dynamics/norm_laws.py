"""What theory says of the norm of a homogeneous block, and of the angle that each step turns it.

A homogeneous block w may be scaled without changing z, so the gradient G of the loss is
orthogonal to it: w·G = 0, on every batch whose own statistics z takes. Written for w; where the
normalizer has a center, w is the centered w̃. Source: section 5.2 of the paper; van Laarhoven 2017;
Wan et al. 2021, Spherical Motion Dynamics; Kosson et al. 2024, Rotational Equilibrium.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, final

import numpy as np

from normgeo.base.arrays import Array


class Course(NamedTuple):
    """What a law takes from a run of T steps over B blocks.

    Attributes:
        rates: η_t, (T, 1). decay: λ.
        norms: ‖w_t‖, (T+1, B). gradient_norms: ‖G_t‖, (T, B).
        step_norms: ‖w_{t+1} − w_t‖, (T, B).

    """

    rates: Array
    decay: float
    norms: Array
    gradient_norms: Array
    step_norms: Array


class Equilibrium(NamedTuple):
    """The norm where growth and decay balance and the angle of each step there, in radians.

    Of one shape, that of the unit-sphere gradient norm.
    """

    norm: Array
    angle: Array


class NormLaw(ABC):
    """What is predicted of the norm and of the turn of a homogeneous block.

    `assumes` and `equilibrium_assumes` are sentences for people.
    """

    assumes: ClassVar[str]
    equilibrium_assumes: ClassVar[str]

    @abstractmethod
    def norms(self, course: Course) -> Array:
        """Return ‖w_t‖ from its first value, (T+1, B), or without columns where there is no law."""

    @abstractmethod
    def angles(self, course: Course) -> Array:
        """Return the angle of each step from ‖w_t‖ before it, radians, (T, B)."""

    @abstractmethod
    def effective_rates(self, rates: Array, decay: float, norms: Array) -> Array:
        """Return the learning rate on the unit sphere, (T, B), from η (T, 1) and ‖w‖ (T, B)."""

    @abstractmethod
    def equilibrium(
        self, rate: Array | float, decay: float, sphere_gradient: Array, size: int
    ) -> Equilibrium | None:
        """Return the equilibrium under weight decay, 0 < ηλ < 1; None where there is no law.

        Args:
            rate: η. decay: λ. sphere_gradient: √Γ = ‖w‖‖G‖, the gradient's norm on the unit
                sphere, any shape. size: how many weights are in the block.

        """


@final
@dataclass(frozen=True)
class GradientLaw(NormLaw):
    """Gradient descent w ← (1 − ηλ)w − ηG.

    ‖w'‖² = (1 − ηλ)²‖w‖² + η²‖G‖²,    tan(angle) = η‖G‖/((1 − ηλ)‖w‖)
    """

    assumes = "Exact where w·G = 0: a homogeneous block at ε = 0, with the statistics of the batch."
    equilibrium_assumes = (
        "For a gradient whose norm on the unit sphere, √Γ = ‖w‖‖G‖, stays the same: "
        "‖w‖⁴ = ηΓ/(λ(2 − ηλ)), and each step turns by arccos(1 − ηλ)."
    )

    def norms(self, course: Course) -> Array:
        squares = [course.norms[0] ** 2]
        growth = (course.rates * course.gradient_norms) ** 2
        for kept, grown in zip((1 - course.rates * course.decay) ** 2, growth, strict=True):
            squares.append(kept * squares[-1] + grown)
        return np.sqrt(squares)

    def angles(self, course: Course) -> Array:
        kept = (1 - course.rates * course.decay) * course.norms[:-1]
        angles: Array = np.arctan2(course.rates * course.gradient_norms, kept)
        return angles

    def effective_rates(self, rates: Array, decay: float, norms: Array) -> Array:
        with np.errstate(divide="ignore"):  # at ηλ = 1 nothing of the old direction is left
            effective: Array = rates / (1 - rates * decay) / norms**2
        return effective

    def equilibrium(
        self, rate: Array | float, decay: float, sphere_gradient: Array, size: int
    ) -> Equilibrium | None:
        return HeavyBallLaw(0.0).equilibrium(rate, decay, sphere_gradient, size)


@final
@dataclass(frozen=True)
class HeavyBallLaw(NormLaw):
    """Momentum V ← βV + G + λw, w ← w − ηV, from the lengths of its steps.

        ‖w'‖² = ‖w‖² − 2η w·V + η²‖V‖²,    w·V = β w·V₋ + λ‖w‖²,    w'·V = w·V − η‖V‖²

    V₋ is the V before. Where ‖w‖ and w·V have settled, these alone give the angle; the norm needs
    V₋·G = 0 as well.
    """

    beta: float

    assumes = (
        "Exact where w·G = 0, from the lengths of the steps: a homogeneous block at ε = 0, with "
        "the statistics of the batch."
    )
    equilibrium_assumes = (
        "For a gradient whose norm on the unit sphere, √Γ = ‖w‖‖G‖, stays the same and that is "
        "uncorrelated from step to step: ‖w‖⁴ = ηΓ/(λ(1 − β)(2 − ηλ/(1 + β))), and each step turns "
        "by arccos(1 − ηλ/(1 + β))."
    )

    def norms(self, course: Course) -> Array:
        square, along = course.norms[0] ** 2, np.zeros_like(course.norms[0])
        squares = [square]
        for rate, step in zip(course.rates, course.step_norms**2, strict=True):
            along = self.beta * along + course.decay * square
            square = square - 2 * rate * along + step
            along = along - step / _positive(rate)
            squares.append(square)
        return np.sqrt(squares)

    def angles(self, course: Course) -> Array:
        along, radial = np.zeros_like(course.norms[0]), []
        for rate, norm, step in zip(
            course.rates, course.norms[:-1], course.step_norms, strict=True
        ):
            along = self.beta * along + course.decay * norm**2
            radial.append(-rate * along / norm)
            along = along - step**2 / _positive(rate)
        inward = np.reshape(radial, course.step_norms.shape)
        across = np.sqrt(np.maximum(course.step_norms**2 - inward**2, 0))
        angles: Array = np.arctan2(across, course.norms[:-1] + inward)
        return angles

    def effective_rates(self, rates: Array, decay: float, norms: Array) -> Array:
        # A gradient that stays is taken 1 + β + β² + … times in the end.
        effective: Array = rates / (1 - self.beta) / norms**2
        return effective

    def equilibrium(
        self, rate: Array | float, decay: float, sphere_gradient: Array, size: int
    ) -> Equilibrium | None:
        shrunk = np.broadcast_to(rate * decay / (1 + self.beta), np.shape(sphere_gradient))
        fourth = rate * sphere_gradient**2 / (decay * (1 - self.beta) * (2 - shrunk))
        return Equilibrium(fourth**0.25, np.arccos(1 - shrunk))


@final
@dataclass(frozen=True)
class AdaptiveLaw(NormLaw):
    """Adam and AdamW: steps whose length does not know ‖w‖.

    angle ≈ ‖step‖/‖w‖, and not 1/‖w‖²

    Attributes:
        beta: β₁. decoupled: whether the decay is apart from the step, as in AdamW.

    """

    beta: float
    decoupled: bool

    assumes = (
        "The gradient's scale is divided out, so the step is as long at any ‖w‖ and the angle "
        "falls as 1/‖w‖: for small angles, steps nearly orthogonal to w, and ε far below |G|. "
        "The norm has no law: a step may have a part along w, and the norm may fall."
    )
    equilibrium_assumes = (
        "With decoupled decay, for gradients that are uncorrelated from step to step, as large in "
        "one coordinate as in another and as large as before, with a = 1 − ηλ: each step turns by "
        "arccos((a + β₁)/(1 + aβ₁)), and ‖w‖² ≈ ηKD/(2λ) over the K·D weights of a block."
    )

    def norms(self, course: Course) -> Array:
        return course.norms[:, :0]

    def angles(self, course: Course) -> Array:
        shrunk = course.rates * course.decay * self.decoupled
        pushed = np.maximum(course.step_norms**2 - (shrunk * course.norms[:-1]) ** 2, 0) ** 0.5
        angles: Array = np.arctan2(pushed, (1 - shrunk) * course.norms[:-1])
        return angles

    def effective_rates(self, rates: Array, decay: float, norms: Array) -> Array:
        effective: Array = rates / norms
        return effective

    def equilibrium(
        self, rate: Array | float, decay: float, sphere_gradient: Array, size: int
    ) -> Equilibrium | None:
        if not self.decoupled:
            return None
        kept, beta = 1 - np.broadcast_to(rate * decay, np.shape(sphere_gradient)), self.beta
        steps = size * (1 - beta) / (1 + beta) * (1 + kept * beta) / (1 - kept * beta)
        angle = np.arccos((kept + beta) / (1 + kept * beta))
        return Equilibrium(rate * np.sqrt(steps / (1 - kept**2)), angle)


def _positive(rate: Array) -> Array:
    """Return η, or for one that a schedule has let underflow a number that divides a zero step."""
    positive: Array = np.maximum(rate, np.finfo(float).tiny)
    return positive
