"""Convolutions in groups, depthwise ones among them, against their sums in plain loops."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from normgeo import NORMALIZERS, TrainedLayer, layer_report, load_layer, rotational_equilibrium
from normgeo.base.refusal import Refusal

RNG = np.random.default_rng(4)
N, C, H, EPS = 3, 6, 6, 0.2
IMAGES, STREAM = RNG.standard_normal((N, C, 4, 5)), RNG.standard_normal((N, H, 3, 4))
BIAS, GAIN = RNG.standard_normal(H), RNG.uniform(0.5, 2, H)
# Channels of a group, of 6 channels in all; 1 is depthwise.
GROUPS = pytest.mark.pairwise("own", [1, 2, 3])
KERNELS = {own: RNG.standard_normal((H, own, 2, 2)) for own in (1, 2, 3)}


def convolved(kernel: Any) -> Any:
    """a_{n, o, i, j} = Σ_cab w_ocab x_{n, first + c, i + a, j + b}, (N, H, 3, 4)."""
    own = kernel.shape[1]
    out = np.zeros((N, H, 3, 4))
    for n, o, i, j in np.ndindex(out.shape):
        first = o // (H * own // C) * own
        for c, a, b in np.ndindex(own, 2, 2):
            out[n, o, i, j] += kernel[o, c, a, b] * IMAGES[n, first + c, i + a, j + b]
    return out


def normalized(key: str, a: Any) -> Any:
    over: Any = (0, 2, 3) if key == "batch" else 1
    c = a - (0 if key == "rms" else a.mean(axis=over, keepdims=True))
    return c / np.sqrt((c**2).mean(axis=over, keepdims=True) + EPS)


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., TrainedLayer]:
    """Read a layer with so many channels a group, from files in PyTorch's or JAX's order."""

    def load(own: int, key: str, jax: bool = False, **more: Any) -> TrainedLayer:
        kernel = KERNELS[own]
        name = "params/Conv_0/kernel" if jax else "conv.weight"
        net = {name: kernel.transpose(2, 3, 1, 0) if jax else kernel}
        net |= {"bn.weight": GAIN, "bn.bias": np.zeros(H)}
        if more.pop("bias", False):
            net["conv.bias"] = BIAS
        np.savez(tmp_path / "net.npz", **net)
        for what, values in more.items():
            np.savez(tmp_path / f"{what}.npz", **{what: values})
        files = {what: tmp_path / f"{what}.npz" for what in more}
        given = {"normalizer": key, "eps": EPS, "norm": "bn", "x": tmp_path / "x.npz", **files}
        np.savez(tmp_path / "x.npz", x=IMAGES)
        place = "residual" if "stream" in more else "after"
        return load_layer(tmp_path / "net.npz", place=place, **given)

    return load


@GROUPS
@pytest.mark.pairwise("jax", [False, True])
def test_rows_times_windows_are_the_convolution(
    own: int, jax: bool, read: Callable[..., TrainedLayer]
) -> None:
    layer = read(own, "batch", jax)
    a = convolved(KERNELS[own])
    assert layer.X is not None
    np.testing.assert_allclose(layer.X @ layer.W.T, np.moveaxis(a, 1, -1).reshape(-1, H))
    v = layer.variances()
    assert v is not None
    np.testing.assert_allclose(v[0], a.var(axis=(0, 2, 3)) + EPS)
    report = layer_report(layer, rate=0.1)
    norms = np.linalg.norm(KERNELS[own].reshape(H, -1), axis=1)
    np.testing.assert_allclose(report.norms, norms)
    np.testing.assert_allclose(report.effective_rates, 0.1 / norms**2)  # type: ignore[arg-type]
    assert f"in {C // own} groups: a neuron sees {4 * own} of 24 features" in "".join(layer.notes)


@GROUPS
@pytest.mark.pairwise("key", ["batch", "layer", "rms"])
@pytest.mark.pairwise("summed", [False, True])
def test_spectrum_and_gradients_are_those_of_a_dense_jacobian(
    own: int, key: str, summed: bool, read: Callable[..., TrainedLayer]
) -> None:
    """Only the kernel's own weights are parameters, not those that a neuron lacks."""
    stream = STREAM if summed else 0
    layer = read(own, key, **({"stream": STREAM} if summed else {}))
    kernel = KERNELS[own]

    def outputs(weights: Any) -> Any:
        z = normalized(key, stream + convolved(weights.reshape(kernel.shape)))
        return np.moveaxis(GAIN[:, None, None] * z, 1, -1).reshape(-1, H)

    w = kernel.ravel()
    columns = [(outputs(w + e) - outputs(w - e)) / 2e-5 for e in 1e-5 * np.eye(w.size)]
    J = np.stack(columns, axis=-1)
    expected = np.einsum("nhp,nhq->pq", J, J) / len(J)
    report = layer_report(layer, family="gaussian", rate=0.1, eigenvalues=None, batch_size=5)
    assert report.spectrum is not None
    values = np.linalg.eigvalsh(expected)[::-1]
    assert report.spectrum.size == w.size
    np.testing.assert_allclose(report.spectrum.values, values, atol=1e-8 * values[0])
    assert report.explanation is None
    assert report.gradients is not None
    of_rows = np.diag(expected).reshape(H, -1).sum(axis=1) / 5
    found = of_rows[report.blocks.neurons].sum(axis=1)
    np.testing.assert_allclose(report.gradients.norms**2, found, rtol=1e-6)


