"""Symbols and terms of a page: their meaning by mouse, keys and touch."""

import pytest
from playwright.sync_api import expect

from normgeo.ui.teaching import glossary
from tests.pairwise import first
from tools.settled import still

from .conftest import address

MEANING = "A small number added to σ² before its root is taken."


def test_meaning_is_shown_on_hover_and_focus_and_closed_by_escape(server, page, wait_settled, axe):
    page.goto(f"{server}/invariance")
    wait_settled(page)
    symbol = page.get_by_role("button", name="ε", exact=True)
    box = symbol.bounding_box()
    assert box["y"] + box["height"] < 76, "in the line of the navigation, above the heading"
    tip = page.get_by_role("tooltip")
    expect(tip).to_be_hidden()
    symbol.hover()
    expect(tip).to_have_text(MEANING)
    expect(tip).to_be_in_viewport(ratio=1)
    assert axe(page) == []
    page.mouse.move(600, 650)
    expect(tip).to_be_hidden()
    page.get_by_role("button", name="δ", exact=True).focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(tip).to_have_text(MEANING)
    expect(symbol).to_have_accessible_description(MEANING)
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()


def test_meaning_is_a_touch_away_at_the_end_of_a_phone_page(server, phone, wait_settled):
    phone.goto(f"{server}/invariance")
    wait_settled(phone)
    symbol = phone.get_by_role("button", name="ε", exact=True)
    assert symbol.bounding_box()["y"] > phone.locator(".st-key-figure_effect").bounding_box()["y"]
    symbol.tap()
    tip = phone.get_by_role("tooltip")
    expect(tip).to_have_text(MEANING)
    expect(tip).to_be_in_viewport(ratio=1)
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390


# The letters of the formulas of a page, each once, with where they stand.
LETTERS = """() => {
    const found = new Map();
    for (const one of document.querySelectorAll('.katex-html .mathnormal, .katex-html .mathbb, '
        + '.katex-html .mathit, .katex-html .mathrm')) {
        const box = one.getBoundingClientRect();
        const seen = box.width > 0 && box.top > 60 && box.bottom < window.innerHeight;
        if (seen && one.children.length === 0 && !found.has(one.textContent)) {
            found.set(one.textContent, [box.left + box.width / 2, box.top + box.height / 2]);
        }
    }
    return [...found];
}"""
UPRIGHT = {"e", "id", "ReLU"}  # words and constants


@pytest.mark.parametrize(
    "address",
    first(
        [
            "/invariance?tab=why&eps=0.1&",
            "/invariance?tab=blackboard&cell=batch.case_recentering&",
            "/learning_rate?tab=equilibrium&optimizer=adamw&",
            "/learning_rate?tab=spiral&",
            "/learning_rate?tab=equation&",
            "/fisher?tab=magnitude&",
            "/fisher?tab=labels&",
            "/fisher?tab=equation&",
            "/batch?tab=equation&",
            "/recurrent?tab=why&",
        ]
    ),
)
def test_each_symbol_of_a_formula_tells_its_meaning_where_it_stands(look_at, address):
    page = look_at(f"{address}present=1")
    page.locator(".katex-html:visible").first.scroll_into_view_if_needed()
    still(page)
    letters = [one for one in page.evaluate(LETTERS) if one[0] not in UPRIGHT]
    assert len(letters) > 1
    tip = page.get_by_role("tooltip")
    meanings = set(glossary.entries().values())
    for letter, (x, y) in letters:
        page.mouse.move(2, 2)
        expect(tip).to_be_hidden()
        page.mouse.move(x, y)
        expect(tip, letter).to_be_visible()
        assert tip.inner_text() in meanings, letter


def test_symbol_in_a_figure_and_a_term_in_a_sentence_tell_their_meaning(look_at):
    page = look_at("/learning_rate?tab=equation")
    tip = page.get_by_role("tooltip")
    title = page.locator(".st-key-figure_turn .ytitle", has_text="against").first
    expect(title).to_be_visible()
    words = page.locator(".st-key-figure_turn text", has_text="norm ‖w‖ of the weights").first
    box = words.bounding_box()
    page.mouse.move(box["x"] + 0.24 * box["width"], box["y"] + box["height"] / 2)
    expect(tip).to_have_text("The norm of a weight vector, the root of the sum of its squares.")
    page.mouse.move(tip.bounding_box()["x"] + 5, tip.bounding_box()["y"] + 5)
    page.wait_for_timeout(400)
    expect(tip).to_be_visible()
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()


def test_symbols_of_a_presented_page_come_by_tab_alone(server, page, wait_settled):
    page.goto(f"{server}/fisher?tab=equation&present=1")
    wait_settled(page)
    names = page.locator(".st-key-glossary button").all_inner_texts()
    assert {"F", "KL"} < set(names) < set(glossary.entries())
    first = page.get_by_role("button", name=names[0], exact=True)
    first.focus()
    told = []
    for _ in names:
        expect(page.get_by_role("tooltip")).to_be_in_viewport(ratio=1)
        told.append(page.get_by_role("tooltip").inner_text())
        page.keyboard.press("Tab")
    assert told == [glossary.entries()[name] for name in names]
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Escape")
    assert "present=1" in address(page), "the meaning is closed, not the presentation"
    page.keyboard.press("Escape")
    page.wait_for_function("!location.search.includes('present')")
