"""Changes that residual networks ignore: exact verdicts against floats and against derivations."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from normgeo import GRID, NORMALIZERS, Normalizer
from normgeo.base.refusal import Refusal
from normgeo.invariance.exact import fractions
from normgeo.networks import ignored as module
from normgeo.networks.blocks import PLACES, Block
from normgeo.networks.changes import BLOCK, CHANGES, Change, Drawn, reflection
from normgeo.networks.ignored import residual_ignored
from normgeo.networks.norm import Gain
from normgeo.networks.residual import Parts
from normgeo.networks.verdict import ContradictionError
from tests.pairwise import first

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


@pytest.mark.parametrize("name", first([*[*ALONE][::4], *ALONE], 3))
def test_floats_agree_with_every_verdict_and_no_seed_changes_one(name):
    normalizer = ALONE[name]
    for place in PLACES.values():
        for key, one in residual_ignored(normalizer, place).items():
            assert one.symbol == ("✓" if one.moved < 1e-9 else "✗"), key
    assert symbols(normalizer, seed=1) == symbols(normalizer)


def test_an_eps_leaves_a_scale_of_the_stream_ignored_only_without_it():
    found = symbols(replace(NORMALIZERS["layer"], eps=0.1))
    plain = symbols(NORMALIZERS["layer"])
    assert {key for key in CHANGES if found[key] != plain[key]} == {"all_writes_times", "sum_times"}
    assert (found["all_writes_times"], found["sum_times"]) == ("≈✗", "✗≈")


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "words",
    [
        ("layer", "layer"),
        *(
            pytest.param(words, marks=pytest.mark.exhaustive)
            for words in (("layer", "batch"), ("none", "layer"), ("batch", "layer"))
        ),
    ],
)
def test_more_groups_and_larger_ones_decide_nothing(words):
    """Three groups of two features like two; four features in two groups like three."""
    for place in PLACES:
        for groups, other in (((2, 4), (3, 6)), ((2, 6), (2, 8))):
            few, many = (
                residual_ignored(Normalizer(*words, groups=G), place, 0, (3, 1, D, 1, 1, 3))
                for G, D in (groups, other)
            )
            assert [one.certified for one in few.values()] == [
                one.certified for one in many.values()
            ]


def test_groups_are_those_that_were_asked_for():
    one = residual_ignored(Normalizer("layer", "batch", groups=3), "pre")["head_plus"]
    assert one.symbol == "✓"
    for groups, reason in ((6, "at least 2 of them per group; got 1 neuron"), (4, "must divide")):
        with pytest.raises(Refusal, match=reason):
            residual_ignored(replace(NORMALIZERS["group"], groups=groups), "pre")


# Each was once certified by a draw with units off, or with signs that the change did not reach.
ONCE_CERTIFIED = (
    (NORMALIZERS["layer"], "pre", 7, (4, 3, 6, 1, 3, 3), "reads_times"),
    (NORMALIZERS["layer"], "pre", 0, (2, 3, 6, 2, 3, 3), "reads_times"),
    (Normalizer("layer", "batch", groups=2), "post", 26, (3, 2, 6, 4, 2, 3), "reads_times"),
    (NORMALIZERS["batch"], "pre", 2, (2, 3, 6, 4, 3, 3), "columns_plus"),
    (NORMALIZERS["batch"], "post", 7, (2, 3, 6, 4, 3, 3), "columns_plus"),
    (NORMALIZERS["batch"], "post", 2, (2, 3, 6, 4, 3, 3), "head_plus"),
    (NORMALIZERS["group"], "pre", 0, (3, 3, 4, 3, 3, 3), "bias_plus"),
    (NORMALIZERS["group"], "post", 0, (3, 3, 4, 3, 3, 3), "shift_into_bias"),
)


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", range(len(ONCE_CERTIFIED)))
def test_what_moves_elsewhere_is_not_certified_by_a_draw_that_does_not_reach_it(case):
    norm, place, seed, size, key = ONCE_CERTIFIED[case]
    one = residual_ignored(norm, place, seed, size)[key]
    assert (one.symbol, one.region, one.error_bound) == ("✗", "", 0)


def test_a_certificate_says_where_it_holds_and_how_surely():
    found = residual_ignored(replace(NORMALIZERS["layer"], eps=0.1), "pre")
    for one in found.values():
        if one.symbol == "✗":
            assert (one.region, one.degree, one.draws, one.error_bound) == ("", 0, 0, 0)
        else:
            assert one.region == "every set of active units, wherever no σ is 0"
            assert one.draws == 2
            # One factor per draw, over 2⁶¹, and at least as many chances as comparisons.
            assert (one.degree / 2**61) ** 2 < one.error_bound < 1e-20


def test_a_certificate_that_floats_contradict_is_an_error_and_no_verdict(monkeypatch):
    monkeypatch.setattr(module, "moved", lambda before, after: 0.5)
    with pytest.raises(
        ContradictionError, match=r"moves outputs by 5\.0e-01 of the largest in each"
    ):
        residual_ignored(NORMALIZERS["rms"], "pre", 12345, (2, 1, 2, 1, 1, 3))


def test_the_links_say_how_the_stream_stands_on_its_way():
    found = residual_ignored(NORMALIZERS["layer"], PLACES["pre"])
    same, lifted = "the same", "plus one number for each case"
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
    """Add to one column of V its number in all features but the last."""
    changed = CHANGES["columns_plus"].apply(at, place, drawn)
    blocks = list(changed.blocks)
    V = blocks[BLOCK].V.copy()
    V[-1, 0] = at.blocks[BLOCK].V[-1, 0]
    blocks[BLOCK] = blocks[BLOCK]._replace(V=V)
    return changed._replace(blocks=tuple(blocks))


def _nothing(at, place, drawn):
    return at


def test_changes_of_one_block_are_what_their_titles_say(rng, subtests):
    """A verdict alone does not distinguish "any vector added to c" from another change of c."""
    F, D, M, H, draw = 2, 4, 5, 3, rng.standard_normal
    blocks = tuple(
        Block(Gain(draw(D), draw(D)), draw((M, D)), draw(M), draw((D, M)), draw(D))
        for _ in range(BLOCK + 2)
    )
    at = Parts(draw((D, F)), draw(D), blocks, Gain(draw(D), draw(D)), draw((H, D)), draw(H))
    d = Drawn(3.0, draw(D), draw(M), draw(D), draw(M), draw(), draw(H), reflection(draw(D)))
    block = blocks[BLOCK]
    for key, said in {
        "columns_plus": {"V": block.V + np.ones((D, 1)) * d.h, "c": block.c + d.t * np.ones(D)},
        "bias_plus": {"c": block.c + d.a},
        "reads_times": {"W": 3 * block.W},
        "writes_times": {"V": 3 * block.V, "c": 3 * block.c},
        "hidden_traded": {
            "W": np.diag(d.hidden) @ block.W,
            "b": block.b * d.hidden,
            "V": block.V @ np.diag(1 / d.hidden),
        },
    }.items():
        with subtests.test(key=key):
            changed = CHANGES[key].apply(at, PLACES["pre"], d)
            assert all(
                one is two for one, two in zip(at, changed, strict=True) if one is not blocks
            )
            others = [changed.blocks[i] is one for i, one in enumerate(blocks) if i != BLOCK]
            assert others == [True] * (len(blocks) - 1)
            expected = block._replace(**said)
            for name in ("W", "b", "V", "c"):
                now, wanted = getattr(changed.blocks[BLOCK], name), getattr(expected, name)
                np.testing.assert_allclose(now, wanted, rtol=1e-12)


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
    with pytest.raises(Refusal, match="stream, not weights"):
        residual_ignored(NORMALIZERS["weight"], PLACES["pre"])
