"""What residual networks ignore: exact verdicts against floats, and against the algebra by hand."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from normgeo import GRID, NORMALIZERS
from normgeo.base.refusal import Refusal
from normgeo.depth import ignored as module
from normgeo.depth.blocks import PLACES
from normgeo.depth.changes import BLOCK, CHANGES, Change, reflection
from normgeo.depth.ignored import residual_ignored
from normgeo.invariance.exact import fractions

ALONE = {"-".join(words): norm for words, norm in GRID.items() if not norm.normalizes_weights} | {
    "group": NORMALIZERS["group"]
}

# By hand, for (pre-norm, post-norm): docs/mathematics.md derives each.
BY_HAND = {
    "standard": {
        "gain_traded": "✓✗",
        "shift_into_bias": "✓✗",
        "turned": "✓✗",
        "hidden_traded": "✓✓",
        "last_traded": "✓✓",
    },
    "batch": {
        "gain_traded": "✓✗",
        "shift_into_bias": "✓✓",
        "all_writes_times": "✓✗",
        "sum_times": "✗✓",
        "bias_plus": "✓✓",
        "hidden_traded": "✓✓",
        "last_traded": "✓✓",
    },
    "layer": {
        "gain_traded": "✓✗",
        "shift_into_bias": "✓✗",
        "all_writes_times": "✓✗",
        "sum_times": "✗✓",
        "columns_plus": "✓✓",
        "hidden_traded": "✓✓",
        "last_traded": "✓✓",
        "head_plus": "✓✓",
    },
    "rms": {
        "gain_traded": "✓✗",
        "shift_into_bias": "✓✗",
        "all_writes_times": "✓✗",
        "sum_times": "✗✓",
        "turned": "✓✗",
        "hidden_traded": "✓✓",
        "last_traded": "✓✓",
    },
}
BY_HAND["group"] = BY_HAND["layer"]


def symbols(normalizer, seed=0):
    found = [residual_ignored(normalizer, place, seed) for place in PLACES.values()]
    return {key: "".join(one[key].symbol for one in found) for key in CHANGES}


@pytest.mark.parametrize("method", BY_HAND)
def test_verdicts_are_those_derived_by_hand(method):
    expected = {key: BY_HAND[method].get(key, "✗✗") for key in CHANGES}
    assert symbols(NORMALIZERS[method]) == expected


@pytest.mark.parametrize("normalizer", ALONE.values(), ids=ALONE)
def test_floats_agree_with_every_verdict_and_no_seed_changes_one(normalizer):
    for place in PLACES.values():
        for key, one in residual_ignored(normalizer, place).items():
            assert one.symbol == ("✓" if one.moved < 1e-9 else "✗"), key
    assert symbols(normalizer, seed=1) == symbols(normalizer)


def test_an_eps_leaves_a_scale_of_the_stream_ignored_only_without_it():
    found = symbols(replace(NORMALIZERS["layer"], eps=0.1))
    plain = symbols(NORMALIZERS["layer"])
    assert {key for key in CHANGES if found[key] != plain[key]} == {"all_writes_times", "sum_times"}
    assert (found["all_writes_times"], found["sum_times"]) == ("≈✗", "✗≈")


def test_more_groups_decide_nothing():
    eight = replace(NORMALIZERS["group"], groups=8)
    assert symbols(eight) == symbols(NORMALIZERS["group"])


def test_the_links_say_how_the_stream_stands_on_its_way():
    found = residual_ignored(NORMALIZERS["layer"], PLACES["pre"])
    same, lifted = "the same", "plus a number of each case in all features"
    assert [link.relation for link in found["columns_plus"].links] == [
        *(same, same, lifted, lifted, same)
    ]
    lost = found["writes_times"].links
    assert [str(link.title) for link in lost] == ["embedding", "block 1", f"block {BLOCK + 1}"]
    assert lost[-1].relation == ""


def test_verdicts_go_to_another_process_and_back():
    found = residual_ignored(NORMALIZERS["layer"], PLACES["pre"])
    again = pickle.loads(pickle.dumps(found))
    assert [one.links for one in again.values()] == [one.links for one in found.values()]


def _columns_plus_half(at, place, drawn):
    """One column of V gets its number in all features but the last."""
    changed = CHANGES["columns_plus"].apply(at, place, drawn)
    blocks = list(changed.blocks)
    V = blocks[BLOCK].V.copy()
    V[-1, 0] = at.blocks[BLOCK].V[-1, 0]
    blocks[BLOCK] = blocks[BLOCK]._replace(V=V)
    return changed._replace(blocks=tuple(blocks))


def _nothing(at, place, drawn):
    return at


@pytest.mark.parametrize(("apply", "symbol"), [(_columns_plus_half, "✗"), (_nothing, "✓")])
def test_a_change_that_is_nearly_ignored_is_told_from_none(monkeypatch, apply, symbol):
    monkeypatch.setitem(CHANGES, "planted", Change("planted", "planted", apply))
    module._ignored.cache_clear()
    for place in PLACES.values():
        assert residual_ignored(NORMALIZERS["layer"], place)["planted"].symbol == symbol
    module._ignored.cache_clear()


def test_a_verdict_that_nothing_decides_is_a_question_mark():
    one = residual_ignored(NORMALIZERS["layer"], PLACES["pre"])["writes_times"]
    assert replace(one, moved=0.0).symbol == "?"


def test_a_reflection_keeps_lengths_exactly():
    Q = reflection(fractions([3, -1, 2]))
    np.testing.assert_array_equal(Q @ Q.T, np.eye(3, dtype=int))


def test_a_norm_of_weights_is_refused():
    with pytest.raises(Refusal, match="stream, not of weights"):
        residual_ignored(NORMALIZERS["weight"], PLACES["pre"])
