"""The Recurrent pictures by value: what explodes, what dies, and what layer norm keeps."""

import json
import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from plotly.utils import PlotlyJSONEncoder

from normgeo.base.progress import Stop
from normgeo.normalizers.named import NORMALIZERS
from normgeo.pictures import PICTURES
from normgeo.pictures.recurrent import radii as of_radii
from normgeo.pictures.recurrent import recurrence as of_recurrence
from normgeo.pictures.recurrent.radii import Curve
from normgeo.pictures.recurrent.recurrences import RADII, first_step
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.template import PREDICTED
from normgeo.settings import Settings
from tests.forms import on_a_phone

RECURRENCE, RADIUS = PICTURES["recurrence"], PICTURES["radii"]
SHORT = Settings(length=16, neurons=8)


@pytest.fixture
def few(monkeypatch):
    """Few radii, where they are not what is looked at."""
    for module in (of_radii, of_recurrence):
        monkeypatch.setattr(module, "RADII", (0.5, 1.0, 2.0))


@pytest.fixture(scope="module")
def identity():
    return RECURRENCE.compute(Settings())


@pytest.fixture(scope="module")
def radii():
    return RADIUS.compute(Settings())


@pytest.fixture(scope="module")
def relu():
    return RECURRENCE.compute(Settings(activation="relu", seed=1))


def test_memory_is_the_power_of_the_spectral_radius_without_normalization(identity):
    """J = W_hh: the norm of its T-th power, to the non-normal part that T steps leave."""
    for radius, methods in identity.curves.items():
        decades = methods["standard"].log10_norms[0]
        assert decades == pytest.approx(identity.setup.steps * np.log10(radius), abs=1.0)


def test_layer_norm_keeps_memory_where_it_explodes_without(identity):
    at = identity.curves[2.0]
    assert at["standard"].log10_norms[0] > 18
    assert abs(at["layer"].log10_norms[0]) < 1
    assert at["standard"].hidden[-1] > 1e15


def test_layer_norm_changes_less_with_the_radius_than_no_normalization(relu):
    ends = {
        key: [methods[key].log10_norms[0] for methods in relu.curves.values()]
        for key in ("standard", "layer")
    }
    assert np.ptp(ends["layer"]) < np.ptp(ends["standard"]) / 2


def test_state_under_layer_norm_has_rms_one_at_every_radius(identity):
    """With f(s) = s the state is z, whose mean square is 1, at any length."""
    assert identity.setup.steps == 8 * identity.setup.rows, "longer than any sequence"
    for methods in identity.curves.values():
        np.testing.assert_allclose(methods["layer"].hidden[1:], 1, rtol=1e-12)


def test_memory_of_the_last_state_is_one(identity):
    for methods in identity.curves.values():
        for curves in methods.values():
            assert curves.times[-1] == identity.setup.steps
            assert curves.log10_norms[-1] == 0


def test_frames_are_the_radii_and_drive_all_panels(identity):
    figure = RECURRENCE.figure(identity, "light")
    assert [frame.name for frame in figure.frames] == [f"{radius:g}" for radius in RADII]
    for frame in figure.frames:
        moving = {figure.data[i].xaxis for i in frame.traces}
        assert moving == {"x", "x2", "x3"}
        assert len(frame.layout.annotations) == 5
        factors = dots(frame)
        assert factors == [curves.factor for curves in identity.curves[float(frame.name)].values()]
    dashes = {trace.line.dash for trace in figure.data if trace.mode == "lines"}
    assert dashes == {"solid", "dash"}


def test_number_over_a_panel_stays_on_one_line_with_its_method(identity):
    """On a page, on a phone and in a hall, where lines are short, at every radius."""
    figure = json.loads(RECURRENCE.figure(identity, "light").to_json())
    said = re.findall(r'"text": "(.*?)(?<!\\)"', json.dumps(figure, ensure_ascii=False))
    plain = [re.sub(r"<(?!br)[^>]*>", "", words).replace("\xa0", " ") for words in said]
    heads = [
        words for words in plain if not words.startswith("Without a norm")
    ]  # the answer breaks
    lines = [line for words in heads for line in words.split("<br>")]
    assert len([line for line in lines if "layer norm × " in line]) > len(RADII)
    assert not [line for line in lines if re.search(r"(×|·|layer|layer norm)\s*$", line)]


