"""What every page keeps: deep links, the state in the URL, accessibility, nothing cut off."""

import re
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from normgeo.settings import SETTINGS
from normgeo.story.story import story
from normgeo.ui.frame import PAGES
from tests.pairwise import first

from .conftest import COLORS, PAPERS, PHONE, address, papers, query, shared, switch, tabs_of

ROOT = Path(__file__).parents[2]
FILES = {str(title): ROOT / "pages" / f"{name}.py" for name, title in PAGES.items()}
PATHS = {title: "/" if title == "Home" else f"/{file.stem}" for title, file in FILES.items()}
ASKED = re.compile(r'"([^"]+\?)"')
QUESTIONS = {
    title: found[0]
    for title, file in FILES.items()
    if (found := ASKED.findall(file.read_text("utf-8")))
} | {"Your network": "Which neurons still turn?", "Home": story("en").title}
DATA_IN_HEADING = {"Invariance", "Fisher", "Batch"}
# Those of Home are the slides of a presentation.
TABS = {PATHS[str(title)]: tabs_of(name) * (name != "home") for name, title in PAGES.items()}
AUDIT = "The paper, checked"  # another test opens it; the whole audit takes minutes


@pytest.mark.exhaustive
@pytest.mark.parametrize("title", ["Your network"])  # others: test_installed, test_predict
def test_first_request_to_a_new_server_may_be_a_deep_link(fresh_server, page, wait_settled, title):
    page.goto(f"{fresh_server}{PATHS[title]}?dataset=wine")
    # A new server imports its libraries first, and may calm down before it starts over.
    expect(page.get_by_role("heading", level=1)).to_have_text(QUESTIONS[title])
    wait_settled(page)
    boxes = page.get_by_role("combobox", name="data", exact=True)
    expect(boxes).to_have_count(int(title in DATA_IN_HEADING))
    for box in boxes.all():
        expect(box).to_have_value("Wine")
    for other in PATHS:
        expect(page.get_by_role("link", name=other, exact=True)).to_be_visible()
    assert query(page) == {"dataset": ["wine"]}


HOSTILE = {
    "dataset": "[Session expired, log in](http://evil.example/)",
    "method": "![](http://evil.example/pixel.png) www.evil.example",
    "family": "<img src=//evil.example><a href=//evil.example>x</a>",
    "seed": ":red[Danger] :smile: $x^2 http://evil.example$",
    "` [log in](http://evil.example/) `": "http://evil.example/",
}


def test_what_an_address_says_is_text_and_asks_no_other_host(server, page, wait_settled):
    """`page` fails by itself where another host is asked."""
    page.goto(f"{server}/?{urlencode(HOSTILE)}")
    wait_settled(page)
    warnings = page.get_by_test_id("stAlert")
    expect(warnings).to_have_count(len(HOSTILE))
    said = warnings.locator("code").all_inner_texts()
    assert [words for words in said if words not in SETTINGS] == [
        *(repr(value) for name, value in HOSTILE.items() if name in SETTINGS),
        *(repr(name) for name in HOSTILE if name not in SETTINGS),
    ]
    assert warnings.locator("a, img, .katex, [style*='color']").count() == 0
    assert page.locator("a[href*=evil], img[src*=evil]").count() == 0


def test_settings_go_along_and_come_back(server, page, wait_settled):
    page.goto(f"{server}/invariance?dataset=iris&cell=batch.case_rescaling")
    wait_settled(page)
    page.get_by_role("button", name="Teach").click()  # a link beside an open menu leads on
    wait_settled(page)
    page.get_by_role("link", name="Batch", exact=True).click()
    wait_settled(page)
    expect(page.get_by_role("heading", level=1)).to_have_text(QUESTIONS["Batch"])
    assert query(page)["dataset"] == ["iris"]
    page.get_by_role("button", name="Reset", exact=True).click()
    wait_settled(page)
    assert query(page) == {}
    page.get_by_role("link", name="Invariance", exact=True).click()
    wait_settled(page)
    assert query(page) == {}


@pytest.mark.exhaustive
def test_link_and_line_that_embeds_are_copied(server, open_page, wait_settled):
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    page.goto(f"{server}/invariance?dataset=iris")
    wait_settled(page)
    for name, copied in (
        ("Copy link", address(page)),
        (
            "Copy the line that embeds the figure",
            f'<iframe src="{address(page)}&amp;embed=true" width="1000" height="620"></iframe>',
        ),
    ):
        shared(page).get_by_role("button", name=name).click()
        expect(page.get_by_role("status").filter(has_text="Copied")).to_be_attached()
        assert page.evaluate("navigator.clipboard.readText()") == copied


