"""Where z lives in a browser: turned by keys, buttons and a hand, while the slider moves it."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from normgeo.pictures import PICTURES
from normgeo.pictures.style.export import write
from normgeo.settings import Settings
from tools.settled import still

from .conftest import PHONE, address

ADDRESS = "/invariance?tab=where_z_lives&dataset=iris&cell=batch.case_rescaling"
FIGURE = ".st-key-figure_where_z_lives"

# Where every point, word and line of the figure is drawn.
DRAWN = """() => [...document.querySelectorAll(".scatterlayer .point, .textpoint text, .js-line")]
  .filter((mark) => mark.closest(".js-plotly-plot").layout.meta?.turning)
  .map((mark) => mark.getAttribute("transform") ?? mark.getAttribute("d")
    ?? [mark.getAttribute("x"), mark.getAttribute("y")].join())"""

# The same of the points alone, as the formula of the projection has it at an angle.
EXPECTED = """([azimuth, elevation]) => {
  const plots = [...document.querySelectorAll(".js-plotly-plot")];
  const plot = plots.find((one) => one.layout.meta?.turning);
  const [a, e] = [azimuth, elevation].map((angle) => angle * Math.PI / 180);
  const worst = [0];
  plot._fullData.forEach((trace) => {
    if (!trace.meta?.middle || !trace.customdata?.length || !trace.mode.includes("markers")) return;
    const named = ["xaxis", "yaxis"].map((key) => trace[key].replace(/^[xy]/, key));
    const [x, y] = named.map((name) => plot._fullLayout[name]);
    plot.querySelectorAll(`.trace${trace.uid} .point`).forEach((point, n) => {
      const [p, q, r] = [0, 1, 2].map((d) => trace.customdata[n][d] - trace.meta.middle[d]);
      const right = q * Math.cos(a) - p * Math.sin(a);
      const up = r * Math.cos(e) - (p * Math.cos(a) + q * Math.sin(a)) * Math.sin(e);
      const [left, top] = point.getAttribute("transform").match(/-?[\\d.]+(e-?\\d+)?/g).map(Number);
      worst.push(Math.abs(left - x.c2p(right)), Math.abs(top - y.c2p(up)));
    });
  });
  return [worst.length, Math.max(...worst)];
}"""


@pytest.fixture
def shown(server: str, page: Page, wait_settled: Callable[[Page], None]) -> Page:
    page.goto(server + ADDRESS)
    wait_settled(page)
    page.locator(f"{FIGURE} .turn").scroll_into_view_if_needed()
    return page


def at(page: Page, azimuth: float, elevation: float) -> None:
    """Wait until every point is drawn as seen from an angle."""
    still(page)
    count, worst = page.evaluate(EXPECTED, [azimuth, elevation])
    assert count > 400
    assert worst < 0.02, "of a pixel"


@pytest.mark.exhaustive
def test_keys_and_buttons_turn_it_and_the_slider_leaves_the_angle(shown, axe):
    made = shown.evaluate(DRAWN)
    at(shown, 115, 25)
    view = shown.get_by_role("application", name="View of the points")
    view.focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowUp"):
        shown.keyboard.press(key)
    at(shown, 125, 30)
    assert shown.evaluate(DRAWN) != made
    slider = shown.locator(f"{FIGURE} input[type=range]")
    slider.focus()
    shown.keyboard.press("Home")
    expect(shown.locator(f"{FIGURE} output")).to_have_text("δ = −3")
    at(shown, 125, 30)
    shown.get_by_role("button", name="tilt down").click()
    at(shown, 125, 25)
    shown.get_by_role("button", name="turn back to the start").click()
    at(shown, 115, 25)
    slider.focus()
    for key in ("End", "ArrowLeft", "ArrowLeft"):
        shown.keyboard.press(key)
    expect(shown.locator(f"{FIGURE} output")).to_have_text("δ = 3")
    still(shown)
    assert shown.evaluate(DRAWN) == made, "as it was drawn first"
    assert axe(shown, FIGURE) == []


@pytest.mark.exhaustive
def test_both_figures_of_the_page_show_one_strength(shown):
    main = ".st-key-figure_effect"
    words = [shown.locator(f"{figure} output") for figure in (main, FIGURE)]
    for figure, key, strength in ((main, "ArrowLeft", "2"), (FIGURE, "Home", "−3")):
        shown.locator(f"{figure} input[type=range]").focus()
        shown.keyboard.press(key)
        for one, said in zip(words, ("factor δ", "δ"), strict=True):
            expect(one).to_have_text(f"{said} = {strength}")
    expect(shown).to_have_url(re.compile("delta=-3"))
    still(shown)
    assert shown.locator(FIGURE).get_by_text("case 0: x × −3").count() == 1
    assert shown.locator(main).get_by_text("case 0: x × −3").count() == 1


@pytest.mark.exhaustive
def test_hand_turns_it_without_a_zoom_or_a_rerun(shown):
    panel = shown.locator(f"{FIGURE} .nsewdrag").nth(1)
    panel.scroll_into_view_if_needed()
    box, url = panel.bounding_box(), address(shown)
    x, y = box["x"] + 50, box["y"] + box["height"] / 2  # below the row of tabs, which stays
    shown.mouse.move(x, y)
    shown.mouse.down()
    shown.mouse.move(x + 40, y + 20, steps=4)
    shown.mouse.up()
    at(shown, 115 - 20, 25 + 10)
    shown.mouse.move(x + 100, y + 40)
    at(shown, 95, 35)
    assert address(shown) == url


@pytest.mark.exhaustive
def test_exported_page_is_turned_too(tmp_path: Path, open_file: Callable[[Path], Page]) -> None:
    picture = PICTURES["where_z_lives"]
    result = picture.compute(Settings(dataset="iris"))
    path = tmp_path / "z.html"
    write(
        picture.figure(result, "light"), path, title=picture.title, alt=picture.description(result)
    )
    page = open_file(path)
    view = page.get_by_role("application", name="View of the points")
    expect(view).to_be_visible()
    at(page, 115, 25)
    view.focus()
    page.keyboard.press("ArrowLeft")
    at(page, 110, 25)


@pytest.mark.exhaustive
def test_phone_stacks_the_stages_and_a_finger_turns_them(look_at):
    phone = look_at(ADDRESS, PHONE)
    tops = phone.locator(f"{FIGURE} .nsewdrag").evaluate_all(
        "all => all.map((panel) => panel.getBoundingClientRect()).map(({left, top}) => [left, top])"
    )
    assert len({round(left) for left, _ in tops}) == 1
    assert len({round(top) for _, top in tops}) == 3
    assert phone.get_by_test_id("stMain").evaluate("e => e.scrollWidth") == 390
    phone.get_by_role("button", name="turn right").tap()
    at(phone, 120, 25)
