"""The metric along the gains, against closed forms, Monte Carlo and the paper's formulas."""

import numpy as np
import pytest

from normgeo import FAMILIES, GRID, NORMALIZERS, NormalizedGLM, Normalizer, gain_metric, kl
from normgeo.base.progress import Stop
from normgeo.fisher.operator import Fisher, fisher
from normgeo.models.linearization import ModelLinearization
from tests.drawn import model_and_cases
from tests.refused import says

every_normalizer = pytest.mark.pairwise("words", GRID, ids="-".join)
every_family = pytest.mark.pairwise("family", FAMILIES)
PRINTED = {("batch", "batch"), ("layer", "layer"), ("none", "weight"), ("none", "none")}
DELTAS = np.array([0.25, 0.5, 1.0, 2.0, 8.0])


def in_place_of_z(model, X):
    """z, or for the standard model a_i/‖w_i‖, written out."""
    if model.g is None:
        return X @ model.W.T / np.sqrt((model.W**2).sum(axis=1))
    return model.normalizer.normalize(model.W, X, model.reference).z


@every_normalizer
@every_family
def test_metric_is_the_expectation_of_cov_z_z(words, family):
    phi = 0.7 if family == "gaussian" else 1.0
    model, X = model_and_cases(GRID[words], family, phi=phi)
    z = in_place_of_z(model, X)
    covariance = phi * model.family.covariance(model.natural_parameter(X))
    expected = np.mean(covariance * z[:, :, None] * z[:, None, :], axis=0) / phi**2
    metric = gain_metric(model, X)
    np.testing.assert_allclose(metric.exact[0], expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(metric.exact[0], metric.unscaled)
    np.testing.assert_allclose(metric.diagonal[0], np.diag(expected), rtol=1e-12)
    assert metric.total[0] == pytest.approx(np.trace(expected))
    assert (metric.title, metric.family) == (GRID[words].title, family)


@every_normalizer
@every_family
def test_half_the_metric_is_the_kl_of_a_small_change_of_gains(words, family, rng):
    model, X = model_and_cases(GRID[words], family)
    change = 1e-3 * rng.standard_normal(4)

    def moved(t):
        if model.g is None:
            lengths = np.linalg.norm(model.W, axis=1)[:, None]
            W = model.W + t * change[:, None] * model.W / lengths
            return NormalizedGLM(model.normalizer, model.family, W, model.b)
        return NormalizedGLM(model.normalizer, model.family, model.W, model.b, model.g + t * change)

    # Of the two signs the mean leaves a remainder of fourth order.
    measured = (kl(model, moved(1), X) + kl(model, moved(-1), X)) / 2
    quadratic = change @ gain_metric(model, X).exact[0] @ change / 2
    assert measured == pytest.approx(quadratic, rel=1e-4)


@every_normalizer
@every_family
def test_metric_is_the_covariance_of_the_score_of_sampled_outputs(words, family):
    """The score along the gains, or along ŵ for the standard model; of one case at a time."""
    model, X = model_and_cases(GRID[words], family)
    s, u, rng = model.natural_parameter(X), in_place_of_z(model, X), np.random.default_rng(4)
    y = np.stack([model.family.sample(s, rng, model.phi) for _ in range(3000)])
    scores = (y - model.family.mean(s)) * u  # ∂ log P(y|x)/∂g, φ = 1
    products = np.mean(scores[..., :, None] * scores[..., None, :], axis=1)
    errors = products.std(axis=0) / np.sqrt(len(y)) + 1e-12
    assert (np.abs(products.mean(axis=0) - gain_metric(model, X).exact[0]) < 5 * errors).all()


# As printed.


@every_normalizer
@every_family
def test_appendix_agrees_except_for_batch_norm(words, family):
    metric = gain_metric(*model_and_cases(GRID[words], family), DELTAS)
    if words not in PRINTED:
        assert metric.printed is None
        assert metric.printed_total is None
        return
    equal = np.allclose(metric.printed, metric.exact, rtol=1e-12, atol=1e-13)
    assert equal == (words != ("batch", "batch") or family == "gaussian")
    np.testing.assert_allclose(
        metric.printed_total, np.trace(metric.printed, axis1=1, axis2=2), rtol=1e-14
    )


def test_appendix_of_batch_norm_is_off_where_the_covariance_varies_and_where_eps_is_not_0():
    """By theory about a third too large in one Bernoulli draw; z² and Cov are anticorrelated."""
    metric = gain_metric(*model_and_cases(NORMALIZERS["batch"], "bernoulli"))
    assert 1.05 < metric.printed_total[0] / metric.total[0] < 2
    model, X = model_and_cases(NORMALIZERS["batch"], "gaussian", phi=0.5)
    np.testing.assert_allclose(gain_metric(model, X).printed[0], 2 * np.eye(4), rtol=1e-13)
    with_eps, _ = model_and_cases(Normalizer("batch", "batch", eps=0.5), "gaussian", phi=0.5)
    metric = gain_metric(with_eps, X)
    assert metric.printed_total[0] > 1.01 * metric.total[0]


# Re-scaling the inputs.


@every_normalizer
@every_family
def test_only_a_batch_or_layer_scale_holds_the_metric_when_inputs_are_rescaled(words, family):
    model, X = model_and_cases(GRID[words], family)
    X = 0.3 * X
    metric = gain_metric(model, X, DELTAS)
    assert metric.problems == ("",) * len(DELTAS)
    assert metric.changes == (words[1] not in {"batch", "layer"})
    if not metric.changes:
        np.testing.assert_allclose(metric.ratio, 1, rtol=1e-12)
    elif family == "gaussian":
        np.testing.assert_allclose(metric.ratio, DELTAS**2, rtol=1e-12)
        np.testing.assert_allclose(
            metric.exact, DELTAS[:, None, None] ** 2 * metric.unscaled, rtol=1e-11, atol=1e-15
        )


@pytest.mark.parametrize("phi", [1e-15, 1e15])
def test_whether_the_metric_changes_does_not_depend_on_its_size(phi):
    for name in ("layer", "weight"):
        model, X = model_and_cases(NORMALIZERS[name], "gaussian", phi=phi)
        assert gain_metric(model, X, DELTAS).changes == (name == "weight")


@pytest.mark.parametrize("name", ["weight", "standard"])
@pytest.mark.parametrize("family", ["bernoulli", "categorical"])
def test_metric_of_weight_norm_rises_then_falls_as_outputs_saturate(name, family):
    metric = gain_metric(*model_and_cases(NORMALIZERS[name], family), np.geomspace(0.01, 1000, 26))
    top = int(metric.ratio.argmax())
    assert 0 < top < 25
    assert (np.diff(metric.ratio[:top]) > 0).all()
    assert metric.ratio[-1] < 0.05 * metric.ratio[top]
    # While nothing is saturated it grows as δ².
    assert metric.ratio[1] / metric.ratio[0] == pytest.approx(10 ** (2 * 5 / 25), rel=0.02)


def test_eps_and_frozen_statistics_undo_the_robustness():
    for normalizer in (
        Normalizer("layer", "layer", eps=0.1),
        Normalizer("batch", "batch", statistics="frozen"),
    ):
        model, X = model_and_cases(normalizer, "gaussian")
        if normalizer.statistics == "frozen":
            model, _ = model_and_cases(normalizer, "gaussian", reference=(model.W, X))
        assert gain_metric(model, X, DELTAS).changes


def test_a_factor_out_of_range_is_a_gap_with_its_sentence():
    model, X = model_and_cases(NORMALIZERS["weight"], "poisson")
    metric = gain_metric(model, X, [1.0, 1000.0, 2.0])
    assert metric.problems[0] == metric.problems[2] == ""
    assert metric.problems[1].startswith("Natural parameters of the Poisson family must not exceed")
    assert np.isnan(metric.exact[1]).all()
    assert np.isnan(metric.printed[1]).all()
    assert np.isfinite(metric.ratio[[0, 2]]).all()
    assert metric.changes


def test_a_stop_leaves_the_other_factors_out():
    told = []

    def stop(done, factors):
        told.append((done, factors))
        if done == 2:
            raise Stop

    model, X = model_and_cases(NORMALIZERS["layer"], "gaussian")
    metric, whole = gain_metric(model, X, DELTAS, progress=stop), gain_metric(model, X, DELTAS)
    assert told == [(1, len(DELTAS)), (2, len(DELTAS))]
    assert metric.problems == ("", "")
    np.testing.assert_array_equal(metric.deltas, DELTAS[:2])
    np.testing.assert_array_equal(metric.exact, whole.exact[:2])
    np.testing.assert_array_equal(metric.printed, whole.printed[:2])


# Mutations: a wrong computation turns a verdict.


def verdicts():
    """What the tests above claim, each in one word."""
    bernoulli = {
        name: gain_metric(
            *model_and_cases(NORMALIZERS[name], "bernoulli"), np.geomspace(0.1, 1000, 9)
        )
        for name in ("batch", "weight", "layer")
    }
    gaussian = gain_metric(*model_and_cases(NORMALIZERS["standard"], "gaussian", phi=0.5), DELTAS)
    return {
        "printed batch norm is off": not np.allclose(
            bernoulli["batch"].printed, bernoulli["batch"].exact, rtol=1e-9
        ),
        "printed weight norm is exact": np.allclose(
            bernoulli["weight"].printed, bernoulli["weight"].exact, rtol=1e-9, atol=1e-12
        ),
        "layer norm is robust": not bernoulli["layer"].changes,
        "weight norm rises and falls": 0 < bernoulli["weight"].ratio.argmax() < 8,
        "the standard Gaussian grows as δ²": np.allclose(gaussian.ratio, DELTAS**2),
        "φ divides once": np.allclose(gaussian.printed, gaussian.exact),
    }


MUTATIONS = {
    "printed batch norm is off": ("_ones", lambda names: names["_deviations"]),
    "printed weight norm is exact": ("_projections", lambda names: names["_ones"]),
    "layer norm is robust": (
        "_exact",
        lambda names: lambda m, at: np.abs(at.whole.inputs).max() * names["_exact"](m, at),
    ),
    "weight norm rises and falls": (
        "_exact",
        lambda names: (
            lambda m, at: names["_exact"](
                NormalizedGLM(m.normalizer, "gaussian", m.W, m.b, m.g), at
            )
        ),
    ),
    "the standard Gaussian grows as δ²": (
        "_exact",
        lambda names: (
            lambda m, at: Fisher(at, m.family, m.phi).to_dense()[np.ix_(*[m.layout.biases] * 2)]
        ),
    ),
    "φ divides once": (
        "_printed",
        lambda names: lambda m, at, form: names["_printed"](m, at, form) / m.phi,
    ),
}


def test_all_verdicts_hold():
    assert all(verdicts().values())


@pytest.mark.parametrize("claim", MUTATIONS)
def test_mutation_turns_the_verdict(claim, monkeypatch):
    names = dict(gain_metric.__globals__)
    name, mutate = MUTATIONS[claim]
    monkeypatch.setitem(gain_metric.__globals__, name, mutate(names))
    for words, form in names["PRINTED"].items():
        if form is names[name]:
            monkeypatch.setitem(gain_metric.__globals__["PRINTED"], words, mutate(names))
    assert not verdicts()[claim]


# Bad input.


def test_bad_input_is_answered_in_a_full_sentence():
    model, X = model_and_cases(NORMALIZERS["standard"], "gaussian")
    with says("`deltas` must be positive factors; got -2."):
        gain_metric(model, X, [1.0, -2.0])
    with says(
        "`deltas` must hold finite numbers; got 1 NaN or infinite among 2. "
        "Remove or impute them first."
    ):
        gain_metric(model, X, [1.0, np.nan])
    W = model.W.copy()
    W[2] = 0
    with says(
        "The standard model has a magnitude to change only where a weight vector is not zero; "
        "got zeros at neuron 2. Start from other weights."
    ):
        gain_metric(NormalizedGLM(NORMALIZERS["standard"], "gaussian", W), X)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("method", ["standard", "layer", "batch"])
def test_metric_along_the_gains_is_the_fisher_information_there(method, family):
    """VᵀFV of the whole matrix, where V moves one gain at a time, or one w_i along itself."""
    model, X = model_and_cases(NORMALIZERS[method], family)
    layout = model.layout
    V = np.zeros((layout.size, layout.neurons))
    if layout.has_gain:
        V[layout.gains] = np.eye(layout.neurons)
    else:
        for h, w in enumerate(model.W):
            V[layout.weights.reshape(model.W.shape)[h], h] = w / np.linalg.norm(w)
    expected = V.T @ fisher(model, X).to_dense() @ V
    np.testing.assert_allclose(gain_metric(model, X).exact[0], expected, atol=1e-12)


def test_metric_of_many_classes_takes_one_product_and_not_one_a_class(monkeypatch):
    """256 classes and two δ, beside δ = 1: three products, not 768."""
    model, X = model_and_cases(NORMALIZERS["rms"], "categorical", N=400, H=256, D=20)
    products, jvp = [], ModelLinearization.jvp

    def counted(at, dtheta):
        products.append(np.shape(dtheta))
        return jvp(at, dtheta)

    monkeypatch.setattr(ModelLinearization, "jvp", counted)
    gain_metric(model, X, [1.0, 2.0])
    assert products == 3 * [(model.layout.size,)]
