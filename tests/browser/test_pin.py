"""Pin, in a browser: the slider's frame, a reload, keys alone, every screen, light and dark."""

from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import pytest
from playwright.sync_api import Page, expect

from .conftest import address, query

NOW, PINNED = ".st-key-figure_turn", ".st-key-figure_pinned"
LAYER = urlencode({"pin": "turn?" + urlencode({"method": "layer", "growth": "4"})})

# Both figures, their sliders included, and what stands above them has no scroll bar.
SIDEWAYS = "document.querySelector('[data-testid=stMain]').scrollWidth > innerWidth"


def pinned(page: Page) -> dict[str, str]:
    return dict(parse_qsl(query(page)["pin"][0].partition("?")[2]))


def place(page: Page, figure: str) -> str:
    """Where the slider of a figure is, in its words."""
    return page.locator(f"{figure} input[type=range]").get_attribute("aria-valuetext") or ""


def by_keys(page: Page, name: str, wait_settled) -> None:
    page.get_by_role("button", name=name, exact=True).first.focus()
    page.keyboard.press("Enter")
    wait_settled(page)


@pytest.mark.exhaustive
def test_state_is_pinned_compared_swapped_and_unpinned_by_keys(server, page, wait_settled, axe):
    page.goto(f"{server}/learning_rate?method=layer")
    wait_settled(page)
    assert page.get_by_role("button", name="Unpin").count() == 0
    page.locator(f"{NOW} input[type=range]").focus()
    page.keyboard.press("End")
    page.wait_for_function("location.search.includes('growth=16')")
    wait_settled(page)
    by_keys(page, "Pin", wait_settled)
    assert pinned(page) == {"method": "layer", "growth": "16"}
    expect(page.locator(f"{PINNED} input[type=range]")).to_have_count(1)
    assert place(page, PINNED) == place(page, NOW)

    page.locator(f"{NOW} input[type=range]").focus()
    page.keyboard.press("Home")
    page.wait_for_function("location.search.includes('growth=0.5')")
    wait_settled(page)
    before = address(page)
    assert place(page, PINNED) != place(page, NOW)
    page.locator(f"{PINNED} input[type=range]").focus()
    page.keyboard.press("ArrowLeft")
    wait_settled(page)
    assert address(page) == before, "the address is about the picture that is not pinned"
    assert place(page, NOW).endswith("½")
    assert axe(page) == []

    page.reload()
    wait_settled(page)
    expect(page.locator(f"{PINNED} input[type=range]")).to_have_count(1)
    assert place(page, PINNED).endswith("16")
    assert place(page, NOW).endswith("½")
    by_keys(page, "Swap", wait_settled)
    assert place(page, PINNED).endswith("½")
    assert place(page, NOW).endswith("16")
    assert pinned(page)["growth"] == "0.5"
    by_keys(page, "Unpin", wait_settled)
    expect(page.locator(PINNED)).to_have_count(0)
    assert query(page) == {"method": ["layer"], "growth": ["16"]}


@pytest.mark.exhaustive
def test_focus_stays_where_pictures_are_pinned_swapped_and_unpinned(server, page, wait_settled):
    """The buttons are drawn anew; the focus must not fall to the page's start."""
    page.goto(f"{server}/learning_rate?method=layer")
    wait_settled(page)
    for name, focused in (("Pin", "Pin"), ("Swap", "Swap"), ("Unpin", "Pin")):
        by_keys(page, name, wait_settled)
        expect(page.locator(PINNED)).to_have_count(0 if name == "Unpin" else 1)
        expect(page.get_by_role("button", name=focused, exact=True).first).to_be_focused()


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("address", "link", "to"),
    [
        ("/", ".st-key-chapter_contrast [data-testid=stPageLink] a", "invariance"),
        ("/", ".st-key-way_explore button", "invariance"),
        ("/audit", "[data-key]", "invariance"),
    ],
)
def test_links_of_home_and_of_the_audit_take_the_pin_along(
    server, page, wait_settled, address, link, to
):
    page.goto(f"{server}{address}?{LAYER}")
    wait_settled(page)
    if address == "/audit":
        page.locator("[data-claim] summary").first.click()
    way = page.locator(link).first
    if "way" in link:
        way.click()
        way = page.get_by_test_id("stPopoverBody").get_by_role("link").first
    if href := way.get_attribute("href"):  # opened in a new tab
        assert parse_qs(urlsplit(href).query)["pin"] == ["turn?method=layer&growth=4"]
    way.click()
    page.wait_for_function(f"location.pathname === '/{to}'")
    wait_settled(page)
    assert query(page)["pin"] == ["turn?method=layer&growth=4"]
    expect(page.get_by_role("link", name="Go back")).to_be_visible()


