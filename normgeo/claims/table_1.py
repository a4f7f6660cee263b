"""The paper's table, quoted for comparison with the derived one; never read to derive it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from normgeo.invariance.certificate import Verdict
from normgeo.invariance.transforms import TABLE_1

PAPER_TABLE_1: Mapping[str, Mapping[str, bool]] = {
    row: dict(zip(TABLE_1, (word == "Invariant" for word in words.split()), strict=True))
    for row, words in {
        "batch": "Invariant No Invariant Invariant Invariant No",
        "weight": "Invariant No Invariant No No No",
        "layer": "Invariant Invariant No Invariant No Invariant",
    }.items()
}
"""Table 1 of section 5.1 as printed: a row for a method, its six columns in their order."""


class Agreement(NamedTuple):
    """The comparison of a derived table with the quotation.

    Attributes:
        agreeing: the number of equal cells. differing: the other cells, (row, column).

    """

    agreeing: int
    differing: tuple[tuple[str, str], ...]

    @property
    def cells(self) -> int:
        """The number of compared cells."""
        return self.agreeing + len(self.differing)


def compare_with_table_1(verdicts: Mapping[tuple[str, str], Verdict]) -> Agreement:
    """Compare verdicts with the paper's Table 1, cell by cell.

    Args:
        verdicts: by the names of a normalizer and a transform, for all 18 cells.

    Raises:
        KeyError: a cell of Table 1 without a verdict.

    """
    differing = tuple(
        (row, column)
        for row, cells in PAPER_TABLE_1.items()
        for column, invariant in cells.items()
        if verdicts[row, column].invariant != invariant
    )
    cells = sum(map(len, PAPER_TABLE_1.values()))
    return Agreement(cells - len(differing), differing)
