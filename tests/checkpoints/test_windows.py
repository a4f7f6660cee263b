"""Convolutions over images as rows of W over windows, against the sums of a convolution."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from normgeo import layer_report, load_layer
from normgeo.base.refusal import Refusal
from normgeo.checkpoints.windows import Sliding

RNG = np.random.default_rng(2)
KERNEL, IMAGES = RNG.standard_normal((5, 3, 3, 2)), RNG.standard_normal((2, 3, 8, 7))


def convolved(stride: Any, ends: Any, dilation: Any) -> Any:
    """Σ_cab w_ocab x_{n, c, i s + a d, j s + b d} of images with zeros around, (N, H, H', W')."""
    x = np.pad(IMAGES, [(0, 0), (0, 0), *ends])
    (s, t), (d, e) = stride, dilation
    high = (x.shape[2] - 2 * d - 1) // s + 1
    wide = (x.shape[3] - e - 1) // t + 1
    out = np.zeros((2, 5, high, wide))
    for n, o, i, j in np.ndindex(out.shape):
        for c, a, b in np.ndindex(3, 3, 2):
            out[n, o, i, j] += KERNEL[o, c, a, b] * x[n, c, i * s + a * d, j * t + b * e]
    return out


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    norm = {"conv1_bn.weight": np.ones(5), "conv1_bn.bias": np.zeros(5)}
    np.savez("torch.npz", **{"conv1.weight": KERNEL}, **norm)
    np.savez("jax.npz", **{"params/Conv_0/kernel": KERNEL.transpose(2, 3, 1, 0)})
    np.save("x.npy", IMAGES)


CASES: list[tuple[dict[str, Any], Any, Any, Any]] = [
    ({}, (1, 1), [(0, 0)] * 2, (1, 1)),
    ({"stride": 2, "padding": 1}, (2, 2), [(1, 1)] * 2, (1, 1)),
    ({"stride": (3, 1), "padding": (0, 2)}, (3, 1), [(0, 0), (2, 2)], (1, 1)),
    ({"dilation": (2, 3), "padding": 1}, (1, 1), [(1, 1)] * 2, (2, 3)),
    # ⌈8/2⌉ = 4 places of 3 pixels reach over 9, ⌈7/2⌉ = 4 of 2 over 8: one zero, at the end.
    ({"stride": 2, "padding": "same"}, (2, 2), [(0, 1), (0, 1)], (1, 1)),
    ({"padding": "same", "dilation": (2, 1)}, (1, 1), [(2, 2), (0, 1)], (2, 1)),
]


@pytest.mark.pairwise("name", ["torch.npz", "jax.npz"])
@pytest.mark.pairwise("given,stride,ends,dilation", CASES)
def test_rows_times_windows_are_the_convolution(
    name: str, given: dict[str, Any], stride: Any, ends: Any, dilation: Any, files: None
) -> None:
    layer = load_layer(name, x="x.npy", eps=0, **given)
    expected = convolved(stride, ends, dilation)
    rows = np.moveaxis(expected, 1, -1).reshape(-1, 5)
    assert layer.X is not None
    np.testing.assert_allclose(layer.X @ layer.W.T, rows, atol=1e-12)
    if name == "torch.npz":
        v = layer.variances()
        assert v is not None
        np.testing.assert_allclose(v[0], expected.var(axis=(0, 2, 3)), atol=1e-12)


def test_a_stream_of_images_stands_beside_its_windows(files: None) -> None:
    stream = RNG.standard_normal((2, 5, 4, 4))
    np.save("r.npy", stream)
    layer = load_layer(
        "torch.npz", x="x.npy", stream="r.npy", place="residual", stride=2, padding="same", eps=0.0
    )
    summed = stream + convolved((2, 2), [(0, 1), (0, 1)], (1, 1))
    v = layer.variances()
    assert v is not None
    np.testing.assert_allclose(v[0], summed.var(axis=(0, 2, 3)))
    assert layer_report(layer, family="gaussian", eigenvalues=3).spectrum is not None


def test_how_a_kernel_moves_is_told(files: None) -> None:
    layer = load_layer("torch.npz", x="x.npy", stride=(2, 1), padding="same", normalizer="layer")
    assert layer.notes == (
        "The inputs are windows of images: stride 2 × 1, padding same, dilation 1.",
        "The norm is taken at each place of an image by itself, over the channels: as a layer norm "
        "with the channels last, not one over whole images.",
    )


BAD: list[tuple[dict[str, Any], str]] = [
    (
        {"stride": 2},
        r"over images, \(N, C, rows, columns\); got no x\. Give images as x, or leave them out",
    ),
    ({"stride": 0, "x": "x.npy"}, r"^`stride` must be a whole number"),
    ({"padding": "some", "x": "x.npy"}, r"^`padding` must be a whole number"),
    ({"dilation": (1, 2, 3), "x": "x.npy"}, r"for each of the 2 axes of a kernel; got 1 × 2 × 3"),
    (
        {"dilation": 7, "x": "x.npy"},
        r"be no smaller than it; got \(2, 3, 8, 7\) for weights of shape",
    ),
    (
        {"x": "many.npy"},
        r"the 3 channels of its kernel, or a multiple of them, in as many groups as .*\(5, 3",
    ),
]


@pytest.mark.parametrize(("given", "sentence"), BAD)
def test_what_does_not_fit_is_told_in_a_sentence(
    given: dict[str, Any], sentence: str, files: None
) -> None:
    np.save("many.npy", np.ones((2, 6, 8, 7)))
    with pytest.raises(Refusal, match=sentence):
        load_layer("torch.npz", **given)


def test_numbers_of_a_window_may_be_an_array_and_end():
    assert Sliding.of(padding=np.array([1, 2])) == Sliding.of(padding=(1, 2))
    sentence = r"^`dilation` must be a list of at most 1,000,000 whole numbers; got range\("
    with pytest.raises(ValueError, match=sentence):
        Sliding.of(dilation=range(10**12))
