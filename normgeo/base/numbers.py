"""Numbers as people read them: few digits, a true minus, powers of ten written out."""

from __future__ import annotations

from fractions import Fraction
from math import floor, inf, isfinite, log2, log10

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
SMALLEST, LARGEST = 1e-4, 1e6  # a number between these is written out
FRACTIONS = {1: "1", 2: "½", 4: "¼", 8: "⅛"}


def parts(value: float, digits: int = 3) -> tuple[str, int | None]:
    """Return a number rounded to some digits: its mantissa, and its power of ten if it needs one.

    >>> parts(0.0000123), parts(863214.0, 2), parts(-0.5)
    (('1.23', -5), ('860,000', None), ('−0.5', None))

    """
    if not isfinite(value):
        return {"nan": "undefined", "inf": "∞", "-inf": "−∞"}[str(float(value))], None
    rounded = float(f"{value:.{digits}g}")
    if rounded == 0 or SMALLEST <= abs(rounded) < LARGEST:
        return _signed(f"{rounded:,.15g}"), None
    mantissa, _, exponent = f"{rounded:.{digits - 1}e}".partition("e")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return _signed(mantissa), int(exponent)


def number(value: float, digits: int = 3) -> str:
    """Return a number with the given number of digits.

    >>> number(1.7e-15, 1), number(0.25), number(-863214.0, 2), number(1e-300)
    ('2 · 10⁻¹⁵', '0.25', '−860,000', '1 · 10⁻³⁰⁰')

    """
    mantissa, exponent = parts(value, digits)
    return mantissa if exponent is None else f"{mantissa} · {power(exponent)}"


def power(exponent: int) -> str:
    """Return a power of ten.

    >>> power(-3)
    '10⁻³'

    """
    return f"10{str(exponent).translate(RAISED)}"


def power_of_ten(log: float, digits: int = 3) -> str:
    """Return 10 to a power with the given number of digits, even if it overflows a float.

    >>> power_of_ten(18.25), power_of_ten(-400.0), power_of_ten(float("-inf"))
    ('1.78 · 10¹⁸', '1 · 10⁻⁴⁰⁰', '0')

    """
    if log == -inf or abs(log) < 300:
        return number(10.0**log, digits)
    mantissa, _, exponent = f"{10 ** (log - floor(log)):.{digits - 1}e}".partition("e")
    whole = number(float(mantissa), digits)
    return f"{whole} · 10{str(floor(log) + int(exponent)).translate(RAISED)}"


def factor(value: float) -> str:
    """Return a factor, multiples of √2 as such.

    >>> factor(8**0.5), factor(0.5), factor(3.0)
    ('2√2', '0.5', '3')

    """
    halves = round(2 * log2(value)) if value > 0 else 0
    if halves % 2 and halves > 0 and abs(value / 2 ** (halves / 2) - 1) < 1e-9:
        whole = 2 ** (halves // 2)
        return f"{whole if whole > 1 else ''}√2"
    return number(value)


def fraction(value: float) -> str:
    """Return "½" for 0.5, "1/64" for a 64th, "0.354" if it is not a power of two.

    >>> fraction(0.25), fraction(1 / 64), fraction(0.3)
    ('¼', '1/64', '0.3')

    """
    whole = round(1 / value) if value else 0
    if whole < 1 or abs(whole * value - 1) > 5e-4 or whole & (whole - 1):
        return number(value)
    return FRACTIONS.get(whole, f"1/{whole}")


def latex(value: float | Fraction, digits: int = 3) -> str:
    r"""Return a number as LaTeX with the given number of digits, or a fraction exactly.

    >>> print(latex(0.000012345), latex(Fraction(2, 3)), latex(-3.0))
    1.23 \cdot 10^{-5} \tfrac{2}{3} -3

    """
    if isinstance(value, Fraction):
        if value.denominator == 1:
            return str(value.numerator)
        sign = "-" if value < 0 else ""
        return rf"{sign}\tfrac{{{abs(value.numerator)}}}{{{value.denominator}}}"
    mantissa, e, exponent = f"{value:.{digits}g}".partition("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if e else mantissa


def _signed(words: str) -> str:
    return words.replace("-", "−")


def round_number(value: float) -> float:
    """Return the largest of 1, 2, 5 times a power of ten that is not above a positive number.

    Rounding is tolerated: 0.1 for a number that is 0.1 except for its last digits.

    >>> round_number(0.1), round_number(0.0999), round_number(7.0)
    (0.1, 0.05, 5.0)

    """
    power = floor(log10(value))
    near = (
        float(f"{digit}e{exponent}")
        for exponent in (power - 1, power, power + 1)
        for digit in (1, 2, 5)
    )
    return max(number for number in near if number <= value * (1 + 1e-9))
