"""Sums of products of single precision, against exact ones."""

from math import fsum

import numpy as np
import pytest

from normgeo.recordings.row_products import row_products


def exactly(u, v):
    pairs = zip(u.astype(float), v.astype(float), strict=True)
    return np.array([fsum(a * b) for a, b in pairs])


@pytest.mark.pairwise("shape", [(3, 1), (2, 511), (2, 512), (5, 513), (3, 40_000), (700, 33)])
@pytest.mark.pairwise("order", ["C", "F"])
@pytest.mark.pairwise("dtype,near", [(np.float32, 4e-7), (np.float64, 1e-13)])
def test_sums_are_exact_but_for_rounding_however_long_rows_are(shape, order, dtype, near, rng):
    u, v = (np.asarray(rng.standard_normal(shape) + 1, dtype, order=order) for _ in range(2))
    sizes = np.sqrt(exactly(u, u) * exactly(v, v))
    pairs = [(u, u), (u, v), (v, v)]
    lengths = [exactly(u, u), sizes, exactly(v, v)]
    for found, (a, b), size in zip(row_products(u, v), pairs, lengths, strict=True):
        assert (np.abs(found - exactly(a, b)) < near * size).all()
    np.testing.assert_array_equal(row_products(u), row_products(u, v)[:1])


@pytest.mark.pairwise("size", [1e-40, 1e-25, 1e-18, 1e18, 1e30])
@pytest.mark.pairwise("order", ["C", "F"])
def test_squares_outside_the_range_of_single_precision_keep_their_digits(size, order, rng):
    u = np.asarray(rng.standard_normal((4, 600)), np.float32, order=order)
    u[1] = (u[1] * size).astype(np.float32)
    v = u[::-1].copy(order=order)
    pairs = [(u, u), (u, v), (v, v)]
    for found, (a, b) in zip(row_products(u, v), pairs, strict=True):
        sizes = np.sqrt(exactly(a, a) * exactly(b, b))
        assert (np.abs(found - exactly(a, b)) <= 4e-7 * sizes).all()


def test_a_row_that_is_zero_or_no_number_leaves_the_others(rng):
    u = rng.standard_normal((5, 600)).astype(np.float32)
    expected = exactly(u, u)
    u[1], u[2, 3], u[3, 4] = 0, np.nan, np.inf
    (found,) = row_products(u)
    np.testing.assert_allclose(found[[0, 4]], expected[[0, 4]], rtol=4e-7)
    assert found[1] == 0
    assert np.isnan(found[2])
    assert found[3] == np.inf
