"""The Depth page: what it shows, found by key."""

import pytest

from normgeo.networks.changes import CHANGES
from normgeo.pictures.depth import accuracy
from normgeo.tables.marks import in_markdown

YES, NO = in_markdown("✓", "light"), in_markdown("✗", "light")


def test_page_opens_with_the_recommendation_and_a_training_to_start(shown):
    page = shown("depth")
    assert page.app.title[0].value == "Where in a block should the norm go?"
    assert page.figures == ["placement"]
    assert "With 32 blocks put the norm first in each block: pre-norm<" in page.captions(
        "placement"
    )
    assert page.app.button(key="start_placements").label == "Train it here"
    assert "It takes about" in page.words, "what it costs is told before"
    page = shown("depth", depth="1", epochs="1", neurons="8")
    page.app.button(key="start_placements").click().run()
    assert page.figures == ["placement", "placements"]


def test_twelve_blocks_are_a_stop_of_the_slider_with_an_answer_of_their_own(shown):
    page = shown("depth", depth="12")
    assert "With 12 blocks " in page.captions("placement")
    assert "no step at" not in page.words
    share = accuracy.kept().share("pre", "with", 12)
    assert f"{share:.0%}" in page.captions("placement")


def test_depths_without_a_frame_are_told(shown):
    assert "no step at 20 blocks, so it opens at 16" in shown("depth", depth="20").words


def test_stream_and_gradients_have_the_formulas_of_both_places(shown):
    page = shown("depth", tab="why", depth="4")
    assert page.app.selectbox(key="depth_method").value == "layer"
    assert page.figures == ["placement", "depth"]
    words = page.captions("depth").replace("\N{NO-BREAK SPACE}", " ")
    assert "With pre-norm the stream grows to 2" in words
    assert "With post-norm the stream keeps its size" in words
    (formula,) = [e.value for e in page.app.latex]
    assert r"x_l + B(\text{norm}(x_l))" in formula
    assert r"\text{norm}(x_l + B(x_l))" in formula
    offered = page.app.selectbox(key="depth_method").options
    assert "weight norm" not in offered
    assert "cannot be chosen" not in page.words, "nobody has tried it"


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


@pytest.mark.exhaustive
def test_attention_is_a_tab_of_its_own(shown):
    page = shown("depth", tab="attention", depth="2", method="group", groups="8", neurons="32")
    assert page.figures == ["placement", "attention"]


@pytest.mark.exhaustive
def test_images_are_a_tab_of_their_own(shown):
    page = shown("depth", tab="images", depth="2", epochs="1")
    assert page.figures == ["placement", "images"]
    assert "rarely on" in page.words


def test_without_a_norm_nothing_is_said_of_one(shown):
    page = shown("depth", tab="why", method="standard", depth="2")
    assert "Nothing divides here" in page.words
    assert "divided by its own size" not in page.words