@pytest.mark.exhaustive
def test_pin_goes_along_through_the_navigation_and_leads_back(server, page, wait_settled, axe):
    page.goto(f"{server}/learning_rate?dataset=iris&{LAYER}")
    wait_settled(page)
    page.get_by_role("link", name="Recurrent").click()
    expect(page.get_by_role("link", name="Go back")).to_be_visible()
    wait_settled(page)
    assert query(page)["pin"] == ["turn?method=layer&growth=4"]
    expect(page.locator(PINNED)).to_have_count(0)
    by_keys(page, "Show", wait_settled)
    expect(page.locator(f"{PINNED} input[type=range]")).to_have_count(1)
    page.keyboard.press("Tab")  # away from the button, whose help opens where it has the focus
    expect(page.get_by_role("tooltip")).to_have_count(0)
    assert axe(page) == []
    page.reload()
    wait_settled(page)
    expect(page.locator(f"{PINNED} input[type=range]")).to_have_count(1)
    page.get_by_role("link", name="Go back").focus()
    page.keyboard.press("Enter")
    expect(page.locator(NOW)).to_be_visible()
    wait_settled(page)
    assert urlsplit(address(page)).path == "/learning_rate"
    assert place(page, NOW) == place(page, PINNED)


@pytest.mark.exhaustive
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    ("width", "height", "touch"), [(1280, 720, False), (1920, 1080, False), (390, 844, True)]
)
def test_two_pictures_are_legible_on_every_screen(look_at, axe, scheme, width, height, touch):
    page = look_at(f"/learning_rate?method=batch&{LAYER}", (width, height), scheme)
    boxes = []
    for figure in (NOW, PINNED):
        expect(page.locator(f"{figure} input[type=range]")).to_be_visible()
        boxes.append(page.locator(f"{figure} .js-plotly-plot").bounding_box())
        sizes = page.locator(f"{figure} text").evaluate_all(
            """all => all.filter(one => one.textContent.trim())
                .map(one => parseFloat(getComputedStyle(one).fontSize))"""
        )
        assert min(sizes) >= (21 if width == 1920 else 14)
        plane, angles = page.locator(f"{figure} .js-plotly-plot").evaluate(
            "({ _fullLayout: { yaxis, yaxis2 } }) => [yaxis.domain, yaxis2.domain]"
        )
        assert (plane[0] > angles[1]) == touch, "a phone has its panels one above the other"
    now, then = boxes
    if touch:
        assert now["y"] + now["height"] <= then["y"]
    else:
        assert now["y"] == then["y"]
        assert now["x"] + now["width"] <= then["x"]
        assert now["y"] + now["height"] <= height, "both are seen at once"
    assert not page.evaluate(SIDEWAYS)
    title, buttons = (
        page.locator(one).first for one in (".st-key-heading h1", ".st-key-options button")
    )
    if width == 1280:
        assert abs(title.bounding_box()["y"] - buttons.bounding_box()["y"]) < 20, "one line"
    assert axe(page) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("word", ["embed=true", "present=1"])
def test_page_for_a_room_or_a_slide_keeps_its_pin_out_of_sight(server, page, wait_settled, word):
    page.goto(f"{server}/learning_rate?{LAYER}&{word}")
    wait_settled(page)
    expect(page.locator(NOW)).to_be_visible()
    expect(page.locator(f"{PINNED}, .st-key-pin, .st-key-turn_pin")).to_have_count(0)
    assert pinned(page) == {"method": "layer", "growth": "4"}


@pytest.mark.exhaustive
def test_click_in_a_pinned_picture_chooses_nothing(server, page, wait_settled):
    page.goto(f"{server}/invariance?{urlencode({'pin': 'effect?dataset=digits'})}")
    wait_settled(page)

    def click(figure: str) -> None:
        panel = page.locator(f"{figure} .nsewdrag[data-subplot=xy]")
        panel.evaluate("one => one.scrollIntoView({ block: 'center' })")
        pictures = panel.bounding_box()
        # The first picture of the second row, of four.
        left, top = (pictures[at] for at in "xy")
        page.mouse.click(left + 0.25 * pictures["width"], top + 0.375 * pictures["height"])
        wait_settled(page)

    expect(page.locator(f"{PINNED} input[type=range]")).to_be_visible()
    click(PINNED)
    assert "index" not in query(page)
    click(".st-key-figure_effect")
    assert "index" in query(page), "as the same click does in the picture of the page"


@pytest.mark.exhaustive
def test_pin_keeps_where_the_slider_has_just_come_to_rest(server, page, wait_settled):
    page.goto(f"{server}/learning_rate?method=layer")
    wait_settled(page)
    for key, growth in (("End", "16"), ("Home", "0.5")):
        page.locator(f"{NOW} input[type=range]").press(key)
        page.get_by_role("button", name="Pin", exact=True).first.click()
        wait_settled(page)
        assert pinned(page)["growth"] == growth
        by_keys(page, "Unpin", wait_settled)
