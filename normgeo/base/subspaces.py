"""Linear subspaces by their bases: angles, intersections, null spaces of maps.

A basis is a matrix (P, k) with orthonormal columns; k may be 0. Ordered directions, such as the
axes of a plane, are the rows of a matrix (k, P).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from scipy.linalg import eigh, norm, qr
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from normgeo.base.arrays import Array

SAME = 1e-6
"""Radians below which directions count as equal: square roots of rounding errors are 1e-8."""

LARGE = 2**22
"""Entries of a matrix from which it is processed in blocks, not copied."""


def part_across(v: Array, directions: Array) -> Array:
    """The component of v (n,) orthogonal to orthonormal directions (k, n)."""
    for _ in range(2):  # a second time removes the rounding errors of the first
        v = v - (directions @ v) @ directions
    return v


def gram_schmidt(vectors: Iterable[Array], tolerance: float) -> Array:
    """Orthonormal vectors (k, n): the component of each vector orthogonal to the previous ones.

    A vector whose component is at most `tolerance` of its length is left out.

    >>> gram_schmidt(np.array([[2.0, 0.0], [3.0, 0.0], [1.0, -4.0]]), 1e-9)
    array([[ 1.,  0.],
           [ 0., -1.]])

    """
    found: list[Array] = []
    for v in vectors:
        rest = part_across(v, np.stack(found)) if found else v
        length = np.linalg.norm(rest)
        if length > tolerance * np.linalg.norm(v):
            found.append(rest / length)
    return np.stack(found)


def orthonormal(V: Array, tolerance: float = SAME) -> Array:
    """Return a basis of the span of the columns of V (P, k), each first scaled to length 1.

    Directions with singular values up to `tolerance`, and columns of zeros, are left out.
    """
    largest = np.abs(V).max(axis=0, initial=0.0)
    units = V[:, largest > 0] / largest[largest > 0]  # whose squares are floats
    units = units / np.linalg.norm(units, axis=0)
    bases = [np.zeros((len(V), 0))]
    for rows, columns in _parts(units):
        if len(columns) > 1:
            U, s, _ = np.linalg.svd(units[np.ix_(rows, columns)], full_matrices=False)
            bases.append(_placed(U[:, s > tolerance], rows, len(V)))
        else:
            bases.append(units[:, columns])
    return np.concatenate(bases, axis=1)


def _parts(M: Array) -> Iterator[tuple[Array, Array]]:
    """The rows and columns of each block of M (m, n) that is independent of all others.

    Matrices of changes of single neurons or features have many small blocks, which take far less
    time one by one than together. Rows of zeros are left out.
    """
    rows, columns = M.nonzero()
    size = M.shape[0] + M.shape[1]
    links = coo_array((np.ones(len(rows)), (rows, len(M) + columns)), shape=(size, size))
    count, part = connected_components(links, directed=False)
    members = np.split(np.argsort(part, kind="stable"), np.bincount(part, minlength=count).cumsum())
    for member in members:
        if len(member) and member[-1] >= len(M):
            yield member[member < len(M)], member[member >= len(M)] - len(M)


def _placed(M: Array, rows: Array, length: int) -> Array:
    """The rows of M at the given places among zeros, (length, k)."""
    placed = np.zeros((length, M.shape[1]))
    placed[rows] = M
    return placed


def graded_basis(V: Array) -> Array:
    """Return an orthonormal basis of the span of the columns of V (P, k), k of them, P ≥ k.

    Rows may differ by any factor and each keeps its own digits: Householder reflections take the
    longest rows and columns first (Cox and Higham, 1998).
    """
    order = np.argsort(-np.abs(V).max(axis=1, initial=0))
    Q, _, _ = qr(V[order], mode="economic", pivoting=True)
    basis = np.zeros_like(V)
    basis[order] = Q
    return basis


def graded_null_space(C: Array) -> Array:
    """Return an orthonormal basis of the x with C x = 0, for independent rows C (m, n).

    Gaussian elimination with complete pivoting separates rows that differ only in entries that are
    smaller by any factor; reflections do not.

    >>> x = graded_null_space(np.array([[1.0, 1e-20, 0.0], [1.0, 0.0, 1e-30]]))[:, 0]
    >>> np.allclose([x[1] / x[0], x[2] / x[0]], [-1e20, -1e30], rtol=1e-15, atol=0)
    True

    """
    n = C.shape[1]
    bases = [np.zeros((n, 0))]
    bases += [_placed(_null_space(C[np.ix_(rows, at)]), at, n) for rows, at in _parts(C)]
    return np.concatenate(bases, axis=1)


def _null_space(C: Array) -> Array:
    left = C.copy()
    pivots: list[int] = []
    for row in range(len(C)):
        left[row:] /= np.abs(left[row:]).max(axis=1, keepdims=True)
        at, pivot = divmod(int(np.abs(left[row:]).argmax()), left.shape[1])
        left[[row, row + at]] = left[[row + at, row]]
        left[row] /= left[row, pivot]
        others = np.arange(len(C)) != row
        left[others] -= left[others, pivot, None] * left[row]
        left[others, pivot] = 0.0
        pivots.append(pivot)
    free = np.setdiff1d(np.arange(C.shape[1]), pivots)
    solutions = np.zeros((C.shape[1], len(free)))
    solutions[free] = np.eye(len(free))
    solutions[pivots] = -left[:, free]
    return graded_basis(solutions)


def eigen_apart(G: Array) -> tuple[Array, Array]:
    """Return the eigenvalues (n,) of a symmetric G (n, n), ascending, and its eigenvectors.

    Each vector lies in one of the independent blocks, so that blocks do not mix.

    >>> eigen_apart(np.diag([3.0, 2.0, 3.0]))[1]
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 0., 1.]])

    """
    count, part = connected_components(csr_array(G != 0), directed=False)
    values, vectors = np.zeros(len(G)), np.zeros_like(G)
    for at in (np.flatnonzero(part == p) for p in range(count)):
        values[at], vectors[np.ix_(at, at)] = eigh(G[np.ix_(at, at)], driver="evd")
    order = np.argsort(values, kind="stable")
    return values[order], vectors[:, order]


def principal_angles(S: Array, Q: Array) -> tuple[Array, Array]:
    """Return the angles (k,) in radians, ascending, and vectors (P, k) of S at these angles to Q.

    S (P, k) and Q (P, m) are bases. If k > m, k − m directions of S are orthogonal to Q. Small
    angles come from sines: cosines lose them below 1e-8.
    """
    _, cosines, turned = np.linalg.svd(Q.T @ S, full_matrices=True)
    angles = np.full(S.shape[1], np.pi / 2)
    angles[: len(cosines)] = np.arccos(np.minimum(cosines, 1.0))
    vectors = S @ turned.T
    near = np.count_nonzero(angles < 0.1)
    if near:
        left = vectors[:, :near] - Q @ (Q.T @ vectors[:, :near])
        _, sines, turned = np.linalg.svd(left, full_matrices=False)
        angles[:near] = np.arcsin(np.minimum(sines[::-1], 1.0))
        vectors[:, :near] = vectors[:, :near] @ turned[::-1].T
    return angles, vectors


def triangle(M: Array) -> Array:
    """Return the R of M = QR, M (m, k), whose singular values and right vectors are those of M.

    A tall matrix is processed in blocks of rows, each beneath the R of the previous ones, without
    a copy of its size.
    """
    rows = len(M)
    if M.shape[1] == 1:
        return np.array([[norm(M[:, 0])]])
    if M.size > LARGE:
        rows = max(4 * M.shape[1], LARGE // M.shape[1])
    R: Array = M[:0]
    for start in range(0, len(M), rows):
        beneath = np.concatenate([R, M[start : start + rows]])
        R = np.asarray(np.linalg.qr(beneath, mode="r"))
    return R


def mapped_to_zero(Q: Array, images: Array, rounding: float) -> Array:
    """Return a basis of the part of Q (P, k) that a linear map takes to 0.

    `images` (m, k) is the map of Q; its singular values up to `rounding` count as zero.
    """
    if not Q.shape[1]:
        return Q
    _, s, turned = np.linalg.svd(triangle(images), full_matrices=True)
    still = np.ones(Q.shape[1], dtype=bool)
    still[: len(s)] = s <= rounding
    part: Array = Q @ turned[still].T
    return part


def without(V: Array, S: Array, tolerance: float = SAME) -> Array:
    """Return a basis of the component of V's span (P, k) that is orthogonal to S (P, m).

    Directions with at most `tolerance` of their length in it are left out.
    """
    U, s, _ = np.linalg.svd(V - S @ (S.T @ V), full_matrices=False)
    beyond = U[:, s > tolerance]
    # A second time removes the rounding errors of the first, as in `part_across`.
    basis: Array = np.linalg.qr(beyond - S @ (S.T @ beyond))[0]
    return basis
