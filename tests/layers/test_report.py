"""What is told of a layer, against closed forms, finite differences and measured steps."""

from math import atan, radians
from typing import Any

import numpy as np
import pytest

from normgeo import (
    FAMILIES,
    NORMALIZERS,
    OPTIMIZERS,
    PLACES,
    NormalizedGLM,
    Normalizer,
    TrainedLayer,
    angular_updates,
    layer_report,
)
from normgeo.layers.expected_angle import expected_angles
from normgeo.layers.gradient_lengths import gradient_lengths
from normgeo.normalizers.blocks import Blocks, angles_turned

RNG = np.random.default_rng(3)
N, H, D = 40, 6, 5
W, X = RNG.standard_normal((H, D)), RNG.standard_normal((N, D)) + 0.5
g, shift = RNG.uniform(0.5, 2, H), RNG.standard_normal(H)
GROUPED = [key for key, norm in NORMALIZERS.items() if norm.scaling.divides]


def layer(key: str = "batch", place: str = "after", **given: Any) -> TrainedLayer:
    eps = given.pop("eps", 0.0)
    words = NORMALIZERS[key]
    normalizer = Normalizer(*words.words, groups=words.groups, eps=eps, name=words.name)
    return TrainedLayer("w", W, normalizer, PLACES[place], **given)


@pytest.mark.parametrize("key", GROUPED)
def test_norms_and_effective_rates_are_those_of_the_centered_blocks(key: str) -> None:
    report = layer_report(layer(key, gain=g), rate=0.1)
    norm, groups = NORMALIZERS[key], NORMALIZERS[key].groups
    centered = W.copy()
    for part in np.split(np.arange(H), groups):
        if norm.center == "layer":
            centered[part] -= W[part].mean(axis=0)
    if norm.center == "weight":
        centered -= W.mean(axis=1, keepdims=True)
    rows = np.linalg.norm(centered, axis=1)
    shared = "layer" in norm.words
    blocks = np.split(np.arange(H), groups if shared else H)
    norms = [np.linalg.norm(centered[block]) for block in blocks]
    np.testing.assert_allclose(report.row_norms, rows)
    np.testing.assert_allclose(report.norms, norms)
    assert report.effective_rates is not None
    np.testing.assert_allclose(report.effective_rates, 0.1 / np.square(norms))
    np.testing.assert_allclose(report.gain_shares, g / g.sum())
    assert [report.block_of[h] for h in range(H)] == [
        i for i, block in enumerate(blocks) for _ in block
    ]


@pytest.mark.parametrize("place", ["before", "residual"])
def test_without_a_free_scale_a_norm_is_no_learning_rate(place: str) -> None:
    gain = np.arange(1.0, 6.0) if place == "before" else g
    report = layer_report(layer("rms", place, gain=gain), rate=0.1)
    assert report.effective_rates is None
    assert report.frozen is None
    np.testing.assert_allclose(report.norms, np.linalg.norm(W, axis=1))
    if place == "before":
        np.testing.assert_allclose(report.gains, np.linalg.norm(W * gain, axis=1))


@pytest.mark.parametrize("key", GROUPED)
@pytest.mark.parametrize("family", FAMILIES)
def test_gradient_of_the_models_own_labels_is_as_long_as_the_fisher_says(
    key: str, family: str
) -> None:
    """E‖G‖² over labels that the model draws, by Monte Carlo."""
    given = layer(key, gain=g / 4, shift=shift / 4, X=X)
    found = gradient_lengths(given, family, None)
    assert found is not None
    model = NormalizedGLM(given.normalizer, family, W, shift / 4, g / 4)
    blocks, rng, squares = Blocks.of(given.normalizer, H), np.random.default_rng(0), []
    at = model.linearize(X)
    for _ in range(3000):
        labels = model.family.sample(at.s, rng, model.phi)
        slope = (model.family.mean(at.s) - labels) / N
        dW, _, _ = model.layout.split(at.vjp(slope))
        squares.append(np.sum(blocks.vectors(dW) ** 2, axis=-1))
    np.testing.assert_allclose(found.norms**2, np.mean(squares, axis=0), rtol=0.15)
    quarter = gradient_lengths(given, family, 10)
    assert quarter is not None
    np.testing.assert_allclose(quarter.norms, 2 * found.norms)


@pytest.mark.parametrize("key", ["batch", "layer", "weight"])
@pytest.mark.parametrize("place", ["after", "before"])
def test_gradient_of_labels_is_that_of_finite_differences(key: str, place: str) -> None:
    if place == "before" and key == "weight":
        key = "rms"
    y = RNG.integers(0, H, N)
    gain = g if place == "after" else np.linspace(0.5, 2, D)
    given = layer(key, place, X=X, labels=y, gain=gain, eps=0.0 if place == "after" else 1e-3)
    found = gradient_lengths(given, "categorical", None)
    assert found is not None

    def loss(weights: Any) -> float:
        model, inputs = TrainedLayer(
            "w", weights, given.normalizer, given.place, gain=gain, X=X
        ).model("categorical")
        s = model.natural_parameter(inputs)
        return float(np.mean(np.log(np.exp(s).sum(axis=1)) - s[np.arange(N), y]))

    gradient, step = np.zeros((H, D)), 1e-6
    for place_of in np.ndindex(H, D):
        change = np.zeros((H, D))
        change[place_of] = step
        gradient[place_of] = (loss(W + change) - loss(W - change)) / (2 * step)
    expected = np.linalg.norm(given.blocks.vectors(gradient), axis=1)
    np.testing.assert_allclose(found.norms, expected, rtol=1e-5, atol=1e-8)
    of_batches = gradient_lengths(given, "categorical", 8)
    assert of_batches is not None
    assert (of_batches.norms > found.norms).all()
    assert of_batches.source == "the labels, over 64 batches of 8"


