"""The Recurrent page in Chromium: the answer above, one slider, stopping, links, fit."""

import pytest
from playwright.sync_api import expect

from .conftest import PHONE

# The last value of a line: of the state at the left, of its memory beside it.
ENDS = """() => {
    const data = document.querySelector('.st-key-figure_recurrence .js-plotly-plot').calcdata;
    const of = (axis, place) => data.filter(line => line[0].trace.yaxis === axis)[place];
    return {
        state: of('y', 0).at(-1).y, normed: of('y', 1).at(-1).y,
        memory: of('y2', 0)[0].y, kept: of('y2', 1)[0].y,
    };
}"""

# As soon as the bar tells a step: on a busy machine the run ends before a test hears of it.
STOP_IN_TIME = """() => {
    const bar = document.querySelector('[data-testid=stProgress]')?.textContent ?? '';
    const stop = document.querySelector('[class*=st-key-stop_] button');
    return /Step [\\d,]+ of 12/.test(bar) && stop && (stop.click(), true);
}"""


@pytest.fixture
def recurrent(server, page, wait_settled):
    page.goto(f"{server}/recurrent?length=32&neurons=16")
    page.locator(".st-key-figure_recurrence .frames input").wait_for()
    wait_settled(page)
    return page


def captions(page, name="recurrence"):
    found = page.locator(f".st-key-figure_{name} .annotation-text").all_text_contents()
    return " ".join(found).replace("\N{NO-BREAK SPACE}", " ")


def legend(page):
    names = page.locator(".st-key-figure_recurrence .legendtext").all_text_contents()
    return [name.strip() for name in names]


@pytest.mark.exhaustive
def test_answer_stands_large_above_three_panels(look_at, wait_settled):
    page = look_at("/recurrent")
    assert "Without a norm the state explodes; with layer norm it keeps its size" in captions(page)
    figure = page.locator(".st-key-figure_recurrence")
    expect(figure.locator(".cartesianlayer .subplot")).to_have_count(3)


@pytest.mark.exhaustive
def test_one_slider_drives_all_panels_and_the_words_and_keeps_the_legend(recurrent):
    before = recurrent.evaluate(ENDS)
    assert before["state"] > 1e3
    assert before["memory"] > 3
    assert "explodes" in captions(recurrent)
    recurrent.locator(".st-key-figure_recurrence .frames input").press("Home")
    recurrent.wait_for_function(
        "document.querySelector('.st-key-figure_recurrence .frames output')"
        ".textContent.endsWith('0.5')"
    )
    recurrent.wait_for_function(f"({ENDS})().memory < -7")
    after = recurrent.evaluate(ENDS)
    assert after["state"] < 10
    assert after["normed"] == before["normed"] == pytest.approx(1)
    assert after["memory"] < after["kept"]
    assert "dies" in captions(recurrent)
    names = ["no norm", "layer norm", "growth predicted for many neurons"]
    assert legend(recurrent) == names, "the first move deleted it once"
    recurrent.wait_for_url("**radius=0.5*")


@pytest.mark.exhaustive
def test_activation_is_picked_in_the_heading(recurrent, wait_settled):
    recurrent.get_by_role("combobox", name="activation f").click()
    recurrent.get_by_role("option", name="f = tanh").click()
    words = recurrent.locator(".st-key-figure_recurrence").get_by_text("tanh; digits")
    expect(words).to_be_visible()
    assert "activation=tanh" in recurrent.url


@pytest.mark.exhaustive
def test_long_computation_shows_a_bar_and_stops_with_what_it_has(server, page, wait_settled):
    page.goto(f"{server}/recurrent?length=256&neurons=64&seed=9")
    page.wait_for_function(STOP_IN_TIME)
    page.locator(".st-key-figure_recurrence .main-svg").first.wait_for()
    wait_settled(page)
    assert "of 12 radii" in captions(page)
    page.get_by_role("button", name="Compute all radii").click()
    page.wait_for_function(
        "!document.querySelector('.st-key-figure_recurrence')?.textContent.includes('stopped')"
        " && document.querySelector('.st-key-figure_recurrence')",
    )
    wait_settled(page)
    assert "stopped" not in captions(page)


@pytest.mark.exhaustive
def test_deep_link_shows_its_picture(look_at):
    page = look_at("/recurrent?radius=0.8&activation=relu&length=32")
    expect(page.get_by_role("heading", level=1)).to_have_text(
        "What keeps a recurrent state from exploding or dying?"
    )
    assert "f = ReLU; digits read row by row, all 8 rows 4 times: T = 32 steps" in captions(page)
    label = page.locator(".st-key-figure_recurrence .frames output").first
    assert label.text_content().endswith("0.8")


@pytest.mark.exhaustive
def test_picture_and_exports_fit_a_projector(look_at):
    page = look_at("/recurrent")
    for key in ("figure_recurrence", "recurrence_pin"):
        box = page.locator(f".st-key-{key}").bounding_box()
        assert box["y"] + box["height"] <= 720
        assert box["x"] + box["width"] <= 1280


@pytest.mark.exhaustive
def test_panels_stack_on_a_phone_and_nothing_scrolls_sideways(look_at):
    phone = look_at("/recurrent?tab=radii&length=16&neurons=8", PHONE)
    assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for name in ("radii", "recurrence"):
        view = phone.locator(f".st-key-view_{name}")
        assert view.evaluate("e => e.scrollWidth <= e.clientWidth + 1")
        left = phone.locator(f".st-key-figure_{name} .js-plotly-plot").evaluate(
            "plot => ['xaxis', 'xaxis2', 'xaxis3'].map(axis => plot._fullLayout[axis]._offset)"
        )
        assert len(set(left)) == 1, "one beneath the other"


@pytest.mark.exhaustive
def test_bad_value_is_named(look_at):
    page = look_at("/recurrent?radius=9")
    expect(page.get_by_role("alert")).to_contain_text(
        "radius must be a number from 0.5 to 2; got '9'."
    )
    page.locator(".st-key-figure_recurrence .main-svg").first.wait_for()
