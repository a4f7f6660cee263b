"""A tour as a Markdown file: stops in order, each a page in a state, with words about it.

    # Title of the tour

    ## Title of a stop

    - open: `/invariance?cell=layer.case_rescaling&delta=2`
    - shows: `effect`

    ### Question
    ### What to notice
    ### Notes

`open` is the address of a page in the browser. `shows` is the subject of the stop: a picture of the
page, its open tab, or one of `ELEMENTS`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any, final
from urllib.parse import parse_qsl, urlsplit

from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.pictures import PAGE_OF
from normgeo.settings import Settings

ELEMENTS: Mapping[str, tuple[str, ...]] = {"invariance": ("table",)}
"""Subjects of stops other than pictures and tabs, by the key of the element."""

FIELDS = ("open", "shows")
PARTS = ("Question", "What to notice", "Notes")


@final
@dataclass(frozen=True)
class Stop:
    """A page in a state, and the lecturer's words for it.

    Attributes:
        page: its name. settings: named by the stop. shows: its subject.
        question, notice, notes: Markdown.

    """

    title: str
    page: str
    settings: Mapping[str, Any]
    shows: str
    question: str
    notice: str
    notes: str

    @property
    def key(self) -> str:
        """The key of the stop's subject; "" for the open tab."""
        if self.shows in pictures(self.page):
            return f"figure_{self.shows}"
        return self.shows if self.shows in ELEMENTS.get(self.page, ()) else ""


@final
@dataclass(frozen=True)
class Tour:
    """Stops in order; `name` is its word in an address."""

    name: str
    title: str
    stops: tuple[Stop, ...]


def read(file: Path, pages: Collection[str]) -> Tour:
    """Return the tour in a file; its stops are on the given pages.

    Raises:
        Refusal: the first mistake, with its file, line and reason.

    """
    try:
        lines = list(enumerate(file.read_text("utf-8").splitlines(), 1))
    except UnicodeDecodeError:
        raise _wrong(file, 1, text("A tour is text in UTF-8.")) from None
    except OSError:
        raise _wrong(file, 1, text("The file cannot be read.")) from None
    titles = [(n, line[2:].strip()) for n, line in lines if line.startswith("# ")]
    if len(titles) != 1 or not titles[0][1]:
        at = titles[1][0] if len(titles) > 1 else 1
        raise _wrong(file, at, text("A tour has one title, after “# ”."))
    stops = tuple(_stop(file, number, title, rest, pages) for number, title, rest in _under(lines))
    if not stops:
        raise _wrong(file, titles[0][0], text("A tour has at least one stop, after “## ”."))
    return Tour(file.stem, titles[0][1], stops)


Lines = list[tuple[int, str]]


def _under(lines: Lines, sign: str = "## ") -> Iterator[tuple[int, str, Lines]]:
    """Yield each heading of a level: its line, its words, and the lines under it."""
    starts = [place for place, (_, line) in enumerate(lines) if line.startswith(sign)]
    for start, end in pairwise([*starts, len(lines)]):
        number, line = lines[start]
        yield number, line.removeprefix(sign).strip(), lines[start + 1 : end]


def _stop(file: Path, number: int, title: str, lines: Lines, pages: Collection[str]) -> Stop:
    parts: dict[str, str] = {}
    for at, name, rest in _under(lines, "### "):
        if name not in PARTS or name in parts:
            rule = text("The parts of a stop are {parts}, each once.", parts=", ".join(PARTS))
            raise _wrong(file, at, text("{rule} Got {name!r}.", rule=rule, name=name))
        parts[name] = "\n".join(line for _, line in rest).strip()
    fields: dict[str, tuple[int, str]] = {}
    for at, line in lines:
        found = re.fullmatch(r"- (\w+): `([^`]*)`\s*", line)
        if line.startswith("### "):
            break
        if found and found[1] in FIELDS and found[1] not in fields:
            fields[found[1]] = at, found[2]
        elif line.strip():
            rule = text("A stop begins with the lines “- open: `…`” and “- shows: `…`”.")
            raise _wrong(file, at, text("{rule} Got {line!r}.", rule=rule, line=line[:60]))
    for name in PARTS:
        if not parts.get(name):
            raise _wrong(file, number, text("The stop has no part “{part}”.", part=name))
    for name in FIELDS:
        if name not in fields:
            raise _wrong(file, number, text("The stop has no line “- {field}: `…`”.", field=name))
    at, address = fields["open"]
    page, settings = _state(file, at, address, pages)
    at, shows = fields["shows"]
    there = {*pictures(page), *ELEMENTS.get(page, ())}
    there |= {settings["tab"]} if "tab" in settings else set()
    if shows not in there:
        words = text(
            "On this page a stop can show {names}, or the tab that it opens; got {shows!r}.",
            names=", ".join(sorted(there)),
            shows=shows,
        )
        raise _wrong(file, at, words)
    return Stop(title, page, settings, shows, *(parts[name] for name in PARTS))


def _state(
    file: Path, line: int, address: str, pages: Collection[str]
) -> tuple[str, dict[str, Any]]:
    """Return the page and the settings of an address."""
    try:
        parts = urlsplit(address)
    except ValueError:
        raise _wrong(file, line, text("{address!r} is no address.", address=address)) from None
    page = parts.path.strip("/") or next(iter(pages))
    if page not in pages:
        words = text("There is no page {page!r}; pages are {pages}.", page=page, pages=_list(pages))
        raise _wrong(file, line, words)
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    try:
        settings = Settings.from_recipe(query)
    except Refusal as error:
        raise _wrong(file, line, text("{error}", error=error)) from None
    if settings.tab not in {Settings.tab, *_tabs(page)}:
        words = text(
            "The page has no tab {tab!r}; its tabs are {tabs}.",
            tab=settings.tab,
            tabs=_list(_tabs(page)),
        )
        raise _wrong(file, line, words)
    return page, {name: getattr(settings, name) for name in query}


def _wrong(file: Path, line: int, reason: str) -> Refusal:
    where = text("{file!s}, line {line}: {reason}", file=file.name, line=line, reason=reason)
    return Refusal(where)


def _list(names: Collection[str]) -> str:
    return ", ".join(names) or str(text("none"))


def pictures(page: str) -> tuple[str, ...]:
    """The names of a page's pictures."""
    return tuple(name for name, of in PAGE_OF.items() if of == page)


def _tabs(page: str) -> tuple[str, ...]:
    return tuple(getattr(import_module(f"normgeo.ui.{page}"), "TABS", ()))
