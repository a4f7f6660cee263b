"""Sentences for people: each passes through `text`, and is put into words when it is shown.

A language can change while the program runs, so a sentence remembers what it was made from: `str`
and every f-string give it in the language that is in use at that moment. A sentence that was made
earlier (a constant of a module, a note in a kept result, an error) is shown with `str(sentence)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Self, final

Translation = Callable[[str], str]
"""English sentence, with its {placeholders} → the same in another language."""

_translation: ContextVar[Translation] = ContextVar("translation", default=str)


@final
class Text(str):
    """A sentence that keeps its English form and its values; as a plain string it is frozen."""

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


def in_use() -> Translation:
    """The translation that sentences are shown through, a key for what is kept in its words."""
    return _translation.get()


@contextmanager
def translated(translation: Translation) -> Iterator[None]:
    """Show every sentence through a translation, in this thread, as long as the block lasts."""
    token = _translation.set(translation)
    try:
        yield
    finally:
        _translation.reset(token)


def _filled(sentence: str, values: dict[str, Any]) -> str:
    words = _translation.get()(sentence)
    return words.format(**values) if values else words
