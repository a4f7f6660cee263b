"""Every verdict agrees with the one derived by hand, in double and in single precision."""

import numpy as np
import pytest

import normgeo
from tests.measured.networks import NETWORKS, inputs
from tools.numpy_layers import layer_norm, relu, rms_norm

SEED = 1


def signs(one):
    found = "".join(verdict.sign if verdict else "-" for verdict in one.verdicts.values())
    return found[:3] if one.is_vector else found


def narrow(parameters, kind):
    return {name: values.astype(kind) for name, values in parameters.items()}


@pytest.mark.parametrize("name", NETWORKS)
def test_everything_is_as_derived(name, subtests):
    known = NETWORKS[name]
    parameters = known.draw(np.random.default_rng(SEED))
    table = normgeo.measure(known.f, parameters, tries=32)
    assert table.complete
    assert [*table.tensors] == [*parameters]
    for tensor, one in table.tensors.items():
        with subtests.test(tensor=tensor):
            assert signs(one) == known.signs[tensor]
            assert table.place(tensor) == known.places.get(tensor, ())
            assert one.blocks == known.blocks.get(tensor, 0)
            assert one.dead == known.dead.get(tensor, ())
            assert one.zeros == known.zeros.get(tensor, ())
            assert one.untried == one.undecided == ()
            role = "vector" if one.is_vector else "matrix"
            assert table.roles[tensor] == known.roles.get(tensor, role)
    assert {str(trade) for trade in table.trades} == known.trades


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", NETWORKS)
def test_other_draws_have_the_same_verdicts(name, subtests):
    known = NETWORKS[name]
    for seed in range(2, 8):
        with subtests.test(seed=seed):
            parameters = known.draw(np.random.default_rng(seed))
            table = normgeo.measure(known.f, parameters, tries=32, seed=seed)
            assert {n: signs(one) for n, one in table.tensors.items()} == known.signs
            found = {str(trade) for trade in table.trades}
            assert found <= known.trades | known.also
            assert len(found) == len(known.trades)


@pytest.mark.parametrize("name", NETWORKS)
def test_no_verdict_is_wrong_in_single_precision(name, monkeypatch):
    """Rounding may hide a verdict (?), or an ε of 1e-6 or less (✓); it reverses none."""
    known = NETWORKS[name]
    for read in ("X", "T", "IMAGES"):
        monkeypatch.setattr(inputs, read, getattr(inputs, read).astype(np.float32))
    parameters = narrow(known.draw(np.random.default_rng(SEED)), np.float32)
    table = normgeo.measure(known.f, parameters, float64=False)
    assert table.kinds == ("float32",)
    for tensor, one in table.tensors.items():
        for found, true in zip(signs(one), known.signs[tensor], strict=True):
            assert found in {true, "?"}, tensor
    assert {str(trade) for trade in table.trades} <= known.trades | known.also


def test_weight_of_one_neuron_is_a_matrix_where_it_is_stated():
    """No change tells it from a gain whose outputs are summed."""
    X = np.random.default_rng(0).standard_normal((30, 4))

    def f(p):
        h = np.tanh(X @ p["W"].T) * p["g"][0]
        return np.tanh(h @ p["v"].reshape(1, 6).T) @ p["u"].T

    rng = np.random.default_rng(1)
    shapes = {"W": (6, 4), "g": (1, 6), "v": (1, 6, 1, 1), "u": (3, 1)}
    parameters = {name: rng.standard_normal(shape) + 0.5 for name, shape in shapes.items()}
    told = {
        None: {"W": "matrix", "g": "matrix", "v": "gain", "u": "gain"},
        ("v", "u"): {"W": "matrix", "g": "gain", "v": "matrix", "u": "matrix"},
        (): {"W": "matrix", "g": "gain", "v": "gain", "u": "gain"},
    }
    for matrices, roles in told.items():
        table = normgeo.measure(f, parameters, matrices=matrices)
        assert table.roles == roles
        assert all(
            (one.neurons, len(signs(one))) == ({"v": 1, "u": 3}[name], 6)
            for name, one in table.tensors.items()
            if name in (matrices or ())
        )


def test_parameters_of_single_precision_run_in_double_where_the_network_does():
    known = NETWORKS["layer_norm_with_large_eps"]
    parameters = narrow(known.draw(np.random.default_rng(SEED)), np.float32)
    table = normgeo.measure(known.f, parameters)
    assert table.kinds == ("float64",)
    assert table.rounding < 1e-13


def test_network_that_lowers_its_precision_on_the_way_is_found_out():
    """Inputs and outputs have double precision, the steps between them do not."""
    known = NETWORKS["layer_norm_before"]

    def f(parameters):
        return known.f(narrow(parameters, np.float32)).astype(np.float64)

    parameters = known.draw(np.random.default_rng(SEED))
    before, inputs.X = inputs.X, inputs.X.astype(np.float32)
    try:
        table = normgeo.measure(f, parameters)
    finally:
        inputs.X = before
    assert table.rounding > 1e-8
    assert signs(table.tensors["E"]) == known.signs["E"]


