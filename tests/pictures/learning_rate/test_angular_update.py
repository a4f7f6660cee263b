"""The picture of one gradient step, against closed forms."""

import base64
import io
import re
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from PIL import Image

from normgeo import NORMALIZERS
from normgeo.dynamics.loss_plane import loss_plane
from normgeo.pictures import PICTURES
from normgeo.pictures.learning_rate.angular_update_words import steps, why
from normgeo.pictures.learning_rate.block_on_data import block_on_data
from normgeo.pictures.learning_rate.weight_plane_figure import stretch_of
from normgeo.settings import Settings
from tests.forms import on_a_phone

TURN = PICTURES["turn"]
LAWFUL = [key for key, method in NORMALIZERS.items() if method.homogeneous_blocks(4)]
QUICK = Settings(dataset="wine", neurons=6, steps=20)


@cache
def turn(settings: Settings) -> Any:
    return TURN.compute(settings)


@cache
def drawn(settings: Settings) -> Any:
    """The light figure, of which no test changes anything."""
    return TURN.figure(turn(settings), "light")


def test_turn_falls_with_slope_minus_two(subtests: pytest.Subtests) -> None:
    for method in LAWFUL:
        with subtests.test(method=method):
            curve = turn(replace(QUICK, method=method)).curve
            slope, _ = np.polyfit(np.log(curve.norms), np.log(np.tan(curve.angles)), 1)
            assert slope == pytest.approx(-2, abs=1e-9)


def test_doubling_halves_the_gradient_quarters_the_turn_and_keeps_the_loss(
    subtests: pytest.Subtests,
) -> None:
    for method in LAWFUL:
        with subtests.test(method=method):
            curve = turn(replace(QUICK, method=method)).curve
            one, two = (int(np.flatnonzero(np.isclose(curve.norms, norm))[0]) for norm in (1, 2))
            assert curve.gradient_norms[two] / curve.gradient_norms[one] == pytest.approx(0.5)
            assert np.tan(curve.angles[two]) / np.tan(curve.angles[one]) == pytest.approx(0.25)
            assert curve.loss[two] == pytest.approx(curve.loss[one])


def test_small_turn_is_quartered_in_degrees_too(subtests: pytest.Subtests) -> None:
    for method in LAWFUL:
        with subtests.test(method=method):
            rate = 1e-3 * turn(replace(QUICK, method=method)).curve.rate
            curve = turn(replace(QUICK, method=method, rate=rate)).curve
            assert curve.rate == rate
            one, two = (int(np.flatnonzero(np.isclose(curve.norms, norm))[0]) for norm in (1, 2))
            assert curve.angles[two] / curve.angles[one] == pytest.approx(0.25, rel=1e-6)


def test_loss_is_wedges_constant_along_rays(subtests: pytest.Subtests) -> None:
    for method in LAWFUL:
        with subtests.test(method=method):
            it = block_on_data(replace(QUICK, method=method))
            (shown,) = turn(replace(QUICK, method=method)).planes
            for norm in (0.25, 4.0):
                plane = loss_plane(
                    it.model, it.X, it.y, block=it.block, angles=shown.angles, norm=norm
                )
                np.testing.assert_allclose(plane.loss, shown.loss, rtol=1e-9)


def test_rate_left_open_is_that_of_the_descents(subtests: pytest.Subtests) -> None:
    for method in ["batch", "layer"]:
        with subtests.test(method=method):
            settings = replace(QUICK, method=method, steps=3)
            rates = {PICTURES[name].compute(settings).runs[0].rate for name in ("descent",)}
            rates |= {PICTURES["spiral"].compute(settings).run.rate}
            rates |= {PICTURES["twin"].compute(settings).twin.decayed.rate}
            rates |= {PICTURES["equilibrium"].compute(replace(settings, steps=8)).real[0].rate}
            assert rates == {turn(settings).curve.rate}


def test_picture_starts_at_norm_one() -> None:
    assert turn(QUICK).curve.here.norm == pytest.approx(1)


@pytest.mark.exhaustive
def test_slider_opens_at_the_nearest_norm_and_says_so(subtests: pytest.Subtests) -> None:
    for growth, nearest, said in [
        (2.828, "2√2", ""),
        (3.0, "2√2", "3"),
        (64, "16", "64"),
    ]:
        with subtests.test(growth=growth, nearest=nearest, said=said):
            it = turn(replace(QUICK, growth=growth))
            slider = TURN.figure(it, "light").layout.sliders[0]
            assert slider.steps[slider.active].label == nearest
            assert bool(it.elsewhere) == bool(said)
            if said:
                assert str(it.elsewhere) == (
                    f"The slider has no step at ‖w‖ = {said}; it opens at the nearest, {nearest}."
                )


