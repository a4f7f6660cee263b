"""States of teaching, on a phone and a projector, light or dark: nothing for axe to complain of."""

from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from .conftest import PHONE, switch

LAYER = urlencode({"pin": "turn?" + urlencode({"method": "layer", "growth": "4"})})
PROJECTORS = [(1280, 720), (1920, 1080)]


def opened(name: str):
    """Opens what a button opens, where it is not open."""

    def act(page: Page) -> None:
        if page.get_by_test_id("stPopoverBody").count() == 0:
            page.get_by_role("button", name=name, exact=True).first.click()
        expect(page.get_by_test_id("stPopoverBody")).to_be_visible()

    return act


def predicted(page: Page) -> None:
    options = page.locator(".st-key-question button[data-testid=stBaseButton-secondary]")
    if page.get_by_text("Score: ").count() == 0:
        options.first.click()
    expect(page.get_by_text("Score: ")).to_be_visible()


def explained(page: Page) -> None:
    page.keyboard.press("?")
    expect(page.locator("dialog dl").first).to_be_visible()


def asked(page: Page) -> None:
    button = page.get_by_role("button", name="What to notice")
    if button.count():
        button.click()
    expect(button).to_have_count(0)


def nothing(page: Page) -> None:
    pass


STATES = {
    "present": ("/invariance?present=1", nothing),
    "present a tab": ("/learning_rate?tab=equation&present=1", nothing),
    "present and point": ("/invariance?tab=why&present=1", explained),
    "embed": ("/learning_rate?embed=true", nothing),
    "tour": ("/invariance?tour=ten-minutes&stop=2", asked),
    "notes": ("/invariance?tour=ten-minutes&stop=1", opened("Notes")),
    "tour in a room": ("/invariance?tour=ten-minutes&stop=3&present=1", asked),
    "predict a cell": ("/invariance?predict=1", nothing),
    "a cell predicted": ("/invariance?predict=1", predicted),
    "predict a turn": ("/learning_rate?predict=1", nothing),
    "a turn predicted": ("/learning_rate?predict=1", predicted),
    "predict a statement": ("/audit?predict=1", nothing),
    "a statement predicted": ("/audit?predict=1", predicted),
    "break it": ("/invariance", opened("Teach")),
    "a meaning": ("/invariance", explained),
    "pinned": (f"/learning_rate?method=batch&{LAYER}", nothing),
    "share": ("/batch", opened("Share")),
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("state", STATES)
def test_state_is_clean_on_a_phone_and_a_projector(server, page, wait_settled, axe, state):
    """A phone and one of the projectors, in turn; one of the two is dark, in turn."""
    address, act = STATES[state]
    number = [*STATES].index(state)
    pair = PROJECTORS[number % 2], PHONE
    dark, light = pair if number // 2 % 2 else pair[::-1]
    page.goto(server + address)
    wait_settled(page)
    found = {}
    for scheme, (width, height) in {"light": light, "dark": dark}.items():
        switch(page, scheme)
        page.set_viewport_size({"width": width, "height": height})
        act(page)
        wait_settled(page)
        if violations := axe(page):
            found[scheme] = violations
    assert found == {}
