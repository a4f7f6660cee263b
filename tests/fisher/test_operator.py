"""The Fisher information against the KL, explicit Jacobians, statsmodels, sampling and theory."""

import re
from importlib import import_module

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.sparse.linalg import eigsh

import normgeo
from normgeo import (
    FAMILIES,
    GRID,
    NORMALIZERS,
    TRANSFORMS,
    NormalizedGLM,
    Normalizer,
    null_space,
    spectrum,
)
from normgeo.base.refusal import Refusal
from normgeo.fisher import cluster_sums, structure
from normgeo.fisher.kl import kl
from normgeo.fisher.operator import Fisher, fisher
from normgeo.fisher.storage import STORAGES
from normgeo.models import linearization
from tests.drawn import varied_model_and_cases
from tests.pairwise import each

WITH_NAMES = dict.fromkeys([*NORMALIZERS.values(), *GRID.values()])
VARIANTS = (
    Normalizer("layer", "layer", groups=3, eps=0.3, name="group norm with eps"),
    Normalizer("none", "layer", groups=2, name="grouped RMS norm"),
    Normalizer("layer", "batch", groups=2, eps=0.2, name="grouped layer center, batch scale"),
    Normalizer("batch", "layer", eps=0.1, name="batch center, layer scale with eps"),
    Normalizer("batch", "batch", eps=0.3, name="batch norm with eps"),
    Normalizer("batch", "batch", statistics="frozen", name="frozen batch norm"),
    Normalizer("layer", "batch", statistics="frozen", name="layer center, frozen batch scale"),
)
every_normalizer = pytest.mark.pairwise(
    "normalizer", [*WITH_NAMES, *VARIANTS], ids=lambda normalizer: normalizer.title
)
every_family = pytest.mark.pairwise("family", FAMILIES)
every_form = pytest.mark.pairwise("form", STORAGES)
every_coupling = pytest.mark.pairwise("coupling", ["exact", "paper"])


def jacobian(model, X, coupling="exact", h=1e-3):
    """∂s/∂θ (P, N, H) by fourth-order differences; "paper" masks it to own parameters."""
    theta = model.pack()
    J = []
    for e in h * np.eye(len(theta)):
        s = [model.unpack(theta + k * e).natural_parameter(X) for k in (-2, -1, 1, 2)]
        J.append((s[0] - 8 * s[1] + 8 * s[2] - s[3]) / (12 * h))
    H = len(model.W)
    owner = np.arange(len(theta)) // model.layout.per_neuron
    mask = owner[:, None, None] == np.arange(H) if coupling == "paper" else 1
    return np.stack(J) * mask


def explicit(model, X, coupling="exact"):
    """F from the definition: Σ_n J_nᵀ Cov_n J_n / φ² N, with Cov = φ A''."""
    J = jacobian(model, X, coupling)
    A2 = model.family.covariance(model.natural_parameter(X))
    return np.einsum("anh,nhk,bnk->ab", J, A2, J, optimize=True) / (model.phi * len(X))


def relative(difference, to):
    return np.abs(difference).max() / np.abs(to).max()


# Against the divergence.


@every_normalizer
@every_family
def test_kl_is_half_the_quadratic_form_with_a_remainder_of_third_order(normalizer, family):
    model, X = varied_model_and_cases(normalizer, family)
    theta, F = model.pack(), fisher(model, X)
    delta = np.random.default_rng(1).standard_normal(len(theta))
    delta /= np.sqrt(F.quad(delta))

    def remainder(step):
        return kl(model, model.unpack(theta + step * delta), X) - step**2 / 2

    steps = 4e-3 * 0.5 ** np.arange(3)
    R = np.array([remainder(step) for step in steps])
    if family == "gaussian" and normalizer.words == ("none", "none"):
        assert (np.abs(R) < 1e-12).all()  # s is linear in θ and KL quadratic in s
        return
    assert (np.abs(R) < 30 * steps**3).all()
    np.testing.assert_allclose(R[:-1] / R[1:], 8, rtol=0.1)


