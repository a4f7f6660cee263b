"""The entries that each method averages."""

import tracemalloc

import numpy as np
import pytest

from normgeo import NORMALIZERS
from normgeo.normalizers.averages import averages, worked
from normgeo.normalizers.example import EXAMPLE_PLACE, EXAMPLE_W, EXAMPLE_X, read, written
from normgeo.normalizers.normalizer import Normalizer
from normgeo.normalizers.scales import SCALES, AveragingScale

METHODS = {key: NORMALIZERS[key] for key in ("batch", "layer", "weight")}


@pytest.mark.parametrize("key", METHODS)
def test_what_is_lit_is_what_sigma_is_made_of(key, rng):
    """Changing an entry of A or W changes σ exactly if the entry is highlighted."""
    W, X, place = rng.standard_normal((4, 5)), rng.standard_normal((6, 5)), (2, 1)
    average = averages(METHODS, W, X, place)[key]
    scale = METHODS[key].scale
    for entry in np.ndindex(average.values.shape):
        changed = average.values.copy()
        changed[entry] += 1
        before, after = (spread(scale, values, place) for values in (average.values, changed))
        assert (before != after) == average.lit[entry]


def spread(scale, values, place):
    n, h = place
    return {"batch": values[:, h], "layer": values[n], "weight": values[h]}[scale].std()


def test_group_norm_averages_the_group_of_the_neuron(rng):
    group = {"group": NORMALIZERS["group"]}
    W, X = rng.standard_normal((6, 5)), rng.standard_normal((4, 5))
    lit = averages(group, W, X, (1, 4))["group"].lit
    assert np.argwhere(lit).tolist() == [[1, 3], [1, 4], [1, 5]]


@pytest.mark.parametrize("key", METHODS)
def test_example_is_whole_where_it_can_be(key):
    average = averages(METHODS, EXAMPLE_W, EXAMPLE_X, EXAMPLE_PLACE)[key]
    numbers = worked(average, EXAMPLE_W, EXAMPLE_X, EXAMPLE_PLACE)
    assert {n.denominator for n in (numbers.a, numbers.mu, numbers.variance)} == {1}
    assert numbers.divisor == (1 if average.matrix == "W" else average.lit.sum())


def test_example_gives_one_summed_input_three_different_values():
    found = averages(METHODS, EXAMPLE_W, EXAMPLE_X, EXAMPLE_PLACE)
    values = [worked(each, EXAMPLE_W, EXAMPLE_X, EXAMPLE_PLACE) for each in found.values()]
    assert {value.a for value in values} == {6}
    assert len({round(value.z, 6) for value in values}) == 3
    assert values[0].z < 0 < values[1].z


def test_method_without_a_scale_averages_nothing(rng):
    with pytest.raises(ValueError, match=r"^An average needs a scale; standard has none\.$"):
        averages({"standard": NORMALIZERS["standard"]}, EXAMPLE_W, EXAMPLE_X, EXAMPLE_PLACE)


@pytest.mark.parametrize("key", NORMALIZERS)
def test_worked_numbers_are_those_of_every_method_with_a_scale(key, rng):
    normalizer = NORMALIZERS[key]
    W, X, place = rng.integers(-5, 6, (4, 5)), rng.integers(-5, 6, (6, 5)), (2, 1)
    if SCALES[normalizer.scale].divides:
        (average,) = averages({key: normalizer}, W, X, place).values()
        numbers = worked(average, W, X, place)
        z = normalizer.normalize(W.astype(float), X.astype(float)).z[place]
        assert numbers.z == pytest.approx(z, rel=1e-12)
        assert numbers.variance == sum(numbers.squares) / numbers.divisor
        if numbers.mean_of:
            assert numbers.mu == sum(numbers.mean_of) / len(numbers.mean_of)
        else:
            assert normalizer.center in {"none", "weight"}


@pytest.mark.parametrize("key", METHODS)
def test_nothing_is_divided_by_a_sigma_of_zero(key):
    """Other entries still have a z, although the library refuses the whole matrix."""
    X, W = np.array([[1, 1], [1, 1], [2, 0]]), np.array([[0, 0], [1, 1], [0, 3]])
    place = {"batch": (0, 1), "layer": (0, 0), "weight": (0, 0)}[key]
    if key == "layer":
        W[:] = 1
    (average,) = averages({key: METHODS[key]}, W, X, place).values()
    numbers = worked(average, W, X, place)
    assert (numbers.variance, numbers.z) == (0, None)
    other = {"batch": (0, 2), "layer": None, "weight": (0, 2)}[key]
    if other is not None:
        (average,) = averages({key: METHODS[key]}, W, X, other).values()
        assert worked(average, W, X, other).z is not None


def test_example_is_read_from_the_word_that_it_is_written_to(rng):
    X, W = (rng.integers(-99, 100, (3, 3)) for _ in range(2))
    again = read(written(X, W))
    assert (again[0].tolist(), again[1].tolist()) == (X.tolist(), W.tolist())


def test_new_scale_lights_what_it_averages(rng, monkeypatch):
    """The sum over all cases and neurons, for which the code has no branch."""

    class Everything(AveragingScale):
        key = "everything"

        def average(self, U, groups=1):
            return U.sum(axis=(-2, -1), keepdims=True)

        def radial(self, X_centered, at):
            return None

    monkeypatch.setitem(SCALES, "everything", Everything())
    W, X = rng.standard_normal((4, 5)), rng.standard_normal((6, 5))
    (average,) = averages({"new": Normalizer("none", "everything")}, W, X, (2, 1)).values()
    assert (average.matrix, average.lit.all(), average.rule) == (
        "A",
        True,
        "over cases and neurons",
    )
    assert worked(average, W, X, (2, 1)).divisor == 1


@pytest.mark.parametrize(
    ("key", "rule"),
    [
        ("batch", "one neuron, over the cases"),
        ("layer", "one case, over the neurons"),
        ("group", "one case, over a group of neurons"),
        ("weight", "one weight vector, over its features"),
    ],
)
def test_rule_says_what_is_averaged(key, rule, rng):
    W, X = rng.standard_normal((4, 5)), rng.standard_normal((6, 5))
    assert averages({key: NORMALIZERS[key]}, W, X, (2, 1))[key].rule == rule


def test_a_wide_layer_takes_little_memory():
    """One row at a time: a unit matrix for each of 256 × 61 weights would take 2 GB."""
    rng = np.random.default_rng(0)
    W, X = rng.standard_normal((256, 61)), rng.standard_normal((12, 61))
    tracemalloc.start()
    found = averages({"weight": NORMALIZERS["weight"], "layer": NORMALIZERS["layer"]}, W, X, (3, 7))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40e6
    assert np.argwhere(found["weight"].lit.any(axis=1)).tolist() == [[7]]
    assert np.argwhere(found["layer"].lit.any(axis=1)).tolist() == [[3]]
    assert (found["weight"].lit.sum(), found["layer"].lit.sum()) == (61, 256)
