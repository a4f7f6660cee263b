"""The remainder of an exponential after its linear part, with all its digits.

The KL divergence of nearby models is such a remainder. Near 0 the terms of eˣ − 1 − x cancel, so it
is summed as the series x²(1/2! + x/3! + …).
"""

from __future__ import annotations

import math

import numpy as np

from normgeo.models.family import Floats

ROUNDING = 2.0**-56  # the error of a truncated series whose sum is over a third


def _exp_series(x: Floats) -> Floats:
    """(eˣ − 1 − x)/x² for |x| ≤ 1, with as many terms as the largest |x| needs."""
    largest, last = float(np.abs(x).max(initial=0)), 2
    while largest ** (last - 1) / math.factorial(last + 1) > ROUNDING:
        last += 1
    series = np.full_like(x, 1 / math.factorial(last))
    for k in range(last - 1, 1, -1):
        series *= x
        series += 1 / math.factorial(k)
    return series


def exp_remainder(x: Floats) -> Floats:
    """eˣ − 1 − x, without cancellation."""
    small = np.clip(x, -1, 1)
    remainder = small * small * _exp_series(small)
    far = np.abs(x) > 1
    remainder[far] = np.expm1(x[far]) - x[far]
    return remainder


def log_exp_remainder(x: Floats) -> Floats:
    """log(eˣ − 1 − x): −∞ at 0, and no overflow."""
    small = np.clip(x, -1, 1)
    series = _exp_series(small)
    positive, negative = np.maximum(x, 1), np.minimum(x, -1)
    with np.errstate(divide="ignore"):
        near = 2 * np.log(np.abs(small)) + np.log(series)
    above = positive + np.log1p(-(1 + positive) * np.exp(-positive))
    below = np.log(np.expm1(negative) - negative)
    return np.where(x > 1, above, np.where(x < -1, below, near))
