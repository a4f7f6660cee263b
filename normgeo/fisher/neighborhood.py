"""The KL divergence around one model, beside its quadratic approximation.

KL[P_θ ‖ P_{θ+δ}] = ½ δᵀFδ + O(‖δ‖³)    (Eq. 8)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.fisher.operator import Fisher, fisher
from normgeo.models.glm import NormalizedGLM
from normgeo.normalizers.fixed_cases import FixedCases


@final
@dataclass(frozen=True, eq=False)
class Neighborhood:
    """The effect of a step δ from a model, over fixed cases.

    Attributes:
        model: P_θ. F: its Fisher information, per case. cases: the inputs. s: (N, H), at θ.

    """

    model: NormalizedGLM
    F: Fisher
    cases: FixedCases
    s: Array

    @classmethod
    def of(cls, model: NormalizedGLM, X: ArrayLike) -> Neighborhood:
        """The neighborhood of a model over X (N, D); raises what the model refuses."""
        cases = model.over(X)
        return cls(model, fisher(model, X), cases, model.linearize_over(cases).s)

    def kl(self, step: Array) -> float:
        """Return KL[P_θ ‖ P_{θ+δ}] of δ (P,), in nats per case; raises where s is undefined."""
        other = self.model.unpack(self.model.pack() + step).linearize_over(self.cases).s
        here = self.s
        if not self.model.family.coupled:  # an unchanged output contributes nothing
            moved = (other != here).any(axis=0)
            if not moved.any():
                return 0.0
            here, other = here[:, moved], other[:, moved]
        return float(np.mean(self.model.family.kl(here, other, self.model.phi)))

    def quadratic(self, step: Array) -> float:
        """Return ½ δᵀFδ of δ (P,), in nats per case."""
        return self.F.quad(step) / 2


def guessed(last: Array, before: Array) -> Array:
    """Predict the ratio of the KL to its quadratic form on the next ray, from the last two."""
    guess: Array = np.maximum(2 * last - before, last / 2)
    return guess


def reach_of(kl: Callable[[float], float], level: float, start: float) -> float:
    """Return t > 0 with kl(t) = level, or NaN where 30 steps from `start` do not find it.

    √kl is nearly linear in t, so from a good start two or three secant steps are enough. If one
    does not halve the gap, the interval is bisected instead.

    >>> print(round(reach_of(lambda t: 4 * t * t, 1.0, start=2.0), 4))
    0.5

    """
    target = float(np.sqrt(level))
    low, high = 0.0, np.inf
    before, gap_before = 0.0, -target
    t = float(start)
    for _ in range(30):
        try:
            gap = float(np.sqrt(max(kl(t), 0.0))) - target
        except Refusal:  # no outputs there: out of the range of floating point
            gap = np.inf
        if abs(gap) <= 1e-4 * target:
            return t
        low, high = (t, high) if gap < 0 else (low, t)
        rise = gap - gap_before
        secant = t - gap * (t - before) / rise if isfinite(rise) and rise else np.nan
        halved = 2 * abs(gap) <= abs(gap_before)
        before, gap_before = t, gap
        if not isfinite(high):
            t = secant if low < secant < 2 * low else 2 * low
        else:
            t = secant if low < secant < high and halved else (low + high) / 2
    return float("nan")
