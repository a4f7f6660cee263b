"""Checks of arguments other than arrays: numbers, counts, seeds, words, types.

Each check returns the argument, converted to the type that computations use.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from itertools import islice
from math import isfinite, log10
from numbers import Integral, Real
from pathlib import Path
from reprlib import Repr
from typing import Any, SupportsInt, TypeGuard, TypeVar

import numpy as np

from normgeo.base.numbers import power
from normgeo.base.refusal import Refusal
from normgeo.base.text import printable, text

T = TypeVar("T")

LARGEST_COUNT = 10**9
"""More steps, draws or cases than anyone would wait for."""

LARGEST_LIST = 10**6
"""Most sizes, widths or steps in a list, each of which takes a computation."""

LARGEST_SEED = 2**64 - 1

LONGEST_PATH = 4096
"""Bytes of the longest path in Linux; other systems allow less, or hardly more."""

_WORDS = (str, bytes, bytearray, memoryview)  # iterable, with characters or bytes as entries
_NO_NUMBERS = (bool, np.timedelta64)  # though Python and NumPy count them among the integers

_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = 60


def real_number(
    name: str,
    value: object,
    *,
    least: float | None = None,
    above: float | None = None,
    below: float | None = None,
) -> float:
    """Return a finite number in a range, as a float.

    Args:
        name: of the argument. least: the smallest allowed number. above, below: exclusive bounds.
            None leaves a side open.

    Raises:
        Refusal: no number, a boolean, not finite, beyond what a float holds, or out of range.

    >>> real_number("rate", 1, above=0)
    1.0

    """
    number = _float(value)
    inside = (
        number is not None
        and (least is None or number >= least)
        and (above is None or number > above)
        and (below is None or number < below)
    )
    if number is None or not inside:
        low = text(" from {least:g} up", least=least) if least is not None else ""
        low = text(" above {above:g}", above=above) if above is not None else low
        high = text(" below {below:g}", below=below) if below is not None else ""
        joined = text(" and") if low and high else ""
        rule = text("a finite number{low}{joined}{high}", low=low, joined=joined, high=high)
        raise _refusal(name, rule, value)
    return number


def whole_number(
    name: str,
    value: object,
    least: int = 0,
    most: int | None = None,
    meaning: str = "",
    *,
    by_type: bool = False,
) -> int:
    """Return a whole number in a range, as an int.

    Args:
        name: of the argument. least: of the range. most: of the range, LARGEST_COUNT where None.
        meaning: words for the range, to follow it in the sentence.
        by_type: whether 2.0 is refused like 2.5, for a number that is kept unconverted.

    Raises:
        Refusal: no whole number, a boolean, or out of range.

    >>> whole_number("steps", 1e4, 1)
    10000

    """
    limit = LARGEST_COUNT if most is None else most
    number = _whole(value, by_type)
    if number is not None:
        if least <= number <= limit:
            return number
        if number > limit:
            most = limit
    rule = (
        text("a whole number from {least} up", least=least)
        if most is None
        else text("a whole number from {least} to {most}", least=least, most=most)
    )
    raise _refusal(name, f"{rule}, {meaning}" if meaning else rule, value)


def whole_numbers(
    name: str, values: object, least: int = 0, most: int | None = None
) -> tuple[int, ...]:
    """Return several whole numbers in a range, as `whole_number` does each.

    >>> whole_numbers("widths", np.array([8, 4]), 1)
    (8, 4)

    """
    found = entries(name, values, text("whole numbers"))
    return tuple(whole_number(name, value, least, most) for value in found)


def entries(name: str, values: object, kind: str) -> tuple[Any, ...]:
    """Return the entries of a list, at most LARGEST_LIST; refuse anything else.

    >>> entries("files", ("a.npz", "b.npz"), "paths")
    ('a.npz', 'b.npz')

    """
    try:
        if isinstance(values, _WORDS) or not isinstance(values, Iterable):
            raise TypeError(values)
        found = tuple(islice(values, LARGEST_LIST + 1))
    except TypeError as error:  # as of an array without an axis
        raise _refusal(name, text("a list of {kind}", kind=kind), values) from error
    if len(found) > LARGEST_LIST:
        rule = text("a list of at most {most:,} {kind}", most=LARGEST_LIST, kind=kind)
        raise _refusal(name, rule, values)
    return found


def is_whole(value: object) -> TypeGuard[SupportsInt]:
    """Whether a value has an integer type of Python or NumPy, and is not a boolean."""
    return isinstance(value, Integral) and not isinstance(value, _NO_NUMBERS)


def digits(word: str) -> int | None:
    """Return the number written by a word of digits; None for other words, or beyond 10¹⁸.

    >>> digits("0500"), digits("-1"), digits("9" * 5000)
    (500, None, None)

    """
    return int(word) if word.isascii() and word.isdecimal() and len(word) < 19 else None


def seed_number(value: object, name: str = "seed") -> int:
    """Return the seed of a generator, a whole number from 0 to 2⁶⁴ − 1; refuse anything else.

    >>> seed_number(np.int64(7))
    7

    """
    return whole_number(name, value, 0, LARGEST_SEED)


def flag(name: str, value: object) -> bool:
    """Return True or False; refuse anything else, also values that Python counts as one of them.

    >>> flag("replacement", np.True_)
    True

    """
    if not isinstance(value, bool | np.bool_):
        raise _refusal(name, text("True or False"), value)
    return bool(value)


def word_of(name: str, value: object, words: Iterable[str]) -> str:
    """Return one of some words; refuse anything else.

    >>> word_of("plane", "principal", ("principal", "first_step"))
    'principal'

    """
    words = tuple(words)
    if not isinstance(value, str) or value not in words:
        rule = text("one of {words}", words=", ".join(words))
        raise _refusal(name, rule, value)
    return value


def entry_of(name: str, value: object, registry: Mapping[str, T], kind: type[T]) -> T:
    """Return an object of a registry, given as itself or by its key; refuse anything else.

    >>> entry_of("family", "gaussian", {"gaussian": 1.5}, float)
    1.5

    """
    return value if isinstance(value, kind) else registry[word_of(name, value, registry)]


def file_path(name: str, value: object) -> Path:
    """Return the path of a file, given as words or as a path; refuse anything else.

    >>> file_path("path", "run.normgeo").name
    'run.normgeo'

    """
    if not isinstance(value, str | os.PathLike):
        raise _refusal(name, text("the path of a file"), value)
    try:
        path = Path(value)
    except TypeError as error:  # its `__fspath__` gives no words
        raise _refusal(name, text("the path of a file"), value) from error
    try:
        written = os.fsencode(path)
    except UnicodeEncodeError as error:
        raise _refusal(name, text("the path of a file, of whole characters"), value) from error
    if b"\0" in written:
        raise _refusal(name, text("the path of a file, without NUL characters"), value)
    if len(written) > LONGEST_PATH:
        rule = text("the path of a file, of at most {most:,} bytes", most=LONGEST_PATH)
        raise _refusal(name, rule, value)
    return path


def instance_of(name: str, value: object, kind: type[T]) -> T:
    """Return an object of a type; refuse anything else.

    >>> instance_of("rng", np.random.default_rng(0), np.random.Generator)
    Generator(PCG64) at ...

    """
    if not isinstance(value, kind):
        raise _refusal(name, text("of type {kind}", kind=kind.__name__), value)
    return value


def shown(value: object) -> str:
    """The value that arrived, short enough for a sentence.

    >>> shown("three"), shown(2.5), shown(np.float64(0.1)), shown(10**400)
    ("'three'", '2.5', '0.1', 'about 10⁴⁰⁰')

    """
    if is_whole(value):
        number = int(value)  # Python refuses to write out a number of more than 4,300 digits
        if number.bit_length() <= 128:
            return str(number)
        about = text("about {power}", power=power(int(number.bit_length() * log10(2))))
        return about if number > 0 else text("−({about})", about=about)
    if isinstance(value, np.floating):
        return str(value)
    return printable(" ".join(_SHORT.repr(value).split()))  # NumPy's `repr` has several lines


def _float(value: object) -> float | None:
    """A finite number as a float; None for anything else."""
    if isinstance(value, _NO_NUMBERS) or not isinstance(value, Real):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if isfinite(number) else None


def _whole(value: object, by_type: bool) -> int | None:
    """A whole number as an int; None for anything else."""
    if is_whole(value):
        return int(value)
    number = None if by_type else _float(value)
    return int(number) if number is not None and number == int(number) else None


def _refusal(name: str, rule: str, value: object) -> Refusal:
    return Refusal(
        "`{name}` must be {rule}; got {value}.", name=name, rule=rule, value=shown(value)
    )
