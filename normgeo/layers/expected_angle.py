"""How far a step of an optimizer is expected to turn a block of weights, from its gradient.

Theory knows the angle of a step where growth and decay balance. A block that is not there turns as
one for which another decay would balance at this very norm: of gradients that are unrelated from
step to step, only their lengths and the norm decide the angle, not how the norm came about.
"""

from __future__ import annotations

from math import atan, exp, log

import numpy as np
from scipy.optimize import brentq

from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.dynamics.optimizer import Equilibrium, Optimizer

# Steps are as long as their rate. At a small one an optimizer forgets its gradients long before a
# block has turned, as it does where the weights stand still.
_SMALL, _SMALLEST = 1e-6, 1e-290

# Times, of a rate whose turn is too small to be found: it is below √(2 · 1e-60), and so much longer
# a step is still a small one.
_LONGER = 1e20

_LEAST, _MOST = 1e-60, 1 - 1e-12  # of ηλ, between which a decay is looked for


def expected_angles(
    optimizer: Optimizer, rate: float, norms: Array, gradient_norms: Array, size: int
) -> Array | None:
    """Return the angle of a step in radians, (B,); None for an optimizer without a law.

        tan(angle) = η‖G‖/‖w‖     for gradient descent, as an example

    Args:
        optimizer: the rule. rate: η. norms: ‖w‖, (B,). gradient_norms: ‖G‖ of a batch, its root
            mean square, (B,). size: how many weights a block has.

    """
    angles, small = np.zeros(len(norms)), max(_SMALL * rate, _SMALLEST)
    if optimizer.equilibrium(small, _MOST / small, np.ones(1), size) is None:
        return None
    for b, (norm, length) in enumerate(zip(norms, gradient_norms, strict=True)):
        if norm and length:
            step = small
            while not (turn := _angle(optimizer, step, float(norm), float(length), size)):
                if step > 1:
                    break
                step *= _LONGER
            angles[b] = atan(turn * (rate / step))
    return angles


def _angle(optimizer: Optimizer, rate: float, norm: float, length: float, size: int) -> float:
    def balance(lost: float) -> Equilibrium:
        found = optimizer.equilibrium(rate, exp(lost) / rate, np.asarray(norm * length), size)
        if found is None or not 0 < found.norm < np.inf:
            raise Refusal(
                text(
                    "The norm at which growth and decay would balance exceeds the range of "
                    "floats, of a block with ‖w‖ = {norm:g} and ‖G‖ = {length:g}. Use other units.",
                    norm=norm,
                    length=length,
                )
            )
        return found

    def beyond(lost: float) -> float:
        return log(float(balance(lost).norm)) - log(norm)

    low, high = log(_LEAST), log(_MOST)
    with np.errstate(all="ignore"):
        if beyond(low) <= 0:
            return 0.0  # no decay is small enough
        lost = high if beyond(high) >= 0 else brentq(beyond, low, high, xtol=1e-12)
        return float(balance(lost).angle)
