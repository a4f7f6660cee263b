"""Rules of settings: the allowed values, in a sentence, and how to read them from text or JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, final

from normgeo.base.arguments import real_number, shown, whole_number
from normgeo.base.refusal import Refusal
from normgeo.base.text import text

OPEN = "auto"  # the word for a number that is left open


class Rule(Protocol):
    """The allowed values of a setting."""

    @property
    def sentence(self) -> str:
        """The rule, to follow "must be"."""
        ...

    def parse(self, value: object) -> Any:
        """Return the value, from text or JSON; raises ValueError or TypeError."""
        ...


@final
@dataclass(frozen=True)
class Choice:
    """One of several words.

    Attributes:
        titles: of each word, or objects of a registry with their own `title`.
        renamed: the new word for each old one that links and recipes may still hold.

    """

    titles: Mapping[str, Any] = field(hash=False)
    renamed: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def options(self) -> tuple[str, ...]:
        """The words."""
        return tuple(self.titles)

    @property
    def sentence(self) -> str:
        return text("one of {options}", options=", ".join(self.options))

    def title(self, option: str) -> str:
        """The title of a word."""
        titled = self.titles[option]
        return str(text(titled if isinstance(titled, str) else titled.title))

    def parse(self, value: object) -> str:
        word = self.renamed.get(value, value) if isinstance(value, str) else value
        if not isinstance(word, str) or word not in self.titles:
            raise ValueError
        return word


@final
@dataclass(frozen=True)
class Word:
    """Any word in lower case; the code that reads the setting knows which ones have a meaning."""

    sentence: str

    def parse(self, value: object) -> str:
        if not isinstance(value, str) or not re.fullmatch("[a-z0-9_]{1,40}", value):
            raise ValueError
        return value


@final
@dataclass(frozen=True)
class Whole:
    """A whole number in a range."""

    low: int
    high: int

    @property
    def sentence(self) -> str:
        return text("a whole number from {low} to {high}", low=self.low, high=self.high)

    def parse(self, value: object) -> int:
        number = int(value) if isinstance(value, str) else value
        return whole_number("value", number, self.low, self.high)


@final
@dataclass(frozen=True)
class Number:
    """A finite number in a range; `nonzero` leaves out 0."""

    low: float
    high: float
    nonzero: bool = False

    @property
    def sentence(self) -> str:
        if self.nonzero:
            return text("a number from {low:g} to {high:g}, not 0", low=self.low, high=self.high)
        return text("a number from {low:g} to {high:g}", low=self.low, high=self.high)

    def parse(self, value: object) -> float:
        number = real_number("value", float(value) if isinstance(value, str) else value)
        if not self.low <= number <= self.high or (self.nonzero and number == 0):
            raise ValueError
        return number


@final
@dataclass(frozen=True)
class Matrix:
    """A matrix of whole numbers in a range, in one word: rows joined by "_", entries by ".".

    Attributes:
        like: one of the same size. low, high: of each entry.

    """

    like: str
    low: int
    high: int

    @property
    def sentence(self) -> str:
        return text(
            "whole numbers from {low} to {high} in the form {like}",
            low=self.low,
            high=self.high,
            like=self.like,
        )

    def parse(self, value: object) -> str:
        if not isinstance(value, str) or len(value) > 1000:
            raise ValueError
        rows, form = ([row.split(".") for row in word.split("_")] for word in (value, self.like))
        if [len(row) for row in rows] != [len(row) for row in form]:
            raise ValueError
        return "_".join(".".join(map(self._entry, row)) for row in rows)

    def _entry(self, digits: str) -> str:
        if not re.fullmatch("-?[0-9]{1,9}", digits) or not self.low <= int(digits) <= self.high:
            raise ValueError
        return str(int(digits))


@final
@dataclass(frozen=True)
class Open:
    """A value that another rule allows, or None ("auto" in text): the picture chooses one."""

    rule: Whole | Number

    @property
    def sentence(self) -> str:
        return text("{open}, or {rule}", open=OPEN, rule=self.rule.sentence)

    def parse(self, value: object) -> Any:
        return None if value in (None, OPEN) else self.rule.parse(value)


@final
class Setting:
    """A field of a frozen dataclass: its default, its rule, and the words of its widget.

    It is a descriptor, so that the dataclass sees the default. The dataclass parses its values when
    it is made.

    Attributes:
        default: of the field. rule: of its values. label: of its widget, "" without one.
        help: explains the label. step: of a widget for numbers.

    """

    def __init__(self, default: Any, rule: Rule, label: str, help: str, step: float) -> None:
        self.default, self.rule = default, rule
        self.label, self.help, self.step = label, help, step
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: object | None, owner: type | None = None) -> Any:
        return self.default  # an instance's own value takes precedence

    def parse(self, value: object) -> Any:
        """Return the value, from text or JSON; raises ValueError, in one sentence."""
        try:
            return self.rule.parse(value)
        except (TypeError, ValueError) as error:
            raise Refusal(complaint(self.name, self.rule, value)) from error


def complaint(name: str, rule: Rule, value: object) -> str:
    """The mistake in the value of a setting, in a sentence."""
    return text(
        "`{name}` must be {rule}; got {value!r}.",
        name=name,
        rule=rule.sentence,
        value=(value if isinstance(value, str) else shown(value))[:60],
    )
