"""Settings: which differ, which work with the data, which can do nothing and why."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from normgeo.base.refusal import Refusal
from normgeo.datasets.datasets import DATASETS
from normgeo.fisher import contours
from normgeo.models.families import FAMILIES
from normgeo.models.glm import NormalizedGLM
from normgeo.normalizers.named import NORMALIZERS
from normgeo.pictures import PICTURES
from normgeo.pictures.learning_rate import angular_update
from normgeo.settings import RULES, Settings
from normgeo.ui.controls import EPSILONS, offered, useless
from normgeo.ui.possible import whole, why_not
from tests.pairwise import loops


@pytest.mark.usefixtures("uncomputed")
def test_settings_are_one_click_away_and_told_where_they_differ(shown):
    page = shown("learning_rate", dataset="wine", eps="0.1", neurons="5")
    assert ":blue-badge[3]" in page.words
    assert "Not the default: data, neurons H (0: automatic), ε" in page.words
    assert page.app.selectbox(key="neurons").value == 5
    page.app.session_state["settings"] = False
    page.app.run()
    assert "neurons" not in [one.key for one in page.app.selectbox], "they are closed"
    assert "badge" not in shown("learning_rate").words


@pytest.mark.usefixtures("uncomputed")
def test_neurons_are_chosen_by_the_name_of_their_output(shown):
    page = shown("learning_rate", dataset="wine", neurons="5")
    neurons = page.app.selectbox(key="neuron")
    assert neurons.options[:2] == ["neuron 0: cultivator 1", "neuron 1: cultivator 2"]
    assert len(neurons.options) == 5
    assert neurons.options[3] == "neuron 3: cultivator 1", "outputs are predicted in turn"


@pytest.mark.usefixtures("uncomputed")
def test_epsilon_is_a_choice_with_the_value_of_the_address_in_it(shown):
    page = shown("learning_rate", dataset="wine", eps="0.002")
    field = page.app.selectbox(key="eps")
    assert len(field.options) == len(EPSILONS) + 1
    assert field.value == 0.002


TRIED = {
    "family": [*FAMILIES],
    "weights": ["random", "fitted"],
    "method": [*NORMALIZERS],
    "neurons": [0, 1, 2, 3, 6],
    "groups": [1, 2, 3, 4],
    "dataset": ["iris", "linnerud", "plane"],
}
STATES = [
    {},
    {"method": "group"},
    {"neuron": 5, "neurons": 6, "family": "bernoulli"},
    {"neuron": 4, "method": "layer"},
]
PAGES_OF_DATA = ["turn", "walk", "equal_kl", "effect"]


def untrained(dataset, standardized, family, normalizer, **_):
    """In place of a fit, which takes seconds."""
    data = DATASETS[dataset].load(standardized)
    return NormalizedGLM.random(normalizer, family, data.H, data.D, np.random.default_rng(0))


# In place of points of curves, which take most of the time and of which none decides.
FEW = [
    ((contours, "reach_of"), lambda kl, level, start: start),
    ((angular_update, "AROUND"), np.array([0.0, 1.0])),
    ((angular_update, "AHEAD"), np.array([0.0, 1.0])),
]


@cache
def works(picture: str, settings: Settings) -> bool:
    """Whether the picture of a state can be computed, whatever was estimated."""
    try:
        PICTURES[picture].compute(settings)
    except Refusal:
        return False
    return True


@pytest.mark.exhaustive
@pytest.mark.parametrize("rows", loops(TRIED["dataset"], PAGES_OF_DATA, of=1))
def test_what_is_offered_is_what_can_be_computed(monkeypatch, rows, subtests):
    """For small data sets with each family, method and weights, and some numbers.

    Where nothing works, another setting is at fault, and all is offered.
    """
    for dataset, picture in rows:
        with subtests.test(dataset=dataset, picture=picture):
            monkeypatch.setattr("normgeo.pictures.model_on_data._fitted", untrained)
            for name, few in FEW:
                monkeypatch.setattr(*name, few)
            for state in STATES:
                settings = Settings(**{"dataset": dataset, **state})
                for name, values in TRIED.items():
                    if name not in PICTURES[picture].uses:
                        continue
                    asked = {
                        value: PICTURES[picture].decisive(replace(settings, **{name: value}))
                        for value in values
                    }
                    right = {value for value, one in asked.items() if works(picture, one)}
                    there = offered(settings, name, picture)
                    if there is None:
                        there = whole(picture, settings, name, RULES[name])
                    now = {getattr(settings, name)} & {*values}  # is shown all the same
                    given = {value for value in asked if value in there} | now
                    if name != "dataset":  # of which others work
                        right = right or {*asked}
                    assert given == right | now, (state, name)


def test_pictures_of_raw_features_are_estimated_as_they_are_computed():
    """Standardized targets of Linnerud and diabetes are no counts; raw ones are."""
    for picture, dataset in (("turn", "linnerud"), ("walk", "diabetes"), ("equal_kl", "linnerud")):
        settings = Settings(dataset=dataset, features="raw", family="poisson")
        assert not why_not(picture, settings, "features", "raw")
        assert "must be counts" in why_not(picture, settings, "features", "standardized")
    assert not why_not("effect", Settings(dataset="linnerud"), "family", "poisson")


@pytest.mark.usefixtures("uncomputed")
def test_why_values_are_missing_stands_in_the_help_alone(shown):
    page = shown("symmetry", dataset="linnerud")
    family = page.app.selectbox(key="family")
    assert family.options == ["automatic", "Gaussian"]
    for why in ("Poisson. Targets of the Poisson family must", "categorical. A categorical family"):
        assert f"Not here: {why}" in family.help
    assert "Not here" not in page.words
    page = shown("symmetry", dataset="iris", neurons="1")
    (heading,) = [one.help for one in page.app.caption if one.help]
    assert "Not here: layer norm. A layer mean is taken over" in heading


def test_address_with_what_is_left_out_opens_with_a_sentence_and_the_list(shown):
    page = shown("symmetry", dataset="linnerud", family="poisson")
    assert "Targets of the Poisson family must be counts" in "".join(
        one.value for one in page.app.info
    )
    assert page.app.selectbox(key="family").value == "poisson"
    assert "Linnerud" in page.app.selectbox(key="dataset").options, "as the address says"


@pytest.mark.usefixtures("uncomputed")
def test_number_that_no_picture_takes_cannot_be_typed(shown):
    page = shown("symmetry", dataset="digits")
    assert page.app.number_input(key="neurons").max == 16
    assert "Not here: 17 to 256. A spectrum" in page.app.number_input(key="neurons").help
    assert page.app.number_input(key="index").max == 1796


@pytest.mark.usefixtures("uncomputed")
def test_only_groups_that_divide_the_neurons_are_offered(shown):
    """And groups of two neurons leave only the signs of z, which no step turns."""
    page = shown("learning_rate", dataset="iris", method="group", neurons="18")
    assert page.app.selectbox(key="groups").options == ["1", "2", "3", "6"]


def test_what_is_called_useless_changes_nothing(subtests):
    for method in NORMALIZERS:
        with subtests.test(method=method):
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


@pytest.mark.usefixtures("uncomputed")
def test_disabled_setting_says_why(shown):
    groups = shown("learning_rate", dataset="wine").app.number_input(key="groups")
    assert groups.disabled
    assert groups.help == "There are no groups in batch norm."
    assert (
        not shown("learning_rate", dataset="wine", method="group", neurons="9")
        .app.selectbox(key="groups")
        .disabled
    )
