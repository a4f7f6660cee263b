"""Exact numbers with roots, against floats."""

from fractions import Fraction

import numpy as np
import pytest

from normgeo import GRID, NORMALIZERS
from normgeo.invariance.exact import fractions
from normgeo.networks.norm import Gain, exact_norm, norm
from normgeo.networks.rooted import Rooted, Roots

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
    factors = drawn(rng, 4)
    np.testing.assert_allclose(floats(some.times(factors)), x * factors.astype(float))
    np.testing.assert_allclose(floats(some.times(Fraction(2))), 2 * x)


def test_a_root_is_known_by_delta_alone_and_stays_open_where_it_is_a_number():
    roots = Roots(Fraction(3))
    assert roots.find(Fraction(4)) == (4, 1)
    assert roots.find(Fraction(36)) == (4, 3)
    assert roots.find(Fraction(4, 9)) == (4, Fraction(1, 3))
    assert roots.find(Fraction(16)) == (16, 1)
    both = Rooted(fractions([[0]]), fractions([[[2, -2]]]), fractions([[2, 18]]))
    found = both.collected(Roots(Fraction(3)))[0, 0]
    assert found == {Fraction(2): Fraction(4, 3)}  # 2/√2 − 2/√18


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
