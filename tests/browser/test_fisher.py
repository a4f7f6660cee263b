"""Fisher in a browser: the picture fits, its buttons work without the server, all can read it."""

import pytest
from playwright.sync_api import expect

from .conftest import PHONE, address


@pytest.mark.exhaustive
def test_deep_link_shows_its_picture_above_the_fold(look_at):
    page = look_at("/fisher?tab=eq13")
    expect(page.get_by_role("heading", level=1)).to_have_text(
        "How far can the weights move unnoticed?"
    )
    figure = page.locator(".st-key-figure_equal_kl")
    expect(figure.get_by_text("an ellipse", exact=True)).to_be_visible()
    expect(figure.get_by_text("a wedge,")).to_be_visible()
    expect(page.locator(".st-key-figure_eq13").get_by_text("Eq. 13 is off by")).to_be_visible()
    box = figure.bounding_box()
    assert box["y"] + box["height"] <= 600
    for name in ("equal_kl", "eq13"):
        assert words_outside(page, name) == []


@pytest.mark.exhaustive
def test_buttons_choose_the_entries_without_the_server(look_at, wait_settled):
    page = look_at("/fisher?dataset=wine&tab=blocks")
    figure = page.locator(".st-key-figure_fisher")
    url, images = address(page), figure.locator(".heatmaplayer image, .heatmaplayer .hm image")
    before = [image.get_attribute("href") or "" for image in images.all()]
    assert len(before) == 6
    for label in ("log₁₀|F|", "F over its diagonal"):
        figure.get_by_text(label, exact=True).click()
        wait_settled(page)
        after = [image.get_attribute("href") or "" for image in images.all()]
        assert len(after) == 6
        assert len({*after} - {*before}) == 4  # the ratios stay
        before = after
    assert address(page) == url


@pytest.mark.exhaustive
def test_chosen_button_of_a_dark_figure_is_dark(look_at):
    page = look_at("/fisher?dataset=wine&tab=blocks&entries=log", scheme="dark")
    fills = page.locator(".st-key-figure_fisher .updatemenu-item-rect").evaluate_all(
        "all => all.map((one) => getComputedStyle(one).fill.match(/0?[.]\\d+/g).map(Number))"
    )
    sums = [sum(fill) for fill in fills]
    assert sums[0] == sums[2] < sums[1] < 1.5


@pytest.mark.exhaustive
def test_picture_goes_with_the_method(look_at, wait_settled):
    page = look_at("/fisher?dataset=wine")
    page.get_by_role("combobox", name="method").click()
    page.get_by_role("option", name="weight norm", exact=True).click()
    wait_settled(page)
    expect(
        page.locator(".st-key-figure_equal_kl").get_by_text("weight norm:", exact=True)
    ).to_have_count(1)
    assert "method=weight" in address(page)


@pytest.mark.exhaustive
def test_buttons_of_the_blocks_are_reached_and_pressed_by_keys(look_at, wait_settled):
    page = look_at("/fisher?dataset=wine&tab=blocks")
    figure = page.locator(".st-key-figure_fisher")
    buttons = figure.locator(".updatemenu-button")
    names = buttons.all_text_contents()
    page.get_by_role("tab", name="Blocks").focus()
    pressed = {}
    for _ in range(30):
        page.keyboard.press("Tab")
        name = page.evaluate("document.activeElement.ariaLabel")
        if name in names and name not in pressed:
            shown = figure.locator(".hm image").first.get_attribute("href")
            page.keyboard.press("Enter" if len(pressed) % 2 else " ")
            wait_settled(page)
            pressed[name] = figure.locator(".hm image").first.get_attribute("href") != shown
    assert list(pressed) == names
    assert list(pressed.values()) == [False, True, True], "the first shows what is shown already"


@pytest.mark.exhaustive
def test_phone_stacks_the_panels_and_keeps_all_words_on_the_screen(look_at):
    for tab, name in (("blocks", "fisher"), ("spectra", "spectra")):
        phone = look_at(f"/fisher?tab={tab}", PHONE)
        assert phone.evaluate("document.documentElement.scrollWidth") == 390
        for each in ("equal_kl", name):
            content, box = phone.locator(f".st-key-view_{each}").evaluate(
                "e => [e.scrollWidth, e.clientWidth]"
            )
            assert content <= box <= 390
            assert words_outside(phone, each) == []
    look_at("/fisher?tab=equation", PHONE)
    panel = phone.locator("[role=tabpanel]:has(.katex)")
    expect(panel).to_have_count(1)
    assert panel.evaluate("e => e.scrollWidth - e.clientWidth") == 0, "no formula is cut off"
    top, below = phone.locator(".st-key-figure_equal_kl .cartesianlayer .subplot").all()[:2]
    assert top.bounding_box()["y"] + top.bounding_box()["height"] <= below.bounding_box()["y"]


@pytest.mark.exhaustive
def test_on_a_phone_no_button_covers_the_words_above_the_blocks(look_at):
    phone = look_at("/fisher?tab=blocks", PHONE)
    figure = phone.locator(".st-key-figure_fisher")
    words = [each.bounding_box() for each in figure.locator(".annotation-text").all()]
    buttons = [each.bounding_box() for each in figure.locator(".updatemenu-button").all()]
    assert len(buttons) == 3
    for button in buttons:
        assert not any(overlap(button, each) for each in words)


def overlap(one, other):
    return all(
        one[at] < other[at] + other[size] - 1 and other[at] < one[at] + one[size] - 1
        for at, size in (("x", "width"), ("y", "height"))
    )


def words_outside(page, name):
    """The annotations of a figure that leave its frame."""
    frame = page.locator(f".st-key-figure_{name} .main-svg").first.bounding_box()
    words = page.locator(f".st-key-figure_{name} .annotation-text").all()
    assert words
    places = {word.text_content(): word.bounding_box() for word in words}
    return [
        (text, place)
        for text, place in places.items()
        if place["x"] < frame["x"] - 1
        or place["y"] < frame["y"] - 1
        or place["x"] + place["width"] > frame["x"] + frame["width"] + 1
        or place["y"] + place["height"] > frame["y"] + frame["height"] + 1
    ]


@pytest.mark.exhaustive
def test_ellipse_fills_its_panel_on_a_phone(server, phone, wait_settled):
    """Drawn wide first, it would leave the ranges of that drawing behind."""
    phone.goto(f"{server}/fisher?dataset=wine")
    wait_settled(phone)
    made, drawn = phone.locator(".st-key-figure_equal_kl .js-plotly-plot").evaluate(
        """plot => [window.framePlayers.get(plot).base.layout, plot.layout].map(
            (layout) => layout.xaxis.range)"""
    )
    assert drawn[1] - drawn[0] < 1.5 * (made[1] - made[0])
