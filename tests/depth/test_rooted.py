"""Exact numbers with roots, against floats."""

from fractions import Fraction

import numpy as np
import pytest

from normgeo import GRID, NORMALIZERS
from normgeo.depth.norm import Gain, exact_norm, norm
from normgeo.depth.rooted import Rooted, Roots
from normgeo.invariance.exact import fractions

ALONE = {"-".join(words): norm for words, norm in GRID.items() if not norm.normalizes_weights} | {
    "group": NORMALIZERS["group"]
}


def drawn(rng, *shape):
    return fractions(rng.integers(-9, 10, shape))


def floats(x):
    return x.rest.astype(float) + (
        x.terms.astype(float) / np.sqrt(x.squares.astype(float))[:, None]
    ).sum(axis=2)


@pytest.fixture
def some(rng):
    terms, squares = drawn(rng, 3, 4, 2), fractions(rng.integers(2, 30, (3, 2)))
    return Rooted(drawn(rng, 3, 4), terms, squares)


def test_arithmetic_is_that_of_floats(some, rng):
    A, a = drawn(rng, 5, 4), drawn(rng, 5)
    x = floats(some)
    np.testing.assert_allclose(floats(some.affine(A, a)), x @ A.T.astype(float) + a.astype(float))
    np.testing.assert_allclose(floats(some.relu()), np.maximum(x, 0))
    np.testing.assert_allclose(floats(some.plus(some)), 2 * x)
    np.testing.assert_allclose(
        floats(some.plus(Rooted.rational(some.rest))), x + some.rest.astype(float)
    )


def test_the_sign_of_a_difference_that_floats_call_zero_is_told():
    """√(10⁴⁰ + 1) − 10²⁰ = 5 · 10⁻²¹."""
    square = Fraction(10**40 + 1)
    near = Rooted(
        fractions([[-(10**20), 10**20]]),
        fractions([[[10**40 + 1], [-(10**40) - 1]]]),
        np.array([[square]], dtype=object),
    )
    on = near.relu()
    assert list(on.terms[0, :, 0] != 0) == [True, False]


def test_a_number_of_unknown_sign_is_no_number():
    zero = Rooted(fractions([[-3]]), fractions([[[9]]]), fractions([[9]]))  # 9/√9 − 3
    with pytest.raises(ArithmeticError, match="sign"):
        zero.relu()


def test_roots_of_numbers_that_differ_by_a_square_are_one_root():
    roots = Roots()
    assert roots.find(Fraction(9, 4)) == (None, Fraction(3, 2))
    assert roots.find(Fraction(2)) == (2, 1)
    assert roots.find(Fraction(2 * 49, 25)) == (2, Fraction(7, 5))
    assert roots.find(Fraction(3)) == (3, 1)
    root_2 = Rooted(fractions([[0]]), fractions([[[2, -2]]]), fractions([[2, 8]]))
    assert root_2.collected(Roots())[0, 0] == {Fraction(2): 1}  # 2/√2 − 2/√8 = 1/√2


@pytest.mark.parametrize("normalizer", ALONE.values(), ids=ALONE)
def test_an_exact_norm_is_the_norm(normalizer, rng):
    x, gain = drawn(rng, 4, 6), Gain(drawn(rng, 6), drawn(rng, 6))
    expected, _ = norm(normalizer, Gain(*(p.astype(float) for p in gain)), x.astype(float))
    np.testing.assert_allclose(
        floats(exact_norm(normalizer, gain, Rooted.rational(x))), expected, atol=1e-12
    )


def test_a_norm_takes_no_roots(some):
    with pytest.raises(TypeError, match="fractions"):
        exact_norm(NORMALIZERS["layer"], Gain(some.rest[0], some.rest[0]), some)
