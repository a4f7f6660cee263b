"""What every page keeps: deep links, the state in the URL, accessibility, nothing cut off."""

import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from normgeo.ui.frame import PAGES

ROOT = Path(__file__).parents[2]
FILES = {page["title"]: ROOT / page["page"] for page in PAGES}
PATHS = {title: "/" if title == "Home" else f"/{file.stem}" for title, file in FILES.items()}
QUESTIONS = {
    title: re.search(r'"([^"]+\?)"', file.read_text("utf-8"))[1] for title, file in FILES.items()
}
pages = pytest.mark.parametrize("path", PATHS.values(), ids=PATHS)


def query(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


@pytest.mark.parametrize("title", PATHS)
def test_first_request_to_a_new_server_may_be_a_deep_link(fresh_server, page, wait_settled, title):
    page.goto(f"{fresh_server}{PATHS[title]}?dataset=wine")
    # A new server imports its libraries first, and may calm down before it starts over.
    expect(page.get_by_role("heading", level=1)).to_have_text(QUESTIONS[title], timeout=30_000)
    wait_settled(page)
    for box in page.get_by_role("combobox", name="data", exact=True).all():
        expect(box).to_have_value("Wine")
    for other in PATHS:
        expect(page.get_by_role("link", name=other, exact=True)).to_be_visible()
    assert query(page) == {"dataset": ["wine"]}


def test_settings_go_along_and_come_back(server, page, wait_settled):
    page.goto(f"{server}/invariance?dataset=iris&cell=batch.case_rescaling")
    wait_settled(page)
    page.get_by_role("link", name="Home", exact=True).click()
    wait_settled(page)
    expect(page.get_by_role("heading", level=1)).to_have_text(QUESTIONS["Home"])
    assert query(page)["dataset"] == ["iris"]
    page.get_by_role("button", name="Reset", exact=True).click()
    wait_settled(page)
    assert query(page) == {}
    page.get_by_role("link", name="Invariance", exact=True).click()
    wait_settled(page)
    assert query(page) == {}


def test_copy_link_copies_the_url_of_the_state(server, open_page, wait_settled):
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    page.goto(f"{server}/invariance?dataset=iris")
    wait_settled(page)
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == page.url


@pages
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_accessibility_violation(server, open_page, wait_settled, axe, path, scheme):
    page = open_page(color_scheme=scheme)
    page.goto(server + path)
    wait_settled(page)
    assert axe(page) == []


@pages
def test_no_accessibility_violation_on_a_phone(server, phone, wait_settled, axe, path):
    phone.goto(server + path)
    wait_settled(phone)
    assert axe(phone) == []


@pages
def test_nothing_is_cut_at_the_side_of_a_phone(server, phone, wait_settled, path):
    phone.goto(server + path)
    wait_settled(phone)
    widths = phone.evaluate(
        """() => [document.documentElement, document.querySelector('[data-testid=stMain]')]
            .map(element => [element.scrollWidth, element.clientWidth])"""
    )
    for content, window in widths:
        assert content <= window == 390


@pages
def test_dark_pages_have_dark_figures(server, open_page, wait_settled, path):
    page = open_page(color_scheme="dark")
    page.goto(server + path)
    wait_settled(page)
    for figure in page.locator(".js-plotly-plot > div > div > .main-svg").all():
        paper = figure.evaluate("element => getComputedStyle(element).backgroundColor")
        assert paper in {"rgb(21, 24, 27)", "rgba(0, 0, 0, 0)"}
    app = page.get_by_test_id("stApp")
    assert app.evaluate("e => getComputedStyle(e).backgroundColor") == "rgb(21, 24, 27)"
