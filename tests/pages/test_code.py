"""The code beside a picture: what a page shows, and what it hides before the reveal."""

from itertools import product

import pytest

from normgeo.normalizers.centers import CENTERS
from normgeo.pictures import PICTURES
from normgeo.settings import Settings
from normgeo.ui.computing.task import Task


def scripts(page) -> list[str]:
    """The lines of NumPy on a page."""
    return [code.value for code in page.app.code if code.value.startswith("import numpy")]


@pytest.mark.exhaustive
@pytest.mark.usefixtures("undrawn")
def test_page_shows_the_script_of_its_settings(shown, nothing_kept, subtests):
    for page, name, query in [
        ("home", "averages", {"place": "2.0"}),
        ("invariance", "effect", {"cell": "batch.case_rescaling", "eps": "0.01", "delta": "-2"}),
        ("learning_rate", "turn", {"method": "layer", "growth": "4"}),
        ("fisher", "equal_kl", {"method": "batch"}),
        ("batch", "axes", {"batch_size": "4"}),
    ]:
        with subtests.test(page=page, name=name, query=query):
            found = shown(page, dataset="iris", **query)
            settings, _ = Settings.from_query({"dataset": "iris", **query})
            picture = PICTURES[name]
            computed = nothing_kept.get(Task.of(picture, settings).key)
            opened = picture.opened(computed.result, settings)
            script = picture.in_numpy(settings, opened).strip()
            assert script in scripts(found)
            assert len(scripts(found)) == 1 or page == "home", "which has several figures"
            assert "**In NumPy**" in found.words


@pytest.mark.usefixtures("undrawn")
def test_where_there_is_no_script_nothing_is_said_of_one(shown, monkeypatch):
    monkeypatch.setattr(type(CENTERS["layer"]), "in_numpy", lambda self, *rest: "")
    page = shown("invariance", dataset="iris", cell="layer.case_rescaling")
    assert len(page.app.code) == 1
    assert "**In NumPy**" not in page.words


@pytest.mark.usefixtures("undrawn")
def test_no_code_of_a_turn_before_the_reveal(shown):
    page = shown("learning_rate", dataset="iris", predict="1")
    assert not page.app.code
    page.app.button(key="predict_0.25").click().run()
    assert scripts(page)


@pytest.mark.usefixtures("undrawn")
def test_no_code_of_a_change_before_the_reveal(shown):
    page = shown("invariance", dataset="iris", predict="1")
    assert not page.app.code
    for delta, method in product(("3", "-3"), ("batch", "layer", "weight")):
        cell = {"cell": f"{method}.case_rescaling", "delta": delta}
        page.open("invariance", dataset="iris", predict="1", **cell)
        assert not page.app.code
        page.app.button(key="predict_✗").click().run()
    assert len(scripts(page)) == 1, "all that the picture shows is predicted now"
