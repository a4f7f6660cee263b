"""The link of a page: as a QR code, and Reset, which clears it."""

import base64
import re
from urllib.parse import unquote

import pytest
import segno
from playwright.sync_api import Locator, WebSocketRoute, expect

from .conftest import GO, address, query, shared


def svg(uri: str) -> str:
    head, _, body = uri.partition(",")
    return base64.b64decode(body).decode() if "base64" in head else unquote(body)


@pytest.mark.exhaustive
def test_code_is_that_of_the_address_with_the_frame_of_the_slider(server, page, wait_settled, axe):
    page.goto(f"{server}/learning_rate?method=layer")
    wait_settled(page)
    page.locator("input[type=range]").first.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("location.search.includes('growth')")
    shared(page)
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


@pytest.mark.exhaustive
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


@pytest.mark.exhaustive
def test_slider_keeps_its_frame_whatever_changes_next(server, open_page, wait_settled):
    """Streamlit's page has a copy of the address, which the frame is not in."""
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    page.goto(f"{server}/learning_rate?method=layer")
    wait_settled(page)
    slider = page.locator("input[type=range]").first

    def drag(key: str, then: Locator) -> None:
        """What is done at once finds the frame in the address, which follows the slider later."""
        slider.press(key)
        then.click()
        wait_settled(page)

    def address_has(name: str, word: str) -> None:
        page.wait_for_function(f"new URLSearchParams(location.search).get('{name}') === '{word}'")

    def frame_is(growth: str, words: str) -> None:
        address_has("growth", growth)
        expect(slider).to_have_attribute("aria-valuetext", re.compile(f" {words}$"))

    drag("End", page.get_by_role("tab", name="Equation"))
    frame_is("16", "16")
    address_has("tab", "equation")
    drag("ArrowLeft", page.get_by_role("button", name="Share"))
    shared(page).get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("stPopoverBody")).to_have_count(0)
    link = page.evaluate("navigator.clipboard.readText()")
    assert link == address(page)
    left = query(page)["growth"]
    assert left != ["16"]
    drag("End", page.get_by_role("link", name="Fisher", exact=True))
    page.wait_for_url("**/fisher?*")
    wait_settled(page)
    assert query(page) == {"method": ["layer"]}, "an address has settings of its own page alone"
    page.get_by_role("link", name="Learning rate", exact=True).click()
    wait_settled(page)
    frame_is("16", "16")
    drag("Home", page.get_by_role("button", name="Settings"))
    page.reload()
    wait_settled(page)
    frame_is("0.5", "½")
    page.goto(link)
    wait_settled(page)
    assert query(page)["growth"] == left
    page.go_back()
    wait_settled(page)
    frame_is("0.5", "½")


@pytest.mark.parametrize("before", ["symmetry?seed=0", "recurrent?seed=1"])
def test_who_goes_back_before_the_slider_has_told_is_not_brought_back(
    server, own_page, wait_settled, before
):
    """A busy server hears of both at once."""
    page, held = own_page, []

    def hold(socket: WebSocketRoute) -> None:
        app = socket.connect_to_server()
        socket.on_message(lambda said: held.append(said) if busy else app.send(said))
        release.append(app.send)

    busy, release = False, []
    page.route_web_socket("**/stream*", hold)
    page.goto(f"{server}/{before}")
    wait_settled(page)
    page.evaluate(GO, "/recurrent?seed=0")
    wait_settled(page)
    busy = True
    page.locator(".frames input").first.press("ArrowRight")
    page.go_back(wait_until="commit")
    page.wait_for_timeout(400)
    busy = False
    for said in held:
        release[-1](said)
    page.wait_for_timeout(400)
    wait_settled(page)
    assert address(page) == f"{server}/{before}"
