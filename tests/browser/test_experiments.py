"""The Experiments page in Chromium: a click opens an experiment, whose pen moves."""

import re

import pytest
from playwright.sync_api import expect

from normgeo.experiments.results import STATEMENTS
from normgeo.pictures.experiments.about import ABOUT

PEN = """() => {
    const data = document.querySelector('.st-key-figure_handwriting .js-plotly-plot').calcdata;
    return data[0].length;
}"""


@pytest.mark.exhaustive
def test_click_on_a_small_picture_opens_it_large_and_the_pen_follows_the_slider(
    look_at, wait_settled
):
    page = look_at("/experiments")
    n = [*STATEMENTS].index("handwriting") + 2
    panel = f".draglayer .x{n}y{n} .nsewdrag"  # the curves of a subplot go beyond its panel
    small = page.locator(f".st-key-figure_experiments {panel}")
    rows = page.locator(".st-key-figure_experiments .draglayer .xy .nsewdrag")
    rows.scroll_into_view_if_needed()
    strip = rows.bounding_box()
    page.mouse.click(strip["x"] + 5, strip["y"] + strip["height"] / 2)  # the fourth row of seven
    page.wait_for_url("**tab=draw*")
    wait_settled(page)  # the page moves to what was opened
    small.scroll_into_view_if_needed()
    box = small.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_url("**tab=handwriting*")
    figure = page.locator(".st-key-figure_handwriting")
    expect(figure).to_be_in_viewport()
    slider = figure.locator(".frames input")
    slider.wait_for()
    whole = page.evaluate(PEN)
    slider.press("Home")
    page.wait_for_function(f"({PEN})() <= 6")
    assert whole > 50
    page.wait_for_url(re.compile("pen=5"))


@pytest.mark.exhaustive
def test_embedded_claims_are_all_named(open_page, server, wait_settled):
    page = open_page(1000, 620)
    page.goto(f"{server}/experiments?embed=true")
    wait_settled(page)
    figure = page.locator(".st-key-figure_experiments")
    for name in STATEMENTS:
        expect(figure.get_by_text(f"{ABOUT[name].title}: ")).to_be_in_viewport(ratio=0.99)
    expect(figure.locator(".legendtext")).to_have_count(0)
