"""Fisher in a browser: the picture fits, its buttons work without the server, all can read it."""

from playwright.sync_api import expect


def test_deep_link_shows_its_picture(server, page, wait_settled):
    page.goto(f"{server}/fisher?method=layer&tab=eq13")
    wait_settled(page)
    expect(page.get_by_role("heading", level=1)).to_have_text(
        "What is the shape of parameter space?"
    )
    figure = page.locator(".st-key-figure_fisher")
    expect(figure.get_by_text("of ‖F‖² between neurons")).to_have_count(2)
    expect(page.locator(".st-key-figure_eq13").get_by_text("Eq. 13 is off by")).to_be_visible()
    box = figure.bounding_box()
    assert box["y"] + box["height"] <= 720
    expect(page.get_by_role("tab", name="Equal KL")).to_be_in_viewport()
    for name in ("fisher", "eq13"):
        frame = page.locator(f".st-key-figure_{name} .main-svg").first.bounding_box()
        words = page.locator(f".st-key-figure_{name} .annotation-text").all()
        assert words
        for word in words:
            place = word.bounding_box()
            assert place["x"] >= frame["x"] - 1, word.text_content()
            assert place["x"] + place["width"] <= frame["x"] + frame["width"] + 1
            assert place["y"] >= frame["y"] - 1, word.text_content()


def test_buttons_choose_the_entries_without_the_server(server, page, wait_settled):
    page.goto(f"{server}/fisher?dataset=wine")
    wait_settled(page)
    figure = page.locator(".st-key-figure_fisher")
    url, images = page.url, figure.locator(".heatmaplayer image, .heatmaplayer .hm image")
    before = [image.get_attribute("href") or "" for image in images.all()]
    assert len(before) == 4
    for label in ("log₁₀|F|", "F over its diagonal"):
        figure.get_by_text(label, exact=True).click()
        page.wait_for_timeout(300)
        after = [image.get_attribute("href") or "" for image in images.all()]
        assert len(after) == 4
        assert all(one != other for one, other in zip(before, after, strict=True))
        before = after
    assert page.url == url


def test_picture_goes_with_the_method(server, page, wait_settled):
    page.goto(f"{server}/fisher?dataset=wine")
    wait_settled(page)
    page.get_by_role("combobox", name="method").click()
    page.get_by_role("option", name="weight norm", exact=True).click()
    wait_settled(page)
    expect(page.locator(".st-key-figure_fisher").get_by_text("weight norm")).to_have_count(2)
    assert "method=weight" in page.url


def test_phone_scrolls_the_picture_inside_its_box(server, phone, wait_settled):
    phone.goto(f"{server}/fisher?dataset=wine")
    wait_settled(phone)
    assert phone.evaluate("document.documentElement.scrollWidth") == 390
    content, box = phone.locator(".st-key-view_fisher").evaluate(
        "e => [e.scrollWidth, e.clientWidth]"
    )
    assert box <= 390
    assert content >= 900
