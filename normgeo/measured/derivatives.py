"""Derivatives of the outputs along directions that change one tensor each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.measured.judging import Judge
from normgeo.measured.running import Changes

OUTPUTS = 4096
"""The most outputs whose derivatives are compared; of more outputs, this many are drawn."""

POINTS = 4
"""Points in the space of parameters where derivatives are taken, if there are few outputs."""

Direction = tuple[str, Callable[[Array, float], Array]]
"""A tensor's name, and (its values, length of a step) → changed values."""


@final
class Derivatives:
    """Takes derivatives of a network at its parameters, or near them where it must."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        base = judge.running.base
        self._chosen = judge.draw("outputs").permutation(base.size)[:OUTPUTS]
        self._points: list[tuple[Changes, Array]] = [({}, base)]

    def along(self, directions: Sequence[Direction]) -> Array:
        """Return the derivatives along some directions, (outputs, directions)."""
        running, step = self._judge.running, self._judge.rounding**0.5
        needed = 2 * len(directions)
        while len(self._chosen) * len(self._points) < needed and len(self._points) < POINTS:
            self._points.append(self._point(len(self._points)))
        columns = []
        for name, changed in directions:
            found = []
            for place, before in self._points:
                values = place.get(name, running.tensors[name].values)
                after = running.outputs({**place, name: changed(values, step)})
                found.append((after - before)[self._chosen] / step)
            columns.append(np.concatenate(found))
        return np.asarray(np.nan_to_num(np.stack(columns, axis=1)))

    def _point(self, number: int) -> tuple[Changes, Array]:
        running, draw = self._judge.running, self._judge.draw
        place = {
            name: tensor.values
            * (1 + 0.3 * draw(name, number).standard_normal(tensor.values.shape))
            for name, tensor in running.tensors.items()
        }
        return place, running.outputs(place)
