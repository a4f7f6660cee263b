"""Factors that a network ignores only together, found by algebra and decided by measuring.

The derivatives of the outputs by the logarithm of each factor are taken once for each tensor. A
whole-number relation between them is a trade to first order, however many tensors it has; it
counts where the network ignores it at factors of ½ to 2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.measured.derivatives import Derivatives, Direction
from normgeo.measured.judging import Judge
from normgeo.measured.parameters import Tensor
from normgeo.measured.relations import relations, sparsest
from normgeo.measured.tensor import MeasuredTensor
from normgeo.measured.trade import Part, Trade


@dataclass(frozen=True)
class _Factor:
    """One column of the derivatives: a tensor and the axis that its factors are along."""

    tensor: Tensor
    axis: int | None
    offset: float

    @property
    def along(self) -> str:
        if self.axis is None:
            return "all"
        if self.tensor.is_vector:
            return "entries"
        return "rows" if self.axis == self.tensor.rows else "columns"

    def scaled(self, values: Array, factors: Array) -> Array:
        """Values × factors along the axis; of a gain 1 + g all of 1 + g is multiplied."""
        if self.axis is not None and values.ndim:
            factors = np.expand_dims(factors, [a for a in range(values.ndim) if a != self.axis])
        changed: Array = (values + self.offset) * factors - self.offset
        return changed

    def direction(self, by: Array) -> Direction:
        """The direction in which the factors are 1 + a step times some numbers."""
        return self.tensor.name, lambda values, step: self.scaled(values, 1 + step * by)


@final
class Trades:
    """Searches for trades between measured tensors."""

    def __init__(
        self, judge: Judge, measured: Mapping[str, MeasuredTensor], roles: Mapping[str, str]
    ) -> None:
        self._judge, self._measured, self._roles = judge, measured, roles
        self._tensors = judge.running.tensors
        self._derivatives = Derivatives(judge)

    def find(self) -> tuple[Trade, ...]:
        """Return the trades of rows and columns, then those of whole tensors."""
        found: list[Trade] = []
        for length in self._lengths():
            self._judge.forget()
            found += self._scalings(self._of_length(length), length, [])
        self._judge.forget()
        found += self._scalings(self._whole(), 1, found)
        return tuple(found)

    def _lengths(self) -> list[int]:
        """Lengths that several rows, columns or vectors have."""
        counts: dict[int, int] = {}
        for factor in self._every():
            length = factor.tensor.along(factor.axis or 0)
            counts[length] = counts.get(length, 0) + 1
        return sorted(length for length, count in counts.items() if length > 1 and count > 1)

    def _of_length(self, length: int) -> list[_Factor]:
        return [f for f in self._every() if f.tensor.along(f.axis or 0) == length]

    def _every(self) -> list[_Factor]:
        """Rows and columns that are not ignored by themselves."""
        found = []
        for name, tensor, measured in self._alive():
            for axis, change in ((tensor.rows, "row_times"), (tensor.columns, "column_times")):
                if axis is not None and not measured.ignores(change):
                    found.append(_Factor(tensor, axis, self._offset(name)))
        return found

    def _whole(self) -> list[_Factor]:
        return [
            _Factor(tensor, None, self._offset(name))
            for name, tensor, measured in self._alive()
            if not measured.ignores("all_times")
        ]

    def _alive(self) -> list[tuple[str, Tensor, MeasuredTensor]]:
        """Tensors that move the outputs where they are multiplied."""
        return [
            (name, tensor, measured)
            for name, measured in self._measured.items()
            for tensor in [self._tensors[name]]
            if not measured.is_dead and (self._offset(name) or tensor.values.any())
        ]

    def _offset(self, name: str) -> float:
        return 1.0 if self._roles[name] == "gain_from_one" else 0.0

    def _scalings(
        self,
        factors: Sequence[_Factor],
        length: int,
        known: Sequence[Trade],
    ) -> list[Trade]:
        if len(factors) < 2:
            return []
        directions = self._judge.draw("factors", length).standard_normal(length)
        if length == 1:
            directions = np.ones(1)
        matrix = self._derivatives.along([factor.direction(directions) for factor in factors])
        moving = np.linalg.norm(matrix, axis=0) > 0
        factors = [factor for factor, moves in zip(factors, moving, strict=True) if moves]
        matrix = matrix[:, moving]
        tried: set[tuple[int, ...]] = set()
        found: list[Trade] = []
        smaller = [self._whole_powers(trade, factors) for trade in known]
        costs = [1 + 0.01 * self._upstream(factor, known) for factor in factors]
        step = self._judge.rounding**0.5
        for tolerance in sorted({max(step * 30, least) for least in (0.0, 1e-3, 3e-2)}):
            for powers in sparsest(relations(matrix, tolerance), smaller, costs):
                if powers in tried or _within(powers, smaller):
                    continue
                tried.add(powers)
                used = [(f, power) for f, power in zip(factors, powers, strict=True) if power]
                trade = self._judged(used, length)
                if trade.verdict.ignored and len(used) > 1:
                    found.append(trade)
                    smaller.append(powers)
        return found

    @staticmethod
    def _upstream(factor: _Factor, known: Sequence[Trade]) -> int:
        """In how many trades others take a tensor's factor off, which is then not the last one."""
        parts = [part for trade in known for part in trade.parts if not trade.shift]
        return sum(part.name == factor.tensor.name and part.along != "columns" for part in parts)

    def _whole_powers(self, trade: Trade, factors: Sequence[_Factor]) -> tuple[int, ...]:
        """A trade of rows and columns as one of whole tensors."""
        powers = dict.fromkeys((factor.tensor.name for factor in factors), 0)
        for part in trade.parts:
            if part.name in powers:
                powers[part.name] += part.power
        return tuple(powers.values())

    def _judged(self, used: Sequence[tuple[_Factor, int]], length: int) -> Trade:
        powers = self._judge.draw("trade", length).uniform(-1, 1, length)
        if length == 1:
            powers = np.ones(1)

        def make(values: Mapping[str, Array], draw: int) -> dict[str, Array]:
            factors = 2.0 ** (powers if draw == 0 else -powers)
            changed: dict[str, Array] = {}
            for factor, power in used:
                name = factor.tensor.name
                changed[name] = factor.scaled(changed.get(name, values[name]), factors**power)
            return changed

        grown = {factor.tensor.name: power for factor, power in used}
        joint = all(power > 0 for power in grown.values())
        influence = max(self._measured[name].influence for name in grown)
        verdict = self._judge.judge(make, grown if joint else None, influence)
        parts = tuple(Part(f.tensor.name, f.along, power) for f, power in used)
        return Trade(parts, verdict, length)


def _within(powers: tuple[int, ...], known: Sequence[tuple[int, ...]]) -> bool:
    """Whether a relation is a sum of multiples of known ones."""
    if not known:
        return False
    before = np.linalg.matrix_rank(np.array(known))
    return bool(np.linalg.matrix_rank(np.array([*known, powers])) == before)
