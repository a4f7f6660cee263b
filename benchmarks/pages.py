"""Each page in Chromium: from a key press to the last change on the screen, and what is sent.

The floor is a page with nothing but a slider and a text. A page is timed from a state it shows
for the first time, so its pictures are computed, and from one it has shown before.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from playwright.sync_api import Page, WebSocket, sync_playwright

from benchmarks.timing import Row
from normgeo.figures.browser import find_browser
from tools.server import serving

TITLE = "Key press to painted, in Chromium at 1280 × 720"
APP = Path(__file__).parents[1] / "app.py"
FLOOR = 'import streamlit as st\nst.text(st.slider("value", 0, 100, 50, key="value"))\n'
REPETITIONS = 7

# Resolves with the milliseconds from the next key press to the last change of the page, once
# nothing has changed for half a second and no script runs.
WATCH = """() => { window.painted = new Promise(resolve => {
    let pressed = null, last = null;
    document.addEventListener('keydown', () => { pressed = performance.now(); },
                              {capture: true, once: true});
    const observer = new MutationObserver(() => { if (pressed) last = performance.now(); });
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
        browser = playwright.chromium.launch(executable_path=find_browser())
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
        with serving(script, Path(directory) / "floor.log") as url, opened(url) as (page, _):
            page.get_by_role("slider").focus()
            floor = median([press(page, "ArrowRight") for _ in range(REPETITIONS + 1)][1:])
        with serving(APP, Path(directory) / "app.log") as url:
            for entry in PAGES:
                path = (
                    ""
                    if entry.get("default")
                    else entry.get("url_path", Path(str(entry["page"])).stem)
                )
                yield from measured(f"{url}/{path}", str(entry["title"]), floor)


def measured(url: str, title: str, floor: float) -> Iterator[Row]:
    """Change the data set by keyboard: three for the first time, then the same ones again."""
    with opened(url) as (page, traffic):
        sent = traffic.take()
        data = page.get_by_role("combobox", name="data")
        times, payloads = [], []
        for key in ("ArrowDown", "ArrowDown", "ArrowUp", "ArrowUp", "ArrowDown", "ArrowDown"):
            data.focus()
            page.keyboard.press("Enter")
            page.keyboard.press(key)
            page.wait_for_timeout(300)
            traffic.take()
            times.append(press(page, "Enter"))
            payloads.append(traffic.take())
        for what, some, bytes_sent in (
            ("first time", times[:2], payloads[:2]),
            ("again", times[2:], payloads[2:]),
        ):
            seconds = median(some)
            yield Row(
                f"{title}, {what}, {median(bytes_sent) / 1e3:.0f} kB (page: {sent / 1e3:.0f} kB)",
                seconds, "slider and text", floor, f"{seconds / floor:.1f} ×",
            )  # fmt: skip
