"""Angles between subspaces that were built with known angles, and Gram–Schmidt."""

import numpy as np
import pytest
from scipy.linalg import subspace_angles

from normgeo.base import subspaces
from normgeo.base.subspaces import (
    SAME,
    graded_basis,
    graded_null_space,
    gram_schmidt,
    mapped_to_zero,
    orthonormal,
    part_across,
    principal_angles,
    without,
)

P = 9
ANGLES = np.array([1e-9, 0.05, 0.4, 1.3])
SIZES = [(2, 3), (3, 2), (1, 4), (4, 4), (4, 1)]
EPS = np.finfo(float).eps


def rotation(n, rng):
    return np.linalg.qr(rng.standard_normal((n, n)))[0]


def with_angles(k, m, rng):
    """Bases (P, k) and (P, m) with the first angles of ANGLES between them, in any coordinates.

    S = [u_i], Q = [cos θ_i u_i + sin θ_i v_i] with all u and v orthonormal, and both rotated
    within themselves.
    """
    both = min(k, m)
    theta, U = ANGLES[:both], rotation(P, rng)
    S = U[:, :k]
    Q = np.cos(theta) * U[:, :both] + np.sin(theta) * U[:, k : k + both]
    Q = np.concatenate([Q, U[:, k + both : k + m]], axis=1)
    return S @ rotation(k, rng), Q @ rotation(m, rng), theta


@pytest.mark.parametrize(("k", "m"), SIZES)
def test_principal_angles_are_those_that_were_put_in(k, m, rng):
    S, Q, theta = with_angles(k, m, rng)
    angles, vectors = principal_angles(S, Q)
    # Entries of S and Q are off by some ε, and so is the sine of every angle below 1.4.
    np.testing.assert_allclose(angles[: len(theta)], theta, rtol=0, atol=2 * P * EPS)
    np.testing.assert_allclose(angles[len(theta) :], np.pi / 2)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(k), atol=2 * P * EPS)
    measured = np.linalg.norm(vectors - Q @ (Q.T @ vectors), axis=0)
    np.testing.assert_allclose(measured, np.sin(angles), rtol=0, atol=2 * P * EPS)


@pytest.mark.parametrize(("k", "m"), SIZES)
def test_principal_angles_are_those_of_scipy(k, m, rng):
    """Scipy takes some angles from cosines, which rounding moves by up to P·ε, a sum of P terms.

    Near 1 a cosine of 1 − x is an angle of √(2x): below √(2Pε) = 6e-8 it tells nothing.
    """
    S, Q, theta = with_angles(k, m, rng)
    angles, _ = principal_angles(S, Q)
    expected = np.sort(subspace_angles(S, Q))
    bound = np.sqrt(2 * P * EPS)
    np.testing.assert_allclose(angles[: len(theta)], expected, rtol=1e-12, atol=bound)


def test_a_cosine_would_lose_the_small_angles(rng):
    """Negative control: an arccosine cannot tell 1e-9 from 0, and `SAME` lies above its errors."""
    S, Q, _ = with_angles(2, 2, rng)
    cosines = np.linalg.svd(S.T @ Q, compute_uv=False)
    assert not np.isclose(np.arccos(np.minimum(cosines, 1.0))[0], 1e-9, rtol=0.1, atol=0)
    assert principal_angles(S, Q)[0][0] == pytest.approx(1e-9, rel=1e-5)
    assert np.sqrt(2 * P * EPS) < SAME


def test_what_is_beyond_is_at_right_angles_and_makes_the_whole(rng):
    U = rotation(P, rng)
    S, Q = U[:, :5] @ rotation(5, rng), U[:, 3:7] @ rotation(4, rng)
    rest = without(S, Q)
    assert rest.shape == (P, 3)
    np.testing.assert_allclose(Q.T @ rest, 0, atol=1e-14)
    np.testing.assert_allclose(rest @ rest.T + U[:, 3:5] @ U[:, 3:5].T, S @ S.T, atol=1e-14)
    tilted = Q[:, :1] + 1e-8 * rest[:, :1]
    assert without(tilted, Q).shape == (P, 0)
    assert without(tilted, Q, 1e-9).shape == (P, 1)


def test_a_graded_basis_keeps_the_small_rows(rng):
    """The span of D V, for graded rows D: its longest vector is D V c, with c in the units of V."""
    V, D = rng.standard_normal((P, 3)), 10.0 ** np.linspace(-10, 10, P)
    basis = graded_basis(D[:, None] * V)
    np.testing.assert_allclose(basis.T @ basis, np.eye(3), atol=1e-14)
    longest = basis[:, 0] / D
    longest /= np.abs(longest).max()
    left = longest - V @ np.linalg.lstsq(V, longest)[0]
    np.testing.assert_allclose(left, 0, atol=1e-13)


def test_a_graded_null_space_tells_rows_apart_that_agree_to_rounding():
    """Two rows that differ by 1e-40: the solutions of x₀ + 1e-40 x₁ = 0 and x₀ + 2e-40 x₁ = 0."""
    C = np.array([[1.0, 1e-40, 0.0, 1e-60], [1.0, 2e-40, 0.0, 0.0]])
    basis = graded_null_space(C)
    np.testing.assert_allclose(basis.T @ basis, np.eye(2), atol=1e-15)
    np.testing.assert_allclose(basis[:2], 0, atol=1e-15)
    # Negative control: reflections leave x₁ free.
    assert np.linalg.matrix_rank(C) == 1


