"""A language may change while the program runs: no word on a page stays in the one before."""

import json
import re
from collections.abc import Iterator
from html import unescape
from importlib import import_module

import pytest

from normgeo.base.text import translated
from normgeo.claims import CLAIMS
from normgeo.pictures import PICTURES
from normgeo.settings import Settings
from normgeo.ui import frame
from tests.quick import QUICK

WIDE = {ord(c): ord(c) + 0xFEE0 for c in map(chr, range(ord("!"), ord("~"))) if c.isalpha()}
MARKUP = re.compile(
    r"(:\w+-badge\b|\{[^}]*\}|\$[^$]*\$|`[^`]*`|\(data:[^)]*\)|<[^>]*>|\\[a-zA-Z]+)"
)
# Data have names, and formats, keys and code are the same in every language.
NAMES = re.compile(
    r"pixel_\w+|float\d+|cultivator|(?<=Ａ )(layer|batch|weight)\b|"
    r"\b(layer|batch|weight|none), (layer|batch|weight|none)\b|"
    r"\b(HTML|PNG|SVG|PDF|CSV|JSON|RMS|KL|ReLU|tanh|Adam|AdamW|Gram|max|min|cos|tan|arccos)\b"
)
STATES = [
    (page, tab)
    for page in frame.PAGES
    for tab in getattr(import_module(f"normgeo.ui.{page}"), "TABS", ["auto"])
    if page != "audit"  # below
]


def wide(sentence: str) -> str:
    """A made-up language: wide letters, with markup and {placeholders} as they are."""
    parts = MARKUP.split(sentence)
    return "".join(part if i % 2 else part.translate(WIDE) for i, part in enumerate(parts))


def english(words: str) -> list[str]:
    """What is left in narrow letters, markup and names aside."""
    return re.findall(r"[A-Za-z]{3,}", NAMES.sub("", MARKUP.sub("", words)))


def strings(value: object) -> Iterator[str]:
    """All strings inside of JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from strings(item)


def sentences(page) -> Iterator[str]:
    """Everything on a page that a person reads outside of figures and code."""
    app = page.app
    for kind in ("title", "header", "markdown", "caption", "info", "warning", "error"):
        yield from (element.value for element in getattr(app, kind))
    for latex in app.latex:
        yield from re.findall(r"\\text\{([^}]*)\}", latex.value)
    for kind in ("selectbox", "number_input"):
        for widget in getattr(app, kind):
            yield from (widget.label, widget.help or "", getattr(widget, "placeholder", "") or "")
            yield from getattr(widget, "options", ())
    for kind in ("button", "download_button", "page_link", "button_group"):
        for element in app.get(kind):
            yield from (element.proto.label, element.proto.help)
    yield from (tab.label for tab in app.tabs)
    yield from (block.proto.popover.label for block in app.get("popover"))
    for table in app.get("bidi_component"):
        yield from _told(json.loads(table.proto.json or "null"))


def _told(data: object) -> Iterator[str]:
    """The words of a table of verdicts and of other components: no keys, no classes."""
    if isinstance(data, dict):
        for name, value in data.items():
            if name in {"caption", "label", "title", "word", "done"}:
                yield from strings(value)
            elif not isinstance(value, str):
                yield from _told(value)
    elif isinstance(data, list):
        for item in data:
            yield from _told(item)


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frame, "translation", lambda: wide)


@pytest.mark.usefixtures("made_up")
@pytest.mark.parametrize(("page", "tab"), STATES)
def test_page_is_in_the_language_in_use(shown, page, tab):
    found = shown(page, dataset="wine", tab=tab)
    words = list(sentences(found))
    assert len(words) > 20
    assert {word: english(word) for word in words if english(word)} == {}


@pytest.mark.usefixtures("made_up")
def test_audit_is_in_the_language_in_use(shown, keep_audit):
    audited = keep_audit(wide)
    page = shown("audit")
    tables = [page.table(key)["html"] for key in ("inexact", "audit")]
    words = [unescape(part) for html in tables for part in re.split(r"<[^>]*>", html)]
    assert len(words) > 5 * len(audited)
    left = {word: english(word) for word in [*words, *sentences(page)] if english(word)}
    assert left == {}


@pytest.mark.usefixtures("made_up")
def test_complaint_is_in_the_language_in_use(shown):
    (warning,) = shown("home", eps="2").warnings
    assert english(warning) == []


@pytest.mark.parametrize("name", PICTURES)
def test_figure_is_in_the_language_in_use(name):
    picture = PICTURES[name]
    given = {"dataset": "wine", "steps": 8, "length": 8, "activation": "tanh"}
    result = picture.compute(Settings(**(QUICK.get(name, {}) | given)))
    with translated(wide):
        figure = json.loads(picture.figure(result, "light").to_json())
        words = [picture.title, picture.description(result), *figure_words(figure)]
    assert len(words) > 5
    assert {word: english(word) for word in words if english(word)} == {}


def figure_words(figure) -> Iterator[str]:
    """What a reader sees written in a figure: notes, legends, titles of axes, sliders, buttons."""
    layout = figure["layout"]
    yield from (note["text"] for note in layout.get("annotations", ()))
    yield from (
        trace["name"] for trace in figure["data"] if trace.get("showlegend", "name" in trace)
    )
    for name, part in layout.items():
        if name[1:5] == "axis":
            yield part.get("title", {}).get("text", "")
    yield from (slider["currentvalue"].get("prefix", "") for slider in layout.get("sliders", ()))
    for menu in layout.get("updatemenus", ()):
        yield from (button.get("label", "") for button in menu["buttons"])


def test_test_finds_english():
    """Negative control."""
    assert english("a word") == ["word"]
    assert english(wide("**a word** of $math$ <b>here</b>")) == []


@pytest.mark.parametrize("key", [key for key, claim in CLAIMS.items() if claim.page])
def test_tab_of_a_claim_exists(key):
    page, query = CLAIMS[key].destination
    tabs = getattr(import_module(f"normgeo.ui.{page}"), "TABS", {})
    assert Settings.from_query(query)[0].tab in {"auto", *tabs}
