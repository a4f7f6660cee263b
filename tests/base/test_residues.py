"""Residues against fractions: the same numbers, the same ranks."""

from fractions import Fraction

import numpy as np
import pytest

from normgeo.base.residues import PRIME, Residues, rank, residues


def of_fractions(values):
    return [int(f.numerator) * pow(int(f.denominator), -1, PRIME) % PRIME for f in values]


@pytest.mark.parametrize("scale", [1e-300, 1e-10, 1.0, 3e5, 1e300])
def test_floats_and_whole_numbers_are_the_fractions_that_they_are(scale, rng):
    values = np.r_[scale * rng.standard_normal(20), 0.0, -0.0, 0.1]
    assert residues(values).tolist() == of_fractions(map(Fraction, values))
    whole = rng.integers(-(2**61), 2**61, 20)
    assert residues(whole).tolist() == [int(value) % PRIME for value in whole]


def test_they_compute_as_fractions_do(rng):
    A, B = rng.standard_normal((2, 4, 3)), rng.standard_normal((3, 5))
    exact_A, exact_B = (np.vectorize(Fraction, otypes=[object])(M) for M in (A, B))

    def both(compute):
        found, expected = compute(residues(A), residues(B)), compute(exact_A, exact_B)
        assert isinstance(found, Residues)
        assert found.ravel().tolist() == of_fractions(np.ravel(expected))

    both(lambda A, B: A @ B)
    both(lambda A, B: A - A.mean(axis=-2, keepdims=True))
    both(lambda A, B: (A * A).sum(axis=-1) + 2)
    both(lambda A, B: np.add.reduce(B, axis=1, keepdims=True) / 5)
    both(lambda A, B: -B / B[:1])
    both(lambda A, B: (1 - B).mT.reshape(15))


def test_a_wide_sum_loses_nothing():
    """Every residue is the largest, so that a sum of products in floats would round."""
    row = np.full((1, 2**16), -1)
    assert (residues(row) @ residues(row.T)).tolist() == [[2**16]]


@pytest.mark.parametrize(("rows", "columns", "k"), [(5, 8, 3), (8, 5, 5), (200, 7, 4), (6, 6, 0)])
def test_ranks_modulo_a_prime_are_those_of_fractions(rows, columns, k, rng):
    """Of a product of whole numbers (·, k) and (k, ·), whatever the sizes of rows and columns."""
    M = rng.integers(-9, 10, (rows, k)) @ rng.integers(-9, 10, (k, columns))
    sizes = 2.0 ** rng.integers(-200, 200, rows)[:, None] * 2.0 ** rng.integers(-200, 200, columns)
    assert rank(residues(M * sizes)) == k
    near = M * 1.0
    near[0, 0] += 2.0**-40
    assert rank(residues(near)) == min(k + 1, *near.shape)


def test_what_would_take_them_for_whole_numbers_is_a_type_error():
    A = residues(np.ones((3, 3)))
    for compute in (np.sqrt, np.maximum.accumulate, np.median, lambda A: np.einsum("ij,jk", A, A)):
        with pytest.raises(TypeError):
            compute(A)
    assert np.repeat(A, 2, axis=0).shape == (6, 3)
    assert np.mean(A, axis=0).tolist() == [1, 1, 1]
