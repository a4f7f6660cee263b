"""The normalized GLM: its parameters in order, its gradient, its fit, and what it refuses."""

import re

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats
from sklearn.linear_model import LogisticRegression, Ridge

from normgeo import FAMILIES, GRID, NORMALIZERS, NormalizedGLM, Normalizer, fit
from normgeo.base.progress import Stop
from normgeo.models.linearization import ParameterLayout

every_family = pytest.mark.pairwise("family", FAMILIES)
every_pair = pytest.mark.pairwise("words", GRID)
N, H, D = 12, 3, 4


def draw(normalizer, family, rng, *, cases=N, phi=None, reference=None):
    phi = phi or (0.7 if family == "gaussian" else 1.0)
    standard = normalizer.words == ("none", "none")
    model = NormalizedGLM(
        normalizer,
        family,
        rng.standard_normal((H, D)),
        rng.standard_normal(H) / 2,
        None if standard else rng.uniform(0.5, 1.5, H),
        phi=phi,
        reference=reference,
    )
    X = rng.standard_normal((cases, D))
    return model, X, model.family.sample(model.natural_parameter(X), rng, phi)


def slope(function, theta, direction, step=1e-3):
    """The derivative along a direction by fourth-order central differences."""
    at = {k: function(theta + k * step * direction) for k in (-2, -1, 1, 2)}
    return (8 * (at[1] - at[-1]) - (at[2] - at[-2])) / (12 * step)


def test_theta_goes_neuron_by_neuron_as_in_the_paper():
    W, b, g = np.array([[1.0, 2.0], [5.0, 6.0]]), np.array([3.0, 7.0]), np.array([4.0, 8.0])
    model = NormalizedGLM(NORMALIZERS["layer"], "gaussian", W, b, g)
    assert model.pack().tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    assert model.layout == ParameterLayout(neurons=2, features=2, has_gain=True)
    assert (model.layout.per_neuron, model.layout.size) == (4, 8)
    standard = NormalizedGLM(NORMALIZERS["standard"], "gaussian", W, b)
    assert standard.pack().tolist() == [1, 2, 3, 5, 6, 7]
    assert standard.g is None
    assert (standard.layout.per_neuron, standard.layout.size) == (3, 6)


@pytest.mark.parametrize("has_gain", [True, False])
def test_the_places_of_weights_biases_and_gains_are_where_packing_puts_them(has_gain):
    layout = ParameterLayout(2, 3, has_gain)
    W, b, g = np.arange(6.0).reshape(2, 3), np.array([10.0, 11.0]), np.array([20.0, 21.0])
    theta = layout.pack(W, b, g if has_gain else None)
    np.testing.assert_array_equal(theta[layout.weights], W.ravel())
    np.testing.assert_array_equal(theta[layout.biases], b)
    np.testing.assert_array_equal(theta[layout.gains], g if has_gain else [])


@every_pair
@every_family
def test_unpacking_undoes_packing(words, family, rng):
    model, X, _ = draw(GRID[words], family, rng)
    again = model.unpack(model.pack())
    np.testing.assert_array_equal(again.pack(), model.pack())
    np.testing.assert_array_equal(again.mean(X), model.mean(X))
    assert (again.normalizer, again.family, again.phi) == (
        model.normalizer,
        model.family,
        model.phi,
    )


@every_pair
def test_the_natural_parameter_is_gain_times_z_plus_bias(words, rng):
    model, X, _ = draw(GRID[words], "gaussian", rng)
    z = GRID[words].normalize(model.W, X).z
    s = z * (1 if model.g is None else model.g) + model.b
    np.testing.assert_allclose(model.natural_parameter(X), s, atol=1e-13)


def test_bias_and_gain_default_to_zero_and_one(rng):
    X, W = rng.standard_normal((N, D)), rng.standard_normal((H, D))
    model = NormalizedGLM(NORMALIZERS["batch"], FAMILIES["gaussian"], W)
    z = NORMALIZERS["batch"].normalize(W, X).z
    np.testing.assert_array_equal(model.natural_parameter(X), z)


