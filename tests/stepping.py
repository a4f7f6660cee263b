"""Consecutive steps of an optimizer, for tests with their own gradients."""

from collections.abc import Callable

import numpy as np

from normgeo.base.arrays import Array
from normgeo.dynamics.optimizer import Optimizer


def stepping(rule: Optimizer, theta: Array, decay: Array | float = 0.0) -> Callable[..., Array]:
    """A function (θ, ∂L/∂θ, η) ↦ next θ that keeps the optimizer's memory."""
    memory, decays = rule.init(theta), np.broadcast_to(decay, theta.shape)

    def step(theta: Array, gradient: Array, rate: Array | float) -> Array:
        nonlocal memory
        rates = np.broadcast_to(rate, theta.shape)
        change, memory = rule.update(memory, theta, gradient, rates, decays)
        return theta + change

    return step
