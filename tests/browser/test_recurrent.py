"""The Recurrent page in Chromium: one slider for both halves, stopping, links, fit."""

import re

import pytest
from playwright.sync_api import expect

# The last value of a line: of the state at the left (1), of its memory at the right (2).
ENDS = """() => {
    const data = document.querySelector('.st-key-figure_recurrence .js-plotly-plot').calcdata;
    const of = (axis, place) => data.filter(line => line[0].trace.yaxis === axis)[place];
    return {
        state: of('y2', 0).at(-1).y, normed: of('y2', 1).at(-1).y,
        memory: of('y3', 0)[0].y, kept: of('y3', 1)[0].y,
    };
}"""


@pytest.fixture
def recurrent(server, page, wait_settled):
    page.goto(f"{server}/recurrent")
    page.locator(".st-key-figure_recurrence .slider-group").wait_for()
    wait_settled(page)
    return page


def captions(page):
    found = page.locator(".st-key-figure_recurrence .annotation-text").all_text_contents()
    return " ".join(found)


def test_one_slider_drives_both_halves_and_the_words(recurrent):
    before = recurrent.evaluate(ENDS)
    assert before["state"] > 1e8
    assert before["memory"] > 9
    assert "explodes" in captions(recurrent)
    rail = recurrent.locator(".st-key-figure_recurrence .slider-rail-touch-rect").bounding_box()
    recurrent.mouse.click(rail["x"] + 2, rail["y"] + rail["height"] / 2)
    recurrent.wait_for_function(
        "document.querySelector('.st-key-figure_recurrence .slider-label')"
        ".textContent.endsWith('0.5')"
    )
    recurrent.wait_for_function(f"({ENDS})().memory < -18")
    after = recurrent.evaluate(ENDS)
    assert after["state"] < 10
    assert after["normed"] == before["normed"] == pytest.approx(1)
    assert after["memory"] < after["kept"]
    assert "dies" in captions(recurrent)


def test_activation_is_picked_in_the_heading(recurrent, wait_settled):
    recurrent.get_by_role("combobox", name="activation f").click()
    recurrent.get_by_role("option", name="f = tanh").click()
    recurrent.wait_for_function(
        "document.querySelector('.st-key-figure_recurrence')?.textContent.includes('f = tanh')"
    )
    assert "activation=tanh" in recurrent.url


def test_long_computation_shows_a_bar_and_stops_with_what_it_has(server, page, wait_settled):
    page.goto(f"{server}/recurrent?length=256&neurons=64&seed=9")
    page.get_by_text(re.compile(r"Step [\d,]+ of")).wait_for(timeout=60_000)
    page.get_by_role("button", name="Stop").click()
    page.locator(".st-key-figure_recurrence .main-svg").first.wait_for(timeout=20_000)
    wait_settled(page)
    assert "of 12 radii" in captions(page)
    page.get_by_role("button", name="Compute all radii").click()
    page.wait_for_function(
        "!document.querySelector('.st-key-figure_recurrence')?.textContent.includes('stopped')"
        " && document.querySelector('.st-key-figure_radii')",
        timeout=60_000,
    )
    wait_settled(page)
    assert "stopped" not in captions(page)


def test_deep_link_shows_its_picture(server, page, wait_settled):
    page.goto(f"{server}/recurrent?radius=0.8&activation=relu&length=32&tab=zero")
    page.locator(".st-key-figure_recurrence .slider-group").wait_for()
    wait_settled(page)
    expect(page.get_by_role("heading", level=1)).to_have_text(
        "What keeps a recurrent state from exploding or dying?"
    )
    assert "T = 32 = 4 × 8 rows; 32 neurons, f = relu" in captions(page)
    expect(page.get_by_text("there is nothing to divide by")).to_be_visible()
    label = page.locator(".st-key-figure_recurrence .slider-label").first
    assert label.text_content().endswith("0.8")


def test_picture_and_tabs_fit_a_projector(recurrent):
    for key in ("figure_recurrence", "export_recurrence"):
        box = recurrent.locator(f".st-key-{key}").bounding_box()
        assert box["y"] + box["height"] <= 720
        assert box["x"] + box["width"] <= 1280
    expect(recurrent.get_by_role("tab", name="All radii")).to_be_in_viewport()


def test_phone_scrolls_figures_in_their_box(server, phone, wait_settled):
    phone.goto(f"{server}/recurrent")
    phone.locator(".st-key-figure_recurrence .main-svg").first.wait_for()
    wait_settled(phone)
    assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_bad_value_is_named(server, page, wait_settled):
    page.goto(f"{server}/recurrent?radius=9")
    wait_settled(page)
    expect(page.get_by_role("alert")).to_contain_text(
        "radius must be a number from 0.5 to 2; got '9'."
    )
    page.locator(".st-key-figure_recurrence .main-svg").first.wait_for()