def test_random_weights_give_summed_inputs_of_unit_variance(rng):
    model = NormalizedGLM.random(NORMALIZERS["standard"], "gaussian", 2000, 50, rng)
    assert model.W.shape == (2000, 50)
    assert model.W.var() * 50 == pytest.approx(1, rel=0.02)


LIKELIHOODS = {
    "gaussian": lambda y, f, phi: stats.norm(f, phi**0.5).logpdf(y).sum(axis=1),
    "bernoulli": lambda y, f, phi: stats.bernoulli(f).logpmf(y).sum(axis=1),
    "poisson": lambda y, f, phi: stats.poisson(f).logpmf(y).sum(axis=1),
    "categorical": lambda y, f, phi: np.log(f[np.arange(len(y)), y.astype(int)]),
}


@every_pair
@every_family
def test_log_likelihood_is_scipys_at_the_mean(words, family, rng):
    model, X, y = draw(GRID[words], family, rng)
    if family == "categorical" and np.ndim(y) > 1:
        y = np.argmax(y, axis=1)
    expected = LIKELIHOODS[family](np.asarray(y), model.mean(X), model.phi).mean()
    assert model.log_likelihood(X, y) == pytest.approx(expected, rel=1e-10)


@every_pair
@every_family
@pytest.mark.pairwise("eps", [0.0, 0.3])
def test_gradient_is_the_slope_of_the_log_likelihood(words, family, eps, rng):
    model, X, y = draw(Normalizer(*words, eps=eps), family, rng)
    theta = model.pack()
    gradient = model.gradient(X, y)
    assert gradient.shape == theta.shape
    for _ in range(3):
        direction = rng.standard_normal(theta.shape)
        measured = slope(lambda t: model.unpack(t).log_likelihood(X, y), theta, direction)
        assert gradient @ direction == pytest.approx(measured, rel=1e-6, abs=1e-8)


@every_pair
def test_linearization_is_the_slope_of_the_natural_parameter(words, rng):
    model, X, _ = draw(GRID[words], "gaussian", rng)
    theta, at = model.pack(), model.linearize(X)
    direction, U = rng.standard_normal(theta.shape), rng.standard_normal((N, H))
    measured = slope(lambda t: model.unpack(t).natural_parameter(X), theta, direction)
    np.testing.assert_allclose(at.jvp(direction), measured, atol=1e-7 * np.abs(measured).max())
    adjoint = at.vjp(U) @ direction
    assert adjoint == pytest.approx(np.sum(U * at.jvp(direction)), rel=1e-12, abs=1e-12)


@every_pair
def test_a_stack_of_directions_has_the_derivative_along_each(words, rng):
    model, X, _ = draw(GRID[words], "gaussian", rng)
    at = model.linearize(X)
    theta, U = rng.standard_normal((3, model.layout.size)), rng.standard_normal((3, N, H))
    for derivative, stack in ((at.jvp, theta), (at.vjp, U)):
        alone = [derivative(one) for one in stack]
        np.testing.assert_allclose(derivative(stack), alone, rtol=0, atol=1e-12)


@every_pair
def test_own_neuron_part_is_block_diagonal_and_its_adjoint_agrees(words, rng):
    """A change of neuron h alone: its own column of ds is kept, every other is dropped."""
    model, X, _ = draw(GRID[words], "gaussian", rng)
    at = model.linearize(X)
    own = at.own_neuron()
    assert own.own_neuron() is own
    for h in range(H):
        change = np.zeros((H, model.layout.per_neuron))
        change[h] = rng.standard_normal(model.layout.per_neuron)
        full, kept = at.jvp(change.ravel()), own.jvp(change.ravel())
        np.testing.assert_allclose(kept[:, h], full[:, h], atol=1e-12)
        assert not np.delete(kept, h, axis=1).any()
    theta, U = rng.standard_normal(model.layout.size), rng.standard_normal((N, H))
    assert own.vjp(U) @ theta == pytest.approx(np.sum(U * own.jvp(theta)), rel=1e-12, abs=1e-12)


