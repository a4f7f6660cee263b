"""Adam and AdamW: they divide by the scale of the gradient, so the length of a step ignores ‖w‖."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from normgeo.base.arguments import real_number
from normgeo.base.arrays import Array
from normgeo.base.numbers import latex, number
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.dynamics.correlated_steps import angles_of_steps, balance_of_steps
from normgeo.dynamics.gradient_descent import angles_of_heavy_ball, forgotten_by_memory
from normgeo.dynamics.optimizer import Equilibrium, Memory
from normgeo.dynamics.scale_free import ScaleFree


@dataclass(frozen=True)
class AdaptiveMoments(ScaleFree):
    """θ ← θ − η M̂/(√V̂ + ε), with averages M of G and V of G², corrected for their start at 0.

    Source: Kingma and Ba, Adam, 2015, algorithm 1.

    Attributes:
        beta1, beta2: decay rates of M and V. eps: ε > 0.

    Raises:
        ValueError: a β outside [0, 1), or ε that is not above 0.

    """

    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8

    first_step_in_numpy = "eta * G / (np.abs(G) + 1e-8)"
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

    def init(self, theta: Array) -> Memory:
        return np.zeros_like(theta), np.zeros_like(theta), np.ones(2)

    def update(
        self, memory: Memory, theta: Array, gradient: Array, rates: Array, decays: Array
    ) -> tuple[Array, Memory]:
        M, V, weights = memory
        apart, within = (decays, 0.0) if self.decoupled else (0.0, decays)
        G = gradient + within * theta
        weights = weights * (self.beta1, self.beta2)  # correction for the start of M and V at 0
        M = M + (1 - self.beta1) * (G - M)
        V = V + (1 - self.beta2) * (G * G - V)
        if not np.isfinite(V).all():
            raise Refusal("The squares of the gradient exceed the largest float.")
        direction = M / (1 - weights[0]) / (np.sqrt(V / (1 - weights[1])) + self.eps)
        return -rates * (apart * theta + direction), (M, V, weights)

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


@final
@dataclass(frozen=True)
class Adam(AdaptiveMoments):
    """Adam with the weight decay as part of the gradient, G + λθ.

    If V̂ is constant at D², Adam is the heavy ball with the rate η(1 − β₁)/D, and
    D² = (‖G‖² + λ²‖w‖²)/(KD).
    """

    key = "adam"
    title = text("Adam")
    equilibrium_assumes = text(
        "For gradients that are unrelated from step to step, equally large in all coordinates and "
        "at all steps, and β₂ near 1. Here decay is a part of the gradient and is divided by its "
        "scale as well, so blocks with other gradients turn by other angles. With κ = (1 − β₁)/(1 "
        "+ β₁), each step turns by 2 arctan(√κ λ‖w‖/‖G‖); where decay is small, ‖w‖³ ≈ η√(KD "
        "Γ)/(2λ)."
    )
    decoupled = False

    returns, hastens = 3.0, 1.0

    def expected_angles(
        self, rate: float, decay: float, norms: Array, gradient_norms: Array, size: int
    ) -> Array:
        denominator = np.hypot(gradient_norms, decay * norms) / size**0.5
        own = rate * (1 - self.beta1) / denominator  # rate of the heavy ball
        return angles_of_heavy_ball(self.beta1, own * decay, own * (gradient_norms / norms))

    def equilibrium(
        self, rate: Array | float, decay: float, sphere_gradient: Array, size: int
    ) -> Equilibrium:
        root, z = self._balance(rate, decay, sphere_gradient, size)
        # Take roots one by one: λ and x may be too small to square.
        norm = np.sqrt(root) * np.exp(z / 4) / np.sqrt(decay)
        return Equilibrium(norm, 2 * np.arctan(np.sqrt(self._kappa) * np.exp(z / 2)))

    def forgotten(
        self, rate: Array | float, decay: float, sphere_gradient: Array, size: int
    ) -> Array:
        _, z = self._balance(rate, decay, sphere_gradient, size)
        lost = 2 / (self._kappa + np.exp(-np.maximum(z, -700)))  # ηλ/D = 2x/(1 + κx)
        return forgotten_by_memory(self.beta1, (1 - self.beta1) * lost)

    def equilibrium_formula(
        self, rate: float, decay: float, sphere_gradient: float, size: int
    ) -> tuple[str, ...]:
        norm, angle = self.equilibrium(rate, decay, np.asarray(sphere_gradient), size)
        right = rate * (decay * size) ** 0.5 / (2 * sphere_gradient**0.5)
        root = float(np.tan(angle / 2))
        return (
            r"\xi &= \frac{\lambda^2\lVert w^*\rVert^4}{\Gamma}, \quad "
            rf"\kappa = \frac{{1 - \beta_1}}{{1 + \beta_1}} = {latex(self._kappa)}",
            r"\frac{\xi^{3/4}\sqrt{1 + \xi}}{1 + \kappa\xi} &= "
            rf"\frac{{\eta\sqrt{{\lambda KD}}}}{{2\,\Gamma^{{1/4}}}} = {latex(right)}, "
            rf"\quad \lVert w^*\rVert = {latex(float(norm))}",
            r"\theta^* &= 2 \arctan\sqrt{\kappa\xi} "
            rf"= 2 \arctan {latex(root, 4)} = {{{latex(float(np.degrees(angle)))}}}^\circ",
        )

    @property
    def _kappa(self) -> float:
        return (1 - self.beta1) / (1 + self.beta1)

    def _balance(
        self, rate: Array | float, decay: float, sphere_gradient: Array, size: int
    ) -> tuple[Array, Array]:
        """Return √Γ, kept above 0, and z = ln x, x = (λ‖w‖/‖G‖)², at the equilibrium.

            x^¾ √(1 + x)/(1 + κx) = η√(λKD)/(2√√Γ)

        The logarithm of the left side increases in z with a slope between ¼ and 5/4.
        """
        root = np.maximum(sphere_gradient, np.finfo(float).tiny)
        if np.isnan(root).all():
            return root, root
        right = np.log(rate) + (np.log(decay) + np.log(size) - np.log(root)) / 2 - np.log(2)
        z = 4 / 3 * np.broadcast_to(right, np.shape(root))
        for _ in range(_NEWTON):
            own, memory = np.logaddexp(0, z), np.logaddexp(0, z + np.log(self._kappa))
            slope = 0.75 + np.exp(z - own) / 2 - np.exp(z + np.log(self._kappa) - memory)
            z = z - (0.75 * z + own / 2 - memory - right) / slope
        return root, z


@final
@dataclass(frozen=True)
class AdamW(AdaptiveMoments):
    """Adam with decoupled weight decay, θ ← (1 − ηλ)θ − η M̂/(√V̂ + ε).

    Source: Loshchilov and Hutter, Decoupled Weight Decay Regularization, 2019.
    """

    key = "adamw"
    title = text("AdamW")
    assumes = text("{adam} At λ = 0 AdamW is Adam.", adam=AdaptiveMoments.assumes)
    equilibrium_assumes = text(
        "With decay apart from the gradient, and for gradients that are uncorrelated from step "
        "to step, equally large in all coordinates and at all steps: with ν = 1 − ηλ, each "
        "step turns by arccos((ν + β₁)/(1 + νβ₁)), and ‖w‖² ≈ ηKD/(2λ) over the K·D weights of "
        "a block."
    )

    def expected_angles(
        self, rate: float, decay: float, norms: Array, gradient_norms: Array, size: int
    ) -> Array:
        lost, lengths = np.asarray(rate * decay), rate * self._square(size) ** 0.5 / norms
        return angles_of_steps(1 - lost, self._memory(lost), lengths)

    def equilibrium(
        self, rate: Array | float, decay: float, sphere_gradient: Array, size: int
    ) -> Equilibrium:
        memory, shape = self._memory(np.asarray(rate * decay)), np.shape(sphere_gradient)
        return balance_of_steps(rate, decay, self._square(size), memory, shape)

    def _square(self, size: int) -> float:
        """E‖M̂/√V̂‖²."""
        return size * (1 - self.beta1) / (1 + self.beta1)

    def _memory(self, lost: Array) -> Array:
        """τ = β/(1 − νβ): steps k apart have correlation β^k, and 1 − νβ = 1 − β + ηλβ."""
        return np.asarray(self.beta1 / (1 - self.beta1 + lost * self.beta1))

    def forgotten(
        self, rate: Array | float, decay: float, sphere_gradient: Array, size: int
    ) -> Array:
        return np.broadcast_to(rate * decay, np.shape(sphere_gradient))

    def equilibrium_formula(
        self, rate: float, decay: float, sphere_gradient: float, size: int
    ) -> tuple[str, ...]:
        norm, angle = self.equilibrium(rate, decay, np.asarray(sphere_gradient), size)
        lost, beta = rate * decay, self.beta1
        memory = (1 - beta) * (1 + (1 - lost) * beta) / ((1 + beta) * (1 - beta + lost * beta))
        half = lost * (1 - beta) / (1 + (1 - lost) * beta) / 2
        turn = latex(float(np.degrees(angle)))
        return (
            rf"\nu &= 1 - \eta\lambda, \quad \eta\lambda = {latex(rate)} \cdot {latex(decay)} "
            rf"= {latex(lost)}",
            r"\lVert w^*\rVert^2 &= \frac{\eta KD}{\lambda(2 - \eta\lambda)} \cdot "
            r"\frac{(1 - \beta_1)(1 + \nu\beta_1)}{(1 + \beta_1)(1 - \nu\beta_1)} = "
            rf"\frac{{{latex(rate)} \cdot {size}}}{{{latex(decay)} \cdot {latex(2 - lost, 4)}}} "
            rf"\cdot {latex(memory)}, \quad \lVert w^*\rVert = {latex(float(norm))}",
            r"\theta^* &= \arccos\frac{\nu + \beta_1}{1 + \nu\beta_1} "
            r"= 2 \arcsin\sqrt{\frac{\eta\lambda(1 - \beta_1)}{2(1 + \nu\beta_1)}} "
            rf"= 2 \arcsin\sqrt{{{latex(half, 4)}}} = {{{turn}}}^\circ",
        )


_NEWTON = 30  # steps; a few suffice from any start
