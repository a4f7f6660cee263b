"""The Recurrent page: what it shows, found by key."""

import pytest

from normgeo.pictures.recurrent.recurrence import RADII
from normgeo.ui.recurrent import TABS


def test_page_answers_with_both_halves_and_their_numbers(shown):
    page = shown("recurrent")
    assert page.app.title[0].value == "What keeps a recurrent state from exploding or dying?"
    assert page.figures == ["recurrence", "radii"]
    words = page.captions("recurrence")
    assert "T = 64 = 8 × 8 rows" in words
    assert "explodes; with layer norm it stays" in words
    (slider,) = page.figure("recurrence")["layout"]["sliders"]
    assert [step["label"] for step in slider["steps"]] == [f"{radius:g}" for radius in RADII]


def test_activation_is_selected_and_kept_in_the_url(shown):
    page = shown("recurrent", length="16")
    page.app.selectbox(key="activation").select("tanh").run()
    assert page.query == {"length": "16", "activation": "tanh"}
    assert "f = tanh" in page.captions("recurrence")


def test_slider_opens_at_the_radius_of_the_url(shown):
    page = shown("recurrent", radius="0.55", length="16")
    (slider,) = page.figure("recurrence")["layout"]["sliders"]
    assert slider["steps"][slider["active"]]["label"] == "0.55"


def test_equation_is_the_formula_with_todays_numbers(shown):
    page = shown("recurrent", tab="equation", length="16", activation="tanh")
    (formula,) = [e.value for e in page.app.latex]
    assert r"\tanh" in formula
    assert "ρ = 1.4" in page.words


def test_zero_state_is_explained(shown):
    page = shown("recurrent", tab="zero", length="16")
    assert "there is nothing to divide by" in page.words


@pytest.mark.parametrize("tab", TABS)
@pytest.mark.parametrize(
    ("neurons", "why"),
    [("1", "needs at least 2 of them per group; got 1 neuron"), ("256", "up to 64 neurons")],
)
def test_too_few_or_too_many_neurons_are_a_sentence(shown, neurons, why, tab):
    page = shown("recurrent", neurons=neurons, tab=tab, length="8")
    assert page.figures == []
    (info,) = page.app.info
    assert why in info.value


@pytest.mark.parametrize(
    ("tab", "figures", "sentences"),
    [("radii", ["radii"], 0), ("equation", [], 0), ("zero", [], 1)],
)
def test_two_neurons_have_a_picture(shown, tab, figures, sentences):
    page = shown("recurrent", neurons="2", tab=tab, length="8")
    assert page.figures == ["recurrence", *figures]
    assert len(page.app.info) == sentences


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("radius", "3", "a number from 0.5 to 2"),
        ("length", "7", "a whole number from 8 to 256"),
        ("activation", "sigmoid", "one of tanh, relu, identity"),
    ],
)
def test_bad_value_is_named_and_the_page_still_works(shown, name, value, rule):
    page = shown("recurrent", **{name: value})
    (warning,) = page.warnings
    assert f"`{name}` must be {rule}" in warning
    assert page.figures == ["recurrence", "radii"]
