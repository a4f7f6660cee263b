"""Tables of results: rows of values under headings, as data."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from typing import Any, final

import numpy as np

from normgeo.base.refusal import Refusal


@final
@dataclass(frozen=True)
class Table:
    """Rows of values under headings.

    Attributes:
        columns: the headings. rows: as many values each. title: what the table answers.
        groups: a heading over each column, equal for columns of one group; "" for none.
        notes: sentences below the table.

    An undefined number is NaN or None, and a column of its own says why.

    Raises:
        ValueError: a row or `groups` of another length, or two columns with the same headings.

    >>> Table(("animal", "legs"), (("ant", 6), ("bee", 6))).records()
    [{'animal': 'ant', 'legs': 6}, {'animal': 'bee', 'legs': 6}]

    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    title: str = ""
    groups: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, values in (
            *((f"row {i}", row) for i, row in enumerate(self.rows)),
            ("`groups`", self.groups or self.columns),
        ):
            if len(values) != len(self.columns):
                raise Refusal(
                    "A table with {columns} columns needs as many values in each row; {name} "
                    "has {count}.",
                    columns=len(self.columns),
                    name=name,
                    count=len(values),
                )
        if len(set(self.headings)) < len(self.columns):
            raise Refusal(
                "The columns of a table must differ; got {headings}.",
                headings=", ".join(self.headings),
            )

    @property
    def headings(self) -> tuple[str, ...]:
        """A heading for each column, with its group: "change W: all ×"."""
        over = self.groups or ("",) * len(self.columns)
        return tuple(
            f"{group}: {column}" if group else str(column)
            for group, column in zip(over, self.columns, strict=True)
        )

    def records(self) -> list[dict[str, Any]]:
        """The rows as dictionaries of plain values."""
        return [dict(zip(self.headings, map(plain, row), strict=True)) for row in self.rows]

    def to_frame(self) -> Any:
        """Return the records as a data frame of pandas.

        >>> Table(("animal", "legs"), (("ant", 6),)).to_frame()["legs"].tolist()
        [6]

        """
        import pandas

        return pandas.DataFrame(self.records(), columns=list(self.headings))

    def with_words(self, change: Callable[[str], str]) -> Table:
        """The table with every heading, sentence and word changed, but not numbers.

        >>> Table(("name",), (("ant",),)).with_words(str.upper).records()
        [{'NAME': 'ANT'}]

        """

        def every(values: Iterable[Any]) -> tuple[Any, ...]:
            return tuple(change(str(v)) if isinstance(v, str) else v for v in values)

        return Table(
            every(self.columns),
            tuple(map(every, self.rows)),
            change(str(self.title)),
            every(self.groups),
            every(self.notes),
        )


def plain(value: Any) -> Any:
    """Return a value as JSON has it: no NumPy scalar, fraction, NaN or infinity; words as shown."""
    value = value.item() if isinstance(value, np.generic) else value
    value = float(value) if isinstance(value, Fraction) else value
    value = str(value) if isinstance(value, str) else value
    return None if isinstance(value, float) and not isfinite(value) else value
