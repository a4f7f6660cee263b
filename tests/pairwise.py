"""Fewer cases with the same protection: every pair of values of two axes occurs in one of them.

    every_method = pytest.mark.pairwise("words", GRID)
    every_family = pytest.mark.pairwise("family", FAMILIES)

A test with both marks runs on a small part of their products, in which each center meets each scale
and each family, and each scale each family. The other products are marked `exhaustive`. If the
values of a mark are already products, `each=False` says so: they need not all have a case.

    each_method = pytest.mark.parametrize("words, family", each(GRID, FAMILIES))

needs still fewer: each value has a case.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import chain, combinations, cycle, islice, product
from typing import Any, NamedTuple

import pytest

from normgeo import Normalizer

Ids = Sequence[str] | Callable[[object], str] | None


class Value(NamedTuple):
    """One mark's contribution to a test: its arguments, their name, and their factors."""

    arguments: tuple[object, ...]
    id: str
    factors: tuple[Hashable, ...]


def cover(rows: Sequence[Sequence[Hashable]], of: int = 2) -> set[int]:
    """Indices of a few rows that contain every pair of values of two columns that all rows contain.

    With `of` columns instead of two; single values if it is 1. The algorithm is greedy: the next
    row adds the most missing pairs, and is the first such row.
    """
    bits: dict[Hashable, int] = {}
    found = [combinations(enumerate(row), min(of, len(row))) for row in rows]
    pairs = [sum(1 << bits.setdefault(pair, len(bits)) for pair in row) for row in found]
    missing, chosen = (1 << len(bits)) - 1, set[int]()
    while missing:
        index = max(range(len(rows)), key=lambda index: (pairs[index] & missing).bit_count())
        missing &= ~pairs[index]
        chosen.add(index)
    return chosen


def loops(*axes: Iterable[Hashable], of: int = 2) -> list[pytest.ParameterSet]:
    """Products of axes for a loop: those that cover all pairs, or all values, and the rest.

        @pytest.mark.parametrize("rows", loops(DATASETS, NORMALIZERS, of=1))

    gives a test two lists of rows; the second is exhaustive. Cheap cases need not be collected
    singly.
    """
    rows = [*product(*axes)]
    return _apart(rows, cover(rows, of))


def grouped(rows: Iterable[Sequence[Any]]) -> list[pytest.ParameterSet]:
    """Rows for a loop, such as products whose values do not all fit: those that cover, the rest.

    Each pair of two factors of a row is covered, where the entries of a tuple are factors.
    """
    rows = [*rows]
    parts = [
        [part for value in row for part in factors(value, index)] for index, row in enumerate(rows)
    ]
    return _apart(rows, cover(parts))


def _apart(rows: Sequence[Any], chosen: set[int]) -> list[pytest.ParameterSet]:
    few = [rows[index] for index in sorted(chosen)]
    others = [row for index, row in enumerate(rows) if index not in chosen]
    rest = pytest.param(others, id="others", marks=pytest.mark.exhaustive)
    return [pytest.param(few, id="covering"), *([rest] if others else [])]


def some(rows: Sequence[Any], step: int) -> list[pytest.ParameterSet]:
    """Every `step`-th row for a loop, and the other rows, which are exhaustive."""
    others = [row for index, row in enumerate(rows) if index % step]
    rest = pytest.param(others, id="others", marks=pytest.mark.exhaustive)
    return [pytest.param(rows[::step], id="some"), rest]


def factors(value: object, index: int) -> Iterator[Hashable]:
    """The factors that a value combines: entries of a tuple or normalizer; or the value itself."""
    match value:
        case tuple():
            yield from map(repr, value)
        case Normalizer():
            yield from (*value.words, value.groups, value.eps > 0, value.statistics)
        case str() | int() | float() | None:
            yield value
        case _:
            yield index


def named(value: object, index: int, name: str) -> str:
    match value:
        case str() | int() | float() | None:
            return str(value)
        case tuple():
            return "-".join(map(str, value))
        case Normalizer():
            return str(value.title)
        case _:
            return f"{name}{index}"


def values(argnames: str | Sequence[str], given: Iterable[Any], ids: Ids = None) -> Iterator[Value]:
    """The values of a mark, which is written like `parametrize`."""
    names = listed(argnames)
    if ids is not None and not callable(ids):
        ids = [*ids]
    for index, row in enumerate(given):
        if isinstance(row, pytest.ParameterSet):
            arguments, own = row.values, row.id
        else:
            arguments, own = (tuple(row) if len(names) > 1 else (row,)), None
        if own is None and isinstance(ids, list):
            own = ids[index]
        if own is None:
            words = [ids(one) if callable(ids) else None for one in arguments]
            each = zip(words, arguments, names, strict=True)
            own = "-".join(word or named(one, index, name) for word, one, name in each)
        parts = (factors(one, index) for one in arguments)
        yield Value(arguments, own, tuple(chain.from_iterable(parts)))


def listed(argnames: str | Sequence[str]) -> list[str]:
    """The names of arguments, given as one string with commas or one by one."""
    return [*map(str.strip, argnames.split(",") if isinstance(argnames, str) else argnames)]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrize a test by products of its marks: those that cover, and the rest if they run."""
    marks = [*metafunc.definition.iter_markers("pairwise")]
    if not marks:
        return
    names = [*chain.from_iterable(listed(mark.args[0]) for mark in marks)]
    given = [[*values(*mark.args, ids=mark.kwargs.get("ids"))] for mark in marks]
    rows = [*product(*given)]
    chosen = cover([[factor for value in row for factor in value.factors] for row in rows])
    # A value whose pairs are covered by others has a case too; rows of several are already
    # products.
    listed_alone = [mark.kwargs.get("each", len(listed(mark.args[0])) == 1) for mark in marks]
    missing = {
        id(value) for own, few in zip(listed_alone, given, strict=True) if own for value in few
    }
    missing -= {id(value) for index in chosen for value in rows[index]}
    for index, row in enumerate(rows):
        if not missing.isdisjoint(map(id, row)):
            chosen.add(index)
            missing.difference_update(map(id, row))
    if metafunc.config.getoption("markexpr") == "not exhaustive":
        rows, chosen = [rows[index] for index in sorted(chosen)], {*range(len(chosen))}
    metafunc.parametrize(
        names,
        [
            pytest.param(
                *(argument for value in row for argument in value.arguments),
                id="-".join(value.id for value in row),
                marks=() if index in chosen else pytest.mark.exhaustive,
            )
            for index, row in enumerate(rows)
        ],
    )


def each(*axes: Iterable[Any]) -> list[pytest.ParameterSet]:
    """Products of axes for `parametrize`; `make test` runs enough to have each value once."""
    values = [[*dict.fromkeys(axis)] for axis in axes]
    shown = [*islice(zip(*map(cycle, values), strict=False), max(map(len, values)))]
    rest = [row for row in product(*values) if row not in shown]
    return [
        *(pytest.param(*row) for row in shown),
        *(pytest.param(*row, marks=pytest.mark.exhaustive) for row in rest),
    ]


def first(given: Iterable[Any], count: int = 1) -> list[pytest.ParameterSet]:
    """Values for `parametrize`, each once: all after the first few are marked `exhaustive`."""
    return [
        pytest.param(
            *(value if isinstance(value, tuple) else (value,)),
            marks=pytest.mark.exhaustive if index >= count else (),
        )
        for index, value in enumerate(dict.fromkeys(given))
    ]
