"""Presenting and embedding: type for the back row, slides by keys, one figure alone."""

import numpy as np
import plotly.graph_objects as go
import pytest
from playwright.sync_api import Locator, Page, expect

from normgeo.pictures.style.player import SCRIPT
from normgeo.pictures.style.sheet.bands import EDGE
from normgeo.pictures.style.template import SMALL
from normgeo.ui.frame import PAGES
from tests.pairwise import first

from .conftest import query, tabs_of
from .test_tours import TOURS, assert_on_screen, stop_of

TRAINED = ("batch", "network")
LEAST = 21  # pixels of type
SCREENS = [(1280, 720), (1920, 1080)]

# The sizes of all words of a figure and of its slider as they are drawn, exponents and indices too.
SIZES = """plot => {
    const own = (one) => [...one.childNodes]
        .some((part) => part.nodeType === 3 && part.data.replace(/\\u200b/g, '').trim());
    const words = `text, tspan, .frames output, .frames .scale span, .frames button,
        .turn span, .turn button`;
    return [...plot.querySelectorAll(words)]
        .filter((one) => own(one) && one.getBoundingClientRect().width > 0)
        .map((one) => [one.currentCSSZoom * parseFloat(getComputedStyle(one).fontSize),
                       one.textContent]);
}"""

# The least type of what is read first on a slide: the question, and the setting of the slider.
FIRST = """page => Math.min(...[...page.querySelectorAll('.st-key-heading h1, .frames output')]
    .filter((one) => one.checkVisibility())
    .map((one) => one.currentCSSZoom * parseFloat(getComputedStyle(one).fontSize)))"""

# Words that leave their figure or the screen, stand on other words, on a mark, upright on a large
# marker, on an axis or in the panel beside theirs, or that a frame is drawn through. Boxes of lines
# are higher than letters, so that lines close together may overlap a little.
CROWDED = """plot => {
    const edge = plot.getBoundingClientRect();
    const words = [], found = [];
    for (const text of plot.querySelectorAll('text, .frames output, .frames .scale span')) {
        const lines = text.querySelectorAll('tspan.line');
        for (const one of lines.length ? lines : [text]) {
            const box = one.getBoundingClientRect();
            if (one.textContent.trim() && box.width > 0) {
                words.push({ box, text, said: one.textContent.slice(0, 60) });
            }
        }
    }
    const frames = [];
    for (const path of plot.querySelectorAll('.shapelayer path[data-index]')) {
        const { type, ysizemode, fillcolor } = plot._fullLayout.shapes[path.dataset.index];
        if (type === 'path' && ysizemode === 'pixel') {
            words.push({ box: path.getBoundingClientRect(), text: path, said: 'a mark' });
        } else if (type === 'rect' && fillcolor === 'rgba(0,0,0,0)') {
            frames.push(path.getBoundingClientRect());
        }
    }
    const markers = [...plot.querySelectorAll('.scatterlayer .point')]
        .map((one) => one.getBoundingClientRect()).filter((box) => box.width > 24);
    for (const { box, said } of words.filter(({ box }) => box.height > 2 * box.width)) {
        const [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
        const on = markers.some((one) =>
            Math.hypot(Math.max(0, Math.abs(one.left + one.width / 2 - x) - box.width / 2),
                       Math.max(0, Math.abs(one.top + one.height / 2 - y) - 0.35 * box.height))
            < 0.4 * one.width);
        if (on) {
            found.push(`${said} on a marker`);
        }
    }
    const panels = [...plot.querySelectorAll('.nsewdrag')]
        .map((one) => one.getBoundingClientRect());
    for (const label of plot.querySelectorAll('[class^=y][class$=tick] text')) {
        const { left, top, bottom } = label.getBoundingClientRect();
        const middle = (top + bottom) / 2;
        if (panels.some((one) => one.top < middle && middle < one.bottom
            && one.left < left && left < one.right)) {
            found.push(`${label.textContent} in the panel beside`);
        }
    }
    for (const { box, text, said } of words) {
        const on = panels.some((one) => box.left < one.right && one.left < box.right
            && Math.min(one.bottom - box.top, box.bottom - one.bottom) > 0.1 * box.height);
        if (on && text.matches('.annotation-text')) {
            found.push(`${said} on an axis`);
        }
    }
    for (const { left, right, top, bottom } of frames) {
        for (const { box, said } of words) {
            const through = [top, bottom].some((y) =>
                Math.min(y - box.top, box.bottom - y) > 0.1 * box.height);
            if (through && box.left < right && left < box.right) {
                found.push(`a frame through ${said}`);
            }
        }
    }
    for (const { box, said } of words) {
        const over = Math.max(-box.left, box.right - window.innerWidth,
                              edge.top - box.top, box.bottom - edge.bottom);
        if (over > 3) {
            found.push(`${said}: ${Math.round(over)} px outside`);
        }
    }
    words.forEach((one, place) => {
        for (const other of words.slice(place + 1)) {
            const [a, b] = [one.box, other.box];
            const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
            const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
            const deep = down > 0.35 * Math.min(a.height, b.height);
            if (one.text !== other.text && across > 2 && deep) {
                found.push(`${one.said} on ${other.said}`);
            }
        }
    });
    return found;
}"""

