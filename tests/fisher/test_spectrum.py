"""The largest eigenvalues by Lanczos, against the matrix and against what is known of them."""

import re
from dataclasses import replace

import numpy as np
import pytest

from normgeo import FAMILIES, NORMALIZERS, NormalizedGLM, fisher, spectrum
from normgeo.base.progress import Stop
from normgeo.base.refusal import Refusal
from normgeo.fisher.spectrum import PRODUCTS, spectrum_among
from normgeo.fisher.which import WhichFisher

every_family = pytest.mark.pairwise("family", FAMILIES)


def draw(name, family, H=6, D=80, N=20):
    """More parameters than are formed as a matrix, over few cases."""
    rng = np.random.default_rng(2)
    model = NormalizedGLM.random(NORMALIZERS[name], family, H, D, rng)
    return model, rng.normal(0.2, 1, (N, D))


@pytest.mark.pairwise("name", ["standard", "batch", "layer"])
@every_family
@pytest.mark.pairwise("coupling", ["exact", "paper"])
def test_lanczos_finds_the_eigenvalues_of_the_matrix(name, family, coupling):
    model, X = draw(name, family)
    F = fisher(model, X, coupling=coupling)
    found, whole = spectrum(F, 20), spectrum(F, None)
    size = whole.values[0]
    assert (found.method, whole.method) == ("lanczos", "dense")
    assert found.products > 20
    np.testing.assert_allclose(found.values, whole.values[:20], rtol=0, atol=1e-12 * size)
    np.testing.assert_allclose(
        whole.values[::-1], np.linalg.eigvalsh(F.to_dense()), rtol=0, atol=1e-13 * size
    )
    for s in (found, whole):
        assert s.residuals.max() < 1e-12 * size
        k = len(s.values)
        np.testing.assert_allclose(s.vectors.T @ s.vectors, np.eye(k), atol=1e-12)
        assert (np.diff(s.values) <= 0).all()
    assert whole.complete
    assert not found.complete
    assert whole.share == pytest.approx(1)
    assert found.share == pytest.approx(whole.values[:20].sum() / whole.values.sum())


@pytest.mark.parametrize("k", [5, None])
def test_spectrum_of_the_weights_is_that_of_their_part_of_the_matrix(k):
    F = fisher(*draw("layer", "categorical"))
    found, values = spectrum(F, k, weights_only=True), np.linalg.eigvalsh(F.weights())[::-1]
    np.testing.assert_allclose(found.values, values[: len(found.values)], atol=1e-12 * values[0])
    assert (found.size, found.complete) == (480, k is None)
    assert (found.method, k is None) in {("lanczos", False), ("dense", True)}
    assert found.trace == pytest.approx(values.sum())
    assert found.residuals.max() < 1e-12 * values[0]
    rest = np.delete(np.arange(492), F.layout.weights)
    assert not found.vectors[rest].any()
    with pytest.raises(
        ValueError, match=r"^`k` must be a whole number from 1 to 480, which is H·D, or None"
    ):
        spectrum(F, 481, weights_only=True)


@pytest.mark.parametrize("size", [70, 200])
def test_spectrum_among_some_parameters_is_that_of_their_part_of_the_matrix(size):
    """Few of many are formed by products, more are cut out of the whole matrix."""
    F = fisher(*draw("layer", "categorical"))
    places = np.sort(np.random.default_rng(3).choice(F.layout.size, size, replace=False))
    part = F.to_dense()[np.ix_(places, places)]
    found, values = spectrum_among(F, places, size), np.linalg.eigvalsh(part)[::-1]
    np.testing.assert_allclose(found.values, values, rtol=0, atol=1e-13 * values[0])
    vectors = found.vectors[places]
    np.testing.assert_allclose(part @ vectors, vectors * values, rtol=0, atol=1e-12 * values[0])
    assert found.trace == pytest.approx(np.trace(part))


def test_residual_bounds_the_error_of_a_wrong_vector():
    """Negative control: the residual is taken from F, not from what Lanczos says of itself."""
    F = fisher(*draw("layer", "gaussian"))
    found = spectrum(F, 3)
    wrong = found.vectors[:, 0] + 0.1 * found.vectors[:, 2]
    wrong /= np.linalg.norm(wrong)
    assert np.linalg.norm(F @ wrong - found.values[0] * wrong) > 1e3 * found.residuals[0]


