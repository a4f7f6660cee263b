"""Each kind of argument has one check: what it lets through, and what it says to the rest."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from normgeo.base import arguments
from normgeo.base.arguments import (
    entry_of,
    file_path,
    instance_of,
    real_number,
    seed_number,
    shown,
    whole_number,
    whole_numbers,
    word_of,
)
from normgeo.base.arrays import real_array, require_same_cases
from normgeo.base.refusal import Refusal

NO_NUMBERS: tuple[Any, ...] = (
    None,
    True,
    False,
    np.True_,
    "1",
    1j,
    [1],
    np.ones(1),
    np.ma.masked,
    np.timedelta64(1, "s"),
    Decimal(1),
    float("nan"),
    float("inf"),
    -float("inf"),
    np.float64("nan"),
    10**400,
    Fraction(10**400),
)


def refusal(check: Callable[..., object], *arguments: Any, **named: Any) -> str:
    with pytest.raises(Refusal) as told:
        check(*arguments, **named)
    return str(told.value.args[0])


def test_number_of_any_type_comes_back_as_a_float(subtests: pytest.Subtests) -> None:
    for value in [0.5, np.float32(0.5), np.float16(0.5), Fraction(1, 2)]:
        with subtests.test(value=value):
            assert type(real_number("eps", value)) is float
            assert real_number("eps", value) == 0.5


def test_what_is_no_finite_number_is_refused(subtests: pytest.Subtests) -> None:
    for value in NO_NUMBERS:
        with subtests.test(value=value):
            sentence = refusal(real_number, "rate", value, above=0)
            assert sentence == f"`rate` must be a finite number above 0; got {shown(value)}."


@given(st.floats(-2, 2), st.floats(-1, 1), st.sampled_from(["least", "above", "below"]))
def test_number_is_held_to_its_range(value: float, bound: float, side: str) -> None:
    inside = {"least": value >= bound, "above": value > bound, "below": value < bound}[side]
    if inside:
        assert real_number("x", value, **{side: bound}) == value
    else:
        assert "`x` must be a finite number " in refusal(real_number, "x", value, **{side: bound})


def test_rule_of_a_number_names_its_range(subtests: pytest.Subtests) -> None:
    for bounds, rule in [
        ({}, "a finite number"),
        ({"above": 0}, "a finite number above 0"),
        ({"least": 0}, "a finite number from 0 up"),
        ({"least": 0, "below": 1}, "a finite number from 0 up and below 1"),
        ({"above": 0, "below": 0.5}, "a finite number above 0 and below 0.5"),
    ]:
        with subtests.test(bounds=bounds):
            assert refusal(real_number, "x", None, **bounds) == f"`x` must be {rule}; got None."


def test_count_of_any_type_comes_back_as_an_int(subtests: pytest.Subtests) -> None:
    for value in [3, np.int64(3), np.uint8(3), 3.0, np.float32(3), Fraction(3)]:
        with subtests.test(value=value):
            assert type(whole_number("steps", value)) is int
            assert whole_number("steps", value, 3, 3) == 3


def test_what_is_no_count_in_range_is_refused(subtests: pytest.Subtests) -> None:
    for value in [*NO_NUMBERS, 2.5, Fraction(5, 2), -1, 0]:
        with (
            subtests.test(value=value),
            pytest.raises(
                Refusal, match=r"^`steps` must be a whole number from 1 (up|to 1000000000);"
            ),
        ):
            whole_number("steps", value, 1)


def test_count_beyond_what_any_machine_does_is_refused() -> None:
    most = arguments.LARGEST_COUNT
    assert whole_number("draws", most) == most
    sentence = f"`draws` must be a whole number from 0 to {most}; got {most + 1}."
    assert refusal(whole_number, "draws", most + 1) == sentence
    assert "; got about 10⁵⁰⁰⁰." in refusal(whole_number, "draws", 10**5000)


def test_count_that_is_kept_as_it_came_is_whole_by_its_type() -> None:
    assert whole_number("groups", 2, 1, by_type=True) == 2
    sentence = "`groups` must be a whole number from 1 up; got 2.0."
    assert refusal(whole_number, "groups", 2.0, 1, by_type=True) == sentence


def test_rule_of_a_count_may_say_what_its_range_is() -> None:
    sentence = "`k` must be a whole number from 1 to 3, the neurons; got 4."
    assert refusal(whole_number, "k", 4, 1, 3, "the neurons") == sentence


def test_seed_is_a_whole_number_that_a_generator_takes(subtests: pytest.Subtests) -> None:
    for value in [-1, 2.5, float("nan"), None, True, 2**64, 10**400, "0"]:
        with subtests.test(value=value):
            assert refusal(seed_number, value).startswith("`seed` must be a whole number from 0 to")
            np.random.default_rng(seed_number(2**64 - 1))


def test_word_is_one_of_those_there_are(subtests: pytest.Subtests) -> None:
    for value in ["b", None, 1, ["a"], {"a"}, np.array(["a", "b"])]:
        with subtests.test(value=value):
            sentence = f"`plane` must be one of a, c; got {shown(value)}."
            assert refusal(word_of, "plane", value, ("a", "c")) == sentence
            assert refusal(entry_of, "plane", value, {"a": 1, "c": 2}, Fraction) == sentence


def test_object_of_a_registry_passes_as_itself_or_by_its_key() -> None:
    half = Fraction(1, 2)
    assert entry_of("x", half, {}, Fraction) is half
    assert entry_of("x", "half", {"half": half}, Fraction) is half


def test_object_of_another_type_is_refused_by_name() -> None:
    half = Fraction(1, 2)
    assert instance_of("x", half, Fraction) is half
    sentence = "`x` must be of type Fraction; got 3."
    assert refusal(instance_of, "x", 3, Fraction) == sentence


class Rude:
    def __repr__(self) -> str:
        raise OSError("no words")


def test_what_arrived_is_shown_in_short(subtests: pytest.Subtests) -> None:
    for value in [Rude(), "x" * 10**6, list(range(10**6)), -(10**9999), {1: 2}]:
        with subtests.test(value=value):
            assert len(shown(value)) <= 80
            assert "\n" not in shown(value)


def test_array_that_is_none_is_refused(subtests: pytest.Subtests) -> None:
    for values, sentence in [
        ([[1.0], [1.0, 2.0]], "`X` must be a rectangular array of numbers; got rows of different"),
        ([[1j]], "`X` must hold real numbers; got elements of type complex128."),
        ([["1"]], "`X` must hold real numbers; got elements of type <U1."),
        ([[None]], "`X` must hold real numbers; got elements of type object."),
        ([[10**400]], "`X` must hold real numbers; got elements of type object."),
        (1.0, "`X` must have 2 axes; got an array of shape ()."),
        ([[]], "`X` must not be empty; got an array of shape (1, 0)."),
        ([[np.nan, 1]], "`X` must hold finite numbers; got 1 NaN or infinite among 2."),
        (
            np.array([[np.finfo(np.longdouble).max]]),
            "`X` must hold finite numbers; got 1 NaN or infinite among 1.",
        ),
        (np.ma.ones((2, 2)), "`X` must hold plain numbers; got a masked array, whose mask"),
        ([np.ma.ones(2)], "`X` must hold plain numbers; got a masked array, whose mask"),
        ([[1.0, np.ma.masked]], "`X` must hold plain numbers; got a masked array, whose mask"),
    ]:
        with subtests.test(sentence):
            assert refusal(real_array, "X", values, 2).startswith(sentence)


def test_array_may_have_a_range_of_axes() -> None:
    assert real_array("y", [1, 2], 1, 2).shape == (2,)
    assert real_array("y", [[1, 2]], 1, 2).shape == (1, 2)
    for values in (1.0, [[[1.0]]]):
        assert refusal(real_array, "y", values, 1, 2).startswith(
            "`y` must have 1 to 2 axes; got an array of shape ("
        )


@pytest.mark.parametrize("kind", ["f2", "f4", "f8"])
def test_floats_keep_their_type_in_the_byte_order_of_the_machine(kind: str) -> None:
    values = np.array([1.5, -2.0])
    for order in "<>":
        found = real_array("X", values.astype(order + kind), 1)
        assert found.dtype == np.dtype(kind)
        assert found.dtype.isnative
        assert found.tolist() == values.tolist()


@pytest.mark.parametrize("kind", [bool, np.int8, np.uint64, np.longdouble])
def test_other_numbers_become_float64(kind: type) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = real_array("X", np.array([1, 0], dtype=kind), 1)
    assert (found.dtype, found.tolist()) == (np.float64, [1, 0])


def test_inputs_and_targets_have_equally_many_rows() -> None:
    require_same_cases(np.ones((3, 2)), np.ones(3))
    sentence = refusal(require_same_cases, np.ones((4, 2)), np.ones((40, 1)))
    assert sentence == (
        "`X` and `y` must have a row for each of the same cases; got 4 rows in X and 40 in y."
    )


def test_what_little_memory_tells_of_much_is_refused_before_it_is_made() -> None:
    own: list[Any] = []
    own.append(own)
    twice: Any = 1.0
    for _ in range(60):
        twice = [twice, twice]
    numbers = {
        10**12: (range(10**12), np.broadcast_to(1.0, (10**6, 10**6)), [range(10**12)]),
        2**63 + 1: (range(2**63 + 1),),
        2**60: (twice,),
    }
    for count, several in numbers.items():
        for values in several:
            assert refusal(lambda values=values: real_array("X", values, 2)) == (
                f"`X` would take {8 * count / 2**30:.3g} GiB of memory; at most 2 GiB are taken. "
                "Ask for less."
            )
    for deep in (own, [1, own], [[], own]):
        assert refusal(lambda deep=deep: real_array("X", deep, 2)).startswith("`X` must be a")
    assert real_array("X", np.broadcast_to(1.0, (3, 2)), 2).tolist() == [[1.0, 1.0]] * 3


def test_list_of_counts_ends() -> None:
    for values in (range(10**12), np.broadcast_to(1, 10**12), iter(int, 1)):
        sentence = refusal(lambda values=values: whole_numbers("sizes", values))
        assert sentence.startswith(
            "`sizes` must be a list of at most 1,000,000 whole numbers; got "
        ), sentence


def test_arrays_of_other_libraries_are_taken() -> None:
    """By their own words: PyTorch refuses what requires a gradient, and NumPy has no bfloat16."""
    values = np.array([[1.5, -2.0]])

    class Narrow:
        def detach(self) -> Narrow:
            return Detached()

        def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
            raise RuntimeError("Can't call numpy() on a tensor that requires grad.")

    class Detached(Narrow):
        def float(self) -> np.ndarray:
            return values.astype(np.float32)

        def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
            raise TypeError("Got unsupported ScalarType BFloat16")

    assert real_array("X", Narrow(), 2).tolist() == values.tolist()
    Detached.float = None  # type: ignore[assignment]
    assert refusal(lambda: real_array("X", Narrow(), 2)) == (
        "`X` must hold real numbers; got elements of type Narrow."
    )


def test_what_arrived_is_shown_in_one_line() -> None:
    assert shown(np.ones((2, 2))) == "array([[1., 1.], [1., 1.]])"

    class Loud:
        def __repr__(self) -> str:
            return "a\n\x1b[2Jb"

    assert shown(Loud()) == "a \\x1b[2Jb"


@pytest.mark.parametrize("found", [3, None, b"run"])
def test_what_gives_no_path_is_refused_as_no_path(found: object) -> None:
    class Place:
        def __fspath__(self) -> object:
            return found

        def __repr__(self) -> str:
            return "Place()"

    with pytest.raises(Refusal, match=r"^`path` must be the path of a file; got Place\(\)\.$"):
        file_path("path", Place())
