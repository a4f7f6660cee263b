"""Which values of a setting a page can show: those that its main picture does not refuse.

The estimate of a picture's cost refuses impossible combinations before anything is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from normgeo.base.budget import PAGES
from normgeo.base.refusal import Refusal
from normgeo.base.rules import Choice, Whole
from normgeo.base.text import text
from normgeo.pictures import PICTURES
from normgeo.settings import RULES, Settings

EACH = "neurons", "groups"
"""Settings whose every whole number is tried; others are refused only if they are too large."""
MOST_RANGES = 3

Judge = str | Callable[[Settings], None]
"""Refuses settings: a picture, by its name, or a function for a visitor's own layer."""


def why_not(picture: Judge, settings: Settings, name: str, value: Any) -> str:
    """Why a picture refuses a value of a setting, in a sentence; "" where it does not."""
    changed = replace(settings, **{name: value})
    try:
        if callable(picture):
            picture(changed)
        else:
            PAGES.require(PICTURES[picture].study.cost(changed), PICTURES[picture].title)
    except Refusal as refusal:
        return str(refusal)
    return ""


def possible(
    picture: Judge, settings: Settings, name: str, values: Sequence[Any]
) -> tuple[Any, ...]:
    """The values of a setting that a picture does not refuse.

    If it refuses all of them, another setting is at fault, and all are returned.
    """
    if callable(picture):  # nothing of a visitor's own is kept for others
        there = (value for value in values if not why_not(picture, settings, name, value))
        return (*there,) or tuple(values)
    if name not in PICTURES[picture].uses:
        return tuple(values)
    return _possible(picture, _key(picture, settings), name, tuple(values)) or tuple(values)


def _key(picture: str, settings: Settings) -> Settings:
    """The settings that a refusal may depend on, the others at their defaults."""
    return replace(PICTURES[picture].decisive(settings), seed=Settings.seed)


@lru_cache(maxsize=256)
def _possible(
    picture: str, settings: Settings, name: str, values: tuple[Any, ...]
) -> tuple[Any, ...]:
    return tuple(value for value in values if not why_not(picture, settings, name, value))


def whole(picture: Judge, settings: Settings, name: str, rule: Whole) -> Sequence[int]:
    """The whole numbers that a picture does not refuse, in their order."""
    if name in EACH:
        return possible(picture, settings, name, range(rule.low, rule.high + 1))

    # Nothing of a visitor's own is kept for others.
    most = _most.__wrapped__ if callable(picture) else _most
    key = settings if callable(picture) else _key(picture, settings)
    return range(rule.low, most(picture, key, name, rule.low, rule.high) + 1)


@lru_cache(maxsize=1024)
def _most(picture: Judge, settings: Settings, name: str, low: int, high: int) -> int:
    """The largest whole number that is not refused; `high` if even the least is refused."""

    def works(value: int) -> bool:
        return not why_not(picture, settings, name, value)

    if works(high) or not works(low):
        return high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if works(middle) else (low, middle)
    return low


def left_out(picture: Judge, settings: Settings, name: str) -> list[str]:
    """Which values of a setting are left out, and why, in a sentence for each reason.

    A field itself says which numbers are too large for it.
    """
    if not picture:
        return []
    rule = RULES[name]
    reasons: dict[str, list[str]] = {}
    if isinstance(rule, Choice):
        there = possible(picture, settings, name, rule.options)
        for value in rule.options:
            if value not in there:
                why = why_not(picture, settings, name, value)
                reasons.setdefault(why, []).append(rule.title(value))
    elif isinstance(rule, Whole) and name == "neurons":
        numbers = range(rule.low, rule.high + 1)
        out = set(numbers) - set(whole(picture, settings, name, rule))
        if out:
            why = why_not(picture, settings, name, min(out))
            reasons[why] = _ranges(sorted(out))
    return [
        text("Not here: {words}. {why}", words=", ".join(words), why=why)
        for why, words in reasons.items()
    ]


def _ranges(numbers: Sequence[int]) -> list[str]:
    """Whole numbers in words, the first few ranges of many.

    >>> _ranges([1, 2, 4, 6, 7, 8]), _ranges([1, 3, 5, 7])
    (['1 to 2', '4', '6 to 8'], ['1', '3', '5', '…'])

    """
    there = set(numbers)
    starts = [n for n in numbers if n - 1 not in there]
    ends = [n for n in numbers if n + 1 not in there]
    words = [
        str(a) if a == b else text("{a} to {b}", a=a, b=b)
        for a, b in zip(starts, ends, strict=True)
    ]
    return words if len(words) <= MOST_RANGES else [*words[:MOST_RANGES], "…"]
