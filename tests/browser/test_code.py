"""Code, in a browser: its lines are those of the frame that a slider has been moved to."""

import contextlib
import io
import re

import pytest
from playwright.sync_api import Page, expect

from tests.pairwise import first

from .conftest import shared

MOVED = re.compile(r"W1\[rows\]\s\*=\s16\.0|delta\s=\s5\.0")


def opened_code(page: Page, wait_settled, with_words: re.Pattern[str] = re.compile("")) -> str:
    """The lines, when they hold these words: they follow the slider a moment later."""
    shared(page).get_by_text("Code", exact=True).first.click()
    wait_settled(page)
    lines = shared(page).locator("code", has_text="import numpy").first
    expect(lines).to_be_visible()
    expect(lines).to_contain_text(with_words)
    return lines.inner_text().replace("\N{NO-BREAK SPACE}", " ")


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("address", "figure"),
    first(
        [
            ("/learning_rate?method=layer&dataset=iris", ".st-key-figure_turn"),
            ("/invariance?cell=batch.case_rescaling&dataset=iris", ".st-key-figure_effect"),
        ]
    ),
)
def test_lines_print_what_the_moved_slider_shows(server, page, wait_settled, address, figure):
    page.goto(server + address)
    wait_settled(page)
    slider = page.locator(f"{figure} input[type=range]")
    slider.focus()
    page.keyboard.press("End")
    page.wait_for_function("/growth=16|delta=5/.test(location.search)")
    lines = opened_code(page, wait_settled, MOVED)
    assert slider.get_attribute("aria-valuetext").endswith(("= 16", "= 5")), "it stays where it is"
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(lines, {})
    shown = " ".join(page.locator(f"{figure} text").all_text_contents())
    changes = re.findall(r"\S+ → \S+", printed.getvalue())
    assert changes
    assert [change for change in changes if change not in shown] == []
