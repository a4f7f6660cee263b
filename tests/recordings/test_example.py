"""The run that ships: it shows what its story says, and the script reproduces it."""

from dataclasses import replace

import numpy as np
import pytest

from normgeo import findings, read_recording, train
from normgeo.datasets.datasets import load
from normgeo.datasets.hold_out import hold_out
from normgeo.recordings.example import EXAMPLE
from tools import example_run


def test_file_is_small_whole_and_has_every_step():
    run = read_recording(EXAMPLE.path)
    assert EXAMPLE.path.stat().st_size < 80_000
    assert run.notes == ()
    assert run.is_every_step
    assert run.optimizer.key == EXAMPLE.optimizer
    assert (run.rates == EXAMPLE.rate).all()
    assert (run.decays == EXAMPLE.decay).all()
    assert np.isfinite(run.gradient_norms[1:]).all()


def test_five_neurons_come_to_the_balance_and_the_long_one_is_frozen():
    *balanced, frozen = findings(read_recording(EXAMPLE.path))
    # cos of a step in balance is 1 − ηλ/(1 + β), with β = 0.9.
    angle = np.arccos(1 - EXAMPLE.rate * EXAMPLE.decay / 1.9)
    assert np.degrees(angle) == pytest.approx(1.859, abs=5e-4)
    assert [found.verdict for found in balanced] == ["in balance"] * 5
    for found in balanced:
        assert found.angle == pytest.approx(angle, rel=0.08)
        assert found.norm == pytest.approx(found.balance.norm, rel=0.08)
    assert frozen.verdict == "frozen"
    assert frozen.norm > 50 * frozen.balance.norm
    assert angle / frozen.angle > 500
    assert 250 < frozen.approach < 350


def test_laws_of_single_steps_hold_to_rounding():
    """The gradient of batch norm is orthogonal to w up to ε; ‖w‖ adds up from the first step."""
    for found in findings(read_recording(EXAMPLE.path)):
        assert found.norm_off < 1e-6
        assert found.angle_off < 1e-6


def test_norm_of_the_frozen_neuron_falls_as_decay_alone_would_have_it():
    """V ← βV + λw, w ← w − ηV: ‖w‖ shrinks by the larger root of r² − (1 + β − ηλ)r + β = 0."""
    norms = read_recording(EXAMPLE.path).norms[100:200, -1]
    root = max(np.roots([1, -(1.9 - EXAMPLE.rate * EXAMPLE.decay), 0.9]))
    np.testing.assert_allclose(norms[1:] / norms[:-1], root, rtol=1e-5)


def test_script_makes_the_same_run_and_trains_as_train_does(tmp_path, monkeypatch):
    again = replace(EXAMPLE, path=tmp_path / "digits.run")
    monkeypatch.setattr(example_run, "EXAMPLE", again)
    data = hold_out(load("digits"))
    network = example_run.record(data)
    trained = train(
        example_run.start(data),
        data,
        optimizer=EXAMPLE.optimizer,
        rate=EXAMPLE.rate,
        decay=EXAMPLE.decay,
        batch_size=EXAMPLE.batch_size,
        epochs=EXAMPLE.epochs,
    )
    np.testing.assert_array_equal(network.pack(), trained.network.pack())
    made, shipped = read_recording(again.path), read_recording(EXAMPLE.path)
    np.testing.assert_array_equal(made.steps, shipped.steps)
    # Rounding grows over the steps.
    np.testing.assert_allclose(made.norms, shipped.norms, rtol=1e-3)
    np.testing.assert_allclose(made.angles, shipped.angles, rtol=1e-2)
