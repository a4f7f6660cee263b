"""Cells against the published equations written out, and their gradients against differences."""

import math
from dataclasses import replace

import numpy as np
import pytest

from normgeo import GRID, NORMALIZERS, Recurrence, jacobian_norms, run_recurrence
from normgeo.base.progress import Stop
from normgeo.sequences import through_time
from normgeo.sequences.cells import CELLS
from normgeo.sequences.layer import CellLayer
from normgeo.sequences.state_jacobians import HELD_NOTE, cell_jacobian_norms
from normgeo.sequences.through_time import run_cell
from tests.pairwise import each
from tests.refused import says

from .conftest import F, H, S, T

every_cell = pytest.mark.pairwise("cell", CELLS)
EPS = 1e-3


# The equations for one sequence, one step and one gate at a time; for a batch if batch norm needs
# it. They use no code of the library.


def sigma(s):
    return 1 / (1 + math.exp(-s))


def no_norm(sums, _gates):
    return sums


def layer_norm(apart):
    def normalize(sums, gates):
        rows = []
        for a in sums:
            parts = np.split(a, gates) if apart else [a]
            rows.append(np.concatenate([(p - p.mean()) / math.sqrt(p.var() + EPS) for p in parts]))
        return np.array(rows)

    return normalize


def batch_norm(sums, _gates):
    columns = [(a - sum(a) / S) / math.sqrt(sum((a - sum(a) / S) ** 2) / S + EPS) for a in sums.T]
    return np.array(columns).T


def gained(normalize, units, inputs, gates):
    W, b, g = units
    z = normalize(np.array([[sum(w * x) for w in W] for x in inputs]), gates)
    return z * (1 if g is None else g) + b


def tanh_by_hand(layer, normalize, X, h, c):
    out = []
    for x in X.swapaxes(0, 1):
        s = gained(normalize, layer.units[0], np.hstack([h, x]), 1)
        h = np.array([[math.tanh(each) for each in row] for row in s])
        out.append(h)
    return np.array(out)


def lstm_by_hand(layer, normalize, X, h, c):
    out = []
    for x in X.swapaxes(0, 1):
        s = gained(normalize, layer.units[0], h, 4) + gained(normalize, layer.units[1], x, 4)
        new_h, new_c = np.empty_like(h), np.empty_like(c)
        for n in range(S):
            for k in range(H):
                f, i, _, u = (s[n, gate * H + k] for gate in range(4))
                new_c[n, k] = sigma(f) * c[n, k] + sigma(i) * math.tanh(u)
        shown = new_c
        if layer.memory is not None:
            _, b, g = layer.memory
            shown = normalize(new_c, 1) * g + b
        for n in range(S):
            for k in range(H):
                new_h[n, k] = sigma(s[n, 2 * H + k]) * math.tanh(shown[n, k])
        h, c = new_h, new_c
        out.append(h)
    return np.array(out)


def gru_by_hand(layer, normalize, X, h, c):
    out = []
    for x in X.swapaxes(0, 1):
        gates = gained(normalize, layer.units[0], h, 2) + gained(normalize, layer.units[1], x, 2)
        of_x, of_h = (
            gained(normalize, layer.units[2], x, 1),
            gained(normalize, layer.units[3], h, 1),
        )
        new = np.empty_like(h)
        for n in range(S):
            for k in range(H):
                z, r = sigma(gates[n, k]), sigma(gates[n, H + k])
                new[n, k] = (1 - z) * h[n, k] + z * math.tanh(of_x[n, k] + r * of_h[n, k])
        h = new
        out.append(h)
    return np.array(out)


BY_HAND = {"tanh": tanh_by_hand, "lstm": lstm_by_hand, "gru": gru_by_hand}
NORMS = {
    "standard": ("standard", True, no_norm),
    "gate by gate": ("layer", True, layer_norm(apart=True)),
    "as printed": ("layer", False, layer_norm(apart=False)),
    "batch": ("batch", True, batch_norm),
}


@every_cell
@pytest.mark.pairwise("norm", NORMS)
def test_states_are_the_equations_written_out(cell, norm, layer_of, sequences, start):
    method, gate_by_gate, normalize = NORMS[norm]
    layer = layer_of(cell, NORMALIZERS[method], EPS, gate_by_gate)
    first = start(layer)
    run = run_cell(layer, sequences, first)
    expected = BY_HAND[cell](layer, normalize, sequences, first[0], first[-1])
    np.testing.assert_allclose(run.hidden[1:], expected, rtol=1e-10, atol=1e-12)


