"""Contours of the KL, against the KL and the matrix themselves."""

import numpy as np
import pytest

from normgeo.fisher.kl import kl
from normgeo.pictures import PICTURES
from normgeo.settings import Settings

EQUAL_KL = PICTURES["equal_kl"]


@pytest.mark.parametrize("method", ["batch", "layer", "weight"])
def test_levels_are_round_and_the_ellipses_fit_the_panel(rows, method):
    found = rows("equal_kl", Settings(dataset="wine", method=method), plane="across")
    levels = sorted({row["level"] for row in found})
    assert levels == pytest.approx([levels[0], 4 * levels[0], 9 * levels[0]])
    assert f"{levels[0]:.0e}"[0] in "125"
    last = found[-1]["method"]
    mine = [row for row in found if row["method"] == last and row["level"] == levels[0]]
    assert 0.18 < max(abs(row["quadratic_x"]) for row in mine) < 0.32


@pytest.mark.parametrize("method", ["standard", "batch", "layer"])
def test_kl_at_the_contours_is_their_level(rows, method):
    settings = Settings(dataset="iris", method=method)
    result = EQUAL_KL.compute(settings)
    point = result.base.points[-1]
    model, X = point.data.model, point.data.X
    along, steepest, random = point.norm * point.directions
    planes = {"across": (random, steepest), "along": (along, steepest)}
    seen = 0
    for row in rows("equal_kl", settings, method=point.normalizer.title)[::7]:
        if row["kl_x"] is None:
            continue
        first, second = planes[row["plane"]]
        theta = model.pack() + row["kl_x"] * first + row["kl_y"] * second
        assert kl(model, model.unpack(theta), X) == pytest.approx(row["level"], rel=1e-3)
        seen += 1
    assert seen > 10


def test_quadratic_form_is_that_of_the_matrix(rows, matrix):
    settings = Settings(dataset="iris", method="batch")
    F, point = matrix(settings), EQUAL_KL.compute(settings).base.points[-1]
    along, steepest, random = point.norm * point.directions
    for plane, first in (("across", random), ("along", along)):
        for row in rows("equal_kl", settings, method="batch norm", plane=plane):
            step = row["quadratic_x"] * first + row["quadratic_y"] * steepest
            assert step @ F @ step / 2 == pytest.approx(row["level"], rel=1e-6)


def test_normalized_model_has_a_strip_along_its_weights_and_the_standard_one_an_ellipse():
    result = EQUAL_KL.compute(Settings(dataset="wine"))
    standard, batch = result.along
    assert [plane.contours.strip for plane in (standard, batch)] == [False, True]
    assert standard.share > 0.01
    assert batch.share == 0
    words = [note.text for note in EQUAL_KL.figure(result, "light").layout.annotations]
    assert "with ŵ: no curvature along ŵ" in words[-1]
    assert "with ŵ: curvatures " in words[-2]


def test_small_epsilon_leaves_some_curvature_along_the_weights():
    result = EQUAL_KL.compute(Settings(dataset="iris", eps=1e-5))
    assert 0 < result.along[-1].share < 1e-6
    words = EQUAL_KL.figure(result, "light").layout.annotations[-1].text
    assert " · 10⁻" in words
    assert "e-" not in words


def test_one_feature_has_no_second_direction_across():
    result = EQUAL_KL.compute(Settings(dataset="plane", neurons=1))
    assert [plane.contours for plane in result.across] == [None, None]
    assert np.isnan(result.across[0].curvatures).all()
    assert all(plane.contours is not None for plane in result.along)
    words = [note.text for note in EQUAL_KL.figure(result, "light").layout.annotations]
    assert sum("no second direction across" in line for line in words) == 2


def test_poisson_contours_are_closed_and_thin_where_one_curvature_is_large(rows):
    settings = Settings(family="poisson", method="layer")
    found = rows("equal_kl", settings, method="standard", plane="across")
    mine = [row for row in found if row["level"] == found[0]["level"]]
    assert max(abs(row["quadratic_y"]) for row in mine) > 0
    assert (mine[0]["quadratic_x"], mine[0]["kl_x"]) == (mine[-1]["quadratic_x"], mine[-1]["kl_x"])