@pytest.mark.parametrize(
    ("X", "factor"),
    [([[1.0, 1.0], [1.0, -1.0]], 16), ([[1.0, 1.0], [2.0, -1.0]], 8)],
    ids=["even in the step", "generic"],
)
def test_remainder_is_of_fourth_order_where_the_third_cancels_between_cases(X, factor):
    """Gaussian weight norm with dw orthogonal to w: the third order is −E[x₁x₂]/2."""
    model = NormalizedGLM(NORMALIZERS["weight"], "gaussian", [[1.0, 0.0]])
    theta, delta, F = model.pack(), np.array([0.0, 1.0, 0.0, 0.0]), fisher(model, X)
    R = [
        kl(model, model.unpack(theta + t * delta), X) - t**2 * F.quad(delta) / 2
        for t in (4e-3, 2e-3)
    ]
    assert R[0] / R[1] == pytest.approx(factor, rel=0.02)


# Against the definition.


@every_normalizer
@every_family
@every_coupling
def test_every_form_is_the_explicit_product_of_jacobians(normalizer, family, coupling):
    model, X = varied_model_and_cases(normalizer, family)
    F = explicit(model, X, coupling)
    operator = fisher(model, X, coupling=coupling)
    dense = fisher(model, X, "dense", coupling)
    blocks = fisher(model, X, "blocks", coupling)
    products = operator @ np.eye(len(F))
    assert relative(products - F, F) < 1e-8
    for same in (operator.to_dense(), dense.to_dense(), dense @ np.eye(len(F))):
        assert relative(same - products, F) < 1e-14
    p = model.layout.per_neuron
    own = np.kron(np.eye(len(model.W)), np.ones((p, p)))
    assert relative(blocks.to_dense() - own * products, F) < 1e-14
    assert relative(blocks @ np.eye(len(F)) - own * products, F) < 1e-14


@every_normalizer
@every_family
@every_coupling
def test_dense_is_exactly_symmetric_and_positive_semidefinite(normalizer, family, coupling):
    model, X = varied_model_and_cases(normalizer, family, seed=2)
    F = fisher(model, X, "dense", coupling).to_dense()
    np.testing.assert_array_equal(F, F.T)
    eigenvalues = np.linalg.eigvalsh(F)
    assert eigenvalues[0] > -1e-14 * eigenvalues[-1]


@every_form
@every_coupling
@pytest.mark.pairwise("name", ["standard", "layer", "group", "mean_only_batch_weight"])
@pytest.mark.pairwise("family", ["poisson", "categorical"])
def test_verbs_agree_with_the_matrix(name, family, coupling, form):
    model, X = varied_model_and_cases(NORMALIZERS[name], family)
    F = fisher(model, X, form, coupling)
    dense, p = F.to_dense(), model.layout.per_neuron
    V = np.random.default_rng(3).standard_normal((len(dense), 3))
    close = {"rtol": 1e-12, "atol": 1e-13 * np.abs(dense).max()}
    np.testing.assert_allclose(F.matvec(V[:, 0]), dense @ V[:, 0], **close)
    np.testing.assert_allclose(F.matmat(V), dense @ V, **close)
    np.testing.assert_allclose(F.T @ V, dense @ V, **close)
    np.testing.assert_allclose(F.restrict(V), V.T @ dense @ V, **close)
    np.testing.assert_array_equal(F.restrict(V), F.restrict(V).T)
    np.testing.assert_allclose(F.quad(V[:, 1]), V[:, 1] @ dense @ V[:, 1], **close)
    np.testing.assert_allclose(F.diagonal(), dense.diagonal(), **close)
    np.testing.assert_allclose(F.trace(), dense.trace(), **close)
    for i, j in ((0, 0), (4, 1), (1, 4), (5, 0)):
        here = dense[i * p : (i + 1) * p, j * p : (j + 1) * p]
        np.testing.assert_allclose(F.block(i, j), here, **close)
    W = model.layout.weights
    np.testing.assert_array_equal(F.weights(), dense[np.ix_(W, W)])
    damped = dense + 0.1 * np.eye(len(dense))
    x = np.linalg.solve(damped, V[:, 0])
    np.testing.assert_allclose(F.solve(V[:, 0], 0.1), x, rtol=1e-6, atol=1e-6)


def test_fisher_is_a_scipy_linear_operator():
    model, X = varied_model_and_cases(NORMALIZERS["layer"], "categorical")
    F = fisher(model, X)
    largest = eigsh(F, k=1, return_eigenvectors=False, v0=np.ones(F.shape[0]))
    assert largest[0] == pytest.approx(np.linalg.eigvalsh(F.to_dense())[-1])


