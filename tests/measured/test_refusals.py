"""Whatever is not a network, or cannot be measured, is refused in a sentence."""

import itertools

import numpy as np
import pytest

import normgeo
from normgeo.base.budget import Budget
from normgeo.base.refusal import Refusal
from normgeo.measured import measuring
from tests.refused import says

W = np.random.default_rng(0).standard_normal((4, 5))
X = np.random.default_rng(1).standard_normal((7, 5))


def linear(parameters):
    return X @ parameters["W"].T


def test_dropout_left_on():
    rng = np.random.default_rng(2)

    def dropped(parameters):
        return linear(parameters) * (rng.random((7, 4)) < 0.5)

    with pytest.raises(
        Refusal,
        match=r"^Two calls with the same parameters must agree; their outputs differ by [\d.]+ of "
        r"their size\. Switch dropout and other noise off, or give the function a fixed seed\.$",
    ):
        normgeo.measure(dropped, {"W": W})


def test_outputs_that_are_no_numbers():
    with says(
        "The outputs must be finite numbers; got 28 NaN or infinite among 28. Look at the "
        "parameters and inputs first."
    ):
        normgeo.measure(lambda p: linear(p) * np.nan, {"W": W})


def test_parameters_that_are_no_numbers():
    with says("'W' must hold finite numbers; got NaN or infinite ones."):
        normgeo.measure(linear, {"W": np.full((4, 5), np.inf)})


@pytest.mark.parametrize("copied", [False, True])
def test_function_that_writes_to_its_parameters(copied):
    """NumPy forbids writing; arrays that allow it are compared before and after."""

    class Writable:
        def __init__(self, values):
            self.values = np.array(values)

        def __array__(self, dtype=None, copy=None):
            return self.values

    def writes(parameters):
        array = parameters["W"].values if copied else parameters["W"]
        array *= 2
        return X @ array.T

    kept = W.copy()
    with pytest.raises(Refusal, match=r"^The function must leave its parameters as they are; it "):
        normgeo.measure(writes, {"W": Writable(W) if copied else W}, float64=False)
    np.testing.assert_array_equal(W, kept)


@pytest.mark.parametrize(
    "parameters", [{}, [], (), {"step": 3}, {"W": np.arange(3)}, None, {"W": {}}]
)
def test_tree_without_parameters(parameters):
    with pytest.raises(Refusal, match=r"^`parameters` must hold at least one array of floats, in "):
        normgeo.measure(linear, parameters)


@pytest.mark.parametrize("answer", [None, "words", [1, 2], np.arange(3), np.ones(2, complex), {}])
def test_outputs_that_are_no_arrays_of_floats(answer):
    with pytest.raises(Refusal, match=r"^The function must return arrays"):
        normgeo.measure(lambda _: answer, {"W": W})


def test_outputs_that_are_all_zero():
    with says(
        "Changes are measured as shares of the outputs, and all 28 of them are 0. Give the "
        "function inputs that it answers."
    ):
        normgeo.measure(lambda p: 0 * linear(p), {"W": W})


def test_outputs_of_another_size_after_a_change():
    def cut(parameters):
        a = linear(parameters)
        return a[a > 0]

    with pytest.raises(Refusal, match="must answer with as many numbers after a change; got"):
        normgeo.measure(cut, {"W": W})


def test_complex_parameters():
    with says("'W' must hold real numbers; got complex ones."):
        normgeo.measure(linear, {"W": W + 1j})


def test_tree_without_an_end():
    endless = {}
    endless["again"] = endless
    with says("`parameters` may be nested 64 levels deep; got more."):
        normgeo.measure(linear, endless)


def test_arrays_that_share_a_part_of_their_memory():
    both = np.concatenate([W, W])
    with says(
        "'b' and 'a' share some of their memory, so neither is changed alone. Give the whole "
        "array once, and take its parts in the function."
    ):
        normgeo.measure(linear, {"a": both[:5], "b": both[3:]})


def test_rows_of_one_array_that_do_not_overlap_are_two_tensors():
    both = np.concatenate([W, W])
    table = normgeo.measure(lambda p: X @ (p["a"] + p["b"]).T, {"a": both[:4], "b": both[4:]})
    assert [one.tied for one in table.tensors.values()] == [(), ()]


def test_no_inputs():
    with says("`inputs` must hold 1 to 256 inputs; got 0. Put more cases into each."):
        normgeo.measure(lambda p, _: linear(p), {"W": W}, [])


def test_no_function():
    with says("`f` must be a function of the parameters; got 3."):
        normgeo.measure(3, {"W": W})


def test_more_memory_than_allowed_before_the_function_is_called():
    def never(parameters):
        raise AssertionError

    large = np.zeros((2**14, 2**15))  # 4 GB, of which no page is written
    with says(
        "A measurement would take about 17 GB; `budget` "
        "allows 60 s and 1 GB. Give the function fewer inputs or tensors (the others it can hold "
        "itself), lower `tries`, or allow more."
    ):
        normgeo.measure(never, {"W": large}, budget=Budget(1e9, 60))


def test_more_time_than_allowed_after_its_first_calls(monkeypatch):
    """At a second for the first calls; some machines count processor time in ticks of 10 ms."""
    calls, seconds = [], itertools.count()
    monkeypatch.setattr(measuring, "process_time", lambda: float(next(seconds)))

    def counted(parameters):
        calls.append(1)
        return linear(parameters)

    with pytest.raises(Refusal, match=r"^A measurement would take about .* `budget` allows 1 s"):
        normgeo.measure(counted, {"W": W}, budget=Budget(1e9, 1.0))
    assert len(calls) == 4


def test_error_of_the_function_is_its_own():
    def broken(parameters):
        raise KeyError("bias")

    with pytest.raises(KeyError, match="bias"):
        normgeo.measure(broken, {"W": W})
