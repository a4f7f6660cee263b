"""Equal KL around the weights, against the KL itself."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from normgeo import NORMALIZERS
from normgeo.fisher.kl import kl
from normgeo.pictures import PICTURES
from normgeo.pictures.learning_rate.block_on_data import block_on_data
from normgeo.settings import Settings

ELLIPSE = PICTURES["ellipse"]
LAWFUL = [key for key, method in NORMALIZERS.items() if method.homogeneous_blocks(4)]
QUICK = Settings(dataset="wine", neurons=6, steps=20)


@cache
def measured_with(method: str) -> Any:
    return ELLIPSE.compute(replace(QUICK, method=method)).measured


@pytest.mark.exhaustive
def test_ellipse_and_contour_double_and_the_wedge_stays(subtests: pytest.Subtests) -> None:
    for method in LAWFUL:
        with subtests.test(method=method):
            once, twice = measured_with(method).at
            np.testing.assert_allclose(twice.ellipse, 2 * once.ellipse, rtol=1e-9)
            np.testing.assert_allclose(twice.contour, 2 * once.contour, rtol=1e-3)
            np.testing.assert_allclose(twice.wedge, once.wedge, rtol=1e-3)


def test_no_curvature_along_the_weights(subtests: pytest.Subtests) -> None:
    for method in LAWFUL:
        with subtests.test(method=method):
            for at in measured_with(method).at:
                assert abs(at.radial) < 1e-12 * at.metric[0, 0]


def test_kl_on_the_contour_and_the_wedge_is_the_level(subtests: pytest.Subtests) -> None:
    for method in ["batch", "layer"]:
        with subtests.test(method=method):
            it, measured = block_on_data(replace(QUICK, method=method)), measured_with(method)
            own, directions = it.objective.own, measured.directions

            def model_at(w: np.ndarray, it: Any = it) -> Any:
                return it.model.unpack(it.objective.theta(w))

            for at in measured.at:
                here = model_at(at.norm * own)
                for place in (0, 11, 30):
                    there = model_at(at.norm * own + at.contour[place] @ directions)
                    assert kl(here, there, it.X) == pytest.approx(measured.level, rel=1e-3)
                for angle in at.wedge:
                    for radius in (0.5, 7.0):
                        there = model_at(
                            radius * (np.cos(angle) * own + np.sin(angle) * directions[0])
                        )
                        assert kl(here, there, it.X) == pytest.approx(measured.level, rel=1e-3)


def test_small_contours_are_ellipses() -> None:
    at = ELLIPSE.compute(QUICK).measured.at[0]
    level = 0.5 * np.einsum("ri,ij,rj->r", at.ellipse, at.metric, at.ellipse)
    np.testing.assert_allclose(level, ELLIPSE.compute(QUICK).measured.level, rtol=1e-9)
    np.testing.assert_allclose(at.contour, at.ellipse, rtol=0.5, atol=0.1)


def test_eps_bends_the_wedge_and_says_so() -> None:
    result = ELLIPSE.compute(replace(QUICK, eps=0.5))
    assert result.measured.at[0].radial > 1e-3 * result.measured.at[0].metric[0, 0]
    figure = ELLIPSE.figure(result, "light")
    words = " ".join(a.text for a in figure.layout.annotations)
    assert "curvature along ŵ is" in words


def test_fisher_and_its_scale_are_named_on_the_figure() -> None:
    figure = ELLIPSE.figure(ELLIPSE.compute(QUICK), "light")
    words = " ".join(a.text for a in figure.layout.annotations)
    assert "expected Fisher information, per case; N = 178, dispersion φ = 1" in words


def test_block_without_two_tangent_directions_has_no_ellipse(sentence_of) -> None:
    assert sentence_of("ellipse", Settings(dataset="plane")) == (
        "An ellipse needs two directions across the weights, and this block has 1. Choose data "
        "with more features, or a layer statistic with more neurons."
    )
