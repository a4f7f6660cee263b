"""Models that read sequences: their data, their gradients, and reproducible runs."""

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import log_softmax

from normgeo import NORMALIZERS, OPTIMIZERS, SequenceModel, load_sequences, train_sequences
from normgeo.base.progress import Stop
from normgeo.datasets.datasets import load
from normgeo.datasets.mini_batches import MiniBatches
from normgeo.sequences import tasks
from normgeo.sequences.cells import CELLS
from normgeo.sequences.tasks import HELD_OUT_LETTERS, zen
from normgeo.sequences.through_time import run_cell
from tests.pairwise import each

METHODS = ("standard", "layer", "batch")
H = 5


def normalizer_of(method):
    found = NORMALIZERS[method]
    return replace(found, eps=1e-5) if found.scaling.takes_eps else found


def model_of(data, method="layer", cell="gru", seed=0):
    sizes = H, data.features, data.classes
    rng = np.random.default_rng(seed)
    return SequenceModel.random(cell, normalizer_of(method), *sizes, rng)


@pytest.fixture(scope="module")
def rows():
    return load_sequences("rows")


@pytest.fixture(scope="module")
def letters():
    return load_sequences("letters", steps=6)


# Data.


def test_rows_and_pixels_are_the_images(rows):
    digits = load("digits")
    images = digits.raw.reshape(-1, 8, 8) / 16
    found = {image.tobytes() for image in images}
    assert all(image.tobytes() in found for image in rows.X_test)
    pixels = load_sequences("pixels")
    np.testing.assert_array_equal(pixels.X_train.reshape(-1, 8, 8), rows.X_train)
    np.testing.assert_array_equal(pixels.y_train, rows.y_train)
    assert len(rows.X_train) + len(rows.X_test) == len(images)
    assert pixels.X_train.shape[1:] == (64, 1)


def test_longer_digits_are_read_as_often_at_each_row(rows):
    longer = load_sequences("rows", steps=24)
    for again in range(3):
        np.testing.assert_array_equal(longer.X_test[:, again::3], rows.X_test)
    with pytest.raises(ValueError, match=r"^digits, row by row are read in 8 steps or a multiple"):
        load_sequences("rows", steps=12)


def test_letters_are_the_zen_and_each_is_told_the_next(letters):
    text = zen()
    assert len(text) == 856
    assert text.startswith("the zen of python, by tim peters\n\nbeautiful is better than ugly.\n")
    alphabet = sorted(set(text))
    ends = len(text) - HELD_OUT_LETTERS
    for X, y, part in (
        (letters.X_train, letters.y_train, text[:ends]),
        (letters.X_test, letters.y_test, text[ends:]),
    ):
        assert (X.sum(axis=2) == 1).all()
        for n in (0, 7, len(X) - 1):
            read = "".join(alphabet[k] for k in X[n].argmax(axis=1))
            told = "".join(alphabet[k] for k in y[n])
            assert read == part[n : n + 6]
            assert told == part[n + 1 : n + 7]
        assert len(X) == len(part) - 6


def test_python_without_the_text_says_so(monkeypatch):
    monkeypatch.setattr(tasks, "find_spec", lambda name: None)
    zen.cache_clear()
    with pytest.raises(ValueError, match=r"^This Python has no source of its module `this`"):
        zen()
    monkeypatch.undo()
    zen.cache_clear()


# Gradients.


@pytest.mark.pairwise("cell", CELLS)
@pytest.mark.pairwise("method", METHODS)
@pytest.mark.pairwise("task", ["rows", "letters"])
def test_loss_is_that_of_the_states_and_its_gradient_a_difference(cell, method, task, request, rng):
    data = request.getfixturevalue(task)
    model = model_of(data, method, cell)
    X, y = data.X_train[:7], data.y_train[:7]
    theta = model.pack() + 0.1 * rng.standard_normal(model.pack().shape)
    model = model.unpack(theta)
    loss, gradient, _ = model.loss_and_gradient(X, y)
    hidden = run_cell(model.layer, X).hidden[1:]
    s = log_softmax(hidden @ model.output.W.T + model.output.b, axis=-1)
    told = [
        s[t, n, y[n, t] if data.every_step else y[n]]
        for n in range(len(X))
        for t in (range(data.steps) if data.every_step else [-1])
    ]
    assert loss == pytest.approx(-np.mean(told), rel=1e-12)
    for _ in range(3):
        v = rng.standard_normal(theta.shape)
        ends = [model.unpack(theta + e * v).loss_and_gradient(X, y)[0] for e in (1e-6, -1e-6)]
        assert gradient @ v == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-4, abs=1e-8)


# Runs.


def test_a_step_is_that_of_gradient_descent_on_its_batch(rows):
    start = model_of(rows)
    run = train_sequences(
        start, rows, batch_size=9, steps=2, optimizer="gradient_descent", rate=0.5, seed=3, tests=0
    )
    drawn = MiniBatches(len(rows.X_train), 9).draw(3)
    theta, losses = start.pack(), []
    for cases in (next(drawn), next(drawn)):
        at = start.unpack(theta).loss_and_gradient(rows.X_train[cases], rows.y_train[cases])
        losses.append(at[0])
        theta = theta - 0.5 * at[1]
    np.testing.assert_allclose(run.train_loss, losses, rtol=1e-12)
    np.testing.assert_allclose(run.model.pack(), theta, rtol=1e-10)
    np.testing.assert_array_equal(run.start.pack(), start.pack())


