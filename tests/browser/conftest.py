"""The running application, and Chromium in front of it."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    sync_playwright,
)

from normgeo.pictures.style.browser import find_browser
from tools.server import serving

APP = Path(__file__).parents[2] / "app.py"
AXE = files("axe_playwright_python") / "axe.min.js"

# A deep link makes Streamlit look for its server below the page's path once, before it looks above.
HARMLESS = re.compile(r"/[^/]+/_stcore/(health|host-config)")

# The script has run, its result has arrived, fonts are there: five times in a row, as a click
# needs a moment to start a run.
IS_SETTLED = """() => {
    const app = document.querySelector('[data-testid=stApp]');
    const calm = app !== null
        && app.dataset.testConnectionState === 'CONNECTED'
        && app.dataset.testScriptState === 'notRunning'
        && document.querySelector('[data-testid=stSkeleton]') === null
        && document.querySelector('[data-stale=true]') === null
        && document.fonts.status === 'loaded';
    window.calmFor = calm ? (window.calmFor ?? 0) + 1 : 0;
    return window.calmFor >= 5;
}"""


@contextmanager
def running(app: Path, log: Path) -> Iterator[str]:
    """Serve `app` on a free port; its output goes to `log` and must hold no traceback."""
    with serving(app, log) as url:
        yield url
    said = log.read_text("utf-8")
    if "Traceback (most recent call last)" in said:
        pytest.fail(f"The server wrote a traceback:\n{said}")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of the application, without a slash at its end."""
    with running(APP, tmp_path_factory.mktemp("server") / "log.txt") as url:
        yield url


@pytest.fixture
def contexts() -> list[BrowserContext]:
    """The browser contexts of this test that are still open."""
    return []


def close(contexts: list[BrowserContext]) -> None:
    while contexts:
        contexts.pop().close()


@pytest.fixture
def fresh_server(tmp_path: Path, contexts: list[BrowserContext]) -> Iterator[str]:
    """The URL of a server that nobody has asked anything yet."""
    with running(APP, tmp_path / "server-log.txt") as url:
        yield url
        # A page that outlives its server complains that it is gone.
        close(contexts)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = find_browser()
    if path is None:
        pytest.fail("The browser tests need Chromium: `make test` installs it where it can.")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path)
        yield chromium
        chromium.close()


OpenPage = Callable[..., Page]


@pytest.fixture
def open_page(browser: Browser, contexts: list[BrowserContext]) -> Iterator[OpenPage]:
    """Opens pages, `open_page(width, height, **context options)`, that must not complain.

    The test fails where a page logs an error, raises one, or asks another host for something.
    """
    complaints: list[str] = []

    def on_console(message: ConsoleMessage) -> None:
        source = urlsplit(message.location.get("url", ""))
        harmless = "status of 404" in message.text and HARMLESS.fullmatch(source.path)
        if message.type == "error" and not harmless:
            complaints.append(f"console: {message.text} ({source.geturl()})")

    def on_request(request: Request) -> None:
        target = urlsplit(request.url)
        if target.scheme in {"http", "https", "ws", "wss"} and target.hostname != "127.0.0.1":
            complaints.append(f"request to another host: {request.url}")

    def opener(width: int = 1280, height: int = 720, **options: object) -> Page:
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", on_console)
        page.on("pageerror", lambda error: complaints.append(f"page error: {error}"))
        page.on("request", on_request)
        return page

    yield opener
    close(contexts)
    assert complaints == []


@pytest.fixture
def page(open_page: OpenPage) -> Page:
    """A projector: 1280 × 720."""
    return open_page()


@pytest.fixture
def phone(open_page: OpenPage) -> Page:
    """A phone held upright: 390 × 844."""
    return open_page(390, 844, has_touch=True, is_mobile=True)


@pytest.fixture(scope="session")
def wait_settled() -> Callable[[Page], None]:
    """`wait_settled(page)` returns when the script has run and its result is on the page."""

    def wait(page: Page) -> None:
        page.evaluate("window.calmFor = 0")
        page.wait_for_function(IS_SETTLED, polling=50, timeout=30_000)

    return wait


@pytest.fixture(scope="session")
def axe() -> Callable[..., list[str]]:
    """`axe(page, within)` lists the accessibility rules that a part of the page violates."""

    def violations(page: Page, within: str = "html") -> list[str]:
        if not page.evaluate("'axe' in window"):
            page.add_script_tag(content=AXE.read_text("utf-8"))
        found = page.evaluate("part => axe.run(part).then(result => result.violations)", within)
        return [
            f"{rule['id']} ({rule['impact']}): {node['failureSummary']} — {node['html']}"
            for rule in found
            for node in rule["nodes"]
        ]

    return violations