def test_growth_is_drawn_beside_its_prediction_at_every_radius(identity):
    figure = RECURRENCE.figure(identity, "light")
    laws = [one for one in figure.data if one.line.dash == "dash" and one.x[0] is not None]
    assert {one.xaxis for one in laws} == {"x3"}
    for key, law in zip(("standard", "layer"), laws, strict=True):
        assert [*law.x] == [*identity.curves]
        expected = [10 ** methods[key].predicted for methods in identity.curves.values()]
        np.testing.assert_allclose(law.y, expected, rtol=1e-3)
    np.testing.assert_allclose(laws[0].y, [*identity.curves], rtol=1e-3)  # W alone: ρ per step


def dots(frame):
    """The factors per step at the radius of a frame, as dots beside the curves."""
    found = [data for data in frame.data if len(data.x) == 1]
    assert {data.x[0] for data in found} == {float(frame.name)}
    return [pytest.approx(data.y[0], rel=1e-3) for data in found]


def laid_over(figure, name):
    """The figure as a frame makes it: its attributes over those of the figure, nothing kept."""
    whole = figure.to_plotly_json()
    (frame,) = [each.to_plotly_json() for each in figure.frames if each.name == name]
    for place, trace in zip(frame["traces"], frame["data"], strict=True):
        whole["data"][place] = {**whole["data"][place], **trace}
    shown = {
        key: frame["layout"].get(key, whole["layout"].get(key)) for key in ("annotations", "meta")
    }
    return json.loads(json.dumps([whole["data"], shown], cls=PlotlyJSONEncoder))


@pytest.mark.exhaustive
def test_a_frame_is_what_opening_there_draws_with_its_legend(few, subtests):
    for method in ["batch", "rms", "weight"]:
        with subtests.test(method=method):
            chosen = {"length": 8, "neurons": 4, "method": method}
            opened, *others_opened = (
                RECURRENCE.figure(RECURRENCE.compute(Settings(radius=start, **chosen)), "light")
                for start in (1.0, 0.5, 2.0)
            )
            for radius, figure in zip((0.5, 2.0), others_opened, strict=True):
                fresh, moved = (laid_over(each, f"{radius:g}") for each in (figure, opened))
                assert fresh == moved
                named = [trace["name"] for trace in moved[0] if trace["showlegend"]]
                plain, *others = named
                assert plain == "no norm"
                assert others[-1] == "growth predicted for many neurons"


def test_starting_radius_off_the_frames_becomes_one():
    picture = RECURRENCE.compute(Settings(length=16, neurons=8, radius=1.23))
    assert 1.23 in picture.curves
    figure = RECURRENCE.figure(picture, "light")
    assert "1.23" in [frame.name for frame in figure.frames]


def test_radii_and_frames_tell_the_same_of_memory(identity, radii):
    """One run for each radius against all radii at once: ‖∂h^T/∂h⁰‖ is the factor to the T."""
    for key in ("standard", "layer"):
        single = [methods[key].log10_norms[0] / 64 for methods in identity.curves.values()]
        np.testing.assert_allclose(radii.curves["identity"][key].measured, single, atol=1e-12)


def test_axes_of_a_frame_end_where_its_curves_do(identity):
    figure = RECURRENCE.figure(identity, "light")
    for methods, frame in zip(identity.curves.values(), figure.frames, strict=True):
        shown = np.hstack([methods[key].log10_norms for key in methods])
        low, high = frame.layout.yaxis2.range
        assert low <= shown.min() < shown.max() <= high
        assert high - low <= 1.2 * np.ptp([*shown, 0]) + 0.2, "no empty decades"


