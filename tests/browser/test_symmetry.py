"""Symmetry in a browser: the picture fits, nothing of it is cut, and everybody can read it."""

import re

import pytest
from playwright.sync_api import expect

from .conftest import PHONE

STATE = "symmetry?method=layer&tab=coupling"


@pytest.mark.exhaustive
def test_deep_link_shows_its_picture(look_at):
    page = look_at(f"/{STATE}")
    expect(page.get_by_role("heading", level=1)).to_have_text(
        "Which directions in weight space does the model not see?"
    )
    figure = page.locator(".st-key-figure_walk")
    expect(
        figure.get_by_text("62 of 610 directions change nothing: the Fisher matrix F is singular")
    ).to_be_visible()
    expect(page.locator(".st-key-figure_coupling").get_by_text("Eq. 13: 0 null")).to_be_visible()
    box = figure.bounding_box()
    assert box["y"] + box["height"] <= 720
    frame = figure.locator(".main-svg").first.bounding_box()
    words = figure.locator(".annotation-text, .xtitle, .ytitle").all()
    assert words
    for word in words:
        place = word.bounding_box()
        assert place["x"] >= frame["x"] - 1, word.text_content()
        assert place["x"] + place["width"] <= frame["x"] + frame["width"] + 1, word.text_content()
        assert place["y"] >= frame["y"] - 1, word.text_content()


@pytest.mark.exhaustive
def test_choice_over_the_figure_scrolls_away_with_it(look_at):
    page = look_at("/symmetry?tab=coupling")
    choice, figure = page.locator(".st-key-along_row"), page.locator(".st-key-figure_walk")

    def tops() -> list[float]:
        return [one.bounding_box()["y"] for one in (choice, figure)]

    before = tops()
    page.get_by_test_id("stMain").evaluate("main => { main.scrollTop = 400; }")
    assert tops() == [top - 400 for top in before]


def test_outputs_stand_still_on_the_null_walk_alone(server, page, wait_settled):
    page.goto(f"{server}/symmetry?dataset=wine&method=layer&walk=0")
    wait_settled(page)
    figure = page.locator(".st-key-figure_walk")
    expect(figure.get_by_text("KL = 0:", exact=True)).to_have_count(2)
    slider = figure.get_by_role("slider")
    slider.focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    expect(figure.get_by_text("every w × 2 (= 1 + r)")).to_be_visible()
    expect(figure.get_by_text("KL = 0:", exact=True)).to_have_count(1)
    expect(page).not_to_have_url(re.compile("walk=0"))  # 1 is the default


@pytest.mark.exhaustive
def test_phone_stacks_the_panels_and_scrolls_down_only(look_at):
    phone = look_at("/symmetry?dataset=wine", PHONE)
    assert phone.evaluate("document.documentElement.scrollWidth") == 390
    figure = phone.locator(".st-key-figure_walk")
    content, box = figure.evaluate("e => [e.scrollWidth, e.clientWidth]")
    assert content <= box <= 390
    above, below = (figure.get_by_text(words) for words in ("Along a null", "Along a random"))
    assert above.bounding_box()["y"] + 200 < below.bounding_box()["y"]


@pytest.mark.exhaustive
def test_click_on_a_weight_vector_chooses_the_neuron_that_moves(look_at, wait_settled):
    page = look_at("/symmetry?along=weight_vector_rescaling")
    figure = page.locator(".st-key-figure_walk")
    expect(figure.get_by_text("w of neuron 0 ×")).to_be_visible()
    ring = figure.locator(".xy .scatterlayer .point").nth(6)
    place = ring.bounding_box()
    page.mouse.click(place["x"] + place["width"] / 2, place["y"] + place["height"] + 5)
    page.wait_for_url("**neuron=6*")
    wait_settled(page)
    expect(figure.get_by_text("w of neuron 6 ×")).to_be_visible()


@pytest.mark.exhaustive
def test_signs_of_the_angles_are_drawn_and_named(look_at):
    page = look_at("/symmetry?dataset=iris&tab=angles")
    signs = page.locator("[role=tabpanel] img")
    expect(signs.first).to_be_visible()
    names = signs.evaluate_all("all => all.map((one) => one.naturalWidth && one.alt)")
    assert set(names) == {"✓", "✗"}
