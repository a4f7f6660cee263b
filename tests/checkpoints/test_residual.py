"""A norm after a residual sum, y = g N(r + b + x Wᵀ) + β, against plain NumPy and differences."""

from typing import Any

import numpy as np
import pytest

from normgeo import NORMALIZERS, Normalizer, TrainedLayer, fisher, layer_report
from normgeo.fisher.spectrum import spectrum
from normgeo.null_directions.exact_dimension import exact_dimension

RNG = np.random.default_rng(8)
N, H, D = 30, 6, 4
X, STREAM = RNG.standard_normal((N, D)), RNG.standard_normal((N, H))
W, b = RNG.standard_normal((H, D)), RNG.standard_normal(H)
g, beta = RNG.uniform(0.5, 2, H), RNG.standard_normal(H)
KEYS = ["standard", "batch", "layer", "rms", "group"]


def layer(key: str, eps: float = 0.0, weights: Any = W, **given: Any) -> TrainedLayer:
    words = NORMALIZERS[key]
    normalizer = Normalizer(*words.words, groups=words.groups, eps=eps)
    gain = {} if key == "standard" else {"gain": g}
    given = {"X": X, "stream": STREAM, "bias": b, "shift": beta, **gain, **given}
    return TrainedLayer("w", weights, normalizer, "residual", **given)


def outputs(key: str, weights: Any, eps: float) -> Any:
    a = STREAM + b + X @ weights.T
    if key == "standard":
        return a + beta
    if key == "batch":
        return g * (a - a.mean(0)) / np.sqrt(a.var(0) + eps) + beta
    parts = []
    for part in np.split(a, NORMALIZERS[key].groups, axis=1):
        c = part - (0 if key == "rms" else part.mean(1, keepdims=True))
        parts.append(c / np.sqrt((c**2).mean(1, keepdims=True) + eps))
    return g * np.concatenate(parts, axis=1) + beta


def jacobian(key: str, eps: float) -> Any:
    """∂y/∂W by central differences, (N, H, H·D)."""
    steps = 1e-5 * np.eye(H * D).reshape(-1, H, D)
    columns = [(outputs(key, W + e, eps) - outputs(key, W - e, eps)) / 2e-5 for e in steps]
    return np.stack(columns, axis=-1)


def curvature(family: str, s: Any) -> Any:
    """The covariance of y, (N, H, H)."""
    if family == "categorical":
        p = np.exp(s) / np.exp(s).sum(1, keepdims=True)
        return p[:, :, None] * (np.eye(H) - p[:, None, :])
    mean = 1 / (1 + np.exp(-s))
    of_one = {"gaussian": np.ones_like(s), "bernoulli": mean * (1 - mean), "poisson": np.exp(s)}
    return of_one[family][:, :, None] * np.eye(H)


@pytest.mark.pairwise("key", KEYS)
@pytest.mark.pairwise("eps", [0.0, 0.3])
@pytest.mark.pairwise("family", ["gaussian", "bernoulli", "categorical"])
def test_fisher_spectrum_and_null_directions_are_those_of_a_dense_jacobian(
    key: str, eps: float, family: str
) -> None:
    model, inputs = layer(key, eps).model(family)
    np.testing.assert_allclose(model.natural_parameter(inputs), outputs(key, W, eps), atol=1e-12)
    J, K = jacobian(key, eps), curvature(family, outputs(key, W, eps))
    expected = np.einsum("nip,nij,njq->pq", J, K, J) / N
    F = fisher(model, inputs)
    np.testing.assert_allclose(F.weights(), expected, atol=1e-8 * np.abs(expected).max())
    report = layer_report(layer(key, eps), family=family, rate=0.1, batch_size=5)
    values = np.linalg.eigvalsh(expected)[::-1]
    assert report.spectrum is not None
    np.testing.assert_allclose(report.spectrum.values, values[:20], atol=1e-8 * values[0])
    assert report.explanation is not None
    null = report.explanation.null
    assert null.dimension == np.count_nonzero(values < 1e-10 * values[0])
    assert null.clear
    assert exact_dimension(F.structure.at, model.family, True) == null.dimension
    assert report.explanation.unexplained == 0
    moved = np.einsum("nhp,pk->nhk", J, null.basis[F.layout.weights])
    if family == "categorical":
        moved = moved - moved.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(moved, 0, atol=1e-8 * np.abs(J).max())
    assert report.gradients is not None
    of_rows = np.diag(expected).reshape(H, D).sum(axis=1) / 5
    blocks = report.blocks.neurons
    np.testing.assert_allclose(report.gradients.norms**2, of_rows[blocks].sum(axis=1), rtol=1e-6)


def test_shifts_of_all_rows_are_null_under_layer_norm_and_scale_is_not() -> None:
    report = layer_report(layer("layer"), family="gaussian")
    assert report.explanation is not None
    assert {r.key: r.added for r in report.explanation.reasons if r.added} == {
        "weight_matrix_recentering": D
    }
    alone = TrainedLayer("w", W, NORMALIZERS["layer"], X=X, gain=g, shift=beta)
    other = layer_report(alone, family="gaussian").explanation
    assert other is not None
    assert other.null.dimension == D + 1


@pytest.mark.parametrize("key", ["batch", "layer"])
def test_gradient_of_labels_is_that_of_finite_differences(key: str) -> None:
    y = RNG.integers(0, H, N)
    given = layer(key, labels=y)
    found = layer_report(given, family="categorical", rate=0.1).gradients
    s = outputs(key, W, 0.0)
    p = np.exp(s) / np.exp(s).sum(1, keepdims=True)
    slope = (p - np.eye(H)[y]) / N
    gradient = np.einsum("nhp,nh->p", jacobian(key, 0.0), slope).reshape(H, D)
    assert found is not None
    vectors = given.blocks.vectors(gradient)
    np.testing.assert_allclose(found.norms, np.linalg.norm(vectors, axis=1), rtol=1e-6)
    batches = layer_report(given, family="categorical", rate=0.1, batch_size=6).gradients
    assert batches is not None
    assert batches.source == "the labels, over 64 batches of 6"


def test_what_a_residual_sum_lacks_is_named() -> None:
    report = layer_report(layer("layer", stream=None), family="gaussian")
    assert (report.spectrum, report.explanation, report.gradients) == (None,) * 3
    assert (
        "Null directions and the spectrum of F need X, the residual stream and the family of the "
        "outputs." in report.missing
    )
    with pytest.raises(ValueError, match=r"sum the stream; 'w' has no stream\.$"):
        layer("layer", stream=None).model("gaussian")


@pytest.mark.parametrize("cases", [2, 5])
def test_few_cases_leave_null_what_they_do_not_reach(cases: int) -> None:
    given = layer("layer", X=X[:cases], stream=STREAM[:cases])
    report = layer_report(given, family="gaussian")
    J = jacobian("layer", 0.0)[:cases].reshape(-1, H * D)
    assert report.explanation is not None
    assert report.explanation.null.dimension == H * D - np.linalg.matrix_rank(J, rtol=1e-7)
    assert report.explanation.unexplained == 0
    size = len(given.W.ravel())
    model, inputs = given.model("gaussian")
    assert len(spectrum(fisher(model, inputs), size, weights_only=True).values) == size