@GROUPS
def test_gradient_of_labels_is_that_of_the_weights_that_are_there(
    own: int, read: Callable[..., TrainedLayer]
) -> None:
    kernel = KERNELS[own]
    layer = read(own, "layer", labels=RNG.standard_normal((N * 12, H)))
    y = layer.labels

    def loss(weights: Any) -> Any:
        z = np.moveaxis(normalized("layer", convolved(weights.reshape(kernel.shape))), 1, -1)
        return np.sum((GAIN * z.reshape(-1, H) - y) ** 2) / 2 / len(z.reshape(-1, H))

    w = kernel.ravel()
    slope = [(loss(w + e) - loss(w - e)) / 2e-5 for e in 1e-5 * np.eye(w.size)]
    found = layer_report(layer, family="gaussian", rate=0.1).gradients
    assert found is not None
    np.testing.assert_allclose(found.norms, np.linalg.norm(slope), rtol=1e-6)


def test_a_layer_norm_over_groups_takes_no_mean_off_the_weights(
    read: Callable[..., TrainedLayer],
) -> None:
    """No vector is in the rows of all groups, so the norm that decides the rate is that of W.

    A norm of groups that lie within those of the convolution takes their means off.
    """
    report = layer_report(read(2, "layer"), rate=0.1)
    np.testing.assert_allclose(report.norms, np.linalg.norm(KERNELS[2]))
    of_groups = layer_report(read(3, "group"), rate=0.1)  # two groups of channels, and of neurons
    rows = KERNELS[3].reshape(2, 3, -1)
    centered = rows - rows.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(of_groups.norms, np.linalg.norm(centered.reshape(2, -1), axis=1))


def test_bias_counts_without_its_mean(read: Callable[..., TrainedLayer]) -> None:
    report = layer_report(read(2, "layer", bias=True))
    centered = BIAS - BIAS.mean()
    expected = np.sqrt(np.sum(KERNELS[2] ** 2) + np.sum(centered**2))
    np.testing.assert_allclose(report.norms, expected)
    a = convolved(KERNELS[2]) + BIAS[:, None, None]
    v = report.layer.variances()
    assert v is not None
    np.testing.assert_allclose(v[:, 0], np.moveaxis(a, 1, -1).reshape(-1, H).var(axis=1) + EPS)


def test_gradient_file_has_the_shape_of_the_kernel(read: Callable[..., TrainedLayer]) -> None:
    gradient = RNG.standard_normal((2, *KERNELS[2].shape))
    found = layer_report(read(2, "batch", gradient=gradient), rate=0.1)
    squares = (gradient**2).reshape(2, H, -1).sum(axis=2)
    assert found.gradients is not None
    np.testing.assert_allclose(found.gradients.norms, np.sqrt(squares.mean(axis=0)))


def test_norm_of_the_means_of_rows_is_refused(read: Callable[..., TrainedLayer]) -> None:
    with pytest.raises(Refusal, match="takes the mean of a row of W off, and a convolution in gr"):
        read(2, "centered_weight")


def test_weights_that_a_neuron_does_not_see_are_zero() -> None:
    with pytest.raises(Refusal, match="must be 0 where `seen` says that a neuron has no weight"):
        TrainedLayer("w", np.ones((2, 2)), NORMALIZERS["batch"], seen=np.eye(2))


@GROUPS
def test_a_block_is_as_large_as_the_weights_that_its_cases_see(
    own: int, read: Callable[..., TrainedLayer]
) -> None:
    """The balance of AdamW depends on how many weights share a step."""
    speed: Any = {"optimizer": "adamw", "rate": 0.01, "decay": 0.1}
    report = layer_report(read(own, "batch"), family="gaussian", eigenvalues=0, **speed)
    expected = rotational_equilibrium(**speed, weights=KERNELS[own][0].size)
    assert report.balance is not None
    assert expected is not None
    np.testing.assert_allclose(report.balance.norm, expected.norm, rtol=1e-12)
    np.testing.assert_allclose(report.balance.angle, expected.angle, rtol=1e-12)
