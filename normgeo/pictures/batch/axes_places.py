"""Where the arrays stand whose entries share statistics, in pixels and shares of a width."""

from __future__ import annotations

from typing import NamedTuple

from normgeo.base.arrays import Array

# Each array has axes of its own: pixels downward, and hundredths of its width across.
FLAT, MAPS = 220, 300  # heights of the arrays


class Cells(NamedTuple):
    """So many cells in a row from `start` on, each of some pixels, one of them free between two."""

    start: float
    length: float
    cells: int
    pixels: int = 1

    @property
    def free(self) -> int:
        return int(self.pixels > 1)

    @property
    def pixel(self) -> float:
        """The length of a pixel."""
        return self.length / (self.cells * (self.pixels + self.free) - self.free)

    def low(self, place: float, pixel: float = 0) -> float:
        """Where a cell, or a pixel in it, begins."""
        return self.start + self.pixel * (place * (self.pixels + self.free) + pixel)

    def high(self, place: float) -> float:
        """Where a cell ends."""
        return self.low(place, self.pixels)


class Place(NamedTuple):
    """An array on the axes of a method."""

    down: Cells
    across: Cells

    @classmethod
    def of(cls, values: Array) -> Place:
        """Cases × neurons, or × channels, each an image."""
        N, C, *pixels = values.shape
        height, (R, S) = (MAPS, pixels) if pixels else (FLAT, (1, 1))
        return cls(Cells(0, height, N, R), Cells(0, 100, C, S))
