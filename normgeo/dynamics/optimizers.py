"""Rules that turn the gradients of a loss into changes of θ, with the conventions of PyTorch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import ClassVar, final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.dynamics.norm_laws import AdaptiveLaw, GradientLaw, HeavyBallLaw, NormLaw

Update = Callable[[Array, Array, Array], Array]
"""(θ, ∂L/∂θ, η) ↦ next θ, each (P,); keeps what a rule remembers of one run."""


class Optimizer(ABC):
    """A rule that turns gradients into changes of θ, and what theory says of it."""

    key: ClassVar[str]
    title: ClassVar[str]

    @abstractmethod
    def start(self, decays: Array) -> Update:
        """Begin a run with a weight decay λ for each parameter, (P,)."""

    @property
    @abstractmethod
    def law(self) -> NormLaw:
        """What it does to the norm of a homogeneous block."""


@final
@dataclass(frozen=True)
class GradientDescent(Optimizer):
    """θ ← (1 − ηλ)θ − ηG."""

    key = "gradient_descent"
    title = "gradient descent"

    def start(self, decays: Array) -> Update:
        return lambda theta, gradient, rates: theta - rates * (gradient + decays * theta)

    @property
    def law(self) -> NormLaw:
        return GradientLaw()


@final
@dataclass(frozen=True)
class Momentum(Optimizer):
    """The heavy ball: V ← βV + G + λθ, θ ← θ − ηV, with V = 0 at first (Polyak 1964).

    Raises:
        ValueError: β outside [0, 1).

    """

    beta: float = 0.9

    key = "momentum"
    title = "momentum"

    def __post_init__(self) -> None:
        _require_fraction("beta", self.beta)

    def start(self, decays: Array) -> Update:
        V = np.zeros_like(decays)

        def update(theta: Array, gradient: Array, rates: Array) -> Array:
            V[:] = self.beta * V + gradient + decays * theta
            following: Array = theta - rates * V
            return following

        return update

    @property
    def law(self) -> NormLaw:
        return HeavyBallLaw(self.beta)


class AdaptiveMoments(Optimizer):
    """θ ← θ − η M̂/(√V̂ + ε), M and V averages of G and G², M̂ and V̂ without their start at 0.

    Source: Kingma and Ba, Adam, 2015, algorithm 1.
    """

    beta1: float
    beta2: float
    eps: float

    def __post_init__(self) -> None:
        _require_fraction("beta1", self.beta1)
        _require_fraction("beta2", self.beta2)
        if not (isfinite(self.eps) and self.eps > 0):
            raise ValueError(f"`eps` must be a finite number above 0; got {self.eps}.")

    def adaptive_step(self, parameters: int) -> Callable[[Array], Array]:
        """Return the map G ↦ M̂/(√V̂ + ε), which keeps the averages of one run."""
        M, V, weights = np.zeros(parameters), np.zeros(parameters), np.ones(2)

        def step(gradient: Array) -> Array:
            weights[:] *= self.beta1, self.beta2
            M[:] += (1 - self.beta1) * (gradient - M)
            V[:] += (1 - self.beta2) * (gradient * gradient - V)
            ratio: Array = M / (1 - weights[0]) / (np.sqrt(V / (1 - weights[1])) + self.eps)
            return ratio

        return step


@final
@dataclass(frozen=True)
class Adam(AdaptiveMoments):
    """Adam; a weight decay is part of the gradient, G + λθ."""

    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8

    key = "adam"
    title = "Adam"

    def start(self, decays: Array) -> Update:
        step = self.adaptive_step(len(decays))
        return lambda theta, gradient, rates: theta - rates * step(gradient + decays * theta)

    @property
    def law(self) -> NormLaw:
        return AdaptiveLaw(self.beta1, decoupled=False)


@final
@dataclass(frozen=True)
class AdamW(AdaptiveMoments):
    """Adam with a weight decay apart from it, θ ← (1 − ηλ)θ − η M̂/(√V̂ + ε).

    Source: Loshchilov and Hutter, Decoupled Weight Decay Regularization, 2019.
    """

    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8

    key = "adamw"
    title = "AdamW"

    def start(self, decays: Array) -> Update:
        step = self.adaptive_step(len(decays))
        return lambda theta, gradient, rates: theta - rates * (decays * theta + step(gradient))

    @property
    def law(self) -> NormLaw:
        return AdaptiveLaw(self.beta1, decoupled=True)


def _require_fraction(name: str, value: float) -> None:
    if not 0 <= value < 1:
        raise ValueError(f"`{name}` must be from 0 up and below 1; got {value}.")


OPTIMIZERS: dict[str, Optimizer] = {
    optimizer.key: optimizer for optimizer in (GradientDescent(), Momentum(), Adam(), AdamW())
}


def optimizer_of(optimizer: str | Optimizer) -> Optimizer:
    """Return an optimizer, or the one with this key of OPTIMIZERS.

    Raises:
        ValueError: an unknown key.

    """
    if isinstance(optimizer, Optimizer):
        return optimizer
    if optimizer not in OPTIMIZERS:
        raise ValueError(f"`optimizer` must be one of {', '.join(OPTIMIZERS)}; got {optimizer!r}.")
    return OPTIMIZERS[optimizer]