def test_eps_lets_measured_values_leave_the_predicted() -> None:
    curve = turn(replace(QUICK, eps=0.5)).curve
    assert abs(curve.angles[-1] / curve.predicted_angles[-1] - 1) > 0.05
    assert np.ptp(curve.loss) > 1e-3


def test_eps_makes_the_loss_depend_on_the_norm_in_the_plane() -> None:
    planes = turn(replace(QUICK, eps=0.5)).planes
    assert len({round(float(plane.loss[0]), 6) for plane in planes}) == len(planes) > 1


def shown(figure: Any, step: int) -> Any:
    """The figure as a frame shows it."""
    frame = figure.frames[step]
    data, layout = ([trace.to_plotly_json() for trace in figure.data], figure.layout)
    for place, patch in zip(frame.traces, frame.data, strict=True):
        data[place] |= patch.to_plotly_json()
    layout = layout.to_plotly_json() | frame.layout.to_plotly_json()
    return data, layout


FRACTIONS = {"½": 1 / 2, "¼": 1 / 4, "⅛": 1 / 8, "√½": 0.5**0.5}


def value(words: str) -> float:
    """The number of "√2", "½", "1/16", "0.354"."""
    if words in FRACTIONS:
        return FRACTIONS[words]
    whole, root, _ = words.partition("√2")
    if root:
        return float(whole or 1) * 2**0.5
    above, _, below = words.partition("/")
    return float(above) / float(below or 1)


@pytest.mark.exhaustive
def test_every_frame_of_the_turn_shows_the_numbers_of_its_norm(subtests: pytest.Subtests) -> None:
    for method in ["batch", "layer"]:
        with subtests.test(method=method):
            it = turn(replace(QUICK, method=method))
            figure = drawn(replace(QUICK, method=method))
            assert len(figure.frames) == len(it.curve.norms)
            one = it.place(1.0)
            for step in range(len(figure.frames)):
                data, layout = shown(figure, step)
                norm, angle = it.curve.norms[step], it.curve.angles[step]
                arrow, dot = data[len(figure.frames[step].data) - 2 :][:2]
                assert (dot["x"][0], dot["y"][0]) == pytest.approx((norm, np.degrees(angle)))
                assert (arrow["x"][1], arrow["y"][1]) == pytest.approx(
                    (norm, norm * np.tan(angle)), 1e-3
                )
                words = [note["text"] for note in layout["annotations"]]
                assert f"<b>{np.degrees(angle):.3g}°</b>" in words
                found = [value(f) for f in re.findall(r"<b>× ([^<]+)</b></span>", "".join(words))]
                gradient = it.curve.gradient_norms[step] / it.curve.gradient_norms[one]
                turned = np.tan(angle) / np.tan(it.curve.angles[one])
                assert found == pytest.approx([norm, gradient, turned, 1], rel=5e-3)
                left, right = layout["xaxis"]["range"]
                low, high = layout["yaxis"]["range"]
                assert left < 0 < norm < right
                assert low < arrow["y"][1] < high


def test_default_shows_the_four_factors_of_a_doubled_norm() -> None:
    figure = drawn(QUICK)
    tiles = "".join(note.text for note in figure.layout.annotations)
    assert re.findall(r"font-size:28px\"><b>× ([^<]+)</b>", tiles) == ["2", "½", "¼", "1"]


@pytest.mark.parametrize("state", [{}, {"method": "standard"}, {"eps": 0.5}])
def test_opening_frame_is_what_the_figure_shows(state) -> None:
    settings = replace(QUICK, **state)
    two, four = drawn(settings), TURN.figure(replace(turn(settings), start=4.0), "light")
    step = four.layout.sliders[0].active
    (data, layout), (other, other_layout) = shown(four, step), shown(two, step)
    fresh = [trace.to_plotly_json() for trace in four.data]
    assert str(data) == str(other) == str(fresh)
    for key in ("annotations", "xaxis", "yaxis"):
        words = str(four.layout.to_plotly_json()[key])
        if key == "annotations":
            assert str(layout[key]) == str(other_layout[key]) == words
        else:
            assert str(layout[key]["range"]) in words


def test_words_of_steps_are_in_sight_and_apart(subtests: pytest.Subtests) -> None:
    for state in [{}, {"method": "standard"}, {"rate": 1e6}, {"rate": 1e-300}]:
        with subtests.test(state=state):
            figure = drawn(replace(QUICK, **state))
            for frame in figure.frames:
                low, high = frame.layout.xaxis.range
                feet = sorted(
                    a.x for a in frame.layout.annotations if a.yanchor == "top" and a.xref == "x"
                )
                assert feet
                assert low < feet[0] <= feet[-1] < high
                assert (np.diff(feet) > 0.15 * high).all()


