"""Tours on the page: every stop opens, in order, by keys, with its subject on the screen."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from normgeo.ui.frame import PAGES
from normgeo.ui.teaching import tours
from tests.pairwise import first

TOURS = {name: tours.tour(name, PAGES) for name in tours.names()}

# Where the bar ends, and the box of what a stop shows.
PLACES = """key => {
    const find = (each) => document.querySelector(each)?.getBoundingClientRect();
    const tab = '[role=tabpanel]:not([hidden]) [data-testid=stVerticalBlock]';
    const subject = key ? find(`.st-key-${key}`) : find(tab) ?? find('.st-key-slide');
    return { bar: find('.st-key-tour').bottom, top: subject?.top, bottom: subject?.bottom,
             left: subject?.left, right: subject?.right };
}"""
LEAST = 250  # pixels of a subject that is longer than the screen


def stop_of(page: Page) -> str:
    query = parse_qs(urlsplit(page.evaluate("location.href")).query)
    return query["stop"][0]


def words_of(sentence: str) -> str:
    return " ".join(re.sub(r"[*`]", "", sentence).split())


def assert_on_screen(page: Page, key: str) -> None:
    box = page.evaluate(PLACES, key)
    assert box["top"] is not None, key
    assert box["bar"] - 1 <= box["top"], box
    assert box["left"] >= 0, box
    assert box["right"] <= 1280, box
    assert box["bottom"] <= 721 or (
        box["top"] <= 720 - LEAST and box["bottom"] - box["top"] > 400
    ), box


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", first(TOURS))
def test_every_stop_opens_by_keys_with_its_subject_on_the_screen(
    server, page, wait_settled, axe, name
):
    stops = TOURS[name].stops
    page.goto(f"{server}/?tour={name}")
    wait_settled(page)
    for number, stop in enumerate(stops, 1):
        expect(page.locator(".st-key-tour")).to_contain_text(f"{number} of {len(stops)}")
        wait_settled(page)
        assert stop_of(page) == str(number)
        assert urlsplit(page.evaluate("location.href")).path.strip("/") in (stop.page, "")
        assert page.get_by_test_id("stAlert").count() == 0
        assert_on_screen(page, stop.key)
        bar = page.locator(".st-key-tour_words")
        button = page.get_by_role("button", name="What to notice")
        expect(button).to_be_visible()
        expect(bar).to_have_role("status")
        assert words_of(stop.notice) not in words_of(bar.inner_text())
        page.keyboard.press("Enter")
        expect(button).to_be_hidden()
        wait_settled(page)
        assert words_of(stop.notice) in words_of(bar.inner_text())
        assert_on_screen(page, stop.key)
        if number < 4:
            assert axe(page) == []
        page.keyboard.press("ArrowRight")
    wait_settled(page)
    assert stop_of(page) == str(len(stops)), "the last one has no next"
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".st-key-tour")).to_contain_text(f"{len(stops) - 1} of {len(stops)}")