MOVED = "(tab) => tab.getBoundingClientRect().y < 120"
"""Whether the page has moved to what a tab holds; what comes late moves it again."""


def opened_tabs(page: Page, wait_settled: Callable[[Page], None], path: str) -> Iterator[str]:
    """The names of the tabs of a page, each of them open."""
    tabs = page.get_by_role("tab")
    expect(tabs).to_have_count(len(TABS.get(path, ())))
    for tab in tabs.all():
        tab.click()
        wait_settled(page)
        expect(tab).to_have_attribute("aria-selected", "true")
        page.wait_for_function(MOVED, arg=tab.element_handle())
        yield str(tab.text_content())


NEXT_TO_PICTURE = [path for path in TABS if TABS[path] and path != "/experiments"]


@pytest.mark.exhaustive
@pytest.mark.parametrize("path", NEXT_TO_PICTURE)
def test_row_of_tabs_is_on_the_screen_next_to_the_main_picture(look_at, wait_settled, path):
    page = look_at(path)
    for width, height in ((1280, 720), (1920, 1080)):
        page.set_viewport_size({"width": width, "height": height})
        wait_settled(page)
        row = page.get_by_role("tablist").bounding_box()
        assert row["y"] + row["height"] <= height
        view = page.locator("[class*=st-key-view_]").first
        figure = view.locator(".figure").bounding_box()
        assert 0 < row["y"] - (figure["y"] + figure["height"]) <= 24
        button = view.get_by_role("button", name="Pin")
        button.click(trial=True)  # nothing covers it
        pin = button.bounding_box()
        assert row["y"] <= pin["y"] < pin["y"] + pin["height"] <= row["y"] + row["height"]
        last = page.get_by_role("tab").last.bounding_box()
        assert last["x"] + last["width"] < pin["x"]
    page.get_by_test_id("stMain").evaluate("main => { main.scrollTop = main.scrollHeight; }")
    assert page.get_by_role("tablist").bounding_box()["y"] > 0, "it stays while one reads on"


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=title, marks=pytest.mark.exhaustive if title == AUDIT else ())
        for title, path in PATHS.items()
    ],
)
def test_slider_goes_to_both_ends_and_each_tab_opens(server, page, wait_settled, axe, path):
    """With a setting that no picture uses, so that the server computes each only once."""
    page.goto(f"{server}{path}?rows=named")
    wait_settled(page)
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="To the picture")).to_be_focused()
    page.keyboard.press("Enter")
    slider = page.locator(".frames input")
    if slider.count():
        expect(slider.first).to_be_focused()  # after one press of Tab
        told = []
        for key in ("Home", "End"):
            page.keyboard.press(key)
            wait_settled(page)
            told.append(page.locator(".frames output").first.text_content())
        assert told[0] != told[1]
    assert axe(page) == []
    for tab in opened_tabs(page, wait_settled, path):
        assert axe(page, "[role=tabpanel]", COLORS) == [], tab
        assert papers(page) <= PAPERS["light"], tab


@pytest.mark.exhaustive
def test_a_measured_network_has_no_accessibility_violation(look_at, wait_settled, axe):
    page = look_at("/your_network?subject=network")
    assert axe(page) == []
    for tab in page.get_by_role("tab").all():
        tab.click()
        wait_settled(page)
        assert axe(page, "[role=tabpanel]") == [], tab.inner_text()


ILL_SET = """() => [...document.querySelectorAll('.js-plotly-plot')].flatMap((plot) => {
  const paper = plot.querySelector('.main-svg').getBoundingClientRect();
  return [...plot.querySelectorAll('svg text')].filter((text) => {
    const box = text.getBoundingClientRect();
    const seen = text.textContent.trim() && box.width
      && text.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
    return seen && (box.left < paper.left - 1 || box.right > paper.right + 1
      || box.top < paper.top - 1 || box.bottom > paper.bottom + 1
      || parseFloat(getComputedStyle(text).fontSize) < 14);
  }).map((text) => text.textContent);
})"""
"""The words of figures that are cut off or too small to read."""

