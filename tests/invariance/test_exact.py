"""Exact numbers stay exact, and known traps are caught."""

import re
from fractions import Fraction

import numpy as np
import pytest

from normgeo.invariance import exact


@pytest.mark.parametrize("kind", [int, np.int8, np.int64, np.uint64, Fraction])
def test_integers_of_every_kind_become_fractions_with_unbounded_numerators(kind):
    (value,) = exact.fractions([kind(3)])
    assert type(value) is Fraction
    assert type(value.numerator) is int
    assert value**100 == 3**100


def test_a_fraction_of_a_numpy_integer_overflows_where_a_converted_one_does_not():
    """The trap: `Fraction(np.int64(…))` keeps a 64-bit numerator."""
    large = np.int64(2**40)
    with np.errstate(over="ignore"):
        assert Fraction(large) * Fraction(large) == 0
    (converted,) = exact.fractions(np.array([large]))
    assert converted * converted == 2**80


def test_fractions_keep_their_shape_and_values():
    values = np.arange(6).reshape(2, 3)
    converted = exact.fractions(values)
    assert converted.dtype == object
    np.testing.assert_array_equal(converted, values)


@pytest.mark.parametrize("value", [0.5, 2.0, np.float32(1), "1"], ids=repr)
def test_floats_are_not_rounded_to_fractions(value):
    with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
        exact.fractions(np.array([value], dtype=object))


def test_draws_use_the_whole_range_and_come_back(rng):
    sample = exact.draw(rng, (40, 50))
    assert {type(value) for value in sample.ravel()} == {Fraction}
    assert sample.min() < -(2**60)
    assert sample.max() >= 2**60
    assert (sample == exact.draw(np.random.default_rng(20160721), (40, 50))).all()
    assert all(1 <= exact.draw_factor(rng) <= 2**61 for _ in range(100))


@pytest.mark.parametrize(("end", "drawn"), [("low", 1), ("high", 2**61)])
def test_a_factor_may_be_either_end_of_its_range(end, drawn):
    """Without the upper end there would be fewer than 2⁶¹ values, which the error bound assumes."""

    class Ends:
        def integers(self, low, high, endpoint=False):
            return low if end == "low" else high - (not endpoint)

    assert exact.draw_factor(Ends()) == drawn


@pytest.mark.parametrize(
    ("intruder", "kind"),
    [(0.5, "float"), (np.float64(0.5), "float64"), (np.int64(1), "int64"), (1, "int")],
)
def test_whatever_is_no_fraction_is_refused_by_its_type(intruder, kind):
    sentence = (
        f"Exact evaluation must stay in Fraction; got {kind}. A float constant or a "
        "NumPy integer entered a projection or `variance`: divide by whole numbers instead."
    )
    clean = exact.fractions([1, 2])
    exact.require_fractions(clean)
    with pytest.raises(TypeError, match=f"^{re.escape(sentence)}$"):
        exact.require_fractions(clean, np.array([Fraction(1), intruder], dtype=object))


def test_degrees_add_in_products_and_take_the_larger_in_sums():
    x, y = exact.Degree(1), exact.Degree(3)
    assert [exact.degree(term) for term in (x + y, x - y, 2 - x, x + 0.5)] == [3, 3, 1, 1]
    assert [exact.degree(term) for term in (x * y, 7 * y, y * 0, y / 2)] == [4, 3, 3, 3]
    assert exact.degree(Fraction(5)) == 0


def test_degrees_pass_through_numpy_sums_means_and_products():
    M = exact.variables((2, 3))
    C = (M - M.mean(axis=0, keepdims=True)) @ M.T
    assert {exact.degree(term) for term in C.ravel()} == {2}
    assert {exact.degree(term) for term in (C * C).mean(axis=1)} == {4}


def test_a_division_by_a_variable_is_no_polynomial():
    sentence = "A certificate needs polynomials; got a division by a variable."
    with pytest.raises(TypeError, match=f"^{re.escape(sentence)}$"):
        exact.Degree(2) / exact.Degree(1)
