"""The growth of a small change over radii, against single runs and closed forms."""

import re

import numpy as np
import pytest

from normgeo import NORMALIZERS, Recurrence, jacobian_norms, run_recurrence
from normgeo.base.progress import Stop
from normgeo.models.activations import ACTIVATIONS
from normgeo.models.growth import growth
from normgeo.models.mean_field import mean_field_growth

H, F, S, T = 5, 3, 2, 7
RADII = (0.5, 1.0, 2.0)


def drawn(method, activation, radius=1.0, neurons=H):
    rng = np.random.default_rng(0)
    return Recurrence.random(
        NORMALIZERS[method], neurons, F, rng, spectral_radius=radius, activation=activation
    )


@pytest.fixture
def X(rng):
    return rng.standard_normal((S, 4, F))


@pytest.fixture
def h0(rng):
    return rng.standard_normal((S, H))


@pytest.mark.pairwise("activation", ACTIVATIONS)
@pytest.mark.pairwise("method", ["standard", "layer", "rms"])
def test_a_state_times_rho_stands_for_weights_of_that_radius(method, activation, X, h0):
    """One run for each radius, with products of whole Jacobians, is what it is held to."""
    found = growth(drawn(method, activation), X, h0, factors=RADII, steps=T)
    assert found.steps == T
    for radius, factors in zip(RADII, found.log10_factors, strict=True):
        run = run_recurrence(drawn(method, activation, radius), X, h0, steps=T)
        expected = jacobian_norms(run, points=2).log10_norms[0] / T
        np.testing.assert_allclose(factors, expected, atol=1e-9)


def test_a_radius_is_not_moved_by_those_beside_it(X, h0):
    """As many radii as sequences, and fewer than them."""
    every = growth(drawn("layer", "tanh"), X, h0, factors=RADII, steps=T).log10_factors
    for some in (slice(0, 2), slice(2, 3)):
        found = growth(drawn("layer", "tanh"), X, h0, factors=RADII[some], steps=T)
        np.testing.assert_allclose(found.log10_factors, every[some], rtol=1e-12)


def test_two_neurons_under_layer_norm_let_no_change_through(X, rng):
    found = growth(
        drawn("layer", "tanh", neurons=2), X, rng.standard_normal((S, 2)), factors=RADII, steps=T
    )
    assert np.isneginf(found.log10_factors).all()
    assert "only a sign" in found.notes[0]


def test_run_that_must_end_keeps_its_steps_and_says_why(h0):
    """A ReLU state that is 0, and no input: RMS norm has nothing to divide by at step 2."""
    W_hh = -np.eye(H)
    recurrence = Recurrence(NORMALIZERS["rms"], W_hh, np.zeros((H, F)), activation="relu")
    found = growth(recurrence, np.zeros((S, 1, F)), np.abs(h0), factors=(1.0,), steps=T)
    assert found.steps == 1
    (note,) = found.notes
    assert note.startswith("The runs end after 1 steps.")


def test_a_single_step_grows_by_the_norm_of_its_jacobian(h0, X):
    """Without normalization and with a slope of 1 everywhere it is that of W_hh."""
    recurrence = drawn("standard", "identity")
    found = growth(recurrence, X, h0, steps=1)
    W_hh = recurrence.layer.W[:, :H]
    np.testing.assert_allclose(10**found.log10_factors, np.linalg.norm(W_hh, 2), rtol=1e-12)


def test_stopped_run_has_the_steps_until_then(X, h0):
    def stop(done, steps):
        if done == 3:
            raise Stop

    found = growth(drawn("layer", "tanh"), X, h0, steps=T, progress=stop)
    whole = growth(drawn("layer", "tanh"), X, h0, steps=3)
    np.testing.assert_allclose(found.log10_factors, whole.log10_factors)


SHAPES = (
    "`X` (S, L, F) and `h0` (S, H) must have a row for each of the S sequences, with the "
    f"{F} features and {H} neurons of the recurrence;"
)


def test_bad_arguments_are_a_sentence(X, h0, subtests):
    for bad, sentence in [
        ({"factors": [0.0]}, "`factors` must be above 0; the least is 0."),
        ({"h0": np.ones((S, H + 1))}, f"{SHAPES} got shapes ({S}, 4, {F}) and ({S}, {H + 1})."),
        ({"X": np.ones((S, 1, F + 1))}, f"{SHAPES} got shapes ({S}, 1, {F + 1}) and ({S}, {H})."),
    ]:
        with subtests.test(sentence):
            asked = {"X": X, "h0": h0, "factors": [1.0]} | bad
            with pytest.raises(ValueError, match=f"^{re.escape(sentence)}"):
                growth(drawn("layer", "tanh"), steps=T, **asked)


# Mean-field theory, by its closed forms and by a wide layer.


def law(method, activation, X, radius, steps=T):
    (found,) = 10 ** mean_field_growth(NORMALIZERS[method], activation, X, radius, steps)
    return found


def test_mean_field_has_its_closed_forms(subtests):
    for radius in RADII:
        with subtests.test(radius=radius):
            v = 0.7
            driven = np.full((1, 1, F), v**0.5)
            assert law("standard", "identity", driven, radius) == pytest.approx(radius)
            assert law("standard", "relu", driven, radius) == pytest.approx(radius / 2**0.5)
            # The state starts with a mean square of 1; that of a ReLU of N(0, 1) is ½.
            of_layer = law("layer", "identity", driven, radius)
            assert of_layer == pytest.approx(radius / (radius**2 + v) ** 0.5)
            first = radius / 2**0.5 / (radius**2 + v) ** 0.5
            later = radius / 2**0.5 / (radius**2 / 2 + v) ** 0.5
            expected = (first * later ** (T - 1)) ** (1 / T)
            assert law("rms", "relu", driven, radius) == pytest.approx(expected)


def test_tanh_under_layer_norm_grows_by_the_law_of_wide_layers():
    """½ log₁₀(E sech⁴ z / E tanh² z) = 0.0355 without inputs, as in docs/mathematics.md."""
    none = np.zeros((1, 1, F))
    long = mean_field_growth(NORMALIZERS["layer"], "tanh", none, 0.5, 400)
    assert long == pytest.approx(0.0355, abs=1e-3)


@pytest.mark.parametrize(("method", "activation"), [("standard", "tanh"), ("layer", "relu")])
def test_a_wide_layer_grows_as_predicted(method, activation):
    wide, steps = 200, 10
    rng = np.random.default_rng(1)
    W_hh = rng.standard_normal((wide, wide)) / wide**0.5
    W_xh = rng.standard_normal((wide, F)) / F**0.5
    recurrence = Recurrence(NORMALIZERS[method], W_hh, W_xh, activation=activation)
    X, h0 = rng.standard_normal((1, 4, F)), rng.standard_normal((1, wide))
    run = run_recurrence(recurrence, X, h0, steps=steps)
    change = 1e-6 * rng.standard_normal((1, wide))
    moved = run_recurrence(recurrence, X, h0 + change, steps=steps).hidden[-1] - run.hidden[-1]
    factor = np.log10(np.linalg.norm(moved) / np.linalg.norm(change)) / steps
    (predicted,) = mean_field_growth(NORMALIZERS[method], activation, X, 1.0, steps)
    assert factor == pytest.approx(predicted, abs=0.02)


def test_method_whose_scale_is_of_weights_has_no_prediction():
    assert mean_field_growth(NORMALIZERS["weight"], "tanh", np.ones((1, 1, F)), 1.0, T) is None