def moved_by_hand(f, parameters, name, factor):
    before = f(parameters)
    after = f({**parameters, name: parameters[name] * factor})
    return np.linalg.norm(after - before) / np.linalg.norm(before)


@pytest.mark.parametrize("name", ["tanh", "layer_norm_with_large_eps"])
def test_number_of_a_verdict_is_the_share_of_the_outputs_that_moves(name):
    known = NETWORKS[name]
    parameters = known.draw(np.random.default_rng(SEED))
    one = normgeo.measure(known.f, parameters).tensors["W"]
    share = moved_by_hand(known.f, parameters, "W", 2)
    assert one.verdicts["all_times"].moved == pytest.approx(share)


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("eps", [1e-12, 1e-5, 1e-2])
def test_eps_is_told_from_a_bias_at_any_size(size, eps):
    """Both move less as W grows, by s² and by s."""
    X = np.random.default_rng(3).standard_normal((20, 5))

    def normalized(parameters):
        return rms_norm(X @ parameters["W"].T, eps=eps * size**2)

    def biased(parameters):
        return rms_norm(X @ parameters["W"].T + parameters["b"])

    W = size * np.random.default_rng(4).standard_normal((6, 5))
    b = size * eps * np.random.default_rng(5).standard_normal(6)
    with_eps = normgeo.measure(normalized, {"W": W})
    assert with_eps.tensors["W"].verdicts["all_times"].sign == "≈"
    with_bias = normgeo.measure(biased, {"W": W, "b": b})
    assert with_bias.tensors["W"].verdicts["all_times"].sign in "✗?"
    if eps > 1e-10:
        assert with_bias.place("W") == ("after_with_bias",)


def test_negative_factors_are_asked_for_and_turn_signs():
    def even(parameters):
        return np.abs(layer_norm(inputs.X @ parameters["W"].T))

    def odd(parameters):
        return layer_norm(inputs.X @ parameters["W"].T)

    W = {"W": np.random.default_rng(0).standard_normal((4, 5))}
    assert signs(normgeo.measure(even, W, negative=True).tensors["W"])[0] == "✓"
    assert signs(normgeo.measure(odd, W, negative=True).tensors["W"])[0] == "✗"
    assert signs(normgeo.measure(odd, W).tensors["W"])[0] == "✓"


def test_neurons_along_the_last_axis_are_measured_alike():
    known = NETWORKS["convolution"]
    parameters = known.draw(np.random.default_rng(SEED))

    def turned(tree):
        return {n: np.moveaxis(v, (0, 1), (-1, -2)) if v.ndim > 1 else v for n, v in tree.items()}

    def back(tree):
        return {n: np.moveaxis(v, (-1, -2), (0, 1)) if v.ndim > 1 else v for n, v in tree.items()}

    table = normgeo.measure(lambda p: known.f(back(p)), turned(parameters), neurons=-1)
    assert {name: signs(one) for name, one in table.tensors.items()} == known.signs
    assert {str(trade) for trade in table.trades} == known.trades


@pytest.mark.parametrize("name", ["pre_norm", "decoder", "shared_norm", "post_norm"])
def test_order_of_the_tensors_decides_nothing(name):
    """In alphabetical order, as in JAX, the weights before the stream are still found."""
    known = NETWORKS[name]
    parameters = known.draw(np.random.default_rng(SEED))
    table = normgeo.measure(known.f, dict(sorted(parameters.items())))
    assert {n: table.place(n) for n in parameters if table.place(n)} == known.places
    assert {n: table.roles[n] for n in known.roles} == known.roles
    assert len(table.trades) == len(known.trades)


def test_several_inputs_are_one_network():
    known = NETWORKS["relu_pairs"]
    parameters = known.draw(np.random.default_rng(SEED))
    parameters["b"][1] = -4.0  # a unit that is off for small inputs and on for large ones

    def f(p, X):
        h = relu(X @ p["W"].T + p["b"])
        return relu(h @ p["V"].T + p["c"]) @ p["U"].T + p["u"]

    small, large = 0.1 * inputs.X, 10 * inputs.X
    one = normgeo.measure(lambda p: f(p, small), parameters, tries=32)
    both = normgeo.measure(f, parameters, [small, large], tries=32)
    assert 1 in one.tensors["W"].dead
    assert both.tensors["W"].dead == ()


def test_frozen_rows_are_the_long_ones_of_a_norm_by_rows():
    known = NETWORKS["batch_norm"]
    parameters = known.draw(np.random.default_rng(SEED))
    parameters["W"][3] *= 1000
    table = normgeo.measure(known.f, parameters)
    assert table.frozen("W") == (3,)
    assert table.frozen("V") == ()
    assert "each row" in table.learning_rate("W")
