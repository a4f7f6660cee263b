"""Each page in Chromium: from a key press to the last change on the screen, and the bytes sent.

The server has had a visitor and has finished computing ahead. A page is timed from a new state, for
which its pictures are computed; from a state computed ahead; and from one that this visitor has
seen. The floor is a page with only a slider, a text and the same number of charts, of three traces
each; it and the page change in turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import monotonic

from playwright.sync_api import Browser, Page, TimeoutError, WebSocket, sync_playwright

from benchmarks.session import opened_and_at_rest
from benchmarks.timing import Row
from normgeo.pictures.style.browser import find_browser
from normgeo.pictures.style.sandbox import in_sandbox
from tools.server import serving
from tools.settled import settled

TITLE = "Key press to painted, in Chromium at 1280 × 720"
APP = Path(__file__).parents[1] / "app.py"
FLOOR = """
import streamlit as st, plotly.graph_objects as go
st.title("Floor")
value = st.slider("value", 0, 100, 50, key="value")
st.text(value)
for i in range(int(st.query_params.get("charts", 0))):
    figure = go.Figure([go.Scatter(y=[k, value, i], name=str(k)) for k in range(3)])
    st.plotly_chart(figure, key=f"chart_{i}")
"""
CHART = ".js-plotly-plot"
# Two new options, then back and forth among the same.
KEYS = ("ArrowDown", "ArrowDown", "ArrowUp", "ArrowUp", "ArrowDown", "ArrowDown")
SEED = 101  # of new states
LONGEST = 120_000  # milliseconds for a page to settle

# Stores in `window.painted` the milliseconds from the next key press to the last change of a page,
# once the server has answered and nothing has changed for half a second. The content of a canvas
# element is a table's text for screen readers, which follows the drawing by 0.2 s.
WATCH = """() => {
    window.painted = null;
    window.answered = false;
    let pressed = null, last = null;
    document.addEventListener('keydown', () => { pressed = performance.now(); },
                              {capture: true, once: true});
    const painted = record => !record.target.parentElement?.closest('canvas')
        && record.target.nodeName !== 'CANVAS';
    const observer = new MutationObserver(records => {
        if (pressed && records.some(painted)) last = performance.now();
    });
    observer.observe(document.body,
                     {subtree: true, childList: true, attributes: true, characterData: true});
    const app = document.querySelector('[data-testid=stApp]');
    const look = () => {
        const calm = window.answered && last !== null && performance.now() - last > 500
            && app.dataset.testScriptState === 'notRunning'
            && document.querySelector('[data-testid=stSkeleton], [data-stale=true]') === null;
        if (!calm) return setTimeout(look, 50);
        observer.disconnect();
        window.painted = last - pressed;
    };
    look();
}"""


@dataclass
class Traffic:
    """Bytes that the server sent since the last check."""

    received: int = 0

    def watch(self, socket: WebSocket) -> None:
        socket.on("framereceived", self.add)

    def add(self, payload: bytes | str) -> None:
        self.received += len(payload)

    def take(self) -> int:
        received, self.received = self.received, 0
        return received


def press(page: Page, traffic: Traffic, key: str) -> tuple[float, int]:
    """Press a key that makes a change.

    Returns: the seconds until the last change on the page, and the bytes that the server sent.

    Raises:
        RuntimeError: the server does not answer, or the page does not settle.

    """
    traffic.take()
    page.evaluate(WATCH)
    page.keyboard.press(key)
    last = monotonic() + LONGEST / 1e3
    while not traffic.received:
        if monotonic() > last:
            raise RuntimeError(f"The key press changed nothing at {page.url}.")
        page.wait_for_timeout(20)
    page.evaluate("window.answered = true")
    with resting(page):
        painted = page.wait_for_function("() => window.painted", polling=50).json_value()
    return float(painted) / 1e3, traffic.take()


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        path = find_browser() or ""
        browser = playwright.chromium.launch(
            executable_path=path, chromium_sandbox=in_sandbox(path)
        )
        yield browser
        browser.close()


@contextmanager
def opened(browser: Browser, url: str) -> Iterator[tuple[Page, Traffic]]:
    """Open a page as a new visitor, and wait until it has settled."""
    traffic, page = Traffic(), browser.new_page(viewport={"width": 1280, "height": 720})
    page.set_default_timeout(LONGEST)
    page.on("websocket", traffic.watch)
    page.goto(url)
    settle(page)
    yield page, traffic
    page.close()


def settle(page: Page) -> None:
    """Wait until a page has settled.

    Raises:
        RuntimeError: it does not settle.

    """
    with resting(page):
        settled(page)


@contextmanager
def resting(page: Page) -> Iterator[None]:
    try:
        yield
    except TimeoutError as error:
        seconds = LONGEST // 1000
        raise RuntimeError(f"The page {page.url} is not at rest after {seconds} s.") from error


def rows() -> Iterator[Row]:
    from normgeo.ui.frame import PAGES

    with TemporaryDirectory() as directory:
        script = Path(directory) / "floor.py"
        script.write_text(FLOOR, "utf-8")
        with (
            serving(script, Path(directory) / "floor.log") as floor_url,
            serving(APP, Path(directory) / "app.log") as url,
            chromium() as browser,
        ):
            opened_and_at_rest(url)
            for place, (name, title) in enumerate(PAGES.items()):
                path = name if place else ""
                yield from measured(browser, f"{url}/{path}", str(title), floor_url)


def aim(page: Page, key: str) -> None:
    """Move the focus to where Enter makes a change: another data set, option or tab.

    Raises:
        RuntimeError: the page has none of them.

    """
    boxes = page.get_by_role("combobox")
    if boxes.count():
        data = page.get_by_role("combobox", name="data")
        (data if data.count() else boxes).first.focus()
        page.keyboard.press("Enter")
        page.keyboard.press(key)  # opens the list, at the option next to the chosen one
        active = page.locator("[role=combobox][aria-activedescendant]")
        option = active.get_attribute("aria-activedescendant")
        if page.locator(f"[id='{option}'][aria-selected=true]").count():  # there is none next to it
            page.keyboard.press("Home" if key == "ArrowDown" else "End")
        return
    role, chosen = "radio", page.get_by_role("radio", checked=True)
    if not chosen.count():
        role, chosen = "tab", page.get_by_role("tab", selected=True)
    if not chosen.count():
        raise RuntimeError(f"The page {page.url} has nothing to choose: no list, option or tab.")
    beside = "following" if key == "ArrowDown" else "preceding"
    chosen.first.locator(f"xpath={beside}::*[@role='{role}'][1]").focus()


def beside_floor(
    browser: Browser, url: str, floor_url: str, keys: Sequence[str]
) -> tuple[int, list[tuple[float, float]], list[int], int]:
    """Change the data set, or the first control, by keyboard, in turn with the floor's slider.

    Returns: the number of charts of the page; the seconds of each change and of the floor's change;
    the bytes of each change; the bytes before.
    """
    times, payloads = [], []
    with opened(browser, url) as (page, traffic):
        sent, charts = traffic.take(), page.locator(CHART).count()
        with opened(browser, f"{floor_url}/?charts={charts}") as (floor, answers):
            floor.get_by_role("slider").focus()
            press(floor, answers, "ArrowRight")  # the first one does not count
            for key in keys:
                page.bring_to_front()
                aim(page, key)
                settle(page)
                seconds, received = press(page, traffic, "Enter")
                payloads.append(received)
                settle(page)
                floor.bring_to_front()
                times.append((seconds, press(floor, answers, "ArrowRight")[0]))
    return charts, times, payloads, sent


def measured(browser: Browser, url: str, title: str, floor_url: str) -> Iterator[Row]:
    """Time a page in its three states."""
    _, unseen, _, _ = beside_floor(browser, f"{url}?seed={SEED}", floor_url, KEYS[:2])
    charts, times, payloads, sent = beside_floor(browser, url, floor_url, KEYS)
    what = f"slider, text, {charts} chart{'s' * (charts != 1)}" if charts else "slider and text"
    for state, some in (
        ("first time", unseen),
        ("first time, computed ahead", times[:2]),
        ("again", times[2:]),
    ):
        seconds, floors = zip(*some, strict=True)
        yield Row(
            f"{title}, {state}, {median(payloads) / 1e3:.0f} kB (page: {sent / 1e3:.0f} kB)",
            median(seconds),
            what,
            median(floors),
            f"{median(page / floor for page, floor in some):.1f} ×",
        )
