"""The strip of settings: what differs, what works with the data, what can do nothing and why."""

import pytest

from normgeo.base.text import translated
from normgeo.models.families import FAMILIES
from normgeo.normalizers.named import NORMALIZERS
from normgeo.pictures.model_on_data import model_on_data
from normgeo.settings import Settings
from normgeo.ui.controls import EPSILONS, offered, useless


def button(page):
    return page.app.button(key="settings")


def test_settings_are_one_click_away_and_told_where_they_differ(shown):
    page = shown("learning_rate", dataset="wine", eps="0.1", neurons="5")
    assert "[2]" in button(page).label
    assert button(page).help == "Not the default: neurons H (0: automatic), ε"
    button(page).click().run()
    assert "neurons" not in [one.key for one in page.app.number_input], "the strip is closed"
    button(page).click().run()
    assert page.app.number_input(key="neurons").value == 5
    assert "[" not in button(shown("learning_rate", dataset="wine")).label


def test_neurons_are_chosen_by_the_name_of_their_output(shown):
    page = shown("learning_rate", dataset="wine", neurons="5")
    neurons = page.app.selectbox(key="neuron")
    assert neurons.options[:2] == ["neuron 0: cultivator 1", "neuron 1: cultivator 2"]
    assert len(neurons.options) == 5
    assert neurons.options[3] == "neuron 3: cultivator 1", "outputs are predicted in turn"


def test_epsilon_is_a_choice_with_the_value_of_the_address_in_it(shown):
    page = shown("learning_rate", dataset="wine", eps="0.002")
    field = page.app.selectbox(key="eps")
    assert len(field.options) == len(EPSILONS) + 1
    assert field.value == 0.002


@pytest.mark.parametrize("dataset", ["digits", "iris", "linnerud"])
def test_families_offered_are_those_that_take_the_targets(dataset):
    given = set(offered(Settings(dataset=dataset), "family")) - {"auto"}
    for family in FAMILIES:
        settings = Settings(dataset=dataset, family=family, neurons=4)
        if family in given:
            model_on_data(settings, "standardized")
        else:
            with pytest.raises(ValueError):  # noqa: PT011 - a sentence for each family
                model_on_data(settings, "standardized")


def test_families_are_offered_in_the_language_in_use():
    settings = Settings(dataset="wine")
    before = offered(settings, "family")
    with translated(str.upper):
        assert [*offered(settings, "family").values()] == [*map(str.upper, before.values())]


@pytest.mark.parametrize("method", NORMALIZERS)
def test_what_is_called_useless_changes_nothing(method):
    settings = Settings(method=method)
    changes = {
        "groups": Settings(method=method, groups=1),
        "statistics": Settings(method=method, statistics="frozen"),
    }
    for name, changed in changes.items():
        same = changed.normalizer == settings.normalizer
        assert bool(useless(settings, name)) == same, name
    takes_eps = Settings(method=method, eps=0.5).normalizer.added_eps == 0.5
    assert bool(useless(settings, "eps")) == (not takes_eps)


def test_disabled_setting_says_why(shown):
    groups = shown("learning_rate", dataset="wine").app.number_input(key="groups")
    assert groups.disabled
    assert groups.help == "There are no groups in batch norm."
    assert (
        not shown("learning_rate", dataset="wine", method="group", neurons="4")
        .app.number_input(key="groups")
        .disabled
    )
