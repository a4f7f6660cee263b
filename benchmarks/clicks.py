"""A visitor who tries everything: random clicks, keys and drags on all pages, in Chromium.

`python -m benchmarks.clicks MINUTES SEED` prints the server's memory every minute and, at the end,
its actions. It stops at the first exception box, error in the console or traceback in the server's
log, and prints the actions before it.
"""

from __future__ import annotations

import sys
from collections import Counter, deque
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import monotonic

import psutil
from playwright.sync_api import Error, Locator, Page, sync_playwright

from normgeo.base.budget import memory
from normgeo.pictures.style.browser import find_browser
from normgeo.pictures.style.sandbox import in_sandbox
from normgeo.ui.frame import PAGES
from tools.server import serving

APP = Path(__file__).parents[1] / "app.py"
ACTS = (
    "button, a[href^='/'], input, [role=tab], [role=slider], [role=option], [role=combobox], .drag"
)
KEYS = (
    *("ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown", "Home", "End", "PageDown", "Space"),
    *("Enter", "Escape", "Tab"),
)
WORDS = "3", "-1", "1e-5", "nan", "9" * 40, "layer", "(", ""
SCREENS = (1280, 720), (390, 844), (1920, 1080)
PATIENCE = 1000  # milliseconds per action; an element that has disappeared meanwhile is no error
LAST = 12  # actions printed
COMPLAINS = """() => [
    ...document.querySelectorAll('[data-testid=stException]'),
    ...document.querySelectorAll('[data-testid=stAlertContentError]'),
].map(one => one.innerText)"""


def act(page: Page, random: Random, url: str) -> str:
    """Do something that a visitor can do, and return its description."""
    kind = random.choices(
        ("click", "key", "type", "go", "back", "screen", "theme"), (60, 20, 8, 5, 3, 2, 2)
    )[0]
    if kind == "go":
        page.goto(f"{url}/{random.choice(list(PAGES))}", wait_until="commit")
    elif kind == "back":
        page.go_back(wait_until="commit")
    elif kind == "screen":
        page.set_viewport_size(dict(zip(("width", "height"), random.choice(SCREENS), strict=True)))
    elif kind == "theme":
        page.emulate_media(color_scheme=random.choice(("light", "dark")))
    elif kind == "key":
        key = random.choice(KEYS)
        page.keyboard.press(key)
        return key
    elif one := _any(page, random, "input" if kind == "type" else ACTS):
        name = one.evaluate("e => `${e.tagName} ${e.ariaLabel ?? ''} ${e.innerText ?? ''}`")[:60]
        if kind == "type":
            one.fill(random.choice(WORDS), timeout=PATIENCE)
            page.keyboard.press("Enter")
        else:
            one.click(timeout=PATIENCE)
        return f"{kind} {' '.join(name.split())}"
    return kind


def _any(page: Page, random: Random, selector: str) -> Locator | None:
    found = [one for one in page.locator(f":is({selector}):visible").all() if one.is_enabled()]
    return random.choice(found) if found else None


def main(minutes: float, seed: int) -> None:
    random, done, last = Random(seed), Counter[str](), deque[str](maxlen=LAST)
    said: list[str] = []
    with (
        TemporaryDirectory() as folder,
        serving(APP, log := Path(folder) / "log.txt") as url,
        sync_playwright() as playwright,
    ):
        (server,) = [one for one in psutil.Process().children() if "streamlit" in one.cmdline()]
        path = str(find_browser())
        browser = playwright.chromium.launch(
            executable_path=path, chromium_sandbox=in_sandbox(path)
        )
        page = browser.new_page()
        page.on("pageerror", lambda error: said.append(f"page error: {error}"))
        page.on("console", lambda m: said.append(m.text) if _is_error(m.type, m.text) else None)
        page.on("dialog", lambda dialog: dialog.dismiss())
        page.goto(url)
        end, told = monotonic() + 60 * minutes, 0.0
        while monotonic() < end:
            try:
                last.append(act(page, random, url))
                done[last[-1].partition(" ")[0]] += 1
                page.wait_for_timeout(random.choice((0, 50, 400)))
                said += page.evaluate(COMPLAINS)
            except Error as missed:
                last.append(f"(missed: {str(missed).splitlines()[0][:80]})")
                done["missed"] += 1
            if said or "Traceback" in log.read_text("utf-8"):
                print(*last, *said, page.url, log.read_text("utf-8")[-3000:], sep="\n")
                sys.exit(1)
            if monotonic() - told > 60:
                told = monotonic()
                print(memory(server.memory_info().rss), sum(done.values()), page.url, flush=True)
        browser.close()
    print(dict(done))


def _is_error(kind: str, words: str) -> bool:
    # For a deep link, Streamlit first looks for its server below the page's path.
    return kind == "error" and "404" not in words


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 15.0, int((*sys.argv, "", "0")[2] or 0))