# A figure may still be fitted to the bar of a tour.
APART = f"""() => [...document.querySelectorAll('.js-plotly-plot')]
    .filter((plot) => plot.checkVisibility()).every((plot) => ({CROWDED})(plot).length === 0)"""

# Whether the words of the heading and the ways through the slides stand on each other.
ON_THE_HEADING = """() => {
    const range = document.createRange();
    range.selectNodeContents(document.querySelector('.st-key-heading h1'));
    const words = [...range.getClientRects()];
    const ways = document.querySelectorAll(
        ':is(.st-key-slides, .st-key-present_leave) :is(button, p)');
    return [...ways].filter((way) => {
        const box = way.getBoundingClientRect();
        return words.some((line) => line.left < box.right && box.left < line.right
            && line.top < box.bottom && box.top < line.bottom);
    }).map((way) => way.textContent);
}"""

# What the bar of a tour leaves of the screen.
ROOM = "innerHeight - document.querySelector('.st-key-tour').getBoundingClientRect().height"

# The middle of a letter in a figure that has a meaning.
SYMBOL = """() => {
    const plot = document.querySelector('.js-plotly-plot');
    const words = document.createTreeWalker(plot, NodeFilter.SHOW_TEXT);
    while (words.nextNode()) {
        const place = words.currentNode.data.search(/[μθ]/);
        if (place < 0) {
            continue;
        }
        const range = document.createRange();
        range.setStart(words.currentNode, place);
        range.setEnd(words.currentNode, place + 1);
        const { left, top, width, height } = range.getBoundingClientRect();
        if (width > 0) {
            return [left + width / 2, top + height / 2];
        }
    }
}"""


def opened(page: Page, address: str, wait_settled) -> Page:
    page.goto(address)
    wait_settled(page)
    expect(page.locator(".js-plotly-plot:visible").first).to_be_visible()
    return page


def figures(page: Page) -> list[Locator]:
    return page.locator(".js-plotly-plot:visible").all()


def assert_read_from_the_back_row(page: Page, wait_settled, scrolled: bool = False) -> None:
    """The figures of a slide, on both screens; `scrolled` where each may have one of its own.

    It begins with the screen that there is, for which the slide is drawn already.
    """
    here = page.viewport_size
    for width, height in sorted(SCREENS, key=lambda screen: screen[0] != here["width"]):
        page.set_viewport_size({"width": width, "height": height})
        page.locator("[data-testid=stMain]").evaluate("(main) => main.scrollTo(0, 0)")
        wait_settled(page)
        assert page.evaluate(ON_THE_HEADING) == []
        assert page.locator("body").evaluate(FIRST) >= height / 36
        for place, figure in enumerate(figures(page)):
            if place or scrolled:
                figure.scroll_into_view_if_needed()
                wait_settled(page)
            sizes = figure.evaluate(SIZES)
            assert len(sizes) > 5
            assert [one for one in sizes if one[0] < LEAST - 0.01] == []
            assert figure.evaluate(CROWDED) == []
            box = figure.bounding_box()
            assert box["y"] >= -1
            assert box["y"] + box["height"] <= height + 1


