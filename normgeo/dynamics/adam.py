"""Adam and AdamW, whose steps are as long at any norm: the scale of the gradient is divided out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from normgeo.base.arguments import real_number
from normgeo.base.arrays import Array
from normgeo.base.numbers import latex, number
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.dynamics.optimizer import Course, Equilibrium, Optimizer, Update
from normgeo.normalizers.blocks import angle_of_decay


@dataclass(frozen=True)
class AdaptiveMoments(Optimizer):
    """θ ← θ − η M̂/(√V̂ + ε), M and V averages of G and G², M̂ and V̂ without their start at 0.

        angle ≈ ‖step‖/‖w‖, and not 1/‖w‖²

    Source: Kingma and Ba, Adam, 2015, algorithm 1.

    Attributes:
        beta1, beta2: of the averages M and V. eps: ε > 0.
        decoupled: whether a weight decay is apart from the step; else it is a part of G.

    Raises:
        ValueError: a β outside [0, 1), or ε that is not above 0.

    """

    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8

    decoupled: ClassVar[bool]
    first_turn = 0.1  # the law is for small angles
    settling = 8.0  # V̂ remembers the gradients of the start for longer than a short run takes
    assumes = text(
        "Adam divides by the scale of the gradient, so a step has the same length at every "
        "‖w‖, and its angle falls as 1/‖w‖: for small angles, steps nearly orthogonal to w, "
        "and ε far below |G|. The norm has no law: a step may have a part along w, and the "
        "norm may fall."
    )

    def __post_init__(self) -> None:
        real_number("beta1", self.beta1, least=0, below=1)
        real_number("beta2", self.beta2, least=0, below=1)
        real_number("eps", self.eps, above=0)

    def start(self, decays: Array) -> Update:
        M, V, weights = np.zeros_like(decays), np.zeros_like(decays), np.ones(2)
        apart, within = (decays, 0.0) if self.decoupled else (0.0, decays)

        def update(theta: Array, gradient: Array, rates: Array) -> Array:
            G = gradient + within * theta
            weights[:] *= self.beta1, self.beta2
            M[:] += (1 - self.beta1) * (G - M)
            V[:] += (1 - self.beta2) * (G * G - V)
            if not np.isfinite(V).all():
                raise Refusal(text("The squares of the gradient exceed the largest float."))
            step = M / (1 - weights[0]) / (np.sqrt(V / (1 - weights[1])) + self.eps)
            following: Array = theta - rates * (apart * theta + step)
            return following

        return update

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
        # With s = ηλ = 1 − c: 1 − cβ = 1 − β + sβ, 1 − c² = s(2 − s), and of cos θ is lost
        # 1 − (c + β)/(1 + cβ) = s(1 − β)/(1 + cβ), so that a small s keeps its digits.
        lost, beta = np.broadcast_to(rate * decay, np.shape(sphere_gradient)), self.beta1
        kept = 1 - lost
        steps = size * (1 - beta) / (1 + beta) * (1 + kept * beta) / (1 - beta + lost * beta)
        norm = np.sqrt(rate) / np.sqrt(decay) * np.sqrt(steps / (2 - lost))
        return Equilibrium(norm, angle_of_decay(lost * (1 - beta) / (1 + kept * beta)))

    def equilibrium_formula(
        self, rate: float, decay: float, sphere_gradient: float, size: int
    ) -> tuple[str, ...]:
        balance = self.equilibrium(rate, decay, np.asarray(sphere_gradient), size)
        if balance is None:
            return ()
        lost, beta = rate * decay, self.beta1
        memory = (1 - beta) * (1 + (1 - lost) * beta) / ((1 + beta) * (1 - beta + lost * beta))
        half = lost * (1 - beta) / (1 + (1 - lost) * beta) / 2
        turn = latex(float(np.degrees(balance.angle)))
        return (
            rf"c &= 1 - \eta\lambda, \quad \eta\lambda = {latex(rate)} \cdot {latex(decay)} "
            rf"= {latex(lost)}",
            r"\lVert w^*\rVert^2 &= \frac{\eta KD}{\lambda(2 - \eta\lambda)} \cdot "
            r"\frac{(1 - \beta_1)(1 + c\beta_1)}{(1 + \beta_1)(1 - c\beta_1)} = "
            rf"\frac{{{latex(rate)} \cdot {size}}}{{{latex(decay)} \cdot {latex(2 - lost, 4)}}} "
            rf"\cdot {latex(memory)}, \quad \lVert w^*\rVert = {latex(float(balance.norm))}",
            r"\theta^* &= \arccos\frac{c + \beta_1}{1 + c\beta_1} "
            r"= 2 \arcsin\sqrt{\frac{\eta\lambda(1 - \beta_1)}{2(1 + c\beta_1)}} "
            rf"= 2 \arcsin\sqrt{{{latex(half, 4)}}} = {{{turn}}}^\circ",
        )

    @property
    def equilibrium_notes(self) -> tuple[str, ...]:
        return (
            text(
                "Adam divides by an average of G² over 1/(1 − β₂) = {memory} steps. A shorter "
                "run still divides by the gradients of its start, so its norm differs from the "
                "law.",
                memory=number(1 / (1 - self.beta2)),
            ),
        )

    def suggested_rate(self, turn: float, blocks: Array, others: Sequence[Array] = ()) -> float:
        # A first step is ±η in every coordinate.
        return turn / float(np.sqrt(blocks.shape[1]))


@final
@dataclass(frozen=True)
class Adam(AdaptiveMoments):
    """Adam; a weight decay is part of the gradient, G + λθ."""

    key = "adam"
    title = text("Adam")
    equilibrium_assumes = text(
        "No law is known: here decay is a part of the gradient, and is divided by the scale as "
        "well. AdamW, which keeps decay apart from the gradient, has a law."
    )
    decoupled = False


@final
@dataclass(frozen=True)
class AdamW(AdaptiveMoments):
    """Adam with a weight decay apart from it, θ ← (1 − ηλ)θ − η M̂/(√V̂ + ε).

    Source: Loshchilov and Hutter, Decoupled Weight Decay Regularization, 2019.
    """

    key = "adamw"
    title = text("AdamW")
    assumes = text("{adam} At λ = 0 AdamW is Adam.", adam=AdaptiveMoments.assumes)
    equilibrium_assumes = text(
        "With decay apart from the gradient, and for gradients that are uncorrelated from step "
        "to step, equally large in all coordinates and at all steps: with c = 1 − ηλ, each "
        "step turns by arccos((c + β₁)/(1 + cβ₁)), and ‖w‖² ≈ ηKD/(2λ) over the K·D weights of "
        "a block."
    )
    decoupled = True
