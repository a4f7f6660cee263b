"""Gradient descent and momentum: their steps are sums of gradients, with exact laws of the norm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from normgeo.base.arguments import real_number
from normgeo.base.arrays import Array
from normgeo.base.numbers import latex
from normgeo.base.text import text
from normgeo.dynamics.correlated_steps import angles_of_steps
from normgeo.dynamics.optimizer import Course, Equilibrium, Memory, Optimizer
from normgeo.normalizers.blocks import angle_of_decay


@final
@dataclass(frozen=True)
class GradientDescent(Optimizer):
    """θ ← (1 − ηλ)θ − ηG.

    ‖w'‖² = (1 − ηλ)²‖w‖² + η²‖G‖²,    tan(angle) = η‖G‖/((1 − ηλ)‖w‖)
    """

    key = "gradient_descent"
    title = text("gradient descent")
    assumes = text(
        "Exact where w·G = 0: a homogeneous block at ε = 0, with the statistics of the batch."
    )
    equilibrium_assumes = text(
        "For a gradient whose norm on the unit sphere, √Γ = ‖w‖‖G‖, stays the same: "
        "‖w‖⁴ = ηΓ/(λ(2 − ηλ)), and each step turns by arccos(1 − ηλ)."
    )
    linear = tangent = True
    returns = 4.0
    first_step_in_numpy = "eta * G"

    def update(
        self, memory: Memory, theta: Array, gradient: Array, rates: Array, decays: Array
    ) -> tuple[Array, Memory]:
        return -rates * (gradient + decays * theta), ()

    def norms(self, course: Course) -> Array:
        norms = [course.norms[0]]
        growth = course.rates * course.gradient_norms
        for kept, grown in zip(1 - course.rates * course.decay, growth, strict=True):
            norms.append(np.hypot(kept * norms[-1], grown))
        return np.array(norms)

    def angles(self, course: Course) -> Array:
        kept = (1 - course.rates * course.decay) * course.norms[:-1]
        angles: Array = np.arctan2(course.rates * course.gradient_norms, kept)
        return angles

    def expected_angles(
        self, rate: float, decay: float, norms: Array, gradient_norms: Array, size: int
    ) -> Array:
        return Momentum(0.0).expected_angles(rate, decay, norms, gradient_norms, size)

    def effective_rates(self, rates: Array, decay: float, norms: Array) -> Array:
        with np.errstate(divide="ignore"):  # at ηλ = 1 a step forgets the old direction
            effective: Array = rates / (1 - rates * decay) / norms**2
        return effective

    def equilibrium(
        self, rate: Array | float, decay: float, sphere_gradient: Array, size: int
    ) -> Equilibrium | None:
        return Momentum(0.0).equilibrium(rate, decay, sphere_gradient, size)

    def forgotten(
        self, rate: Array | float, decay: float, sphere_gradient: Array, size: int
    ) -> Array | None:
        return Momentum(0.0).forgotten(rate, decay, sphere_gradient, size)

    def equilibrium_formula(
        self, rate: float, decay: float, sphere_gradient: float, size: int
    ) -> tuple[str, ...]:
        return Momentum(0.0).equilibrium_formula(rate, decay, sphere_gradient, size)


@final
@dataclass(frozen=True)
class Momentum(Optimizer):
    """The heavy ball: V ← βV + G + λθ, θ ← θ − ηV, from V = 0 (Polyak 1964).

        ‖w'‖² = ‖w‖² − 2η w·V + η²‖V‖²,    w·V = β w·V₋ + λ‖w‖²,    w'·V = w·V − η‖V‖²

    V₋ is the previous V. When ‖w‖ and w·V have settled, these equations alone give the angle; the
    norm needs V₋·G = 0 as well.

    Raises:
        ValueError: β outside [0, 1).

    """

    beta: float = 0.9

    key = "momentum"
    title = text("momentum")
    assumes = text(
        "Exact where w·G = 0, from the lengths of the steps: a homogeneous block at ε = 0, with "
        "the statistics of the batch."
    )
    equilibrium_assumes = text(
        "For a gradient that is uncorrelated from step to step and whose norm on the unit "
        "sphere, √Γ = ‖w‖‖G‖, stays the same: ‖w‖⁴ = ηΓ/(λ(1 − β)(2 − ηλ/(1 + β))), and each "
        "step turns by arccos(1 − ηλ/(1 + β))."
    )
    linear = True
    returns = 4.0
    first_step_in_numpy = "eta * G"

    def __post_init__(self) -> None:
        real_number("beta", self.beta, least=0, below=1)

    def init(self, theta: Array) -> Memory:
        return (np.zeros_like(theta),)

    def update(
        self, memory: Memory, theta: Array, gradient: Array, rates: Array, decays: Array
    ) -> tuple[Array, Memory]:
        (V,) = memory
        V = self.beta * V + gradient + decays * theta
        return -rates * V, (V,)

    def norms(self, course: Course) -> Array:
        course, power = course.scaled()
        square, along = course.norms[0] ** 2, np.zeros_like(course.norms[0])
        squares = [square]
        for rate, step in zip(course.rates, course.step_norms**2, strict=True):
            along = self.beta * along + course.decay * square
            square = square - 2 * rate * along + step
            along = along - step / _positive(rate)
            squares.append(square)
        norms: Array = np.ldexp(np.sqrt(squares), power)
        return norms

    def angles(self, course: Course) -> Array:
        course, _ = course.scaled()
        along, radial = np.zeros_like(course.norms[0]), []
        for rate, norm, step in zip(
            course.rates, course.norms[:-1], course.step_norms, strict=True
        ):
            along = self.beta * along + course.decay * norm**2
            radial.append(-rate * along / norm)
            along = along - step**2 / _positive(rate)
        inward = np.reshape(radial, course.step_norms.shape)
        across = np.sqrt(np.maximum(course.step_norms - abs(inward), 0))
        across *= np.sqrt(course.step_norms + abs(inward))
        angles: Array = np.arctan2(across, course.norms[:-1] + inward)
        return angles

    def expected_angles(
        self, rate: float, decay: float, norms: Array, gradient_norms: Array, size: int
    ) -> Array:
        lost = np.broadcast_to(rate * decay, np.shape(norms))
        return angles_of_heavy_ball(self.beta, lost, rate * gradient_norms / norms)

    def effective_rates(self, rates: Array, decay: float, norms: Array) -> Array:
        # The steps add up a constant gradient 1 + β + β² + … times.
        effective: Array = rates / (1 - self.beta) / norms**2
        return effective

    def equilibrium(
        self, rate: Array | float, decay: float, sphere_gradient: Array, size: int
    ) -> Equilibrium:
        shrunk = np.broadcast_to(rate * decay / (1 + self.beta), np.shape(sphere_gradient))
        # Take roots one by one: η/λ may be too small or too large for a float.
        balance = np.power(rate, 0.25) / np.power(decay, 0.25) * np.sqrt(sphere_gradient)
        norm = balance / ((1 - self.beta) * (2 - shrunk)) ** 0.25
        return Equilibrium(norm, angle_of_decay(shrunk))

    def forgotten(
        self, rate: Array | float, decay: float, sphere_gradient: Array, size: int
    ) -> Array:
        lost = np.broadcast_to(rate * decay, np.shape(sphere_gradient))
        return forgotten_by_memory(self.beta, lost)

    def equilibrium_formula(
        self, rate: float, decay: float, sphere_gradient: float, size: int
    ) -> tuple[str, ...]:
        norm, angle = self.equilibrium(rate, decay, np.asarray(sphere_gradient), size)
        shrunk, turn = rate * decay / (1 + self.beta), latex(float(np.degrees(angle)))
        kept, more, less = "", "", ""
        if self.beta:
            kept, more = r"(1 - \beta)", r"/(1 + \beta)"
            less = rf" \cdot {latex(1 - self.beta)}"
        return (
            rf"\lVert w^*\rVert^4 &= \frac{{\eta\,\Gamma}}{{\lambda{kept}(2 - \eta\lambda{more})}}"
            rf" = \frac{{{latex(rate)} \cdot {latex(sphere_gradient**2)}}}"
            rf"{{{latex(decay)}{less} \cdot {latex(2 - shrunk, 4)}}}, "
            rf"\quad \lVert w^*\rVert = {latex(float(norm))}",
            rf"\theta^* &= \arccos(1 - \eta\lambda{more}) "
            rf"= 2 \arcsin\sqrt{{\eta\lambda{more}/2}} "
            rf"= 2 \arcsin\sqrt{{{latex(shrunk / 2, 4)}}} = {{{turn}}}^\circ",
        )

    def suggested_rate(self, turn: float, blocks: Array, others: Sequence[Array] = ()) -> float:
        # With a constant gradient the steps grow to 1/(1 − β) times the first one.
        return GradientDescent().suggested_rate((1 - self.beta) * turn, blocks, others)


def angles_of_heavy_ball(beta: float, lost: Array, first: Array) -> Array:
    """The angle of a step of the heavy ball under gradients uncorrelated over time, (B,).

    Without gradients w is a combination of r^t and q^t, r + q = 1 + β − ηλ and rq = β, where r is
    the slower one: the steps are along w. A gradient contributes to later steps as q^k, so they are
    correlated. If r and q are complex, for ηλ > (1 − √β)², neither is slower: the angle is that of
    the equilibrium, where u² = ηλ(1 − β)(2 − ηλ/(1 + β)), times η‖G‖/(‖w‖u), and at most a right
    angle away from the equilibrium.

    Args:
        beta: β. lost: ηλ, (B,). first: η‖G‖/‖w‖, (B,).

    """
    r = 1 - forgotten_by_memory(beta, lost)
    q = np.divide(beta, r, out=np.zeros_like(r), where=r > beta)
    slow = angles_of_steps(r, q / (1 - beta), first / np.sqrt(1 - q**2))
    # At equilibrium: y = η²‖V‖²/‖w‖² and x = ηw·V/‖w‖², from w·V = β(w·V − η‖V‖²) + λ‖w‖² and the
    # square of V.
    balanced = lost * (1 - beta) * np.maximum(2 - lost / (1 + beta), 0)
    y = (1 - beta) * balanced + (1 + beta) * lost**2
    y = y / ((1 - beta) ** 2 * (1 + beta) + 2 * beta * lost)
    x = (lost - beta * y) / (1 - beta)
    settled = np.arctan2(np.sqrt(np.maximum(y - x**2, 0)), 1 - x)
    ratio = np.divide(first, np.sqrt(balanced), out=np.zeros_like(settled), where=balanced > 0)
    settled = np.minimum(settled * ratio, np.maximum(settled, np.pi / 2))
    angles: Array = np.where(lost < (1 - beta**0.5) ** 2, slow, settled)
    return angles


def forgotten_by_memory(beta: float, lost: Array) -> Array:
    """Return 1 − |r| of w'' = (1 + β − ηλ)w' − βw, the heavy ball without gradients; w_t ~ r^t.

    Args:
        beta: β. lost: ηλ, any shape, below 2(1 + β), where the heavy ball diverges.

    """
    twice = (1 + beta - lost) ** 2 - 4 * beta  # (r − r')² of the two roots
    root = np.sqrt(np.maximum(twice, 0))
    slow = 2 * lost / (1 - beta + lost + root)
    swinging = 1 - (lost - 1 - beta + root) / 2
    real = np.where(lost < 1 + beta, slow, swinging)
    return np.where(twice < 0, 1 - beta**0.5, real)


def _positive(rate: Array) -> Array:
    """Return η; if it underflowed to 0, a positive number by which to divide a zero step."""
    positive: Array = np.maximum(rate, np.finfo(float).tiny)
    return positive
