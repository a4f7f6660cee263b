"""The running application, and Chromium in front of it."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from urllib.parse import parse_qs, urlsplit

import psutil
import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Locator,
    Page,
    Playwright,
    Request,
    expect,
    sync_playwright,
)

from normgeo.base.writing import write_bytes
from normgeo.pictures import PICTURES
from normgeo.pictures.style.browser import find_browser
from normgeo.pictures.style.export import write
from normgeo.pictures.style.sandbox import in_sandbox
from normgeo.settings import Settings
from normgeo.ui.frame import PAGES
from normgeo.ui.your_network import network
from tools.server import free_port, serving, serving_anew
from tools.settled import settled

APP = Path(__file__).parents[2] / "app.py"
MODULES = [f"normgeo.ui.{name}" for name in PAGES]
AXE = files("axe_playwright_python") / "axe.min.js"
COLORS = "color-contrast", "link-in-text-block"  # the rules of axe about them
# What passes need not be told node by node, and no rule that runs reads the rules of style sheets.
AXE_RUN = """([part, only]) => axe.run(part, {
    resultTypes: ['violations'], preload: { assets: ['media'] },
    ...(only.length ? { runOnly: only } : {}),
}).then(result => result.violations)"""

# With a debugger attached, functions are parsed once more for each stack that is noted unless their
# positions are kept; and scripts that a background thread fetches are compiled at every load.
FAST = (
    "--js-flags=--no-enable-lazy-source-positions",
    "--disable-features=BackgroundResourceFetch,MediaRouter,OptimizationHints",
)

WAITING = "about:blank"

# A deep link makes Streamlit look for its server below the page's path once, before it looks above.
HARMLESS = re.compile(r"/[^/]+/_stcore/(health|host-config)")

# Milliseconds: a machine that does other work as well meets them too. A page that is right meets
# what is waited for at once.
LONGEST = 300_000
expect.set_options(timeout=LONGEST)


def address(page: Page) -> str:
    """The address of a page; `page.url` hears of it later."""
    found: str = page.evaluate("location.href")
    return found


def query(page: Page) -> dict[str, list[str]]:
    """The query of a page's address."""
    return parse_qs(urlsplit(address(page)).query)


def shared(page: Page) -> Locator:
    """What the button *Share* opens: the link, and the files of all figures."""
    inside = page.get_by_test_id("stPopoverBody")
    if inside.count() == 0:
        page.get_by_role("button", name="Share", exact=True).click()
    inside.locator("img").wait_for()
    settled(page)
    return inside


# The beginning of a function of {text, width} that draws a figure in an exported page, as its
# player fits it to the screen: `host` holds it, `edge` is its box. Of JSON, since Playwright looks
# at each number of what it hands over.
DRAW = """async ({text, width}) => {
    const figure = JSON.parse(text);
    const host = document.createElement('div');
    host.style.width = `${width}px`;
    document.body.replaceChildren(host);
    for (const player of players.values()) {
        player.end();
    }
    await document.fonts.load("16px 'Source Sans'");
    await document.fonts.load("bold 16px 'Source Sans'");
    new Player(host).open(figure, figure.layout.meta.steps?.start ?? 0);
    let changed = true;
    new MutationObserver(() => { changed = true; })
        .observe(host, {subtree: true, childList: true, attributes: true});
    for (let still = 0; still < 5; still += 1) { // the player fits it to the screen
        await new Promise(requestAnimationFrame);
        still = changed ? -1 : still;
        changed = false;
    }
    const edge = host.querySelector('.main-svg').getBoundingClientRect();
"""

# Goes to another address without loading the page anew.
GO = """address => {
    history.pushState({}, '', address);
    dispatchEvent(new PopStateEvent('popstate'));
}"""


TO_THE_TOP = """() => {
    document.activeElement.blur();
    document.querySelector('[data-testid=stMain]').scrollTo(0, 0);
}"""

PHONE = 390, 844

PAPERS = {
    "light": {"rgb(255, 255, 255)", "rgba(0, 0, 0, 0)"},
    "dark": {"rgb(21, 24, 27)", "rgba(0, 0, 0, 0)"},
}


GROUNDS = """() => [
  ...document.querySelectorAll('[data-testid=stApp], .js-plotly-plot > div > div > .main-svg')
].map((ground) => getComputedStyle(ground).backgroundColor)"""