def test_fisher_says_what_it_is():
    model, X = varied_model_and_cases(NORMALIZERS["batch"], "gaussian")
    F = fisher(model, X, "dense", "paper")
    assert (F.coupling, F.form, F.phi, F.N) == ("paper", "dense", 0.7, 9)
    assert repr(F) == (
        "<expected Fisher information, per case, Eq. 13; N = 9, dispersion φ = 0.7; dense form, "
        "P=42>"
    )
    assert Fisher(model.linearize(X), model.family, model.phi).coupling == "exact"


@pytest.mark.parametrize("name", ["layer", "batch", "group", "centered_weight"])
@every_family
def test_dense_does_not_depend_on_how_cases_and_features_are_cut(name, family, monkeypatch):
    model, X = varied_model_and_cases(NORMALIZERS[name], family)
    whole = fisher(model, X).to_dense()
    monkeypatch.setattr(cluster_sums, "CASES", 4)
    monkeypatch.setattr(cluster_sums, "FEATURES", 2)
    monkeypatch.setattr(cluster_sums, "CACHED", 16)  # of two pairs of neurons
    F = fisher(model, X)
    assert relative(F.to_dense() - whole, whole) < 1e-14
    assert relative(F.diagonal() - whole.diagonal(), whole) < 1e-14


@pytest.mark.parametrize("name", ["layer", "batch", "weight"])
@every_family
def test_products_do_not_depend_on_how_directions_are_cut(name, family, monkeypatch):
    model, X = varied_model_and_cases(NORMALIZERS[name], family)
    F = fisher(model, X)
    V = np.random.default_rng(3).standard_normal((F.layout.size, 5))
    asks = F.matmat, F.restrict, F.factor_times
    together = [ask(V) for ask in asks]
    for at_once in (1, 2):
        monkeypatch.setattr(linearization, "STACK", at_once * len(X) * len(model.W))
        for ask, whole in zip(asks, together, strict=True):
            assert relative(ask(V) - whole, whole) < 1e-14