def test_expected_angle_of_descent_is_that_of_a_measured_step() -> None:
    y, rate = RNG.integers(0, H, N), 0.02
    given = layer("batch", X=X, labels=y)
    report = layer_report(given, rate=rate, family="categorical", eigenvalues=0)
    assert report.angles is not None
    model = NormalizedGLM(NORMALIZERS["batch"], "categorical", W)
    for h in range(H):
        measured = angular_updates(model, X, y, [1.0], rate, block=h).here.angle
        assert report.angles[h] == pytest.approx(measured, rel=1e-5)


LAWS = [n for n, rule in OPTIMIZERS.items() if rule.equilibrium(0.1, 0.1, np.ones(1), 9)]


@pytest.mark.parametrize("name", LAWS)
def test_expected_angle_is_that_of_a_random_walk(name: str) -> None:
    """Steps of gradients that are unrelated, with the weights held where they are."""
    rule, size, norm, length, rate = OPTIMIZERS[name], 4000, 3.0, 0.2, 0.003
    found = expected_angles(rule, rate, np.array([norm]), np.array([length]), size)
    assert found is not None
    rng, w = np.random.default_rng(0), np.zeros(size)
    w[0] = norm
    update, squares = rule.start(np.zeros(size)), []
    for step in range(1500):
        G = rng.standard_normal(size)
        G[0] = 0
        change = update(w, length * G / np.linalg.norm(G), np.full(size, rate)) - w
        if step > 1000:
            squares.append(angles_turned(w, change) ** 2)
    assert found[0] == pytest.approx(np.sqrt(np.mean(squares)), rel=0.005)


def test_expected_angle_of_descent_has_a_closed_form() -> None:
    norms, lengths = np.array([1.0, 2.0, 50.0, 1.0, 0.0]), np.array([0.1, 0.1, 0.1, 0.0, 1.0])
    found = expected_angles(OPTIMIZERS["gradient_descent"], 0.3, norms, lengths, 7)
    expected = [atan(0.03), atan(0.015), atan(0.0006), 0, 0]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_frozen_blocks_are_those_below_the_stated_angle() -> None:
    gradient = np.outer([1, 1, 1, 1, 1, 1e-4], np.ones(D))
    report = layer_report(layer(gradient=gradient), rate=0.01, frozen_below=0.1)
    assert report.angles is not None
    assert report.frozen is not None
    assert report.frozen.tolist() == [False] * 5 + [True]
    assert (report.angles < radians(0.1)).tolist() == report.frozen.tolist()


@pytest.mark.parametrize("key", ["batch", "layer", "rms"])
@pytest.mark.parametrize("place", PLACES)
def test_epsilon_shortens_z_by_what_it_adds(key: str, place: str) -> None:
    eps, stream = 0.5, RNG.standard_normal((N, H))
    b, summed = RNG.standard_normal(H), place == "residual"
    given = layer(key, place, X=X, stream=stream if summed else None, bias=b, eps=eps)
    report = layer_report(given)
    a = {"after": X @ W.T, "before": X, "residual": stream + X @ W.T + b}[place]
    centered = a - {"batch": a.mean(0), "layer": a.mean(1, keepdims=True), "rms": 0}[key]
    v = (centered**2).mean(0 if key == "batch" else 1)
    assert report.epsilon is not None
    found = report.epsilon.of_neurons if key == "batch" else report.epsilon.of_cases
    other = report.epsilon.of_cases if key == "batch" else report.epsilon.of_neurons
    np.testing.assert_allclose(found, 1 - np.sqrt(v / (v + eps)))
    assert other is None


def test_running_variance_tells_of_epsilon_without_inputs() -> None:
    report = layer_report(layer(running_var=np.full(H, 3e-5), eps=1e-5))
    assert report.epsilon is not None
    np.testing.assert_allclose(report.epsilon.shortened, 1 - np.sqrt(0.75))


def test_null_directions_are_those_of_the_layer() -> None:
    report = layer_report(layer("layer", X=X, gain=g), family="gaussian")
    assert report.explanation is not None
    assert report.explanation.null.dimension == D + 1
    assert report.spectrum is not None


def test_what_is_missing_is_named_and_nothing_is_made_up() -> None:
    report = layer_report(layer(eps=1e-5))
    known = (report.effective_rates, report.angles, report.epsilon, report.spectrum)
    assert known == (None,) * 4
    assert report.missing == (
        "Learning rates and angles need the learning rate η of the optimizer: state it.",
        "Angles need gradients: a gradient file, or activations X with the family of the outputs, "
        "and labels if there are any.",
        "Where ε counts takes activations X, and an ε that is not 0.",
        "Null directions and the spectrum of F need X and the family of the outputs.",
    )


def test_balance_is_that_of_the_law() -> None:
    gradient = RNG.standard_normal((H, D))
    report = layer_report(layer(gradient=gradient), rate=0.1, decay=0.01)
    assert report.balance is not None
    root = np.linalg.norm(W, axis=1) * np.linalg.norm(gradient, axis=1)
    law = (0.1 * root**2 / (0.01 * (2 - 0.001))) ** 0.25
    np.testing.assert_allclose(report.balance.norm, law)
