"""Correlated steps p in w ← rw − p: the norm at equilibrium, and the angle of one step."""

from __future__ import annotations

import numpy as np

from normgeo.base.arrays import Array
from normgeo.dynamics.optimizer import Equilibrium
from normgeo.normalizers.blocks import angle_of_decay


def balance_of_steps(
    rate: Array | float, decay: float, square: float, memory: Array, shape: tuple[int, ...]
) -> Equilibrium:
    """The equilibrium of w ← νw − ηp, ν = 1 − ηλ, for a stationary p that does not depend on w.

        ‖w‖² = η² E‖p‖² (1 + 2ντ)/(1 − ν²),    1 − cos(angle) = ηλ (1 − ηλτ)/(1 + 2ντ)

    w is the sum of ν^k p over the previous steps, so its square and its product with the next w are
    sums of products of steps.

    Args:
        rate: η. decay: λ. square: E‖p‖². shape: of the result.
        memory: τ = Σ ν^(k−1) r_k over k ≥ 1, with r_k the correlation of steps k apart; its shape
            broadcasts with η.

    """
    lost = np.broadcast_to(rate * decay, shape)
    summed = 1 + 2 * (1 - lost) * memory
    # Take roots one by one: η/λ may be too small or too large for a float.
    norm = np.sqrt(rate) / np.sqrt(decay) * np.sqrt(square * summed / (2 - lost))
    return Equilibrium(norm, angle_of_decay(lost * (1 - lost * memory) / summed))


def angles_of_steps(kept: Array, memory: Array, lengths: Array) -> Array:
    """The angle of a step w ← rw − p at any norm, for a stationary p, (B,).

        E w·p = −τ E‖p‖²,    tan(angle) = √(U² − τ²U⁴)/(r + τU²),    U = ‖p‖/‖w‖

    w is a sum of previous steps, so p continues outward. If τU is 1 or more, w cannot have taken
    such steps for as long as they are remembered; then τ = 0, as in a first step.

    Args:
        kept: r. memory: τ = Σ r^(k−1) r_k over k ≥ 1, with r_k the correlation of p k steps apart.
        lengths: U; all (B,).

    """
    outward = np.where(memory * lengths < 1, memory * lengths, 0.0)
    across = lengths * np.sqrt(1 - outward**2)
    angles: Array = np.arctan2(across, kept + outward * lengths)
    return angles
