"""The angle of one gradient step by the norm of a block: factors, slopes, and limits."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from normgeo import GRID, NORMALIZERS, NormalizedGLM, Normalizer
from normgeo.datasets.datasets import load
from normgeo.dynamics.angular_update import angular_updates
from normgeo.dynamics.descent import descend
from normgeo.dynamics.optimizers import OPTIMIZERS
from normgeo.fisher.kl import kl
from tests.dynamics.started import every_homogeneous, start
from tests.refused import says

FACTORS = np.array([1e-6, 0.5, 1.0, 2.0, 4.0, 1e9])


def curve_of(normalizer, cases, factors=FACTORS, rate=0.7):
    model = start(normalizer)
    own = angular_updates(model, *cases, [1.0], rate).here.norm
    return angular_updates(model, *cases, own * factors, rate)


@every_homogeneous
def test_tangent_of_the_turn_falls_with_the_squared_norm(normalizer, cases):
    curve = curve_of(normalizer, cases)
    squared = np.tan(curve.angles) * FACTORS**2 / np.tan(curve.here.angle)
    np.testing.assert_allclose(squared[1:], 1, rtol=1e-12)
    # At 1e-6 of the norm the angle is nearly a right one, so compare the remainder.
    left = 1e-12 / np.tan(curve.here.angle)
    assert curve.angles[0] == pytest.approx(np.pi / 2 - left, rel=1e-15)
    np.testing.assert_allclose(curve.angles, curve.predicted_angles, rtol=1e-12)


@every_homogeneous
def test_loss_stays_and_gradient_and_fisher_length_fall_with_the_norm(normalizer, cases):
    curve = curve_of(normalizer, cases)
    np.testing.assert_allclose(curve.loss, curve.here.loss, rtol=1e-13)
    np.testing.assert_allclose(curve.loss, curve.predicted_loss, rtol=1e-13)
    for name in ("gradient_norms", "fisher_lengths"):
        measured, predicted = getattr(curve, name), getattr(curve, f"predicted_{name}")
        np.testing.assert_allclose(measured, predicted, rtol=1e-11)
        np.testing.assert_allclose(measured * FACTORS, measured[2], rtol=1e-11)


def test_the_halving_reading_has_slope_minus_one_and_the_law_minus_two(cases):
    curve = curve_of(NORMALIZERS["batch"], cases, np.array([10.0, 20.0]), rate=1e-3)
    for angles, slope in (
        (curve.angles, -2),
        (curve.predicted_angles, -2),
        (curve.halved_angles, -1),
    ):
        assert np.log2(angles[1] / angles[0]) == pytest.approx(slope, abs=1e-6)


@pytest.mark.parametrize("key", ["batch", "weight", "layer"])
def test_turn_on_digits_is_that_of_the_first_step_of_a_descent(key):
    digits = load("digits")
    model = NormalizedGLM.random(
        NORMALIZERS[key], "categorical", 10, digits.D, np.random.default_rng(0)
    )
    run = descend(model, digits.X, digits.y, steps=1, rate=0.5)
    block = len(run.norms[0]) - 1
    here = angular_updates(model, digits.X, digits.y, [1.0], 0.5, block=block).here
    assert here.norm == run.norms[0, block]
    assert here.loss == run.loss[0]
    assert here.gradient_norm == pytest.approx(run.gradient_norms[0, block], rel=1e-13)
    assert here.angle == pytest.approx(run.angles[0, block], rel=1e-11)


def test_turn_of_a_neuron_without_a_scale_is_that_of_a_step_of_descent(cases):
    """Its gradient is not orthogonal to it, so up and down turn by different angles."""
    W = start(NORMALIZERS["layer"]).W
    model = NormalizedGLM(NORMALIZERS["standard"], "categorical", W)
    w, moved = model.W[1], descend(model, *cases, steps=1, rate=0.5).model_at(1).W[1]
    here = angular_updates(model, *cases, [1.0], 0.5, block=1, homogeneous=False).here
    assert abs(here.radial) > 0.1
    cosine = w @ moved / np.linalg.norm(w) / np.linalg.norm(moved)
    assert here.angle == pytest.approx(np.arccos(cosine), rel=1e-9)


@pytest.mark.parametrize("key", ["batch", "weight", "layer"])
def test_squared_fisher_length_is_the_divergence_of_a_small_step(key, cases):
    model = start(NORMALIZERS[key])
    here = angular_updates(model, *cases, [1.0], 0.1).here
    layout = model.layout
    dW = layout.split(model.gradient(*cases))[0].copy()
    dW[len(dW) if key == "layer" else 1 :] = 0
    small = 1e-4 * layout.pack(dW / np.linalg.norm(dW), np.zeros(4), np.zeros(4))
    moved = model.unpack(model.pack() + small)
    assert here.fisher_length**2 == pytest.approx(kl(model, moved, cases[0]) / 1e-8, rel=1e-3)


def test_epsilon_ends_the_law_where_it_outweighs_the_variance(cases):
    method, factors = Normalizer("layer", "layer", eps=1e-5), np.array([1e-4, 1e3])
    curve = curve_of(method, cases, factors, rate=1e-9)  # angles far from a right one
    off = np.abs(curve.angles / curve.predicted_angles - 1)
    assert off[0] > 0.9
    assert off[1] < 1e-3
    assert curve.loss[0] != pytest.approx(curve.here.loss, rel=1e-3)


def test_predictions_far_from_the_own_norm_are_numbers_or_refused(cases):
    """k² overflows and underflows long before the angle does; ε keeps measured values in range."""
    model = start(Normalizer("layer", "layer", eps=1e-5))
    far = np.array([1e-300, 1e-161, 1e160, 1e300])
    curve = angular_updates(model, *cases, far, 0.1)
    own, turned = curve.here.norm, np.tan(curve.here.angle)
    for angle, norm in zip(curve.predicted_angles, far, strict=True):
        k = Fraction(norm) / Fraction(own)
        assert angle == pytest.approx(
            float(np.arctan(float(min(Fraction(turned) / k**2, 10**300))))
        )
    np.testing.assert_allclose(
        curve.predicted_gradient_norms, curve.here.gradient_norm / (far / own)
    )
    long = replace(model, W=model.W * 1e160)
    for norm in (1e-161, 1e-300):
        own = angular_updates(long, *cases, [1e160], 0.1).here.norm
        with says(
            f"At ‖w‖ = {norm:g} the step or its length, measured or predicted, exceeds the "
            f"largest float. Measure nearer to the model's own norm, {own:g}, or with a smaller "
            "`rate`."
        ):
            angular_updates(long, *cases, [norm], 0.1)


def test_scale_none_has_no_block_to_scale(cases):
    with says(
        "Only a homogeneous block of weights may change its norm and leave z alone; "
        "(layer, none) has none. Use a normalizer with a scale that is not frozen."
    ):
        angular_updates(start(GRID["layer", "none"]), *cases, [1.0], 0.1)


def test_bad_arguments_are_named(cases, subtests):
    for norms, rate, block, sentence in [
        ([1.0, 0.0], 0.1, 0, "`norms` must be above 0; got 0."),
        ([-2.0], 0.1, 0, "`norms` must be above 0; got -2."),
        ([1.0], 0.0, 0, "`rate` must be a finite number above 0; got 0.0."),
        (
            [1.0],
            0.1,
            4,
            "`block` must be a whole number from 0 to 3, one of the 4 homogeneous blocks of "
            "batch norm; got 4.",
        ),
        (
            [1.0],
            0.1,
            -1,
            "`block` must be a whole number from 0 to 3, one of the 4 homogeneous blocks of "
            "batch norm; got -1.",
        ),
    ]:
        with subtests.test(sentence), says(sentence):
            angular_updates(start(NORMALIZERS["batch"]), *cases, norms, rate, block=block)


def test_what_is_neither_true_nor_false_is_refused():
    model, X = NormalizedGLM("layer", "gaussian", np.eye(4)), np.arange(24.0).reshape(6, 4) ** 2
    with pytest.raises(ValueError, match=r"^`homogeneous` must be True or False; got array\("):
        angular_updates(model, X, X, [1.0], 0.5, homogeneous=np.ones(2))


@pytest.mark.parametrize("optimizer", [*OPTIMIZERS])
def test_first_step_of_each_optimizer_turns_by_its_power(optimizer, cases):
    """Small steps; the step itself is that of the optimizer's own update, written out."""
    model = start(NORMALIZERS["batch"])
    own = angular_updates(model, *cases, [1.0], 0.1).here.norm
    curve = angular_updates(model, *cases, own * np.array([1, 2, 4]), 1e-5, optimizer=optimizer)
    power = {"gradient_descent": 2, "momentum": 2}.get(optimizer, 1)
    assert curve.optimizer.power == power
    np.testing.assert_allclose(curve.angles / curve.angles[0], [1, 2.0**-power, 4.0**-power], 1e-3)
    np.testing.assert_allclose(curve.predicted_angles, curve.angles, rtol=1e-3)
    if power == 1:  # ±η for each weight
        np.testing.assert_allclose(curve.step_norms, 1e-5 * model.W.shape[1] ** 0.5, rtol=1e-3)
    else:
        np.testing.assert_allclose(curve.step_norms, 1e-5 * curve.gradient_norms, rtol=1e-12)


def test_step_loses_what_the_center_removes(cases):
    """Signs of the gradient of layer norm have a mean over the neurons, its weights have none."""
    model = start(NORMALIZERS["layer"])
    here = angular_updates(model, *cases, [1.0], 1e-3, optimizer="lion").here
    gradient = model.gradient(*cases)
    dW, *_ = model.layout.split(gradient)
    signs = np.sign(dW)
    centered = signs - signs.mean(axis=0)
    assert here.step_norm == pytest.approx(1e-3 * np.linalg.norm(centered), rel=1e-9)
    assert here.step_norm < 1e-3 * model.W.size**0.5
