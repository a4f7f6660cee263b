"""Sentences on measured tensors, beside the table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from normgeo.base.text import text
from normgeo.measured.tensor import MeasuredTensor

UNTRIED = text(
    "Not tried: single columns, trades of rows with columns of another number (as of heads that "
    "share keys), rotations, and powers of δ above 4."
)

LISTED = 8
"""The most rows that a sentence names."""


def on_groups(tensors: Iterable[MeasuredTensor]) -> list[str]:
    """Return the sentence on all tensors whose rows were tried in groups without a finding."""
    every = [*tensors]
    said = []
    for count, sentence in (
        (
            sum(_only_in_groups(one) for one in every),
            text("each group of rows that was tried moves the outputs"),
        ),
        (
            sum(_dead_in_groups(one) for one in every),
            text("each group that may hold dead rows moves the outputs"),
        ),
    ):
        if count:
            said.append(
                text(
                    "In {count} of {all} tensors {sentence}, and not every row was looked at "
                    "alone. Larger `tries` look at more.",
                    count=count,
                    all=len(every),
                    sentence=sentence,
                )
            )
    return said


def _only_in_groups(one: MeasuredTensor) -> bool:
    """Whether rows were tried only in groups, and none of these is ignored."""
    return bool(one.untried) and not any(verdict.ignored for verdict in one.rows.values())


def _dead_in_groups(one: MeasuredTensor) -> bool:
    """Whether dead rows were searched only in groups, and none was found."""
    return bool(one.undecided) and not one.dead


def notes_on(one: MeasuredTensor, frozen: Sequence[int], *, beside: bool = False) -> list[str]:
    """Return the sentences on a tensor: on those of its rows that differ from the others.

    Args:
        one: the tensor. frozen: rows that hardly turn. beside: whether to include `on_groups`.

    """
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
        (
            () if beside and _only_in_groups(one) else one.untried,
            text("were tried in groups only, which move"),
        ),
        (
            () if beside and _dead_in_groups(one) else one.undecided,
            text("may be dead: they were tried in groups only, which move"),
        ),
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
