"""Eq. 5 written out in numbers, with exact fractions and roots: "z = (5 − 3)/√(8/3) = 1.22"."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import isqrt

from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.normalizers.averages import Worked

LONGEST = 9  # characters of a number that is written out

NO_MEAN = text("no mean is subtracted: μ = 0")
NO_Z = {
    "equal": text("σ = 0: the averaged a are all equal, so there is no z."),
    "zero": text("σ = 0: the averaged a are all 0, so there is no z."),
    "weights": text("σ = 0: the weights are all 0, so there is no z."),
}
"""Why nothing can be divided by σ."""


def arithmetic(worked: Worked) -> list[str]:
    """The three lines of Eq. 5: mean, scale, result."""
    count, mean = len(worked.mean_of), shown(worked.mu)
    if count:
        first = f"μ = ({_sum(worked.mean_of)})/{count} = {mean}"
    else:
        first = f"μ = {mean}" if worked.mu else str(NO_MEAN)
    roots = [_exact_root(square) for square in worked.squares]
    if all(root is not None and root.denominator == 1 for root in roots):
        squares = " + ".join(f"{shown(root)}²" for root in roots if root is not None)
    else:
        squares = " + ".join(map(shown, worked.squares))
    if worked.of_weights:
        second = f"σ = ‖w‖ = √({squares}) = {root_of(worked.variance)}"
    else:
        share = f"({squares})/{worked.divisor}" if worked.divisor > 1 else squares
        second = f"σ² = {share} = {shown(worked.variance)}"
    return [first, second, _result(worked)]


def _result(worked: Worked) -> str:
    z = worked.z
    if z is None:
        reason = "weights" if worked.of_weights else "equal" if worked.mean_of else "zero"
        return str(NO_Z[reason])
    above = f"{shown(worked.a)} {'−' if worked.mu >= 0 else '+'} {shown(abs(worked.mu))}"
    below = root_of(worked.variance)
    if "/" in below and not below.startswith("√"):
        below = f"({below})"
    return f"z = ({above})/{below} = {number(z)}"


def shown(value: Fraction) -> str:
    """Return a whole number or a fraction in full, or few digits of it where it is long.

    >>> shown(Fraction(-22, 3)), shown(Fraction(1200)), shown(Fraction(98765, 4321))
    ('−22/3', '1,200', '22.9')

    """
    words = f"{value.numerator:,}" + (f"/{value.denominator}" if value.denominator > 1 else "")
    return words.replace("-", "−") if len(words) <= LONGEST else number(float(value))


def root_of(square: Fraction) -> str:
    """Return the root of a number, as a number where it has one.

    >>> root_of(Fraction(4, 9)), root_of(Fraction(6)), root_of(Fraction(8, 3))
    ('2/3', '√6', '√(8/3)')

    """
    root = _exact_root(square)
    if root is not None:
        return shown(root)
    words = shown(square)
    return f"√{words}" if words.replace(",", "").replace(".", "").isdigit() else f"√({words})"


def _exact_root(square: Fraction) -> Fraction | None:
    root = Fraction(isqrt(square.numerator), isqrt(square.denominator))
    return root if root**2 == square else None


def _sum(summands: Iterable[Fraction]) -> str:
    """Return "6 − 3 + 9"."""
    first, *others = summands
    signed = (f" {'−' if other < 0 else '+'} {shown(abs(other))}" for other in others)
    return shown(first) + "".join(signed)
