"""The ten changes against NumPy written out, their velocities, and refusals."""

import re
from fractions import Fraction

import numpy as np
import pytest

from normgeo import TABLE_1, TRANSFORMS
from normgeo.invariance.operations import OPERATIONS, Rescaling, Shift

every_transform = pytest.mark.pairwise("transform", TRANSFORMS.values(), ids=TRANSFORMS.keys())
N, H, D, ROW = 5, 3, 4, 1


def draw(rng):
    return rng.standard_normal((H, D)), rng.standard_normal((N, D))


def parameter(transform, W, X, rng):
    if transform.rescales:
        return {"delta": 2.5}
    return {"gamma": rng.standard_normal(transform.gamma_shape(W, X))}


def replaced(M, row):
    return np.vstack([M[:ROW], row, M[ROW + 1 :]])


WRITTEN_OUT = {
    "weight_matrix_rescaling": lambda W, X, p: (p * W, X),
    "weight_matrix_recentering": lambda W, X, p: (W + np.outer(np.ones(H), p), X),
    "weight_vector_rescaling": lambda W, X, p: (replaced(W, p * W[ROW]), X),
    "weight_vector_recentering": lambda W, X, p: (replaced(W, W[ROW] + p), X),
    "weight_vector_offsets": lambda W, X, p: (W + np.outer(p, np.ones(D)), X),
    "dataset_rescaling": lambda W, X, p: (W, p * X),
    "dataset_recentering": lambda W, X, p: (W, X + np.outer(np.ones(N), p)),
    "case_rescaling": lambda W, X, p: (W, replaced(X, p * X[ROW])),
    "case_recentering": lambda W, X, p: (W, replaced(X, X[ROW] + p)),
    "case_offsets": lambda W, X, p: (W, X + np.outer(p, np.ones(D))),
}


def test_there_are_five_operations_on_two_matrices():
    assert WRITTEN_OUT.keys() == TRANSFORMS.keys()
    pairs = {(t.operation.key, t.matrix) for t in TRANSFORMS.values()}
    assert pairs == {(operation, matrix) for operation in OPERATIONS for matrix in "WX"}


def test_six_of_them_head_the_columns_of_table_1_in_order():
    assert TABLE_1 == (
        "weight_matrix_rescaling",
        "weight_matrix_recentering",
        "weight_vector_rescaling",
        "dataset_rescaling",
        "dataset_recentering",
        "case_rescaling",
    )
    assert [TRANSFORMS[key].column for key in TABLE_1] == [1, 2, 3, 4, 5, 6]


@every_transform
def test_each_change_is_what_its_name_says(transform, rng):
    W, X = draw(rng)
    before = W.copy(), X.copy()
    given = parameter(transform, W, X, rng)
    changed = transform(W, X, **given, index=ROW)
    expected = WRITTEN_OUT[transform.key](W, X, next(iter(given.values())))
    for got, want, matrix, original in zip(changed, expected, (W, X), before, strict=True):
        np.testing.assert_allclose(got, want, atol=1e-15)
        np.testing.assert_array_equal(matrix, original)


@every_transform
def test_each_change_counts_rows_from_the_end_as_well(transform, rng):
    W, X = draw(rng)
    given = parameter(transform, W, X, rng)
    rows = len(W if transform.matrix == "W" else X)
    for a, b in zip(
        transform(W, X, **given, index=-1), transform(W, X, **given, index=rows - 1), strict=True
    ):
        np.testing.assert_array_equal(a, b)


@every_transform
def test_each_change_acts_on_every_member_of_a_stack(transform, rng):
    """Also for a stack as long as the matrix has rows, where a wrong axis would fit."""
    pairs = [draw(rng) for _ in range(H)]
    W, X = (np.stack(matrices) for matrices in zip(*pairs, strict=True))
    given = [parameter(transform, *pair, rng) for pair in pairs]
    if transform.rescales:
        together = {"delta": 2.5}
    else:
        together = {"gamma": np.stack([one["gamma"] for one in given])}
    W1, X1 = transform(W, X, **together, index=ROW)
    for i, (pair, one) in enumerate(zip(pairs, given, strict=True)):
        want_W, want_X = transform(*pair, **one, index=ROW)
        np.testing.assert_array_equal(W1[i] if W1.ndim == 3 else W1, want_W)
        np.testing.assert_array_equal(X1[i] if X1.ndim == 3 else X1, want_X)


@every_transform
def test_the_tangent_is_the_velocity_of_the_change(transform, rng):
    W, X = draw(rng)
    given = parameter(transform, W, X, rng)
    h = 1e-4

    def at(t):
        moved = {"delta": 1 + t} if transform.rescales else {"gamma": t * given["gamma"]}
        return transform(W, X, **moved, index=ROW)

    tangent = transform.tangent(W, X, gamma=given.get("gamma"), index=ROW)
    for velocity, ahead, behind in zip(tangent, at(h), at(-h), strict=True):
        np.testing.assert_allclose(velocity, (ahead - behind) / (2 * h), atol=1e-10)


@every_transform
def test_changes_keep_fractions(transform):
    W = np.array([[Fraction(1, 3), Fraction(2)]])
    X = np.array([[Fraction(5), Fraction(7, 2)]])
    size = 0 if transform.rescales else transform.gamma_shape(W, X)
    given = {"delta": Fraction(2)} if transform.rescales else {"gamma": np.full(size, Fraction(1))}
    for changed in transform(W, X, **given):
        assert {type(value) for value in changed.ravel()} == {Fraction}


