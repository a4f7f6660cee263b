"""Sentences for people: each passes through `text`, and is formatted when it is shown.

Values from outside the program (an address, a file and its names, a recipe) appear as `{value!r}`,
in quotes, or `{name!s}`, without them. They are then never read as markup: a terminal gets escapes
for characters that it cannot print, a page gets code. For this a sentence keeps its form and its
values, and `str` and f-strings mark them as the place requires.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from string import Formatter
from typing import Any, Self, final

Mark = Callable[[str], str]
"""Escapes words from outside for a place that reads markup."""

_mark: ContextVar[Mark] = ContextVar("mark", default=str)


@final
class Text(str):
    """A sentence that keeps its form and its values; as a plain string it is frozen."""

    sentence: str
    values: dict[str, Any]

    def __new__(cls, sentence: str, values: dict[str, Any]) -> Self:
        self = super().__new__(cls, _filled(sentence, values))
        self.sentence, self.values = sentence, values
        return self

    def __str__(self) -> str:
        return _filled(self.sentence, self.values)

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __reduce__(self) -> tuple[type[Text], tuple[str, dict[str, Any]]]:
        return Text, (self.sentence, self.values)


def text(sentence: str, /, **values: Any) -> str:
    """Return a sentence for people, its {placeholders} filled in when it is shown.

    >>> text("{n} cases", n=3)
    '3 cases'

    """
    return sentence if isinstance(sentence, Text) and not values else Text(sentence, values)


@contextmanager
def marking(mark: Mark) -> Iterator[None]:
    """Mark the values from outside in sentences by `mark`, as long as the block lasts."""
    token = _mark.set(mark)
    try:
        yield
    finally:
        _mark.reset(token)


def printable(words: str) -> str:
    r"""Words on one line, with escapes for characters that cannot be printed.

    >>> printable("a\x1b[2J\u202eb\n")
    'a\\x1b[2J\\u202eb\\n'

    """
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in words
    )


@final
class _Filler(Formatter):
    """Fills in placeholders; a conversion (!r, !s) marks a value from outside."""

    def convert_field(self, value: Any, conversion: str | None) -> Any:
        if isinstance(value, Text):
            return repr(str(value)) if conversion == "r" else value
        if conversion is None:
            return value
        return _mark.get()(printable(repr(value) if conversion == "r" else str(value)))


_FILLER = _Filler()


def _filled(sentence: str, values: dict[str, Any]) -> str:
    if "!" in sentence and values:
        return _FILLER.vformat(sentence, (), values)
    return sentence.format(**values) if values else sentence