def test_words_about_dying_stand_where_no_curve_goes(radii):
    """At the foot of the panels, on the right: a fifth of their height is free of curves there."""
    drawn = RADIUS.figure(radii, "light")
    words = [each for each in drawn.layout.annotations if each.text == "↓ dies"]
    assert [each.yref for each in words] == ["y domain", "y2 domain", "y3 domain"]
    assert {(each.y, each.xanchor) for each in words} == {(0, "right")}
    low, high = drawn.layout.yaxis.range
    for line in drawn.data:
        if line.x is not None and len(line.x) > 2:
            heights = np.log10(np.asarray(line.y, float))[np.asarray(line.x, float) >= 1.4]
            assert (heights > low + (high - low) / 5).all()


def test_linear_recurrence_multiplies_a_change_by_the_radius(radii):
    rows = RADIUS.table(radii).records()
    assert len(rows) == 3 * 2 * len(RADII)
    for row in rows:
        if (row["activation"], row["method"]) == ("identity", "standard"):
            assert row["predicted_for_wide_layers"] == pytest.approx(row["radius"])
            assert row["factor_per_step"] == pytest.approx(row["radius"], rel=0.02)


def test_the_answer_follows_from_what_is_measured(radii):
    """The words, from the numbers: counted here by hand."""
    factors = {
        key: 10 ** np.array([curves[key].measured for curves in radii.curves.values()])
        for key in radii.setup.methods
    }
    lasting = 100 ** (1 / 64)
    assert (factors["standard"] > lasting).any()
    assert not (factors["layer"] > lasting).any()
    dying = {key: (found < 1 / lasting).sum() for key, found in factors.items()}
    assert 0 < dying["layer"] < dying["standard"]
    assert radii.kept_from("layer") == ("Yes", "Partly")


def test_the_answer_is_another_one_where_the_numbers_are(radii, subtests):
    """Planted: layer norm's factors are those without it, moved; then a slightly better one."""
    for shift, answers in [
        (0.5, ("No", "Yes")),
        (-0.5, ("Yes", "No")),
        (0.02, ("Partly", "Partly")),
        (-np.inf, ("Yes", "No")),
    ]:
        with subtests.test(shift=shift, answers=answers):
            curves = {}
            for name, methods in radii.curves.items():
                plain = methods["standard"].measured
                planted = plain + shift if abs(shift) > 0.1 else 0.8 * plain
                curves[name] = {"standard": methods["standard"], "layer": Curve(planted, None)}
            planted = radii._replace(curves=curves)
            assert planted.kept_from("layer") == answers
            words = RADIUS.figure(planted, "light").layout.annotations[0].text
            exploding, dying = answers
            assert f"from exploding? {exploding}. From dying? {dying}." in words


def test_short_runs_in_which_nothing_explodes_say_so():
    curve = Curve(np.full(len(RADII), -0.5), None)
    still = RADIUS.compute(SHORT)._replace(curves={"tanh": {"standard": curve, "layer": curve}})
    assert still.kept_from("layer") == ("Nothing explodes here", "No")


def test_panels_show_all_activations_beside_the_radius_one(radii, subtests):
    for theme in ["light", "dark"]:
        with subtests.test(theme=theme):
            figure = RADIUS.figure(radii, theme)
            titles = " ".join(note.text for note in figure.layout.annotations)
            for title in ("f = identity", "f = tanh", "f = ReLU"):
                assert title in titles
            assert [shape.x0 for shape in figure.layout.shapes if shape.type == "line"] == [1, 1, 1]
            assert {trace.line.dash for trace in figure.data} == {"solid", "dash"}
            shown = [trace.name for trace in figure.data if trace.showlegend]
            assert shown == [
                "no norm",
                "layer norm",
                "growth predicted for many neurons",
            ]


def test_panels_stack_on_a_phone_without_overlap(radii, identity, subtests):
    for name in ["radii", "recurrence"]:
        with subtests.test(name=name):
            figure = PICTURES[name].figure(radii if name == "radii" else identity, "light")
            narrow = figure.layout.meta["narrow"]
            rows = [narrow[f"yaxis{axis}"]["domain"] for axis in ("", "2", "3")]
            assert all(above[0] > below[1] for above, below in pairwise(rows))
            assert all(
                tuple(narrow[f"xaxis{axis}"]["domain"]) == (0.0, 1.0) for axis in ("", "2", "3")
            )
            assert narrow["legend"]["y"] > rows[0][1]
            sizes = [note.get("font", {}).get("size", 16) for note in on_a_phone(figure)]
            assert min(sizes) >= 14


