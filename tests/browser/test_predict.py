"""Predict, then reveal, in a browser: what has arrived, and the keyboard."""

import re

import pytest
from playwright.sync_api import expect

from .conftest import query, shared

# What only an answer says: captions, alt texts, verdicts, exports, code. The buttons say yes, no.
TELLS = re.compile(
    rb"not invariant|sign flip|z stays where|z moves by|cells agree|W and X exchanged|normgeo-e"
    rb"|from normgeo\.pictures|predicted: slope|predicted \xc3\x97|normgeo-turn"
    rb"|>True of |>True if |>If |under a condition|statements are listed|normgeo-audit"
)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("/invariance?predict=1&tab=why", "does z stay?"),
        ("/learning_rate?predict=1&tab=equation", "becomes ×"),
        ("/audit?predict=1&verdict=fails", "Layer norm is batch norm transposed."),
    ],
)
def test_link_opened_first_on_a_new_server_brings_no_answer(
    fresh_server, own_page, wait_settled, path, asked
):
    page = own_page
    arrived: list[bytes] = []

    def keep(words: str | bytes) -> None:
        arrived.append(words.encode() if isinstance(words, str) else words)

    page.on("websocket", lambda socket: socket.on("framereceived", keep))
    page.goto(fresh_server + path)
    expect(page.get_by_text(asked)).to_be_visible()
    if "/audit" in path:
        page.get_by_role("button", name="Stop").click()  # the whole audit of other tests is enough
    wait_settled(page)
    content = page.content().encode()
    assert asked.encode() in b"".join(arrived)
    assert TELLS.findall(b"".join(arrived)) == []
    assert TELLS.findall(content) == []
    assert page.locator(".st-key-figure_effect .scatterlayer .point").count() == 0
    assert page.locator("button[data-cell] svg").count() == 0
    page.get_by_role("button", name="Show the answers").click()
    wait_settled(page)
    # The audit has its files on the page, a figure in Share.
    place = page if "/audit" in path else shared(page)
    expect(place.get_by_text("CSV", exact=True)).to_be_visible()
    assert TELLS.findall(b"".join(arrived)), "the control: now they are there"


@pytest.mark.exhaustive
def test_cell_is_predicted_by_keys_alone(server, page, wait_settled, axe):
    page.goto(f"{server}/invariance?predict=1")
    wait_settled(page)
    assert axe(page) == []
    cell = page.locator('[data-cell="layer.case_rescaling"]')
    cell.focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    wait_settled(page)
    expect(page.get_by_text("batch norm, single case re-scaling: does z stay?")).to_be_visible()
    page.locator('[data-cell="batch.case_rescaling"]').focus()
    for _ in range(2):
        page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="close icon no")).to_be_focused()
    page.keyboard.press("Enter")
    wait_settled(page)
    expect(page.get_by_test_id("stAlert")).to_contain_text("Right: not invariant.")
    expect(page.get_by_text("Score: 1 of 1")).to_be_visible()
    assert page.locator("button[data-cell] svg").count() == 1
    assert query(page)["predict"] == ["1"]
    assert axe(page) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("path", ["/invariance", "/learning_rate"])
@pytest.mark.parametrize("answered", [True, False])
def test_question_and_picture_fit_a_projector(server, page, wait_settled, path, answered):
    page.goto(f"{server}{path}?predict=1")
    wait_settled(page)
    if answered:
        page.locator(".st-key-question button").first.click()
        wait_settled(page)
    parts = page.locator(".st-key-question"), page.locator(".js-plotly-plot").first
    boxes = [part.bounding_box() for part in parts]
    for box in boxes:
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 1280
        assert box["y"] + box["height"] <= 720


@pytest.mark.exhaustive
@pytest.mark.parametrize("path", ["/invariance", "/learning_rate"])
def test_hidden_picture_on_a_phone_is_whole_and_short(server, phone, wait_settled, path):
    phone.goto(f"{server}{path}?predict=1")
    wait_settled(phone)
    plot = phone.locator(".js-plotly-plot").first
    edges = plot.locator("text").evaluate_all(
        "all => all.map((one) => one.getBoundingClientRect()).map((box) => [box.left, box.right])"
    )
    assert all(left >= 0 and right <= 390 for left, right in edges)
    hidden = plot.bounding_box()["height"]
    phone.get_by_role("button", name="Show the answers").tap()
    expect(phone.get_by_role("button", name="Show the answers")).to_be_hidden()
    wait_settled(phone)
    assert hidden < phone.locator(".js-plotly-plot").first.bounding_box()["height"] - 200


@pytest.mark.exhaustive
@pytest.mark.parametrize("path", ["/audit", "/invariance", "/learning_rate"])
@pytest.mark.parametrize(("width", "height"), [(1280, 720), (1920, 1080)])
def test_score_is_told_and_stands_with_the_answer_on_a_screen(
    server, open_page, wait_settled, path, width, height
):
    page = open_page(width, height, scheme="dark")
    page.goto(f"{server}{path}?predict=1")
    wait_settled(page)
    score = page.locator(".st-key-score [role=status]")
    expect(score).to_have_text("")
    score.evaluate("one => { one.dataset.seen = 'before' }")
    page.locator(".st-key-question button").first.click()
    expect(score).to_have_text(re.compile(r"Score: [01] of 1"))
    assert score.get_attribute("data-seen") == "before", (
        "the place that tells stays, its words change"
    )
    answer = page.locator(".st-key-question").get_by_test_id("stAlertContainer")
    expect(answer).to_have_role("status")
    for part in (answer, score):
        box = part.bounding_box()
        assert box["x"] + box["width"] <= width
        assert box["y"] + box["height"] <= height
