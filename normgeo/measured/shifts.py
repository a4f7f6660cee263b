"""Shifts of a vector that the biases after it compensate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.measured.derivatives import Derivatives
from normgeo.measured.judging import Judge
from normgeo.measured.parameters import Tensor
from normgeo.measured.tensor import MeasuredTensor
from normgeo.measured.trade import Part, Trade

READERS = 3
"""How many matrices near a vector, and biases of each, are tested for compensating its shift."""


@final
class Shifts:
    """Searches for vectors v whose shift to v + c biases compensate: b − W c of a reader W."""

    def __init__(
        self, judge: Judge, measured: Mapping[str, MeasuredTensor], roles: Mapping[str, str]
    ) -> None:
        self._judge, self._measured, self._roles = judge, measured, roles
        self._tensors = judge.running.tensors
        self._order = {name: place for place, name in enumerate(self._tensors)}
        self._derivatives = Derivatives(judge)

    def find(self) -> tuple[Trade, ...]:
        """Return the shifts of vectors that are not gains."""
        found = (self._of(t) for t in self._tensors.values() if self._adds(t) and t.values.size > 1)
        return tuple(trade for trade in found if trade is not None)

    def _adds(self, tensor: Tensor) -> bool:
        """Whether a tensor is a vector that is added to something."""
        return self._roles[tensor.name] == "vector" and not self._measured[tensor.name].is_dead

    def _of(self, tensor: Tensor) -> Trade | None:
        name, judge = tensor.name, self._judge
        shift = judge.draw(name, "shift").standard_normal(tensor.values.shape)
        shift *= tensor.size or 1.0
        pairs = [
            (bias.name, _seen_through(reader, shift).reshape(bias.values.shape))
            for reader, bias in self._readers(tensor)
        ]
        if not pairs:
            return None
        directions = [(name, _added(shift)), *((bias, _added(-seen)) for bias, seen in pairs)]
        matrix = self._derivatives.along(directions)
        shares = np.linalg.lstsq(matrix[:, 1:], -matrix[:, 0], rcond=None)[0]
        used = [pair for pair, share in zip(pairs, shares, strict=True) if abs(share - 1) < 0.1]
        if not used:
            return None

        def make(values: Mapping[str, Array], draw: int) -> dict[str, Array]:
            sign = (1.0, -1.0)[draw]
            changed = {name: values[name] + sign * shift}
            for bias, seen in used:
                changed[bias] = changed.get(bias, values[bias]) - sign * seen
            return changed

        verdict = judge.judge(make, None, self._measured[name].influence)
        names = dict.fromkeys((name, *(bias for bias, _ in used)))
        parts = tuple(Part(one, "entries", 0) for one in names)
        return Trade(parts, verdict, shift.size, shift=True) if verdict.ignored else None

    def _readers(self, tensor: Tensor) -> list[tuple[Tensor, Tensor]]:
        """The nearest matrices with as many columns, those behind a vector first, each with biases.

        The derivatives tell later which bias belongs to which matrix.
        """

        def rank(other: Tensor) -> tuple[bool, int]:
            steps = self._order[other.name] - self._order[tensor.name]
            return steps < 0, abs(steps)

        near = sorted(self._tensors.values(), key=rank)
        readers = [
            one
            for one in near
            if one.columns is not None and one.along(one.columns) == tensor.values.size
        ]
        biases = [one for one in near if one is not tensor and self._adds(one)]
        pairs = []
        for reader in readers[:READERS]:
            rows = reader.along(reader.rows)
            fitting = [bias for bias in biases if bias.values.size == rows]
            pairs += [(reader, bias) for bias in fitting[:READERS]]
        return pairs


def _added(direction: Array) -> Callable[[Array, float], Array]:
    return lambda values, step: values + step * direction


def _seen_through(reader: Tensor, shift: Array) -> Array:
    """W c: the output of a reader for a constant c in each of its inputs."""
    W = np.moveaxis(reader.values, (reader.rows, reader.columns or 0), (0, 1))
    return np.asarray(W.reshape(*W.shape[:2], -1).sum(axis=2) @ shift.ravel())
