"""Break it, in a browser: by keys alone, with the answer and the picture on the screen."""

import pytest
from playwright.sync_api import expect

from tests.pairwise import first

from .conftest import query


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("path", "label", "said"),
    first(
        [
            ("/invariance", "a large ε", "layer norm only at ε = 0"),
            ("/learning_rate", "frozen statistics", "there is no law"),
            ("/batch", "a batch of one", "batch norm has no z to learn with"),
        ]
    ),
)
def test_page_is_broken_and_mended_by_keys_with_all_on_the_screen(
    server, page, wait_settled, axe, path, label, said
):
    page.goto(f"{server}{path}?seed=3")
    wait_settled(page)
    page.get_by_role("button", name="Teach").focus()
    page.keyboard.press("Enter")
    button = page.get_by_role("button", name=label, exact=True)
    expect(button).to_be_visible()
    wait_settled(page)
    assert axe(page) == []
    for _ in range(12):
        page.keyboard.press("Tab")
        if button.evaluate("button => button === document.activeElement"):
            break
    page.keyboard.press("Enter")
    wait_settled(page)
    expect(button).to_be_hidden()
    expect(page.get_by_text(said)).to_be_in_viewport(ratio=1)
    box = page.locator(".js-plotly-plot").first.bounding_box()
    assert box["y"] + box["height"] <= 720
    assert axe(page) == []
    back = page.get_by_role("button", name="Back to before")
    back.focus()
    page.keyboard.press("Enter")
    wait_settled(page)
    expect(back).to_be_hidden()
    assert query(page) == {"seed": ["3"]}
