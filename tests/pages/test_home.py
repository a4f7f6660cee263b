"""Home: the story, with its figures, its links and the ways in."""

import re
from html import unescape

import numpy as np
import pytest

from normgeo.normalizers.example import EXAMPLE_PLACE, EXAMPLE_W, EXAMPLE_X, read
from normgeo.settings import Settings
from normgeo.story.story import STATES, story
from normgeo.ui.frame import PAGES
from normgeo.ui.teaching import tours

EDITED = "4.-2.0_0.7.5_2.1.3_0.1.-3_2.2.1_1.6.0"


def results(captions: str) -> list[float]:
    """The z that each method's arithmetic ends with."""
    return [float(z.replace("−", "-")) for z in re.findall(r"= (\S+)</b>", captions)]


def z_by_hand(X, W, n, h):
    """z of batch, layer and weight norm at a place."""
    A = X @ W.T
    return [
        (A[n, h] - A[:, h].mean()) / A[:, h].std(),
        (A[n, h] - A[n].mean()) / A[n].std(),
        A[n, h] / np.linalg.norm(W[h]),
    ]


def test_page_says_what_it_is_and_has_every_figure_in_order(shown):
    home = shown("home")
    assert home.figures == list(STATES)
    assert home.app.title[0].value == story("en").title
    assert story("en").chapters[0].words in home.words.partition(story("en").chapters[0].after)[0]


@pytest.mark.parametrize("language", ["ko", "zh"])
def test_page_is_in_the_language_of_its_address(shown, language):
    home, told = shown("home", language=language), story(language)
    assert home.app.title[0].value == told.title
    assert [header.value for header in home.app.header] == [
        one.title for one in told.chapters[1:-1]
    ]
    assert home.figures == list(STATES)


def test_a_language_that_is_none_is_named(shown):
    home = shown("home", language="fr")
    assert len(home.warnings) == 1
    assert home.app.title[0].value == story("en").title


def test_each_chapter_leads_to_its_page_in_the_same_state(shown):
    home = shown("home", delta="5", growth="4")
    told, visitor = story("en").chapters[:-1], Settings(delta=5, growth=4)
    links = {link.proto.label: link.proto.query_string for link in home.app.get("page_link")}
    for chapter in told:
        query = "&".join(f"{name}={word}" for name, word in chapter.query(visitor).items())
        assert unescape(links[chapter.more]) == query


def test_arithmetic_ends_with_the_z_of_each_method(shown, subtests):
    for example, place, delta in [("", "", 1), (EDITED, "2.0", 1), (EDITED, "2.0", 3)]:
        with subtests.test(example=example, place=place, delta=delta):
            query = {"example": example, "place": place} if example else {}
            home = shown("home", delta=str(delta), **query)
            X, W = read(example) if example else (EXAMPLE_X, EXAMPLE_W)
            n, h = map(int, place.split(".")) if place else EXAMPLE_PLACE
            X = np.where(np.arange(3)[:, None] == n, delta * X, X)
            assert results(home.captions("averages")) == pytest.approx(
                z_by_hand(X, W, n, h), rel=0.005
            )


def test_a_case_of_the_example_has_no_number_as_its_rows_have_none(shown):
    captions = shown("home", delta="3").captions("averages")
    assert "one case × 3" in captions
    assert "case 1" not in captions


def test_arithmetic_can_be_followed(shown):
    captions = shown("home", delta="1").captions("averages")
    assert "μ = (6 + 6 + 9)/3 = 7<br>σ² = (1² + 1² + 2²)/3 = 2<br><b>z = (6 − 7)/√2" in captions
    assert "μ = (3 + 6 + 0)/3 = 3<br>σ² = (0² + 3² + 3²)/3 = 6<br><b>z = (6 − 3)/√6" in captions
    assert "σ = ‖w‖ = √(2² + 2² + 1²) = 3<br><b>z = (6 − 0)/3" in captions


def test_words_for_a_screen_reader_hold_the_arithmetic(shown):
    home = shown("home", example=EDITED, place="2.0")
    said = home.alt("averages")
    for line in home.captions("averages").split("<br>"):
        if line.startswith("σ"):
            assert line in said


def test_an_example_from_an_address_is_named_where_it_is_bad(shown, subtests):
    for example, warnings in [
        ("1.2.0_0.3.0_2.1.3", 1),
        ("1.2.0_0.3.0_2.1.3_0.1.0_2.2.1_1.0.1e99", 1),
        ("1.2.0_0.3.0_2.1.3_0.1.0_2.2.1_1.0.100", 1),
        ("0.0.0_0.0.0_0.0.0_0.0.0_0.0.0_0.0.0", 0),
    ]:
        with subtests.test(example=example, warnings=warnings):
            home = shown("home", example=example)
            assert len(home.warnings) == warnings
            assert home.figures == list(STATES)
            if not warnings:
                words = home.captions("averages").replace("<br>", " ")
                assert words.count("so there is no z.") == 3


def test_a_presentation_shows_one_chapter_at_a_time(shown):
    assert shown("home", present="1").figures == ["contrast"]
    assert shown("home", present="1", tab="turn").figures == ["turn"]


def test_ways_in_lead_to_the_stops_of_the_tours(shown):
    links = [link.proto for link in shown("home").app.get("page_link")]
    stops = [
        (f"{number}. {stop.title}", f"tour={name}&stop={number}")
        for name in tours.names()
        for number, stop in enumerate(tours.tour(name, PAGES).stops, 1)
    ]
    assert set(stops) <= {(link.label, link.query_string) for link in links}
