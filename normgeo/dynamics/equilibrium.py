"""The equilibrium of growth and weight decay: where a run settles, and a simulation.

In the simulation the gradient at w is orthogonal to w, in a new direction at every step, with
constant length √Γ on the unit sphere: G = (√Γ/‖w‖) u, u·w = 0, ‖u‖ = 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import final

import numpy as np

from normgeo.base.arguments import real_number, seed_number, whole_number
from normgeo.base.arrays import Array, require_room
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.dynamics.optimizer import Equilibrium, Optimizer
from normgeo.dynamics.optimizers import optimizer_of
from normgeo.dynamics.trajectory import Trajectory
from normgeo.normalizers.blocks import angles_turned, lengths


@final
@dataclass(frozen=True, eq=False)
class Balance:
    """The simulated run of T steps and its predicted equilibrium.

    Attributes:
        optimizer: the rule. rate: η. decay: λ. gradient_norm: √Γ.
        norms: ‖w‖, (T+1,). angles: radians, (T,).
        predicted: the norm and the angle at equilibrium; None if there is no law.

    """

    optimizer: Optimizer
    rate: float
    decay: float
    gradient_norm: float
    norms: Array
    angles: Array
    predicted: Equilibrium | None

    @property
    def settled(self) -> Equilibrium:
        """The norm and the angle at which the run settled."""
        return settled(self.norms, self.angles)


def last_half(values: Array) -> Array:
    """The last half of a run's values, in which the run is assumed to have settled."""
    half: Array = values[len(values) // 2 :]
    return half


def settled(norms: Array, angles: Array) -> Equilibrium:
    """The norm and the angle at which a run settled, from its last half.

    Args:
        norms: ‖w‖, (T+1, …); the result is their root mean square.
        angles: radians, (T, …); the result is their mean, NaN if there is no step.

    """
    half = last_half(angles)
    angle = half.mean(axis=0) if len(half) else np.full(np.shape(norms)[1:], np.nan)
    return Equilibrium(_root_mean_square(last_half(norms)), np.asarray(angle))


def settled_gradient(runs: Sequence[Trajectory], block: int) -> float:
    """√Γ, the root mean square of ‖w‖‖G‖ of a block over the last halves of runs."""
    halves = [last_half(run.norms[:-1] * run.gradient_norms)[:, block] for run in runs]
    return float(_root_mean_square(np.concatenate(halves)))


def _root_mean_square(values: Array) -> Array:
    """The root mean square over the first axis; the squares themselves may overflow."""
    root: Array = lengths(np.moveaxis(values, 0, -1)) / len(values) ** 0.5
    return root


def settled_cosine(runs: Sequence[Trajectory], block: int) -> float:
    """The geometric mean of cos(angle) of a block over the last halves of runs.

    A tangent step (`Optimizer.tangent`) has ‖w‖ ← (1 − ηλ)‖w‖/cos(angle), so this mean is 1 − ηλ
    whenever the norm has settled, for any gradient.
    """
    halves = [last_half(run.angles)[:, block] for run in runs]
    return float(np.exp(np.log(np.cos(np.concatenate(halves))).mean()))


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
    """Run an optimizer on one weight vector whose unit-sphere gradient norm is constant.

    Args:
        optimizer: one of OPTIMIZERS, or its key. rate: η > 0. decay: λ > 0, with ηλ < 1.
        gradient_norm: √Γ > 0. weights: their number, 3 or more. norm: ‖w‖ > 0 at the start.
        steps: T ≥ 2. seed: of the directions.

    Raises:
        ValueError: numbers outside these ranges.

    """
    rate, decay = real_number("rate", rate, above=0), real_number("decay", decay, above=0)
    gradient_norm = real_number("gradient_norm", gradient_norm, above=0)
    norm, seed = real_number("norm", norm, above=0), seed_number(seed)
    weights, steps = whole_number("weights", weights, 3), whole_number("steps", steps, 2)
    if rate * decay >= 1:
        raise Refusal(
            "The product of `rate` and `decay` must be below 1, so that decay keeps the "
            "direction; got {rate} × {decay}.",
            rate=rate,
            decay=decay,
        )
    rule, rng = optimizer_of(optimizer), np.random.default_rng(seed)
    require_room(text("The vector and its path"), weights + 2 * steps)
    rates, decays = np.full(weights, rate), np.full(weights, decay)
    w = rng.standard_normal(weights)
    w *= norm / lengths(w)
    norms, angles, memory = [norm], list[float](), rule.init(w)
    for step in range(1, steps + 1):
        unit = w / norms[-1]
        u = rng.standard_normal(weights)
        u -= (u @ unit) * unit
        with np.errstate(over="ignore", invalid="ignore"):
            gradient = gradient_norm / norms[-1] * (u / lengths(u))
            change, memory = rule.update(memory, w, gradient, rates, decays)
            angles.append(float(angles_turned(w, (w + change) - w)))
        w = w + change
        norms.append(float(lengths(w)))
        if not (norms[-1] > 0 and isfinite(norms[-1]) and isfinite(angles[-1])):
            raise Refusal(
                "The run leaves the range of floating point at step {step}. Begin nearer to "
                "the norm at which growth and decay balance, or with smaller numbers.",
                step=step,
            )
    with np.errstate(over="ignore", divide="ignore"):
        predicted = rule.equilibrium(rate, decay, np.asarray(gradient_norm), weights)
    if predicted is not None and not np.isfinite(predicted).all():
        raise Refusal(
            "The norm at which growth and decay balance exceeds the largest float. Use more "
            "decay, a smaller rate or a smaller gradient."
        )
    return Balance(rule, rate, decay, gradient_norm, np.array(norms), np.array(angles), predicted)
