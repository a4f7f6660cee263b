"""The block of weights that the pictures of the page speak of, and why there is none."""

from dataclasses import replace

import pytest

from normgeo.settings import Settings

NAMES = ("turn", "descent", "doubling", "ellipse")
QUICK = Settings(dataset="wine", neurons=6, steps=20)


def test_standard_model_has_a_sentence_with_a_way_out(
    sentence_of, subtests: pytest.Subtests
) -> None:
    for name in NAMES[1:]:
        with subtests.test(name=name):
            assert sentence_of(name, replace(QUICK, method="standard")) == (
                "The standard model does not divide by a scale, so a longer weight vector is "
                "another function, with a larger output: no law ties the turn of a step to ‖w‖. "
                "Choose a method with a scale: batch norm, weight norm or layer norm."
            )


def test_frozen_statistics_have_a_sentence(sentence_of) -> None:
    assert sentence_of("descent", replace(QUICK, statistics="frozen")) == (
        "With frozen statistics batch norm divides by a constant, so a longer weight vector is "
        "another function: no law ties the turn of a step to ‖w‖. Choose current statistics."
    )


def test_two_neurons_under_layer_norm_have_a_sentence(
    sentence_of, subtests: pytest.Subtests
) -> None:
    for dataset in ["breast_cancer", "linnerud"]:
        with subtests.test(dataset=dataset):
            assert sentence_of("turn", Settings(dataset=dataset, method="layer", neurons=2)) == (
                "With two neurons to a group, layer norm makes z = ±1 whatever the weights, so the "
                "loss has no gradient and no step turns anything. Take three neurons or more to a "
                "group."
            )


def test_flat_loss_has_a_sentence(sentence_of) -> None:
    # Four neurons share one target, so the squares of z are all that the loss sees.
    assert sentence_of("turn", Settings(dataset="diabetes", method="layer")) == (
        "The loss does not change where these weights turn: their gradient is zero, so no step "
        "turns them. Choose another method, another neuron or other data."
    )


def test_unknown_neuron_has_a_sentence(sentence_of) -> None:
    assert sentence_of("turn", replace(QUICK, neuron=6)) == (
        "Neurons are numbered from 0 to 5 here; got 6. Choose another."
    )


def test_fewer_neurons_than_classes_have_a_sentence(sentence_of) -> None:
    assert sentence_of("turn", Settings(dataset="iris", neurons=2)) == (
        "Iris has 3 classes, so its model needs as many neurons; here are 2. Use more, or the "
        "Bernoulli family: one class against the rest."
    )