EMPTY = """() => {
  const main = document.querySelector('[data-testid=stMain]');
  const content = main.querySelector('[data-testid=stMainBlockContainer]');
  return main.scrollHeight - Math.max(content.getBoundingClientRect().height, main.clientHeight);
}"""
"""The pixels of a page below its content."""


@pytest.mark.parametrize("path", first(["/learning_rate", *PATHS.values()]))
def test_phone_cuts_nothing_and_has_no_accessibility_violation(
    server, phone, wait_settled, axe, path
):
    """Its tabs in the dark, as a wide screen opens them in the light."""
    phone.goto(server + path)
    wait_settled(phone)
    assert axe(phone) == []
    switch(phone, "dark")
    assert axe(phone, only=COLORS) == []
    for tab in chain(["the page"], opened_tabs(phone, wait_settled, path)):
        widths = phone.evaluate(
            """() => [document.documentElement, document.querySelector('[data-testid=stMain]')]
                .map(element => [element.scrollWidth, element.clientWidth])"""
        )
        for content, window in widths:
            assert content <= window == 390, tab
        assert phone.evaluate(EMPTY) <= 1, tab
        assert phone.evaluate(ILL_SET) == [], tab
        assert papers(phone) <= PAPERS["dark"], tab
        if tab != "the page":
            assert axe(phone, "[role=tabpanel]") == [], tab


IN_SIGHT = {
    "/": ("batch norm notices", "layer norm does not"),
    "/invariance": ("only layer norm", "case 0: x × 3", "not invariant"),
    "/fisher": ("an ellipse", "a wedge,"),
    "/symmetry": ("the outputs stand still", "the outputs move"),
    "/recurrent": ("Without a norm the state explodes", "size of the state"),
    "/learning_rate": ("gradient ‖G‖", "turn, tan θ"),
}
"""What a page answers, in words of its main picture."""
OPENS_AT = {"recurrent": "1.4", "symmetry": "1", "batch": "2"}
"""The frame that opens, by its label."""
PANELS = {"/": (0, 1, 2), "/recurrent": (0, 1), "/invariance": (1, 2), "/symmetry": (0, 1)}
"""The panels of it that answer."""


@pytest.mark.exhaustive
@pytest.mark.parametrize("path", IN_SIGHT)
def test_answer_is_in_sight_over_the_slider_of_a_phone(look_at, path):
    phone = look_at(path, PHONE)
    slider = phone.locator(".frames").first.bounding_box()
    for words in IN_SIGHT[path]:
        box = phone.locator(".figure").first.get_by_text(words).first.bounding_box()
        assert box["y"] + box["height"] <= slider["y"] < 844, words
    for place in PANELS.get(path, ()):
        box = phone.locator(".figure").first.locator(".nsewdrag").nth(place).bounding_box()
        assert box["y"] + box["height"] <= slider["y"], place


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", OPENS_AT)
def test_scale_of_a_slider_has_its_ends_and_where_it_opens(look_at, wait_settled, name):
    page = look_at(f"/{name}?present=1")
    for width, height in [(1920, 1080), (390, 844)]:
        page.set_viewport_size({"width": width, "height": height})
        wait_settled(page)
        slider = page.locator(".frames").first
        labels = slider.locator(".scale span").all_text_contents()
        assert OPENS_AT[name] in labels
        for key, end in (("Home", 0), ("End", -1)):
            slider.get_by_role("slider").press(key)
            expect(slider.locator("output")).to_have_text(re.compile(f" {re.escape(labels[end])}$"))
            wait_settled(page)


def test_phone_has_pages_in_a_menu_and_controls_in_a_row_that_opens(server, phone, wait_settled):
    phone.goto(f"{server}/learning_rate")
    wait_settled(phone)
    assert phone.locator(".st-key-figure_turn").bounding_box()["y"] < 844 / 3
    reset, options = (phone.get_by_role("button", name=name) for name in ("Reset", "Options"))
    expect(reset).to_be_hidden()
    options.click()
    expect(reset).to_be_visible()
    expect(options).to_have_attribute("aria-expanded", "true")
    phone.get_by_role("button", name="Pages").click()
    phone.get_by_test_id("stPopoverBody").get_by_role("link", name="Depth").click()
    phone.wait_for_url("**/depth*")
    wait_settled(phone)
    expect(phone.get_by_test_id("stPopoverBody")).to_have_count(0)
    expect(reset).to_be_hidden()