def papers(page: Page) -> set[str]:
    """The grounds of the page and of its figures."""
    return set(page.evaluate(GROUNDS))


def switch(page: Page, scheme: str) -> None:
    """Switch the theme while the page is open, and wait until its figures have followed."""
    page.emulate_media(color_scheme=scheme)
    page.wait_for_function(
        f"papers => ({GROUNDS})().every(paper => papers.includes(paper))",
        arg=sorted(PAPERS[scheme]),
    )
    settled(page)


@contextmanager
def running(serve: Callable[..., AbstractContextManager[str]], log: Path) -> Iterator[str]:
    """Serve the application on a free port; its output goes to `log` and holds no traceback."""
    with serve(APP, log) as url:
        yield url
    said = log.read_text("utf-8")
    if "Traceback (most recent call last)" in said:
        pytest.fail(f"The server wrote a traceback:\n{said}")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[str]:
    """The URL of the application, without a slash at its end.

    The first worker that asks starts it for all of them: what it has computed is there for each.
    """
    own = tmp_path_factory.getbasetemp()
    shared = (own if worker_id == "master" else own.parent) / "server"
    address, guest = shared / "address", shared / f"{worker_id}.guest"
    try:
        shared.mkdir()
    except FileExistsError:
        guest.touch()
        try:
            wait_until(address.exists)
            with nullcontext(address.read_text()) if address.stat().st_size else alone(own) as url:
                yield url
        finally:
            guest.unlink()
        return
    with alone(shared) as url:
        write_bytes(url.encode(), address)
        yield url
        write_bytes(b"", address)  # who comes now starts another
        wait_until(lambda: not [*shared.glob("*.guest")])


def wait_until(true: Callable[[], bool]) -> None:
    """Look again and again, for as long as a worker may need for its last tests."""
    deadline = monotonic() + 1800
    while not true():
        assert monotonic() < deadline, "another worker of this run did not start or end its part"
        sleep(0.1)


@contextmanager
def alone(folder: Path) -> Iterator[str]:
    """Serve the application, whose processes end with it."""
    with running(serving, folder / "log.txt") as url:
        yield url
        # Not those of this process, which shows pages as well.
        servers = [one for one in psutil.Process().children() if "streamlit" in one.cmdline()]
        below = [process for one in servers for process in one.children(recursive=True)]
        workers = [one for one in below if any("loky" in word for word in one.cmdline())]
    assert workers, "the first one starts with the first page"
    _, left = psutil.wait_procs(workers, timeout=60)
    assert left == [], "they end with the server"


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def chromium() -> Path:
    path = find_browser()
    if path is None:
        pytest.fail("The browser tests need Chromium: `make test` installs it where it can.")
    return Path(path)


@pytest.fixture(scope="session")
def browser(playwright: Playwright, chromium: Path) -> Iterator[Browser]:
    """For tests that cut the network."""
    browser = playwright.chromium.launch(
        executable_path=chromium, chromium_sandbox=in_sandbox(str(chromium)), args=FAST
    )
    yield browser
    browser.close()


def patient(browser: Browser, **options: Any) -> BrowserContext:
    """A context of a browser whose pages wait as long as a busy machine needs."""
    context = browser.new_context(**options)
    context.set_default_timeout(LONGEST)
    return context


