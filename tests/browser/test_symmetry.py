"""Symmetry in a browser: the picture fits, nothing of it is cut, and everybody can read it."""

from playwright.sync_api import expect

STATE = "symmetry?method=layer&tab=coupling"


def test_deep_link_shows_its_picture(server, page, wait_settled):
    page.goto(f"{server}/{STATE}")
    wait_settled(page)
    expect(page.get_by_role("heading", level=1)).to_have_text(
        "Which directions in weight space does the model not see?"
    )
    figure = page.locator(".st-key-figure_symmetry")
    expect(figure.get_by_text("62 of 610 directions are null")).to_be_visible()
    expect(page.locator(".st-key-figure_coupling").get_by_text("Eq. 13: 0 null")).to_be_visible()
    box = figure.bounding_box()
    assert box["y"] + box["height"] <= 720
    frame = figure.locator(".main-svg").first.bounding_box()
    words = figure.locator(".annotation-text, .xtitle, .ytitle, .bartext").all()
    assert words
    for word in words:
        place = word.bounding_box()
        assert place["x"] >= frame["x"] - 1, word.text_content()
        assert place["x"] + place["width"] <= frame["x"] + frame["width"] + 1, word.text_content()
        assert place["y"] >= frame["y"] - 1, word.text_content()
    expect(page.get_by_role("tab", name="Principal angles")).to_be_in_viewport()


def test_phone_scrolls_the_picture_inside_its_box(server, phone, wait_settled):
    phone.goto(f"{server}/symmetry?dataset=wine")
    wait_settled(phone)
    assert phone.evaluate("document.documentElement.scrollWidth") == 390
    content, box = phone.locator(".st-key-view_symmetry").evaluate(
        "e => [e.scrollWidth, e.clientWidth]"
    )
    assert box <= 390
    assert content >= 900
