"""Invariance in a browser: pick a cell, drag the slider, take the picture away."""

from collections.abc import Callable
from itertools import product
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from normgeo import NORMALIZERS, TRANSFORMS, certify
from normgeo.invariance.transforms import TABLE_1
from normgeo.pictures import PICTURES
from normgeo.pictures.style.player import STRIP, written
from normgeo.settings import Settings
from normgeo.tables import marks
from tools.settled import still

from .conftest import DRAW, PHONE, query, shared


@pytest.fixture
def shown(look_at: Callable[[str], Page]) -> Page:
    return look_at("/invariance")


@pytest.fixture
def invariance(server: str, page: Page, wait_settled: Callable[[Page], None]) -> Page:
    page.goto(f"{server}/invariance")
    wait_settled(page)
    return page


def captions(page: Page) -> list[str]:
    return page.locator(".st-key-figure_effect .annotation-text").all_text_contents()


def cell(page: Page, name: str):
    return page.locator(f'[data-cell="{name}"]')


WORDS = {"✓": "invariant", "±": "sign flip, δ < 0", "✗": "not invariant"}


def certified(negative: bool) -> list[str]:
    """The words of the paper's table, row after row, from a certificate of each cell."""
    found = [
        certify(NORMALIZERS[row], TRANSFORMS[column])
        for row in ("batch", "layer", "weight")
        for column in TABLE_1
    ]
    return [WORDS["±" if negative and one.sign_flip else one.symbol] for one in found]


def table_words(page: Page) -> list[str]:
    """What a screen reader is told of each cell, if the hint and the drawn mark say the same."""
    cells = page.locator(".st-key-table [data-cell]").evaluate_all(
        """all => all.map((one) => [
            one.innerText.trim(), one.title, one.querySelector('path').getAttribute('d'),
        ])"""
    )
    for word, title, path in cells:
        assert title.endswith(f": {word}")
        assert path == marks.path(next(sign for sign in WORDS if WORDS[sign] == word))
    return [word for word, _, _ in cells]


@pytest.mark.exhaustive
def test_table_and_picture_fit_a_projector(shown):
    for key in ("table", "figure_effect", "effect_pin"):
        box = shown.locator(f".st-key-{key}").bounding_box()
        assert box["y"] + box["height"] <= 720
        assert box["x"] + box["width"] <= 1280
    expect(shown.get_by_role("tab", name="Why")).to_be_in_viewport()


@pytest.mark.exhaustive
@pytest.mark.parametrize("state", ["rows=named&columns=all", "rows=grid&columns=all"])
def test_larger_tables_fit_a_projector_too(look_at, state):
    page = look_at(f"/invariance?cell=weight.dataset_rescaling&{state}")
    for key in ("table", "figure_effect"):
        box = page.locator(f".st-key-{key}").bounding_box()
        assert box["y"] + box["height"] <= 720
    sizes = page.locator(".st-key-table .scroll").evaluate("e => [e.scrollWidth, e.clientWidth]")
    assert sizes[0] <= sizes[1]


def test_click_on_a_cell_changes_the_url_and_the_picture(invariance, wait_settled):
    before = captions(invariance)
    cell(invariance, "batch.dataset_recentering").click()
    wait_settled(invariance)
    assert query(invariance) == {"cell": ["batch.dataset_recentering"]}
    expect(cell(invariance, "batch.dataset_recentering")).to_have_attribute("aria-pressed", "true")
    expect(invariance.locator('[aria-pressed="true"]')).to_have_count(1)
    after = captions(invariance)
    assert after != before
    assert after[after.index("batch norm") + 1] == "invariant"
    assert after[after.index("layer norm") + 1] == "not invariant"


def test_cross_opens_at_the_blackboard(invariance, wait_settled):
    cell(invariance, "weight.dataset_rescaling").click()
    wait_settled(invariance)
    tab = invariance.get_by_role("tab", name="Blackboard")
    expect(tab).to_have_attribute("aria-selected", "true")


@pytest.mark.exhaustive
def test_arrow_keys_walk_the_table_and_enter_picks(invariance, wait_settled):
    cell(invariance, "layer.case_rescaling").focus()
    invariance.keyboard.press("ArrowUp")
    expect(cell(invariance, "batch.case_rescaling")).to_be_focused()
    invariance.keyboard.press("ArrowLeft")
    invariance.keyboard.press("Enter")
    wait_settled(invariance)
    assert query(invariance) == {"cell": ["batch.dataset_recentering"]}
    expect(cell(invariance, "batch.dataset_recentering")).to_be_focused()


