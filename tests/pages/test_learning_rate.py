"""Learning rate: the turn of one step, and what stands behind it."""

import re

import pytest

from normgeo import NORMALIZERS
from normgeo.datasets import DATASETS

QUESTION = "Why does a large weight vector turn slowly?"
LAWFUL = [key for key, normalizer in NORMALIZERS.items() if normalizer.scale != "none"]


def factors(page) -> list[float]:
    """The large numbers of the opening frame: of the norm, the gradient, the turn, the loss."""
    return [float(f) for f in re.findall(r"<b>× ([^<]+)</b>", page.captions("turn"))]


def start(page) -> str:
    slider = page.figure("turn")["layout"]["sliders"][0]
    return slider["steps"][slider["active"]]["label"]


def test_default_is_batch_norm_on_digits_at_norm_one(shown):
    page = shown("learning_rate")
    assert page.app.title[0].value == QUESTION
    assert page.app.selectbox(key="method").value == "batch"
    assert page.app.selectbox(key="dataset").value == "digits"
    assert page.figures == ["turn", "descent"]
    assert start(page) == "1"
    assert factors(page) == [1, 1, 1, 1]
    assert "<b>batch norm</b>: one step of gradient descent" in page.captions("turn")
    assert page.query == {}


def test_growth_of_the_url_is_where_the_slider_opens(shown):
    page = shown("learning_rate", growth="4", method="layer")
    assert page.app.selectbox(key="method").value == "layer"
    assert start(page) == "4"
    assert factors(page) == [4, 0.25, 0.0625, 1]
    assert "<b>layer norm</b>" in page.captions("turn")


def test_method_goes_into_the_url_and_changes_the_picture(shown):
    page = shown("learning_rate", growth="2")
    page.app.selectbox(key="method").set_value("weight").run()
    assert page.query == {"growth": "2", "method": "weight"}
    assert "<b>weight norm</b>" in page.captions("turn")
    assert factors(page) == [2, 0.5, 0.25, 1]


def test_step_size_is_taken_and_said(shown):
    page = shown("learning_rate", rate="0.25", dataset="iris")
    assert "η = 0.25" in page.captions("turn")
    assert "η = 0.25" in page.captions("descent")


def test_descent_has_as_many_steps_as_asked_for(shown):
    page = shown("learning_rate", dataset="iris", steps="30")
    steps = page.figure("descent")["layout"]["sliders"][0]["steps"]
    assert steps[-1]["label"] == "30"


def test_fisher_tab_has_the_doubling_table_and_the_ellipse(shown):
    page = shown("learning_rate", dataset="wine", tab="fisher")
    assert page.figures == ["turn", "doubling", "ellipse"]
    (table,) = [words.value for words in page.app.markdown if "| quantity" in words.value]
    rows = {cells[1].strip(): [c.strip() for c in cells[2:5]] for cells in
            (line.split("|") for line in table.splitlines() if line.count("|") == 5)}  # fmt: skip
    assert rows["F of the doubled w"] == ["× ¼", "0.25", "✗"]
    assert rows["gradient of the loss"] == ["× ½", "0.5", "✓"]
    assert rows["turn by one gradient step"] == ["× ¼", "0.25", "✗"]
    assert "expected Fisher information, mean over N = 178 cases" in page.captions("ellipse")
    assert "The ½ is right for the gradient" in page.words


def test_equation_plugs_in_the_numbers_of_the_picture(shown):
    page = shown("learning_rate", dataset="wine", tab="equation", growth="4", rate="0.5")
    (formula,) = (latex.value for latex in page.app.latex)
    before, after = re.findall(r"(\d\.\d+) → (\d\.\d+), predicted", page.captions("turn"))[0]
    assert rf"\tan\theta &= \frac{{0.5 \cdot {float(before):.3g}}}{{1}}" in formula
    assert rf"\tan\theta &= \frac{{0.5 \cdot {float(after):.3g}}}{{4}}" in formula
    assert "Gradient half, radius double, so the turn is a quarter." in page.words


def test_standard_model_is_explained_and_has_no_tabs(shown):
    page = shown("learning_rate", method="standard")
    assert page.figures == []
    assert "no law ties the turn of a step to ‖w‖" in page.app.info[0].value
    assert "Choose a method with a scale" in page.app.info[0].value
    assert len(page.app.tabs) == 0


@pytest.mark.parametrize("method", LAWFUL)
def test_every_method_has_its_picture(shown, method):
    page = shown("learning_rate", method=method, neurons="6", dataset="wine", growth="2")
    assert page.figures == ["turn", "descent"]
    assert factors(page) == [2, 0.5, 0.25, 1]


@pytest.mark.parametrize("tab", ["descent", "fisher", "equation"])
@pytest.mark.parametrize("dataset", DATASETS)
def test_every_data_set_has_pictures_or_sentences(shown, dataset, tab):
    page = shown("learning_rate", dataset=dataset, tab=tab, steps="5")
    assert page.figures[0] == "turn"
    assert all(info.value.endswith(".") for info in page.app.info)


@pytest.mark.parametrize("neurons", ["1", "2"])
def test_one_and_two_neurons_under_layer_norm_are_explained(shown, neurons):
    page = shown("learning_rate", neurons=neurons, method="layer", dataset="breast_cancer")
    assert page.figures == []
    assert "neurons" in page.app.info[0].value


def test_bad_value_is_named_and_replaced(shown):
    page = shown("learning_rate", growth="1000", dataset="iris")
    (warning,) = page.warnings
    assert "`growth` must be a number from 0.125 to 64; got '1000'" in warning
    assert start(page) == "1"
