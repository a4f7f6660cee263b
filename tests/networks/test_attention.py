"""Attention with QK-norm: logits written out, their bound, and changes of its weights."""

from dataclasses import replace

import numpy as np
import pytest

from normgeo import GRID, NORMALIZERS, Normalizer
from normgeo.networks import attention_ignored as module
from normgeo.networks.attention import AttentionHead
from normgeo.networks.attention_ignored import CHANGES, Change, attention_ignored
from tests.pairwise import first

GROUPED = {"-".join(words): norm for words, norm in GRID.items()} | {"group": NORMALIZERS["group"]}
BOUNDED = {key: norm for key, norm in GROUPED.items() if norm.scaling.divides}


def head_of(norm, rng, d=6, F=5):
    start = AttentionHead.random(norm, d, F, rng)
    return replace(start, g_q=rng.uniform(0.5, 2, d), g_k=rng.uniform(0.5, 2, d))


@pytest.fixture
def X(rng):
    return rng.normal(0.3, 1, (7, 5))


def test_logits_and_weights_are_the_formulas_written_out(X, rng):
    head = head_of(NORMALIZERS["rms"], rng)
    for i, x in enumerate(X):
        row = []
        for y in X:
            q, k = head.W_q @ x, head.W_k @ y
            q, k = q / np.sqrt((q @ q) / 6), k / np.sqrt((k @ k) / 6)
            row.append(sum(head.g_q * q * head.g_k * k) / 6**0.5)
        np.testing.assert_allclose(head.logits(X)[i], row, rtol=1e-12)
        grown = np.exp(row)
        np.testing.assert_allclose(head.weights(X)[i], grown / grown.sum(), rtol=1e-12)


def test_without_a_norm_logits_grow_with_both_weights(X, rng):
    head = head_of(NORMALIZERS["standard"], rng)
    np.testing.assert_allclose(head.times(8).logits(X), 64 * head.logits(X))
    assert head.bound(X) is None


@pytest.mark.parametrize("normalizer", BOUNDED.values(), ids=BOUNDED)
def test_with_a_norm_no_weights_take_a_logit_beyond_the_bound(normalizer, X):
    largest = 0.0
    for seed in range(40):
        head = head_of(normalizer, np.random.default_rng(seed))
        found = np.abs(head.times(10**3).logits(X)).max() / head.bound(X)
        largest = max(largest, float(found))
    assert 0.02 < largest <= 1 + 1e-9


@pytest.mark.parametrize("method", ["rms", "layer", "group"])
def test_the_bound_of_a_norm_over_the_dimensions_is_attained(method, X, rng):
    """If keys equal queries, each token's own logit is g² √d."""
    head = AttentionHead.random(NORMALIZERS[method], 6, 5, rng)
    head = replace(head, W_k=head.W_q, g_q=np.full(6, 2.0), g_k=np.full(6, 1.5))
    assert head.bound(X) == pytest.approx(3 * 6**0.5, rel=1e-12)
    np.testing.assert_allclose(np.diag(head.logits(X)), head.bound(X), rtol=1e-12)


def test_the_bound_of_a_norm_over_the_tokens_is_attained_by_one_that_stands_out():
    X = np.zeros((5, 1))
    X[0] = 1
    ones = np.ones((3, 1))
    head = AttentionHead(NORMALIZERS["batch"], ones, ones, np.ones(3), np.ones(3))
    assert head.logits(X)[0, 0] == pytest.approx(head.bound(X)) == pytest.approx(3**0.5 * 4)


def test_an_eps_only_lowers_the_logits(X, rng):
    head = head_of(replace(NORMALIZERS["rms"], eps=0.5), rng)
    ideal = replace(head, normalizer=NORMALIZERS["rms"])
    ratio = head.logits(X) / ideal.logits(X)
    assert (ratio > 0).all()
    assert (ratio < 1).all()
    assert head.bound(X) == ideal.bound(X)


# By hand; without a norm, Ω W_q with Ω⁻ᵀ W_k is the whole freedom, and the other changes are
# special cases.
BY_HAND = {
    "standard": {"traded", "row_traded", "gain_traded"},
    "rms": {"q_times", "k_times", "traded", "gain_traded"},
    "layer": {"q_times", "k_times", "traded", "gain_traded", "rows_plus"},
    "group": {"q_times", "k_times", "traded", "gain_traded", "rows_plus"},
    "batch": {"q_times", "k_times", "traded", "gain_traded", "row_times", "row_traded"},
    "weight": {"q_times", "k_times", "traded", "gain_traded", "row_times", "row_traded"},
}


@pytest.mark.parametrize("method", BY_HAND)
def test_verdicts_are_those_derived_by_hand(method):
    found = attention_ignored(NORMALIZERS[method])
    assert {key for key, one in found.items() if one.symbol == "✓"} == BY_HAND[method]


@pytest.mark.parametrize("name", first([*[*GROUPED][::5], *GROUPED], 4))
def test_floats_agree_with_every_verdict_and_no_seed_changes_one(name):
    found, again = (attention_ignored(GROUPED[name], seed) for seed in (0, 1))
    for key, one in found.items():
        assert one.symbol == ("✓" if one.moved < 1e-9 else "✗") == again[key].symbol, key


def test_equal_gains_of_the_standard_head_let_any_mixing_pass():
    """With gains of 1, Ω W_q with Ω⁻ᵀ W_k is ignored without a norm, and not with one."""

    def mixed(at, d):
        plain = at._replace(g_q=at.g_q / at.g_q, g_k=at.g_k / at.g_k)
        return plain, CHANGES["mixed"].apply(plain, d)

    for method, same in (("standard", True), ("rms", False)):
        rng = np.random.default_rng(0)
        at, drawn, X = module._drawn(6, lambda *shape, rng=rng: rng.standard_normal(shape))
        first, second = (
            AttentionHead(NORMALIZERS[method], *weights).logits(X) for weights in mixed(at, drawn)
        )
        assert np.allclose(first, second) == same


def test_an_eps_leaves_a_scale_ignored_only_without_it():
    found = attention_ignored(Normalizer("none", "layer", eps=0.1))
    assert {key for key, one in found.items() if one.symbol == "≈"} == {
        "q_times",
        "k_times",
        "traded",
    }


def test_groups_of_a_head_are_those_that_were_asked_for():
    pairs = Normalizer("layer", "layer", groups=4)
    with pytest.raises(ValueError, match="must divide the number of neurons"):
        attention_ignored(pairs)
    found = attention_ignored(pairs, dimension=8)["q_times"]
    assert (found.symbol, found.draws) == ("✓", 2)
    assert 0 < found.error_bound < 1e-15
    with pytest.raises(ValueError, match="at least 2 of them per group"):
        attention_ignored(replace(pairs, groups=6))


def test_a_change_of_one_weight_is_told_from_none(monkeypatch):
    def planted(at, d):
        W = at.W_q * d.delta
        W[0, 0] = at.W_q[0, 0]
        return at._replace(W_q=W)

    monkeypatch.setitem(CHANGES, "planted", Change("planted", "planted", planted))
    module._ignored.cache_clear()
    assert attention_ignored(NORMALIZERS["rms"])["planted"].symbol == "✗"
    module._ignored.cache_clear()
