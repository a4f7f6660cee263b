"""Batch norm by time step against its definition, and its statistics at test time."""

import re

import numpy as np
import pytest

from normgeo import NORMALIZERS
from normgeo.sequences.cells import CELLS
from normgeo.sequences.step_statistics import StepStatistics
from normgeo.sequences.through_time import run_cell

from .conftest import F, H, S, T

every_cell = pytest.mark.pairwise("cell", CELLS)


@every_cell
@pytest.mark.pairwise("method", ["batch", "mean_only_batch_weight"])
def test_own_statistics_give_the_own_run(cell, method, layer_of, sequences):
    layer = layer_of(cell, NORMALIZERS[method])
    run = run_cell(layer, sequences)
    held = run_cell(layer, sequences, statistics=run.own_statistics())
    np.testing.assert_allclose(held.hidden, run.hidden, rtol=1e-10, atol=1e-13)


def test_statistics_are_of_each_step_over_the_sequences(layer_of, sequences):
    layer = layer_of("lstm", NORMALIZERS["batch"])
    run = run_cell(layer, sequences)
    of_h, of_x, of_c = run.own_statistics().products
    for held, sums in (
        (of_h, run.hidden[:-1] @ layer.units[0].W.T),
        (of_x, sequences.swapaxes(0, 1) @ layer.units[1].W.T),
        (of_c, run.states[1][1:]),
    ):
        np.testing.assert_allclose(held.mean[:, 0, 0], sums.mean(axis=1), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(held.variance[:, 0, 0], sums.var(axis=1), rtol=1e-7, atol=1e-10)


def test_averages_are_those_of_the_batches_of_each_step(layer_of, rng):
    """Written out: ρ = 1/n up to ten batches, an unbiased variance; a longer batch adds steps."""
    layer = layer_of("tanh", NORMALIZERS["batch"])
    averages, means, variances = None, [None] * 7, [None] * 7
    seen = [0] * 7
    for length in (5, 7, 3, *[4] * 11):
        X = rng.standard_normal((S, length, F))
        run = run_cell(layer, X)
        averages = run.averaged_into(averages)
        for t in range(length):
            a = np.hstack([run.hidden[t], X[:, t]]) @ layer.units[0].W.T
            mean, variance = a.mean(axis=0), a.var(axis=0, ddof=1)
            seen[t] += 1
            share = max(0.1, 1 / seen[t])
            first = seen[t] == 1
            means[t] = mean if first else (1 - share) * means[t] + share * mean
            variances[t] = variance if first else (1 - share) * variances[t] + share * variance
    assert averages.batches.tolist() == seen == [14, 14, 14, 13, 2, 1, 1]
    (held,) = averages.products
    np.testing.assert_allclose(held.mean[:, 0, 0], means, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(held.variance[:, 0, 0], variances, rtol=1e-8)


@every_cell
def test_test_time_treats_each_sequence_by_itself(cell, layer_of, sequences, rng):
    layer = layer_of(cell, NORMALIZERS["batch"])
    known = run_cell(layer, rng.standard_normal((9, T, F))).averaged_into(None)
    together = run_cell(layer, sequences, statistics=known).hidden
    for n in range(S):
        alone = run_cell(layer, sequences[n : n + 1], statistics=known).hidden
        np.testing.assert_allclose(alone[:, 0], together[:, n], rtol=1e-10, atol=1e-13)


def test_gradient_at_test_time_is_the_derivative(layer_of, sequences, rng):
    layer = layer_of("lstm", NORMALIZERS["batch"])
    known = run_cell(layer, rng.standard_normal((9, T, F))).averaged_into(None)
    theta, U = layer.pack(), rng.standard_normal((T, S, H))

    def value(at):
        run = run_cell(layer.unpack(at), sequences, statistics=known)
        return float((run.hidden[1:] * U).sum())

    gradient = run_cell(layer, sequences, statistics=known).vjp(U)
    for _ in range(3):
        v = rng.standard_normal(theta.shape)
        difference = (value(theta + 1e-6 * v) - value(theta - 1e-6 * v)) / 2e-6
        assert gradient @ v == pytest.approx(difference, rel=1e-5)


@every_cell
def test_steps_that_training_never_saw(cell, layer_of, sequences):
    layer = layer_of(cell, NORMALIZERS["batch"])
    known = run_cell(layer, sequences).averaged_into(None)
    longer = np.concatenate([sequences, sequences[:, :2]], axis=1)
    sentence = (
        "Batch norm has statistics of the 5 steps of training, and none of the steps after them; "
        "got sequences of 7 steps. Use shorter sequences, or beyond='last', the statistics of the "
        "last step."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        run_cell(layer, longer, statistics=known)
    run = run_cell(layer, longer, statistics=known, beyond="last")
    before = run_cell(layer, sequences, statistics=known)
    np.testing.assert_allclose(run.hidden[: T + 1], before.hidden, rtol=1e-12, atol=1e-14)
    # Only the last step of the longer run, with the statistics of step T.
    last = StepStatistics(
        tuple(type(held)(*(each[-1:] for each in held)) for held in known.products), np.ones(1)
    )
    again = run_cell(layer, longer[:, -1:], tuple(each[-2] for each in run.states), statistics=last)
    np.testing.assert_allclose(again.hidden[1], run.hidden[-1], rtol=1e-10, atol=1e-13)


def test_methods_that_share_nothing_have_no_statistics_to_miss(layer_of, sequences):
    layer = layer_of("gru", NORMALIZERS["layer"])
    known = run_cell(layer, sequences[:, :2]).averaged_into(None)
    held = run_cell(layer, sequences, statistics=known).hidden
    np.testing.assert_array_equal(held, run_cell(layer, sequences).hidden)


def test_choice_and_layer_are_checked(layer_of, sequences):
    layer = layer_of("gru", NORMALIZERS["batch"])
    known = run_cell(layer, sequences).averaged_into(None)
    with pytest.raises(ValueError, match=r"^`beyond` must be one of refuse, last; got 'first'"):
        run_cell(layer, sequences, statistics=known, beyond="first")
    for cell, method in (("lstm", "batch"), ("gru", "layer"), ("gru", "mean_only_batch_weight")):
        with pytest.raises(ValueError, match=r"^`statistics` must be of a layer of the same kind"):
            run_cell(layer_of(cell, NORMALIZERS[method]), sequences, statistics=known)
