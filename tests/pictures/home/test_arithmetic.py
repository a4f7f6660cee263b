"""Eq. 5 written out: what is written is true, in exact numbers."""

import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normgeo.normalizers.averages import averages, worked
from normgeo.normalizers.example import read
from normgeo.normalizers.named import NORMALIZERS
from normgeo.pictures.home.arithmetic import arithmetic, root_of, shown

LOWERED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
SMALL = st.lists(st.lists(st.integers(-9, 9), min_size=3, max_size=3), min_size=6, max_size=6)


def lines(key: str, rows: list[list[int]], place: tuple[int, int] = (1, 1)) -> list[str]:
    X, W = read("_".join(".".join(map(str, row)) for row in rows))
    (average,) = averages({key: NORMALIZERS[key]}, W, X, place).values()
    return arithmetic(worked(average, W, X, place))


def value(words: str) -> float:
    """What a reader computes from a side of an equation."""
    python = words.replace("−", "-").replace(",", "")
    python = re.sub("10([⁻⁰¹²³⁴-⁹]+)", lambda m: f"10**{m[1].translate(LOWERED)}", python)
    python = python.replace("²", "**2").replace(" · ", "*")
    python = re.sub(r"√(\d+)", r"root(\1)", python).replace("√", "root")
    return float(eval(python, {"__builtins__": {}, "root": lambda x: x**0.5}))


@given(SMALL, st.sampled_from(["batch", "layer", "weight", "rms"]))
def test_both_sides_of_every_written_equation_are_equal(rows: list[list[int]], key: str) -> None:
    for line in lines(key, rows):
        if "no mean" in line or "no z" in line:
            continue
        _, *sides = (side for side in line.split(" = ") if "‖" not in side)
        assert value(sides[0]) == pytest.approx(value(sides[-1]), rel=0.006, abs=1e-9), line


def test_fractions_and_roots_are_exact() -> None:
    assert lines("layer", [[1, 1, 3], [5, -3, 2], [0, 0, 0], [1, 1, 0], [1, 0, 0], [0, 0, 1]]) == [
        "μ = (2 + 5 + 2)/3 = 3",
        "σ² = (1² + 2² + 1²)/3 = 2",
        "z = (5 − 3)/√2 = 1.41",
    ]
    assert lines("batch", [[1, 0, 0], [2, 0, 0], [5, 0, 0], *[[1, 0, 0]] * 3]) == [
        "μ = (1 + 2 + 5)/3 = 8/3",
        "σ² = (25/9 + 4/9 + 49/9)/3 = 26/9",
        "z = (2 − 8/3)/√(26/9) = −0.392",
    ]
    assert lines("batch", [[-1, 0, 0], [-2, 0, 0], [0, 0, 0], *[[3, 0, 0]] * 3])[0] == (
        "μ = (−3 − 6 + 0)/3 = −3"
    )


def test_a_sigma_of_zero_is_explained(subtests: pytest.Subtests) -> None:
    for key, reason in [
        ("batch", "the averaged a are all equal"),
        ("layer", "the averaged a are all equal"),
        ("weight", "the weights are all 0"),
        ("rms", "the averaged a are all 0"),
    ]:
        with subtests.test(key=key, reason=reason):
            assert (
                lines(key, [[1, 1, 1]] * 3 + [[0, 0, 0]] * 3)[2]
                == f"σ = 0: {reason}, so there is no z."
            )


def test_long_numbers_are_rounded() -> None:
    assert shown(Fraction(29403)) == "29,403"
    assert shown(Fraction(10**8 + 1)) == "1 · 10⁸"
    assert root_of(Fraction(10**9)) == "√(1 · 10⁹)"
