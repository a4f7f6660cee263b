"""The layers that ship: each shows what its story says, and the script reproduces it."""

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from normgeo import layer_report, load_layer
from normgeo.checkpoints.examples import EXAMPLES, example
from normgeo.checkpoints.report import LayerReport
from tools import example_layers


def report(key: str) -> LayerReport:
    one = example(key)
    return layer_report(
        load_layer(one.path), optimizer=one.optimizer, rate=one.rate, decay=one.decay
    )


def test_files_are_small_and_known_by_their_names(subtests: pytest.Subtests) -> None:
    for key in EXAMPLES:
        with subtests.test(key=key):
            assert example(key).path.stat().st_size < 100_000
            layer = load_layer(example(key).path)
            words = {"batch": ("batch", "batch")}.get(key, ("layer", "layer"))
            assert layer.normalizer.words == words
            assert layer.place.key == ("before" if key == "pre_norm" else "after")
            assert layer.X is not None
            assert layer.gradient is not None


def test_batch_norm_has_one_frozen_neuron_and_the_others_near_balance() -> None:
    found = report("batch")
    assert found.frozen is not None
    assert found.balance is not None
    assert found.angles is not None
    assert found.frozen.tolist() == [False] * 11 + [True]
    over = found.norms / found.balance.norm
    assert 0.9 < over[:11].min() < over[:11].max() < 1.8
    assert over[11] > 5
    assert 30 < np.median(found.angles[:11]) / found.angles[11] < 100


def test_layer_norm_has_epsilon_at_work_in_every_case() -> None:
    found = report("layer")
    assert found.epsilon is not None
    assert found.epsilon.of_cases is not None
    assert found.epsilon.of_cases.min() > 0.01
    assert found.epsilon.of_cases.max() > 0.5


def test_pre_norm_block_has_traded_weights_for_gain() -> None:
    found = report("pre_norm")
    assert found.layer.gain is not None
    assert not found.blocks.homogeneous
    assert np.mean(found.row_norms) == pytest.approx(1.1, abs=0.05)
    assert np.mean(np.abs(found.layer.gain)) == pytest.approx(1.2, abs=0.05)


def test_gradient_of_the_residual_block_is_that_of_finite_differences() -> None:
    rng = np.random.default_rng(0)
    block = example_layers.Block.random(rng, 5, 4)
    theta = block.pack() + 0.1 * rng.standard_normal(len(block.pack()))
    X, y = rng.standard_normal((9, 5)), np.eye(10)[rng.integers(0, 10, 9)]

    def loss(theta: np.ndarray) -> float:
        b = block.unpack(theta)
        z = (X - X.mean(1, keepdims=True)) / np.sqrt(X.var(1, keepdims=True) + 1e-5)
        hidden = np.maximum((b.g * z + b.beta) @ b.W.T + b.b, 0)
        s = (X + hidden @ b.V.T) @ b.U.T + b.c
        return float(np.mean(np.log(np.exp(s).sum(1)) - (s * y).sum(1)))

    steps = 1e-6 * np.eye(len(theta))
    numeric = [(loss(theta + e) - loss(theta - e)) / 2e-6 for e in steps]
    found = block.unpack(theta).gradient(X, y)
    np.testing.assert_allclose(found, numeric, rtol=1e-4, atol=1e-8)


def test_script_makes_the_same_layers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = {key: load_file(one.path) for key, one in EXAMPLES.items()}
    monkeypatch.setattr("normgeo.checkpoints.examples._FOLDER", tmp_path)
    example_layers.main()
    for key, arrays in shipped.items():
        again = load_file(tmp_path / f"{key}.safetensors")
        assert again.keys() == arrays.keys()
        for name, values in arrays.items():
            # Rounding grows over a thousand steps.
            np.testing.assert_allclose(
                again[name], values, rtol=1e-2, atol=1e-2 * abs(values).max()
            )