@pytest.mark.exhaustive
def test_table_is_one_stop_of_the_tab_key(shown):
    stops = shown.locator('.st-key-table button[tabindex="0"]')
    expect(stops).to_have_count(1)
    expect(stops).to_have_attribute("data-cell", "layer.case_rescaling")


def test_screen_reader_finds_a_table_with_words(shown):
    table = shown.get_by_role("table", name="Whether z stays the same")
    expect(table.get_by_role("rowheader")).to_have_text(["batch norm", "layer norm", "weight norm"])
    expect(table.get_by_role("columnheader", name="change weights W")).to_be_visible()
    expect(table.get_by_role("button", name="not invariant").first).to_be_visible()
    expect(table.get_by_role("button", name="invariant", exact=True)).to_have_count(10)


def test_slider_is_dragged_in_the_browser(invariance, wait_settled):
    """Every step is drawn without asking the server, and stays in the figure."""
    before, url = captions(invariance), invariance.url
    slider = invariance.locator(".st-key-figure_effect .frames input")
    slider.hover()
    rail = slider.bounding_box()
    seen = []
    invariance.mouse.down()
    for share in (0.6, 0.3, 0.01):
        invariance.mouse.move(
            rail["x"] + share * rail["width"], rail["y"] + rail["height"] / 2, steps=5
        )
        still(invariance)
        seen.append(captions(invariance))
        assert table_words(invariance) == certified(negative=share < 0.1), "the table follows"
    invariance.mouse.up()
    assert len({tuple(words) for words in (before, *seen)}) == 4
    assert "sign flip" in seen[-1]
    assert any("-3" in words or "−3" in words for words in seen[-1])
    assert invariance.url == url + "?delta=-3", "the address follows, and the server is not asked"
    slider.press("End")
    still(invariance)
    assert table_words(invariance) == certified(negative=False)
    slider.press("Home")
    still(invariance)
    invariance.wait_for_url("**delta=-3")
    invariance.reload()
    wait_settled(invariance)
    assert table_words(invariance) == certified(negative=True)


@pytest.mark.exhaustive
def test_table_follows_the_slider_of_its_own_figure_on_pages_and_slides(server, page, wait_settled):
    page.goto(f"{server}/invariance?present=1")
    wait_settled(page)
    slider = page.locator(".st-key-figure_effect .frames input")
    slider.press("Home")
    still(page)
    assert table_words(page) == certified(negative=True)
    page.goto(f"{server}/invariance?tab=own&pin=effect%3Fcell%3Dlayer.case_rescaling")
    wait_settled(page)
    page.locator(".st-key-figure_pinned .frames input").press("Home")
    still(page)
    assert table_words(page) == certified(negative=False)
    slider.press("Home")
    still(page)
    assert table_words(page) == certified(negative=True)
    own = page.locator(".st-key-own_table")
    expect(own.get_by_role("button", name="sign flip").first).to_be_visible()
    page.get_by_role("button", name="Reset").click()
    wait_settled(page)
    assert table_words(page) == certified(negative=False)


@pytest.mark.exhaustive
def test_phone_scrolls_the_wide_table_inside_its_box(look_at, wait_settled):
    phone = look_at("/invariance?rows=grid&columns=all", PHONE)
    content, box = phone.locator(".st-key-table .scroll").evaluate(
        "e => [e.scrollWidth, e.clientWidth]"
    )
    assert content > box
    assert phone.get_by_test_id("stMain").evaluate("e => e.scrollWidth") == 390
    cell(phone, "weight-weight.case_offsets").scroll_into_view_if_needed()
    cell(phone, "weight-weight.case_offsets").tap()
    wait_settled(phone)
    assert query(phone)["cell"] == ["weight-weight.case_offsets"]


def download(page: Page, label: str, folder: Path) -> Path:
    with page.expect_download() as started:
        shared(page).get_by_role("button", name=label, exact=True).click()
    path = folder / started.value.suggested_filename
    started.value.save_as(path)
    return path