def test_frozen_statistics_make_batch_norm_a_linear_model(rng):
    """Its gradient is that of a standard model with weights g w/σ and bias b − g μ/σ."""
    W0, X0 = rng.standard_normal((H, D)), rng.standard_normal((20, D))
    frozen = Normalizer("batch", "batch", statistics="frozen")
    model, X, y = draw(frozen, "poisson", rng, reference=(W0, X0))
    A0 = X0 @ W0.T
    r = model.g / A0.std(axis=0)
    linear = NormalizedGLM(
        NORMALIZERS["standard"], "poisson", r[:, None] * model.W, model.b - r * A0.mean(axis=0)
    )
    np.testing.assert_allclose(model.natural_parameter(X), linear.natural_parameter(X), atol=1e-12)
    W, b, _ = model.layout.split(model.gradient(X, y))
    W1, b1, _ = linear.layout.split(linear.gradient(X, y))
    np.testing.assert_allclose(W, r[:, None] * W1, atol=1e-12)
    np.testing.assert_allclose(b, b1, atol=1e-12)


STATSMODELS = {
    "gaussian": sm.families.Gaussian(),
    "bernoulli": sm.families.Binomial(),
    "poisson": sm.families.Poisson(),
}


@pytest.mark.parametrize("family", STATSMODELS)
def test_the_standard_gradient_is_statsmodels_score(family, rng):
    model, X, y = draw(NORMALIZERS["standard"], family, rng, phi=1.0)
    rows = model.gradient(X, y).reshape(H, D + 1)
    for h in range(H):
        glm = sm.GLM(y[:, h], np.column_stack([X, np.ones(N)]), family=STATSMODELS[family])
        score = glm.score(np.append(model.W[h], model.b[h]), scale=1.0) / N
        np.testing.assert_allclose(rows[h], score, atol=1e-12)


# Fitting. ---------------------------------------------------------------------------------------


def noisy_labels(rng, outputs=2, cases=80):
    X = rng.standard_normal((cases, D))
    s = 2 * X @ rng.standard_normal((D, outputs)) + 0.5
    return X, (rng.random(s.shape) < 1 / (1 + np.exp(-s))).astype(float)


def start(name, family, rng, outputs=2):
    return NormalizedGLM.random(NORMALIZERS[name], family, outputs, D, rng)


def test_a_standard_bernoulli_fit_is_scikit_learns_logistic_regression(rng):
    X, y = noisy_labels(rng)
    result = fit(start("standard", "bernoulli", rng), X, y, ridge=0.05)
    assert result.converged
    for h in range(2):
        # scikit-learn minimizes C Σ loss + ‖w‖²/2, so C = 1/(Nλ).
        other = LogisticRegression(C=1 / (len(X) * 0.05), tol=1e-10, max_iter=1000).fit(X, y[:, h])
        np.testing.assert_allclose(result.model.W[h], other.coef_[0], atol=1e-5)
        np.testing.assert_allclose(result.model.b[h], other.intercept_[0], atol=1e-5)


def test_a_standard_categorical_fit_is_scikit_learns_softmax_regression(rng):
    X = rng.standard_normal((90, D))
    y = np.argmax(X @ rng.standard_normal((D, 3)) + rng.gumbel(size=(90, 3)), axis=1)
    result = fit(start("standard", "categorical", rng, outputs=3), X, y, ridge=0.05)
    other = LogisticRegression(C=1 / (len(X) * 0.05), tol=1e-10, max_iter=1000).fit(X, y)
    np.testing.assert_allclose(result.model.mean(X), other.predict_proba(X), atol=1e-5)


