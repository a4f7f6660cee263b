"""Figures as files: interactive HTML, PNG, SVG and PDF.

HTML holds plotly itself and works offline, slider included. The static formats are drawn by a
Chromium browser; they leave out sliders and buttons, which do nothing on paper.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from html import escape, unescape
from pathlib import Path
from secrets import token_hex
from threading import RLock, Thread
from typing import Any

import plotly.graph_objects as go

from normgeo.base.text import text
from normgeo.pictures.style.browser import find_browser

FORMATS = ("html", "png", "svg", "pdf")
STATIC = ("png", "svg", "pdf")
WIDTH, HEIGHT, SCALE = 960, 540, 2

Draw = Callable[[go.Figure, str], bytes]

# Every browser takes about 200 MB: people who export at the same moment take turns.
_TURN = RLock()

PAGE = """<!DOCTYPE html>
<html lang="{lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>html, body {{ height: 100%; margin: 0; background: {paper}; }}</style>
</head>
<body>
{figure}
<script>
{keyboard}
reachable(document.body);
</script>
</body>
</html>
"""

# Sliders and buttons of plotly know the mouse alone.
KEYBOARD = Path(__file__).with_name("keyboard.js").read_text("utf-8")


class BrowserMissing(RuntimeError):  # noqa: N818
    """There is no browser to draw a static figure with, or none that starts."""


def format_of(path: str | Path) -> str:
    """Return the format that the end of a file's name stands for.

    Raises:
        ValueError: a name with another end.

    """
    suffix = Path(path).suffix.lower().removeprefix(".")
    if suffix not in FORMATS:
        known = ", ".join(f".{format}" for format in FORMATS)
        raise ValueError(f"A figure's file must end in one of {known}; got {str(path)!r}.")
    return suffix


def write(
    figure: go.Figure, path: str | Path, *, title: str = "", draw: Draw | None = None
) -> None:
    """Write a figure in the format that the file's name ends in, all of it or nothing.

    Raises:
        ValueError: another end. BrowserMissing: a static format without a browser. OSError: a
            place that can't be written to.

    """
    write_bytes(to_bytes(figure, format_of(path), title=title, draw=draw), path)


def to_bytes(figure: go.Figure, format: str, *, title: str = "", draw: Draw | None = None) -> bytes:
    """Return a figure as a file's content.

    Args:
        figure: what to draw; its own size, or 960 × 540. PNG has twice as many pixels.
        format: one of `FORMATS`.
        title: of the HTML page; the figure's own where it is empty.
        draw: of `browser()`, where several figures follow each other.

    Raises:
        ValueError: an unknown format. BrowserMissing: a static format without a browser.

    """
    if format not in FORMATS:
        raise ValueError(f"`format` must be one of {', '.join(FORMATS)}; got {format!r}.")
    if format == "html":
        return _page(figure, title).encode()
    if draw is not None:
        return draw(figure, format)
    with browser() as draw_once:
        return draw_once(figure, format)


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
    from choreographer.errors import BrowserClosedError, BrowserDepsError, BrowserFailedError
    from kaleido import Kaleido

    # It would add its own words to the sentence of an exception.
    logging.getLogger("choreographer").setLevel(logging.CRITICAL)
    with _TURN, _event_loop() as run:
        # MathJax would be fetched from another host; no figure needs it.
        chromium = Kaleido(path=path, mathjax=False)
        try:
            try:
                run(chromium.open())
            except (BrowserClosedError, BrowserDepsError, BrowserFailedError) as error:
                raise BrowserMissing(
                    text(
                        "The browser {path} does not start. Set BROWSER_PATH to another one, or "
                        "choose HTML.",
                        path=path,
                    )
                ) from error
            yield lambda figure, format: run(chromium.calc_fig(_still(figure), _options(format)))
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


def _options(format: str) -> dict[str, Any]:
    return {"format": format, "scale": SCALE if format == "png" else 1}


def _still(figure: go.Figure) -> dict[str, Any]:
    """Return the figure as it opens, without what moves it."""
    plain: dict[str, Any] = figure.to_dict()
    plain.pop("frames", None)
    layout = plain["layout"]
    layout.pop("sliders", None)
    layout.pop("updatemenus", None)
    layout.setdefault("width", WIDTH)
    layout.setdefault("height", HEIGHT)
    return plain


def _page(figure: go.Figure, title: str) -> str:
    title = title or _plain(figure.layout.title.text or "") or "normgeo"
    name = re.sub(r"\W+", "-", title).strip("-").lower()
    return PAGE.format(
        lang="en",
        title=escape(title),
        keyboard=KEYBOARD,
        paper=escape(figure.layout.template.layout.paper_bgcolor or "white"),
        figure=figure.to_html(
            full_html=False,
            include_plotlyjs=True,
            # The figure opens at the frame that it was made with, at rest.
            auto_play=False,
            config={
                "responsive": True,
                "displaylogo": False,
                "toImageButtonOptions": {"format": "svg", "filename": name},
            },
        ),
    )


def _plain(title: str) -> str:
    """Return a title without the marks that plotly understands."""
    return unescape(re.sub(r"<[^>]*>", " ", title)).strip()


def write_bytes(content: bytes, path: str | Path) -> None:
    """Write a file, all of it or nothing: at no moment does its name stand for a part of it."""
    target = Path(path).resolve()
    part = target.with_name(f".{target.name}.{token_hex(4)}.part")
    try:
        with part.open("xb") as file:
            file.write(content)
        part.replace(target)
    except OSError as error:
        error.filename, error.filename2 = str(path), None
        raise
    finally:
        part.unlink(missing_ok=True)
