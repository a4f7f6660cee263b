"""What is left of an exponential after its linear part, against its series in fractions."""

from fractions import Fraction
from math import factorial

import numpy as np
import pytest

from normgeo.models.exponential import exp_remainder, log_exp_remainder


def exact(x: float) -> Fraction:
    """eˣ − 1 − x from sixty terms of its series."""
    return sum((Fraction(x) ** k / factorial(k) for k in range(2, 62)), Fraction(0))


def test_remainder_keeps_every_digit(subtests: pytest.Subtests) -> None:
    for x in [1.0, -1.0, 0.9, -0.7, 0.3, 1e-3, -1e-9, 1e-100, 1.5, -3.0, 8.0]:
        with subtests.test(x=x):
            expected = float(exact(x))
            assert exp_remainder(np.array([x])).item() == pytest.approx(expected, rel=1e-15, abs=0)
            if abs(x) > 1e-50:
                expected = float(np.log(expected))
                assert log_exp_remainder(np.array([x])).item() == pytest.approx(
                    expected, rel=2e-15, abs=0
                )


def test_remainder_of_nothing_is_nothing() -> None:
    assert exp_remainder(np.zeros(1)).item() == 0
    assert log_exp_remainder(np.zeros(1)).item() == -np.inf