def test_a_standard_gaussian_fit_is_ridge_regression(rng):
    X, _ = noisy_labels(rng)
    y = X @ rng.standard_normal((D, 2)) + rng.standard_normal((len(X), 2))
    result = fit(start("standard", "gaussian", rng), X, y, ridge=0.05)
    other = Ridge(alpha=0.05 * len(X)).fit(X, y)
    np.testing.assert_allclose(result.model.W, other.coef_, atol=1e-5)
    np.testing.assert_allclose(result.model.b, other.intercept_, atol=1e-5)


@pytest.mark.parametrize("family", ["bernoulli", "gaussian", "poisson"])
def test_weight_norm_reaches_the_standard_models_fit_with_its_gains_for_lengths(family, rng):
    X, y = noisy_labels(rng)
    standard = fit(start("standard", family, rng), X, y, ridge=0.02)
    weight = fit(start("weight", family, rng), X, y, ridge=0.02)
    assert weight.loss == pytest.approx(standard.loss, rel=1e-6)
    assert weight.penalty == pytest.approx(standard.penalty, rel=1e-4)
    lengths = np.linalg.norm(standard.model.W, axis=1)
    np.testing.assert_allclose(np.abs(weight.model.g), lengths, rtol=1e-3)


@pytest.mark.parametrize("name", sorted(NORMALIZERS.keys() - {"group"}))
def test_a_fit_ends_where_the_penalized_gradient_vanishes(name, rng):
    """The ridge acts on the gains and on weights outside the homogeneous blocks.

    Ten neurons and no groups: few in a group may lead a fit to where a case has σ = 0 and z jumps.
    """
    X, y = noisy_labels(rng, outputs=10)
    result = fit(start(name, "bernoulli", rng, outputs=10), X, y, ridge=0.05, max_iterations=2000)
    model = result.model
    homogeneous = bool(model.normalizer.homogeneous_blocks(10))
    pull = model.layout.pack(
        np.zeros_like(model.W) if homogeneous else 0.05 * model.W,
        np.zeros(10),
        None if model.g is None else 0.05 * model.g,
    )
    np.testing.assert_allclose(model.gradient(X, y), pull, atol=1e-4)
    assert result.loss == pytest.approx(-model.log_likelihood(X, y), rel=1e-12)
    assert result.penalty == pytest.approx(pull @ model.pack() / 2, rel=1e-9)


def test_a_fit_reports_every_iteration_and_always_falls(rng):
    X, y = noisy_labels(rng)
    told = []
    model = start("layer", "bernoulli", rng)
    result = fit(model, X, y, progress=lambda *report: told.append(report))
    assert told == [(iteration, 500) for iteration in range(1, result.iterations + 1)]
    capped = [fit(model, X, y, max_iterations=most) for most in range(1, result.iterations + 1)]
    objectives = np.array([found.loss + found.penalty for found in capped])
    assert (np.diff(objectives) <= 0).all()
    assert objectives[-1] == pytest.approx(result.loss + result.penalty)


def test_a_stop_ends_a_fit_with_what_it_has(rng):
    X, y = noisy_labels(rng)

    def stop(iteration, most):
        if iteration == 3:
            raise Stop

    result = fit(start("batch", "bernoulli", rng), X, y, progress=stop)
    assert result.iterations == 3
    assert not result.converged
    assert result.loss == pytest.approx(-result.model.log_likelihood(X, y))


def test_separable_classes_are_fitted_because_of_the_ridge(rng):
    X = np.vstack([rng.standard_normal((20, D)) + 9, rng.standard_normal((20, D)) - 9])
    y = np.repeat([[1.0], [0.0]], 20, axis=0)
    result = fit(start("standard", "bernoulli", rng, outputs=1), X, y, ridge=0.1)
    assert result.converged
    assert 0 < result.loss < 0.1


# What is refused. -------------------------------------------------------------------------------

