"""Walks in weight space, and one null direction for each reason, against the models themselves."""

from math import log

import numpy as np
import pytest

from normgeo import FAMILIES, NORMALIZERS, NormalizedGLM, explain, fisher, kl, null_space
from normgeo.base.refusal import Refusal
from normgeo.null_directions.direction import directions
from normgeo.null_directions.walk import walk

STEPS = [-0.75, -0.25, 0.0, 0.5, 3.0]


def found(method, family, rng, *, H=4, D=5, N=40):
    """A model, its data, and one direction for each reason of its null directions."""
    X = rng.standard_normal((N, D))
    model = NormalizedGLM.random(NORMALIZERS[method], family, H, D, rng)
    reasons = explain(model, X, null_space(fisher(model, X)))
    return model, X, reasons, directions(model, reasons, neuron=1, pattern=X[0])


@pytest.mark.pairwise("method", NORMALIZERS)
@pytest.mark.pairwise("family", FAMILIES)
def test_a_change_of_table_1_that_is_null_stays_null_at_any_length(method, family, rng):
    model, X, _, all_of_them = found(method, family, rng)
    for one in all_of_them:
        if one.follows:
            along = walk(model, X, one.change, STEPS)
            assert along.still.all(), one.title
            np.testing.assert_allclose(along.means, np.tile(along.before, (5, 1)), atol=1e-12)


@pytest.mark.parametrize("method", NORMALIZERS)
def test_the_kl_is_that_of_the_two_models(method, rng):
    X = rng.standard_normal((12, 3))
    model = NormalizedGLM.random(NORMALIZERS[method], "poisson", 4, 3, rng)
    dW = rng.standard_normal(model.W.shape)
    along = walk(model, X, dW, STEPS, case=2)
    for step, value, mean in zip(STEPS, along.kl, along.means, strict=True):
        other = NormalizedGLM(model.normalizer, "poisson", model.W + step * dW)
        assert value == pytest.approx(kl(model, other, X), rel=1e-12, abs=1e-300)
        np.testing.assert_allclose(mean, np.exp(other.natural_parameter(X)[2]), rtol=1e-13)
    assert not along.still[[0, 1, 3, 4]].any()


def test_directions_are_null_one_of_each_reason_and_as_long_as_what_moves(rng):
    for method, family in (("layer", "bernoulli"), ("batch", "categorical"), ("group", "poisson")):
        model, X, reasons, all_of_them = found(method, family, rng)
        F = fisher(model, X).weights()
        credited = [reason.key for reason in reasons.reasons if reason.added]
        assert [one.reason for one in all_of_them] == credited
        assert sum(one.count for one in all_of_them) == reasons.null.dimension
        for one in all_of_them:
            flat = one.change.reshape(-1)
            assert flat @ F @ flat <= 1e-14 * np.trace(F) * (flat @ flat)
            length = np.linalg.norm(model.W[one.moved])
            assert np.linalg.norm(one.change) == pytest.approx(length)


def test_bases_of_all_reasons_span_the_null_space(rng):
    _, _, reasons, _ = found("batch", "categorical", rng, D=9)
    together = np.concatenate([reason.basis for reason in reasons.reasons], axis=1)
    together = np.concatenate([together, reasons.rest], axis=1)
    assert together.shape == reasons.null.basis.shape
    assert np.linalg.matrix_rank(together) == reasons.null.dimension
    across = together - reasons.null.basis @ (reasons.null.basis.T @ together)
    assert np.abs(across).max() < 1e-9
    for reason in reasons.reasons:
        np.testing.assert_allclose(reason.basis.T @ reason.basis, np.eye(reason.added), atol=1e-12)


def test_along_what_the_softmax_hides_under_a_scale_the_kl_grows_as_the_fourth_power(rng):
    """The line deviates from the curve of equal outputs by r², and the KL is the square."""
    model, X, _, all_of_them = found("batch", "categorical", rng, D=9)
    (hidden,) = [one for one in all_of_them if one.reason == "softmax"]
    assert not hidden.follows
    small, twice = walk(model, X, hidden.change, [0.01, 0.02]).kl
    assert log(twice / small, 2) == pytest.approx(4, abs=0.1)
    other = hidden.beside(rng.standard_normal(model.W.shape))
    small, twice = walk(model, X, other, [0.01, 0.02]).kl
    assert log(twice / small, 2) == pytest.approx(2, abs=0.1)


def test_a_direction_beside_moves_the_same_neurons_as_far(rng):
    model, _, _, all_of_them = found("batch", "bernoulli", rng)
    (one,) = [one for one in all_of_them if one.alone]
    other = one.beside(rng.standard_normal(model.W.shape))
    np.testing.assert_array_equal(other.any(axis=1), [False, True, False, False])
    assert np.linalg.norm(other) == pytest.approx(np.linalg.norm(model.W[1]))


def test_where_there_is_no_model_the_reason_stands_in_place_of_numbers():
    X, W = [[1.0, 2.0], [3.0, 1.0], [0.0, 1.0]], [[1.0, 0.0], [2.0, 1.0]]
    along = walk(NormalizedGLM(NORMALIZERS["batch"], "bernoulli", W), X, W, [-1.0, 1.0])
    assert np.isnan(along.kl[0])
    assert np.isnan(along.means[0]).all()
    assert along.problems[0] != ""
    assert (along.problems[1], bool(along.still[1])) == ("", True)


def test_other_shapes_and_places_are_refused(rng):
    model, X, reasons, _ = found("layer", "gaussian", rng)
    with pytest.raises(Refusal, match=r"shape of W, \(4, 5\); got \(5, 4\)"):
        walk(model, X, np.ones((5, 4)), [1.0])
    with pytest.raises(Refusal, match="`case` must be a whole number from 0 to 39"):
        walk(model, X, model.W, [1.0], case=40)
    with pytest.raises(Refusal, match="`neuron` must be a whole number from 0 to 3"):
        directions(model, reasons, neuron=4, pattern=X[0])
