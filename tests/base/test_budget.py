"""A computation that would take too much is refused before it starts, with both figures."""

from __future__ import annotations

import pytest

from normgeo.base.budget import Budget, Cost, memory
from normgeo.base.refusal import Refusal

HOUR = Budget(bytes=2e9, seconds=3600)


def test_one_byte_or_one_moment_too_much_is_refused():
    HOUR.require(Cost(2e9, 3600), "A picture")
    for cost in (Cost(2e9 + 1, 0), Cost(0, 3600.1), Cost(float("inf"), 0)):
        assert not HOUR.allows(cost)
        with pytest.raises(Refusal):
            HOUR.require(cost, "A picture")


def test_a_refusal_tells_both_figures_and_the_way_out():
    with pytest.raises(Refusal) as refused:
        HOUR.require(Cost(13e6, 7200), "A long run")
    assert str(refused.value) == (
        "A long run would take about 7,200 s of one processor and 13 MB of memory; a page allows "
        "3,600 s and 2 GB. Ask for fewer neurons, steps or epochs, or use Python or the command "
        "line, which have no such limit."
    )


def test_costs_add_up():
    assert Cost(1, 2) + Cost(10, 20) == Cost(11, 22)


def test_memory_is_told_in_the_unit_that_suits_it():
    assert [memory(size) for size in (0, 5e5, 999e6, 1e9)] == ["0 MB", "0.5 MB", "1,000 MB", "1 GB"]
