"""What a sheet places has room, measured by a browser in the font of the pages."""

from itertools import product

import plotly.graph_objects as go
import pytest
from playwright.sync_api import Page

from normgeo.pictures import PICTURES
from normgeo.pictures.style.annotations import in_lines, width
from normgeo.pictures.style.player import written
from normgeo.pictures.style.sheet import Panel, Sheet, answer, marks, told
from tests.pairwise import first

from .conftest import DRAW

SHORT = "Layer norm keeps its size."
LONG = (
    "Without a norm the largest logit grows × 66,000 as W<sub>q</sub> and W<sub>k</sub> grow, and "
    "with <b>batch norm</b> of q and k it stays at 3.3; its bound is 28 = √784 (Eq. 3)."
)
SCREENS = ((1280, 720), (1000, 700), (1440, 900), (390, 844), (360, 640))

# Draws a figure and lists words that touch other words or leave the figure, and lines of a legend
# that stand less than three times as far from the name before them as from their own.
LOOK = (
    DRAW
    + """
    const kinds = '.annotation-text, .legendtext, [class*=tick] text, text[class*=title]';
    const words = [...host.querySelectorAll(kinds)]
        .map(one => [one.textContent, one.getBoundingClientRect()])
        .filter(([, box]) => box.width > 0);
    const found = words
        .filter(([, box]) => box.left < edge.left - 1 || box.right > edge.right + 1
            || box.top < edge.top - 1 || box.bottom > edge.bottom + 1)
        .map(([one]) => `${one} leaves the figure`);
    words.forEach(([one, box], place) => words.slice(place + 1).forEach(([other, near]) => {
        const across = Math.min(box.right, near.right) - Math.max(box.left, near.left);
        const down = Math.min(box.bottom, near.bottom) - Math.max(box.top, near.top);
        if (across > 2 && down > 4) {
            found.push(`${one} over ${other}`);
        }
    }));
    const lines = [...host.querySelectorAll('.legendlines path')]
        .map(one => one.getBoundingClientRect());
    const names = [...host.querySelectorAll('.legendtext')].map((one) => {
        const {left, top} = one.getBoundingClientRect();
        const end = one.textContent.trimEnd().length;
        return {left, top, right: left + one.getSubStringLength(0, end)};
    });
    names.slice(1).forEach(({top}, place) => {
        const [name, own, next] = [names[place], lines[place], lines[place + 1]];
        if (Math.abs(top - name.top) < 2 && next.left - name.right < 3 * (name.left - own.right)) {
            found.push(`line ${place + 2} too near to the name before it`);
        }
    });
    return [words.length, found];
}"""
)


def sheet(said: str, head: str, panels: int, named: int) -> go.Figure:
    x = {"title": "step of the run", "tickvals": [0, 1, 2], "ticktext": ["0", "one half", "1"]}
    x["range"] = [-0.1, 2.1]
    y = {"title": "norm of the weights", "range": [0, 1]}
    table = marks("light", "What it ignores", [("pre", "#000000")], [(SHORT, "✓"), (head, "✗")])
    axes = [{"xaxis": f"x{n}", "yaxis": f"y{n}"} for n in range(1, panels + 1)]
    traces = [
        *(go.Scatter(x=[0, 1], y=[0, 1], showlegend=False, **own) for own in axes),
        *(go.Scatter(x=[0, 1], y=[1, 0], name=f"the line of method {n}") for n in range(named)),
    ]
    return Sheet(
        [answer(said), told("light", said, SHORT)],
        rows=[[Panel(x, y, [head])] * panels + [table]],
        foot=[told("light", said)],
    ).on(traces, "light")


@pytest.mark.parametrize("screen", first((screen,) for screen in SCREENS))
def test_no_words_touch_on_any_screen(
    screen: tuple[int, int], paper: Page, subtests: pytest.Subtests
) -> None:
    paper.set_viewport_size({"width": screen[0], "height": screen[1]})
    for said, head, panels, named in product((SHORT, LONG), (SHORT, LONG), (1, 3), (0, 5)):
        with subtests.test(said=said, head=head, panels=panels, named=named):
            drawn = written(sheet(said, head, panels, named))
            many, found = paper.evaluate(LOOK, {"text": drawn, "width": screen[0] - 32})
            assert many > 5
            assert found == []


def test_words_are_as_wide_as_a_browser_draws_them(paper: Page) -> None:
    """Never narrower by more than a hundredth, nor wider by more than a tenth."""
    sentences = [SHORT, LONG, *(str(view.alt) for view in PICTURES.values())]
    drawn = paper.evaluate(
        """async sentences => {
            await document.fonts.load("16px 'Source Sans'");
            return sentences.map(words => {
                const line = document.createElement('span');
                line.style.cssText = "font: 16px 'Source Sans'; white-space: pre";
                line.innerHTML = words.replaceAll('<su', '<small style="font-size: 70%"><su');
                document.body.append(line);
                const {width} = line.getBoundingClientRect();
                line.remove();
                return width;
            });
        }""",
        [words.replace("<sub>", "").replace("</sub>", "") for words in sentences],
    )
    for words, wide in zip(sentences, drawn, strict=True):
        plain = words.replace("<sub>", "").replace("</sub>", "")
        assert 0.99 * wide < width(plain, 16) < 1.1 * wide, words


def test_lines_hold_all_words_and_no_more_than_their_room() -> None:
    for size, room in product((14, 26), (240, 320, 1100)):
        lines = in_lines(LONG, size, room)
        assert " ".join(lines).replace("\N{NO-BREAK SPACE}", " ") == LONG
        assert max(width(line, size) for line in lines) <= room
