"""Moments merged from blocks of rows, against NumPy on all rows at once."""

import numpy as np
import pytest

from normgeo.normalizers.row_moments import RowMoments


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_moments_of_blocks_are_those_of_all_rows(shift, rng):
    W, X = rng.standard_normal((3, 4)), shift + rng.standard_normal((11, 4))
    found = RowMoments.of(W, [X[:5], X[5:6], X[6:]])
    mean, near = X.mean(axis=0), X - X.mean(axis=0)
    assert (found.cases, found.largest) == (11, np.abs(X).max())
    np.testing.assert_allclose(found.mean_case, mean, rtol=1e-15, atol=1e-15)
    np.testing.assert_allclose(found.sizes, np.abs(X).mean(axis=0), rtol=1e-14)
    np.testing.assert_allclose(found.squares, (X**2).mean(axis=0), rtol=1e-14)
    C = near @ W.T
    np.testing.assert_allclose(found.variances, (C**2).mean(axis=0), rtol=1e-8)
    np.testing.assert_allclose(found.products, C.T @ near / 11, rtol=1e-7, atol=1e-9)
