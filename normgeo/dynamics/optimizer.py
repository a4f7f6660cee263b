"""What an optimizer is: its update of θ, and the theory of a block of weights under it.

Scaling a homogeneous block w does not change z, so the gradient G of the loss is orthogonal to it:
w·G = 0, on every batch that is normalized by its own statistics. Formulas are written for w; if the
normalizer has a center, w is the centered w̃. Source: section 5.2 of the paper; van Laarhoven 2017;
Wan et al. 2021, Spherical Motion Dynamics; Kosson et al. 2024, Rotational Equilibrium.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.normalizers.blocks import lengths

Memory = tuple[Array, ...]
"""An optimizer's memory of earlier gradients."""


class Course(NamedTuple):
    """The measurements of a run of T steps over B blocks that predictions use.

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

    def scaled(self) -> tuple[Course, int]:
        """Return the course of weights times 2^−p, of order one so that squares are floats, and p.

        It serves laws in which all lengths have the same power.
        """
        lengths = self.norms, self.gradient_norms, self.step_norms
        power = int(np.frexp(np.max(self.norms, initial=0.0))[1])
        with np.errstate(over="ignore"):
            norms, gradients, steps = (np.ldexp(length, -power) for length in lengths)
        return Course(self.rates, self.decay, norms, gradients, steps), power


class Equilibrium(NamedTuple):
    """The norm where growth and decay balance, and the angle of each step there, in radians.

    Both have the shape of the unit-sphere gradient norm.
    """

    norm: Array
    angle: Array


class Optimizer(ABC):
    """A rule that turns gradients into changes of θ, and the theory of it.

    A new optimizer defines its update, the angle of its steps and its effective rate; the norm, the
    equilibrium and the expected angle are optional. Sentences and titles are shown to users.

    Attributes:
        key: its name in OPTIMIZERS. title: in words.
        assumes: the assumptions of its predictions. equilibrium_assumes: those of its equilibrium,
            or why it has none.
        equilibrium_notes: more about the equilibrium of real runs.
        linear: whether its steps are linear in the gradients, so that a gradient twice as long
            gives a step twice as long.
        tangent: whether a step adds to (1 − ηλ)w only a vector orthogonal to w, so that
            cos(angle) is (1 − ηλ) times the norm before it over the norm after it.
        first_turn: the length of a first step at ‖w‖ = 1 if the rate is automatic.
        settling: the multiple of 1/(ηλ) steps after which the initial norm is forgotten.
        returns, hastens: near the equilibrium ‖w*‖ with s = `forgotten` there, the norm obeys
            d ln‖w‖/dt = −s y^hastens (1 − y^−returns) with y = ‖w‖/‖w*‖.
        first_step_in_numpy: −1 times the first step, of `eta` and `G`; "" where it has no line.

    """

    key: ClassVar[str]
    title: ClassVar[str]
    assumes: ClassVar[str]
    equilibrium_assumes: ClassVar[str] = text("No law is known for this optimizer.")
    linear: ClassVar[bool] = False
    tangent: ClassVar[bool] = False
    first_turn: ClassVar[float] = 0.5
    settling: ClassVar[float] = 6.0
    returns: ClassVar[float] = 2.0
    hastens: ClassVar[float] = 0.0
    first_step_in_numpy: ClassVar[str] = ""

    def init(self, theta: Array) -> Memory:
        """Return the memory before the first step from θ, (P,)."""
        return ()

    @abstractmethod
    def update(
        self, memory: Memory, theta: Array, gradient: Array, rates: Array, decays: Array
    ) -> tuple[Array, Memory]:
        """Return the step to add to θ, and the memory after it.

        Args:
            memory: of earlier steps. theta: θ. gradient: ∂L/∂θ. rates: η of each parameter.
            decays: λ of each; all (P,).

        """

    @abstractmethod
    def angles(self, course: Course) -> Array:
        """Return the angle of each step, predicted from ‖w_t‖ before it, radians, (T, B)."""

    @abstractmethod
    def effective_rates(self, rates: Array, decay: float, norms: Array) -> Array:
        """Return the learning rate on the unit sphere, (T, B), from η (T, 1) and ‖w‖ (T, B)."""

    @property
    def power(self) -> int:
        """The power p of the norm by which a small turn falls, θ ∝ 1/‖w‖^p, without decay."""
        one, two = self.effective_rates(np.ones((1, 1)), 0.0, np.array([[1.0, 2.0]]))[0]
        return round(float(np.log2(one / two)))

    def first_step(self, theta: Array, gradient: Array, rate: float) -> Array:
        """Return the first step from θ (P,), without decay."""
        rates, decays = np.full(theta.shape, rate), np.zeros_like(theta)
        step, _ = self.update(self.init(theta), theta, gradient, rates, decays)
        return step

    def expected_angles(
        self, rate: float, decay: float, norms: Array, gradient_norms: Array, size: int
    ) -> Array | None:
        """Return the angle of a step at norms that may be away from equilibrium, radians, (B,).

        For gradients uncorrelated over time, after as many steps as the optimizer remembers. None
        if there is no law.

        Args:
            rate: η. decay: λ. norms: ‖w‖ > 0, (B,). gradient_norms: ‖G‖ > 0, (B,).
            size: the number of weights in a block, K·D.

        """
        return None

    def norms(self, course: Course) -> Array:
        """Return ‖w_t‖ predicted from its first value, (T+1, B), or (T+1, 0) without a law."""
        return course.norms[:, :0]

    def equilibrium(
        self, rate: Array | float, decay: float, sphere_gradient: Array, size: int
    ) -> Equilibrium | None:
        """Return the equilibrium under weight decay, 0 < ηλ < 1; None if there is no law.

        Args:
            rate: η. decay: λ. sphere_gradient: √Γ = ‖w‖‖G‖, the gradient's norm on the unit sphere,
                any shape. size: the number of weights in the block, K·D.

        """
        return None

    def forgotten(
        self, rate: Array | float, decay: float, sphere_gradient: Array, size: int
    ) -> Array | None:
        """Return the share s of an old direction that each step at the equilibrium forgets.

        w_{t+k}·w_t falls as (1 − s)^k; the arguments are those of `equilibrium`, and the result
        has the shape of `sphere_gradient`. None if there is no law.
        """
        return None

    def equilibrium_formula(
        self, rate: float, decay: float, sphere_gradient: float, size: int
    ) -> tuple[str, ...]:
        """Lines of aligned LaTeX: the law of `equilibrium` with these numbers; () without a law."""
        return ()

    @property
    def equilibrium_notes(self) -> tuple[str, ...]:
        """Sentences on real runs, before and at the equilibrium."""
        return ()

    def suggested_rate(self, turn: float, blocks: Array, others: Sequence[Array] = ()) -> float:
        """Return η so that the longest first step, of a block or another part of θ, is `turn` long.

        Args:
            turn: at ‖w‖ = 1 the tangent of the angle. blocks: ∂L/∂w at the start, (B, K·D).
            others: the gradients of the other parameters, which have the same rate.

        """
        return turn / max(self._first_step(part) for part in (*blocks, *others))

    def _first_step(self, gradient: Array) -> float:
        """Return the length of the first step at η = 1."""
        return float(lengths(self.first_step(np.zeros_like(gradient), gradient, 1.0)))
