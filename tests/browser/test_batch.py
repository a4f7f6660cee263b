"""The Batch page in Chromium: the slider, training with a bar and a stop, links, fit."""

import re

import pytest
from playwright.sync_api import expect

from normgeo.base.numbers import number
from normgeo.pictures import PICTURES
from normgeo.settings import Settings

from .conftest import PHONE, address, shared

PAPER, LINE = {"rgb(255, 255, 255)"}, {"none", "rgb(0, 0, 0)"}
CAPTION = ".st-key-figure_{name} .annotation-text"


def words(page, name):
    return page.locator(CAPTION.format(name=name)).all_text_contents()


@pytest.fixture
def shown(look_at):
    return look_at("/batch")


@pytest.fixture
def batch(server, page, wait_settled):
    page.goto(f"{server}/batch")
    page.locator(".st-key-figure_axes .frames input").wait_for()
    wait_settled(page)
    return page


def move(page, m):
    """Move the slider to batches of m."""
    slider = page.locator(".st-key-figure_axes .frames input")
    slider.fill(str(m.bit_length() - 1))
    label = page.locator(".st-key-figure_axes .frames output").first
    expect(label).to_have_text(f"cases in the batch: m = {m}")
    # It stands in the picture as soon as that is drawn.
    heading = page.locator(CAPTION.format(name="axes")).filter(has_text="Test accuracy:")
    said = (
        "Batch norm of 2 keeps only signs: z = ±1." if m == 2 else re.compile(rf"μ of\s{m}\scase")
    )
    expect(heading).to_contain_text(said)


def z_of(result, m):
    """z of each method, as the figure writes it."""
    entries = [found.entry.z for found in result.panels[m].values()]
    return ["σ = 0: no z" if z is None else f"z of ○ = {number(z)}" for z in entries]


def z_shown(page):
    found = [re.fullmatch(r"μ of \d+(?: numbers?|: z = ±1)(.*)", w) for w in words(page, "axes")]
    return [match.group(1) for match in found if match]


@pytest.mark.exhaustive
def test_slider_changes_batch_norm_and_leaves_the_others(batch):
    result = PICTURES["axes"].compute(Settings())
    shown = {}
    for m in (2, 1, 128, 8):
        move(batch, m)
        shown[m] = z_shown(batch)
        assert shown[m] == z_of(result, m)
        assert shown[m][1:] == shown[2][1:], "layer, instance and group norm"
    assert shown[1][0] == "σ = 0: no z"


@pytest.mark.exhaustive
def test_a_click_on_a_label_of_the_slider_goes_to_its_frame(batch):
    batch.locator(".st-key-figure_axes .frames .scale span").get_by_text("16", exact=True).click()
    label = batch.locator(".st-key-figure_axes .frames output").first
    expect(label).to_have_text("cases in the batch: m = 16")
    batch.wait_for_function("location.search.includes('batch_size=16')")


@pytest.mark.exhaustive
def test_lit_entries_keep_their_colors_at_every_size(batch):
    """Those of four methods; and what covers the cases that are left out."""
    fills = """() => Array.from(document.querySelectorAll(
        '.st-key-figure_axes .shapelayer path')).map(p => p.style.fill)"""
    first = None
    for m in (4, 8, 1, 8, 64, 2, 4):
        move(batch, m)
        colors = [c for c in batch.evaluate(fills) if c not in PAPER | LINE]
        assert len(set(colors)) == 4, m
        assert first in {None, tuple(colors)}
        first = tuple(colors)
        left_out = [c for c in batch.evaluate(fills) if c in PAPER]
        # A ring in each array, and a cover where cases are left out.
        assert len(left_out) == (4 if m >= 8 else 8)


@pytest.mark.exhaustive
def test_slider_moves_what_is_lit_and_the_address(batch):
    height = """still => Array.from(document.querySelectorAll(
        '.st-key-figure_axes .shapelayer path')).find(p => !still.includes(p.style.fill))
        .getBoundingClientRect().height"""
    move(batch, 2)
    before = batch.evaluate(height, [*PAPER, *LINE])
    move(batch, 8)
    batch.wait_for_function("location.search.includes('batch_size=8')")
    after = batch.evaluate(height, [*PAPER, *LINE])
    assert after > 3 * before, "batch norm's column is four times as long"


@pytest.mark.exhaustive
def test_a_click_on_a_size_starts_the_run(server, page, wait_settled):
    page.goto(f"{server}/batch?dataset=iris&epochs=1")
    page.locator(".st-key-figure_axes .frames input").wait_for()
    wait_settled(page)
    page.locator(".st-key-sizes").get_by_role("radio", name="16", exact=True).click()
    page.locator(".st-key-figure_training .main-svg").first.wait_for()
    wait_settled(page)
    assert any("batches of 16" in caption for caption in words(page, "training"))
    assert "batch_size=16" in address(page)


