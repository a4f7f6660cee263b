"""Contours of the KL, against the KL and the matrix themselves."""

from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

from normgeo.fisher.kl import kl
from normgeo.pictures import PICTURES
from normgeo.pictures.fisher.equal_kl import EqualKL
from normgeo.settings import Settings
from tests.forms import on_a_phone

EQUAL_KL, ACROSS = PICTURES["equal_kl"], PICTURES["across"]
WEDGE = "a wedge: F is singular"


@cache
def result_of(name: str = "equal_kl", **settings: object) -> EqualKL:
    return PICTURES[name].compute(Settings(**settings))


def records(name: str, settings: dict[str, object], **wanted: object) -> list[dict[str, Any]]:
    """The rows of a result's table with these values."""
    found = PICTURES[name].table(result_of(name, **settings)).records()
    return [row for row in found if all(row[key] == value for key, value in wanted.items())]


def test_levels_are_round_and_the_ellipses_fit_the_panel(subtests):
    for method in ["batch", "layer", "weight"]:
        with subtests.test(method=method):
            found = records("across", {"dataset": "iris", "method": method})
            levels = sorted({row["level"] for row in found})
            assert levels == pytest.approx([n * levels[0] for n in (1, 2, 4, 6, 9)])
            assert f"{levels[0]:.0e}"[0] in "125"
            last = found[-1]["method"]
            mine = [row for row in found if row["method"] == last and row["level"] == levels[0]]
            assert 0.18 < max(abs(row["quadratic_x"]) for row in mine) < 0.32


def test_kl_at_the_contours_is_their_level(subtests):
    for method, name in product(["standard", "batch", "layer"], ["equal_kl", "across"]):
        with subtests.test(method=method, name=name):
            settings = {"dataset": "iris", "method": method}
            point = result_of(name, **settings).base.points[-1]
            model, X = point.data.model, point.data.X
            along, steepest, random = point.norm * point.directions
            first = along if name == "equal_kl" else random
            seen = 0
            for row in records(name, settings, method=point.normalizer.title)[::23]:
                if row["kl_x"] is None:
                    continue
                theta = model.pack() + row["kl_x"] * first + row["kl_y"] * steepest
                assert kl(model, model.unpack(theta), X) == pytest.approx(row["level"], rel=1e-3)
                seen += 1
            assert seen > 5


def test_quadratic_form_is_that_of_the_matrix(matrix):
    settings = {"dataset": "iris", "method": "batch"}
    F, point = matrix(Settings(**settings)), result_of(**settings).base.points[-1]
    along, steepest, random = point.norm * point.directions
    for name, plane, first in (("across", "across", random), ("equal_kl", "along", along)):
        found = records(name, settings, method="batch norm", plane=plane)
        assert found
        for row in found:
            step = row["quadratic_x"] * first + row["quadratic_y"] * steepest
            assert step @ F @ step / 2 == pytest.approx(row["level"], rel=1e-6)


