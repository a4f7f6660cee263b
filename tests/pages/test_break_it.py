"""Break it: one click to a state, one true sentence about it, and the exact way back."""

import re

import pytest

from normgeo.pictures import MAIN_PICTURES
from normgeo.settings import Settings
from normgeo.ui.teaching.break_it import STATES

pytestmark = pytest.mark.usefixtures("undrawn")

BREAKS = [(page, how) for page, found in STATES.items() for how in found]
QUICK = {("invariance", "two"), ("symmetry", "two"), ("batch", "one")}
# What the first picture itself says about a state, written without the sentence under test.
SAID = {
    ("invariance", "negative"): "with δ = −2, batch norm not invariant, layer norm sign flip",
    ("invariance", "eps"): "layer norm only at ε = 0",
    ("invariance", "two"): "of layer norm, z is only a sign",
    ("invariance", "frozen"): "with δ = 3, batch norm not invariant, layer norm invariant",
    ("learning_rate", "eps"): "at ε = 0 it would be 0.25",
    ("learning_rate", "frozen"): "there is no law",
    ("symmetry", "two"): "122 of 122 directions change nothing",
    ("symmetry", "eps"): "The Fisher matrix is regular: every direction changes something",
    ("symmetry", "frozen"): "The Fisher matrix is regular: every direction changes something",
    ("fisher", "eps"): "layer norm: an ellipse",
    ("fisher", "frozen"): "batch norm: an ellipse",
    ("batch", "one"): "trained in batches of 1, batch norm has no z to learn with",
    ("recurrent", "two"): "a change of it is lost",
}


def bars(page) -> list[str]:
    return [m.value for m in page.app.markdown if re.match(r"\*\*[^*]+:\*\* ", m.value)]


@pytest.mark.parametrize(
    ("page", "how"),
    [pytest.param(*one, marks=[pytest.mark.exhaustive] * (one not in QUICK)) for one in BREAKS],
)
def test_click_breaks_tells_and_goes_back_exactly(shown, page, how):
    before = {"dataset": "digits", "seed": "3"}
    it = shown(page, **before)
    assert bars(it) == []
    it.app.button(key=f"break_{how}").click().run()
    assert [error.message for error in it.app.exception] == []
    settings, _ = Settings.from_query(it.query)
    assert {k: getattr(settings, k) for k in STATES[page][how]} == STATES[page][how]
    (told,) = bars(it)
    if MAIN_PICTURES[page] in it.figures:
        assert SAID[page, how] in told
    else:
        assert it.app.info, "the page says why there is no picture"
    assert it.app.button(key=f"break_{how}").disabled
    it.app.button(key="unbreak").click().run()
    assert it.query == before
    assert bars(it) == []


@pytest.mark.usefixtures("uncomputed")
def test_second_break_leads_back_to_where_nothing_was_broken(shown):
    page = shown("invariance", dataset="iris")
    page.app.button(key="break_eps").click().run()
    page.app.button(key="break_two").click().run()
    assert page.query["neurons"] == "2"
    page.app.button(key="unbreak").click().run()
    assert page.query == {"dataset": "iris"}


@pytest.mark.exhaustive
def test_what_is_mended_by_hand_has_no_way_back(shown):
    page = shown("learning_rate", dataset="iris")
    page.app.button(key="break_eps").click().run()
    page.app.button(key="reset").click().run()
    assert bars(page) == []
    page.app.query_params["eps"] = "1"
    page.app.run()
    assert bars(page) == []


@pytest.mark.usefixtures("uncomputed")
@pytest.mark.parametrize(
    ("page", "query", "how", "why"),
    [
        ("learning_rate", {"method": "weight"}, "eps", "There is no ε in weight norm"),
        ("invariance", {"weights": "fitted"}, "two", "Fitted weights have one neuron for each"),
        ("batch", {"batch_size": "1"}, "one", "The page is in this state already."),
    ],
)
def test_break_that_cannot_work_is_disabled_with_its_reason(shown, page, query, how, why):
    button = shown(page, **query).app.button(key=f"break_{how}")
    assert button.disabled
    assert why in button.help


def test_broken_page_that_asks_does_not_tell(shown):
    page = shown("invariance", predict="1")
    page.app.button(key="break_eps").click().run()
    assert bars(page) == ["**a large ε:** See below what becomes of it."]
    assert page.table()["marks"] == {}


@pytest.mark.exhaustive
def test_page_without_a_rule_to_break_has_no_such_button(shown, keep_audit, subtests):
    for page in ["home", "audit"]:
        with subtests.test(page=page):
            keep_audit()
            assert not [b for b in shown(page).app.button if b.key.startswith("break_")]
