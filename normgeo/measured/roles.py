"""Distinguish gains from other vectors by what a network still reads without them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.measured.judging import Judge
from normgeo.measured.parameters import Tensor
from normgeo.measured.running import Changes, moved

ROLES = {
    "matrix": text("matrix"),
    "gain": text("gain"),
    "gain_from_one": text("gain 1 + g"),
    "vector": text("bias or other vector"),
}
"""Keys → what a tensor is in the network, as measured."""

CANDIDATES = 8
"""How many matrices are tested: a vector may multiply what they read or write."""


@final
class Roles:
    """Finds the roles of vectors.

    A gain of 0 silences what it multiplies: a weight before it no longer moves anything, and a
    weight behind it reads only the bias, which is the same for all neurons if all vectors are 1.
    A bias of 0 silences nothing. For gains 1 + g the same holds at −1.
    """

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._tensors = judge.running.tensors
        self._order = {name: place for place, name in enumerate(self._tensors)}
        self._alive: dict[tuple[int, str], float] = {}

    def of(self, name: str) -> str:
        """Return the role of a tensor, a key of ROLES."""
        tensor = self._tensors[name]
        if not tensor.is_vector:
            return "matrix"
        if tensor.values.size < 2:
            return "vector"
        ones = self._ones(tensor)
        for role, silent in (("gain", 0.0), ("gain_from_one", -1.0)):
            without = self._judge.running.outputs(self._filled(ones, tensor, silent))
            for matrix in self._candidates(tensor):
                if self._silences(tensor, matrix, ones, silent, without):
                    return role
        return "vector"

    def _ones(self, tensor: Tensor) -> Changes:
        """Set all vectors of the same length to 1."""
        alike = (
            other
            for other in self._tensors.values()
            if other.is_vector and other.values.size == tensor.values.size
        )
        return {other.name: np.ones_like(other.values) for other in alike}

    @staticmethod
    def _filled(ones: Changes, tensor: Tensor, value: float) -> dict[str, Array]:
        return {**ones, tensor.name: np.full_like(tensor.values, value)}

    def _candidates(self, tensor: Tensor) -> Iterable[Tensor]:
        """The nearest matrices, those with as many rows or columns first."""
        place, count = self._order[tensor.name], tensor.values.size

        def rank(matrix: Tensor) -> tuple[bool, int]:
            return count not in matrix.values.shape, abs(self._order[matrix.name] - place)

        matrices = (one for one in self._tensors.values() if not one.is_vector)
        return sorted(matrices, key=rank)[:CANDIDATES]

    def _silences(
        self, tensor: Tensor, matrix: Tensor, ones: Changes, silent: float, without: Array
    ) -> bool:
        """Whether a matrix moves the outputs on both sides of a value of the vector, not at it."""
        judge, outputs = self._judge, self._judge.running.outputs
        changed = {matrix.name: self._changed(matrix, tensor.values.size)}
        key = tensor.values.size, matrix.name
        if key not in self._alive:
            self._alive[key] = moved(outputs(ones), outputs({**ones, **changed}))
        if self._alive[key] <= judge.many:
            return False
        at = self._filled(ones, tensor, silent)
        if moved(without, outputs({**at, **changed})) > judge.few:
            return False
        for side in (-0.5, 0.5):
            at = self._filled(ones, tensor, silent + side)
            if moved(outputs(at), outputs({**at, **changed})) <= judge.many:
                return False
        return True

    def _changed(self, matrix: Tensor, count: int) -> Array:
        """Add noise that sums to 0 over the columns, so that equal inputs add nothing."""
        noise = self._judge.draw(matrix.name, "role").standard_normal(matrix.values.shape)
        if matrix.columns is not None and matrix.along(matrix.columns) == count:
            noise -= noise.mean(axis=matrix.columns, keepdims=True)
        changed: Array = matrix.values + noise * (matrix.size or 1.0)
        return changed