class Pages:
    """Opens pages, and keeps what they complain of: an error, or a request to another host."""

    def __init__(self, window: Callable[[], BrowserContext], phone: Callable[[], BrowserContext]):
        self.window, self.phone = window, phone
        self.complaints: list[str] = []
        self.pages: list[Page] = []

    def open(
        self,
        width: int = 1280,
        height: int = 720,
        *,
        touch: bool = False,
        scheme: str = "light",
        permissions: Sequence[str] = (),
    ) -> Page:
        """Open a page: the one that waits, if there is one, whose scripts are compiled."""
        context = self.phone() if touch else self.window()
        context.grant_permissions(permissions)
        page = next((one for one in context.pages if self._waits(one)), None) or context.new_page()
        self.pages.append(page)
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme, reduced_motion="no-preference")
        for event, answer in self._answers():
            page.on(event, answer)
        return page

    def close(self) -> None:
        """Close the pages but one; nothing of them stays but what the browser has loaded."""
        while self.pages:
            page = self.pages.pop()
            if page.is_closed():
                continue
            for event, answer in self._answers():
                page.remove_listener(event, answer)
            page.context.clear_permissions()
            page.context.clear_cookies()
            if page.url.startswith("http"):
                page.evaluate("localStorage.clear(), sessionStorage.clear()")
            if any(self._waits(one) for one in page.context.pages):
                page.close()
            else:
                page.goto(WAITING)

    def _waits(self, page: Page) -> bool:
        return page.url == WAITING and page not in self.pages

    def _answers(self) -> Sequence[tuple[str, Callable[..., None]]]:
        return (
            ("console", self._on_console),
            ("pageerror", self._on_error),
            ("request", self._on_request),
        )

    def _on_error(self, error: object) -> None:
        self.complaints.append(f"page error: {error}")

    def _on_console(self, message: ConsoleMessage) -> None:
        source = urlsplit(message.location.get("url", ""))
        harmless = "status of 404" in message.text and HARMLESS.fullmatch(source.path)
        if message.type == "error" and not harmless:
            self.complaints.append(f"console: {message.text} ({source.geturl()})")

    def _on_request(self, request: Request) -> None:
        target = urlsplit(request.url)
        if target.scheme in {"http", "https", "ws", "wss"} and target.hostname != "127.0.0.1":
            self.complaints.append(f"request to another host: {request.url}")


@pytest.fixture(scope="session")
def new_pages(
    playwright: Playwright, chromium: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[], Pages]]:
    """Makes the `Pages` of a test, in browsers that load the application's scripts only once."""
    windows: dict[str, BrowserContext] = {}

    def window(name: str, **options: object) -> BrowserContext:
        if name not in windows:
            windows[name] = playwright.chromium.launch_persistent_context(
                tmp_path_factory.mktemp(name),
                executable_path=chromium,
                chromium_sandbox=in_sandbox(str(chromium)),
                args=FAST,
                **options,
            )
            windows[name].set_default_timeout(LONGEST)
        return windows[name]

    yield lambda: Pages(
        lambda: window("projector"), lambda: window("phone", has_touch=True, is_mobile=True)
    )
    for context in windows.values():
        context.close()


@pytest.fixture
def pages(new_pages: Callable[[], Pages]) -> Iterator[Pages]:
    """The pages of a test, which must not complain."""
    pages = new_pages()
    yield pages
    pages.close()
    assert pages.complaints == []


OpenPage = Callable[..., Page]


@pytest.fixture
def open_page(pages: Pages) -> OpenPage:
    """`open_page(width, height, …)` opens a page, as `Pages.open` does."""
    return pages.open


@pytest.fixture
def page(open_page: OpenPage) -> Page:
    """A projector: 1280 × 720."""
    return open_page()


@pytest.fixture
def own_page(page: Page) -> Iterator[Page]:
    """A projector that no other test gets: for what cannot be taken from a page again."""
    yield page
    page.close()


@pytest.fixture
def phone(open_page: OpenPage) -> Page:
    """A phone held upright: 390 × 844."""
    return open_page(*PHONE, touch=True)


class Looked:
    """Projectors and phones that tests look at: what they do to a page ends with its address.

    The application is loaded once for each theme, which a test must leave as it is: Streamlit asks
    for its page anew when the theme changes, and with much else to do that page may stay where the
    next was asked for. Addresses are gone to as a browser goes back, by its history.
    """

    def __init__(self, pages: Pages, server: str):
        self.pages, self.server = pages, server
        self.shown: dict[tuple[bool, str], Page] = {}

    def at(
        self, address: str, screen: tuple[int, int] = (1280, 720), scheme: str = "light"
    ) -> Page:
        """The page of an address, settled, at its top."""
        width, height = screen
        kind = touch, _ = screen == PHONE, scheme
        if "?" not in address:  # else it takes the settings of the page before along
            address += f"?seed={Settings.seed}"
        page = self.shown.pop(kind, None)  # one that does not settle is not shown again
        if page is None:
            page = self.pages.open(width, height, touch=touch, scheme=scheme)
            page.goto(self.server + address)
        else:
            page.bring_to_front()
            # What a component is about to tell would bring it back from the next address.
            settled(page)
            page.set_viewport_size({"width": width, "height": height})
            if page.evaluate("location.pathname + location.search") != address:
                page.evaluate(GO, address)
        settled(page)
        page.evaluate(TO_THE_TOP)
        self.shown[kind] = page
        return page


