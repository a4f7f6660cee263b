"""The picture of one gradient step, against closed forms."""

import re
from dataclasses import replace

import numpy as np
import pytest

from normgeo import NORMALIZERS
from normgeo.dynamics.loss_plane import loss_plane
from normgeo.pictures import PICTURES
from normgeo.pictures.learning_rate.block_on_data import block_on_data
from normgeo.settings import Settings

TURN = PICTURES["turn"]
LAWFUL = [key for key, method in NORMALIZERS.items() if method.homogeneous_blocks(4)]
QUICK = Settings(dataset="wine", neurons=6, steps=20)


@pytest.mark.parametrize("method", LAWFUL)
def test_turn_falls_with_slope_minus_two(method: str) -> None:
    curve = TURN.compute(replace(QUICK, method=method)).curve
    slope, _ = np.polyfit(np.log(curve.norms), np.log(np.tan(curve.angles)), 1)
    assert slope == pytest.approx(-2, abs=1e-9)


@pytest.mark.parametrize("method", LAWFUL)
def test_doubling_halves_the_gradient_quarters_the_turn_and_keeps_the_loss(method: str) -> None:
    curve = TURN.compute(replace(QUICK, method=method)).curve
    one, two = (int(np.flatnonzero(np.isclose(curve.norms, norm))[0]) for norm in (1, 2))
    assert curve.gradient_norms[two] / curve.gradient_norms[one] == pytest.approx(0.5)
    assert np.tan(curve.angles[two]) / np.tan(curve.angles[one]) == pytest.approx(0.25)
    assert curve.loss[two] == pytest.approx(curve.loss[one])


@pytest.mark.parametrize("method", LAWFUL)
def test_small_turn_is_quartered_in_degrees_too(method: str) -> None:
    rate = 1e-3 * TURN.compute(replace(QUICK, method=method)).curve.rate
    curve = TURN.compute(replace(QUICK, method=method, rate=rate)).curve
    assert curve.rate == rate
    assert curve.angles[2] / curve.angles[0] == pytest.approx(0.25, rel=1e-6)


@pytest.mark.parametrize("method", LAWFUL)
def test_loss_is_wedges_constant_along_rays(method: str) -> None:
    it = block_on_data(replace(QUICK, method=method))
    (shown,) = TURN.compute(replace(QUICK, method=method)).planes
    for norm in (0.25, 4.0):
        plane = loss_plane(it.model, it.X, it.y, block=it.block, angles=shown.angles, norm=norm)
        np.testing.assert_allclose(plane.loss, shown.loss, rtol=1e-9)


def test_rate_zero_turns_the_block_by_a_tangent_of_a_half() -> None:
    assert np.tan(TURN.compute(QUICK).curve.here.angle) == pytest.approx(0.5)


def test_picture_starts_at_norm_one() -> None:
    assert TURN.compute(QUICK).curve.here.norm == pytest.approx(1)


@pytest.mark.parametrize("growth", [0.125, 1.0, 2.83, 3.0, 64.0])
def test_slider_reaches_from_one_to_sixteen_and_to_where_it_opens(growth: float) -> None:
    settings = replace(QUICK, growth=growth)
    norms = TURN.compute(settings).curve.norms
    assert norms.min() <= 1
    assert norms.max() >= 16
    assert np.isclose(norms, growth, rtol=2e-3).sum() == 1
    figure = TURN.figure(TURN.compute(settings), "light")
    (slider,) = figure.layout.sliders
    assert norms[slider.active] == pytest.approx(growth, rel=2e-3)


def test_eps_lets_measured_values_leave_the_predicted() -> None:
    curve = TURN.compute(replace(QUICK, eps=0.5)).curve
    assert abs(curve.angles[-1] / curve.predicted_angles[-1] - 1) > 0.05
    assert np.ptp(curve.loss) > 1e-3


def test_eps_makes_the_loss_depend_on_the_norm_in_the_plane() -> None:
    planes = TURN.compute(replace(QUICK, eps=0.5)).planes
    assert len({round(float(plane.loss[0]), 6) for plane in planes}) == len(planes) > 1


@pytest.mark.parametrize("method", ["batch", "layer"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_frame_of_the_turn_shows_the_numbers_of_its_norm(method: str, theme: str) -> None:
    it = TURN.compute(replace(QUICK, method=method))
    figure = TURN.figure(it, theme)
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
    figure = TURN.figure(TURN.compute(replace(QUICK, growth=growth)), "light")
    for frame in figure.frames:
        arrow = frame.data[-2]
        low, high = frame.layout.yaxis.range
        assert low < arrow.y[1] < high


def test_opening_frame_is_what_the_figure_shows() -> None:
    figure = TURN.figure(TURN.compute(replace(QUICK, growth=4)), "light")
    (frame,) = (f for f in figure.frames if f.name == "4")
    for place, trace in zip(frame.traces, frame.data, strict=True):
        np.testing.assert_array_equal(figure.data[place].y, trace.y)
    assert [a.text for a in figure.layout.annotations] == [a.text for a in frame.layout.annotations]


@pytest.mark.parametrize("growth", [1.0, 64.0])
def test_frames_have_equally_many_words_and_say_all_that_another_changes(growth: float) -> None:
    frames = TURN.figure(TURN.compute(replace(QUICK, growth=growth)), "light").frames
    slots = [[set(a.to_plotly_json()) for a in frame.layout.annotations] for frame in frames]
    assert all(slot == slots[0] for slot in slots)


@pytest.mark.parametrize("growth", [0.125, 1.0, 64.0])
def test_words_of_a_step_are_in_the_part_of_the_plane_that_is_seen(growth: float) -> None:
    for frame in TURN.figure(TURN.compute(replace(QUICK, growth=growth)), "dark").frames:
        feet = [a for a in frame.layout.annotations if a.visible and a.yanchor == "top"]
        assert feet
        assert all(a.x < frame.layout.xaxis.range[1] for a in feet)
        assert len({a.x for a in feet}) == len(feet)


def test_markup_of_the_numbers_is_what_a_browser_reads() -> None:
    figure = TURN.figure(TURN.compute(QUICK), "light")
    styles = re.findall(r'style="([^"]*)"', "".join(a.text for a in figure.layout.annotations))
    assert len(styles) == 8
    assert {style.split(":")[0] for style in styles} == {"font-size", "color"}


def test_lines_have_the_styles_that_mean_measured_predicted_and_claimed() -> None:
    figure = TURN.figure(TURN.compute(QUICK), "light")
    styles = {trace.name.split(":")[0]: trace.line.dash for trace in figure.data if trace.line.dash}
    assert styles == {"measured": "solid", "predicted": "dash", "“½” read as a turn": "dot"}


def test_rate_is_said_on_the_picture() -> None:
    figure = TURN.figure(TURN.compute(replace(QUICK, rate=0.75)), "light")
    assert any("η = 0.75" in a.text for a in figure.layout.annotations)


def test_turn_table_has_the_numbers_of_the_curve() -> None:
    result = TURN.compute(QUICK)
    table = TURN.table(result)
    assert [row[table.columns.index("angle")] for row in table.rows] == list(result.curve.angles)
