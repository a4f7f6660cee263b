"""Where the cells of a sheet stand: rows of columns, whose panels share the height that is left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

from normgeo.pictures.style.sheet.bands import EDGE, Form
from normgeo.pictures.style.sheet.panel import Panel
from normgeo.pictures.style.sheet.table_cell import Marks

Cell = Panel | Marks
Column = tuple[Cell, ...]


class Length(NamedTuple):
    """Pixels, and a share of the height of the paper, which a screen may decide."""

    pixels: float
    share: float

    def at(self, high: float) -> float:
        """Return its pixels on a paper of a height."""
        return self.pixels + self.share * high

    def plus(self, pixels: float, other: Length | None = None, times: float = 1.0) -> Length:
        """Return it with some pixels more, and a part of another one."""
        more = other or Length(0, 0)
        return Length(self.pixels + pixels + times * more.pixels, self.share + times * more.share)


class Box(NamedTuple):
    """Where a cell stands: from the left and the top of the paper, and its sizes."""

    left: float
    wide: float
    top: Length
    high: Length
    head: float  # pixels for words above it
    edge: float  # pixels at its left that these take as well

    @property
    def foot(self) -> Length:
        """Where it ends."""
        return self.top.plus(0, self.high)


@final
@dataclass(frozen=True)
class Grid:
    """The boxes of all cells on a paper of a width.

    Attributes:
        boxes: by the place of the cell. high: of the paper, as the cells would have it.
        least: the same of the smallest panels. below: pixels under the paper.
        names: how far down a legend ends.

    """

    boxes: dict[int, Box]
    high: float
    least: float
    below: float
    names: Length

    @classmethod
    def of(
        cls,
        rows: Sequence[Sequence[Sequence[int]]],
        among: Sequence[Sequence[Cell]],
        wide: float,
        form: Form,
        shared: bool,
        keys: tuple[int, float],
    ) -> Grid:
        """Return the boxes of cells, given the places of those in each column of each row.

        Args:
            rows: of columns of places. among: the cells of all frames.
            wide: pixels of the paper. shared: whether cells share the labels of the first.
            keys: the row that a legend stands over, and its pixels.

        """
        cells = among[0]
        gaps = [0.0] * max(map(len, rows))
        for row in rows:
            for k, column in enumerate(row[1:], start=1):
                beside = max(cells[place].beside(False, form) for place in column)
                gaps[k] = max(gaps[k], EDGE + (EDGE if shared else beside))
        bands = [_Row.of(row, among, wide, gaps, form) for row in rows]
        fixed = keys[1] + sum(row.head + row.below for row in bands) - bands[-1].below
        whole = sum(row.high for row in bands)
        boxes: dict[int, Box] = {}
        down = names = Length(0, 0)
        for number, one in enumerate(bands):
            if number == keys[0]:
                down = names = down.plus(keys[1])
            # All rows share what their words leave.
            high = Length(-fixed * one.high / whole, one.high / whole)
            boxes |= one.boxes(down.plus(one.head), high)
            down = down.plus(one.head + one.below, high)
        least = fixed + whole * max(row.least / row.high for row in bands)
        return cls(boxes, fixed + whole, least, bands[-1].below, names)


class _Part(NamedTuple):
    """A cell in its column, in pixels."""

    place: int
    head: float
    high: float
    least: float
    below: float

    @classmethod
    def of(
        cls, place: int, among: Sequence[Sequence[Cell]], wide: float, form: Form, last: bool
    ) -> _Part:
        every = [cells[place] for cells in among]
        below = max(cell.below(wide, form) for cell in every)
        return cls(
            place,
            max(cell.above(wide, form) for cell in every),
            max(cell.height(wide, form) for cell in every),
            max(cell.least(wide, form) for cell in every),
            EDGE + below if below or last else 0.0,
        )


class _Row(NamedTuple):
    """Columns beside each other: where each begins, how wide it is, and its parts.

    Columns of equally many parts begin at one height: `head` is the largest, `heads` those of all.
    """

    columns: Sequence[tuple[float, float, Sequence[_Part]]]
    head: float
    heads: Sequence[float]
    high: float
    least: float
    below: float
    edge: float

    @classmethod
    def of(
        cls,
        row: Sequence[Sequence[int]],
        among: Sequence[Sequence[Cell]],
        wide: float,
        gaps: Sequence[float],
        form: Form,
    ) -> _Row:
        if len(row) > 1:  # words of the others have no room there
            form = form._replace(edge=0.0)
        cells = among[0]
        shares = [max(cells[place].share for place in column) for column in row]
        bars = [max(cells[place].bar(form) for place in column) for column in row]
        least = [max(cells[place].narrowest for place in column) for column in row]
        widths = _widths(wide - sum(gaps[: len(row)]) - sum(bars), shares, least)
        columns, left = [], 0.0
        for column, inner, bar, gap in zip(row, widths, bars, gaps, strict=False):
            own = inner + bar
            parts = [_Part.of(place, among, own, form, place == column[-1]) for place in column]
            columns.append((left + gap, own, parts))
            left += gap + own
        every = [parts for _, _, parts in columns]
        below = max(parts[-1].below for parts in every)
        # A table goes on beside the labels and the titles of axes.
        between = [
            _between(parts) - (below - parts[-1].below) * isinstance(cells[parts[-1].place], Marks)
            for parts in every
        ]
        first: dict[int, float] = {}
        for parts in every:
            first[len(parts)] = max(parts[0].head, first.get(len(parts), 0.0))
        heads, head = [first[len(parts)] for parts in every], max(first.values())
        between = [fixed + own - head for fixed, own in zip(between, heads, strict=True)]
        return cls(
            columns,
            head,
            heads,
            max(
                fixed + sum(part.high for part in parts)
                for fixed, parts in zip(between, every, strict=True)
            ),
            max(
                fixed + sum(part.high for part in parts) * max(p.least / p.high for p in parts)
                for fixed, parts in zip(between, every, strict=True)
            ),
            below,
            form.edge,
        )

    def boxes(self, top: Length, high: Length) -> dict[int, Box]:
        """Return the boxes of its cells, between its top and its height."""
        found = {}
        for (left, wide, parts), first in zip(self.columns, self.heads, strict=True):
            down, whole = top.plus(first - self.head), sum(part.high for part in parts)
            free = high.plus(self.head - first - _between(parts))
            for number, part in enumerate(parts):
                own = Length(0, 0).plus(0, free, part.high / whole)
                if number:
                    down = down.plus(part.head)
                head = part.head if number else first
                found[part.place] = Box(left, wide, down, own, head, self.edge)
                down = down.plus(part.below, own)
        return found


def _widths(wide: float, shares: Sequence[float], least: Sequence[float]) -> list[float]:
    """The widths of columns by their shares; those that would be too narrow take from the rest."""
    each, fits = wide / sum(shares), min(1.0, wide / (sum(least) or wide))
    least = [fits * low for low in least]
    narrow = [share * each < low for share, low in zip(shares, least, strict=True)]
    taken = sum(low for low, small in zip(least, narrow, strict=True) if small)
    left = sum(share for share, small in zip(shares, narrow, strict=True) if not small)
    rest = (wide - taken) / (left or 1.0)
    return [
        low if small else share * rest
        for share, low, small in zip(shares, least, narrow, strict=True)
    ]


def _between(parts: Sequence[_Part]) -> float:
    """The pixels of words between the cells of a column."""
    return sum(part.below for part in parts[:-1]) + sum(part.head for part in parts[1:])
