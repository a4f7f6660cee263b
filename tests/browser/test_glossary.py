"""Symbols and terms of a page: their meaning by mouse, keys and touch."""

import pytest
from playwright.sync_api import expect

from normgeo.ui.teaching import glossary, present
from tests.pairwise import first
from tools.settled import still

from .conftest import address

MEANING = "A small number added to σ² before its root is taken."


def test_list_opens_by_its_button_or_key_with_the_symbols_of_the_page_first(
    server, page, wait_settled, axe
):
    page.goto(f"{server}/invariance")
    wait_settled(page)
    lists = page.locator("dialog dl")
    page.get_by_role("button", name="Symbols and terms of this page").click()
    expect(lists.first).to_be_visible()
    here, others = (one.locator("dt").all_inner_texts() for one in lists.all())
    assert here[:4] == ["a", "z", "μ", "σ"]
    assert sorted(here + others) == sorted(glossary.entries())
    expect(lists.first.locator("dt:text-is('ε') + dd")).to_have_text(MEANING)
    assert axe(page) == []
    page.keyboard.press("Escape")
    expect(lists.first).to_be_hidden()
    page.keyboard.press("?")
    expect(lists.first).to_be_visible()
    page.get_by_role("button", name="Close").click()
    expect(lists.first).to_be_hidden()


@pytest.mark.exhaustive
def test_meaning_is_a_touch_away_on_a_phone(server, phone, wait_settled):
    phone.goto(f"{server}/invariance?tab=why&eps=0.1")
    wait_settled(phone)
    symbol = phone.locator(".katex-html .mathnormal", has_text="ε").first
    symbol.scroll_into_view_if_needed()
    box = symbol.bounding_box()  # other parts of the formula cover it
    phone.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
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


@pytest.mark.exhaustive
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
    title = page.locator(".st-key-figure_turn .ytitle", has_text="step −Ĝ").first
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


@pytest.mark.exhaustive
def test_symbols_of_a_presented_page_come_by_their_key(server, page, wait_settled):
    page.goto(f"{server}/fisher?tab=equation&present=1")
    wait_settled(page)
    expect(page.locator(".st-key-glossary button:visible")).to_have_count(0)
    page.keyboard.press("?")
    keys, names, _ = (each.locator("dt").all_inner_texts() for each in page.locator("dl").all())
    assert keys == [*map(str, present.KEYS)]
    assert {"F", "KL"} < set(names) < set(glossary.entries())
    page.keyboard.press("Escape")
    expect(page.locator("dialog dl").first).to_be_hidden()
    assert "present=1" in address(page), "the list is closed, not the presentation"
    page.keyboard.press("Escape")
    page.wait_for_function("!location.search.includes('present')")


@pytest.mark.exhaustive
def test_list_that_is_closed_takes_no_keys_from_a_presentation(server, page, wait_settled):
    """The focus leaves a closed list only when it is drawn anew; a key may come before."""
    page.goto(f"{server}/fisher?tab=equation&present=1")
    wait_settled(page)
    escape = {"key": "Escape", "bubbles": True, "composed": True}
    page.locator("dialog dl").first.dispatch_event("keydown", escape)
    page.wait_for_function("!location.search.includes('present')")
