"""Each page in Chromium: from a key press to the last change on the screen, and what is sent.

The server has had a visitor and has computed ahead what it computes for all. A page is timed from a
state that nobody has asked for, so its pictures are computed; from one that was computed ahead; and
from one that this visitor has seen. The floor of a page is one with nothing but a slider, a text
and as many charts of three traces as the page has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from playwright.sync_api import Page, WebSocket, sync_playwright

from benchmarks.session import opened_and_at_rest
from benchmarks.timing import Row
from normgeo.pictures.style.browser import find_browser
from normgeo.pictures.style.sandbox import in_sandbox
from tools.server import serving

TITLE = "Key press to painted, in Chromium at 1280 × 720"
APP = Path(__file__).parents[1] / "app.py"
FLOOR = """
import streamlit as st, plotly.graph_objects as go
value = st.slider("value", 0, 100, 50, key="value")
st.text(value)
for i in range(int(st.query_params.get("charts", 0))):
    figure = go.Figure([go.Scatter(y=[k, value, i], name=str(k)) for k in range(3)])
    st.plotly_chart(figure, key=f"chart_{i}")
"""
CHART = ".js-plotly-plot"
# Two options that were not shown before, then back and forth among the same.
KEYS = ("ArrowDown", "ArrowDown", "ArrowUp", "ArrowUp", "ArrowDown", "ArrowDown")
REPETITIONS = 7
SEED = 101  # of states that nobody has asked for

# Resolves with the milliseconds from the next key press to the last change of the page, once
# nothing has changed for half a second and no script runs. What stands inside a canvas is a table's
# text for screen readers, which follows what is painted by 0.2 s.
WATCH = """() => { window.painted = new Promise(resolve => {
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
        const calm = last !== null && performance.now() - last > 500
            && app.dataset.testScriptState === 'notRunning';
        if (!calm) return requestAnimationFrame(look);
        observer.disconnect();
        resolve(last - pressed);
    };
    look();
}); }"""


@dataclass
class Traffic:
    """Bytes that the server sent since the last look."""

    received: int = 0

    def watch(self, socket: WebSocket) -> None:
        socket.on("framereceived", self.add)

    def add(self, payload: bytes | str) -> None:
        self.received += len(payload)

    def take(self) -> int:
        received, self.received = self.received, 0
        return received


def press(page: Page, key: str) -> float:
    """Press a key and return the seconds until the last change on the page."""
    page.evaluate(WATCH)
    page.keyboard.press(key)
    return float(page.evaluate("window.painted")) / 1e3


@contextmanager
def opened(url: str) -> Iterator[tuple[Page, Traffic]]:
    traffic = Traffic()
    with sync_playwright() as playwright:
        path = find_browser() or ""
        browser = playwright.chromium.launch(
            executable_path=path, chromium_sandbox=in_sandbox(path)
        )
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        page.on("websocket", traffic.watch)
        page.goto(url)
        settle(page)
        yield page, traffic
        browser.close()


def settle(page: Page) -> None:
    page.wait_for_selector("[data-test-script-state=notRunning]")
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(1500)


def rows() -> Iterator[Row]:
    from normgeo.ui.frame import PAGES

    with TemporaryDirectory() as directory:
        script = Path(directory) / "floor.py"
        script.write_text(FLOOR, "utf-8")
        with (
            serving(script, Path(directory) / "floor.log") as floor_url,
            serving(APP, Path(directory) / "app.log") as url,
        ):
            opened_and_at_rest(url)
            floors: dict[int, float] = {}
            for place, (name, title) in enumerate(PAGES.items()):
                path = name if place else ""
                yield from measured(f"{url}/{path}", str(title), floor_url, floors)


def floor_of(url: str, charts: int) -> float:
    with opened(f"{url}/?charts={charts}") as (page, _):
        page.get_by_role("slider").focus()
        return median([press(page, "ArrowRight") for _ in range(REPETITIONS + 1)][1:])


def aim(page: Page, key: str) -> None:
    """Bring the keyboard to where Enter makes a change: another data set, or another option."""
    boxes, options = page.get_by_role("combobox"), page.get_by_role("radio")
    if boxes.count():
        data = page.get_by_role("combobox", name="data")
        (data if data.count() else boxes).first.focus()
        page.keyboard.press("Enter")
        page.keyboard.press(key)
        return
    checked = [option.get_attribute("aria-checked") for option in options.all()].index("true")
    options.nth(checked + (1 if key == "ArrowDown" else -1)).focus()


def pressed(url: str, keys: Sequence[str]) -> tuple[int, list[float], list[int], int]:
    """Change the data set, or the first control, by keyboard.

    Returns: the charts of the page; the seconds and the bytes of each change; the bytes before.
    """
    with opened(url) as (page, traffic):
        sent, charts = traffic.take(), page.locator(CHART).count()
        times, payloads = [], []
        for key in keys:
            aim(page, key)
            page.wait_for_timeout(300)
            traffic.take()
            times.append(press(page, "Enter"))
            payloads.append(traffic.take())
            if not payloads[-1]:
                raise RuntimeError(f"The key press changed nothing at {url}.")
    return charts, times, payloads, sent


def measured(url: str, title: str, floor_url: str, floors: dict[int, float]) -> Iterator[Row]:
    """Time a page in its three states.

    `floors` keeps the times of the floors, by their number of charts.
    """
    _, unseen, _, _ = pressed(f"{url}?seed={SEED}", KEYS[:2])
    charts, times, payloads, sent = pressed(url, KEYS)
    if charts not in floors:
        floors[charts] = floor_of(floor_url, charts)
    floor = floors[charts]
    what = f"slider, text, {charts} chart{'s' * (charts != 1)}" if charts else "slider and text"
    for state, some in (
        ("first time", unseen),
        ("first time, computed ahead", times[:2]),
        ("again", times[2:]),
    ):
        seconds = median(some)
        yield Row(
            f"{title}, {state}, {median(payloads) / 1e3:.0f} kB (page: {sent / 1e3:.0f} kB)",
            seconds,
            what,
            floor,
            f"{seconds / floor:.1f} ×",
        )
