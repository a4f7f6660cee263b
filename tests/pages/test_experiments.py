"""The Experiments page: its statements, its tabs, and the commands that made its numbers."""

import re

import pytest

from normgeo.experiments.results import FASTER, RULE, STATEMENTS, load
from normgeo.pictures.experiments.about import ABOUT


def test_page_opens_with_every_statement_and_the_rule_that_decides(shown):
    page = shown("experiments")
    assert page.app.title[0].value == "Does layer norm help a network learn?"
    assert page.figures == ["experiments", "order"]
    words = " ".join(page.captions("experiments").replace("<br>", " ").split())
    assert str(RULE) in page.words
    assert "Claim: the colored method is much faster." in words
    rule = f"Holds: all dots (runs) ≤ {FASTER:.0%} (as in § 6.1). Fails:"
    assert rule in words
    layout = page.figure("experiments")["layout"]
    assert layout["shapes"][0]["x1"] == FASTER
    assert layout["xaxis"]["ticktext"][1] == f"{FASTER:.0%}"
    rows = layout["yaxis"]["ticktext"]
    assert [re.sub("<.*?>", "", row).partition(": ")[2] for row in rows] == [
        *(["layer vs no norm"] * 5),
        "layer vs batch norm",
        "batch vs layer norm",
    ]
    for one in STATEMENTS.values():
        assert f"</b> {one.section.split()[-1]}" in words


@pytest.mark.parametrize("name", STATEMENTS)
def test_tab_moves_tells_what_differs_and_has_the_command(name, shown):
    page = shown("experiments", tab=name)
    assert page.figures == ["experiments", name]
    assert page.figure(name)["layout"]["meta"]["steps"]["labels"]
    assert str(ABOUT[name].changed) in page.words
    assert str(STATEMENTS[name].words) in page.words
    assert load(name).command in [code.value for code in page.app.code]


def test_click_on_an_experiment_opens_its_tab(shown):
    page = shown("experiments")
    rows, *picks = page.figure("experiments")["layout"]["meta"]["picks"]
    assert [box[4] for box in rows["boxes"]] == [*STATEMENTS]
    assert [(one["setting"], one["boxes"][0][4]) for one in picks] == [
        ("tab", name) for name in STATEMENTS
    ]
    axes = [["xaxis", "yaxis"], ["xaxis2", "yaxis2"], ["xaxis3", "yaxis3"]]
    assert [one["axes"] for one in (rows, *picks[:2])] == axes