def test_words_of_steps_end_inside_a_phone(subtests: pytest.Subtests) -> None:
    """A letter is at most 9 pixels wide; 366 are left of a phone's 390."""
    for state in [{}, {"method": "layer"}]:
        with subtests.test(state=state):
            figure = drawn(replace(QUICK, **state))
            left = figure.layout.margin.l
            for frame in figure.frames:
                low, high = frame.layout.xaxis.range
                for one in on_a_phone(figure, frame):
                    if one["xref"] != "x" or "θ =" not in one["text"]:
                        continue
                    letters = max(
                        len(line) for line in re.sub("<b>|</b>", "", one["text"]).split("<br>")
                    )
                    share = 0 if one.get("xanchor") == "right" else 0.5
                    place = left + (366 - left - 8) * (one["x"] - low) / (high - low)
                    assert place + one.get("xshift", 0) + share * 9 * letters < 366, frame.name


@pytest.mark.parametrize(
    ("state", "words", "images"),
    [
        ({}, "Color: the loss, equal along each ray,", 1),
        ({"eps": 0.5}, "Almost wedges", 5),
        ({"method": "standard"}, "No wedges: the loss changes along a ray,", 5),
        ({"statistics": "frozen"}, "No wedges: the loss changes along a ray,", 5),
    ],
)
def test_plane_is_one_image_of_each_view_and_says_what_it_shows(state, words, images) -> None:
    figure = drawn(replace(QUICK, **state))
    assert any(words in note.text for note in figure.layout.annotations)
    shown = [trace for trace in figure.data if trace.type == "image"]
    assert len(shown) <= images
    assert sum(trace.visible for trace in shown) == 1
    assert all(trace.source.startswith("data:image/png;base64,") for trace in shown)
    assert len(figure.data) <= 9 + images
    assert len(figure.to_json()) < 200_000


def pixels(figure: Any) -> Any:
    """The colors of the visible image by (x, y) of the plane, and a function from there."""
    (trace,) = (trace for trace in figure.data if trace.type == "image" and trace.visible)
    png = Image.open(io.BytesIO(base64.b64decode(trace.source.partition(",")[2]))).convert("RGB")

    def at(x: float, y: float) -> tuple[int, ...]:
        return png.getpixel((round((x - trace.x0) / trace.dx), round((y - trace.y0) / trace.dy)))

    return at


def test_image_has_the_shade_of_the_loss(subtests: pytest.Subtests) -> None:
    at, (plane,) = pixels(drawn(QUICK)), turn(QUICK).planes
    for angle in [-2.5, -1.0, -0.3, 0.2, 0.6]:
        with subtests.test(angle=angle):
            far = [at(r * np.cos(angle), r * np.sin(angle)) for r in (0.5, 1.0, 1.8)]
            assert len(set(far)) == 1, "a wedge"
            loss = np.interp(angle, plane.angles, plane.loss)
            share = (loss - plane.loss.min()) / np.ptp(plane.loss)
            darkness = (255 - np.array(far[0])).sum()
            color = (255 - np.array([0x0B, 0x7A, 0xBD])).sum()
            assert darkness / color == pytest.approx(0.62 * np.ceil(9 * share) / 9, abs=0.02)


def test_standard_shows_its_measured_line_without_a_law() -> None:
    result = turn(replace(QUICK, method="standard"))
    figure = drawn(replace(QUICK, method="standard"))
    assert [trace.name for trace in figure.data if trace.name] == ["measured"]
    assert "predicted" not in figure.to_json()
    assert any("No law here" in note.text for note in figure.layout.annotations)
    assert np.abs(result.curve.radial).max() > 0.05
    columns = TURN.table(result).columns
    assert "predicted_angle" not in columns


def test_markup_of_the_numbers_is_what_a_browser_reads() -> None:
    figure = drawn(QUICK)
    for frame in figure.frames:
        notes = "".join(a.text for a in frame.layout.annotations)
        styles = [s for style in re.findall(r'style="([^"]*)"', notes) for s in style.split(";")]
        assert len(styles) == 12
        assert {style.split(":")[0] for style in styles} == {"font-size", "color"}
        assert "−" not in "".join(re.findall(r"<[^>]*>", notes))


@pytest.mark.parametrize("pixels", [180, 280, 400])
def test_step_at_norm_one_keeps_its_words_in_a_narrow_plane(pixels: float) -> None:
    """As on a slide: beside those of twice the norm they would meet, so they end at their step."""
    result = turn(Settings())
    said = steps(result, 4.8, [result.place(1.0)], result.place(2.0), pixels)
    (tip,) = [note for note in said if note["text"].startswith("‖G‖ × 1<br>")]
    assert tip.get("xanchor") == ("right" if pixels < 400 else None)


