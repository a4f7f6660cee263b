"""The page Your network: its layers, its table and its words, found by key."""

import pytest

from normgeo.layers.examples import EXAMPLES


@pytest.mark.parametrize("key", EXAMPLES)
def test_each_layer_is_shown_with_its_story_and_sentences(shown, key):
    page = shown("your_network", layer=key, tab="decided")
    assert page.figures == ["trained_layer"]
    assert str(EXAMPLES[key].story) in page.words
    assert " stands " in page.words
    assert "Null directions and the spectrum of F need X" in page.words


def test_table_has_a_row_for_each_neuron(shown):
    (table,) = shown("your_network").app.dataframe
    assert list(table.value["neuron"]) == list(range(12))
    assert list(table.value["frozen"]) == [False] * 11 + [True]


def test_chosen_neuron_is_told_and_kept_in_the_address(shown):
    page = shown("your_network")
    assert "Neuron 0: norm of the row 1.35" in page.words
    page.app.number_input(key="neuron").set_value(11).run()
    assert page.query["neuron"] == "11"
    assert "Neuron 11, frozen: norm of the row 7.92" in page.words
    assert "neuron 11" in str(page.figure("trained_layer")["data"])


def test_neuron_that_a_layer_lacks_is_its_last_one(shown):
    assert "Neuron 11, frozen" in shown("your_network", neuron="200").words


def test_what_cannot_be_is_said_and_the_page_goes_on(shown):
    page = shown("your_network", norm="weight", stands="before")
    assert "normalizes the weights themselves" in page.words
    assert page.app.selectbox(key="stands").value == "before"
