"""Rows of W or X as small pictures in one grid: images of pixels, or bars of features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from normgeo.base.arrays import Array
from normgeo.datasets.dataset import Dataset

COLUMNS = 3
BOX, GAP = 8.0, 1.0  # the side of a picture, and what is between two, in units of the grid
LEVELS = 127  # of ink, for the largest value of all frames
FILLED = 0.8  # of the room of a bar


class Grid(NamedTuple):
    """Where R pictures stand, COLUMNS beside each other, the y axis downward.

    Attributes:
        left, top: of each picture, (R,). width, height: of the grid.

    """

    left: Array
    top: Array
    width: float
    height: float

    @classmethod
    def of(cls, pictures: int) -> Grid:
        """The grid of so many pictures, filled line by line."""
        place = np.arange(pictures)
        lines = -(-pictures // COLUMNS)
        step = BOX + GAP
        return cls(
            step * (place % COLUMNS),
            step * (place // COLUMNS),
            COLUMNS * step - GAP,
            lines * step - GAP,
        )

    def picks(self, values: Sequence[int]) -> dict[str, Any]:
        """Where a click chooses which row, as `picking.js` reads it."""
        corners = zip(self.left.tolist(), self.top.tolist(), values, strict=True)
        return {
            "setting": "index",
            "axes": ["xaxis", "yaxis"],
            "boxes": [[x, x + BOX, y, y + BOX, value] for x, y, value in corners],
        }

    def outlines(self, which: Array) -> tuple[Array, Array]:
        """The x and y of lines around some pictures, with gaps between them."""
        x0, y0 = self.left[which] - GAP / 4, self.top[which] - GAP / 4
        side, gap = BOX + GAP / 2, np.full(len(x0), np.nan)
        x = np.column_stack([x0, x0 + side, x0 + side, x0, x0, gap])
        y = np.column_stack([y0, y0, y0 + side, y0 + side, y0, gap])
        return x.ravel(), y.ravel()


def images(rows: Array, dataset: Dataset, largest: float) -> Array:
    """The pixels of R rows (R, D) in a grid, from −127 to 127, the largest value of all frames."""
    pixels = dataset.as_images(rows)
    count, height, width = pixels.shape
    lines = -(-count // COLUMNS)
    grid = np.zeros((lines, height + 1, COLUMNS, width + 1))
    for place, image in enumerate(pixels):
        grid[place // COLUMNS, :height, place % COLUMNS, :width] = image
    levels = np.round(LEVELS * grid / (largest or 1.0)).astype(np.int8)
    whole: Array = levels.reshape(lines * (height + 1), COLUMNS * (width + 1))[:-1, :-1]
    return whole


def bars(heights: Array, low: float, high: float) -> tuple[Array, Array]:
    """The x and y of the outlines of R × D bars in a grid, with gaps between them.

    Args:
        heights: (R, D), from 0 up or down. low, high: of all frames, with 0 between them.

    """
    R, D = heights.shape
    grid, unit = Grid.of(R), BOX / ((high - low) or 1.0)
    x0 = grid.left[:, None] + BOX * (np.arange(D) + (1 - FILLED) / 2) / D
    x1, gap = x0 + BOX * FILLED / D, np.full((R, D), np.nan)
    base = np.broadcast_to(grid.top[:, None] + unit * high, (R, D))
    end = base - unit * heights
    x = np.stack([x0, x0, x1, x1, x0, gap], axis=-1)
    y = np.stack([base, end, end, base, base, gap], axis=-1)
    return x.ravel(), y.ravel()