@pytest.mark.exhaustive
def test_chosen_method_runs_beside_the_others_where_it_has_a_z_for_one_case(few, subtests):
    for method in NORMALIZERS:
        with subtests.test(method=method):
            normalizer = NORMALIZERS[method]
            picture = RECURRENCE.compute(Settings(length=8, neurons=4, method=method))
            expected = {"standard", "layer"} | (set() if normalizer.shared_by_cases else {method})
            assert set(picture.setup.methods) == expected
            figure = RECURRENCE.figure(picture, "light")
            assert (method_color(normalizer, "light") in {t.line.color for t in figure.data}) == (
                method in expected
            )
            radii = RADIUS.compute(Settings(length=8, neurons=4, method=method))
            assert set(radii.setup.methods) == expected
            assert len(radii.answers) == len(expected) - 1
            RADIUS.figure(radii, "light")


def test_method_that_sees_weights_runs_at_each_radius_by_itself(few, subtests):
    for method in ["weight", "centered_weight"]:
        with subtests.test(method=method):
            chosen = {"length": 8, "neurons": 4, "method": method, "radius": 1.0}
            chosen["activation"] = "tanh"
            radii = RADIUS.compute(Settings(**chosen))
            single = RECURRENCE.compute(Settings(**chosen))
            rates = [methods[method].log10_norms[0] / 8 for methods in single.curves.values()]
            np.testing.assert_allclose(radii.curves["tanh"][method].measured, rates, atol=1e-12)
            assert radii.curves["tanh"][method].predicted is None


def test_two_neurons_are_only_signs_and_the_norm_is_zero_with_its_reason():
    picture = RECURRENCE.compute(Settings(neurons=2, length=8))
    assert any("only a sign" in note for note in picture.notes)
    rows = RECURRENCE.table(picture).records()
    lost = [row for row in rows if row["log10_norm"] is None]
    assert lost
    assert all("the norm is 0" in row["reason"] for row in lost)
    assert "is lost" in RECURRENCE.figure(picture, "light").layout.annotations[0].text
    radii = RADIUS.compute(Settings(neurons=2, length=8))
    assert radii.kept_from("layer")[1] == "No"
    assert any("only a sign" in note for note in radii.notes)
    RADIUS.figure(radii, "dark")


def is_told(said, size):
    """Assert that words tell how many times as large something becomes."""
    if found := re.search(r"shrinks to ([\d.]+)%", said):
        assert float(found[1]) == pytest.approx(100 * size, rel=0.06)
        assert size < 1
    elif found := re.search(r"grows ([\d.]+)-fold", said):
        assert float(found[1]) == pytest.approx(size, rel=0.06)
        assert size > 1
    elif "keeps its size" in said:
        assert size == pytest.approx(1, rel=0.05)
    else:
        assert ("explodes" in said, "dies" in said) == (size > 100, size < 0.01)


@pytest.mark.parametrize("settings", [SHORT, replace(SHORT, activation="tanh", length=64)])
def test_verdict_tells_what_becomes_of_the_state_and_of_a_change(settings):
    """Of the state only where it explodes or dies without a norm and not with it, or the reverse.

    Without a norm f = identity does the same to both.
    """
    result, forms = RECURRENCE.compute(settings), set()
    for radius, methods in result.curves.items():
        verdict, plain, normed = result.verdict(radius), methods["standard"], methods["layer"]
        of_state = verdict.startswith("Without a norm the state ")
        forms.add(of_state)
        state, within = (one.hidden[-1] / one.hidden[0] for one in (plain, normed))
        gone = [not 0.01 <= size <= 100 for size in (state, within)]
        assert of_state == (gone[0] != gone[1])
        if verdict.endswith("with a norm or without"):
            continue
        said, said_within = verdict.split("; with layer norm it ")
        is_told(said, state if of_state else plain.factor**settings.length)
        change = normed.factor**settings.length
        if of_state:
            said_within, told, said_of_change = said_within.partition(", but a change of it ")
            assert bool(told) == (not 0.01 <= change <= 100)
            if told:
                is_told(said_of_change, change)
        is_told(said_within, within if of_state else change)
    assert True in forms or settings.activation == "tanh"