@every_normalizer
def test_independent_outputs_without_a_layer_statistic_have_a_block_diagonal_fisher(normalizer):
    model, X = varied_model_and_cases(normalizer, "bernoulli")
    F = fisher(model, X)
    p, K = model.layout.per_neuron, len(model.W) // normalizer.groups
    size = K * p if "layer" in normalizer.words else p
    apart = np.kron(np.eye(len(F.layout.weights) // 5 * p // size), np.ones((size, size))) == 0
    assert (F.to_dense()[apart] == 0).all()
    assert (fisher(model, X, "dense").block(0, 1) != 0).any() == ("layer" in normalizer.words)


@every_family
def test_narrow_floats_give_a_float64_fisher(family):
    model, X = varied_model_and_cases(NORMALIZERS["layer"], family)
    narrow = NormalizedGLM(
        model.normalizer, family, np.float32(model.W), model.b, model.g, phi=model.phi
    )
    F, wide = fisher(narrow, np.float32(X)), fisher(model, X).to_dense()
    assert F.to_dense().dtype == F.matvec(np.ones(F.shape[0])).dtype == np.float64
    assert relative(F.to_dense() - wide, wide) < 1e-4


# Against other libraries and sampling.


@pytest.mark.parametrize(
    ("family", "of_statsmodels"),
    [
        ("gaussian", sm.families.Gaussian()),
        ("bernoulli", sm.families.Binomial()),
        ("poisson", sm.families.Poisson()),
    ],
)
def test_standard_model_has_the_expected_information_of_statsmodels(family, of_statsmodels):
    model, X = varied_model_and_cases(NORMALIZERS["standard"], family, N=30, D=3, H=2)
    F = fisher(model, X)
    y = model.mean(X)
    for h in range(2):
        other = sm.GLM(y[:, h], np.column_stack([X, np.ones(30)]), family=of_statsmodels)
        beta = np.append(model.W[h], model.b[h])
        information = -other.hessian(beta, scale=model.phi, observed=False)
        np.testing.assert_allclose(30 * F.block(h, h), information, rtol=1e-10)


def test_standard_categorical_has_the_information_of_statsmodels_mnlogit():
    """MNLogit fixes the first class at s = 0: our F without that neuron, which does not move."""
    model, X = varied_model_and_cases(NORMALIZERS["standard"], "categorical", N=40, D=3, H=4)
    W, b = model.W.copy(), model.b.copy()
    W[0], b[0] = 0, 0
    model = NormalizedGLM(NORMALIZERS["standard"], "categorical", W, b)
    labels = np.arange(40) % 4
    other = sm.MNLogit(labels, np.column_stack([X, np.ones(40)]))
    information = -other.hessian(np.column_stack([W, b])[1:].T)
    np.testing.assert_allclose(40 * fisher(model, X).to_dense()[4:, 4:], information, rtol=1e-10)


@every_family
def test_standard_model_has_the_kronecker_form_of_equation_12(family):
    model, X = varied_model_and_cases(NORMALIZERS["standard"], family)
    ones = np.column_stack([X, np.ones(len(X))])
    covariance = model.phi * model.family.covariance(model.natural_parameter(X))
    F = sum(np.kron(cov, np.outer(x, x)) for cov, x in zip(covariance, ones, strict=True))
    expected = F / model.phi**2 / len(X)
    assert relative(fisher(model, X).to_dense() - expected, expected) < 1e-14


@pytest.mark.parametrize(("name", "family"), each(["layer", "batch"], FAMILIES))
def test_fisher_is_the_covariance_of_the_score_of_sampled_outputs(name, family):
    """The score is that of a mean over N independent cases, so its covariance is F/N."""
    model, X = varied_model_and_cases(NORMALIZERS[name], family)
    at, rng, draws = model.linearize(X), np.random.default_rng(4), 4000
    V = np.linalg.eigh(fisher(model, X).to_dense())[1][:, -6:]
    scores = np.stack(
        [
            at.vjp(model.residual(at.s, model.family.sample(at.s, rng, model.phi))) @ V
            for _ in range(draws)
        ]
    )
    F = fisher(model, X).restrict(V)
    products = len(X) * scores[:, :, None] * scores[:, None, :]
    errors = products.std(axis=0) / np.sqrt(draws)
    assert (np.abs(products.mean(axis=0) - F) < 4.5 * errors).all()


@every_normalizer
def test_dispersion_divides_the_fisher(normalizer):
    model, X = varied_model_and_cases(normalizer, "gaussian")
    other = NormalizedGLM(
        normalizer, "gaussian", model.W, model.b, model.g, phi=7 * 0.7, reference=model.reference
    )
    for form in STORAGES:
        F, divided = (fisher(m, X, form).to_dense() for m in (model, other))
        np.testing.assert_allclose(7 * divided, F, rtol=1e-12, atol=1e-13)


@every_normalizer
@every_form
def test_cases_counted_twice_leave_the_fisher_per_case_alone(normalizer, form):
    model, X = varied_model_and_cases(normalizer, "bernoulli")
    F, twice = (fisher(model, x, form).to_dense() for x in (X, np.concatenate([X, X])))
    assert relative(F - twice, F) < 1e-13


# The paper's coupling, Eq. 13 with Eq. 14.


@every_normalizer
@every_family
def test_equation_13_is_exact_without_a_layer_statistic_and_only_then(normalizer, family):
    model, X = varied_model_and_cases(normalizer, family)
    exact, paper = (
        fisher(model, X, "dense", coupling).weights() for coupling in ("exact", "paper")
    )
    error = np.linalg.norm(paper - exact) / np.linalg.norm(exact)
    assert error > 0.02 if "layer" in normalizer.words else error < 1e-14


@pytest.mark.parametrize(
    ("H", "low", "high"), [(3, 0.71, 0.80), (5, 0.53, 0.63), (10, 0.37, 0.44), (30, 0.20, 0.25)]
)
def test_error_of_equation_13_for_layer_norm_falls_with_the_number_of_neurons(H, low, high):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        model = NormalizedGLM.random(NORMALIZERS["layer"], "gaussian", H, 8, rng)
        X = rng.standard_normal((200, 8))
        exact, paper = (fisher(model, X, "dense", c).weights() for c in ("exact", "paper"))
        assert low < np.linalg.norm(paper - exact) / np.linalg.norm(exact) < high


# Symmetry is a null direction (theory: the tangent of a change that leaves z alone).


def invariant_tangents(model, X):
    """The tangents (P,) of the changes of W that leave z alone, found by trying them."""
    rng, layout = np.random.default_rng(5), model.layout
    z = model.linearize(X).z
    for transform in TRANSFORMS.values():
        if transform.matrix != "W":
            continue
        gamma = None
        if not transform.rescales:
            gamma = rng.standard_normal(transform.gamma_shape(model.W, X))
        W, _ = transform(model.W, X, delta=1.7 if transform.rescales else None, gamma=gamma)
        if np.abs(model.normalizer.linearize(W, X, model.reference).z - z).max() < 1e-12:
            dW, _ = transform.tangent(model.W, X, gamma=gamma)
            yield layout.pack(dW, 0 * model.b, None if model.g is None else 0 * model.b)


@every_normalizer
@every_family
def test_tangents_of_invariances_are_null_directions(normalizer, family):
    model, X = varied_model_and_cases(normalizer, family)
    operator, dense = fisher(model, X), fisher(model, X, "dense")
    size = np.linalg.norm(dense.to_dense(), 2)
    tangents = list(invariant_tangents(model, X))
    free = normalizer.eps or normalizer.statistics == "frozen" or normalizer.center == "batch"
    assert tangents or free or normalizer.words == ("none", "none")
    for t in tangents:
        for F in (operator, dense):
            assert np.linalg.norm(F @ t) < 1e-14 * size * np.linalg.norm(t)
        assert operator.quad(t) < 1e-28 * size * (t @ t)


@every_family
def test_equation_13_does_not_contain_the_null_directions_of_layer_norm(family):
    model, X = varied_model_and_cases(NORMALIZERS["layer"], family)
    F = fisher(model, X, coupling="paper")
    size = np.linalg.norm(F.to_dense(), 2)
    tangents = list(invariant_tangents(model, X))
    assert len(tangents) == 2
    for t in tangents:
        assert np.linalg.norm(F @ t) > 1e-3 * size * np.linalg.norm(t)


# Growth of the weight norm: the doubling table.


def doubled(normalizer, family):
    """A model, the one with its first homogeneous block doubled, the cases and the block."""
    model, X = varied_model_and_cases(normalizer, family)
    block = normalizer.homogeneous_blocks(len(model.W))[0]
    W = model.W.copy()
    W[block] *= 2
    other = NormalizedGLM(normalizer, family, W, model.b, model.g, phi=model.phi)
    return model, other, X, block


with_doubling = pytest.mark.parametrize("name", ["batch", "weight", "layer", "group", "rms"])


@with_doubling
@every_family
@every_coupling
def test_doubling_table(name, family, coupling):
    model, other, X, block = doubled(NORMALIZERS[name], family)
    layout = model.layout
    before, after = (fisher(m, X, coupling=coupling).to_dense() for m in (model, other))
    w = layout.weights.reshape(len(model.W), -1)
    twice, once = w[block].reshape(-1), np.delete(w, block, axis=0).reshape(-1)
    rest = np.setdiff1d(np.arange(len(before)), layout.weights)

    def factor(rows, columns, expected):
        there, here = (F[np.ix_(rows, columns)] for F in (after, before))
        np.testing.assert_allclose(there, expected * here, atol=1e-14 * np.abs(before).max())

    np.testing.assert_allclose(other.natural_parameter(X), model.natural_parameter(X), atol=1e-14)
    factor(twice, twice, 1 / 4)
    factor(twice, rest, 1 / 2)
    factor(rest, rest, 1)
    factor(once, once, 1)
    factor(twice, once, 1 / 2)
    if model.family.coupled and once.size:
        assert np.abs(before[np.ix_(twice, once)]).max() > 1e-3 * np.abs(before).max()
    if (name, family) != ("batch", "gaussian"):  # where E[χ] = E[χ z] = 0
        assert np.abs(before[np.ix_(twice, rest)]).max() > 1e-3 * np.abs(before).max()


@with_doubling
@every_family
def test_doubling_halves_the_gradient_and_quarters_curvature_but_not_along_the_block(name, family):
    model, other, X, block = doubled(NORMALIZERS[name], family)
    layout = model.layout
    y = model.family.sample(model.natural_parameter(X), np.random.default_rng(6), model.phi)
    gradients = [layout.split(m.gradient(X, y))[0][block] for m in (model, other)]
    np.testing.assert_allclose(gradients[1], gradients[0] / 2, atol=1e-14)
    assert np.abs(gradients[0]).max() > 1e-3

    def step(M):
        dW = np.zeros_like(model.W)
        dW[block] = M[block]
        return layout.pack(dW, 0 * model.b, 0 * model.b)

    across = step(np.random.default_rng(7).standard_normal(model.W.shape))
    F, G = fisher(model, X), fisher(other, X)
    np.testing.assert_allclose(G.quad(across), F.quad(across) / 4, rtol=1e-12)
    assert F.quad(step(model.W)) < 1e-28 * F.quad(across)
    assert G.quad(step(other.W)) < 1e-28 * F.quad(across)


def test_doubling_one_weight_vector_under_layer_norm_changes_the_function():
    model, X = varied_model_and_cases(NORMALIZERS["layer"], "gaussian")
    W = model.W.copy()
    W[0] *= 2
    other = NormalizedGLM(model.normalizer, "gaussian", W, model.b, model.g, phi=model.phi)
    assert kl(model, other, X) > 0.01
    F, G = (fisher(m, X).block(0, 0)[:5, :5] for m in (model, other))
    assert relative(G - F / 4, F) > 0.01


# Legal extremes, and what is refused.


@every_form
@every_coupling
def test_two_neurons_under_layer_norm_have_no_curvature_in_the_weights(form, coupling):
    model, X = varied_model_and_cases(NORMALIZERS["layer"], "gaussian", H=2)
    F = fisher(model, X, form, coupling)
    assert np.abs(F.weights()).max() < 1e-14
    assert np.isfinite(F.diagonal()).all()


@pytest.mark.parametrize("family", ["bernoulli", "categorical"])
@every_form
def test_saturated_family_has_a_tiny_and_finite_fisher(family, form):
    model, X = varied_model_and_cases(NORMALIZERS["layer"], family)
    far = NormalizedGLM(
        model.normalizer, family, model.W, model.b + 600 * np.arange(6), 0.1 * model.g
    )
    F = fisher(far, X, form)
    assert np.isfinite(F.to_dense()).all()
    assert 0 <= F.trace() < (10 if family == "bernoulli" else 1e-200)


def test_matrix_too_large_for_memory_is_refused_with_its_size():
    model, X = varied_model_and_cases(NORMALIZERS["layer"], "gaussian", N=3, D=3000, H=8)
    F = fisher(model, X)
    sentence = (
        "A stored Fisher information must fit in 2 GiB (`max_bytes`); one of shape (24016, 24016) "
        "would take 4.3 GiB. Use form='operator', whose products and `spectrum` with a k store "
        "none, or ask for more: fisher(…, max_bytes=…)."
    )
    with pytest.raises(ValueError, match=re.escape(sentence)):
        F.to_dense()
    with pytest.raises(ValueError, match=r"4\.3 GiB"):
        fisher(model, X, "dense")
    with pytest.raises(ValueError, match="1 GiB"):
        F.weights(max_bytes=2**30)
    assert F.block(0, 1).shape == (3002, 3002)


def test_budget_is_the_users_wherever_a_matrix_is_made():
    """Every matrix that F is asked for takes the budget it was made with, and no other."""
    model, X = varied_model_and_cases(NORMALIZERS["layer"], "gaussian")
    size = 42 * 42 * 8
    enough, short = ({"max_bytes": max_bytes} for max_bytes in (size, size - 1))
    for needed in (
        lambda budget: fisher(model, X, "dense", **budget).to_dense(),
        lambda budget: fisher(model, X, **budget).to_dense(),
        lambda budget: fisher(model, X, **budget).weights(),
        lambda budget: fisher(model, X, "blocks", **budget).to_dense(),
        lambda budget: spectrum(fisher(model, X, **budget), None),
        lambda budget: null_space(fisher(model, X, **budget)),
        lambda budget: null_space(fisher(model, X, **budget), weights_only=False),
    ):
        needed(enough)
        with pytest.raises(ValueError, match=r"one of shape \(42, 42\) would take .*max_bytes=…"):
            needed(short)
    with pytest.raises(ValueError, match=r"one of shape \(6, 7, 7\) would take"):
        fisher(model, X, "blocks", max_bytes=6 * 7 * 7 * 8 - 1)
    # Many cases: the changes of outputs along null directions are an array as well.
    many = np.random.default_rng(0).standard_normal((3000, 5))
    with pytest.raises(ValueError, match=r"^The changes of the outputs along small eigenvectors"):
        null_space(fisher(model, many, **enough))


def test_blocks_too_large_as_one_matrix_are_refused_as_one_only():
    model, X = varied_model_and_cases(NORMALIZERS["layer"], "gaussian")
    F = fisher(model, X, "blocks")
    with pytest.raises(ValueError, match=re.escape("one of shape (42, 42) would take")):
        F.to_dense(max_bytes=42 * 42 * 8 - 1)
    assert F.to_dense(max_bytes=42 * 42 * 8).shape == (42, 42)


def test_solve_says_when_it_did_not_converge():
    model, X = varied_model_and_cases(NORMALIZERS["layer"], "gaussian")
    F, b = fisher(model, X), np.ones(42)
    with pytest.raises(Refusal, match=r"must bring .* below 1e-08 .* after 2 iter") as refused:
        F.solve(b, 1e-3, max_iterations=2)
    # Two steps end where the residual is least over b and Fb, in the norm of the inverse.
    damped = F.to_dense() + 1e-3 * np.eye(42)
    krylov = np.stack([b, damped @ b], axis=1)
    x = krylov @ np.linalg.solve(krylov.T @ damped @ krylov, krylov.T @ b)
    left = np.linalg.norm(damped @ x - b) / np.linalg.norm(b)
    assert f"it is {left:.2g}. " in str(refused.value)


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (
            lambda m, X: fisher(m, X, "matrix"),
            "`form` must be one of operator, dense, blocks; got 'matrix'.",
        ),
        (
            lambda m, X: fisher(m, X, coupling="own"),
            "`coupling` must be one of exact, paper; got 'own'.",
        ),
        (
            lambda m, X: fisher(m, X).block(0, 6),
            "`j` must be a whole number from 0 to 5, the neurons; got 6.",
        ),
        (
            lambda m, X: fisher(m, X).block(-1, 0),
            "`i` must be a whole number from 0 to 5, the neurons; got -1.",
        ),
        (
            lambda m, X: fisher(m, X).quad([1.0, 2.0]),
            "Vectors of parameters must be (42,), or columns (42, k), in the order of `layout`; "
            "got `V` of shape (2, 1). Transpose it where they are its rows.",
        ),
        *(
            (
                product,
                "Vectors of parameters must be (42,), or columns (42, k), in the order of "
                f"`layout`; got {got}. Transpose it where they are its rows.",
            )
            for product, got in [
                (lambda m, X: fisher(m, X).matvec(np.ones(41)), "`x` of shape (41,)"),
                (lambda m, X: fisher(m, X).rmatvec(np.ones(41)), "`x` of shape (41,)"),
                (lambda m, X: fisher(m, X).matmat(np.ones((3, 42))), "`X` of shape (3, 42)"),
                (lambda m, X: fisher(m, X).rmatmat(np.ones((3, 42))), "`X` of shape (3, 42)"),
                (lambda m, X: fisher(m, X) @ np.ones(41), "`x` of shape (41,)"),
                (lambda m, X: fisher(m, X).dot([[1.0, 2.0]]), "`x` of shape (1, 2)"),
            ]
        ),
        (
            lambda m, X: fisher(m, X).matvec(np.ones((42, 2))),
            "`matvec` takes one vector, (42,) or (42, 1); got `x` of shape (42, 2). Use `matmat` "
            "for several.",
        ),
        (
            lambda m, X: fisher(m, X).matmat(np.ones(42)),
            "`X` must have 2 axes; got an array of shape (42,).",
        ),
        (
            lambda m, X: fisher(m, X) @ np.ones((42, 2, 2)),
            "`x` must have 1 to 2 axes; got an array of shape (42, 2, 2).",
        ),
        (
            lambda m, X: fisher(m, X) @ np.full(42, np.nan),
            "`x` must hold finite numbers; got 42 NaN or infinite among 42. Remove or impute them "
            "first.",
        ),
        (
            lambda m, X: fisher(m, X).solve(np.ones(42), -1.0),
            "`damping` must be a finite number from 0 up; got -1.0.",
        ),
    ],
)
def test_bad_input_is_answered_in_a_full_sentence(ask, sentence):
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        ask(*varied_model_and_cases(NORMALIZERS["layer"], "gaussian"))


def test_the_package_and_the_function_of_one_name_both_work():
    """`normgeo.fisher` is the function, and import lines find the package of the same name."""
    from normgeo import fisher as public

    assert normgeo.fisher is public is fisher
    package = import_module("normgeo.fisher")
    assert (package.operator.fisher, package.structure) == (fisher, structure)
