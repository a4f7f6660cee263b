"""Presenting and embedding: type for the back row, slides by keys, one figure alone."""

from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

MAIN = {
    "invariance": "effect",
    "learning_rate": "turn",
    "symmetry": "walk",
    "fisher": "equal_kl",
    "batch": "axes",
    "recurrent": "radii",
}
TABS = {
    "invariance?tab=floating_point": "floating_point",
    "learning_rate?tab=descent": "descent",
    "fisher?tab=spectra": "spectra",
}
LEAST = 21  # pixels of type

# Sizes of all words of a figure and its slider; exponents and indices are as large as they look.
SIZES = """name => {
    const figure = document.querySelector(`.st-key-figure_${name}`);
    return [...figure.querySelectorAll('text, .frames output, .frames .scale span')]
        .filter((one) => one.textContent.trim() && one.getBoundingClientRect().width > 0)
        .map((one) => [parseFloat(getComputedStyle(one).fontSize), one.textContent]);
}"""


def query(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.evaluate("location.href")).query)


def opened(page: Page, address: str, wait_settled) -> Page:
    page.goto(address)
    wait_settled(page)
    expect(page.locator(".js-plotly-plot:visible").first).to_be_visible()
    page.wait_for_timeout(500)
    return page


@pytest.mark.parametrize(("address", "name"), [*MAIN.items(), *TABS.items()])
def test_figure_has_large_type_and_ends_with_the_screen(server, look_at, axe, address, name):
    mark = "&" if "?" in address else "?"
    page = look_at(f"/{address}{mark}present=1")
    page.wait_for_timeout(500)
    sizes = page.evaluate(SIZES, name)
    assert len(sizes) > 5
    assert [one for one in sizes if one[0] < LEAST] == []
    box = page.locator(f".st-key-figure_{name}").bounding_box()
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= 721
    assert axe(page) == []


def test_slides_go_by_keys_and_escape_leaves(server, page, wait_settled):
    opened(page, f"{server}/learning_rate?method=layer&present=1", wait_settled)
    for gone in ("Settings", "Reset", "HTML", "Copy link"):
        expect(page.get_by_role("button", name=gone, exact=True)).to_be_hidden()
    expect(page.get_by_test_id("stHeader")).to_be_hidden()
    expect(page.get_by_role("combobox")).to_have_count(0)
    page.keyboard.press("PageDown")
    expect(page.locator(".st-key-figure_descent")).to_be_visible()
    expect(page.locator(".st-key-figure_turn")).to_be_hidden()
    wait_settled(page)
    assert query(page) == {"method": ["layer"], "present": ["1"], "tab": ["descent"]}
    page.keyboard.press("PageUp")
    expect(page.locator(".st-key-figure_turn")).to_be_visible()
    wait_settled(page)
    page.locator("input[type=range]").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("location.search.includes('growth')")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Reset")).to_be_visible()
    wait_settled(page)
    assert "present" not in query(page)
    sizes = [size for size, _ in page.evaluate(SIZES, "turn")]
    assert min(sizes) < LEAST, "as before"


def test_present_begins_in_the_menu_and_goes_along(server, page, wait_settled):
    opened(page, f"{server}/recurrent", wait_settled)
    page.get_by_role("button", name="Teach").click()
    page.get_by_role("button", name="Present").click()
    expect(page.get_by_role("button", name="Reset")).to_be_hidden()
    page.wait_for_function("location.search.includes('present=1')")


@pytest.mark.parametrize("address", ["learning_rate?method=layer&", "batch?", "invariance?"])
def test_embedded_page_is_one_figure_whose_slider_works(server, page, wait_settled, axe, address):
    opened(page, f"{server}/{address}embed=1", wait_settled)
    expect(page.locator(".js-plotly-plot:visible")).to_have_count(1)
    expect(page.get_by_role("heading", level=1)).to_be_hidden()
    expect(page.get_by_role("button", name="Reset")).to_be_hidden()
    slider = page.locator("input[type=range]")
    before = slider.get_attribute("aria-valuetext")
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(slider).not_to_have_attribute("aria-valuetext", before)
    whole = page.get_by_role("link", name="The whole page").get_attribute("href")
    assert "embed" not in whole
    assert whole.startswith(f"{server}/{address.partition('?')[0]}")
    assert axe(page) == []


def test_embedded_tab_is_alone(server, page, wait_settled):
    opened(page, f"{server}/learning_rate?tab=descent&embed=1", wait_settled)
    expect(page.locator(".js-plotly-plot:visible")).to_have_count(1)
    expect(page.locator(".st-key-figure_descent")).to_be_visible()
