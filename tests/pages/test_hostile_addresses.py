"""Words from an address are shown as they are: no link, no image, no sentence of ours.

Each page gets all of it at once, as unknown names and as values of its settings.
"""

from typing import Any

import pytest
from markdown_it import MarkdownIt

from normgeo.base.characters import code
from normgeo.base.refusal import Refusal
from normgeo.base.text import marking, text
from normgeo.settings import SETTINGS, Settings
from normgeo.ui.frame import PAGES, WARNINGS

HOSTILE = {
    "link": "[Session expired, log in](http://evil.example/)",
    "reference": "[log in][1]\n\n[1]: http://evil.example/",
    "image": "![](http://evil.example/pixel.png)",
    "bare": "http://evil.example/ www.evil.example me@evil.example",
    "html": "<img src=//evil.example/p.png onerror=alert(1)><script>alert(2)</script>",
    "anchor": "</code><a href='javascript:alert(1)'>log in</a>",
    "latex": r"$\href{http://evil.example}{x}$ $$\rule{99em}{99em}$$",
    "tick": "`[log in](http://evil.example/)",
    "ticks": "``` `[log in](http://evil.example/)` `",
    "directive": ":red[Danger] :material/warning: :smile: :orange-badge[new]",
    "heading": "\n# Session expired\n\n---\n* a\n> b\n",
    "turned": "\u202e)moc.elpmaxe//:ptth(]ni gol[\u2066",
    "nul": "a\x00b\x1b[2J\r\nc",
    "braces": "{0} {value!r} {complaint} %s",
    "lone": "\ud800\udfff",
    "long": "9" * 100_000,
    "digits": "٣" * 5_000,
    "nested": "[" * 2_000,
    "empty": "",
    "spaces": "  \t ",
}
"""Values of an address, each by what it tries."""


def parts(markdown: str) -> tuple[set[str], str, str]:
    """Return the kinds of what Markdown makes of words, its plain text, and its code."""
    blocks = MarkdownIt("commonmark", {"html": True}).parse(markdown)
    inside = [piece for block in blocks for piece in (block.children or [])]
    kinds = {block.type for block in blocks} | {piece.type for piece in inside}
    words, codes = (
        " ".join(piece.content for piece in inside if piece.type == kind)
        for kind in ("text", "code_inline")
    )
    return kinds, words, codes


HARMLESS = {"paragraph_open", "inline", "paragraph_close", "text", "code_inline"}


def test_the_oracle_sees_a_link_an_image_and_html() -> None:
    for name, kind in (("link", "link_open"), ("image", "image"), ("anchor", "html_inline")):
        assert kind in parts(HOSTILE[name])[0]


def test_code_is_the_words_and_nothing_else(subtests: pytest.Subtests) -> None:
    for name in HOSTILE:
        with subtests.test(name=name):
            words = HOSTILE[name].replace("\n", " ").replace("\r", " ").replace("\x00", "")[:200]
            kinds, around, codes = parts(f"got {code(words)} here")
            assert kinds <= HARMLESS
            assert around == "got   here"
            if words.strip():
                assert codes.strip() == words.strip()


def test_each_value_is_told_as_code(subtests: pytest.Subtests) -> None:
    for setting in [*SETTINGS, "unknown"]:
        with subtests.test(setting=setting):
            for value in HOSTILE.values():
                query = {value: "x"} if setting == "unknown" else {setting: value}
                settings, (problem,) = Settings.from_query(query)
                assert settings == Settings()
                with marking(code):
                    sentence = str(problem)
                kinds, around, codes = parts(sentence)
                assert kinds <= HARMLESS
                assert "evil" not in around
                assert repr(value[:60])[1:-1] in codes
                assert sentence.isprintable()
                assert len(sentence) < 1000


@pytest.fixture
def refused(pool: Any, nothing_kept: object) -> None:
    """No picture is computed: all refuse, with words from outside in their sentence."""

    def refuse(compute: object) -> Refusal:
        words = HOSTILE["ticks"] + HOSTILE["link"]
        return Refusal(text("There is no picture of {title!s} or {title!r}.", title=words))

    pool.refuse = refuse


@pytest.mark.usefixtures("refused")
def test_every_page_shows_a_hostile_address_as_code(shown: Any, subtests: pytest.Subtests) -> None:
    for page in PAGES:
        with subtests.test(page=page):
            first = list(PAGES).index(page) * WARNINGS % len(HOSTILE)  # other warnings on each page
            values = [*list(HOSTILE.values())[first:], *list(HOSTILE.values())[:first]]
            query = dict(zip(SETTINGS, values, strict=False)) | dict.fromkeys(values, "x")
            for none in ("", HOSTILE["lone"]):  # neither is a name in an address
                query.pop(none)
            query = {name: value for name, value in query.items() if value != HOSTILE["lone"]}
            found = shown(page, **query)
            assert len(found.warnings) == WARNINGS + 1
            assert found.warnings[-1] == (
                f"The address holds {len(query) - WARNINGS} more values that could not be used."
            )
            for sentence in [*found.warnings, *(info.value for info in found.app.info)]:
                kinds, around, _ = parts(sentence)
                assert kinds <= HARMLESS
                assert "evil" not in around
                assert sentence.isprintable()
            told = (found.app.title, found.app.markdown, found.app.caption, found.app.error)
            assert "evil" not in "\n".join(element.value for kind in told for element in kind)
