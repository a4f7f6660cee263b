"""The data and weights of a picture."""

import re

import numpy as np
import pytest
from sklearn.datasets import load_digits

from normgeo.normalizers.named import NORMALIZERS
from normgeo.pictures.model_on_data import model_on_data
from normgeo.settings import Settings


def test_raw_and_standardized_features_are_the_digits():
    pixels = load_digits().data
    varying = pixels[:, np.ptp(pixels, axis=0) > 0]
    raw = model_on_data(Settings(), "raw")
    np.testing.assert_array_equal(raw.X, varying)
    standardized = model_on_data(Settings(), "standardized").X
    np.testing.assert_allclose(
        standardized * varying.std(axis=0) + varying.mean(axis=0), varying, atol=1e-12
    )
    assert raw.notes == (
        "The constant features pixel_0_0, pixel_4_0, pixel_4_7 are left out of the computation.",
    )


def test_settings_choose_the_features_before_the_picture_does():
    chosen = model_on_data(Settings(features="standardized"), "raw").X
    np.testing.assert_array_equal(chosen, model_on_data(Settings(), "standardized").X)


def test_neurons_are_the_outputs_but_at_least_four(subtests):
    for dataset, neurons, expected in [
        ("digits", 0, 10),
        ("iris", 0, 4),
        ("breast_cancer", 0, 4),
        ("iris", 7, 7),
        ("iris", 1, 1),
    ]:
        with subtests.test(dataset=dataset, neurons=neurons, expected=expected):
            here = model_on_data(Settings(dataset=dataset, neurons=neurons, method="weight"), "raw")
            assert len(here.model.W) == expected


def test_weights_are_decided_by_the_seed():
    first, again, other = (model_on_data(Settings(seed=seed), "raw").model.W for seed in (3, 3, 4))
    np.testing.assert_array_equal(first, again)
    assert not np.allclose(first, other)


def test_targets_are_shared_out_among_the_neurons_and_said_so(subtests):
    for dataset, neurons, note in [
        ("breast_cancer", 0, "All 4 neurons predict the one output."),
        ("linnerud", 0, "The 4 neurons predict the 3 outputs in turn."),
        ("linnerud", 2, "The 2 neurons predict the first 2 of 3 outputs."),
        ("linnerud", 1, "The one neuron predicts the first of 3 outputs."),
    ]:
        with subtests.test(dataset=dataset, neurons=neurons, note=note):
            here = model_on_data(Settings(dataset=dataset, neurons=neurons, method="weight"), "raw")
            assert note in here.notes
            outputs = here.dataset.y.shape[1]
            for h in range(len(here.model.W)):
                np.testing.assert_array_equal(here.y[:, h], here.dataset.y[:, h % outputs])


def test_classes_become_targets_one_against_the_rest():
    here = model_on_data(Settings(family="bernoulli"), "raw")
    np.testing.assert_array_equal(here.y.argmax(axis=1), load_digits().target)
    assert here.model.family.key == "bernoulli"


def test_fitted_weights_are_better_than_random_ones_and_named():
    settings = Settings(dataset="iris", weights="fitted", ridge=0.1)
    fitted, random = (
        model_on_data(s, "standardized") for s in (settings, Settings(dataset="iris"))
    )
    better = fitted.model.log_likelihood(fitted.X, fitted.y)
    assert better > random.model.log_likelihood(random.X, random.y)
    assert "Weights fitted with a ridge penalty, λ = 0.1." in fitted.notes
    assert len(fitted.model.W) == 3


def test_frozen_statistics_are_those_of_the_data_itself(subtests):
    for weights in ["random", "fitted"]:
        with subtests.test(weights=weights):
            settings = Settings(dataset="iris", weights=weights, statistics="frozen")
            frozen = model_on_data(settings, "standardized")
            current = model_on_data(Settings(dataset="iris", weights=weights), "standardized")
            assert frozen.model.normalizer.statistics == "frozen"
            np.testing.assert_allclose(
                frozen.model.natural_parameter(frozen.X),
                current.model.natural_parameter(current.X),
                atol=1e-9,
            )


def test_normalizer_of_the_picture_comes_before_the_method_of_the_settings():
    assert (
        model_on_data(Settings(), "raw", NORMALIZERS["rms"]).model.normalizer == NORMALIZERS["rms"]
    )


def test_fitted_weights_refuse_another_number_of_neurons():
    sentence = (
        "Fitted weights have one neuron for each output of Iris, 3 in all, not 5. "
        "Use random weights to choose."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        model_on_data(Settings(dataset="iris", weights="fitted", neurons=5), "raw")


def test_categorical_family_refuses_targets_without_classes():
    sentence = (
        "A categorical family needs class labels; the targets of Diabetes are Gaussian. "
        "Choose the automatic family, or data with classes, such as the digits."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        model_on_data(Settings(dataset="diabetes", family="categorical"), "raw")