def test_an_orthonormal_basis_leaves_out_dependent_columns_and_zeros(rng):
    V = rng.standard_normal((P, 3))
    columns = np.column_stack([V, V @ [1.0, -2.0, 0.5], 1e-200 * V[:, 0], np.zeros(P)])
    basis = orthonormal(columns)
    assert basis.shape == (P, 3)
    np.testing.assert_allclose(basis @ (basis.T @ V), V, atol=1e-13)
    assert orthonormal(np.zeros((P, 2))).shape == (P, 0)


def test_an_orthonormal_basis_is_that_of_columns_of_any_length(rng):
    V = rng.standard_normal((P, 3))
    far = V * [1e-300, 1e200, 1e300]
    np.testing.assert_allclose(orthonormal(far), orthonormal(V), atol=8 * EPS)


def test_the_kernel_of_a_map_within_a_span_is_found(rng):
    Q, A = rotation(P, rng)[:, :4], rng.standard_normal((2, P))
    kernel = mapped_to_zero(Q, A @ Q, 1e-13)
    assert kernel.shape == (P, 2)
    np.testing.assert_allclose(A @ kernel, 0, atol=1e-13)
    np.testing.assert_allclose(Q @ (Q.T @ kernel), kernel, atol=1e-14)


def test_gram_schmidt_is_the_factor_q_of_qr_with_a_positive_diagonal(rng):
    V = rng.standard_normal((4, P))
    Q, R = np.linalg.qr(V.T)
    np.testing.assert_allclose(gram_schmidt(V, 1e-9), (Q * np.sign(R.diagonal())).T, atol=1e-14)


def test_gram_schmidt_stays_orthogonal_where_vectors_nearly_agree(rng):
    """One pass loses as many digits as the vectors share; two leave rounding."""
    first, other = rng.standard_normal((2, P))
    found = gram_schmidt([first, first + 1e-7 * other], 1e-9)
    np.testing.assert_allclose(found @ found.T, np.eye(2), atol=4 * EPS)
    unit = found[:1]
    once = (first + 1e-7 * other) - (unit @ (first + 1e-7 * other)) @ unit
    assert abs(unit[0] @ once) / np.linalg.norm(once) > 100 * abs(found[0] @ found[1])
    np.testing.assert_allclose(part_across(other, unit) @ unit[0], 0, atol=4 * EPS)


def test_gram_schmidt_leaves_out_what_adds_no_direction(rng):
    first, second = rng.standard_normal((2, P))
    found = gram_schmidt([first, -3 * first, np.zeros(P), second, first - second], 1e-9)
    np.testing.assert_array_equal(found, gram_schmidt([first, second], 1e-9))


@pytest.mark.parametrize("large", [1, 300, 10**9])
def test_a_triangle_in_blocks_has_the_singular_values_and_the_kernel_of_the_matrix(
    rng, monkeypatch, large
):
    monkeypatch.setattr(subspaces, "LARGE", large)
    M = rng.standard_normal((200, 7)) @ np.diag([1.0, 1, 1, 1e-3, 1e-9, 0, 0])
    _, s, turned = np.linalg.svd(subspaces.triangle(M))
    np.testing.assert_allclose(s, np.linalg.svd(M, compute_uv=False), atol=1e-14)
    assert np.abs(M @ turned[5:].T).max() < 1e-13


def in_parts(sizes, rng):
    """A matrix whose parts share no rows or columns, and their places, in any order."""
    shape = np.sum(sizes, axis=0)
    rows, columns = rng.permutation(shape[0]), rng.permutation(shape[1])
    M, places, at = np.zeros(shape), [], np.zeros(2, dtype=int)
    for size in sizes:
        own = rows[at[0] : at[0] + size[0]], columns[at[1] : at[1] + size[1]]
        M[np.ix_(*own)] = rng.standard_normal(size)
        places.append(own)
        at = at + size
    return M, places


def test_a_span_in_parts_is_that_of_the_whole_in_much_smaller_decompositions(rng, monkeypatch):
    V, places = in_parts([(5, 3), (4, 4), (1, 1), (2, 0), (6, 2)], rng)
    V = np.concatenate([V, V[:, places[0][1][:1]]], axis=1)  # two columns of one part are the same
    largest, svd = [], np.linalg.svd
    monkeypatch.setattr(
        np.linalg, "svd", lambda M, **how: (largest.append(M.shape), svd(M, **how))[1]
    )
    basis = orthonormal(V)
    assert basis.shape == (len(V), np.linalg.matrix_rank(V))
    np.testing.assert_allclose(basis.T @ basis, np.eye(basis.shape[1]), atol=8 * EPS)
    np.testing.assert_allclose(basis @ (basis.T @ V), V, atol=32 * EPS)
    assert max(largest, key=np.prod) == (5, 4)


def test_a_null_space_in_parts_is_that_of_the_whole(rng):
    C, _ = in_parts([(2, 5), (1, 3), (3, 4), (0, 2)], rng)
    x = graded_null_space(C)
    assert x.shape == (14, 14 - 6)
    np.testing.assert_allclose(x.T @ x, np.eye(8), atol=8 * EPS)
    np.testing.assert_allclose(C @ x, 0, atol=64 * EPS)
