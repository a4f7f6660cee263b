"""A named array in a file: its header, and its numbers on demand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal

MOST_AXES: Final = 64
"""Limit of NumPy."""


@final
@dataclass(frozen=True, eq=False)
class Tensor:
    """An array of a file, known by its header; none of it is in memory.

    Attributes:
        name: in the file, or the file's name if it contains one array. shape: of the array.
        kind: the type of its numbers, as the file calls it. file: the name of the file.
        load: reads the numbers unchanged.

    """

    name: str
    shape: tuple[int, ...]
    kind: str
    file: str
    load: Callable[[], Array] = field(repr=False)

    def read(self) -> Array:
        """Return the numbers, finite floats of the type of the file, or float64 for integers.

        Raises:
            ValueError: no numbers, another type, or numbers that are not finite.

        """
        if 0 in self.shape:
            raise Refusal(
                "{name!r} in {file!s} must not be empty; it has the shape {shape}. Choose "
                "another tensor.",
                name=self.name[:80],
                file=self.file,
                shape=self.shape,
            )
        if len(self.shape) > MOST_AXES:
            raise Refusal(
                "{name!r} in {file!s} has {axes} axes, of which at most {most} are read. "
                "Choose another tensor.",
                name=self.name[:80],
                file=self.file,
                axes=len(self.shape),
                most=MOST_AXES,
            )
        values = self.load()
        if values.dtype.kind not in "buif":
            raise Refusal(
                "{name!r} in {file!s} must hold real numbers; its type is {kind}. Choose "
                "another tensor.",
                name=self.name[:80],
                file=self.file,
                kind=self.kind,
            )
        keep = values.dtype.kind == "f" and values.dtype.itemsize <= 8
        values = values.astype(values.dtype.newbyteorder("=") if keep else np.float64, copy=False)
        self._require_finite(values)
        return values

    def _require_finite(self, values: Array) -> None:
        good = np.isfinite(values)
        if good.all():
            return
        missing = int(np.count_nonzero(np.isnan(values)))
        raise Refusal(
            "{name!r} in {file!s} must hold finite numbers; {nan:,} of {size:,} are NaN and "
            "{inf:,} infinite, the first at {place}. Repair the file first.",
            name=self.name[:80],
            file=self.file,
            nan=missing,
            inf=int(np.count_nonzero(~good)) - missing,
            size=values.size,
            place=tuple(int(i) for i in np.argwhere(~good)[0]),
        )
