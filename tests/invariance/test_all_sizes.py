"""A ✗ of the design space holds at every size: the algebra of docs/mathematics.md, exactly.

A change of a row or of all rows adds T of rank 1 to C, or multiplies it. z is unchanged if C + T is
C times a factor that the scale shares; with at least three cases, neurons and features it never is.
"""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from normgeo import GRID, TRANSFORMS, Normalizer, certify
from normgeo.invariance import exact

from .test_certificate import EXPECTED

SHAPES = [
    (3, 3, 3, 1),
    (4, 3, 5, 1),
    (3, 5, 4, 1),
    (7, 4, 3, 1),
    (4, 8, 3, 2),
    (3, 9, 4, 3),
]

every_shape = pytest.mark.pairwise("shape", SHAPES, ids=str)


def drawn(shape, key, seed=0):
    rng, (N, H, D, _) = np.random.default_rng(seed), shape
    W, X = exact.draw(rng, (H, D)), exact.draw(rng, (N, D))
    change = TRANSFORMS[key]
    if change.rescales:
        return W, X, exact.draw_factor(rng), None
    return W, X, None, exact.draw(rng, change.gamma_shape(W, X))


def moments(words, G, W, X):
    grouped = Normalizer(*words, groups=G if "layer" in words else 1)
    C, v = grouped.moments(W, X)
    return C, np.broadcast_to(v, C.shape)


def without_mean(M, axis, G=1):
    """M minus its means along an axis, for G groups of its rows, by the definition."""
    parts = np.split(M, G) if axis == 0 else [M]
    means = [part.sum(axis=axis, keepdims=True) / part.shape[axis] for part in parts]
    return np.concatenate([part - mean for part, mean in zip(parts, means, strict=True)])


def added(center, key, G, W, X, delta, gamma):
    """T = C′ − C by the formulas of the argument."""
    (N, D), H = X.shape, len(W)
    tilde_X = without_mean(X, 0) if center == "batch" else X
    tilde_W = without_mean(W, 0, G) if center == "layer" else W
    tilde_W = without_mean(tilde_W, 1) if center == "weight" else tilde_W
    change, ones = TRANSFORMS[key], np.array([Fraction(1)] * D)
    kind, on_W = change.operation.key, change.matrix == "W"
    if kind == "all_times":
        return (delta - 1) * (tilde_X @ tilde_W.T)
    # The part of a shift of rows of W that the center keeps; that of X is removed by W̃ itself.
    keeps = (lambda row: row - row.sum() / D) if center == "weight" else (lambda row: row)
    if kind == "own_plus":
        own = gamma[:, None]
        if on_W:
            own = without_mean(own, 0, G) if center == "layer" else own
            return np.outer(tilde_X @ keeps(ones), own)
        return np.outer(without_mean(own, 0) if center == "batch" else own, tilde_W @ ones)
    rows, mixed = (H, center == "layer") if on_W else (N, center == "batch")
    if kind == "all_plus":
        which = np.array([Fraction(0 if mixed else 1)] * rows)
    else:
        which = np.array([Fraction(int(row == 0)) for row in range(rows)])
        which = without_mean(which[:, None], 0, G if on_W else 1)[:, 0] if mixed else which
    M = W if on_W else X
    step = gamma if delta is None else (delta - 1) * M[0]
    return np.outer(tilde_X @ keeps(step), which) if on_W else np.outer(which, tilde_W @ step)


@every_shape
@pytest.mark.pairwise("key", TRANSFORMS)
def test_a_change_adds_to_the_centered_inputs_what_the_argument_says(key, shape):
    W, X, delta, gamma = drawn(shape, key)
    for words in GRID:
        G = shape[3] if "layer" in words else 1
        before, _ = moments(words, G, W, X)
        after, _ = moments(words, G, *TRANSFORMS[key](W, X, delta=delta, gamma=gamma))
        assert (after - before == added(words[0], key, G, W, X, delta, gamma)).all()


