"""Symbols and terms of a page: their meaning by mouse, keys and touch."""

from playwright.sync_api import expect

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
