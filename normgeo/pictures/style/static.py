"""Static pictures: PNG, SVG and PDF, drawn by a Chromium browser, without what moves them."""

from __future__ import annotations

import asyncio
import logging
from base64 import b64decode
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock, Thread
from typing import Any

import plotly.graph_objects as go
from plotly.io.json import to_json_plotly

from normgeo.base.refusal import Failure
from normgeo.pictures.style.browser import find_browser
from normgeo.pictures.style.player import IMAGE, PLOTLY, STRIP
from normgeo.pictures.style.sandbox import in_sandbox
from normgeo.pictures.style.template import font_rule

STATIC = ("png", "svg", "pdf", "gif")
WIDTH, HEIGHT, SCALE = 960, 540, 2

Draw = Callable[[go.Figure, str], bytes]

_PATIENCE = 90  # seconds for a browser to start, and to draw a figure
CLOSING = 20  # seconds for a browser to close

# The page that draws: a figure comes as a script, since messages to a browser are short.
_PAGE = """<!DOCTYPE html>
<html>
<head>
<meta charset="utf-8">
<style>{font}</style>
<style>@page {{ margin: 0; }} body {{ margin: 0; }} svg {{ display: block; }}</style>
<script src="{plotly}"></script>
<script>
{image}
async function drawn(address, options) {{
  const script = document.createElement("script");
  script.src = address;
  await new Promise((done, fail) => {{
    Object.assign(script, {{ onload: done, onerror: fail }});
    document.head.append(script);
  }});
  script.remove();
  const content = await imageOf(window.figure, options);
  document.body.innerHTML = options.format === "svg" ? content : "";
  return content;
}}
</script>
</head>
<body></body>
</html>
"""

# Every browser takes about 200 MB: people who export at the same moment take turns.
_TURN = RLock()


class BrowserMissing(Failure):
    """There is no browser to draw a static figure with, or none that starts."""


@contextmanager
def browser() -> Iterator[Draw]:
    """Start a browser and return what draws with it: (figure, static format) → bytes.

    It works in every thread: its event loop has a thread of its own.

    Raises:
        BrowserMissing: no browser, or one that does not start.
        ValueError: `BROWSER_PATH` names no executable file.

    """
    path = find_browser()
    if path is None:
        raise BrowserMissing(
            "PNG, SVG, PDF and GIF are drawn by a browser, and none was found: install "
            "Chromium or Google Chrome, set BROWSER_PATH to the one you have, or choose HTML."
        )
    # A second of imports, which HTML does without.
    from choreographer import Browser
    from choreographer.errors import (
        BrowserClosedError,
        BrowserDepsError,
        BrowserFailedError,
        ChannelClosedError,
    )
    from choreographer.utils import TmpDirectory

    gone = (
        BrowserClosedError,
        BrowserDepsError,
        BrowserFailedError,
        ChannelClosedError,
        TimeoutError,
    )

    # It would add its own words to the sentence of an exception.
    logging.getLogger("choreographer").setLevel(logging.CRITICAL)
    with _TURN, _event_loop() as run:
        chromium = Browser(path, enable_sandbox=in_sandbox(path))
        folder = TmpDirectory(sneak=chromium.is_isolated())
        try:
            try:
                run(asyncio.wait_for(chromium.open(), _PATIENCE))
                tab = run(asyncio.wait_for(_opened(chromium, folder.path), _PATIENCE))
            except gone as error:
                raise BrowserMissing(
                    "The browser {path!s} does not start. Set BROWSER_PATH to another one, or "
                    "choose HTML.",
                    path=path,
                ) from error
            yield lambda figure, format: run(
                asyncio.wait_for(_drawn(tab, folder.path, still(figure), format), _PATIENCE)
            )
        finally:
            # It may end before it answers, or never; where nobody waits any more, it is killed.
            with suppress(TimeoutError):
                run(asyncio.wait_for(chromium.close(), CLOSING))
            folder.clean()


async def _opened(chromium: Any, folder: Path) -> Any:
    """Open the page that draws, and return its tab."""
    page = folder / "page.html"
    page.write_text(_PAGE.format(font=font_rule(), plotly=PLOTLY.as_uri(), image=IMAGE), "utf-8")
    tab = await chromium.create_tab()
    loaded = tab.subscribe_once("Page.loadEventFired")
    await _answer(tab, "Page.enable")
    await _answer(tab, "Page.navigate", url=page.as_uri())
    await loaded
    return tab


async def _drawn(tab: Any, folder: Path, plain: dict[str, Any], format: str) -> bytes:
    """Return a figure as a file."""
    script, layout = folder / "figure.js", plain["layout"]
    script.write_text(f"window.figure = {to_json_plotly(plain)};", "utf-8")
    size = {"width": layout["width"], "height": layout["height"]}
    drawing = options("svg" if format == "pdf" else format)
    call = f"drawn({to_json_plotly(script.as_uri())}, {to_json_plotly({**size, **drawing})})"
    found = await _answer(
        tab, "Runtime.evaluate", expression=call, awaitPromise=True, returnByValue=True
    )
    if "exceptionDetails" in found:
        raise RuntimeError(found["exceptionDetails"])
    content: str = found["result"]["value"]
    if format == "svg":
        return content.encode()
    if format == "pdf":
        inches = {f"paper{name.title()}": length / 96 for name, length in size.items()}
        printed = await _answer(tab, "Page.printToPDF", printBackground=True, **inches)
        content = printed["data"]
    return b64decode(content)


async def _answer(tab: Any, command: str, **parameters: Any) -> dict[str, Any]:
    """Return what a browser answers to a command of the DevTools protocol."""
    answer = await tab.send_command(command, parameters)
    if "error" in answer:
        raise RuntimeError(answer["error"])
    found: dict[str, Any] = answer["result"]
    return found


@contextmanager
def _event_loop() -> Iterator[Callable[[Coroutine[Any, Any, Any]], Any]]:
    """Run an event loop in a thread; return what runs a coroutine there and waits for it."""
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever, daemon=True)
    thread.start()

    def run(coroutine: Coroutine[Any, Any, Any]) -> Any:
        future: Future[Any] = asyncio.run_coroutine_threadsafe(coroutine, loop)
        return future.result()

    try:
        yield run
    finally:
        run(_cancel_the_rest())
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _cancel_the_rest() -> None:
    rest = asyncio.all_tasks() - {asyncio.current_task()}
    for task in rest:
        task.cancel()
    await asyncio.gather(*rest, return_exceptions=True)


def options(format: str) -> dict[str, Any]:
    """What a static format is drawn with: PNG has twice as many pixels."""
    return {"format": format, "scale": SCALE if format == "png" else 1}


def still(figure: go.Figure) -> dict[str, Any]:
    """The figure as it opens, without what moves it."""
    plain: dict[str, Any] = figure.to_dict()
    plain.pop("frames", None)
    layout = plain["layout"]
    layout.pop("updatemenus", None)
    if layout.pop("sliders", None):  # its strip goes with it
        layout["height"] -= STRIP
        layout["margin"]["b"] -= STRIP
    layout.setdefault("width", WIDTH)
    layout.setdefault("height", HEIGHT)
    return plain