@pytest.mark.parametrize(("optimizer", "method"), each(OPTIMIZERS, ["layer", "batch"]))
def test_a_run_that_paused_is_one_that_did_not(optimizer, method, letters):
    how = {"batch_size": 50, "optimizer": optimizer, "rate": 0.01, "seed": 1}
    whole = train_sequences(model_of(letters, method), letters, steps=20, tests=4, **how)
    first = train_sequences(model_of(letters, method), letters, steps=10, tests=2, **how)
    for _ in range(2):  # continuing a run does not change the run it continues
        later = train_sequences(first, letters, steps=10, tests=2)
        np.testing.assert_array_equal(later.model.pack(), whole.model.pack())
        np.testing.assert_array_equal(later.train_loss, whole.train_loss)
        np.testing.assert_array_equal(later.test_steps, whole.test_steps)
        np.testing.assert_array_equal(later.test_loss, whole.test_loss)
        assert (np.diff(later.seconds) > 0).all()
    assert first.steps == 10


def test_run_is_reproducible_from_its_seed(rows):
    runs = [
        train_sequences(model_of(rows), rows, batch_size=20, steps=5, seed=seed)
        for seed in (0, 0, 1)
    ]
    np.testing.assert_array_equal(runs[0].train_loss, runs[1].train_loss)
    assert runs[0].train_loss[0] != runs[2].train_loss[0]


def test_run_stops_where_it_is_asked_to_and_keeps_what_it_has(rows):
    def report(done, steps):
        assert steps == 30
        if done == 4:
            raise Stop

    run = train_sequences(model_of(rows), rows, batch_size=20, steps=30, tests=15, progress=report)
    assert run.steps == 4
    assert run.test_steps.tolist() == [2, 4]
    assert run.ended is None


@pytest.mark.parametrize("method", METHODS)
def test_test_is_of_the_sequences_held_out_each_by_itself(method, rows):
    run = train_sequences(model_of(rows, method), rows, batch_size=64, steps=6, tests=1)
    X, y = rows.X_test[:128], rows.y_test[:128]
    logs, right = [], []
    for n in range(0, 128, 51):
        hidden = run_cell(run.model.layer, X[n : n + 1], statistics=run.statistics).hidden[-1]
        s = log_softmax(hidden @ run.model.output.W.T + run.model.output.b, axis=-1)[0]
        logs.append(s[y[n]])
        right.append(s.argmax() == y[n])
    told = run.told(rows)
    np.testing.assert_allclose(told.log_likelihood[::51], logs, rtol=1e-9)
    assert told.right[::51].tolist() == right
    assert run.test_loss[-1] == pytest.approx(-told.log_likelihood.mean())
    assert run.test_accuracy[-1] == pytest.approx(told.right.mean())


@pytest.mark.exhaustive
def test_every_cell_learns_the_digits(rows):
    for cell in CELLS:
        sizes = 24, rows.features, rows.classes
        start = SequenceModel.random(cell, normalizer_of("layer"), *sizes, np.random.default_rng(0))
        run = train_sequences(start, rows, batch_size=64, steps=100, rate=0.02, tests=1)
        assert run.test_accuracy[-1] > 0.8


def test_longer_sequences_than_trained_are_told_step_by_step(letters):
    longer = load_sequences("letters", steps=15)
    layer, batch = (
        train_sequences(model_of(letters, method), letters, batch_size=64, steps=5, tests=0)
        for method in ("layer", "batch")
    )
    assert layer.told(longer).right.shape == (128, 15)
    with pytest.raises(ValueError, match=r"^Batch norm has statistics of the 6 steps of training"):
        batch.told(longer)
    told = batch.told(longer, "last").log_likelihood
    n = len(told)
    np.testing.assert_allclose(told[:, :6], batch.told(letters).log_likelihood[:n], rtol=1e-9)


def test_run_that_leaves_floats_ends_there(rows):
    how = {"batch_size": 8, "steps": 9, "optimizer": "gradient_descent", "rate": 1e160}
    for tests, begins in ((9, "The held-out sequences have no loss"), (0, "A cell takes sums up")):
        run = train_sequences(model_of(rows, "standard"), rows, tests=tests, **how)
        assert run.steps == len(run.train_loss) == 1
        assert run.ended.step == (1 if tests else 2)
        assert run.ended.reason.startswith(begins)


def test_bad_arguments_are_told(rows):
    def says(sentence):
        return pytest.raises(ValueError, match=f"^{re.escape(sentence)}$")

    with says("`task` must be one of rows, pixels, letters; got 'columns'."):
        load_sequences("columns")
    with pytest.raises(ValueError, match=r"^A batch mean is taken over the cases"):
        train_sequences(model_of(rows, "batch"), rows, batch_size=1, steps=2)
    with says(
        "The output must tell classes from 5 inputs, one for each neuron of the layer; got weights "
        "of shape (10, 8) and the categorical family."
    ):
        wide = SequenceModel.random(
            "gru", normalizer_of("layer"), 8, 8, 10, np.random.default_rng(0)
        )
        SequenceModel(model_of(rows).layer, wide.output)