def test_predictions_have_the_colors_of_their_methods(identity):
    figure = RECURRENCE.figure(identity, "light")
    laws = [line for line in figure.data if line.line.dash == PREDICTED and line.x[0] is not None]
    assert [line.line.color for line in laws] == [
        method_color(method, "light") for method in identity.setup.methods.values()
    ]


def test_a_change_that_is_lost_at_every_radius_is_drawn_and_told():
    picture = RECURRENCE.compute(Settings(neurons=2, activation="relu"))
    factors = {each.factor for one in picture.curves.values() for each in one.values()}
    assert factors == {0.0}
    figure = RECURRENCE.figure(picture, "light")
    assert (
        figure.layout.annotations[0].text
        == "<b>In 64 steps a change of the state is lost, with a norm or without</b>"
    )
    assert figure.layout.yaxis3.range[0] < 0 < figure.layout.yaxis3.range[1]


def test_too_few_and_too_many_neurons_are_refused_in_a_sentence(subtests):
    for neurons in [1, 65]:
        with subtests.test(neurons=neurons), pytest.raises(ValueError, match=r"\.$"):
            RECURRENCE.compute(Settings(neurons=neurons))


def test_stopped_picture_has_its_starting_frame_and_says_how_much_it_is():
    def stop(done: int, steps: int) -> None:
        assert steps == len(RADII)
        if done >= 3:
            raise Stop

    picture = RECURRENCE.compute(SHORT, stop)
    assert list(picture.curves) == [1.2, 1.4, 1.6]
    figure = RECURRENCE.figure(picture, "light")
    assert [frame.name for frame in figure.frames] == ["1.2", "1.4", "1.6"]
    assert "stopped with 3 of 12 radii" in figure.layout.annotations[-1].text


def test_stopped_radii_have_whole_panels_only():
    heard = []

    def stop(done: int, steps: int) -> None:
        heard.append(done / steps)
        if done > 0.4 * steps:
            raise Stop

    picture = RADIUS.compute(SHORT, stop)
    assert list(picture.curves) == ["identity", "tanh"]
    assert len(heard) > 8, "the bar moves within a panel"
    assert heard == sorted(heard)
    whole = RADIUS.compute(SHORT)
    np.testing.assert_array_equal(
        picture.curves["tanh"]["layer"].measured, whole.curves["tanh"]["layer"].measured
    )
    RADIUS.figure(picture, "light")


def test_first_step_is_the_formula_with_todays_numbers():
    step = first_step(Settings())
    assert step.summed_input == pytest.approx(step.recurrent + step.driven)
    assert step.z == pytest.approx((step.summed_input - step.mu) / step.sigma)
    assert step.hidden == pytest.approx(step.z)
    assert first_step(Settings(activation="tanh")).hidden == pytest.approx(np.tanh(step.z))


def test_zero_state_and_input_are_explained_by_the_computation_itself():
    assert "h = 0 and x = 0" in first_step(Settings()).undefined
    assert "non-zero state or input" in first_step(Settings()).undefined


@pytest.mark.parametrize(
    ("name", "length"),
    [pytest.param("recurrence", 256, marks=pytest.mark.exhaustive), ("radii", 16)],
)
def test_payload_is_small_at_the_longest(name, length):
    """That of all radii at once has a number for each, however long the runs are."""
    picture = PICTURES[name]
    longest = picture.compute(Settings(length=length, neurons=4, method="rms"))
    assert len(picture.figure(longest, "dark").to_json()) < 150_000


def test_slide_says_on_which_activation_its_answer_depends(identity):
    words = RECURRENCE.figure(identity, "light").layout.meta["slide"]["annotations"].values()
    assert sum(str(one.get("text")).startswith("f = identity; shaded: ") for one in words) == 1