def test_a_run_can_be_repeated_watched_and_stopped():
    F, seen = fisher(*draw("batch", "bernoulli")), []
    told = lambda *report: seen.append(report)  # noqa: E731
    first, again = (spectrum(F, 5, progress=told) for _ in range(2))
    np.testing.assert_array_equal(first.values, again.values)
    products = [*range(1, first.products + 1), PRODUCTS]
    assert seen == 2 * [(done, PRODUCTS) for done in products]

    def stop(products, steps):
        if products == 7:
            raise Stop

    with pytest.raises(Stop):
        spectrum(F, 5, progress=stop)


@pytest.mark.parametrize("form", ["operator", "dense", "blocks"])
def test_spectrum_of_a_form_is_that_of_its_matrix(form):
    model, X = draw("layer", "bernoulli", D=9)
    F = fisher(model, X, form)
    found = spectrum(F, 8)
    dense = np.linalg.eigvalsh(F.to_dense())[::-1]
    np.testing.assert_allclose(found.values, dense[:8], rtol=1e-12)
    assert (found.form, found.which) == (form, WhichFisher("exact", N=20, phi=1.0))
    assert found.method == "dense"


def test_spectrum_of_the_standard_gaussian_is_that_of_the_second_moments():
    """Each eigenvalue of E[x̂x̂ᵀ]/φ, x̂ = (x, 1), H times over."""
    H, phi = 6, 0.5
    model, X = draw("standard", "gaussian", H)
    model = NormalizedGLM(model.normalizer, "gaussian", model.W, phi=phi)
    ones = np.concatenate([X, np.ones((len(X), 1))], axis=1)
    expected = np.linalg.svd(ones, compute_uv=False)[:3] ** 2 / len(X) / phi
    np.testing.assert_allclose(
        spectrum(fisher(model, X), 18).values, np.repeat(expected, H), rtol=1e-10
    )


@pytest.mark.parametrize("bias", [100.0, 700.0, 1000.0])
def test_fisher_that_is_nearly_zero_has_a_spectrum(bias):
    model, X = draw("layer", "bernoulli")
    model = NormalizedGLM(model.normalizer, "bernoulli", model.W, np.full(6, bias), model.g)
    F = fisher(model, X)
    found, whole = spectrum(F, 5), spectrum(F, None)
    np.testing.assert_allclose(found.values, whole.values[:5], rtol=1e-9)
    assert (found.values[0] > 0) == (bias < 1000)
    assert found.share <= 1
    assert (found.share > 0) == (bias < 1000)


def test_a_spectrum_beyond_squares_of_floats_is_that_of_its_scale():
    """F of gains 2^300 times as large has eigenvalues 2^600 times as large."""
    model, X = draw("batch", "gaussian", 4, 5)
    gains = (np.ones(4), np.full(4, 2.0**300))
    found, far = (spectrum(fisher(replace(model, g=g), X), 9) for g in gains)
    np.testing.assert_allclose(far.values, np.ldexp(found.values, 600), rtol=1e-13)
    assert (far.residuals < 1e-13 * far.values[0]).all()


@pytest.mark.parametrize("k", [0, 493, 2.5, -1])
def test_number_of_eigenvalues_must_be_possible(k):
    sentence = f"`k` must be a whole number from 1 to 492, which is P, or None for all; got {k!r}."
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        spectrum(fisher(*draw("layer", "gaussian")), k)


def test_lanczos_that_does_not_converge_says_so(monkeypatch):
    from normgeo import spectrum as function

    eigsh = function.__globals__["eigsh"]
    monkeypatch.setitem(
        function.__globals__, "eigsh", lambda *a, **k: eigsh(*a, **k, maxiter=1, ncv=8)
    )
    with pytest.raises(
        Refusal,
        match=r"^Lanczos must converge to 5 eigenvalues; after \d+ products with F \d had "
        r"converged\. Ask for fewer, or use form='dense'\.$",
    ):
        spectrum(fisher(*draw("layer", "gaussian")), 5)
