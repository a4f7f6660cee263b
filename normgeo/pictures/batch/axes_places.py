"""Where the arrays stand whose entries share statistics, in pixels and shares of a width."""

from __future__ import annotations

from typing import NamedTuple

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.pictures.batch.axes import FLAT_MARK, MAP_MARK, Axes

# Each array has axes of its own: pixels downward, and hundredths of its width across.
FLAT_ALONE, FLAT, MAPS = 220, 66, 106  # heights of the arrays
NEURON, CHANNEL = text("neuron"), text("channel")


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
    """An array on the axes of a method, its marked entry, and what its parts are called."""

    down: Cells
    across: Cells
    mark: tuple[int, ...]
    channel: str

    @property
    def flat_cases(self) -> bool:
        """Whether it is that of cases × neurons."""
        return self.mark == FLAT_MARK

    @classmethod
    def flat(cls, values: Array, height: float) -> Place:
        """Cases × neurons, at the top."""
        N, C = values.shape
        return cls(Cells(0, height, N), Cells(0, 100, C), FLAT_MARK, NEURON)

    @classmethod
    def maps(cls, values: Array) -> Place:
        """Cases × channels, each an image, below cases × neurons."""
        N, C, R, S = values.shape
        return cls(Cells(0, MAPS, N, R), Cells(0, 100, C, S), MAP_MARK, CHANNEL)


def places_of(result: Axes) -> list[Place]:
    """Cases × neurons, and below them feature maps where the data are images."""
    if result.maps is None:
        return [Place.flat(result.flat, FLAT_ALONE)]
    return [Place.flat(result.flat, FLAT), Place.maps(result.maps)]
