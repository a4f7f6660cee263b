"""Figures as files: interactive HTML, PNG, SVG, PDF, and GIF that moves.

HTML holds plotly itself and works offline, slider included. The static formats are drawn by a
Chromium browser; they leave out sliders and buttons, which do nothing on paper. Every format holds
the words for people who cannot see the figure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from html import escape, unescape
from pathlib import Path
from typing import final

import plotly.graph_objects as go
from jinja2 import Environment, PackageLoader
from plotly.offline import get_plotlyjs

from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.base.writing import write_bytes
from normgeo.pictures.style.described import described
from normgeo.pictures.style.moving import gif
from normgeo.pictures.style.player import SCRIPT, written
from normgeo.pictures.style.static import STATIC, BrowserMissing, Draw, browser
from normgeo.pictures.style.template import font_rule

__all__ = [
    "FORMATS",
    "STATIC",
    "BrowserMissing",
    "Section",
    "browser",
    "document",
    "format_of",
    "to_bytes",
    "write",
]

FORMATS = ("html", *STATIC)

_TEMPLATES = Environment(loader=PackageLoader("normgeo.pictures.style"), autoescape=True)


@final
@dataclass(frozen=True)
class Section:
    """A part of a document: HTML, a figure with its title and its words, and HTML below it."""

    before: str = ""
    figure: go.Figure | None = None
    title: str = ""
    alt: str = ""
    after: str = ""

    @property
    def written(self) -> str:
        """The figure as JSON in a script, where "</script>" would end it."""
        return written(self.figure).replace("<", "\\u003c") if self.figure else ""


def format_of(path: str | Path) -> str:
    """The format that the end of a file's name stands for.

    Raises:
        ValueError: a name with another end.

    """
    suffix = Path(path).suffix.lower().removeprefix(".")
    if suffix not in FORMATS:
        known = ", ".join(f".{format}" for format in FORMATS)
        sentence = "A figure's file must end in one of {known}; got {path!r}."
        raise Refusal(sentence, known=known, path=str(path))
    return suffix


def write(
    figure: go.Figure,
    path: str | Path,
    *,
    title: str = "",
    alt: str = "",
    about: Sequence[str] = (),
    link: str = "",
    draw: Draw | None = None,
) -> None:
    """Write a figure in the format that the file's name ends in, all of it or nothing.

    Raises:
        ValueError: another end. BrowserMissing: a static format without a browser. OSError: a
            place that can't be written to.

    """
    format = format_of(path)
    content = to_bytes(figure, format, title=title, alt=alt, about=about, link=link, draw=draw)
    write_bytes(content, path)


def to_bytes(
    figure: go.Figure,
    format: str,
    *,
    title: str = "",
    alt: str = "",
    about: Sequence[str] = (),
    link: str = "",
    draw: Draw | None = None,
) -> bytes:
    """Return a figure as a file's content.

    Args:
        figure: what to draw; its own size, or 960 × 540. PNG has twice as many pixels.
        format: one of `FORMATS`.
        title: of the file; the figure's own where it is empty.
        alt: what the figure shows, for a screen reader; the title where it is empty.
        about, link: of HTML: sentences below the figure, and the address that it came from.
        draw: of `browser()`, where several figures follow each other.

    Raises:
        ValueError: an unknown format. BrowserMissing: a static format without a browser.

    """
    if format not in FORMATS:
        raise Refusal(
            "`format` must be one of {known}; got {format!r}.",
            known=", ".join(FORMATS),
            format=format,
        )
    title = str(title) or _plain(figure.layout.title.text or "") or "normgeo"
    alt = str(alt) or title
    if format == "html":
        return _page(figure, title, alt, about, link).encode()
    with browser() if draw is None else nullcontext(draw) as drawn:
        if format == "gif":
            return gif(figure, drawn, alt)
        return described(drawn(figure, format), format, title, alt)


def document(title: str, sections: Sequence[Section], *, language: str = "en") -> str:
    """Return a page of HTML with live figures, which needs no network.

    Its colors and its font are those of the first figure.
    """
    look = next(one.figure for one in sections if one.figure).layout.template.layout
    return _TEMPLATES.get_template("document.html").render(
        language=language,
        title=title,
        sections=sections,
        paper=look.paper_bgcolor or "white",
        ink=look.font.color or "black",
        font=look.font.family or "sans-serif",
        face=font_rule(),
        plotly=get_plotlyjs(),
        player=SCRIPT,
    )


def _page(figure: go.Figure, title: str, alt: str, about: Sequence[str], link: str) -> str:
    lines = [f"<p>{escape(str(line))}</p>" for line in about]
    if link:
        back = text("Open it in normgeo")
        lines.append(f'<p><a href="{escape(link)}">{escape(str(back))}</a></p>')
    return document(title, [Section("", figure, title, alt, "\n".join(lines))])


def _plain(title: str) -> str:
    """A title without the marks that plotly understands."""
    return unescape(re.sub(r"<[^>]*>", " ", title)).strip()
