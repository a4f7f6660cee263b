"""The strip of settings: what differs, what works with the data, what can do nothing and why."""

from dataclasses import replace

import numpy as np
import pytest

from normgeo.base.text import translated
from normgeo.datasets.datasets import DATASETS
from normgeo.models.families import FAMILIES
from normgeo.models.glm import NormalizedGLM
from normgeo.normalizers.named import NORMALIZERS
from normgeo.pictures.model_on_data import independent, model_on_data
from normgeo.settings import RULES, Settings
from normgeo.ui.controls import EPSILONS, offered, useless
from normgeo.ui.possible import whole


def button(page):
    return page.app.button(key="settings")


def test_settings_are_one_click_away_and_told_where_they_differ(shown):
    page = shown("learning_rate", dataset="wine", eps="0.1", neurons="5")
    assert "[2]" in button(page).label
    assert button(page).help == "Not the default: neurons H (0: automatic), ε"
    button(page).click().run()
    assert "neurons" not in [one.key for one in page.app.number_input], "the strip is closed"
    button(page).click().run()
    assert page.app.selectbox(key="neurons").value == 5
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


TRIED = {
    "family": [*FAMILIES],
    "weights": ["random", "fitted"],
    "method": ["batch", "layer", "group"],
    "neurons": [0, 1, 3, 10, 17, 256],
    "groups": [1, 2, 3, 4],
}
STATES = [{}, {"method": "group"}, {"neurons": 6, "family": "bernoulli"}, {"weights": "fitted"}]
LARGEST = {
    "turn": lambda H, D: True,
    "walk": lambda H, D: H * D <= 1024,
    "equal_kl": lambda H, D: H * (D + 2) <= 2048,
}


def untrained(dataset, kind, family, normalizer, **_):
    """In place of a fit, which takes seconds."""
    data = DATASETS[dataset].load()
    return NormalizedGLM.random(normalizer, family, data.H, data.D, np.random.default_rng(0))


def works(picture: str, settings: Settings) -> bool:
    """Whether there is a model, with groups that divide its neurons, which is not too large."""
    chosen = settings if picture == "turn" else independent(settings)
    try:
        it = model_on_data(chosen, "standardized")
    except ValueError:
        return False
    H, D = it.model.W.shape
    classes = picture != "turn" or not it.model.family.coupled or it.dataset.H <= H
    size, rest = divmod(H, settings.normalizer.groups)
    # A layer mean of one neuron leaves nothing of it.
    some = size > 1 or not settings.normalizer.shared_by_neurons
    return LARGEST[picture](H, D) and classes and rest == 0 and some


@pytest.mark.parametrize("dataset", DATASETS)
@pytest.mark.parametrize("picture", LARGEST)
def test_what_is_offered_is_what_the_model_does_not_refuse(picture, dataset, monkeypatch):
    """For each data set with each family and weights, and some numbers and methods.

    Where nothing works, another setting is at fault, and all is offered.
    """
    monkeypatch.setattr("normgeo.pictures.model_on_data._fitted", untrained)
    for state in STATES:
        settings = Settings(**{"dataset": dataset, "method": "layer", **state})
        for name, values in TRIED.items():
            asked = {value: replace(settings, **{name: value}) for value in values}
            right = {value for value, one in asked.items() if works(picture, one)} or {*values}
            there = offered(settings, name, picture)
            if there is None:
                there = whole(picture, settings, name, RULES[name])
            given = {value for value in values if value in there}
            now = {getattr(settings, name)} & {*values}
            assert given == right | now, (state, name)


def test_what_is_left_out_is_told_with_the_reason(shown):
    page = shown("symmetry", dataset="linnerud")
    assert page.app.selectbox(key="family").options == ["automatic", "Gaussian"]
    assert "output family: not Poisson here. Targets of the Poisson family must be counts" in (
        page.words
    )
    assert "output family: not categorical here. A categorical family needs class labels" in (
        page.words
    )


def test_closed_settings_leave_room_for_the_picture(shown):
    page = shown("symmetry", dataset="iris", neurons="1")
    (told,) = [one.value for one in page.app.caption if "method: not" in one.value]
    assert len(told.splitlines()) > 2
    button(page).click().run()
    (told,) = [one.value for one in page.app.caption if "method: not" in one.value]
    assert len(told.splitlines()) == 1
    assert told.startswith("method: not layer norm here. A layer mean is taken over the neurons")
    assert told.endswith("Settings tells of 2 more that cannot be chosen.")


def test_address_with_what_is_left_out_opens_with_a_sentence_and_the_list(shown):
    page = shown("symmetry", dataset="linnerud", family="poisson")
    assert "Targets of the Poisson family must be counts" in "".join(
        one.value for one in page.app.info
    )
    assert page.app.selectbox(key="family").value == "poisson"
    assert "Linnerud" in page.app.selectbox(key="dataset").options, "as the address says"


def test_number_that_no_picture_takes_cannot_be_typed(shown):
    page = shown("symmetry", dataset="digits")
    assert page.app.number_input(key="neurons").max == 16
    assert "neurons H (0: automatic): not 17 to 256 here. A spectrum" in page.words
    assert page.app.number_input(key="index").max == 1796


def test_only_groups_that_divide_the_neurons_are_offered(shown):
    page = shown("learning_rate", dataset="digits", method="group")
    assert page.app.selectbox(key="groups").options == ["1", "2", "5"]


def test_families_are_offered_in_the_language_in_use():
    settings = Settings(dataset="linnerud")
    before = offered(settings, "family", "turn")
    with translated(str.upper):
        there = offered(settings, "family", "turn")
        assert [*there.values()] == [*map(str.upper, before.values())]


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
        not shown("learning_rate", dataset="wine", method="group", neurons="8")
        .app.selectbox(key="groups")
        .disabled
    )