@pytest.mark.exhaustive
def test_training_by_button_with_a_bar_and_then_a_figure(server, page, wait_settled):
    page.goto(f"{server}/batch?tab=network&epochs=2")
    wait_settled(page)
    assert page.locator(".st-key-figure_training").count() == 0
    page.get_by_role("button", name="Train the network").click()
    expect(page.locator(".st-key-progress_training")).to_contain_text(
        re.compile(r"Step [\d,]+ of [\d,]+")
    )
    page.locator(".st-key-figure_training .main-svg").first.wait_for()
    wait_settled(page)
    assert page.get_by_role("button", name="Train the network").count() == 0
    assert page.locator(".st-key-progress_training").count() == 0
    assert any("batches of 2" in caption for caption in words(page, "training"))
    page.reload()
    page.locator(".st-key-figure_training .main-svg").first.wait_for()


@pytest.mark.exhaustive
def test_stop_keeps_what_was_trained(server, page, wait_settled):
    page.goto(f"{server}/batch?tab=network&batch_size=4&epochs=50&seed=11")
    wait_settled(page)
    page.get_by_role("button", name="Train the network").click()
    page.get_by_text(re.compile(r"Step [\d,]+ of")).wait_for()
    page.get_by_role("button", name="Stop").click()
    page.locator(".st-key-figure_training .main-svg").first.wait_for()
    wait_settled(page)
    assert "was stopped after step" in " ".join(words(page, "training"))
    assert page.locator(".st-key-progress_training").count() == 0
    expect(page.get_by_role("button", name="Train again")).to_be_visible()
    with page.expect_download() as download:
        shared(page).locator(".st-key-training_csv button").click()
    rows = download.value.path().read_text("utf-8").splitlines()
    assert 1 < len(rows) < 2 * 50 * (12 + 360), "the numbers of the figure, not of a whole run"


@pytest.mark.exhaustive
def test_other_page_while_it_trains_leaves_nothing_behind(server, page, wait_settled):
    page.goto(f"{server}/batch?tab=network&batch_size=4&epochs=50&seed=12")
    wait_settled(page)
    page.get_by_role("button", name="Train the network").click()
    page.get_by_role("button", name="Stop").wait_for()
    page.get_by_role("link", name="Recurrent").click()
    page.locator(".st-key-figure_recurrence .main-svg").first.wait_for()
    wait_settled(page)


@pytest.mark.exhaustive
def test_deep_link_shows_its_picture(look_at):
    page = look_at("/batch?batch_size=2&dataset=wine")
    expect(page.get_by_role("heading", level=1)).to_have_text(
        "What does a small batch cost, and why?"
    )
    label = page.locator(".st-key-figure_axes .frames output").first
    expect(label).to_have_text("cases in the batch: m = 2")
    assert any("Wine" in caption for caption in words(page, "noise"))


@pytest.mark.exhaustive
def test_picture_fits_a_projector(shown):
    for key in ("figure_axes", "axes_pin"):
        box = shown.locator(f".st-key-{key}").bounding_box()
        assert box["y"] + box["height"] <= 720
        assert box["x"] + box["width"] <= 1280


@pytest.mark.exhaustive
def test_no_word_of_a_figure_is_cut(shown):
    words = shown.evaluate(
        """() => Array.from(document.querySelectorAll('.js-plotly-plot')).flatMap(plot => {
            const frame = plot.getBoundingClientRect();
            return Array.from(plot.querySelectorAll('.annotation-text, .g-xtitle, .g-ytitle'))
                .map(text => {
                    const box = text.getBoundingClientRect();
                    const cut = box.left < frame.left - 1 || box.right > frame.right + 1
                        || box.top < frame.top - 1 || box.bottom > frame.bottom + 1;
                    return [text.textContent, cut];
                });
        })"""
    )
    assert len(words) > 20
    assert [text for text, cut in words if cut] == []


@pytest.mark.exhaustive
def test_panels_stack_on_a_phone(look_at):
    phone = look_at("/batch", PHONE)
    assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for name in ("axes", "noise"):
        box = phone.locator(f".st-key-figure_{name}").bounding_box()
        assert box["width"] <= 390
        assert box["height"] > 900, "panels below each other"


@pytest.mark.exhaustive
def test_bad_value_is_named(look_at):
    page = look_at("/batch?batch_size=999")
    expect(page.get_by_role("alert")).to_contain_text("got '999'. The default, 2, is used instead.")
    page.locator(".st-key-figure_axes .main-svg").first.wait_for()
