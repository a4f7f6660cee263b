"""Rules that turn the gradients of mini-batches into changes of θ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, final

import numpy as np

from normgeo._arrays import Array

Update = Callable[[Array, Array], Array]
"""(θ, ∂L/∂θ) ↦ next θ; keeps what a rule remembers of one run."""


class Rule(Protocol):
    """A way to turn gradients into changes of θ."""

    def start(self, rates: Array) -> Update:
        """Begin a run with a learning rate for each parameter, (P,)."""
        ...


@final
@dataclass(frozen=True)
class Momentum:
    """V ← β V + G, θ ← θ − η V; plain gradient descent for β = 0."""

    beta: float = 0.9

    def start(self, rates: Array) -> Update:
        velocity = np.zeros_like(rates)

        def update(theta: Array, gradient: Array) -> Array:
            velocity[:] = self.beta * velocity + gradient
            following: Array = theta - rates * velocity
            return following

        return update


@final
@dataclass(frozen=True)
class Adam:
    """θ ← θ − η M̂/(√V̂ + ε), M and V averages of G and G², M̂ and V̂ without their start at 0.

    Source: Kingma and Ba, Adam, 2015, algorithm 1.
    """

    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8

    def start(self, rates: Array) -> Update:
        M, V, decay = np.zeros_like(rates), np.zeros_like(rates), np.ones(2)

        def update(theta: Array, gradient: Array) -> Array:
            decay[:] *= self.beta1, self.beta2
            M[:] += (1 - self.beta1) * (gradient - M)
            V[:] += (1 - self.beta2) * (gradient * gradient - V)
            mean, square = M / (1 - decay[0]), V / (1 - decay[1])
            following: Array = theta - rates * mean / (np.sqrt(square) + self.eps)
            return following

        return update


RULES: dict[str, Rule] = {
    "gradient_descent": Momentum(0.0),
    "momentum": Momentum(),
    "adam": Adam(),
}


def rule_of(optimizer: str | Rule) -> Rule:
    """Return a rule, or the one with this key of RULES.

    Raises:
        ValueError: an unknown key.

    """
    if not isinstance(optimizer, str):
        return optimizer
    if optimizer not in RULES:
        raise ValueError(f"`optimizer` must be one of {', '.join(RULES)}; got {optimizer!r}.")
    return RULES[optimizer]
