"""Tours: files that say what is wrong with them, and pages that follow a stop."""

import pytest

from normgeo.base.refusal import Refusal
from normgeo.ui.frame import PAGES
from normgeo.ui.teaching import tours
from normgeo.ui.teaching.tour_file import read

GOOD = """# A tour

## A stop

- open: `/invariance?cell=layer.case_rescaling&tab=why`
- shows: `why`

### Question

What?

### What to notice

This.

### Notes

That.
"""


def said(tmp_path, words: str | bytes) -> str:
    """What is wrong with a file, in a sentence; "" for nothing."""
    file = tmp_path / "mine.md"
    file.write_bytes(words.encode() if isinstance(words, str) else words)
    try:
        read(file, PAGES)
    except Refusal as error:
        return str(error)
    return ""


def test_good_file_is_read(tmp_path):
    assert said(tmp_path, GOOD) == ""
    (stop,) = read(tmp_path / "mine.md", PAGES).stops
    assert stop.page == "invariance"
    assert stop.settings == {"cell": "layer.case_rescaling", "tab": "why"}
    assert (stop.title, stop.question, stop.notice, stop.notes) == (
        "A stop",
        "What?",
        "This.",
        "That.",
    )


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        ("# A tour", "A tour", 1, "A tour has one title, after “# ”."),
        ("# A tour", "# A tour\n# Two", 2, "A tour has one title, after “# ”."),
        ("## A stop", "A stop", 1, "A tour has at least one stop, after “## ”."),
        ("/invariance", "/invariances", 5, "There is no page 'invariances'; pages are home, "),
        ("/invariance", "//[", 5, "is no address."),
        ("&tab=why", "&tab=wy", 5, "The page has no tab 'wy'; its tabs are why, certificate, "),
        ("/invariance?", "/home?", 5, "The page has no tab 'why'; its tabs are none."),
        ("case_res", "case_rees", 5, "must be a normalizer and a transform"),
        ("&tab", "&color=red&tab", 5, "There is no setting 'color'."),
        ("&tab", "&delta=1e9&tab", 5, "`delta` must be a number from -100 to 100"),
        ("`why`", "`turn`", 6, "On this page a stop can show effect, floating_point, table, "),
        ("- shows: `why`\n", "", 3, "The stop has no line “- shows: `…`”."),
        ("- open: ", "- opens: ", 5, "A stop begins with the lines"),
        ("- shows", "Look!\n- shows", 6, "Got 'Look!'."),
        ("- shows", "- open: `/`\n- shows", 6, "A stop begins with the lines"),
        ("### Notes", "### Note", 16, "The parts of a stop are Question, What to notice, Notes"),
        ("### Notes", "### Question", 16, "each once. Got 'Question'."),
        ("That.\n", "", 3, "The stop has no part “Notes”."),
        ("### Question", "", 10, "A stop begins with the lines"),
    ],
)  # fmt: skip
def test_bad_file_says_its_line_and_the_reason(tmp_path, old, new, line, reason):
    assert GOOD.count(old) >= 1
    words = said(tmp_path, GOOD.replace(old, new, 1))
    assert words.startswith(f"mine.md, line {line}: "), words
    assert reason in words


def test_file_that_is_no_text_is_refused(tmp_path):
    assert said(tmp_path, b"# \xff\xfe") == "mine.md, line 1: A tour is text in UTF-8."


@pytest.mark.parametrize(
    ("query", "why"),
    [
        (
            {"tour": "monday"},
            "There is no tour `'monday'`; tours are ten-minutes, lecture, explore.",
        ),
        ({"tour": "../secret"}, "There is no tour `'../secret'`"),
        ({"stop": "2"}, "There is no tour `''`"),
        ({"tour": "ten-minutes", "stop": "6"}, "has the stops 1 to 5; got `'6'`."),
        ({"tour": "ten-minutes", "stop": "0"}, "has the stops 1 to 5; got `'0'`."),
        ({"tour": "ten-minutes", "stop": "-1"}, "has the stops 1 to 5; got `'-1'`."),
        ({"tour": "ten-minutes", "stop": "٣"}, "has the stops 1 to 5; got"),
        ({"tour": "ten-minutes", "stop": "two"}, "has the stops 1 to 5; got `'two'`."),
    ],
)
def test_address_of_no_stop_is_told_in_a_sentence_beside_the_page(shown, query, why):
    page = shown("invariance", **query)
    (warning,) = page.warnings
    assert why in warning
    assert warning.endswith("The page is shown without it.")
    assert page.figures == ["effect"]


def test_wrong_file_is_told_on_home_and_at_its_address(shown, tmp_path, monkeypatch):
    (tmp_path / "mine.md").write_text(GOOD.replace("&tab", "&color=red&tab"), "utf-8")
    (tmp_path / "yours.md").write_text(GOOD, "utf-8")
    monkeypatch.setattr(tours, "FOLDER", tmp_path)
    sentence = "`mine.md`, line 5: There is no setting `'color'`."
    home = shown("home")
    assert home.warnings == [sentence]
    assert [link.proto.label for link in home.app.get("page_link")] == ["1. A stop"]
    page = shown("invariance", tour="mine", stop="1")
    assert page.warnings == [f"{sentence} The page is shown without it."]


def test_page_follows_a_stop_and_what_is_changed_goes_before_it(shown):
    page = shown("invariance", tour="ten-minutes", stop="2")
    assert page.pressed == ["batch.dataset_recentering"]
    assert page.query == {"tour": "ten-minutes", "stop": "2"}
    page.app.selectbox(key="dataset").select("iris").run()
    assert page.query == {"tour": "ten-minutes", "stop": "2", "dataset": "iris"}
    assert page.pressed == ["batch.dataset_recentering"]
    page.app.number_input(key="delta").set_value(3.0).run()
    assert page.query["delta"] == "3", "the default of the program is not that of the stop"
    page.app.button(key="reset").click().run()
    assert page.query == {"tour": "ten-minutes", "stop": "2"}


def test_who_leaves_a_tour_stays_in_the_state_of_the_stop(shown):
    page = shown("invariance", tour="ten-minutes", stop="2", dataset="iris")
    page.app.button(key="tour_leave").click().run()
    assert page.query == {
        "cell": "batch.dataset_recentering", "delta": "2", "dataset": "iris",
    }  # fmt: skip
    assert page.app.get("page_link") == []


def test_address_of_a_tour_opens_its_first_stop_wherever_it_is_typed(shown):
    page = shown("batch", tour="ten-minutes")
    assert page.pressed == ["layer.case_rescaling"]
    assert page.query == {"tour": "ten-minutes", "stop": "1"}


STOPS = {
    f"{name} {number}": (name, number, stop)
    for name in tours.names()
    for number, stop in enumerate(tours.tour(name, PAGES).stops, 1)
}


@pytest.mark.parametrize(("name", "number", "stop"), STOPS.values(), ids=STOPS)
def test_stop_opens_without_complaints(shown, name, number, stop):
    page = shown(stop.page, tour=name, stop=str(number))
    assert page.warnings == []
    assert stop.question in page.words
    assert stop.notice in page.words
    if stop.key.startswith("figure_"):
        assert stop.shows in page.figures
