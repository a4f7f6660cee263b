"""Optimizers with steps of the same length at any scale of the gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from normgeo.base.arrays import Array
from normgeo.dynamics.optimizer import Course, Optimizer


class ScaleFree(Optimizer):
    """θ ← (1 − ηλ)θ − ηp, with a step p that does not depend on the scale of the gradients.

        angle ≈ ‖step‖/‖w‖, and not 1/‖w‖²

    Attributes:
        decoupled: whether the weight decay is separate from the step, not part of G.

    """

    decoupled: ClassVar[bool] = True
    first_turn = 0.1  # the law holds for small angles
    settling = 8.0  # the averages remember the start for longer than a short run

    def angles(self, course: Course) -> Array:
        shrunk = course.rates * course.decay * self.decoupled
        pushed = np.maximum(course.step_norms**2 - (shrunk * course.norms[:-1]) ** 2, 0) ** 0.5
        angles: Array = np.arctan2(pushed, (1 - shrunk) * course.norms[:-1])
        return angles

    def effective_rates(self, rates: Array, decay: float, norms: Array) -> Array:
        with np.errstate(divide="ignore"):  # at ηλ = 1 a step forgets the old direction
            effective: Array = rates / (1 - rates * decay * self.decoupled) / norms
        return effective

    def suggested_rate(self, turn: float, blocks: Array, others: Sequence[Array] = ()) -> float:
        # The first step is ±η in every coordinate.
        return turn / float(np.sqrt(blocks.shape[1]))
