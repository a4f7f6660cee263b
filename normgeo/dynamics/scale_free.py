"""What optimizers have in common whose steps are as long at any scale of the gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from normgeo.base.arrays import Array
from normgeo.dynamics.optimizer import Course, Equilibrium, Optimizer
from normgeo.normalizers.blocks import angle_of_decay


class ScaleFree(Optimizer):
    """θ ← (1 − ηλ)θ − ηp, with a step p that forgets how long the gradients are.

        angle ≈ ‖step‖/‖w‖, and not 1/‖w‖²

    Attributes:
        decoupled: whether a weight decay is apart from the step; else it is a part of G.

    """

    decoupled: ClassVar[bool] = True
    first_turn = 0.1  # the law is for small angles
    settling = 8.0  # its averages remember the start for longer than a short run takes

    def angles(self, course: Course) -> Array:
        shrunk = course.rates * course.decay * self.decoupled
        pushed = np.maximum(course.step_norms**2 - (shrunk * course.norms[:-1]) ** 2, 0) ** 0.5
        angles: Array = np.arctan2(pushed, (1 - shrunk) * course.norms[:-1])
        return angles

    def effective_rates(self, rates: Array, decay: float, norms: Array) -> Array:
        effective: Array = rates / norms
        return effective

    def suggested_rate(self, turn: float, blocks: Array, others: Sequence[Array] = ()) -> float:
        # A first step is ±η in every coordinate.
        return turn / float(np.sqrt(blocks.shape[1]))


def balance_of_steps(
    rate: Array | float, decay: float, square: float, memory: Array, shape: tuple[int, ...]
) -> Equilibrium:
    """The equilibrium of w ← cw − ηp, c = 1 − ηλ, for a stationary p that is unrelated to w.

        ‖w‖² = η² E‖p‖² (1 + 2cT)/(1 − c²),    1 − cos(angle) = ηλ (1 − ηλT)/(1 + 2cT)

    w is the sum of c^k p over the steps before, so that its square and its product with the next w
    are sums of the products of steps.

    Args:
        rate: η. decay: λ. square: E‖p‖². shape: of the result.
        memory: T = Σ c^(k−1) r_k over k ≥ 1, with r_k the correlation of steps k apart, of any
            shape that goes with η.

    """
    lost = np.broadcast_to(rate * decay, shape)
    summed = 1 + 2 * (1 - lost) * memory
    # Root by root: η/λ may be too small or too large for a float.
    norm = np.sqrt(rate) / np.sqrt(decay) * np.sqrt(square * summed / (2 - lost))
    return Equilibrium(norm, angle_of_decay(lost * (1 - lost * memory) / summed))
