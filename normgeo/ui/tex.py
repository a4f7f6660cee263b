"""Numbers and matrices as KaTeX."""

from __future__ import annotations

from fractions import Fraction

from normgeo.base.arrays import Array


def number(value: float | Fraction, digits: int = 3) -> str:
    r"""Return a number with few digits, or a fraction as it is.

    >>> print(number(0.000012345), number(Fraction(2, 3)), number(-3.0))
    1.23 \cdot 10^{-5} \tfrac{2}{3} -3

    """
    if isinstance(value, Fraction):
        if value.denominator == 1:
            return str(value.numerator)
        sign = "-" if value < 0 else ""
        return rf"{sign}\tfrac{{{abs(value.numerator)}}}{{{value.denominator}}}"
    mantissa, e, exponent = f"{value:.{digits}g}".partition("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if e else mantissa


def matrix(values: Array) -> str:
    """Return a matrix, or a row vector, in parentheses."""
    rows = values.reshape(-1, values.shape[-1])
    lines = r" \\ ".join(" & ".join(map(number, row)) for row in rows)
    return rf"\begin{{pmatrix}} {lines} \end{{pmatrix}}"
