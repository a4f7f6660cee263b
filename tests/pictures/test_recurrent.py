"""The Recurrent pictures by value: what explodes, what dies, and what layer norm keeps."""

import numpy as np
import pytest

from normgeo.base.progress import Stop
from normgeo.normalizers.named import NORMALIZERS
from normgeo.pictures import PICTURES
from normgeo.pictures.recurrent.recurrence import RADII
from normgeo.pictures.recurrent.recurrences import first_step
from normgeo.pictures.style.colors import method_color
from normgeo.settings import Settings

RECURRENCE = PICTURES["recurrence"]
SHORT = Settings(length=16, neurons=8)


@pytest.fixture(scope="module")
def identity():
    return RECURRENCE.compute(Settings())


@pytest.fixture(scope="module")
def relu():
    return RECURRENCE.compute(Settings(activation="relu", seed=1))


def test_memory_is_the_power_of_the_spectral_radius_without_normalization(identity):
    """J = W_hh: the norm of its T-th power, to the non-normal part that T steps leave."""
    for radius, methods in identity.curves.items():
        decades = methods["standard"].log10_norms[0]
        assert decades == pytest.approx(identity.steps * np.log10(radius), abs=1.0)


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
    assert identity.steps == 8 * identity.rows, "longer than any sequence"
    for methods in identity.curves.values():
        np.testing.assert_allclose(methods["layer"].hidden[1:], 1, rtol=1e-12)


def test_memory_of_the_last_state_is_one(identity):
    for methods in identity.curves.values():
        for curves in methods.values():
            assert curves.times[-1] == identity.steps
            assert curves.log10_norms[-1] == 0


def test_frames_are_the_radii_and_drive_both_halves(identity):
    figure = RECURRENCE.figure(identity, "light")
    assert [frame.name for frame in figure.frames] == [f"{radius:g}" for radius in RADII]
    for frame in figure.frames:
        moving = {figure.data[i].xaxis for i in frame.traces}
        assert moving == {"x", "x2", "x3"}
        assert len(frame.layout.annotations) == 5
    assert figure.layout.sliders[0].active == RADII.index(1.4)
    assert {trace.line.dash for trace in figure.data} == {"solid", "dash"}


def test_starting_radius_off_the_frames_becomes_one():
    picture = RECURRENCE.compute(Settings(length=16, neurons=8, radius=1.23))
    assert 1.23 in picture.curves
    figure = RECURRENCE.figure(picture, "light")
    assert figure.frames[figure.layout.sliders[0].active].name == "1.23"


def test_radii_table_gives_decades_a_step(identity):
    rows = PICTURES["radii"].table(identity).records()
    assert [row["radius"] for row in rows] == list(RADII)
    for row in rows:
        assert row["without"] == pytest.approx(row["predicted_without"], abs=0.02)
    assert abs(rows[-1]["with_layer_norm"]) < 0.02 < rows[-1]["without"]


@pytest.mark.parametrize("method", NORMALIZERS)
def test_chosen_method_runs_beside_the_others_where_it_has_a_z_for_one_case(method):
    normalizer = NORMALIZERS[method]
    picture = RECURRENCE.compute(Settings(length=16, neurons=8, method=method))
    expected = {"standard", "layer"} | (set() if normalizer.shared_by_cases else {method})
    assert set(picture.methods) == expected
    figure = RECURRENCE.figure(picture, "light")
    assert (method_color(normalizer) in {t.line.color for t in figure.data}) == (method in expected)
    assert len(PICTURES["radii"].table(picture).columns) == 2 + len(expected)
    PICTURES["radii"].figure(picture, "light")


def test_two_neurons_are_only_signs_and_the_norm_is_zero_with_its_reason():
    picture = RECURRENCE.compute(Settings(neurons=2, length=8))
    assert any("only a sign" in note for note in picture.notes)
    rows = RECURRENCE.table(picture).records()
    lost = [row for row in rows if row["log10_norm"] is None]
    assert lost
    assert all("the norm is 0" in row["reason"] for row in lost)
    assert "is lost" in RECURRENCE.figure(picture, "light").layout.annotations[3].text
    PICTURES["radii"].figure(picture, "dark")


@pytest.mark.parametrize("neurons", [1, 65])
def test_too_few_and_too_many_neurons_are_refused_in_a_sentence(neurons):
    with pytest.raises(ValueError, match=r"\.$"):
        RECURRENCE.compute(Settings(neurons=neurons))


def test_stopped_picture_has_its_starting_frame_and_says_how_much_it_is():
    def stop(done: int, steps: int) -> None:
        assert steps == len(RADII)
        if done >= 3:
            raise Stop

    picture = RECURRENCE.compute(SHORT, stop)
    assert list(picture.curves) == [1.2, 1.4, 1.6]
    figure = RECURRENCE.figure(picture, "light")
    assert figure.frames[figure.layout.sliders[0].active].name == "1.4"
    assert "stopped with 3 of 12 radii" in figure.layout.annotations[0].text


def test_first_step_is_the_formula_with_todays_numbers():
    step = first_step(Settings())
    assert step.summed_input == pytest.approx(step.recurrent + step.driven)
    assert step.z == pytest.approx((step.summed_input - step.mu) / step.sigma)
    assert step.hidden == pytest.approx(step.z)
    assert first_step(Settings(activation="tanh")).hidden == pytest.approx(np.tanh(step.z))


def test_zero_state_and_input_are_explained_by_the_computation_itself():
    assert "h = 0 and x = 0" in first_step(Settings()).undefined
    assert "non-zero state or input" in first_step(Settings()).undefined


@pytest.mark.parametrize("activation", ["tanh", "relu", "identity"])
def test_payload_is_small_at_the_longest(activation):
    picture = RECURRENCE.compute(Settings(length=256, neurons=4, activation=activation))
    for name in ("recurrence", "radii"):
        assert len(PICTURES[name].figure(picture, "dark").to_json()) < 300_000
