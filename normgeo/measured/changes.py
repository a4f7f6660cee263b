"""The changes of one tensor: those of Table 1 by rows and by columns, and noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.measured.judging import Judge, Make
from normgeo.measured.parameters import Tensor

CHANGES = {
    "all_times": text("all × δ"),
    "row_times": text("one row × δ"),
    "all_plus": text("all rows + the same"),
    "own_plus": text("each row + its own number"),
    "column_times": text("one column × δ"),
    "columns_plus": text("all columns + the same"),
}
"""Keys of the changes → what they do. The rows of W are neurons, the columns their inputs."""


@final
@dataclass(frozen=True)
class Maker:
    """Makes the changes of one tensor, from random numbers that depend on the seed alone.

    Attributes:
        negative: whether factors are below 0.

    """

    judge: Judge
    tensor: Tensor
    negative: bool = False

    def any_change(self, rows: Sequence[int] | None = None, size: float = 1.0) -> Make:
        """Add noise to all entries, or to some rows, of a given multiple of their size."""

        def make(values: Mapping[str, Array], draw: int) -> dict[str, Array]:
            W = values[self.tensor.name]
            noise = self._rng("any", draw).standard_normal(W.shape) * (self.tensor.size or 1.0)
            return {self.tensor.name: W + size * noise * self._selected(self.tensor.rows, rows)}

        return make

    def all_times(self, blocks: int = 1) -> Make:
        """Multiply all entries by 2 and by ½, or each block of rows by its own factor."""

        def make(values: Mapping[str, Array], draw: int) -> dict[str, Array]:
            W, sign = values[self.tensor.name], -1 if self.negative else 1
            if blocks == 1:
                return {self.tensor.name: W * (sign * (2.0, 0.5)[draw])}
            rows = self.tensor.along(self.tensor.rows)
            factors = np.repeat(self._factors(blocks, draw), rows // blocks)
            return {self.tensor.name: W * self._laid(factors, self.tensor.rows)}

        return make

    def times(self, axis: int, places: Sequence[int] | None = None) -> Make:
        """Multiply all rows along an axis, or some, by factors from ½ to 2, one for each."""

        def make(values: Mapping[str, Array], draw: int) -> dict[str, Array]:
            factors = self._factors(self.tensor.along(axis), draw)
            chosen = self._selected(axis, places)
            scaled = np.where(chosen, self._laid(factors, axis), 1.0)
            return {self.tensor.name: values[self.tensor.name] * scaled}

        return make

    def plus(self, *axes: int) -> Make:
        """Add a random array that is the same along some axes; for None, along all but the rows."""

        def make(values: Mapping[str, Array], draw: int) -> dict[str, Array]:
            W = values[self.tensor.name]
            shape = [1 if axis in axes else length for axis, length in enumerate(W.shape)]
            shift = self._rng("plus", axes, draw).standard_normal(shape)
            return {self.tensor.name: W + shift * (self.tensor.size or 1.0)}

        return make

    def _factors(self, count: int, draw: int) -> Array:
        powers = self._rng("times").uniform(-1, 1, count)
        factors: Array = 2.0 ** (powers if draw == 0 else -powers)
        return -factors if self.negative else factors

    def _laid(self, values: Array, axis: int) -> Array:
        if not self.tensor.values.ndim:
            return values.reshape(())
        return np.expand_dims(values, [a for a in range(self.tensor.values.ndim) if a != axis])

    def _selected(self, axis: int, places: Sequence[int] | None) -> Array:
        chosen = np.full(self.tensor.along(axis), places is None)
        if places is not None:
            chosen[list(places)] = True
        return self._laid(chosen, axis)

    def _rng(self, *key: object) -> np.random.Generator:
        return self.judge.draw(self.tensor.name, *key)
