"""Lion, whose steps are signs: each weight changes by +η or −η."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from math import pi
from typing import final

import numpy as np

from normgeo.base.arguments import real_number
from normgeo.base.arrays import Array
from normgeo.base.numbers import latex
from normgeo.base.text import text
from normgeo.dynamics.correlated_steps import angles_of_steps, balance_of_steps
from normgeo.dynamics.optimizer import Equilibrium, Memory
from normgeo.dynamics.scale_free import ScaleFree


@final
@dataclass(frozen=True)
class Lion(ScaleFree):
    """θ ← (1 − ηλ)θ − η sign(β₁M + (1 − β₁)G), then M ← β₂M + (1 − β₂)G.

    Source: Chen et al., Symbolic Discovery of Optimization Algorithms, 2023, algorithm 2.

    Attributes:
        beta1: weight of M inside the sign. beta2: decay rate of the average M.

    Raises:
        ValueError: a β outside [0, 1).

    """

    beta1: float = 0.9
    beta2: float = 0.99

    key = "lion"
    first_step_in_numpy = "eta * np.sign(G)"
    title = text("Lion")
    assumes = text(
        "Lion takes only signs, so a step has the same length at every ‖w‖, and its angle falls "
        "as 1/‖w‖: for small angles and steps nearly orthogonal to w. The norm has no law: a "
        "step may have a part along w, and the norm may fall."
    )
    equilibrium_assumes = text(
        "For gradients that are unrelated from step to step, normally distributed and of a "
        "constant size in each coordinate: the signs of steps k apart then agree by (2/π) arcsin "
        "ρ_k, where ρ_k is the correlation of what they are taken of."
    )

    def __post_init__(self) -> None:
        real_number("beta1", self.beta1, least=0, below=1)
        real_number("beta2", self.beta2, least=0, below=1)

    def init(self, theta: Array) -> Memory:
        return (np.zeros_like(theta),)

    def update(
        self, memory: Memory, theta: Array, gradient: Array, rates: Array, decays: Array
    ) -> tuple[Array, Memory]:
        (M,) = memory
        sign = np.sign(self.beta1 * M + (1 - self.beta1) * gradient)
        M = self.beta2 * M + (1 - self.beta2) * gradient
        return -rates * (decays * theta + sign), (M,)

    def expected_angles(
        self, rate: float, decay: float, norms: Array, gradient_norms: Array, size: int
    ) -> Array:
        lost = np.asarray(rate * decay)
        return angles_of_steps(1 - lost, self._memory(lost), rate * size**0.5 / norms)

    def equilibrium(
        self, rate: Array | float, decay: float, sphere_gradient: Array, size: int
    ) -> Equilibrium:
        memory = self._memory(np.asarray(rate * decay))
        return balance_of_steps(rate, decay, size, memory, np.shape(sphere_gradient))

    def forgotten(
        self, rate: Array | float, decay: float, sphere_gradient: Array, size: int
    ) -> Array:
        return np.broadcast_to(rate * decay, np.shape(sphere_gradient))

    def _memory(self, lost: Array) -> Array:
        """τ = (2/π) Σ ν^(k−1) arcsin ρ_k over k ≥ 1, with ρ_k = ρ₁β₂^(k−1) and ν = 1 − ηλ.

        The arcsine is expanded in powers, each a geometric series in k.
        """
        recent, older = 1 - self.beta1, self.beta1 * (1 - self.beta2)
        tail = self.beta1 * older / (1 + self.beta2)
        nearest = (recent * older + self.beta2 * tail) / (recent**2 + tail)
        total, term = np.zeros_like(lost), nearest
        for odd in count(1, 2):
            kept = self.beta2**odd
            total = total + term / (1 - kept + lost * kept)
            term *= nearest**2 * odd**2 / ((odd + 1) * (odd + 2))
            if term <= np.finfo(float).eps * nearest * (1 - self.beta2):
                return total * (2 / pi)
        raise AssertionError  # the terms decrease at least as fast as the powers of ρ₁ < 1

    def equilibrium_formula(
        self, rate: float, decay: float, sphere_gradient: float, size: int
    ) -> tuple[str, ...]:
        norm, angle = self.equilibrium(rate, decay, np.asarray(sphere_gradient), size)
        lost = rate * decay
        memory = float(self._memory(np.asarray(lost)))
        share = lost * (1 - lost * memory) / (1 + 2 * (1 - lost) * memory) / 2
        return (
            rf"\nu &= 1 - \eta\lambda, \quad \eta\lambda = {latex(rate)} \cdot {latex(decay)} "
            rf"= {latex(lost)}, \quad \tau = \frac{{2}}{{\pi}} \sum_{{k \ge 1}} \nu^{{k-1}} "
            rf"\arcsin\rho_k = {latex(memory)}",
            r"\lVert w^*\rVert^2 &= \frac{\eta KD\,(1 + 2\nu\tau)}{\lambda(2 - \eta\lambda)}, "
            rf"\quad \lVert w^*\rVert = {latex(float(norm))}",
            r"\theta^* &= 2 \arcsin\sqrt{\frac{\eta\lambda(1 - \eta\lambda\tau)}{2(1 + 2\nu\tau)}} "
            rf"= 2 \arcsin\sqrt{{{latex(share, 4)}}} = {{{latex(float(np.degrees(angle)))}}}^\circ",
        )
