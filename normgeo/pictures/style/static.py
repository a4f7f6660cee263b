"""Static pictures: PNG, SVG and PDF, drawn by a Chromium browser, without what moves them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from threading import RLock, Thread
from typing import Any

import plotly.graph_objects as go

from normgeo.base.refusal import Failure
from normgeo.base.text import text
from normgeo.pictures.style.browser import find_browser
from normgeo.pictures.style.player import STRIP
from normgeo.pictures.style.sandbox import in_sandbox

STATIC = ("png", "svg", "pdf")
WIDTH, HEIGHT, SCALE = 960, 540, 2

Draw = Callable[[go.Figure, str], bytes]

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
            text(
                "PNG, SVG and PDF are drawn by a browser, and none was found: install Chromium or "
                "Google Chrome, set BROWSER_PATH to the one you have, or choose HTML."
            )
        )
    # A second of imports, which HTML does without.
    from choreographer.errors import (
        BrowserClosedError,
        BrowserDepsError,
        BrowserFailedError,
        ChannelClosedError,
    )
    from kaleido import Kaleido

    gone = BrowserClosedError, BrowserDepsError, BrowserFailedError, ChannelClosedError

    # It would add its own words to the sentence of an exception.
    logging.getLogger("choreographer").setLevel(logging.CRITICAL)
    with _TURN, _event_loop() as run:
        # MathJax would be fetched from another host; no figure needs it.
        chromium = Kaleido(path=path, mathjax=False, enable_sandbox=in_sandbox(path))
        try:
            try:
                run(chromium.open())
            except gone as error:
                raise BrowserMissing(
                    text(
                        "The browser {path!s} does not start. Set BROWSER_PATH to another one, or "
                        "choose HTML.",
                        path=path,
                    )
                ) from error
            yield lambda figure, format: run(chromium.calc_fig(still(figure), options(format)))
        finally:
            run(chromium.close())


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