def parallel(U, V):
    """Whether rows (m, n) of two matrices are multiples of each other: all minors are 0."""
    minors = U[:, :, None] * V[:, None, :] - U[:, None, :] * V[:, :, None]
    return not minors.any()


def stays(scale, C, T, G, on_W):
    """Whether C + T may be C times a factor shared by the scale, without computing a scale."""
    N, H = C.shape
    if scale == "none":
        return not T.any()
    if scale == "batch":
        return parallel(C.T, T.T)
    if scale == "layer":
        return parallel(C.reshape(N * G, H // G), T.reshape(N * G, H // G))
    # For a weight scale only W changes it, and then each column by its own factor.
    return not T.any() if not on_W else parallel(C.T, T.T)


@every_shape
@pytest.mark.pairwise("words", GRID, ids="-".join)
def test_what_is_added_is_a_factor_that_the_scale_shares_where_the_table_says_so(words, shape):
    G = shape[3] if "layer" in words else 1
    for key, change in TRANSFORMS.items():
        W, X, delta, gamma = drawn(shape, key)
        C, _ = moments(words, G, W, X)
        T = added(words[0], key, G, W, X, delta, gamma)
        found = stays(words[1], C, T, G, change.matrix == "W")
        assert found == EXPECTED[words, key], key


@every_shape
def test_certificates_of_larger_sizes_are_those_of_the_table(shape):
    for (words, key), invariant in EXPECTED.items():
        G = shape[3] if "layer" in words else 1
        normalizer = Normalizer(*words, groups=G)
        assert certify(normalizer, TRANSFORMS[key], shape=shape[:3]).invariant == invariant


@pytest.mark.parametrize("eps", [1e-5, 3])
def test_an_epsilon_takes_away_and_never_gives(eps):
    for (words, key), invariant in EXPECTED.items():
        verdict = certify(GRID[words], TRANSFORMS[key], eps=eps, shape=(4, 5, 3))
        takes = GRID[words].scaling.takes_eps and TRANSFORMS[key].rescales
        assert verdict.invariant == (invariant and not takes)


# With only one dimension along an index, as 1 = N − 1 under a batch center, fewer statements hold.

ROOM = {"batch": 0, "layer": 1, "weight": 2}


def squares_stay(words, key, shape):
    """Whether z′² = z² at random integers, None if z is undefined."""
    W, X, delta, gamma = drawn((*shape, 1), key)
    C, v = moments(words, 1, W, X)
    C1, v1 = moments(words, 1, *TRANSFORMS[key](W, X, delta=delta, gamma=gamma))
    if not ((v > 0).all() and (v1 > 0).all() and C.any()):
        return None
    return bool((C1 * C1 * v == C * C * v1).all())


def signs_stay(words, key, shape):
    for seed in range(40):
        W, X, delta, gamma = drawn((*shape, 1), key, seed)
        C, _ = moments(words, 1, W, X)
        C1, _ = moments(words, 1, *TRANSFORMS[key](W, X, delta=delta, gamma=gamma))
        if (C * C1 < 0).any():
            return False
    return True


@pytest.mark.exhaustive
def test_at_smaller_sizes_only_one_row_of_one_turns_a_no_into_a_yes():
    """Otherwise z is a sign there, which the change can flip: still a ✗, with fewer witnesses."""
    turned, signs = set(), set()
    for shape in product((1, 2, 3), repeat=3):
        for (words, key), invariant in EXPECTED.items():
            if invariant or not squares_stay(words, key, shape):
                continue
            room = [n - (ROOM.get(words[0]) == i) for i, n in enumerate(shape)]
            assert 1 in room, (words, key, shape)
            (turned if signs_stay(words, key, shape) else signs).add((words, key, shape))
    assert {(words, key) for words, key, _ in turned} == {
        *(((center, "batch"), "case_rescaling") for center in ("none", "layer", "weight")),
        *(((center, "layer"), "weight_vector_rescaling") for center in ("none", "batch", "weight")),
    }
    assert all(shape[ROOM[words[1]]] == 1 for words, _, shape in turned)
    assert (("layer", "layer"), "case_offsets", (3, 2, 3)) in signs
