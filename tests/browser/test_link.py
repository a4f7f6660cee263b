"""The link of a page: as a QR code, and Reset, which clears it."""

import base64
import re
from urllib.parse import unquote

import segno
from playwright.sync_api import expect


def svg(uri: str) -> str:
    head, _, body = uri.partition(",")
    return base64.b64decode(body).decode() if "base64" in head else unquote(body)


def test_code_is_that_of_the_address_with_the_frame_of_the_slider(server, page, wait_settled, axe):
    page.goto(f"{server}/learning_rate?method=layer")
    wait_settled(page)
    page.locator("input[type=range]").first.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("location.search.includes('growth')")
    page.get_by_role("button", name="QR").click()
    image = page.get_by_role("img", name=f"{server}/learning_rate?method=layer&growth=")
    expect(image).to_be_visible()
    wait_settled(page)
    link = page.evaluate("location.href")
    assert image.get_attribute("alt") == link
    drawn = svg(image.get_attribute("src"))
    assert drawn == svg(
        segno.make(link, micro=False).svg_data_uri(border=4, dark="#000", light="#fff", scale=8)
    )
    assert re.search(r"fill='#fff'", drawn), "a quiet zone of white, in the dark as well"
    assert axe(page) == []


def test_reset_takes_the_slider_back(server, page, wait_settled):
    page.goto(f"{server}/learning_rate?method=layer")
    wait_settled(page)
    page.locator("input[type=range]").first.focus()
    start = page.locator("input[type=range]").first.get_attribute("aria-valuetext")
    page.keyboard.press("End")
    page.wait_for_function("location.search.includes('growth=16')")
    page.get_by_role("combobox").first.focus()
    page.get_by_role("button", name="Reset").click()
    wait_settled(page)
    assert page.evaluate("location.search") == ""
    expect(page.locator("input[type=range]").first).to_have_attribute(
        "aria-valuetext", start.replace("W̃", "w")
    )
    page.locator("input[type=range]").first.focus()
    page.keyboard.press("End")
    page.wait_for_function("location.search.includes('growth=16')")
    page.get_by_role("button", name="Reset").click()
    expect(page.locator("input[type=range]").first).to_have_attribute(
        "aria-valuetext", start.replace("W̃", "w")
    )
