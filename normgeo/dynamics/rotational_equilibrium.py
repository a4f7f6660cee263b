"""The equilibrium of weight decay and mini-batch noise: norm, angular update, and time to reach it.

The random walk: gradients of a homogeneous block have mean zero, are independent from step to step
and orthogonal to w, and have the length √Γ/‖w‖. Each optimizer states its own consequences; this
module has those common to all.
Source: Kosson, Messmer and Jaggi 2023, Rotational Equilibrium; Wan et al. 2021.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log, log1p, nan
from typing import final

import numpy as np

from normgeo.base.arguments import real_number, whole_number
from normgeo.base.refusal import Refusal
from normgeo.dynamics.optimizer import Optimizer
from normgeo.dynamics.optimizers import optimizer_of


@final
@dataclass(frozen=True)
class RotationalEquilibrium:
    """The equilibrium of one block of weights; NaN if it depends on an unknown gradient norm.

    Attributes:
        norm: ‖w*‖, root mean square. angle: of each step, root mean square, radians.
        forgotten: s, the share of an old direction that each step forgets.
        returns, hastens: near ‖w*‖ the norm obeys d ln‖w‖/dt = ln(1 − s) y^hastens
            (1 − y^−returns), with y = ‖w‖/‖w*‖.

    """

    norm: float
    angle: float
    forgotten: float
    returns: float
    hastens: float

    @property
    def half_life(self) -> float:
        """Number of steps in which a small deviation of the norm from ‖w*‖ halves."""
        return self._after(log(2) / self.returns)

    @property
    def turnover(self) -> float:
        """Number of steps after which the cosine between w and its earlier direction is ½."""
        return self._after(log(2))

    def steps_from(self, norm: float, within: float = 0.05) -> float:
        """Return the number of steps until ‖w‖ is within a fraction of ‖w*‖.

        It holds if the norm changes little over the steps that the optimizer remembers.

        Args:
            norm: ‖w‖ > 0 at the start. within: the fraction of ‖w*‖, above 0 and below 1.

        Raises:
            ValueError: numbers outside these ranges.

        """
        norm = real_number("norm", norm, above=0)
        within = real_number("within", within, above=0, below=1)
        start = log(norm / self.norm)
        end = log1p(within if start > 0 else -within)
        if abs(end) >= abs(start):
            return 0.0
        z, weights = np.polynomial.legendre.leggauss(_POINTS)
        # In u = ln|ln y| the integrand is smooth over the whole interval.
        ends = log(abs(end)), log(abs(start))
        distance = np.exp((ends[1] - ends[0]) / 2 * z + sum(ends) / 2)
        y = distance if start > 0 else -distance
        with np.errstate(over="ignore"):  # far below the equilibrium a norm grows at once
            slowness = np.exp(-self.hastens * y) * y / -np.expm1(-self.returns * y)
        return self._after(float(weights @ slowness) * (ends[1] - ends[0]) / 2)

    def _after(self, time: float) -> float:
        """Number of steps in which an old direction decays to e^−time."""
        pace = -log1p(-self.forgotten)
        return time / pace if pace else inf


def rotational_equilibrium(
    optimizer: str | Optimizer,
    *,
    rate: float,
    decay: float,
    weights: int,
    gradient_norm: float | None = None,
) -> RotationalEquilibrium | None:
    """Return the equilibrium of a homogeneous block under weight decay, None if there is no law.

    Args:
        optimizer: one of OPTIMIZERS, or its key. rate: η > 0. decay: λ > 0, with ηλ < 1.
        weights: the number of weights in the block, 2 or more.
        gradient_norm: √Γ = ‖w‖‖G‖ > 0, the gradient's norm on the unit sphere. Without it the
            norm of gradient descent and momentum is NaN, and everything of Adam; AdamW and Lion
            do not depend on it.

    Raises:
        ValueError: numbers outside these ranges.

    >>> balance = rotational_equilibrium("adamw", rate=1e-3, decay=0.1, weights=512)
    >>> print(f"{balance.norm:.3f}, {np.degrees(balance.angle):.3f}°, {balance.half_life:.0f}")
    1.599, 0.186°, 3466

    """
    rule = optimizer_of(optimizer)
    rate, decay = real_number("rate", rate, above=0), real_number("decay", decay, above=0)
    weights, root = whole_number("weights", weights, 2), np.asarray(nan)
    if gradient_norm is not None:
        root = np.asarray(real_number("gradient_norm", gradient_norm, above=0))
    if not 0 < rate * decay < 1:
        raise Refusal(
            "The product of `rate` and `decay` must be above 0 and below 1, so that decay "
            "keeps the direction; got {rate} × {decay}.",
            rate=rate,
            decay=decay,
        )
    balance = rule.equilibrium(rate, decay, root, weights)
    forgotten = rule.forgotten(rate, decay, root, weights)
    if balance is None or forgotten is None:
        return None
    return RotationalEquilibrium(
        float(balance.norm), float(balance.angle), float(forgotten), rule.returns, rule.hastens
    )


_POINTS = 64  # nodes of the quadrature: exact to at least ten digits