def test_settings_open_over_the_page_and_take_an_epsilon_that_is_typed(server, page, wait_settled):
    page.goto(f"{server}/learning_rate?dataset=wine&tab=fisher")
    wait_settled(page)
    figure, settings = page.locator(".st-key-view_turn"), page.locator(".st-key-strip")
    before = figure.bounding_box()
    page.get_by_role("button", name="Settings").click()
    wait_settled(page)
    expect(settings).to_be_visible()
    assert figure.bounding_box() == before, "it does not move"
    for typed, expected in (("0.25", "eps=0.25"), ("abc", "eps=0.25")):
        page.locator(".st-key-eps input").click()
        page.keyboard.type(typed)
        page.keyboard.press("Enter")
        page.wait_for_url(f"**{expected}*")
        wait_settled(page)
    expect(page.get_by_text("must be a number from 0 to 1; 'abc' is not.")).to_be_visible()
    expect(page.locator(".st-key-options .stMarkdownBadge")).to_have_text("2")
    page.keyboard.press("Escape")
    expect(settings).to_be_hidden()


SMALL_OR_CUT = """() => [...document.querySelectorAll(
  'header a, h1, [role=tab] p, [data-testid=stSelectbox] input')]
  .filter((e) => e.checkVisibility())
  .map((e) => [e.value || e.textContent, parseFloat(getComputedStyle(e).fontSize),
               e.scrollWidth - e.clientWidth])
  .filter(([, size, cut]) => size < 16 || cut > 1)"""


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=title, marks=() if title == "Fisher" else pytest.mark.exhaustive)
        for title, path in PATHS.items()
        if title != AUDIT
    ],
)
def test_words_beside_a_figure_are_large_and_whole_on_a_large_screen(look_at, wait_settled, path):
    page = look_at(f"{path}?dataset=iris", (1920, 1080))
    settings = page.get_by_role("button", name="Settings")
    if settings.count():
        settings.click()
        wait_settled(page)
    assert page.evaluate(SMALL_OR_CUT) == []
    page.keyboard.press("Escape")
    assert page.get_by_role("tab").or_(page.get_by_role("heading", level=1)).count() > 0


COUNT = """() => {
  window.live = {};
  const named = (name) => (live[name] ??= new Set());
  const { addEventListener: add, removeEventListener: remove } = EventTarget.prototype;
  for (const where of [Document.prototype, window]) {
    where.addEventListener = function (name, answer, ...rest) {
      named(name).add(answer);
      add.call(this, name, answer, ...rest);
    };
    where.removeEventListener = function (name, answer, ...rest) {
      named(name).delete(answer);
      remove.call(this, name, answer, ...rest);
    };
  }
  const page = () => document.querySelector("[data-testid=stMainBlockContainer]");
  for (const kind of ["MutationObserver", "ResizeObserver"]) {
    const { observe, disconnect } = window[kind].prototype;
    window[kind].prototype.observe = function (where, ...rest) {
      const all = where === document.body || where === page()?.firstElementChild;
      if (all || where.matches?.(".figure")) {
        named(kind).add(this);
      }
      observe.call(this, where, ...rest);
    };
    window[kind].prototype.disconnect = function () {
      named(kind).delete(this);
      disconnect.call(this);
    };
  }
}"""
LISTENING = """() => ["resize", "click", "pointerdown", "pointermove", "keydown",
  "MutationObserver", "ResizeObserver"].map((name) => [name, live[name]?.size ?? 0])"""


@pytest.mark.exhaustive
@pytest.mark.parametrize("present", ["", "&present=1"])
def test_page_that_is_drawn_again_listens_no_more_than_before(
    server, own_page, wait_settled, present
):
    """Drawn again by Reset, and by light and dark; in a room by light and dark."""
    page = own_page
    page.add_init_script(f"({COUNT})()")
    page.goto(f"{server}/invariance?tab=where_z_lives{present}")
    wait_settled(page)
    expect(page.locator(".turn").first).to_be_visible()
    counts = []
    for _ in range(3):
        for scheme in ("dark", "light"):
            switch(page, scheme)
        if not present:
            page.get_by_role("button", name="Reset", exact=True).click()
            wait_settled(page)
        counts.append(page.evaluate(LISTENING))
    assert counts[0] == counts[1] == counts[2]
    assert dict(counts[0])["ResizeObserver"] >= 1, "for a figure"
    assert page.locator(".turn").count() == page.locator(".turns").count()
