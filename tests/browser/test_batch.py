"""The Batch page in Chromium: the slider, training with a bar and a stop, links, fit."""

import re

import pytest
from playwright.sync_api import expect

CAPTION = ".st-key-figure_{name} .annotation-text"


def words(page, name):
    return page.locator(CAPTION.format(name=name)).all_text_contents()


@pytest.fixture
def shown(look_at):
    return look_at("/batch")


@pytest.fixture
def batch(server, page, wait_settled):
    page.goto(f"{server}/batch")
    page.locator(".st-key-figure_axes .slider-group").wait_for()
    wait_settled(page)
    return page


def test_slider_changes_batch_norm_and_leaves_the_others(batch):
    def z():
        found = [w for w in words(batch, "axes") if "z" in w]
        return [re.search(r"(?:z = .*|σ = 0.*)$", w).group() for w in found]

    before = z()
    assert len(before) == 8, "two arrays for each of four methods"
    rail = batch.locator(".st-key-figure_axes .slider-rail-touch-rect").bounding_box()
    batch.mouse.click(rail["x"] + 2, rail["y"] + rail["height"] / 2)
    label = batch.locator(".st-key-figure_axes .slider-label").first
    expect(label).to_have_text("cases in the batch: N = 1")
    batch.wait_for_function(
        "document.querySelector('.st-key-figure_axes').textContent.includes('shape (1,)')"
    )
    after = z()
    assert after[:2] == ["σ = 0: no z", "z = −1.5"]
    assert after[2:] == before[2:]
    assert before[:2] == ["z = 0.601", "z = −1.32"]


def test_slider_moves_what_is_lit(batch):
    heights = """() => Array.from(document.querySelectorAll(
        '.st-key-figure_axes .shapelayer path')).map(p => p.getBoundingClientRect().height)"""
    before = batch.evaluate(heights)
    rail = batch.locator(".st-key-figure_axes .slider-rail-touch-rect").bounding_box()
    batch.mouse.click(rail["x"] + rail["width"] - 2, rail["y"] + rail["height"] / 2)
    batch.wait_for_function(
        "document.querySelector('.st-key-figure_axes').textContent.includes('shape (8,)')"
    )
    batch.wait_for_timeout(200)
    after = batch.evaluate(heights)
    assert max(after) > 1.8 * max(before), "batch norm's column is twice as long"


def test_training_by_button_with_a_bar_and_then_a_figure(server, page, wait_settled):
    page.goto(f"{server}/batch?tab=network&epochs=6")
    wait_settled(page)
    assert page.locator(".st-key-figure_training").count() == 0
    page.get_by_role("button", name="Train the network").click()
    expect(page.locator(".st-key-progress_training")).to_contain_text(
        re.compile(r"Step [\d,]+ of [\d,]+"), timeout=20_000
    )
    page.locator(".st-key-figure_training .main-svg").first.wait_for(timeout=120_000)
    wait_settled(page)
    assert page.get_by_role("button", name="Train the network").count() == 0
    assert page.locator(".st-key-progress_training").count() == 0
    assert any("batches of 4" in caption for caption in words(page, "training"))
    page.reload()
    page.locator(".st-key-figure_training .main-svg").first.wait_for(timeout=20_000)


def test_stop_keeps_what_was_trained(server, page, wait_settled):
    page.goto(f"{server}/batch?tab=network&epochs=50&seed=11")
    wait_settled(page)
    page.get_by_role("button", name="Train the network").click()
    page.get_by_text(re.compile(r"Step [\d,]+ of")).wait_for(timeout=60_000)
    page.get_by_role("button", name="Stop").click()
    page.locator(".st-key-figure_training .main-svg").first.wait_for(timeout=20_000)
    wait_settled(page)
    assert "was stopped after step" in " ".join(words(page, "training"))
    assert page.locator(".st-key-progress_training").count() == 0
    expect(page.get_by_role("button", name="Train again")).to_be_visible()
    with page.expect_download() as download:
        page.locator(".st-key-training_csv button").click()
    rows = download.value.path().read_text("utf-8").splitlines()
    assert 1 < len(rows) < 2 * 50 * (12 + 360), "the numbers of the figure, not of a whole run"


def test_other_page_while_it_trains_leaves_nothing_behind(server, page, wait_settled):
    page.goto(f"{server}/batch?tab=network&epochs=50&seed=12")
    wait_settled(page)
    page.get_by_role("button", name="Train the network").click()
    page.get_by_role("button", name="Stop").wait_for(timeout=20_000)
    page.get_by_role("link", name="Recurrent").click()
    page.locator(".st-key-figure_recurrence .main-svg").first.wait_for(timeout=30_000)
    wait_settled(page)


def test_deep_link_shows_its_picture(server, page, wait_settled):
    page.goto(f"{server}/batch?batch_size=2&dataset=wine")
    page.locator(".st-key-figure_axes .slider-group").wait_for()
    wait_settled(page)
    expect(page.get_by_role("heading", level=1)).to_have_text(
        "Which axis is averaged, and what does a small batch cost?"
    )
    label = page.locator(".st-key-figure_axes .slider-label").first
    expect(label).to_have_text("cases in the batch: N = 2")
    assert any("Wine" in caption for caption in words(page, "noise"))


def test_picture_and_tabs_fit_a_projector(shown):
    for key in ("figure_axes", "export_axes"):
        box = shown.locator(f".st-key-{key}").bounding_box()
        assert box["y"] + box["height"] <= 720
        assert box["x"] + box["width"] <= 1280
    expect(shown.get_by_role("tab", name="Small batches")).to_be_in_viewport()


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


def test_phone_scrolls_figures_in_their_box(server, phone, wait_settled):
    phone.goto(f"{server}/batch")
    phone.locator(".st-key-figure_axes .main-svg").first.wait_for()
    wait_settled(phone)
    assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert phone.locator(".st-key-figure_axes").bounding_box()["width"] > 1000


def test_bad_value_is_named(server, page, wait_settled):
    page.goto(f"{server}/batch?batch_size=999")
    wait_settled(page)
    expect(page.get_by_role("alert")).to_contain_text("got '999'. The default, 4, is used instead.")
    page.locator(".st-key-figure_axes .main-svg").first.wait_for()