@pytest.mark.exhaustive
def test_a_measured_network_is_read_from_the_back_row(look_at, wait_settled):
    page = look_at("/your_network?subject=network&present=1")
    assert_read_from_the_back_row(page, wait_settled)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", PAGES)
def test_every_picture_is_read_from_the_back_row(look_at, wait_settled, name):
    """Slide after slide, as they are gone through in a room."""
    page = look_at(f"/{'' if name == 'home' else name}?present=1")
    assert_read_from_the_back_row(page, wait_settled)
    for tab in tabs_of(name):
        page.keyboard.press("PageDown")
        page.wait_for_function(f"location.search.includes('tab={tab}')")
        wait_settled(page)
        if (name, tab) != TRAINED:
            assert_read_from_the_back_row(page, wait_settled)
    page.set_viewport_size({"width": 390, "height": 844})
    wait_settled(page)
    assert page.evaluate(ON_THE_HEADING) == [], "on a phone"


@pytest.mark.exhaustive
def test_trained_network_is_read_from_the_back_row(server, page, wait_settled):
    """The smallest training that there is: it begins with a click."""
    page.goto(f"{server}/batch?tab=network&dataset=iris&epochs=1&present=1")
    wait_settled(page)
    page.get_by_role("button", name="Train the network").click()
    expect(page.locator(".js-plotly-plot:visible").first).to_be_visible()
    wait_settled(page)
    assert_read_from_the_back_row(page, wait_settled, scrolled=True)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", TOURS)
def test_every_stop_of_a_tour_is_read_from_the_back_row(server, page, wait_settled, name):
    """Stop after stop by keys, with the question and with what to notice."""
    stops = TOURS[name].stops
    page.goto(f"{server}/?tour={name}&present=1")
    wait_settled(page)
    bar = page.locator(".st-key-tour")
    for number, stop in enumerate(stops, 1):
        expect(bar).to_contain_text(f"{number} of {len(stops)}")
        wait_settled(page)
        assert stop_of(page) == str(number)
        for asked in (False, True):
            if asked:
                page.keyboard.press("Enter")
                expect(page.get_by_role("button", name="What to notice")).to_be_hidden()
            wait_settled(page)
            page.wait_for_function(APART)
            assert_on_screen(page, stop.key)
            for figure in figures(page):
                assert [one for one in figure.evaluate(SIZES) if one[0] < LEAST - 0.01] == []
                assert figure.bounding_box()["height"] <= page.evaluate(ROOM)
        page.keyboard.press("ArrowRight")


def test_slides_go_by_keys_and_escape_leaves(server, page, wait_settled):
    opened(page, f"{server}/learning_rate?method=layer&present=1", wait_settled)
    for gone in ("Settings", "Reset", "Share", "Options"):
        expect(page.get_by_role("button", name=gone, exact=True)).to_be_hidden()
    expect(page.get_by_test_id("stHeader")).to_be_hidden()
    expect(page.get_by_role("combobox")).to_have_count(0)
    page.keyboard.press("PageDown")
    expect(page.locator(".st-key-figure_descent")).to_be_visible()
    expect(page.locator(".st-key-figure_turn")).to_be_hidden()
    wait_settled(page)
    assert query(page) == {"method": ["layer"], "present": ["1"], "tab": ["descent"]}
    page.keyboard.press("PageUp")
    expect(page.locator(".st-key-figure_turn")).to_be_visible()
    wait_settled(page)
    page.locator("input[type=range]").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("location.search.includes('growth')")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Reset")).to_be_visible()
    wait_settled(page)
    assert "present" not in query(page)
    sizes = [size for size, _ in figures(page)[0].evaluate(SIZES)]
    assert min(sizes) < LEAST, "as before"


# The axes with lines or marks that are drawn, of a figure.
DRAWN = """plot => [...plot.querySelectorAll('.cartesianlayer > .subplot')]
    .filter(one => one.querySelector('.trace path')).map(one => one.classList[1])"""