def test_lines_have_the_styles_that_mean_measured_predicted_and_claimed() -> None:
    figure = drawn(QUICK)
    styles = {trace.name.split(":")[0]: trace.line.dash for trace in figure.data if trace.name}
    assert styles == {
        "measured": "solid",
        "law": "dash",
        "with ‖G‖ fixed": "dot",
    }


def test_key_of_the_angles_stands_over_them_and_names_what_the_other_law_is() -> None:
    """tan θ = η‖G‖/‖w‖: it falls as 1/‖w‖ if ‖G‖ stays, which it does not."""
    for optimizer, law, other in (
        ("gradient_descent", 2, "with ‖G‖ fixed"),
        ("adam", 1, "∝ 1/‖w‖²"),
    ):
        figure = drawn(Settings(optimizer=optimizer))
        lines = {line.name: line for line in figure.select_traces({"xaxis": "x2"}) if line.name}
        assert [*lines] == ["measured", "law", other]
        named = law == 2  # where it lies above the law
        assert [line.showlegend for line in lines.values()] == [
            None,
            None,
            False if named else None,
        ]
        for name, power in (("law", law), (other, 3 - law)):
            tan = np.tan(np.radians(lines[name].y))
            assert tan[-1] / tan[0] == pytest.approx(32**-power)
        title = f"angle θ of a step; law: tan θ ∝ 1/‖w‖{'²' * (law == 2)}"
        assert title in [note.text for note in figure.layout.annotations]
        assert [words.strip() for words in lines[other].text or () if words] == [other] * named
        assert figure.layout.legend.x == figure.layout.xaxis2.domain[0]
        for form in ("hall", "slide"):
            assert (figure.layout.meta[form]["legend"]["x"] > 0.5) == named, form
        phone = figure.layout.meta["narrow"]
        below = phone["yaxis"]["domain"][0]
        assert phone["yaxis2"]["domain"][1] <= phone["legend"]["y"] < below, "over its own panel"


def test_rate_is_said_on_the_picture() -> None:
    figure = drawn(replace(QUICK, rate=0.75))
    assert any("η = 0.75" in a.text for a in figure.layout.annotations)


def test_turn_table_has_the_numbers_of_the_curve() -> None:
    result = turn(QUICK)
    table = TURN.table(result)
    assert [row[table.columns.index("angle")] for row in table.rows] == list(result.curve.angles)


@pytest.mark.parametrize(("rate", "seen"), [(0.001, True), (0.5, True), (5.0, True), (1e-9, False)])
def test_arrow_at_norm_1_is_enlarged_to_be_seen_where_it_can_be(rate: float, seen: bool) -> None:
    result = turn(replace(QUICK, rate=rate))
    _, across = result.way(result.place(1.0))
    stretch = stretch_of(result)
    assert (0.12 <= across * stretch <= 1.5) == seen
    assert (stretch == 1) == (rate in {0.5, 1e-9})


def test_multiples_of_the_length_are_words_one_says() -> None:
    result = turn(QUICK)
    said = {norm: why(result, result.place(norm)).split(",")[0] for norm in (0.5, 2, 4)}
    assert said == {0.5: "Half as long", 2: "Twice as long", 4: "4 times as long"}


def test_first_step_beyond_a_right_angle_has_a_figure():
    """ε lets a very long step go back along the weights; its law was drawn below 0 degrees."""
    settings = Settings(dataset="plane", seed=9159103, method="layer", eps=0.0008, rate=1e6)
    result = PICTURES["turn"].compute(settings)
    curve = result.curve
    assert curve.here.angle > np.pi / 2
    k = curve.norms
    for angles, divisor in ((curve.predicted_angles, k * k), (curve.halved_angles, k)):
        assert ((angles > 0) & (angles < np.pi)).all()
        np.testing.assert_allclose(np.tan(angles), np.tan(curve.here.angle) / divisor, rtol=1e-9)
    drawn = PICTURES["turn"].figure(result, "light")
    assert np.isfinite(drawn.layout.yaxis2.range).all()


def test_what_is_said_of_the_shades_of_the_loss_is_true_in_the_dark(captions):
    """They go from the paper to the color of the method, which is lighter than a dark paper."""
    result = PICTURES["turn"].compute(Settings(dataset="wine"))
    for theme in ("light", "dark"):
        said = captions("turn", result, theme).replace("\N{NO-BREAK SPACE}", " ")
        assert "ray, so half as steep twice as far out." in said.replace("<br>", " "), theme
        assert "arker" not in said, theme
