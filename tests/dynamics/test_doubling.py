"""The doubling table, by number, against dense Fisher blocks, the KL and differences."""

import re
from fractions import Fraction

import numpy as np
import pytest

from normgeo import FAMILIES, GRID, NORMALIZERS, NormalizedGLM, Normalizer
from normgeo.base.refusal import Refusal
from normgeo.datasets.datasets import load
from normgeo.dynamics import doubling
from normgeo.dynamics.doubling import BETWEEN, FACTORS, doubling_table
from normgeo.fisher.kl import kl
from normgeo.fisher.operator import fisher
from tests.dynamics.started import every_homogeneous, start

every_family = pytest.mark.pairwise("family", FAMILIES)
THEORY = {
    "output s": 1,
    "loss": 1,
    "F of b and g": 1,
    "F of the doubled w": 0.25,
    "F between a doubled and another w": 0.5,
    "F between w and b": 0.5,
    "F between w and g": 0.5,
    "gradient of the loss": 0.5,
    "ds of a fixed dw": 0.5,
    "ds² of a fixed dw": 0.25,
    "turn by a fixed dw": 0.5,
    "turn by one gradient step": 0.25,
    "curvature along w": 0,
}


@pytest.fixture
def X(rng):
    return rng.normal(0.5, 1, (14, 5))


def labels(model, X):
    y = model.family.sample(model.natural_parameter(X) + 0.3, np.random.default_rng(1))
    return np.asarray(y)


def table(model, X, block=0):
    rows = doubling_table(model, X, labels(model, X), block)
    return {row.quantity: row for row in rows}


def doubled(model, neurons):
    W = model.W.copy()
    W[neurons] *= 2
    return NormalizedGLM(model.normalizer, model.family, W, model.b, model.g)


@every_family
@every_homogeneous
def test_every_factor_is_that_of_theory(normalizer, family, X):
    rows = table(start(normalizer, family), X)
    assert list(rows) == list(THEORY) == list(FACTORS)
    for name, row in rows.items():
        assert row.predicted == Fraction(THEORY[name])
        if row.reason:
            assert row.measured is None
        else:
            assert row.measured == pytest.approx(THEORY[name], rel=1e-7, abs=1e-25)
            assert row.spread < 1e-7
            assert not THEORY[name] or row.after == pytest.approx(row.before * THEORY[name], 1e-7)


def absent(normalizer, family, X):
    rows = table(start(normalizer, family), X)
    return {name: row.reason for name, row in rows.items() if row.reason}


@every_family
@every_homogeneous
def test_only_rows_that_are_zero_by_structure_are_absent(normalizer, family, X):
    expected = {}
    if "layer" in normalizer.words and normalizer.groups == 1:
        expected[BETWEEN] = "All weights are in the block that doubles."
    elif family != "categorical":
        expected[BETWEEN] = "It is 0 before and after: the outputs are independent, Cov_ij = 0."
    if family == "gaussian" and normalizer.scale == "batch":
        # Cov is constant, and z is orthogonal to its own change.
        expected["F between w and g"] = "It is 0 before and after."
    if family == "gaussian" and normalizer.center == "batch" and normalizer.scale != "layer":
        expected["F between w and b"] = "It is 0 before and after."
    assert absent(normalizer, family, X) == expected


@pytest.mark.parametrize("block", [0, 9])
def test_batch_norm_on_digits(block):
    digits = load("digits")
    model = NormalizedGLM.random(
        NORMALIZERS["batch"], "categorical", 10, digits.D, np.random.default_rng(0)
    )
    rows = doubling_table(model, digits.X, digits.y, block)
    for row in rows:
        assert row.reason == ""
        assert row.measured == pytest.approx(THEORY[row.quantity], rel=1e-7, abs=1e-25)


# Independent derivations of the same factors.


@pytest.mark.parametrize("key", ["batch", "layer", "weight", "group"])
def test_factors_of_dense_fisher_blocks(key, X):
    model = start(NORMALIZERS[key], "categorical")
    neurons = model.normalizer.homogeneous_blocks(len(model.W))[0]
    F, F2 = (fisher(m, X, form="dense").to_dense() for m in (model, doubled(model, neurons)))
    layout = model.layout
    own = layout.weights.reshape(len(model.W), -1)[neurons].ravel()
    affine = np.concatenate([layout.biases, layout.gains])
    others = np.setdiff1d(layout.weights, own)
    rows = table(model, X)
    for name, places in {
        "F of the doubled w": (own, own),
        BETWEEN: (own, others),
        "F between w and b": (own, layout.biases),
        "F between w and g": (own, layout.gains),
        "F of b and g": (affine, affine),
    }.items():
        q, changed = F[np.ix_(*places)], F2[np.ix_(*places)]
        np.testing.assert_allclose(changed, THEORY[name] * q, rtol=1e-9, atol=1e-14)
        assert (rows[name].measured is None) == (q.size == 0)


@every_family
def test_divergence_of_a_fixed_change_falls_to_a_quarter(family, X):
    model = start(NORMALIZERS["layer"], family)
    step = 1e-4 * np.random.default_rng(2).normal(size=model.layout.size)
    step[np.concatenate([model.layout.biases, model.layout.gains])] = 0
    after = doubled(model, slice(None))
    before, changed = (kl(m, m.unpack(m.pack() + step), X) for m in (model, after))
    assert changed / before == pytest.approx(0.25, rel=1e-3)
    # …and with the doubled change it is the same: the two changed models are equal.
    twice = after.unpack(after.pack() + 2 * step)
    assert kl(after, twice, X) == pytest.approx(before, rel=1e-9)


