"""The Recurrent page: what it shows, found by key."""

from itertools import product

import pytest

from normgeo.pictures.recurrent import sequence_runs
from normgeo.pictures.recurrent.recurrence import RADII
from normgeo.sequences.cells import CELLS
from normgeo.ui.recurrent import OLD_TABS


def test_page_answers_in_words_above_a_state_that_a_slider_drives(shown):
    page = shown("recurrent")
    assert page.app.title[0].value == "What keeps a recurrent state from exploding or dying?"
    assert page.figures == ["recurrence"], "what opens first is one picture"
    words = page.captions("recurrence")
    assert "Without a norm the state explodes; with layer norm it keeps its size" in words
    assert "all 8 rows 8 times: T = 64 steps" in words
    names = [frame["name"] for frame in page.figure("recurrence")["frames"]]
    assert names == [f"{radius:g}" for radius in RADII]


def test_every_activation_is_a_tab(shown):
    page = shown("recurrent", tab="radii", length="32")
    assert page.figures == ["recurrence", "radii"]
    words = page.captions("radii")
    assert "Does layer norm keep a state from exploding?" in words


def test_activation_is_selected_in_the_heading_and_kept_in_the_url(shown):
    page = shown("recurrent", length="16")
    page.app.selectbox(key="activation").set_value("tanh").run()
    assert page.query == {"length": "16", "activation": "tanh"}
    assert "tanh; digits read row by row" in page.captions("recurrence")


def test_slider_opens_at_the_radius_of_the_url(shown):
    page = shown("recurrent", radius="0.55", length="8")
    steps = page.figure("recurrence")["layout"]["meta"]["steps"]
    assert steps["labels"][steps["start"]] == "0.55"


def test_links_to_tabs_that_there_were_open_the_first_one(shown, subtests):
    for old in OLD_TABS:
        with subtests.test(old=old):
            page = shown("recurrent", tab=old, length="8")
            assert page.warnings == []
            assert page.figures == ["recurrence"]
            assert "ρ = 1.4" in page.words


def test_equation_is_the_formula_with_todays_numbers(shown):
    page = shown("recurrent", tab="why", length="16", activation="tanh")
    (formula,) = [e.value for e in page.app.latex]
    assert r"\tanh" in formula
    assert "ρ = 1.4" in page.words


def test_zero_state_is_explained(shown):
    page = shown("recurrent", tab="zero", length="16")
    assert "there is nothing to divide by" in page.words


def test_too_few_or_too_many_neurons_are_a_sentence(shown, subtests):
    for tab, (neurons, why) in product(
        ["why", "radii", "zero", "cells"],
        [("1", "needs at least 2 of them per group; got 1 neuron"), ("256", "up to 64 neurons")],
    ):
        with subtests.test(tab=tab, neurons=neurons, why=why):
            page = shown("recurrent", neurons=neurons, tab=tab, length="8")
            assert page.figures == []
            (info,) = page.app.info
            assert why in info.value


def test_cells_are_a_tab_with_the_equations_of_all_three(shown):
    page = shown("recurrent", tab="cells", length="8")
    assert page.figures == ["recurrence", "cells"]
    written = " ".join(e.value for e in page.app.latex)
    for cell in CELLS.values():
        assert all(line in written for line in cell.latex)
    assert "tanh RNN" in page.captions("cells")


@pytest.mark.parametrize(
    ("tab", "name", "button"),
    [("train", "learning", "Train the cell"), ("longer", "longer", "Train, then read on")],
)
def test_training_begins_with_a_click_and_takes_what_was_chosen(
    shown, nothing_kept, monkeypatch, tab, name, button
):
    monkeypatch.setitem(sequence_runs.STEPS, "rows", 20)
    page = shown("recurrent", tab=tab, task="rows", rnn="tanh", sequences="2", neurons="8")
    assert page.figures == ["recurrence"]
    (start,) = [one for one in page.app.button if one.label == button]
    start.click().run()
    assert page.figures == ["recurrence", name]
    words = page.captions(name).replace("\N{NO-BREAK SPACE}", " ")
    assert "tanh RNN of 8 neurons, digits, row by row; batches of 2" in words


def test_two_neurons_have_a_picture(shown, subtests):
    for tab, figures, sentences in [("why", [], 0), ("radii", ["radii"], 0), ("zero", [], 1)]:
        with subtests.test(tab=tab, figures=figures, sentences=sentences):
            page = shown("recurrent", neurons="2", tab=tab, length="8")
            assert page.figures == ["recurrence", *figures]
            assert len(page.app.info) == sentences


def test_bad_value_is_named_and_the_page_still_works(shown, subtests):
    for name, value, rule in [
        ("radius", "3", "a number from 0.5 to 2"),
        ("length", "7", "a whole number from 8 to 256"),
        ("activation", "sigmoid", "one of tanh, relu, identity"),
    ]:
        with subtests.test(name=name, value=value, rule=rule):
            page = shown("recurrent", **{name: value})
            (warning,) = page.warnings
            assert f"`{name}` must be {rule}" in warning
            assert page.figures == ["recurrence"]
