"""Learning rate in a browser: one slider moves both halves, and a run plays."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from normgeo.pictures import PICTURES
from normgeo.pictures.style.export import write
from normgeo.settings import Settings
from tests.pairwise import first
from tools.settled import still

from .conftest import PHONE, address


@pytest.fixture
def shown(look_at: Callable[[str], Page]) -> Page:
    return look_at("/learning_rate")


@pytest.fixture
def learning_rate(server: str, page: Page, wait_settled: Callable[[Page], None]) -> Page:
    page.goto(f"{server}/learning_rate")
    wait_settled(page)
    return page


def figure(page: Page, name: str = "turn") -> Locator:
    return page.locator(f".st-key-figure_{name}")


def factors(page: Page) -> list[str]:
    """The large numbers of the picture: of the norm, the gradient, the turn, the loss."""
    words = " ".join(figure(page).locator(".annotation-text").all_text_contents())
    return re.findall(r"× (\S+)  ", words)


def angle(page: Page) -> str:
    """The number beside the moving dot of the right half."""
    words = figure(page).locator(".annotation-text").all_text_contents()
    (found,) = (word for word in words if re.fullmatch(r"[\d.]+°", word))
    return found


def drag(page: Page, name: str, share: float) -> None:
    """Drag the slider of a figure to a share of its length."""
    slider = figure(page, name).locator(".frames input")
    slider.hover()  # waits until it stands still, on the screen and with nothing over it
    rail = slider.bounding_box()
    assert rail is not None
    page.mouse.down()
    page.mouse.move(rail["x"] + share * rail["width"], rail["y"] + rail["height"] / 2, steps=5)
    page.mouse.up()
    still(page)


@pytest.mark.exhaustive
def test_slider_moves_both_halves_without_the_server(learning_rate):
    assert factors(learning_rate) == ["2", "½", "¼", "1"]
    assert angle(learning_rate) == "5.28°"
    drag(learning_rate, "turn", 0.2)
    assert factors(learning_rate) == ["1", "1", "1", "1"]
    assert angle(learning_rate) == "20.3°"
    drag(learning_rate, "turn", 0.8)
    assert factors(learning_rate) == ["8", "⅛", "1/64", "1"]
    assert angle(learning_rate) == "0.331°"
    assert "growth=8" in learning_rate.url


@pytest.mark.exhaustive
def test_picture_with_its_numbers_fits_a_projector(shown):
    box = figure(shown).bounding_box()
    assert box["y"] + box["height"] <= 720
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 1280
    expect(shown.get_by_role("tab", name="Watch it train")).to_be_in_viewport()


STATES = [
    "",
    "?method=layer&dataset=wine",
    "?eps=0.3&dataset=wine",
    "?method=standard&dataset=wine",
]


@pytest.mark.exhaustive
@pytest.mark.parametrize("state", STATES)
def test_no_words_of_any_frame_are_cut_or_on_each_other(look_at, state):
    page = look_at(f"/learning_rate{state}")
    for key in ("Home", *["ArrowRight"] * 10):
        figure(page).get_by_role("slider").press(key)
        still(page)
        assert_words_of_the_picture_apart(page)


@pytest.mark.exhaustive
def test_number_of_the_first_dot_is_beside_the_axis_and_not_on_its_labels_in_a_room(look_at):
    page = look_at("/learning_rate?growth=0.5&present=1")
    number = figure(page).locator(".annotation-text").get_by_text(re.compile(r"^[\d.]+°$")).last
    labels = figure(page).locator(".y2tick text")
    ends = labels.evaluate_all("all => all.map((one) => one.getBoundingClientRect().right)")
    assert len(ends) > 3
    assert max(ends) < number.bounding_box()["x"]


LARGE = """spans => spans
    .filter(span => span.textContent.startsWith('× ') && !span.querySelector('tspan')
        && span.parentElement.matches('tspan[style*="font-size"]'))
    .map(span => getComputedStyle(span).fontSize)"""


@pytest.mark.exhaustive
def test_factors_are_28_pixels_high_in_every_frame(shown):
    for key in ("Home", *["ArrowRight"] * 10):
        figure(shown).get_by_role("slider").press(key)
        still(shown)
        spans = figure(shown).locator(".annotation-text tspan")
        assert spans.evaluate_all(LARGE) == ["28px"] * 4


def assert_words_of_the_picture_apart(page: Page) -> None:
    frame = figure(page).locator(".main-svg").first.bounding_box()
    words = figure(page).locator(".annotation-text, .legendtext, .g-xtitle, .g-ytitle, .g-x2title")
    assert_apart(words.evaluate_all(BOXES), frame)


# What can be seen of words: what is hidden has no box.
BOXES = """words => words.filter(word => word.getClientRects().length).map(word => {
    const { x, y, width, height } = word.getBoundingClientRect();
    return [word.textContent, { x, y, width, height }];
})"""


def assert_apart(boxes, frame) -> None:
    """No words leave the picture, or lie on others."""
    assert boxes
    for text, box in boxes:
        assert box["x"] >= frame["x"] - 1, text
        assert box["x"] + box["width"] <= frame["x"] + frame["width"] + 1, text
        assert box["y"] >= frame["y"] - 1, text
    for i, (text, box) in enumerate(boxes):
        for other_text, other in boxes[:i]:
            apart = (
                box["x"] + box["width"] <= other["x"] + 2
                or other["x"] + other["width"] <= box["x"] + 2
                or box["y"] + box["height"] <= other["y"] + 4
                or other["y"] + other["height"] <= box["y"] + 4
            )
            assert apart, (text, other_text)


@pytest.mark.exhaustive
def test_deep_link_opens_at_its_norm(look_at):
    page = look_at("/learning_rate?growth=4&method=layer")
    expect(page.get_by_role("heading", level=1)).to_have_text(
        "Why does a long weight vector turn slowly?"
    )
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert factors(page) == ["4", "¼", "1/16", "1"]
    assert angle(page) == "1.79°"


@pytest.mark.exhaustive
def test_descent_plays_and_rewinds(learning_rate):
    label = figure(learning_rate, "descent").locator(".frames output").first
    expect(label).to_have_text("step 0")
    figure(learning_rate, "descent").get_by_role("button", name="play").click()
    expect(label).to_have_text("step 100")
    drag(learning_rate, "descent", 0.001)
    expect(label).to_have_text("step 0")


def test_main_slider_plays_until_a_key_or_its_end_and_python_hears_of_the_rest(
    server, page, wait_settled
):
    page.goto(f"{server}/learning_rate?growth=8")
    wait_settled(page)
    play, slider = figure(page).get_by_role("button"), figure(page).get_by_role("slider")
    box = play.bounding_box()
    assert min(box["width"], box["height"]) >= 24
    expect(play).to_have_accessible_name("play")
    play.click()
    expect(play).to_have_accessible_name("pause")
    page.wait_for_function("location.search.includes('growth=16')")
    expect(play).to_have_accessible_name("play")
    wait_settled(page)
    play.click()  # at the end it begins again
    expect(slider).to_have_attribute("aria-valuetext", "‖w‖ = √½")
    assert "growth=16" in address(page), "frames on the way are not told"
    page.keyboard.press("Shift")
    expect(play).to_have_accessible_name("play")
    page.wait_for_function("!location.search.includes('growth=16')")
    page.emulate_media(reduced_motion="reduce")
    slider.press("Home")
    play.click()
    expect(slider).to_have_attribute("aria-valuetext", "‖w‖ = √½")
    page.wait_for_timeout(800)
    expect(slider).to_have_attribute("aria-valuetext", "‖w‖ = √½")


def label(page: Page, name: str = "descent") -> Locator:
    """The words of the slider of a figure."""
    return figure(page, name).locator(".frames output").first


@pytest.mark.exhaustive
def test_descent_steps_forward_and_back_and_rewinds_without_the_server(learning_rate):
    descent, url = figure(learning_rate, "descent"), learning_rate.url
    for step in (1, 2, 3):
        descent.get_by_role("button", name="step forward").click()
        expect(label(learning_rate)).to_have_text(f"step {step}")
    descent.get_by_role("button", name="step back").click()
    expect(label(learning_rate)).to_have_text("step 2")
    # A copy of the frame stands there until plotly has drawn it.
    learning_rate.wait_for_function(
        """() => {
            const plot = document.querySelector('.st-key-figure_descent .js-plotly-plot');
            return JSON.stringify([...plot.data.at(-3).x]) === '[2,2,2]';
        }"""
    )
    descent.get_by_role("button", name="rewind").click()
    expect(label(learning_rate)).to_have_text("step 0")
    assert learning_rate.url == url, "the address has no step of a run"


@pytest.mark.exhaustive
def test_keys_alone_step_play_and_move_the_sliders(learning_rate):
    descent, keyboard = figure(learning_rate, "descent"), learning_rate.keyboard
    descent.get_by_role("button", name="rewind").focus()
    for _ in range(3):
        keyboard.press("Tab")
    expect(descent.get_by_role("button", name="step forward")).to_be_focused()
    keyboard.press("Enter")
    expect(label(learning_rate)).to_have_text("step 1")
    keyboard.press(" ")
    expect(label(learning_rate)).to_have_text("step 2")
    expect(descent.get_by_role("button", name="step forward")).to_be_focused()
    slider = descent.get_by_role("slider")
    slider.focus()
    keyboard.press("ArrowRight")
    expect(slider).to_have_attribute("aria-valuetext", "step 3")
    keyboard.press("End")
    expect(label(learning_rate)).to_have_text("step 100")
    keyboard.press("Home")
    figure(learning_rate).get_by_role("slider").focus()
    for norm in ("2√2", "4"):
        keyboard.press("ArrowRight")
        expect(figure(learning_rate).get_by_role("slider")).to_have_attribute(
            "aria-valuetext", f"‖w‖ = {norm}"
        )
    expect(figure(learning_rate).get_by_text("1/16").first).to_be_visible()  # drawn a moment later
    assert factors(learning_rate) == ["4", "¼", "1/16", "1"]


@pytest.mark.exhaustive
def test_exported_page_plays_steps_and_rewinds_by_keyboard(open_file, tmp_path):
    view, settings = PICTURES["descent"], Settings(dataset="wine", steps=12)
    write(view.figure(view.compute(settings), "light"), tmp_path / "descent.html", title="Descent")
    page = open_file(tmp_path / "descent.html")
    words = page.locator(".frames output").first
    page.get_by_role("button", name="step forward").click()
    expect(words).to_have_text("step 1")
    page.get_by_role("button", name="step forward").focus()
    page.keyboard.press("Enter")
    expect(words).to_have_text("step 2")
    page.get_by_role("button", name="play").click()
    expect(words).to_have_text("step 12")
    page.get_by_role("button", name="step back").click()
    expect(words).to_have_text("step 11")
    page.get_by_role("button", name="rewind").click()
    expect(words).to_have_text("step 0")
    page.get_by_role("slider").focus()
    page.keyboard.press("ArrowRight")
    expect(words).to_have_text("step 1")


@pytest.mark.exhaustive
def test_number_left_open_is_set_and_emptied_again(server, page, wait_settled):
    page.goto(f"{server}/learning_rate?dataset=wine&steps=10")
    wait_settled(page)
    field = page.get_by_role("spinbutton", name="weight decay λ")
    field.fill("0.5")
    field.press("Enter")
    expect(figure(page, "descent").get_by_text("λ = 0.5")).to_be_visible()
    assert "decay=0.5" in address(page)
    field.fill("")
    field.press("Enter")
    expect(figure(page, "descent").get_by_text("λ = 0,")).to_be_visible()
    assert "decay" not in address(page)


@pytest.mark.exhaustive
@pytest.mark.parametrize("tab", first(["descent", "equilibrium", "twin", "spiral"]))
def test_no_words_of_a_run_are_cut_or_on_each_other(look_at, wait_settled, tab):
    page = look_at(f"/learning_rate?tab={tab}&method=layer")
    for width in (1280, 1024):
        page.set_viewport_size({"width": width, "height": 720})
        wait_settled(page)
        assert_words_of_a_run_apart(page, tab)


def assert_words_of_a_run_apart(page: Page, tab: str) -> None:
    frame = figure(page, tab).locator(".main-svg").first.bounding_box()
    assert frame["height"] <= 600
    words = figure(page, tab).locator(
        ".annotation-text, .legendtext, .frames output, .frames button"
    )
    assert_apart(words.evaluate_all(BOXES), frame)


@pytest.mark.exhaustive
def test_long_descent_tells_how_far_it_is_and_stops(server, page, wait_settled):
    page.goto(f"{server}/learning_rate?steps=10000")
    page.get_by_text(re.compile(r"Step [\d,]+ of")).wait_for()
    page.get_by_role("button", name="Stop").click()
    wait_settled(page)
    expect(page.get_by_role("button", name="Train again")).to_be_visible()
    expect(figure(page, "descent").locator(".frames output").first).to_have_text("step 0")


@pytest.mark.exhaustive
def test_phone_stacks_the_panels_and_scrolls_nothing_sideways(look_at):
    phone = look_at("/learning_rate?dataset=wine", PHONE)
    assert phone.evaluate("document.documentElement.scrollWidth") == 390
    assert phone.locator(".st-key-view_turn").evaluate("e => e.scrollWidth <= e.clientWidth")
    upper, lower = (
        phone.locator(
            f".st-key-figure_turn .{axes} path.xlines-above, .st-key-figure_turn .{axes}"
        ).first.bounding_box()
        for axes in ("xy", "x2y2")
    )
    assert upper["y"] + upper["height"] < lower["y"]
    assert_words_of_the_picture_apart(phone)


@pytest.mark.exhaustive
def test_buttons_of_a_figure_do_not_wait_for_a_slider_that_rests(server, page, wait_settled):
    """As others do, for a moment: Python hears of the slider first."""
    page.goto(f"{server}/learning_rate?tab=descent")
    wait_settled(page)
    step = page.locator(".st-key-figure_descent .frames").get_by_role("button").last
    output = page.locator(".st-key-figure_descent .frames output")
    page.locator(".st-key-figure_descent .frames button").first.click()
    before = output.text_content()
    page.locator(".st-key-figure_turn input[type=range]").press("End")
    step.click()
    assert output.text_content() != before