def test_doubling_one_neuron_under_layer_norm_has_no_such_table(X):
    """Negative control: one row of W is not a homogeneous block there, and the function changes."""
    model = start(NORMALIZERS["layer"], "categorical")
    after = doubled(model, 1)
    ratio = after.natural_parameter(X) / model.natural_parameter(X)
    assert np.ptp(ratio) > 0.1


def test_epsilon_spoils_the_factors(X):
    """Negative control: with ε near σ² no factor is ½ or ¼."""
    rows = table(start(Normalizer("batch", "batch", eps=1.0), "categorical"), X)
    for name in ("F of the doubled w", "gradient of the loss", "ds of a fixed dw", "output s"):
        assert abs(rows[name].measured - THEORY[name]) > 0.01
    assert rows["output s"].spread > 1e-3
    assert rows["curvature along w"].measured > 1e-4


def test_two_neurons_under_layer_norm_have_no_curvature_at_all(X):
    """z = ±1 there: F of the weights and the gradient are 0, and have no factor."""
    model = NormalizedGLM(
        NORMALIZERS["layer"], "bernoulli", np.random.default_rng(0).normal(size=(2, 5))
    )
    rows = doubling_table(model, X, np.zeros((14, 2)))
    zero = {row.quantity for row in rows if row.reason == "It is 0 before and after."}
    assert zero == {
        "F of the doubled w",
        "F between w and b",
        "F between w and g",
        "gradient of the loss",
        "ds of a fixed dw",
        "ds² of a fixed dw",
        "turn by one gradient step",
        "curvature along w",
    }


@pytest.mark.parametrize(("gain", "norm"), [(1e-6, 1), (1e6, 1), (1, 1e-6), (1, 1e6)])
def test_gain_or_norm_of_one_neuron_makes_nothing_zero_and_no_zero_a_number(X, gain, norm):
    """Values far below the others are small because of their gain, not because of rounding."""
    model = start(NORMALIZERS["batch"], "gaussian")
    of_first = np.array([1.0, 0, 0, 0])
    W, g = model.W * norm ** of_first[:, None], model.g * gain**of_first
    rows = table(NormalizedGLM(model.normalizer, "gaussian", W, model.b, g), X)
    assert {name for name, row in rows.items() if row.reason} == {
        BETWEEN,
        "F between w and b",
        "F between w and g",
    }
    for name, row in rows.items():
        assert row.reason or row.measured == pytest.approx(THEORY[name], rel=1e-6, abs=1e-20)


def test_a_method_without_a_scale_has_no_block_to_double(X):
    sentence = (
        "Only a homogeneous block of weights may change its norm and leave z alone; standard has "
        "none. Use a normalizer with a scale that is not frozen."
    )
    model = NormalizedGLM(GRID["none", "none"], "gaussian", np.eye(5)[:2])
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        doubling_table(model, X, np.zeros((14, 2)))


def test_a_gradient_that_no_rate_makes_a_step_of_is_refused():
    W, X = 1e300 * np.eye(2), 1e-8 * np.ones((3, 2))
    model = NormalizedGLM(NORMALIZERS["weight"], "gaussian", W)
    with pytest.raises(Refusal, match=r"^The block must turn by a gradient step; no rate is large"):
        doubling_table(model, X * [1, 2], np.ones((3, 2)))


def test_a_block_of_a_single_direction_cannot_turn(subtests):
    """The mean that a center removes costs a block one of its neurons, or of its features."""
    for key, H, D, single in [
        ("weight", 3, 1, True),
        ("weight", 3, 2, False),
        ("centered_weight", 3, 2, True),
        ("centered_weight", 3, 3, False),
        ("layer", 2, 1, True),
        ("layer", 3, 1, False),
        ("layer", 2, 2, False),
        ("rms", 2, 1, False),
    ]:
        rng = np.random.default_rng(0)
        with subtests.test(key=key, H=H, D=D):
            model = NormalizedGLM(NORMALIZERS[key], "bernoulli", rng.normal(0.3, 1, (H, D)))
            row = table(model, rng.normal(0.5, 1, (9, D)))["curvature along w"]
            assert row.reason.startswith("The block has only one direction, its own,") == single


@pytest.mark.parametrize("eps", [0.0, 1.0])
def test_the_metric_of_the_gains_is_measured_too(X, eps):
    """ε changes it, but not that of the biases, which is 1 for a Gaussian."""
    model = start(Normalizer("batch", "batch", eps=eps), "gaussian")
    row = table(model, X)["F of b and g"]
    if not eps:
        assert row.measured == pytest.approx(1, rel=1e-9)
        return
    before, after = (
        np.diagonal(fisher(each, X).to_dense())[each.layout.gains[0]]
        for each in (model, doubled(model, [0]))
    )
    assert after > 1.1 * before
    assert 1.01 < row.measured < after / before


def test_a_change_costs_half_of_its_curvature(X):
    """With two weights all curvature is across them, F = κ t tᵀ: Σ ds² = ½ Σ uᵀFu = ½ ‖uᵀFu′‖."""
    model = NormalizedGLM(NORMALIZERS["weight"], "bernoulli", [[0.6, -1.1]], [0.2], [1.3])
    rows = table(model, X[:, :2])
    for moment in ("before", "after"):
        ds, F = (getattr(rows[q], moment) for q in ("ds of a fixed dw", "F of the doubled w"))
        assert ds**2 == pytest.approx(F / 2, rel=1e-9)


def test_ds_squared_is_the_square_of_ds(X, monkeypatch):
    """With a single direction: the table gives the length over all directions that it measured."""
    monkeypatch.setattr(doubling, "DIRECTIONS", 1)
    rows = table(start(NORMALIZERS["batch"], "bernoulli"), X)
    ds, squared = rows["ds of a fixed dw"], rows["ds² of a fixed dw"]
    assert ds.before**2 == pytest.approx(squared.before, rel=1e-12)
