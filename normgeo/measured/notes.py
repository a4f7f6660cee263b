"""What is to be said of measured tensors beside the table, in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from normgeo.base.text import text
from normgeo.measured.tensor import MeasuredTensor

UNTRIED = text(
    "Not tried: single columns, trades of rows with columns of another number (as of heads that "
    "share keys), rotations, and powers of δ above 4."
)

LISTED = 8
"""Rows that are named; of more so many are."""


def notes_on(one: MeasuredTensor, frozen: Sequence[int]) -> list[str]:
    """Return the sentences on a tensor: of its rows those that differ from the others."""
    said = []
    if one.tied:
        said.append(
            text(
                "{name!r} and {tied!r} are one array and are changed together.",
                name=one.name,
                tied=", ".join(one.tied),
            )
        )
    if one.is_dead:
        return [*said, text("{name!r}: no change of it moves the outputs.", name=one.name)]
    for rows, sentence in (
        (one.zeros, text("are 0, and δ times 0 says nothing")),
        (one.dead, text("are dead: no small change of them moves the outputs")),
        (frozen, text("are so long that they hardly turn")),
        (one.untried, text("were tried in groups only, which move")),
        (one.undecided, text("may be dead: they were tried in groups only, which move")),
    ):
        if rows:
            shown = ", ".join(map(str, rows[:LISTED]))
            said.append(
                text(
                    "{name!r}: {count} of {all} rows {sentence} ({rows}).",
                    name=one.name,
                    count=len(rows),
                    all=one.neurons,
                    sentence=sentence,
                    rows=f"{shown}, …" if len(rows) > LISTED else shown,
                )
            )
    return said