W0 = np.eye(3)
REFUSED_MODELS = {
    "a gain for the standard model": (
        {"normalizer": NORMALIZERS["standard"], "g": np.ones(3)},
        "The standard model (none, none) has no gain: w carries the scale already. "
        "Leave g out, or multiply it into W.",
    ),
    "a short bias": (
        {"b": np.zeros(2)},
        "`b` must hold one number for each of the 3 neurons; got 2.",
    ),
    "a long gain": (
        {"g": np.ones(4)},
        "`g` must hold one number for each of the 3 neurons; got 4.",
    ),
    "NaN in a bias": (
        {"b": [0.0, np.nan, 1.0]},
        "`b` must hold finite numbers; got 1 NaN or infinite among 3. Remove or impute them first.",
    ),
    "a vector of weights": (
        {"W": np.ones(3)},
        "`W` must have 2 axes; got an array of shape (3,).",
    ),
    "a family that is not there": (
        {"family": "gamma"},
        "`family` must be one of gaussian, bernoulli, poisson, categorical; got 'gamma'.",
    ),
    "no dispersion": (
        {"phi": 0.0},
        "`phi` must be a finite number above 0; got 0.0.",
    ),
    "a dispersion that the family lacks": (
        {"family": "poisson", "phi": 2.0},
        "The Poisson family has no dispersion to choose; got phi=2.0. Leave `phi` at 1, or use the "
        "Gaussian family, where it is the noise variance.",
    ),
}


def test_a_model_that_means_nothing_is_refused_in_a_sentence(subtests):
    for given, sentence in REFUSED_MODELS.values():
        refused = pytest.raises(ValueError, match=f"^{re.escape(sentence)}$")
        with subtests.test(sentence), refused:
            NormalizedGLM(
                **{"normalizer": NORMALIZERS["layer"], "family": "gaussian", "W": W0} | given
            )


def test_parameters_of_another_number_are_refused_in_a_sentence():
    model = NormalizedGLM(NORMALIZERS["layer"], "gaussian", W0)
    sentence = "`theta` must have shape (15,): 3 neurons of 5 parameters; got (14,)."
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        model.unpack(np.zeros(14))
    sentence = "`theta` must have 1 axis; got an array of shape (2, 15)."
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        model.unpack(np.zeros((2, 15)))


@pytest.mark.pairwise("cases", [1, 5])
@pytest.mark.pairwise("use", ["gradient", "log_likelihood"])
def test_as_many_outputs_as_cases_are_needed(use, cases):
    model = NormalizedGLM(NORMALIZERS["layer"], "gaussian", W0)
    sentence = (
        f"`y` must have one value for each case and output, shape (3, 3); got shape ({cases}, 3)."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        getattr(model, use)(np.eye(3) + 1, np.zeros((cases, 3)))


@pytest.mark.parametrize("ridge", [-1.0, float("nan")])
def test_a_ridge_that_is_none_is_refused_in_a_sentence(ridge):
    model = NormalizedGLM(NORMALIZERS["layer"], "gaussian", W0)
    sentence = f"`ridge` must be a finite number from 0 up; got {ridge}."
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        fit(model, np.eye(3) + 1, np.zeros((3, 3)), ridge=ridge)


def test_a_fit_of_an_undefined_normalizer_says_why(rng):
    model = NormalizedGLM(NORMALIZERS["layer"], "gaussian", W0[:1])
    with pytest.raises(ValueError, match="A layer mean is taken over the neurons of a group"):
        fit(model, rng.standard_normal((5, 3)), np.zeros((5, 1)))


def test_a_model_stays_as_it_was_made() -> None:
    model = NormalizedGLM(NORMALIZERS["layer"], "bernoulli", np.eye(3))
    with pytest.raises(AttributeError, match="`W` of a NormalizedGLM cannot be changed"):
        model.W = np.ones((3, 3))  # type: ignore[misc]