def test_exported_html_is_interactive_and_offline(shown, open_file, tmp_path):
    path = download(shown, "HTML", tmp_path)
    assert path.name == "normgeo-effect-layer-case_rescaling.html"
    alone = open_file(path)
    expect(alone.locator(".js-plotly-plot .frames")).to_be_visible()
    words = alone.locator(".annotation-text").all_text_contents()
    assert words == captions(shown)
    picture = PICTURES["effect"]
    named = alone.get_by_role("figure", name=picture.title, exact=True)
    described = picture.description(picture.compute(Settings()))
    expect(named).to_have_accessible_description(described)


def test_exported_png_and_svg_are_made_on_the_page_and_say_what_they_show(shown, tmp_path):
    picture = PICTURES["effect"]
    words = {
        "Title": picture.title,
        "Description": picture.description(picture.compute(Settings())),
    }
    file = download(shown, "PNG", tmp_path)
    with Image.open(file) as image:
        image.load()
        assert image.text == words
        width, height = image.size
    assert (file.name, width) == (f"{picture.file_name(Settings())}.png", 1920)
    root = ElementTree.parse(download(shown, "SVG", tmp_path)).getroot()
    assert (int(root.get("width")), int(root.get("height"))) == (width / 2, height / 2)
    named = {one.get("id"): one.text for one in root if one.get("id") in ("title", "desc")}
    assert named == {"title": words["Title"], "desc": words["Description"]}
    texts = root.iter("{http://www.w3.org/2000/svg}text")
    drawn = " ".join("".join(one.itertext()) for one in texts)
    assert "layer norm" in drawn
    strip = picture.figure(picture.compute(Settings()), "light").layout.height - height / 2
    assert strip == STRIP, "the slider is left out"


def test_exported_numbers_and_recipe_belong_to_the_picture(shown, tmp_path):
    lines = download(shown, "CSV", tmp_path).read_text("utf-8").splitlines()
    assert lines[0].startswith("method,strength,case,neuron")
    assert len(lines) > 10
    recipe = download(shown, "Recipe", tmp_path).read_text("utf-8")
    assert '"view": "effect"' in recipe


@pytest.mark.exhaustive
def test_click_on_a_picture_chooses_its_case_and_on_a_template_its_neuron(look_at, wait_settled):
    """The fourth picture of three columns is the first of the second line."""
    for matrix, words in (("case", "case 3: x ×"), ("weight_vector", "neuron 3: w ×")):
        page = look_at(f"/invariance?cell=layer.{matrix}_rescaling")
        figure = page.locator(".st-key-figure_effect")
        image = figure.locator(".hm image")
        image.scroll_into_view_if_needed()
        box = image.bounding_box()
        page.mouse.click(box["x"] + box["width"] / 6, box["y"] + box["height"] / 2)
        page.wait_for_url("**index=3*")
        wait_settled(page)
        expect(figure.get_by_text(words)).to_be_visible()


@pytest.mark.exhaustive
def test_pictures_grow_with_the_screen(look_at):
    shares = []
    for size in ((1280, 720), (1920, 1080)):
        page = look_at("/invariance", size)
        share = "plot => plot._fullLayout.yaxis._length / plot._fullLayout.height"
        shares.append(page.locator(".st-key-figure_effect .js-plotly-plot").evaluate(share))
    assert shares[1] == pytest.approx(shares[0], rel=0.05)


CUT = (
    DRAW
    + """
    return [...host.querySelectorAll('svg text')]
        .filter((one) => one.getBoundingClientRect().right > edge.right + 1)
        .map((one) => one.textContent);
}"""
)


@pytest.mark.exhaustive
def test_no_words_of_any_change_are_cut_beside_the_table(look_at, paper, subtests):
    plot = look_at("/invariance").locator(".st-key-figure_effect .js-plotly-plot")
    width, picture = plot.evaluate("plot => plot.clientWidth"), PICTURES["effect"]
    paper.set_viewport_size({"width": 1280, "height": 720})
    for method, key in product(("layer", "rms", "group"), TRANSFORMS):
        with subtests.test(method=method, key=key):
            result = picture.compute(Settings(cell=f"{method}.{key}"))
            text = written(picture.figure(result, "light"))
            assert paper.evaluate(CUT, {"text": text, "width": width}) == []