def test_a_slide_leaves_out_what_a_hall_has_no_room_for(look_at, wait_settled):
    """Depth: the losses, of which the page tells; each depth that the slider goes to as well."""
    page = look_at("/depth")
    plot = page.locator(".st-key-figure_placement .js-plotly-plot")
    assert plot.evaluate(DRAWN) == ["xy", "x2y2"]
    expect(plot.get_by_text("training loss")).to_be_visible()
    look_at("/depth?present=1")
    for depth in (None, "16"):
        if depth:
            page.locator("input[type=range]").focus()
            page.keyboard.press("ArrowLeft")
            page.wait_for_function(f"location.search.includes('depth={depth}')")
            wait_settled(page)
        assert plot.evaluate(DRAWN) == ["xy"]
        expect(plot.get_by_text("training loss")).to_have_count(0)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["symmetry", "learning_rate"])
def test_notes_stay_on_the_page_so_that_a_slide_does_not_scroll(look_at, name):
    page = look_at(f"/{name}")
    note = page.get_by_text("are left out of the computation")
    expect(note).to_be_visible()
    look_at(f"/{name}?present=1")
    expect(note).to_be_hidden()
    assert page.get_by_test_id("stMain").evaluate("main => main.scrollHeight - innerHeight") <= 0


@pytest.mark.exhaustive
def test_arrows_go_through_slides_and_the_list_of_keys_says_so(server, page, wait_settled):
    """A remote control sends them; a slider that has the focus keeps them."""
    opened(page, f"{server}/batch?present=1", wait_settled)
    first_tab = tabs_of("batch")[0]
    page.keyboard.press("ArrowRight")
    page.wait_for_function(f"location.search.includes('tab={first_tab}')")
    wait_settled(page)
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("!location.search.includes('tab=')")
    wait_settled(page)
    page.locator("input[type=range]").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("location.search.includes('batch_size=4')")
    assert "tab" not in query(page)
    page.locator("input[type=range]").blur()
    page.keyboard.press("?")
    keys = page.get_by_role("dialog").get_by_text("→ and Page Down")
    expect(keys).to_be_visible()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Escape")
    expect(keys).to_be_hidden()
    wait_settled(page)
    assert query(page) == {"present": ["1"], "batch_size": ["4"]}, "an open list keeps the slide"


@pytest.mark.exhaustive
def test_presented_table_1_and_its_picture_have_one_screen(look_at):
    for screen in SCREENS:
        page = look_at("/invariance?present=1", screen)
        expect(page.locator(".st-key-table table")).to_be_in_viewport(ratio=1)
        expect(page.locator(".st-key-figure_effect .frames input")).to_be_in_viewport(ratio=1)


@pytest.mark.exhaustive
def test_present_begins_in_the_menu_and_goes_along(server, page, wait_settled):
    opened(page, f"{server}/recurrent", wait_settled)
    page.get_by_role("button", name="Teach").click()
    page.get_by_role("button", name="Present").click()
    expect(page.get_by_role("button", name="Reset")).to_be_hidden()
    page.wait_for_function("location.search.includes('present=1')")


@pytest.mark.exhaustive
def test_address_that_embeds_with_a_number_does_so_too(server, page):
    page.goto(f"{server}/recurrent?embed=1")
    page.wait_for_url("**/recurrent?embed=true")
    expect(page.locator(".js-plotly-plot:visible")).to_have_count(1)
    expect(page.get_by_role("button", name="Reset")).to_be_hidden()


@pytest.mark.parametrize(
    ("address", "moved"),
    first(
        [
            ("learning_rate?method=layer&", "growth=2.828"),
            ("batch?", "batch_size=4"),
            ("invariance?", "delta=4"),
        ]
    ),
)
def test_embedded_page_is_one_figure_whose_slider_works(
    server, page, wait_settled, axe, address, moved
):
    opened(page, f"{server}/{address}embed=true", wait_settled)
    expect(page.locator(".js-plotly-plot:visible")).to_have_count(1)
    expect(page.get_by_role("heading", level=1)).to_be_hidden()
    expect(page.get_by_role("button", name="Reset")).to_be_hidden()
    meaning = page.get_by_role("tooltip")
    x, y = page.evaluate(SYMBOL)
    page.mouse.move(x, y)
    expect(meaning).to_be_in_viewport(ratio=1)
    page.keyboard.press("Escape")
    expect(meaning).to_be_hidden()
    page.keyboard.press("?")
    expect(page.locator("dialog dl").first).to_be_visible()
    assert axe(page) == []
    page.keyboard.press("Escape")
    expect(page.locator("dialog dl").first).to_be_hidden()
    slider = page.locator("input[type=range]")
    before = slider.get_attribute("aria-valuetext")
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(slider).not_to_have_attribute("aria-valuetext", before)
    whole = page.get_by_role("link", name="The whole page")
    expect(whole).to_have_attribute("href", f"{server}/{address}{moved}")  # it follows the slider
    assert axe(page) == []