@pytest.mark.parametrize("key", ["weight_vector_rescaling", "case_rescaling"])
def test_half_of_a_row_of_whole_numbers_is_not_rounded(key):
    W = X = np.array([[1, 3], [2, 4]])
    M = TRANSFORMS[key](W, X, delta=0.5)[0 if key.startswith("weight") else 1]
    np.testing.assert_array_equal(M, [[0.5, 1.5], [2, 4]])


def test_gamma_has_one_entry_a_feature_or_one_a_row(rng):
    W, X = draw(rng)
    shapes = {
        key: transform.gamma_shape(W, X)
        for key, transform in TRANSFORMS.items()
        if not transform.rescales
    }
    assert shapes == {
        "weight_matrix_recentering": (D,),
        "weight_vector_recentering": (D,),
        "weight_vector_offsets": (H,),
        "dataset_recentering": (D,),
        "case_recentering": (D,),
        "case_offsets": (N,),
    }


REFUSED = {
    "δ = 0": (
        "dataset_rescaling",
        {"delta": 0},
        "`delta` must be a finite number other than 0; got 0. "
        "A factor of 0 would erase what it scales.",
    ),
    "infinite δ": (
        "case_rescaling",
        {"delta": np.inf},
        "`delta` must be a finite number other than 0; got inf. "
        "A factor of 0 would erase what it scales.",
    ),
    "γ for δ": (
        "case_rescaling",
        {"gamma": np.ones(D)},
        "'case_rescaling' takes a factor: give delta, and no gamma.",
    ),
    "δ for γ": (
        "case_offsets",
        {"delta": 2},
        "'case_offsets' takes a shift: give gamma of shape (5,), no delta.",
    ),
    "no γ": (
        "dataset_recentering",
        {},
        "'dataset_recentering' takes a shift: give gamma of shape (4,), no delta.",
    ),
    "γ of the wrong shape": (
        "weight_vector_offsets",
        {"gamma": np.ones(D)},
        "`gamma` of 'weight_vector_offsets' must have shape (3,); got (4,).",
    ),
    "a number for γ": (
        "dataset_recentering",
        {"gamma": 1.0},
        "`gamma` of 'dataset_recentering' must have shape (4,); got ().",
    ),
    "γ as a matrix": (
        "weight_matrix_recentering",
        {"gamma": np.ones((H, D))},
        "`gamma` of 'weight_matrix_recentering' must have shape (4,); got (3, 4).",
    ),
    "a row that is not there": (
        "case_rescaling",
        {"delta": 2, "index": 5},
        "The 5 rows of X are numbered from 0 to 4: there is no row 5.",
    ),
    "a row before the first": (
        "weight_vector_rescaling",
        {"delta": 2, "index": -4},
        "The 3 rows of W are numbered from 0 to 2: there is no row -4.",
    ),
    "half a row": (
        "weight_vector_rescaling",
        {"delta": 2, "index": 0.5},
        "The 3 rows of W are numbered from 0 to 2: there is no row 0.5.",
    ),
}


@pytest.mark.parametrize(("key", "given", "sentence"), REFUSED.values(), ids=REFUSED.keys())
def test_a_wrong_parameter_is_refused_in_a_sentence(key, given, sentence, rng):
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        TRANSFORMS[key](*draw(rng), **given)


def test_a_rescaling_has_no_shape_of_gamma(rng):
    sentence = "'case_rescaling' is a re-scaling: it takes delta, not gamma."
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        TRANSFORMS["case_rescaling"].gamma_shape(*draw(rng))


DUALS = {
    "weight_matrix_rescaling": "dataset_rescaling",
    "weight_matrix_recentering": "dataset_recentering",
    "weight_vector_rescaling": "case_rescaling",
    "weight_vector_recentering": "case_recentering",
    "weight_vector_offsets": "case_offsets",
}


def test_duals_pair_the_changes_of_weights_with_those_of_inputs():
    pairs = DUALS | {inputs: weights for weights, inputs in DUALS.items()}
    assert {key: transform.dual.key for key, transform in TRANSFORMS.items()} == pairs


@pytest.mark.parametrize("key", TRANSFORMS)
def test_dual_does_to_the_exchanged_matrices_what_the_change_does(key, rng):
    transform = TRANSFORMS[key]
    W, X = rng.standard_normal((4, 3)), rng.standard_normal((4, 3))
    delta = 2.5 if transform.rescales else None
    gamma = None if transform.rescales else rng.standard_normal(transform.gamma_shape(W, X))
    W1, X1 = transform(W, X, delta=delta, gamma=gamma, index=1)
    X2, W2 = transform.dual(X, W, delta=delta, gamma=gamma, index=1)
    np.testing.assert_array_equal(W1, W2)
    np.testing.assert_array_equal(X1, X2)


@pytest.mark.parametrize("key", TRANSFORMS)
def test_change_reaches_the_summed_inputs_that_it_moves(key, rng):
    transform = TRANSFORMS[key]
    W, X = rng.standard_normal((4, 3)), rng.standard_normal((5, 3))
    delta = 2.5 if transform.rescales else None
    gamma = None if transform.rescales else rng.standard_normal(transform.gamma_shape(W, X))
    W1, X1 = transform(W, X, delta=delta, gamma=gamma)
    np.testing.assert_array_equal(transform.reaches((5, 4)), X1 @ W1.T != X @ W.T)


def test_an_operation_cannot_be_half_stated():
    assert Rescaling.__abstractmethods__ == {"rescale", "in_numpy"}
    assert Shift.__abstractmethods__ == {"shift", "gamma_shape", "in_numpy"}
