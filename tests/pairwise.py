"""Fewer cases for the same protection: those in which every pair of values of two axes occurs.

    every_method = pytest.mark.pairwise("words", GRID)
    every_family = pytest.mark.pairwise("family", FAMILIES)

A test with both marks runs on so few of their products that each center meets each scale and each
family, and each scale each family. What is left of the products is marked `exhaustive`. A mark
whose values are all products themselves says so, `each=False`: they need not all have a case.

    each_method = pytest.mark.parametrize("words, family", each(GRID, FAMILIES))

does with fewer: each value has a case.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import chain, combinations, cycle, islice, product
from typing import Any, NamedTuple

import pytest

from normgeo import Normalizer

Ids = Sequence[str] | Callable[[object], str] | None


class Value(NamedTuple):
    """What one mark gives to a test: its arguments, their name, and what they combine."""

    arguments: tuple[object, ...]
    id: str
    factors: tuple[Hashable, ...]


def cover(rows: Sequence[Sequence[Hashable]], of: int = 2) -> set[int]:
    """Places of a few rows in which every pair of values of two columns occurs that rows have.

    With `of` columns for two; each value by itself if it is 1. Greedy: the next row brings the
    most pairs that are missing, and is the first of these.
    """
    bits: dict[Hashable, int] = {}
    found = [combinations(enumerate(row), min(of, len(row))) for row in rows]
    pairs = [sum(1 << bits.setdefault(pair, len(bits)) for pair in row) for row in found]
    missing, chosen = (1 << len(bits)) - 1, set[int]()
    while missing:
        place = max(range(len(rows)), key=lambda place: (pairs[place] & missing).bit_count())
        missing &= ~pairs[place]
        chosen.add(place)
    return chosen


def loops(*axes: Iterable[Hashable], of: int = 2) -> list[pytest.ParameterSet]:
    """Products of axes for a loop: what covers all pairs of values, or all values, and the rest.

        @pytest.mark.parametrize("rows", loops(DATASETS, NORMALIZERS, of=1))

    gives a test two lists of rows: the second is exhaustive. What is cheap need not be collected.
    """
    rows = [*product(*axes)]
    chosen = cover(rows, of)
    few = [rows[place] for place in sorted(chosen)]
    others = [row for place, row in enumerate(rows) if place not in chosen]
    rest = pytest.param(others, id="others", marks=pytest.mark.exhaustive)
    return [pytest.param(few, id="covering"), *([rest] if others else [])]


def some(rows: Sequence[Any], step: int) -> list[pytest.ParameterSet]:
    """Rows for a loop: each of so many, and the others, which are exhaustive."""
    others = [row for place, row in enumerate(rows) if place % step]
    rest = pytest.param(others, id="others", marks=pytest.mark.exhaustive)
    return [pytest.param(rows[::step], id="some"), rest]


def factors(value: object, place: int) -> Iterator[Hashable]:
    """What a value combines: entries of a tuple, all of a normalizer; other values themselves."""
    match value:
        case tuple():
            yield from map(repr, value)
        case Normalizer():
            yield from (*value.words, value.groups, value.eps > 0, value.statistics)
        case str() | int() | float() | None:
            yield value
        case _:
            yield place


def named(value: object, place: int, name: str) -> str:
    match value:
        case str() | int() | float() | None:
            return str(value)
        case tuple():
            return "-".join(map(str, value))
        case Normalizer():
            return str(value.title)
        case _:
            return f"{name}{place}"


def values(argnames: str | Sequence[str], given: Iterable[Any], ids: Ids = None) -> Iterator[Value]:
    """The values of a mark that is written as `parametrize` is."""
    names = listed(argnames)
    if ids is not None and not callable(ids):
        ids = [*ids]
    for place, row in enumerate(given):
        if isinstance(row, pytest.ParameterSet):
            arguments, own = row.values, row.id
        else:
            arguments, own = (tuple(row) if len(names) > 1 else (row,)), None
        if own is None and isinstance(ids, list):
            own = ids[place]
        if own is None:
            words = [ids(one) if callable(ids) else None for one in arguments]
            each = zip(words, arguments, names, strict=True)
            own = "-".join(word or named(one, place, name) for word, one, name in each)
        parts = (factors(one, place) for one in arguments)
        yield Value(arguments, own, tuple(chain.from_iterable(parts)))


def listed(argnames: str | Sequence[str]) -> list[str]:
    """The names of arguments, given with commas between them or one by one."""
    return [*map(str.strip, argnames.split(",") if isinstance(argnames, str) else argnames)]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test the products of its marks: those that cover, and the others if they are run."""
    marks = [*metafunc.definition.iter_markers("pairwise")]
    if not marks:
        return
    names = [*chain.from_iterable(listed(mark.args[0]) for mark in marks)]
    given = [[*values(*mark.args, ids=mark.kwargs.get("ids"))] for mark in marks]
    rows = [*product(*given)]
    chosen = cover([[factor for value in row for factor in value.factors] for row in rows])
    # A value whose pairs others have has a case as well; rows of several are products themselves.
    listed_alone = [mark.kwargs.get("each", len(listed(mark.args[0])) == 1) for mark in marks]
    missing = {
        id(value) for own, few in zip(listed_alone, given, strict=True) if own for value in few
    }
    missing -= {id(value) for place in chosen for value in rows[place]}
    for place, row in enumerate(rows):
        if not missing.isdisjoint(map(id, row)):
            chosen.add(place)
            missing.difference_update(map(id, row))
    if metafunc.config.getoption("markexpr") == "not exhaustive":
        rows, chosen = [rows[place] for place in sorted(chosen)], {*range(len(chosen))}
    metafunc.parametrize(
        names,
        [
            pytest.param(
                *(argument for value in row for argument in value.arguments),
                id="-".join(value.id for value in row),
                marks=() if place in chosen else pytest.mark.exhaustive,
            )
            for place, row in enumerate(rows)
        ],
    )


def each(*axes: Iterable[Any]) -> list[pytest.ParameterSet]:
    """Products of axes for `parametrize`; `make test` has as many as show each value once."""
    values = [[*dict.fromkeys(axis)] for axis in axes]
    shown = [*islice(zip(*map(cycle, values), strict=False), max(map(len, values)))]
    rest = [row for row in product(*values) if row not in shown]
    return [
        *(pytest.param(*row) for row in shown),
        *(pytest.param(*row, marks=pytest.mark.exhaustive) for row in rest),
    ]


def first(given: Iterable[Any], count: int = 1) -> list[pytest.ParameterSet]:
    """Values for `parametrize`, each once: those after the first few are marked `exhaustive`."""
    return [
        pytest.param(
            *(value if isinstance(value, tuple) else (value,)),
            marks=pytest.mark.exhaustive if place >= count else (),
        )
        for place, value in enumerate(dict.fromkeys(given))
    ]
