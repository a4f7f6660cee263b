"""Outer products of gradients at labels, against closed forms and the Fisher information."""

import numpy as np
import pytest
from scipy.stats import sem

from normgeo import FAMILIES, NORMALIZERS, NormalizedGLM, fisher
from normgeo.fisher.empirical import empirical_curvatures


def draw(name, family, N=60, H=3, D=4, **more):
    rng = np.random.default_rng(8)
    model = NormalizedGLM.random(NORMALIZERS[name], family, H, D, rng)
    model = NormalizedGLM(model.normalizer, family, model.W, model.b, model.g, **more)
    X = rng.normal(0.3, 1, (N, D))
    return model, X, rng


def directions(model, k=3):
    return np.random.default_rng(9).standard_normal((k, model.layout.size))


@pytest.mark.parametrize("name", ["standard", "batch", "layer"])
@pytest.mark.parametrize("family", FAMILIES)
def test_labels_of_the_model_give_the_fisher_information_on_average(name, family):
    model, X, rng = draw(name, family)
    V = directions(model)
    y = model.family.sample(model.natural_parameter(X), rng)
    found = empirical_curvatures(model, X, y, V, draws=4000, rng=rng)
    exact = np.einsum("kp,pq,kq->k", V, fisher(model, X).to_dense(), V)
    np.testing.assert_allclose(found.expected, exact, rtol=1e-9)
    assert (np.abs(found.sampled - exact) < 4 * found.error).all()
    assert (found.error < 0.05 * exact).all()


@pytest.mark.parametrize("family", FAMILIES)
def test_labels_of_the_data_give_the_mean_square_of_slopes(family):
    """By central differences of each case's log-likelihood, at arbitrary labels."""
    model, X, rng = draw("layer", family)
    y = model.family.sample(0.5 * rng.standard_normal((60, 3)), rng)
    V = directions(model)
    found = empirical_curvatures(model, X, y, V, draws=2, rng=rng)
    theta, h = model.pack(), 1e-5
    for k, v in enumerate(V):
        there, back = (
            model.family.log_likelihood(y, model.unpack(theta + t * v).natural_parameter(X))
            for t in (h, -h)
        )
        slopes = (there - back) / (2 * h)
        assert found.observed[k] == pytest.approx((slopes**2).mean(), rel=1e-5)


@pytest.mark.parametrize("draws", [2, 3])
def test_error_is_the_standard_error_of_the_mean_of_the_draws(draws):
    """By SciPy, from the same sets of labels, drawn here."""
    model, X, _ = draw("layer", "gaussian", phi=0.5)
    V, s = directions(model), model.natural_parameter(X)
    slopes = np.stack([model.linearize(X).jvp(v) for v in V])
    rng, sets = np.random.default_rng(4), []
    for _ in range(draws):
        y = model.family.sample(s, rng, model.phi)
        sets.append((((y - s) / model.phi * slopes).sum(axis=2) ** 2).mean(axis=1))
    found = empirical_curvatures(model, X, s, V, draws=draws, rng=np.random.default_rng(4))
    np.testing.assert_allclose(found.sampled, np.mean(sets, axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.error, sem(sets, axis=0), rtol=1e-12)


def test_perfect_labels_see_nothing_and_are_not_the_fisher_information():
    """Negative control: at y = f(s) every gradient is zero, and F is not."""
    model, X, rng = draw("batch", "gaussian", phi=0.5)
    V = directions(model)
    found = empirical_curvatures(model, X, model.mean(X), V, draws=2, rng=rng)
    np.testing.assert_allclose(found.observed, 0, atol=1e-20)
    assert (found.expected > 0.1).all()


def test_dispersion_divides_the_curvature_once():
    results = []
    for phi in (0.5, 2.0):
        model, X, rng = draw("layer", "gaussian", phi=phi)
        V = directions(model)
        results.append(empirical_curvatures(model, X, model.mean(X), V, draws=2000, rng=rng))
    np.testing.assert_allclose(results[0].expected, 4 * results[1].expected, rtol=1e-9)
    np.testing.assert_allclose(results[0].sampled, 4 * results[1].sampled, rtol=0.1)
