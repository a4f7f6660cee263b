"""Measure one tensor alone: which changes of it, and of its rows, the network ignores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.measured.changes import CHANGES, Maker
from normgeo.measured.halving import sort_rows
from normgeo.measured.judging import DRAWS, SLIGHT, Verdict
from normgeo.normalizers.blocks import lengths

SMALL = 1 / 64
"""A multiple of a tensor's entries: so small a change revives no unit that is off."""


@final
@dataclass(frozen=True, eq=False)
class MeasuredTensor:
    """How a network responds to changes of one tensor.

    Attributes:
        name: its path. shape: of the array. neurons: how many rows it has. is_vector: whether a
            row is a single number. tied: names of tensors that are the same array.
        influence: the share of the outputs that moves when all of its entries change.
        verdicts: on each of CHANGES; None if the question makes no sense, as for zeros times δ.
        rows: the verdicts on each row × δ, as far as they were found.
        untried: rows in groups that move, which were not tried alone.
        zeros: rows that are 0. dead: rows for which neither × δ nor another small change moves the
            outputs. undecided: rows that may or may not be dead.
        blocks: how many parts may be scaled each by its own δ > 0; 0 if none may.
        norms: of the rows.

    """

    name: str
    shape: tuple[int, ...]
    neurons: int
    is_vector: bool
    influence: float
    verdicts: Mapping[str, Verdict | None]
    rows: Mapping[int, Verdict]
    untried: tuple[int, ...]
    zeros: tuple[int, ...]
    dead: tuple[int, ...]
    undecided: tuple[int, ...]
    blocks: int
    norms: Array = field(repr=False)
    tied: tuple[str, ...] = ()

    @property
    def parameters(self) -> int:
        """The number of its entries."""
        return int(np.prod(self.shape))

    @property
    def is_dead(self) -> bool:
        """Whether no change of it moves the outputs."""
        return len(self.dead) == self.neurons

    @property
    def is_invariant(self) -> bool:
        """Whether it may be scaled by itself, all of it or each of its rows."""
        return self.blocks > 0

    @property
    def nearly(self) -> bool:
        """Whether all × δ seems to be ignored up to an ε that is not small, and no row × δ is."""
        whole = self.verdicts["all_times"]
        if whole is None or whole.sign != "≈" or self.ignores("row_times"):
            return False
        return whole.moved >= SLIGHT * self.influence

    def not_nearly(self) -> MeasuredTensor:
        """Return the tensor with all × δ not ignored after all."""
        moved = one.moved if (one := self.verdicts["all_times"]) else 0.0
        verdicts = {**self.verdicts, "all_times": Verdict("✗", moved)}
        return replace(self, verdicts=verdicts, blocks=0)

    def ignores(self, change: str) -> bool:
        """Whether a change is ignored, at least up to ε."""
        verdict = self.verdicts[change]
        return verdict is not None and verdict.ignored


def measure_tensor(maker: Maker, tries: int) -> MeasuredTensor:
    """Measure a tensor: first a change of all rows, then of groups if that is not ignored.

    Args:
        maker: of its changes. tries: groups of rows that are tried.

    """
    judge, tensor = maker.judge, maker.tensor
    judge.forget()
    rows = tensor.along(tensor.rows)
    anything = maker.any_change()
    influence = judge.moved(anything)
    if influence <= judge.few:
        influence = max(influence, judge.moved(anything, 1))
    by_row = np.moveaxis(np.atleast_1d(tensor.values), tensor.rows, 0).reshape(rows, -1)
    norms = lengths(by_row.astype(np.float64, copy=False))
    found: dict[str, Verdict | None] = dict.fromkeys(CHANGES)
    verdicts: Mapping[int, Verdict] = {}
    untried: tuple[int, ...] = ()
    zeros = tuple(np.flatnonzero(norms == 0).tolist())
    if influence <= judge.few:
        dead, undecided, blocks = tuple(range(rows)), tuple[int, ...](), 0
    else:
        grown = {tensor.name: 1}
        if len(zeros) < rows:
            first = judge.judge(maker.times(tensor.rows), grown, influence)
            found["row_times"] = first
            verdicts, untried = sort_rows(
                [row for row in range(rows) if row not in zeros],
                first,
                lambda some: judge.judge(
                    maker.times(tensor.rows, some),
                    grown,
                    influence * (len(some) / rows) ** 0.5,
                ),
                tries,
            )
            found["all_times"] = (
                first
                if first.ignored or rows == 1
                else judge.judge(maker.all_times(), grown, influence)
            )
        found["all_plus"] = judge.judge(maker.plus(tensor.rows), None, influence)
        if tensor.columns is not None:
            found["own_plus"] = judge.judge(
                maker.plus(*(a for a in range(tensor.values.ndim) if a != tensor.rows)),
                None,
                influence,
            )
            if len(zeros) < rows:
                by_column = maker.times(tensor.columns)
                found["column_times"] = judge.judge(by_column, grown, influence)
            plain = tensor.values.ndim == 2  # the same for all columns is a number for each row
            found["columns_plus"] = (
                found["own_plus"]
                if plain
                else judge.judge(maker.plus(tensor.columns), None, influence)
            )
        blocks = _blocks(maker, found, influence)
        still = [r for r in range(rows) if r in zeros or (r in verdicts and verdicts[r].ignored)]
        dead, undecided = _dead(maker, still, influence, tries)
    return MeasuredTensor(
        tensor.name,
        tensor.values.shape,
        rows,
        tensor.is_vector,
        influence,
        found,
        verdicts,
        untried,
        zeros,
        dead,
        undecided,
        blocks,
        norms,
        tuple(name for name, _ in tensor.tied),
    )


def _blocks(maker: Maker, found: Mapping[str, Verdict | None], influence: float) -> int:
    """How many blocks of neighboring rows may be scaled each by its own factor."""
    rows, whole = found["row_times"], found["all_times"]
    if rows is None or whole is None or not whole.ignored:
        return 0
    count = maker.tensor.along(maker.tensor.rows)
    if rows.ignored:
        return count
    blocks, left, prime = 1, count, 2
    while left > 1:
        if left % prime:
            prime += 1
            continue
        left //= prime
        make = maker.all_times(blocks * prime)
        if maker.judge.judge(make, {maker.tensor.name: 1}, influence).ignored:
            blocks *= prime
        else:
            while left % prime == 0:
                left //= prime
    return blocks


def _dead(
    maker: Maker, rows: Sequence[int], influence: float, tries: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return which of some rows may be anything, and for which that is unknown."""
    if not rows:
        return (), ()
    if SMALL * influence <= maker.judge.many:  # a small change is lost in rounding
        return (), tuple(rows)

    def judged(some: Sequence[int]) -> Verdict:
        judge, make = maker.judge, maker.any_change(some, SMALL)
        return judge.plain(max(judge.moved(make, draw) for draw in range(DRAWS)))

    everything = len(rows) == maker.tensor.along(maker.tensor.rows)
    first = maker.judge.plain(influence) if everything else judged(rows)
    verdicts, untried = sort_rows(rows, first, judged, tries)
    return tuple(row for row, verdict in sorted(verdicts.items()) if verdict.sign == "✓"), untried
