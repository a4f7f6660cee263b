"""Where growth and decay of a weight vector balance: a simulation with a gradient as theory has it.

The gradient at w is orthogonal to it, in a direction of its own at every step, and of one length
√Γ on the unit sphere: G = (√Γ/‖w‖) u, u·w = 0, ‖u‖ = 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.dynamics.norm_laws import Equilibrium
from normgeo.dynamics.optimizers import Optimizer, optimizer_of
from normgeo.normalizers.blocks import angles_turned, lengths


@final
@dataclass(frozen=True, eq=False)
class Balance:
    """The simulated run of T steps and its predicted end.

    Attributes:
        optimizer: the rule. rate: η. decay: λ. gradient_norm: √Γ.
        norms: ‖w‖, (T+1,). angles: radians, (T,).
        predicted: the norm and the angle of the equilibrium, None without a law.

    """

    optimizer: Optimizer
    rate: float
    decay: float
    gradient_norm: float
    norms: Array
    angles: Array
    predicted: Equilibrium | None

    @property
    def settled_norm(self) -> float:
        """The root mean square of ‖w‖ over the last half of the run."""
        return float(np.mean(self.norms[len(self.norms) // 2 :] ** 2) ** 0.5)

    @property
    def settled_angle(self) -> float:
        """The mean angle over the last half of the run, radians."""
        return float(self.angles[len(self.angles) // 2 :].mean())


def simulate_balance(
    optimizer: str | Optimizer = "gradient_descent",
    *,
    rate: float = 0.1,
    decay: float = 0.1,
    gradient_norm: float = 1.0,
    weights: int = 400,
    norm: float = 1.0,
    steps: int = 1000,
    seed: int = 0,
) -> Balance:
    """Run a rule on one weight vector whose unit-sphere gradient norm is constant.

    Args:
        optimizer: one of OPTIMIZERS, or its key. rate: η > 0. decay: λ > 0, with ηλ < 1.
        gradient_norm: √Γ > 0. weights: 3 or more, of the vector. norm: ‖w‖ > 0 at the start.
        steps: T ≥ 2. seed: of the directions.

    Raises:
        ValueError: numbers outside these ranges.

    """
    for name, value in (
        ("rate", rate),
        ("decay", decay),
        ("gradient_norm", gradient_norm),
        ("norm", norm),
    ):
        if not (isfinite(value) and value > 0):
            raise ValueError(f"`{name}` must be a finite number above 0; got {value}.")
    if rate * decay >= 1:
        raise ValueError(
            "The product of `rate` and `decay` must be below 1, so that decay keeps the direction; "
            f"got {rate} × {decay}."
        )
    for name, count, lowest in (("weights", weights, 3), ("steps", steps, 2)):
        if count < lowest or not float(count).is_integer():
            raise ValueError(f"`{name}` must be a whole number from {lowest} up; got {count!r}.")
    rule, rng = optimizer_of(optimizer), np.random.default_rng(seed)
    update, rates = rule.start(np.full(weights, decay)), np.full(weights, rate)
    w = rng.standard_normal(weights)
    w *= norm / lengths(w)
    norms, angles = [norm], []
    for _ in range(int(steps)):
        u = rng.standard_normal(weights)
        u -= (u @ w) / (w @ w) * w
        following = update(w, gradient_norm / norms[-1] * u / lengths(u), rates)
        angles.append(float(angles_turned(w, following - w)))
        w = following
        norms.append(float(lengths(w)))
    predicted = rule.law.equilibrium(rate, decay, np.asarray(gradient_norm), weights)
    return Balance(rule, rate, decay, gradient_norm, np.array(norms), np.array(angles), predicted)
