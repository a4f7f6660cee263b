"""The KL between two models over data: enumeration, sampling, and what it must not see."""

import re
from itertools import product

import numpy as np
import pytest

from normgeo import FAMILIES, NORMALIZERS, TRANSFORMS, NormalizedGLM
from normgeo.fisher.kl import kl

every_family = pytest.mark.pairwise("family", FAMILIES)


def two_models(family, name="layer", seed=0, N=7, D=4, H=3):
    rng = np.random.default_rng(seed)
    phi = 0.6 if FAMILIES[family].has_dispersion else 1.0
    models = [NormalizedGLM.random(NORMALIZERS[name], family, H, D, rng, phi=phi) for _ in range(2)]
    return *models, rng.standard_normal((N, D))


@pytest.mark.parametrize(
    ("family", "outcomes"),
    [("bernoulli", list(product([0, 1], repeat=3))), ("categorical", np.eye(3))],
)
def test_kl_is_the_sum_over_all_outcomes(family, outcomes):
    model, other, X = two_models(family)
    log_p, log_q = (
        np.stack(
            [
                m.family.log_likelihood(np.tile(y, (len(X), 1)), m.natural_parameter(X))
                for y in outcomes
            ]
        )
        for m in (model, other)
    )
    assert np.exp(log_p).sum(axis=0) == pytest.approx(1)
    expected = (np.exp(log_p) * (log_p - log_q)).sum(axis=0).mean()
    assert kl(model, other, X) == pytest.approx(expected, rel=1e-12)


def test_kl_of_gaussians_is_half_the_squared_distance_over_the_dispersion():
    model, other, X = two_models("gaussian")
    squares = (model.mean(X) - other.mean(X)) ** 2
    assert kl(model, other, X) == pytest.approx(squares.sum(axis=1).mean() / (2 * 0.6), rel=1e-12)


@every_family
def test_kl_is_the_mean_log_likelihood_ratio_of_sampled_outputs(family):
    model, other, X = two_models(family)
    many = np.tile(X, (4000, 1))
    # Layer norm treats cases alone, so repeated cases are repeated draws.
    s, t = model.natural_parameter(many), other.natural_parameter(many)
    y = model.family.sample(s, np.random.default_rng(1), model.phi)
    ratio = model.family.log_likelihood(y, s, model.phi) - model.family.log_likelihood(
        y, t, model.phi
    )
    error = ratio.std() / np.sqrt(len(ratio))
    assert abs(ratio.mean() - kl(model, other, X)) < 4.5 * error


@every_family
def test_kl_is_zero_from_a_model_to_itself_and_positive_to_another(family):
    model, other, X = two_models(family)
    assert kl(model, model, X) == 0
    assert kl(model, other, X) > 0.01
    assert kl(other, model, X) > 0.01


@every_family
@pytest.mark.parametrize("key", ["weight_matrix_rescaling", "weight_matrix_recentering"])
def test_kl_does_not_see_the_invariances_of_layer_norm(family, key):
    model, _, X = two_models(family)
    change = {"delta": 3.0} if TRANSFORMS[key].rescales else {"gamma": np.arange(4.0)}
    W, _ = TRANSFORMS[key](model.W, X, **change)
    other = NormalizedGLM(model.normalizer, family, W, model.b, model.g, phi=model.phi)
    assert kl(model, other, X) < 1e-28


@every_family
def test_kl_is_per_case(family):
    model, other, X = two_models(family, "batch")
    assert kl(model, other, np.concatenate([X, X])) == pytest.approx(kl(model, other, X), rel=1e-12)


def test_kl_compares_models_of_different_normalizers():
    model, _, X = two_models("bernoulli")
    other = NormalizedGLM(NORMALIZERS["batch"], "bernoulli", model.W)
    assert kl(model, other, X) > 0


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"family": "bernoulli"}, "the same family; got gaussian and bernoulli."),
        ({"phi": 2.0}, "the same dispersion φ; got 1.0 and 2.0."),
        ({"W": np.eye(4)}, "the same number of outputs; got 3 and 4."),
    ],
    ids=["family", "dispersion", "outputs"],
)
def test_models_that_cannot_be_compared_are_refused(change, sentence):
    values = {"family": "gaussian", "W": np.eye(3, 4), "phi": 1.0}
    model, other = (
        NormalizedGLM(NORMALIZERS["layer"], v["family"], v["W"], phi=v["phi"])
        for v in (values, values | change)
    )
    with pytest.raises(
        ValueError, match=re.escape("A divergence needs two models with " + sentence)
    ):
        kl(model, other, np.eye(5, 4))
