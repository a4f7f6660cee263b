"""The Depth page: what it shows, found by key."""

import pytest

from normgeo.networks.changes import CHANGES
from normgeo.tables.marks import in_markdown

YES, NO = in_markdown("✓", "light"), in_markdown("✗", "light")


def test_page_opens_with_layer_norm_and_the_formulas_of_both_places(shown):
    page = shown("depth", depth="4")
    assert page.app.title[0].value == "What does the norm's place in a block change?"
    assert page.app.selectbox(key="method").value == "layer"
    assert page.figures == ["depth"]
    words = page.captions("depth").replace("\N{NO-BREAK SPACE}", " ")
    assert "With pre-norm the stream grows × 2" in words
    assert "With post-norm the stream keeps its size" in words
    (formula,) = [e.value for e in page.app.latex]
    assert r"x_l + B(\text{norm}(x_l))" in formula
    assert r"\text{norm}(x_l + B(x_l))" in formula
    offered = page.app.selectbox(key="method").options
    assert "weight norm" not in offered
    assert "weight norm, mean-only batch + weight norm" in page.words, "it is said why"


def test_what_is_ignored_stands_in_a_table_with_the_way_or_what_moves(shown):
    page = shown("depth", tab="ignores", depth="2")
    lines = [line for words in page.app.markdown for line in words.value.splitlines()]
    cells = {
        row[0]: row[1:]
        for line in lines
        if line.startswith("|") and len(row := [c.strip() for c in line.split("|")[1:-1]]) == 3
    }
    assert {str(change.title) for change in CHANGES.values()} < set(cells)
    pre, post = cells[str(CHANGES["all_writes_times"].title)]
    assert pre == f"{YES} × δ → the same"
    assert post.startswith(f"{NO} outputs move by ")


def test_attention_is_a_tab_of_its_own(shown):
    page = shown("depth", tab="attention", depth="2", method="group", groups="8", neurons="32")
    assert page.figures == ["depth", "attention"]


@pytest.mark.exhaustive
def test_images_are_a_tab_of_their_own(shown):
    page = shown("depth", tab="images", depth="2", epochs="1")
    assert page.figures == ["depth", "images"]
    assert "rarely on" in page.words


def test_without_a_norm_nothing_is_said_of_one(shown):
    page = shown("depth", method="standard", depth="2")
    assert "Nothing divides here" in page.words
    assert "divided by its own size" not in page.words
