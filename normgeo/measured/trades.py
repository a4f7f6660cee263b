"""Find factors that a network ignores only together, by algebra, and decide by measuring.

The derivatives of the outputs by the logarithm of each factor are taken once for each tensor. A
whole-number relation between them is a trade to first order, however many tensors it has; it
counts if the network ignores it at factors from ½ to 2.
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

TOLERANCES = (1e-3, 3e-2)
"""Tolerances of relations, which an ε may disturb: what they propose is measured anyway."""


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
        """Values × factors along the axis; for a gain 1 + g, the whole 1 + g is multiplied."""
        if self.axis is not None and values.ndim:
            factors = np.expand_dims(factors, [a for a in range(values.ndim) if a != self.axis])
        changed: Array = (values + self.offset) * factors - self.offset
        return changed

    def direction(self, by: Array) -> Direction:
        """The direction in which the factors are 1 + a step times some numbers."""
        return self.tensor.name, lambda values, step: self.scaled(values, 1 + step * by)


@final
class Trades:
    """Searches for trades between measured tensors.

    Attributes:
        grown: tensors that seemed to be ignored up to ε, and are not: they trade with a square, so
            that their product grows by s² against something that is no ε.

    """

    def __init__(
        self, judge: Judge, measured: Mapping[str, MeasuredTensor], roles: Mapping[str, str]
    ) -> None:
        self._judge, self._measured, self._roles = judge, measured, roles
        self._tensors = judge.running.tensors
        self._derivatives = Derivatives(judge)
        self._nearly = {name for name, one in measured.items() if one.nearly}
        self._least = 30 * judge.rounding**0.5
        self._loose = [tolerance for tolerance in TOLERANCES if tolerance > self._least]
        self.grown: set[str] = set()

    def find(self) -> tuple[Trade, ...]:
        """Return the trades of rows and columns, then those of whole tensors."""
        found: list[Trade] = []
        for length in self._lengths():
            self._judge.forget()
            factors, matrix = self._derived(self._of_length(length), length)
            found += self._search(factors, matrix, length, [], self._loose)
        self._judge.forget()
        if not (whole := self._whole()):
            return tuple(found)
        factors, matrix = self._derived(whole, 1)
        certain = [place for place, f in enumerate(factors) if f.tensor.name not in self._nearly]
        alone = [factors[place] for place in certain]
        by_rows = tuple(found)
        found += self._search(alone, matrix[:, certain], 1, by_rows, self._loose)
        if len(certain) < len(factors):
            squares = self._search(factors, matrix, 1, found, ())
            self.grown = self._grown(squares, found)
            found += [trade for trade in squares if self.grown & {*trade.names}]
        return tuple(found)

    def _lengths(self) -> list[int]:
        """The lengths that several tensors have along their rows, columns or as vectors."""
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
            if not measured.ignores("all_times") or name in self._nearly
        ]

    def _alive(self) -> list[tuple[str, Tensor, MeasuredTensor]]:
        """Tensors that move the outputs if they are multiplied."""
        return [
            (name, tensor, measured)
            for name, measured in self._measured.items()
            for tensor in [self._tensors[name]]
            if not measured.is_dead and (self._offset(name) or tensor.values.any())
        ]

    def _offset(self, name: str) -> float:
        return 1.0 if self._roles[name] == "gain_from_one" else 0.0

    def _derived(self, factors: Sequence[_Factor], length: int) -> tuple[list[_Factor], Array]:
        """Return the factors that move the outputs, and the derivatives by their logarithms."""
        by = self._judge.draw("factors", length).standard_normal(length)
        if length == 1:
            by = np.ones(1)
        matrix = self._derivatives.along([factor.direction(by) for factor in factors])
        moving = np.flatnonzero(np.linalg.norm(matrix, axis=0) > 0)
        return [factors[int(place)] for place in moving], matrix[:, moving]

    def _search(
        self,
        factors: Sequence[_Factor],
        matrix: Array,
        length: int,
        known: Sequence[Trade],
        tolerances: Sequence[float],
    ) -> list[Trade]:
        """Return the relations that hold at factors of ½ to 2, beside sums of known trades."""
        tried: set[tuple[int, ...]] = set()
        found: list[Trade] = []
        absent = self._nearly - {factor.tensor.name for factor in factors}
        smaller = [self._whole_powers(t, factors) for t in known if not absent & {*t.names}]
        costs = [
            1 + 0.01 * self._upstream(factor, known) - 0.001 * place / len(factors)
            for place, factor in enumerate(factors)
        ]
        for basis in relations(matrix, [self._least, *tolerances]):
            for powers in sparsest(basis, smaller, costs):
                if powers in tried or _within(powers, smaller):
                    continue
                tried.add(powers)
                used = [(f, power) for f, power in zip(factors, powers, strict=True) if power]
                trade = self._judged(used, length)
                if trade.verdict.ignored and len(used) > 1:
                    found.append(trade)
                    smaller.append(powers)
        return found

    def _grown(self, squares: Sequence[Trade], known: Sequence[Trade]) -> set[str]:
        """Tensors in trades with a square, and those that trade one for one with what moves."""
        grown: set[str] = set()
        for trade in squares:
            powers = {part.name: abs(part.power) for part in trade.parts}
            nearly = self._nearly & {*powers}
            least = min((powers[name] for name in nearly), default=0)
            if nearly and trade.verdict.sign == "✓" and max(powers.values()) >= 2 * least:
                grown |= nearly
        pairs = [
            {*trade.names}
            for trade in known
            if [part.power for part in trade.parts] in ([1, -1], [-1, 1])
        ]
        moved = grown | {f.tensor.name for f in self._whole()} - self._nearly
        while more := {n for pair in pairs if pair & moved for n in pair} & self._nearly - grown:
            grown |= more
            moved |= more
        return grown

    def _upstream(self, factor: _Factor, known: Sequence[Trade]) -> int:
        """Count the trades in which another tensor, or a gain, cancels the factor of this one.

        Of tensors that can replace each other, the last one is named.
        """
        count = 0
        for trade in known:
            of_gain = any(self._roles[name].startswith("gain") for name in trade.names)
            for part in trade.parts:
                if part.name == factor.tensor.name:
                    count += of_gain or part.along != "columns"
        return count

    def _whole_powers(self, trade: Trade, factors: Sequence[_Factor]) -> tuple[int, ...]:
        """Turn a trade of rows and columns into one of whole tensors."""
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
