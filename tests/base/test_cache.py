"""A cache keeps to its bytes and its time, keeps refusals, and computes once for all threads."""

from __future__ import annotations

import pickle
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from fractions import Fraction
from threading import Barrier, Event
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from normgeo.base.cache import Cache, cached, size_of
from normgeo.base.refusal import Refusal

ROOM = 100_000


@dataclass
class Clock:
    """A time that a test sets."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass(frozen=True)
class Held:
    """A result that holds an array."""

    values: Any
    further: dict[str, Any] = field(default_factory=dict)


Pair = namedtuple("Pair", "one other")
NUMBERS = np.zeros(10_000)


def test_size_of_what_holds_ten_thousand_numbers(subtests):
    for value in [
        NUMBERS,
        NUMBERS[:1],  # a view keeps all of it
        [NUMBERS],
        (NUMBERS, NUMBERS),  # once
        {"a": {NUMBERS.tobytes()}},
        Held(NUMBERS),
        Held(None, {"a": Pair(1, [NUMBERS])}),
        Refusal("x" * 80_000),
    ]:
        with subtests.test(value=value):
            assert 80_000 <= size_of(value) <= 100_000


def test_a_figure_counts_with_its_numbers():
    empty, full = (size_of(go.Figure(go.Scatter(x=x))) for x in ([], NUMBERS))
    assert 80_000 <= full - empty <= 120_000


def test_fractions_count_with_their_digits():
    fractions = np.array([Fraction(3**2000 + n, 7) for n in range(10)], dtype=object)
    assert size_of(fractions) >= 10 * 3 * 2000 * np.log2(3) / 30


def test_the_least_recently_used_goes_first_and_the_bytes_are_never_exceeded():
    cache = Cache[str, np.ndarray](bytes=ROOM)
    for key in "abc":
        cache.keep(key, np.zeros(4_000))
    assert "a" in cache
    cache.get("a")
    cache.keep("d", np.zeros(4_000))
    assert [key for key in "abcd" if key in cache] == ["a", "c", "d"]
    assert cache.size <= ROOM
    cache.keep("large", np.zeros(20_000))
    assert "large" not in cache
    assert cache.size <= ROOM
    cache.clear()
    assert (len(cache), cache.size) == (0, 0)


def test_a_value_that_has_grown_is_measured_anew():
    cache = Cache[str, Held](bytes=ROOM)
    held = Held(None)
    cache.keep("a", held)
    before = cache.size
    held.further["figure"] = np.zeros(1_000)
    cache.measure(held)
    assert cache.size - before >= 8_000
    cache.measure(Held(None))  # of no key
    assert len(cache) == 1
    held.further["large"] = np.zeros(ROOM)
    cache.measure(held)
    assert (len(cache), cache.size) == (0, 0)
    cache.keep("a", Held(None))
    cache.forget("a")
    assert cache.size == 0


def test_a_value_is_forgotten_so_long_after_its_last_use():
    clock = Clock()
    cache = Cache[str, str](bytes=ROOM, seconds=10, clock=clock)
    cache.keep("a", "words")
    cache.keep("b", "words")
    clock.now = 9
    assert cache.get("a") == "words"
    clock.now = 18
    assert (cache.get("a"), cache.get("b")) == ("words", None)
    clock.now = 28
    assert (len(cache), cache.size) == (0, 0)


def test_a_refusal_is_kept_as_a_value_is():
    calls = []

    @cached(bytes=ROOM)
    def refuses(n: int) -> int:
        calls.append(n)
        raise Refusal(f"No {n}.")

    errors = []
    for _ in range(3):
        with pytest.raises(Refusal, match=r"^No 7\.$") as refused:
            refuses(7)
        errors.append(refused.value)
    assert calls == [7]
    assert len({id(error) for error in errors}) == 3  # no two raise the same, with its frames


def test_other_errors_are_not_kept():
    calls = []

    @cached(bytes=ROOM)
    def fails(n: int) -> int:
        calls.append(n)
        raise ArithmeticError("a defect")

    for _ in range(2):
        with pytest.raises(ArithmeticError, match="a defect"):
            fails(1)
    assert calls == [1, 1]


def test_threads_that_ask_for_one_value_wait_for_the_first():
    calls, started, go_on = [], Event(), Event()
    cache = Cache[str, str](bytes=ROOM)

    def compute() -> str:
        calls.append(1)
        started.set()
        assert go_on.wait(5)
        return "words"

    with ThreadPoolExecutor(4) as threads:
        asked = [threads.submit(cache.found, "a", compute) for _ in range(4)]
        assert started.wait(5)
        assert cache.found("b", lambda: "others do not wait") == "others do not wait"
        go_on.set()
        assert [one.result(5) for one in asked] == ["words"] * 4
    assert len(calls) == 1


def test_many_threads_leave_the_size_what_the_entries_hold():
    cache = Cache[int, np.ndarray](bytes=ROOM)
    together = Barrier(4)

    def use(seed: int) -> None:
        rng = np.random.default_rng(seed)
        together.wait(5)
        for key in rng.integers(40, size=300).tolist():
            cache.found(key, lambda key=key: np.zeros(100 * key))

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(use, range(4)))
    assert 0 < cache.size <= ROOM
    assert cache.size == sum(
        size_of((key, value)) for key in range(40) if (value := cache.get(key)) is not None
    )


def test_array_that_came_from_another_process_counts_as_large_as_it_is():
    received = pickle.loads(pickle.dumps({"w": np.zeros(1000)}, protocol=5))
    assert 8000 < size_of(received) < 9000
