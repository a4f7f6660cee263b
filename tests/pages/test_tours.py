"""Tours: bad files are refused in a sentence, and pages follow a stop."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from normgeo.base.refusal import Refusal
from normgeo.settings import SETTINGS, Settings
from normgeo.ui.frame import PAGES
from normgeo.ui.teaching import tours
from normgeo.ui.teaching.tour_file import read

pytestmark = pytest.mark.usefixtures("undrawn")

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


def test_bad_file_says_its_line_and_the_reason(tmp_path, subtests):
    for old, new, line, reason in [
        ("# A tour", "A tour", 1, "A tour has one title, after “# ”."),
        ("# A tour", "# A tour\n# Two", 2, "A tour has one title, after “# ”."),
        ("## A stop", "A stop", 1, "A tour has at least one stop, after “## ”."),
        ("/invariance", "/invariances", 5, "There is no page 'invariances'; pages are home, "),
        ("/invariance", "//[", 5, "is no address."),
        ("&tab=why", "&tab=wy", 5, "The page has no tab 'wy'; its tabs are why, certificate, "),
        ("/invariance?", "/audit?", 5, "The page has no tab 'why'; its tabs are none."),
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
    ]:
        with subtests.test(old=old, new=new, line=line, reason=reason):
            assert GOOD.count(old) >= 1
            words = said(tmp_path, GOOD.replace(old, new, 1))
            assert words.startswith(f"mine.md, line {line}: "), words
            assert reason in words


def test_file_that_is_no_text_is_refused(tmp_path):
    assert said(tmp_path, b"# \xff\xfe") == "mine.md, line 1: A tour is text in UTF-8."


REAL = {file.name: file.read_text("utf-8") for file in tours.FOLDER.glob("*.md")}
LINES = sorted({line for words in REAL.values() for line in words.splitlines()})


def edited(lines: list[str], edit: tuple[str, float, str]) -> list[str]:
    """Lines of a tour with a typing error: at some share of the file, with other words."""
    how, share, words = edit
    at = int(share * len(lines))
    line = lines[at] if lines else ""
    cut = int(share * 7919) % (len(line) + 1)
    slips = {
        "drop": [],
        "double": [line, line],
        "before": [words, line],
        "instead": [words],
        "inside": [line[:cut] + words + line[cut + 1 :]],
    }
    return [*lines[:at], *slips[how], *lines[at + 1 :]]


WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=12)
SHARES = st.floats(0, 1, exclude_max=True)
EDITS = st.tuples(
    st.sampled_from(("drop", "double", "before", "instead", "inside")),
    SHARES,
    WORDS | st.sampled_from(LINES),
)


@pytest.mark.exhaustive
@settings(max_examples=300)
@given(name=st.sampled_from(sorted(REAL)), edits=st.lists(EDITS, min_size=1, max_size=4))
def test_any_edited_file_is_a_tour_or_says_its_line_and_a_reason(tmp_path_factory, name, edits):
    lines = REAL[name].splitlines()
    for edit in edits:
        lines = edited(lines, edit)
    words = "\n".join(lines)
    if refused := said(tmp_path_factory.getbasetemp(), words):
        found = re.fullmatch(r"mine\.md, line (\d+): .*\w.*", refused, re.DOTALL)
        assert found, refused
        assert 1 <= int(found[1]) <= max(len(words.splitlines()), 1)
        return
    tour = read(tmp_path_factory.getbasetemp() / "mine.md", PAGES)
    assert tour.title
    assert tour.stops
    for stop in tour.stops:
        assert stop.page in PAGES
        assert Settings.from_recipe(dict(stop.settings))
        assert all((stop.question, stop.notice, stop.notes))


WRONG = st.one_of(
    st.from_regex(r"/[a-z]{3,9}", fullmatch=True)
    .filter(lambda path: path[1:] not in PAGES)
    .map(lambda path: (path, "There is no page")),
    st.from_regex(r"[a-z]{3,12}", fullmatch=True)
    .filter(lambda word: word not in SETTINGS)
    .map(lambda word: (f"/fisher?{word}=1", "There is no setting")),
    st.floats(allow_nan=False)
    .filter(lambda value: not -100 <= value <= 100)
    .map(lambda value: (f"/invariance?delta={value}", "`delta` must be a number")),
)


@given(name=st.sampled_from(sorted(REAL)), share=SHARES, wrong=WRONG)
def test_stop_that_opens_nothing_says_the_line_that_opens_it(tmp_path_factory, name, share, wrong):
    address, reason = wrong
    lines = REAL[name].splitlines()
    places = [n for n, line in enumerate(lines) if line.startswith("- open:")]
    at = places[int(share * len(places))]
    lines[at] = f"- open: `{address}`"
    words = said(tmp_path_factory.getbasetemp(), "\n".join(lines))
    assert words.startswith(f"mine.md, line {at + 1}: {reason}")


def test_file_that_cannot_be_read_is_refused(tmp_path):
    (tmp_path / "mine.md").mkdir()
    with pytest.raises(Refusal, match=r"^mine\.md, line 1: The file cannot be read\.$"):
        read(tmp_path / "mine.md", PAGES)


def test_address_of_no_stop_is_told_in_a_sentence_beside_the_page(shown, subtests):
    for query, why in [
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
    ]:
        with subtests.test(query=query, why=why):
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
    links = [link.proto for link in home.app.get("page_link") if "tour=" in link.proto.query_string]
    assert [link.label for link in links] == ["1. A stop"]
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
    page = shown("batch", tour="ten-minutes", version="2", delta="5")
    assert page.pressed == ["layer.case_rescaling"]
    said = {"tour": "ten-minutes", "stop": "1", "version": "2", "delta": "5"}
    assert page.query == said
    assert page.warnings == ["There is no setting `'version'`. It was left out."]


STOPS = {
    f"{name} {number}": (name, number, stop)
    for name in tours.names()
    for number, stop in enumerate(tours.tour(name, PAGES).stops, 1)
}


@pytest.mark.parametrize(
    ("name", "number", "stop"),
    [
        pytest.param(*stop, id=name, marks=[pytest.mark.exhaustive] * (number > 5))
        for number, (name, stop) in enumerate(STOPS.items(), 1)
    ],
)
def test_stop_opens_without_complaints(shown, name, number, stop):
    page = shown(stop.page, tour=name, stop=str(number))
    assert page.warnings == []
    assert stop.question in page.words
    assert stop.notice not in page.words, "before it is asked for"
    page.app.button(key="tour_notice").click().run()
    assert stop.notice in page.words
    if stop.key.startswith("figure_"):
        assert stop.shows in page.figures


def test_what_to_notice_is_hidden_again_at_another_stop_and_on_the_way_back(shown):
    page = shown("invariance", tour="ten-minutes", stop="2")
    page.app.button(key="tour_notice").click().run()
    page.app.number_input(key="delta").set_value(3.0).run()
    first, second = tours.tour("ten-minutes", PAGES).stops[:2]
    assert second.notice in page.words, "as long as one stays"
    page.open("invariance", tour="ten-minutes", stop="1")
    assert first.notice not in page.words
    page.app.button(key="tour_notice").click().run()
    page.open("invariance", tour="ten-minutes", stop="2")
    assert second.notice not in page.words


def test_what_to_notice_stays_while_one_pins_and_presents(shown):
    page = shown("invariance", tour="ten-minutes", stop="2")
    notice = tours.tour("ten-minutes", PAGES).stops[1].notice
    page.app.button(key="tour_notice").click().run()
    page.app.button(key="effect_pin").click().run()
    assert "pin" in page.query
    assert notice in page.words
    page.app.query_params["present"] = "1"
    page.app.run()
    assert notice in page.words
