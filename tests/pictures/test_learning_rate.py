"""The Learning rate pictures, by value: what they compute, and that figures show just that."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from normgeo import NORMALIZERS
from normgeo.base.progress import Stop
from normgeo.datasets.datasets import DATASETS
from normgeo.dynamics.loss_plane import loss_plane
from normgeo.fisher.kl import kl
from normgeo.pictures import PICTURES
from normgeo.pictures.learning_rate.block_on_data import block_on_data
from normgeo.settings import Settings

NAMES = ("turn", "descent", "doubling", "ellipse")
LAWFUL = [key for key, normalizer in NORMALIZERS.items() if normalizer.scale != "none"]
QUICK = Settings(dataset="wine", neurons=6, steps=20)


def picture(name: str, settings: Settings) -> Any:
    return PICTURES[name].compute(settings)


def sentence_of(name: str, settings: Settings) -> str:
    with pytest.raises(ValueError, match=r".") as caught:
        picture(name, settings)
    return str(caught.value)


# One step.


@pytest.mark.parametrize("method", LAWFUL)
def test_turn_falls_with_slope_minus_two(method: str) -> None:
    curve = picture("turn", replace(QUICK, method=method)).curve
    slope, _ = np.polyfit(np.log(curve.norms), np.log(np.tan(curve.angles)), 1)
    assert slope == pytest.approx(-2, abs=1e-9)


@pytest.mark.parametrize("method", LAWFUL)
def test_doubling_halves_the_gradient_quarters_the_turn_and_keeps_the_loss(method: str) -> None:
    curve = picture("turn", replace(QUICK, method=method)).curve
    one, two = (int(np.flatnonzero(np.isclose(curve.norms, norm))[0]) for norm in (1, 2))
    assert curve.gradient_norms[two] / curve.gradient_norms[one] == pytest.approx(0.5)
    assert np.tan(curve.angles[two]) / np.tan(curve.angles[one]) == pytest.approx(0.25)
    assert curve.loss[two] == pytest.approx(curve.loss[one])


@pytest.mark.parametrize("method", LAWFUL)
def test_small_turn_is_quartered_in_degrees_too(method: str) -> None:
    rate = 1e-3 * picture("turn", replace(QUICK, method=method)).curve.rate
    curve = picture("turn", replace(QUICK, method=method, rate=rate)).curve
    assert curve.rate == rate
    assert curve.angles[2] / curve.angles[0] == pytest.approx(0.25, rel=1e-6)


@pytest.mark.parametrize("method", LAWFUL)
def test_loss_is_wedges_constant_along_rays(method: str) -> None:
    it = block_on_data(replace(QUICK, method=method))
    (shown,) = picture("turn", replace(QUICK, method=method)).planes
    for norm in (0.25, 4.0):
        plane = loss_plane(it.model, it.X, it.y, block=it.block, angles=shown.angles, norm=norm)
        np.testing.assert_allclose(plane.loss, shown.loss, rtol=1e-9)


def test_rate_zero_turns_the_block_by_a_tangent_of_a_half() -> None:
    assert np.tan(picture("turn", QUICK).curve.here.angle) == pytest.approx(0.5)


def test_picture_starts_at_norm_one() -> None:
    assert picture("turn", QUICK).curve.here.norm == pytest.approx(1)


@pytest.mark.parametrize("growth", [0.125, 1.0, 2.83, 3.0, 64.0])
def test_slider_reaches_from_one_to_sixteen_and_to_where_it_opens(growth: float) -> None:
    settings = replace(QUICK, growth=growth)
    norms = picture("turn", settings).curve.norms
    assert norms.min() <= 1
    assert norms.max() >= 16
    assert np.isclose(norms, growth, rtol=2e-3).sum() == 1
    figure = PICTURES["turn"].figure(picture("turn", settings), "light")
    (slider,) = figure.layout.sliders
    assert norms[slider.active] == pytest.approx(growth, rel=2e-3)


def test_eps_lets_measured_values_leave_the_predicted() -> None:
    curve = picture("turn", replace(QUICK, eps=0.5)).curve
    assert abs(curve.angles[-1] / curve.predicted_angles[-1] - 1) > 0.05
    assert np.ptp(curve.loss) > 1e-3


def test_eps_makes_the_loss_depend_on_the_norm_in_the_plane() -> None:
    planes = picture("turn", replace(QUICK, eps=0.5)).planes
    assert len({round(float(plane.loss[0]), 6) for plane in planes}) == len(planes) > 1


# Its figure.


@pytest.mark.parametrize("method", ["batch", "layer"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_frame_of_the_turn_shows_the_numbers_of_its_norm(method: str, theme: str) -> None:
    it = picture("turn", replace(QUICK, method=method))
    figure = PICTURES["turn"].figure(it, theme)
    assert len(figure.frames) == len(it.curve.norms)
    for step, frame in enumerate(figure.frames):
        norm, angle = it.curve.norms[step], it.curve.angles[step]
        *_, arrow, dot = frame.data
        assert (dot.x[0], dot.y[0]) == pytest.approx((norm, np.degrees(angle)))
        assert dot.text[0] == f"<b>{np.degrees(angle):.3g}°</b>"
        assert (arrow.x[1], arrow.y[1]) == pytest.approx((norm, norm * np.tan(angle)), abs=1e-3)
        factors = re.findall(r"<b>× ([^<]+)</b>", "".join(a.text for a in frame.layout.annotations))
        gradient = it.curve.gradient_norms[step] / it.curve.gradient_norms[0]
        turn = np.tan(angle) / np.tan(it.curve.angles[0])
        assert [float(f) for f in factors] == pytest.approx([norm, gradient, turn, 1], rel=1e-3)
        left, right = frame.layout.xaxis.range
        assert left < 0 < norm < right


@pytest.mark.parametrize("growth", [0.125, 64.0])
def test_plane_shows_the_arrow_at_every_norm(growth: float) -> None:
    figure = PICTURES["turn"].figure(picture("turn", replace(QUICK, growth=growth)), "light")
    for frame in figure.frames:
        arrow = frame.data[-2]
        low, high = frame.layout.yaxis.range
        assert low < arrow.y[1] < high


def test_opening_frame_is_what_the_figure_shows() -> None:
    figure = PICTURES["turn"].figure(picture("turn", replace(QUICK, growth=4)), "light")
    (frame,) = (f for f in figure.frames if f.name == "4")
    for place, trace in zip(frame.traces, frame.data, strict=True):
        np.testing.assert_array_equal(figure.data[place].y, trace.y)
    assert [a.text for a in figure.layout.annotations] == [a.text for a in frame.layout.annotations]


@pytest.mark.parametrize("growth", [1.0, 64.0])
def test_frames_have_equally_many_words_and_say_all_that_another_changes(growth: float) -> None:
    frames = PICTURES["turn"].figure(picture("turn", replace(QUICK, growth=growth)), "light").frames
    slots = [[set(a.to_plotly_json()) for a in frame.layout.annotations] for frame in frames]
    assert all(slot == slots[0] for slot in slots)


@pytest.mark.parametrize("growth", [0.125, 1.0, 64.0])
def test_words_of_a_step_are_in_the_part_of_the_plane_that_is_seen(growth: float) -> None:
    for frame in (
        PICTURES["turn"].figure(picture("turn", replace(QUICK, growth=growth)), "dark").frames
    ):
        feet = [a for a in frame.layout.annotations if a.visible and a.yanchor == "top"]
        assert feet
        assert all(a.x < frame.layout.xaxis.range[1] for a in feet)
        assert len({a.x for a in feet}) == len(feet)


def test_markup_of_the_numbers_is_what_a_browser_reads() -> None:
    figure = PICTURES["turn"].figure(picture("turn", QUICK), "light")
    styles = re.findall(r'style="([^"]*)"', "".join(a.text for a in figure.layout.annotations))
    assert len(styles) == 8
    assert {style.split(":")[0] for style in styles} == {"font-size", "color"}


def test_lines_have_the_styles_that_mean_measured_predicted_and_claimed() -> None:
    figure = PICTURES["turn"].figure(picture("turn", QUICK), "light")
    styles = {trace.name.split(":")[0]: trace.line.dash for trace in figure.data if trace.line.dash}
    assert styles == {"measured": "solid", "predicted": "dash", "the paper’s “½”": "dot"}


def test_rate_is_said_on_the_picture() -> None:
    figure = PICTURES["turn"].figure(picture("turn", replace(QUICK, rate=0.75)), "light")
    assert any("η = 0.75" in a.text for a in figure.layout.annotations)


# A run.


@pytest.mark.parametrize("method", LAWFUL)
def test_descent_obeys_the_law_of_norms_and_angles(method: str) -> None:
    for run in picture("descent", replace(QUICK, method=method)).runs:
        np.testing.assert_allclose(run.norms, run.predicted_norms, rtol=1e-9)
        np.testing.assert_allclose(run.angles, run.predicted_angles, rtol=1e-6)


def test_descent_starts_from_one_function_at_norms_one_two_four() -> None:
    runs = picture("descent", QUICK).runs
    assert [run.norms[0, 0] for run in runs] == pytest.approx([1, 2, 4])
    assert [run.loss[0] for run in runs] == pytest.approx([runs[0].loss[0]] * 3)


def test_larger_norm_learns_slower() -> None:
    losses = [run.loss[5] for run in picture("descent", QUICK).runs]
    assert losses == sorted(losses)


def test_ended_run_says_at_which_step_and_why() -> None:
    settings = Settings(dataset="linnerud_reversed", rate=0.2)
    result = picture("descent", settings)
    figure = PICTURES["descent"].figure(result, "light")
    words = figure.layout.annotations[0].text.replace("<br>", " ")
    assert "from 1 at step 2" in words
    assert result.runs[0].diverged.reason in words


def test_stopped_descent_keeps_what_it_has_and_is_still_drawn() -> None:
    told = []

    def stop(done: int, steps: int) -> None:
        told.append((done, steps))
        if done >= 25:
            raise Stop

    result = PICTURES["descent"].compute(QUICK, stop)
    assert [run.steps for run in result.runs] == [20, 5, 0]
    assert told[:2] == [(0, 60), (1, 60)]
    assert told[-1] == (25, 60)
    assert len(PICTURES["descent"].figure(result, "light").frames) == 21
    assert PICTURES["descent"].table(result).rows


def test_default_rate_keeps_counts_from_overflowing() -> None:
    runs = picture("descent", Settings(dataset="linnerud_reversed")).runs
    assert [run.diverged for run in runs] == [None] * 3
    assert all(run.loss[-1] < 0.1 * run.loss[0] for run in runs)


def test_descent_frames_put_dots_where_the_runs_are() -> None:
    result = picture("descent", QUICK)
    figure = PICTURES["descent"].figure(result, "light")
    for frame in figure.frames:
        step = int(frame.name)
        losses, norms = (
            [run.loss[step] for run in result.runs],
            [run.norms[step, 0] for run in result.runs],
        )
        np.testing.assert_allclose(frame.data[0].y, losses, rtol=1e-4)
        np.testing.assert_allclose(frame.data[1].y, norms, rtol=1e-4)
    assert figure.frames[-1].name == "20"


# Doubling.


@pytest.mark.parametrize("method", LAWFUL)
def test_doubling_table_measures_what_it_predicts(method: str) -> None:
    result = picture("doubling", replace(QUICK, method=method))
    for row in result.rows:
        if row.measured is not None:
            assert row.measured == pytest.approx(float(row.predicted), abs=1e-6), row.quantity
    rows = PICTURES["doubling"].table(result).rows
    assert {row[1] for row in rows if row[3] == "✓"} == {"× ½"}
    assert "× ½" not in {row[1] for row in rows if row[3] == "✗"}


# Equal KL.


@pytest.mark.parametrize("method", LAWFUL)
def test_ellipse_and_contour_double_and_the_wedge_stays(method: str) -> None:
    once, twice = picture("ellipse", replace(QUICK, method=method)).measured.at
    np.testing.assert_allclose(twice.ellipse, 2 * once.ellipse, rtol=1e-9)
    np.testing.assert_allclose(twice.contour, 2 * once.contour, rtol=1e-3)
    np.testing.assert_allclose(twice.wedge, once.wedge, rtol=1e-3)


@pytest.mark.parametrize("method", LAWFUL)
def test_no_curvature_along_the_weights(method: str) -> None:
    for at in picture("ellipse", replace(QUICK, method=method)).measured.at:
        assert abs(at.radial) < 1e-12 * at.metric[0, 0]


@pytest.mark.parametrize("method", ["batch", "layer"])
def test_kl_on_the_contour_and_the_wedge_is_the_level(method: str) -> None:
    settings = replace(QUICK, method=method)
    it, measured = block_on_data(settings), picture("ellipse", settings).measured
    own, directions = it.objective.own, measured.directions

    def model_at(w: np.ndarray) -> Any:
        return it.model.unpack(it.objective.theta(w))

    for at in measured.at:
        here = model_at(at.norm * own)
        for place in (0, 11, 30):
            there = model_at(at.norm * own + at.contour[place] @ directions)
            assert kl(here, there, it.X) == pytest.approx(measured.level, rel=1e-3)
        for angle in at.wedge:
            for radius in (0.5, 7.0):
                there = model_at(radius * (np.cos(angle) * own + np.sin(angle) * directions[0]))
                assert kl(here, there, it.X) == pytest.approx(measured.level, rel=1e-3)


def test_small_contours_are_ellipses() -> None:
    at = picture("ellipse", QUICK).measured.at[0]
    level = 0.5 * np.einsum("ri,ij,rj->r", at.ellipse, at.metric, at.ellipse)
    np.testing.assert_allclose(level, picture("ellipse", QUICK).measured.level, rtol=1e-9)
    np.testing.assert_allclose(at.contour, at.ellipse, rtol=0.5, atol=0.1)


def test_eps_bends_the_wedge_and_says_so() -> None:
    result = picture("ellipse", replace(QUICK, eps=0.5))
    assert result.measured.at[0].radial > 1e-3 * result.measured.at[0].metric[0, 0]
    figure = PICTURES["ellipse"].figure(result, "light")
    words = " ".join(a.text for a in figure.layout.annotations)
    assert "curvature along ŵ is" in words


def test_fisher_and_its_scale_are_named_on_the_figure() -> None:
    figure = PICTURES["ellipse"].figure(picture("ellipse", QUICK), "light")
    words = " ".join(a.text for a in figure.layout.annotations)
    assert "expected Fisher information, per case, exact coupling; N = 178, φ = 1" in words


# Every state has a picture or a sentence.


@pytest.mark.parametrize("neurons", [0, 1, 2])
@pytest.mark.parametrize("method", NORMALIZERS)
@pytest.mark.parametrize("dataset", DATASETS)
def test_every_state_has_a_figure_or_a_sentence(dataset: str, method: str, neurons: int) -> None:
    settings = Settings(dataset=dataset, method=method, neurons=neurons, steps=3)
    for name in NAMES:
        try:
            result = picture(name, settings)
        except ValueError as error:
            assert_is_sentence(str(error))
            continue
        spec = PICTURES[name].figure(result, "dark").to_json()
        assert len(spec) < 300_000
        assert "nan" not in re.sub(r"finance|nano", "", spec).lower()
        table = PICTURES[name].table(result)
        assert table.rows


def assert_is_sentence(words: str) -> None:
    assert words[0].isupper() or words[0] in "`σ"
    assert words.endswith(".")
    assert len(words.split()) > 8


@pytest.mark.parametrize("eps", [1.0])
@pytest.mark.parametrize("method", [name for name in NORMALIZERS if name != "standard"])
def test_payload_stays_small_with_eps(method: str, eps: float) -> None:
    settings = replace(QUICK, method=method, eps=eps, growth=0.125)
    for name in NAMES:
        figure = PICTURES[name].figure(picture(name, settings), "light")
        assert len(figure.to_json()) < 300_000


def test_long_run_stays_small() -> None:
    settings = Settings(dataset="plane", steps=2000)
    figure = PICTURES["descent"].figure(picture("descent", settings), "light")
    assert len(figure.to_json()) < 300_000


@pytest.mark.parametrize("name", NAMES)
def test_standard_model_has_a_sentence_with_a_way_out(name: str) -> None:
    assert sentence_of(name, replace(QUICK, method="standard")) == (
        "The standard model does not divide by a scale, so a longer weight vector is another "
        "function, with a larger output: no law ties the turn of a step to ‖w‖. Choose a method "
        "with a scale: batch norm, weight norm or layer norm."
    )


def test_frozen_statistics_have_a_sentence() -> None:
    assert sentence_of("turn", replace(QUICK, statistics="frozen")) == (
        "With frozen statistics batch norm divides by a constant, so a longer weight vector is "
        "another function: no law ties the turn of a step to ‖w‖. Choose current statistics."
    )


@pytest.mark.parametrize("dataset", ["breast_cancer", "linnerud"])
def test_two_neurons_under_layer_norm_have_a_sentence(dataset: str) -> None:
    assert sentence_of("turn", Settings(dataset=dataset, method="layer", neurons=2)) == (
        "With two neurons to a group, layer norm makes z = ±1 whatever the weights, so the loss "
        "has no gradient and no step turns anything. Take three neurons or more to a group."
    )


def test_flat_loss_has_a_sentence() -> None:
    # Four neurons share one target, so the squares of z are all that the loss sees.
    assert sentence_of("turn", Settings(dataset="diabetes", method="layer")) == (
        "The loss does not change where these weights turn: their gradient is zero, so no step "
        "turns them. Choose another method, another neuron or other data."
    )


def test_unknown_neuron_has_a_sentence() -> None:
    assert sentence_of("turn", replace(QUICK, neuron=6)) == (
        "Neurons are numbered from 0 to 5 here; got neuron=6. Choose another."
    )


def test_fewer_neurons_than_classes_have_a_sentence() -> None:
    assert sentence_of("turn", Settings(dataset="iris", neurons=2)) == (
        "Iris has 3 classes, so its model needs as many neurons; got neurons=2. Use more, or the "
        "Bernoulli family: one class against the rest."
    )


def test_block_without_two_tangent_directions_has_no_ellipse() -> None:
    assert sentence_of("ellipse", Settings(dataset="plane")) == (
        "An ellipse needs two directions across the weights, and this block has 1. Choose data "
        "with more features, or a layer statistic with more neurons."
    )


# What goes out.


@pytest.mark.parametrize("name", NAMES)
def test_only_the_settings_in_uses_matter(name: str) -> None:
    other = Settings(
        delta=-2,
        cell="batch.case_rescaling",
        rows="grid",
        theme="dark",
        tab="own",
        center="none",
        scale="none",
        index=3,
    )
    settings = replace(other, dataset="wine", neurons=6, steps=20)
    assert PICTURES[name].table(picture(name, settings)) == PICTURES[name].table(
        picture(name, QUICK)
    )


@pytest.mark.parametrize("name", NAMES)
def test_recipe_gives_the_same_picture(name: str) -> None:
    settings = replace(QUICK, method="layer", growth=4, rate=0.5, seed=3)
    recipe = PICTURES[name].recipe(settings)
    again = Settings.from_recipe(recipe["settings"])
    assert PICTURES[name].table(picture(name, again)) == PICTURES[name].table(
        picture(name, settings)
    )


def test_turn_table_has_the_numbers_of_the_curve() -> None:
    result = picture("turn", QUICK)
    table = PICTURES["turn"].table(result)
    assert [row[table.columns.index("angle")] for row in table.rows] == list(result.curve.angles)