@pytest.fixture(scope="session")
def looked(new_pages: Callable[[], Pages], server: str) -> Iterator[Looked]:
    looked = Looked(new_pages(), server)
    yield looked
    looked.pages.close()


@pytest.fixture
def look_at(looked: Looked) -> Iterator[Callable[..., Page]]:
    """`look_at(address, screen, scheme)` shows a page to a test that does not need a new one."""
    yield looked.at
    complaints, looked.pages.complaints = looked.pages.complaints, []
    assert complaints == []


@pytest.fixture(scope="session")
def port() -> int:
    """The port of all fresh servers, one after the other."""
    return free_port()


@pytest.fixture
def fresh_server(tmp_path: Path, pages: Pages, port: int) -> Iterator[str]:
    """The URL of a server that nobody has asked anything yet."""
    with running(partial(serving_anew, MODULES, port), tmp_path / "server-log.txt") as url:
        yield url
        # A page that outlives its server complains that it is gone.
        pages.close()


@pytest.fixture(scope="session")
def offline(browser: Browser) -> Iterator[BrowserContext]:
    """A browser without a network."""
    context = patient(browser, offline=True)
    yield context
    context.close()


@pytest.fixture(scope="session")
def paper(offline: BrowserContext, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A page with plotly, the player and the font of the pages, on which `DRAW` draws."""
    view, file = PICTURES["effect"], tmp_path_factory.mktemp("paper") / "any.html"
    write(view.figure(view.compute(Settings()), "light"), file)
    media = files("streamlit").joinpath("static/static/media")
    (font,) = (one for one in media.iterdir() if one.name.startswith("SourceSansVF-Upright"))
    write_bytes(font.read_bytes(), file.with_name("font.woff2"))
    page = offline.new_page()
    page.goto(file.as_uri())
    page.locator(".frames input").wait_for()
    page.add_style_tag(
        content="@font-face { font-family: 'Source Sans'; font-weight: 200 900; "
        "src: url(font.woff2); }"
    )
    yield page
    page.close()


@pytest.fixture
def open_file(offline: BrowserContext) -> Iterator[Callable[[Path], Page]]:
    """Opens a file without a network; the test fails where its page asks for more or complains."""
    complaints: list[str] = []
    asked: list[str] = []
    answers: dict[str, Callable[..., None]] = {
        "console": lambda m: complaints.append(m.text) if m.type == "error" else None,
        "pageerror": lambda error: complaints.append(str(error)),
        "request": lambda request: asked.append(request.url),
    }
    page = offline.pages[0] if offline.pages else offline.new_page()
    page.set_viewport_size({"width": 1280, "height": 720})
    for event, answer in answers.items():
        page.on(event, answer)
    opened: list[str] = []

    def opener(file: Path) -> Page:
        opened.append(file.as_uri())
        page.goto(file.as_uri())
        return page

    yield opener
    for event, answer in answers.items():
        page.remove_listener(event, answer)
    assert (complaints, asked) == ([], opened)


@pytest.fixture(scope="session")
def wait_settled() -> Callable[[Page], None]:
    """The function `settled`, as a fixture."""
    return settled


def tabs_of(name: str) -> tuple[str, ...]:
    """The tabs of a page as it opens; those of a measured network are another subject's."""
    tabs = getattr(import_module(f"normgeo.ui.{name}"), "TABS", ())
    return tuple(tab for tab in tabs if name != "your_network" or tab not in network.TABS)


@pytest.fixture(scope="session")
def axe() -> Callable[..., list[str]]:
    """`axe(page, within, only)` lists the accessibility rules that a part of the page violates.

    Of all rules, or of some only.
    """

    def violations(page: Page, within: str = "html", only: Sequence[str] = ()) -> list[str]:
        if not page.evaluate("'axe' in window"):
            page.add_script_tag(content=AXE.read_text("utf-8"))
        found = page.evaluate(AXE_RUN, [within, list(only)])
        return [
            f"{rule['id']} ({rule['impact']}): {node['failureSummary']} — {node['html']}"
            for rule in found
            for node in rule["nodes"]
        ]

    return violations
