"""The story in a browser."""

import pytest
from playwright.sync_api import expect

from normgeo.story.story import story

from .conftest import patient, query


def test_question_figure_and_slider_are_on_the_first_screen(look_at):
    page = look_at("/")
    for part in (page.get_by_role("heading", level=1), page.get_by_role("slider").first):
        box = part.bounding_box()
        assert box["y"] + box["height"] <= 660
    expect(page.get_by_text("normgeo shows what normalization ignores")).to_be_in_viewport()


def test_contrast_moves_one_method_and_the_example_below_with_it(look_at, wait_settled):
    page = look_at("/")
    first = page.locator(".st-key-figure_contrast")
    slider = first.get_by_role("slider")
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(first.get_by_text("contrast × 4").first).to_be_visible()
    wait_settled(page)
    assert query(page)["delta"] == ["4"]
    # 3 · 4 = 12 is the only entry of the case that is not 0.
    example = page.locator(".st-key-figure_averages")
    expect(example.get_by_text("12", exact=True).first).to_be_attached()


def test_numbers_can_be_changed(look_at, wait_settled):
    page = look_at("/?delta=1")
    button = page.get_by_role("button", name="Change the numbers")
    button.click()
    expect(page.get_by_test_id("stPopoverBody")).to_be_visible()
    wait_settled(page)
    grid = page.get_by_test_id("stPopoverBody").locator("canvas").first
    field = page.locator("#portal input")
    # A grid that has just been drawn does not hear of clicks at once, and a click beside one that
    # still finds its place closes it. A click on the entry that is chosen opens the entry.
    for _ in range(100):
        if field.count():
            break
        if grid.is_visible() and (box := grid.bounding_box()):
            # Below the line of heads: the first entry of the first case.
            page.mouse.click(box["x"] + box["width"] / 6, box["y"] + 1.5 * box["height"] / 4)
        else:
            button.click()
        page.wait_for_timeout(500)
    field.fill("7")
    page.keyboard.press("Enter")
    page.wait_for_function("location.search.includes('example=7.')")
    wait_settled(page)
    figure = page.locator(".st-key-figure_averages")
    expect(figure.get_by_text("7", exact=True).first).to_be_attached()


@pytest.mark.parametrize("key", ["ko"])
def test_story_speaks_the_language_of_the_browser(browser, server, wait_settled, key):
    context = patient(browser, locale=f"{key}-KR", viewport={"width": 390, "height": 844})
    page = context.new_page()
    page.goto(server)
    wait_settled(page)
    expect(page.get_by_role("heading", level=1)).to_have_text(story(key).title)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    context.close()


def test_a_chapter_leads_on_in_the_same_state(look_at, wait_settled):
    page = look_at("/?growth=4")
    page.get_by_role("link", name=story("en").chapters[5].more).click()
    page.wait_for_function("location.pathname.endsWith('/learning_rate')")
    wait_settled(page)
    assert query(page)["growth"] == ["4"]


@pytest.mark.exhaustive
def test_stop_of_a_tour_is_a_click_away(server, page, wait_settled, axe):
    page.goto(server)
    wait_settled(page)
    page.get_by_role("button", name="10-minute tour").click()
    link = page.get_by_role("link", name="A “no” on the blackboard")
    expect(link).to_be_visible()
    assert axe(page) == []
    link.click()
    page.wait_for_url("**/invariance?tour=ten-minutes&stop=4")
    wait_settled(page)
    expect(page.get_by_role("tab", name="Blackboard")).to_have_attribute("aria-selected", "true")
    expect(page.locator(".katex-display").first).to_be_in_viewport()


@pytest.mark.exhaustive
def test_file_of_the_story_draws_every_figure_offline(browser, tmp_path):
    import subprocess
    import sys

    made = tmp_path / "story.html"
    subprocess.run([sys.executable, "-m", "normgeo", "story", "-o", made], check=True)
    context = patient(browser, offline=True)
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(made.as_uri())
    expect(page.locator("figure .main-svg").first).to_be_visible()
    page.wait_for_function(
        "[...document.querySelectorAll('figure')].every(one => one.querySelector('.main-svg'))"
    )
    assert page.locator("figure").count() == 8
    slider = page.get_by_role("slider").first
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("figure").first.get_by_text("contrast × 4").first).to_be_visible()
    assert errors == []
    context.close()