@every_cell
def test_gates_have_statistics_of_their_own_or_one_for_all(cell, layer_of, sequences, rng):
    apart = layer_of(cell, NORMALIZERS["layer"])
    together = CellLayer(
        cell,
        apart.normalizer,
        apart.units,
        None if apart.memory is None else apart.memory[1:],
        gate_by_gate=False,
    )
    one, other = (run_cell(layer, sequences).hidden for layer in (apart, together))
    assert (np.abs(one - other).max() > 1e-3) == (max(p.gates for p in CELLS[cell].products) > 1)


# Gradients.


def weighted(layer, theta, X, first, U):
    return float((run_cell(layer.unpack(theta), X, first).hidden[1:] * U).sum())


@every_cell
@pytest.mark.pairwise("normalizer", GRID.values())
@pytest.mark.pairwise("gate_by_gate", [True, False])
def test_gradient_is_the_derivative_for_every_center_and_scale(
    cell, normalizer, gate_by_gate, layer_of, sequences, start, rng
):
    layer = layer_of(cell, normalizer, gate_by_gate=gate_by_gate)
    theta, first, U = layer.pack(), start(layer), rng.standard_normal((T, S, H))
    gradient = run_cell(layer, sequences, first).vjp(U)
    for _ in range(3):
        v = rng.standard_normal(theta.shape)
        ends = (weighted(layer, theta + step * v, sequences, first, U) for step in (1e-6, -1e-6))
        assert gradient @ v == pytest.approx((next(ends) - next(ends)) / 2e-6, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize(("method", "cell"), each(["standard", "layer", "group", "batch"], CELLS))
def test_each_entry_of_the_gradient_is_a_difference(cell, method, layer_of, sequences, start, rng):
    layer = layer_of(cell, NORMALIZERS[method])
    theta, first, U = layer.pack(), start(layer), rng.standard_normal((T, S, H))
    differences = [
        (
            weighted(layer, theta + 1e-6 * e, sequences, first, U)
            - weighted(layer, theta - 1e-6 * e, sequences, first, U)
        )
        / 2e-6
        for e in np.eye(len(theta))
    ]
    gradient = run_cell(layer, sequences, first).vjp(U)
    np.testing.assert_allclose(gradient, differences, rtol=1e-5, atol=1e-6)


@every_cell
@pytest.mark.pairwise("method", ["standard", "layer", "batch", "weight"])
def test_nothing_depends_on_how_many_steps_are_taken_ahead(
    cell, method, layer_of, sequences, rng, monkeypatch
):
    layer, U = layer_of(cell, NORMALIZERS[method]), rng.standard_normal((T, S, H))
    found = []
    for entries in (1, 2 * S * 4 * H, 2**15):
        monkeypatch.setattr(through_time, "STRETCH", entries)
        run = run_cell(layer, sequences)
        found.append(np.concatenate([run.hidden.ravel(), run.vjp(U)]))
    np.testing.assert_allclose(found[0], found[2], rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(found[1], found[2], rtol=1e-11, atol=1e-13)


# The cell of Eq. 4 equals the recurrence of the library.


@pytest.mark.parametrize("method", ["standard", "layer", "rms", "weight", "group"])
def test_tanh_cell_is_the_recurrence(method, layer_of, sequences, start):
    layer = layer_of("tanh", NORMALIZERS[method], eps=0.0)
    (W, b, g), first = layer.units[0], start(layer)
    known = Recurrence(layer.normalizer, W[:, :H], W[:, H:], b, g)
    expected = run_recurrence(known, sequences, first[0])
    run = run_cell(layer, sequences, first)
    np.testing.assert_allclose(run.hidden, expected.hidden, rtol=1e-11)
    ours, theirs = cell_jacobian_norms(run), jacobian_norms(expected)
    np.testing.assert_array_equal(ours.times, theirs.times)
    np.testing.assert_allclose(ours.log10_norms, theirs.log10_norms, rtol=1e-8, atol=1e-10)


def test_layer_norm_of_one_feature_leaves_its_sign(rng):
    """So at ε = 0 an LSTM that reads pixel by pixel sees each as on or off."""
    normalizer = NORMALIZERS["layer"]
    layer = CellLayer.random("lstm", normalizer, H, 1, rng)
    first = tuple(rng.standard_normal((2, S, H)))
    X = rng.uniform(0.1, 1, (S, T, 1))
    bright, dim, dark = (run_cell(layer, each, first).hidden for each in (X, X**3, -X))
    np.testing.assert_allclose(bright, dim, rtol=1e-9, atol=1e-12)
    assert np.abs(bright - dark).max() > 0.01


# Jacobians over time.


@every_cell
@pytest.mark.pairwise("method", ["standard", "layer", "weight"])
def test_jacobian_norm_is_that_of_differences(cell, method, layer_of, sequences, start):
    layer = layer_of(cell, NORMALIZERS[method])
    first = np.array(start(layer))
    run = run_cell(layer, sequences, tuple(first))
    norms = cell_jacobian_norms(run).log10_norms

    def last(change):
        ended = run_cell(layer, sequences, tuple(first + change)).states
        return np.concatenate([each[-1] for each in ended], axis=-1)

    columns = []
    for part, k in np.ndindex(layer.cell.states, H):
        e = np.zeros_like(first)
        e[part, :, k] = 1e-6
        columns.append((last(e) - last(-e)) / 2e-6)
    J = np.moveaxis(np.array(columns), 0, -1)
    expected = np.log10([np.linalg.svd(each, compute_uv=False)[0] for each in J])
    np.testing.assert_allclose(norms[0], expected, atol=1e-6)
    assert (norms[-1] == 0).all()


@every_cell
def test_jacobian_of_batch_norm_holds_what_a_batch_shares(cell, layer_of, sequences, start):
    """So that of one sequence does not depend on the others in the batch."""
    layer = layer_of(cell, NORMALIZERS["batch"])
    first = start(layer)
    run = run_cell(layer, sequences, first)
    found = cell_jacobian_norms(run)
    assert found.notes == (HELD_NOTE,)
    held = run.own_statistics()
    alone = run_cell(layer, sequences[:1], tuple(each[:1] for each in first), statistics=held)
    np.testing.assert_allclose(alone.hidden[:, 0], run.hidden[:, 0], rtol=1e-10, atol=1e-13)
    norms = cell_jacobian_norms(alone).log10_norms[:, 0]
    np.testing.assert_allclose(norms, found.log10_norms[:, 0], rtol=1e-9, atol=1e-12)


def test_jacobians_stop_where_they_are_asked_to(layer_of, sequences):
    def report(done, steps):
        if done == 2:
            raise Stop

    found = cell_jacobian_norms(
        run_cell(layer_of("gru", NORMALIZERS["layer"]), sequences), progress=report
    )
    assert found.times.tolist() == [T - 2, T - 1, T]


# Parameters and refusals.


@every_cell
@pytest.mark.pairwise("method", ["standard", "layer"])
def test_parameters_pack_and_unpack(cell, method, layer_of, rng):
    layer = layer_of(cell, NORMALIZERS[method])
    theta = rng.standard_normal(layer.pack().shape)
    np.testing.assert_array_equal(layer.unpack(theta).pack(), theta)
    sizes = {"tanh": H * (H + F + 1), "lstm": 4 * H * (H + F + 2), "gru": 3 * H * (H + F + 2)}
    gains = {"tanh": H, "lstm": 8 * H + 2 * H, "gru": 6 * H}
    assert len(theta) == sizes[cell] + gains[cell] * (method == "layer")


def test_gains_begin_where_they_are_asked_to(rng):
    layer = CellLayer.random("lstm", NORMALIZERS["layer"], H, F, rng, gain=0.1)
    assert all((units.g == 0.1).all() for units in layer.units)
    assert (layer.memory.g == 0.1).all()
    assert layer.units[0].b.tolist() == [1.0] * H + [0.0] * 3 * H
    assert not layer.units[1].b.any()


def test_state_of_zero_has_no_spread(rng):
    layer = CellLayer.random("lstm", NORMALIZERS["layer"], H, F, rng)
    with says(
        "Step 1 has no state: σ must not vanish, but case 0 has a = μ at every neuron of a "
        "group, so there is nothing to divide by. Change that row, drop it, or use a larger eps "
        "with a batch or layer scale."
    ):
        run_cell(layer, np.ones((1, 4, F)))


def test_sigma_of_rounding_alone_is_refused(rng):
    """Equal rows of W leave a spread that is only rounding."""
    W = np.tile(rng.standard_normal(H + F), (H, 1))
    layer = CellLayer("tanh", NORMALIZERS["layer"], [(W, np.zeros(H), None)])
    with pytest.raises(ValueError, match=r"^Step 1 has no state: σ must not vanish"):
        run_cell(layer, rng.standard_normal((2, 3, F)))


def test_sums_beyond_floats_are_refused(layer_of, sequences, rng):
    layer = layer_of("gru", NORMALIZERS["layer"])
    with says(
        "A cell takes sums up to 1e+150; weights, gains or biases and inputs may make them "
        "inf here. Scale them down."
    ):
        run_cell(layer.unpack(1e160 * layer.pack()), 1e160 * sequences)
    with pytest.raises(ValueError, match=r"^The gradient through time exceeds the largest float"):
        run_cell(layer, sequences).vjp(np.full((T, S, H), 1e308))
    with says("`U` must be a change of each state, (T, S, H) = (5, 4, 6); got (5, 4, 1)."):
        run_cell(layer, sequences).vjp(np.ones((T, S, 1)))


def test_memory_without_spread_is_refused(rng):
    """c is equal in all neurons and has no spread, though each product has one."""
    layer = CellLayer.random("lstm", NORMALIZERS["rms"], 3, 2, rng)
    layer = CellLayer("lstm", layer.normalizer, [(W, 0 * b, 0 * g) for W, b, g in layer.units])
    with pytest.raises(ValueError, match=r"^Step 1 has no state: a sum exceeds the largest"):
        run_cell(layer, np.ones((1, 3, 2)), (np.ones((1, 3)), np.zeros((1, 3))))


def test_bad_arguments_are_told(rng, layer_of, sequences):
    layer = layer_of("gru", NORMALIZERS["layer"])
    with says("`X` (S, T, F) must have 3 features at each step; got an array of shape (4, 5, 2)."):
        run_cell(layer, sequences[:, :, :2])
    with says(
        "`start` must hold 1 arrays of a state for each of the 4 sequences, shape (4, 6); got "
        "(4, 5)."
    ):
        run_cell(layer, sequences, (np.zeros((S, H - 1)),))
    with says("`theta` must have shape (234,), all parameters of the layer; got (3,)."):
        layer.unpack(np.zeros(3))
    with pytest.raises(ValueError, match=r"^`units` must be a list of \(W, b, g\), one of each of"):
        CellLayer("lstm", layer.normalizer, layer.units)
    with says(
        "W of product 1 of the GRU must be (12, 3) for 6 neurons and 3 features; got (6, 3)."
    ):
        CellLayer("gru", layer.normalizer, [layer.units[i] for i in (0, 2, 2, 3)])
    with says("The standard layer (none, none) has no gain. Leave g out."):
        CellLayer("gru", NORMALIZERS["standard"], layer.units)
    with says("`units[0]` must have b and g with one number for each of its 6 sums; got 5."):
        CellLayer("tanh", layer.normalizer, [(np.ones((6, 9)), np.zeros(5), None)])
    with says("Nothing normalizes a memory here; leave `memory` out."):
        CellLayer("gru", layer.normalizer, layer.units, (np.zeros(H), None))
    frozen = replace(NORMALIZERS["batch"], statistics="frozen")
    with pytest.raises(ValueError, match=r"^A layer computes with current statistics"):
        CellLayer.random("gru", frozen, H, F, rng)
    with pytest.raises(ValueError, match=r"^A batch mean is taken over the cases"):
        run_cell(layer_of("gru", NORMALIZERS["batch"]), sequences[:1])


def test_start_of_rows_with_different_lengths_is_refused():
    layer = CellLayer.random("lstm", "layer", 4, 3, np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"^`start\[0\]` must have 2 axes; got an array of shape "):
        run_cell(layer, np.ones((2, 5, 3)), start=[[1, 2], [3]])