ALONE = (
    "invariance?cell=batch.case_rescaling&",
    "invariance?",
    "learning_rate?growth=16&",
    "batch?",
    "depth?",
    "experiments?",
    "fisher?",
    "recurrent?",
    "symmetry?",
)

# The pixels between the words of a figure and the slider at its foot.
ABOVE_THE_SLIDER = """plot => {
    const slider = plot.querySelector('.frames button')?.getBoundingClientRect().top;
    const boxes = [...plot.querySelectorAll("svg text")].map(one => one.getBoundingClientRect());
    const words = boxes.filter(box => box.width > 0);
    return slider && slider - Math.max(...words.map(box => box.bottom));
}"""


@pytest.mark.exhaustive
@pytest.mark.parametrize("address", first(ALONE))
def test_embedded_figure_is_read_as_on_its_page(server, open_page, wait_settled, address):
    """At the size of the line that embeds it; an exponent has eight tenths of the least type."""
    page = opened(open_page(1000, 620), f"{server}/{address}embed=true", wait_settled)
    (figure,) = figures(page)
    assert min(figure.evaluate(SIZES))[0] > 0.8 * SMALL - 0.01
    assert figure.evaluate(CROWDED) == []
    free = figure.evaluate(ABOVE_THE_SLIDER)
    assert free is None or free >= EDGE


@pytest.mark.exhaustive
def test_link_to_the_whole_page_keeps_what_is_a_default_elsewhere(server, page, wait_settled):
    """Fisher shows layer norm where the address names no method."""
    opened(page, f"{server}/fisher?method=batch&embed=true", wait_settled)
    whole = page.get_by_role("link", name="The whole page").get_attribute("href")
    assert whole == f"{server}/fisher?method=batch"


RAISED = """() => [...document.querySelectorAll('svg tspan[style*="70%"]')].map((one) =>
    [one, one.parentNode].map((each) => parseFloat(getComputedStyle(each).fontSize)))"""


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("width", "height", "how"), [(1000, 620, "embed=true"), (390, 844, "present=1")]
)
def test_an_exponent_is_smaller_than_what_it_stands_at(
    server, open_page, wait_settled, width, height, how
):
    page = opened(open_page(width, height), f"{server}/fisher?tab=eq13&{how}", wait_settled)
    sizes = page.evaluate(RAISED)
    assert sizes
    assert [one for one in sizes if one[0] >= one[1]] == []


@pytest.mark.exhaustive
def test_embedded_tab_is_alone(server, page, wait_settled):
    opened(page, f"{server}/learning_rate?tab=descent&embed=true", wait_settled)
    expect(page.locator(".js-plotly-plot:visible")).to_have_count(1)
    expect(page.locator(".st-key-figure_descent")).to_be_visible()
    opened(page, f"{server}/learning_rate?tab=equation&embed=true", wait_settled)
    expect(page.locator(".st-key-figure_turn .js-plotly-plot")).to_be_visible()
    expect(page.locator(".katex:visible")).to_have_count(0)


def test_player_reads_each_kind_of_numbers_that_plotly_writes(page):
    page.set_content("<p>points</p>")
    page.add_script_tag(content=SCRIPT)
    for kind in ("i1", "u1", "i2", "u2", "i4", "u4", "f4", "f8"):
        values = np.array([0, 1, 100], dtype=kind)
        written = go.Figure(go.Scatter(x=values)).to_dict()["data"][0]["x"]
        assert written["dtype"] == kind
        assert page.evaluate("numbers", written) == [0, 1, 100], kind