def test_normalized_model_has_a_wedge_and_the_standard_one_an_ellipse(captions, subtests):
    for method in ["batch", "layer", "weight"]:
        with subtests.test(method=method):
            result = result_of(dataset="wine", method=method)
            standard, normalized = result.planes
            assert [plane.contours.strip for plane in result.planes] == [False, True]
            assert [plane.shape for plane in result.planes] == ["an ellipse", WEDGE]
            assert standard.share > 0.01
            assert normalized.share == 0
            # The edges are rays from w = 0: as far up, over how far from there, at every length.
            for true in normalized.contours.true:
                x, y = true[: len(true) // 2].T
                slope = (y / (1 + x))[np.isfinite(y)]
                assert len(slope) > 5
                np.testing.assert_allclose(slope, slope[0], rtol=1e-3)
            words, w = captions("equal_kl", result), "W" if method == "layer" else "w"
            for part in ("<b>an ellipse</b>", "<b>a wedge, </b>", "F is singular"):
                assert part in words
            assert f"{WEDGE}; from {w} to 2{w} the KL is 0 nats." in EQUAL_KL.description(result)


def test_doubling_the_weights_costs_what_the_kl_says(captions):
    result = result_of(dataset="wine", method="layer")
    for point, plane in zip(result.base.points, result.planes, strict=True):
        model = point.data.model
        double = model.layout.pack(2 * model.W, model.b, model.g)
        expected = kl(model, model.unpack(double), point.data.X)
        assert plane.doubled.kl == pytest.approx(expected, rel=1e-6, abs=1e-12)
    assert "W → 2W: KL = <b>0</b> nats" in captions("equal_kl", result)


def test_shape_is_what_the_settings_make_of_it(subtests):
    for settings, shape in [
        (
            {"dataset": "iris", "eps": 1e-5, "method": "layer"},
            "nearly a wedge: along ŵ little changes",
        ),
        ({"dataset": "wine", "statistics": "frozen"}, "an ellipse"),
        ({"dataset": "iris", "eps": 1.0, "method": "batch"}, "an ellipse"),
    ]:
        with subtests.test(settings=settings, shape=shape):
            normalized = result_of(**settings).planes[-1]
            assert normalized.shape == shape
            assert normalized.doubled.kl > 0


def test_with_epsilon_f_is_not_called_singular_however_little_changes():
    plane = result_of(dataset="wine", neurons=4, eps=1e-5, method="batch").planes[-1]
    assert plane.doubled.kl == 0, "less than rounding"
    assert plane.shape == "nearly a wedge: along ŵ little changes"


def test_a_large_epsilon_leaves_the_wedge_a_little_curvature():
    assert 0 < result_of(dataset="iris", eps=1e-5, method="layer").planes[-1].share < 1e-6


def test_one_feature_has_no_second_direction_across(captions):
    settings = {"dataset": "plane", "neurons": 1, "method": "batch"}
    result = result_of("across", **settings)
    assert [plane.contours for plane in result.planes] == [None, None]
    assert np.isnan(result.planes[0].curvatures).all()
    assert all(plane.contours is not None for plane in result_of(**settings).planes)
    assert captions("across", result).count("no second direction across") == 2


@pytest.mark.exhaustive
def test_poisson_contours_are_closed_and_small_where_one_curvature_is_large():
    settings = {"family": "poisson", "method": "layer", "dataset": "wine"}
    found = records("across", settings, method="standard")
    mine = [row for row in found if row["level"] == found[0]["level"]]
    assert max(abs(row["quadratic_y"]) for row in mine) > 0
    assert (mine[0]["quadratic_x"], mine[0]["kl_x"]) == (mine[-1]["quadratic_x"], mine[-1]["kl_x"])
    standard = result_of(family="poisson", method="layer").planes[0]
    assert standard.shape == "a small ellipse"


def test_narrow_figure_has_its_panels_below_each_other():
    figure = EQUAL_KL.figure(result_of(dataset="wine", method="layer"), "light")
    layout = figure.layout
    narrow = layout.meta["narrow"]
    assert narrow["xaxis"]["domain"] == narrow["xaxis2"]["domain"] == [0.0, 1.0]
    assert narrow["yaxis"]["domain"][0] > narrow["yaxis2"]["domain"][1]
    assert len(on_a_phone(figure)) == len(layout.annotations)


def test_contours_fill_their_panels_and_a_wedge_goes_on_to_the_end(subtests):
    for method in ["layer", "batch", "weight"]:
        with subtests.test(method=method):
            result = result_of(dataset="wine", method=method)
            layout = EQUAL_KL.figure(result, "light").layout
            (left, right), (low, high) = layout.xaxis2.range, layout.yaxis2.range
            longest = max(1, *(plane.far[0] for plane in result.planes))
            assert left < -1 < 1 <= longest < right < 1.2 * longest, "0 and 2w are in it"
            x, y = result.planes[-1].contours.true.reshape(-1, 2).T
            assert np.nanmax(x) > right
            assert np.nanmin(abs(x - 1)) < 1e-9, "a point at 2w"
            in_sight = np.nanmax(np.abs(y[x < 1.001]))
            tallest = max(plane.far[1] for plane in result.planes)
            assert in_sight <= tallest < high == -low < 1.2 * tallest
            assert layout.xaxis.range == layout.xaxis2.range
            assert layout.yaxis.range == layout.yaxis2.range


def test_weights_are_named_where_a_wedge_lies_along_them():
    for name, wedge in (("equal_kl", True), ("across", False)):
        figure = PICTURES[name].figure(result_of(name, dataset="iris", method="layer"), "light")
        words = " ".join(str(note.text) for note in figure.layout.annotations)
        assert ("along the weights →" in words) == wedge
        names = [*(figure.layout.xaxis.ticktext or [])]
        assert names == (["0", "½ W", "W", "1½ W", "2W"] if wedge else [])


def test_directions_across_the_weights_are_told_apart():
    titles = {"equal_kl": "at right angles to W, × ‖W‖", "across": "steepest across W, × ‖W‖"}
    for name, up in titles.items():
        figure = PICTURES[name].figure(result_of(name, dataset="wine", method="layer"), "light")
        assert figure.layout.yaxis.title.text == up
