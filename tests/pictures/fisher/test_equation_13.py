"""Eq. 13 against the exact Fisher information."""

import numpy as np
import pytest

from normgeo.pictures import PICTURES
from normgeo.settings import Settings

EQ13 = PICTURES["eq13"]


def test_equation_13_is_exact_without_a_layer_statistic(captions):
    batch = EQ13.compute(Settings(dataset="wine"))
    assert batch.here.whole < 1e-12
    assert batch.here.agree
    assert batch.widths == ()
    words = captions("eq13", batch)
    assert "they agree: no statistic is shared by neurons" in words


def test_equation_13_is_off_with_a_layer_statistic_and_less_so_the_wider_the_layer(matrix, weights):
    settings = Settings(method="layer")
    result = EQ13.compute(settings)
    exact, paper = matrix(settings), matrix(settings, "paper")
    for found, F, F_13 in (
        (result.here.whole, exact, paper),
        (result.here.weights, weights(exact, 10, 61), weights(paper, 10, 61)),
    ):
        error = np.linalg.norm(F_13 - F) / np.linalg.norm(F)
        assert found == pytest.approx(error, rel=1e-9)
    assert 0.3 < result.here.weights < 0.45
    np.testing.assert_allclose(
        np.linalg.norm(result.gap) / np.linalg.norm(result.exact), result.here.whole
    )
    errors = [each.weights for each in result.widths]
    assert [each.neurons for each in result.widths] == [3, 4, 6, 8, 12, 16, 24]
    assert sorted(errors, reverse=True) == errors
    assert errors[0] > 0.6
    assert errors[-1] < 0.3


def test_other_widths_are_those_of_models_of_that_width():
    settings = Settings(dataset="wine", method="layer", neurons=6)
    (six,) = [each for each in EQ13.compute(settings).widths if each.neurons == 6]
    assert six == EQ13.compute(settings).here
    twelve = EQ13.compute(Settings(dataset="wine", method="layer", neurons=12)).here
    assert twelve in EQ13.compute(settings).widths


def test_groups_widen_together():
    result = EQ13.compute(Settings(dataset="wine", method="group", neurons=6))
    assert [each.neurons for each in result.widths][:3] == [6, 8, 12]


def test_two_neurons_under_layer_norm_have_no_error_of_weights_that_change_nothing(captions):
    settings = Settings(dataset="wine", method="layer", neurons=2)
    result = EQ13.compute(settings)
    assert np.isnan(result.here.weights)
    assert result.here.whole < 1e-9
    for theme in ("light", "dark"):
        words = captions("eq13", result, theme)
        assert "F<sub>WW</sub> is 0, as no output changes with the weights" in words
        assert "%" not in words
        assert "e-" not in words
