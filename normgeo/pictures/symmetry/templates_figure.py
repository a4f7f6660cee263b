"""Weight vectors as small pictures: images where features are pixels, bars elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, final

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.datasets.dataset import Dataset
from normgeo.pictures.style.colors import BLUE, blend
from normgeo.pictures.style.template import THEMES

SOFT = 0.5  # the power that lifts small values: those of × 4 and of × ¼ are seen in one picture
LEVELS = 127  # of the size of a weight in an image
GAP = 1.0  # between two pictures, in pixels of them
TALL = 0.62  # the height of bars over the width of their picture


@final
@dataclass(frozen=True, eq=False)
class Grid:
    """Where the pictures of m weight vectors stand: in rows, from the upper left.

    Attributes:
        dataset: whose features they are of. count: m. columns: of a row.

    """

    dataset: Dataset
    count: int
    columns: int

    @property
    def kind(self) -> str:
        """The type of its traces."""
        return "scatter" if self.dataset.image_shape is None else "heatmap"

    @property
    def size(self) -> tuple[float, float]:
        """Height and width of one picture."""
        if self.dataset.image_shape is not None:
            rows, columns = self.dataset.image_shape
            return float(rows), float(columns)
        return TALL * self.dataset.D, float(self.dataset.D)

    @property
    def extent(self) -> tuple[float, float]:
        """Height and width of all."""
        height, width = self.size
        rows = ceil(self.count / self.columns)
        return rows * (height + GAP) - GAP, self.columns * (width + GAP) - GAP

    def corner(self, place: int) -> tuple[float, float]:
        """Top and left of a picture, downward and to the right."""
        height, width = self.size
        row, column = divmod(place, self.columns)
        return row * (height + GAP), column * (width + GAP)

    def box(self, places: Array) -> dict[str, float]:
        """The corners of a frame around pictures."""
        height, width = self.size
        pad = height / 20
        tops, lefts = np.array([self.corner(int(place)) for place in places]).T
        return {
            "x0": lefts.min() - pad,
            "x1": lefts.max() + width + pad,
            "y0": tops.min() - pad,
            "y1": tops.max() + height + pad,
        }

    def picks(self, neurons: Sequence[int], axis: int) -> dict[str, Any]:
        """Where a click chooses which neuron, as `picking.js` reads it."""
        height, width = self.size
        corners = [self.corner(place) for place in range(self.count)]
        return {
            "setting": "neuron",
            "axes": [f"xaxis{axis}", f"yaxis{axis}"],
            "boxes": [
                [left, left + width, top, top + height, neuron]
                for (top, left), neuron in zip(corners, neurons, strict=True)
            ],
        }

    def values(self, weights: Array, limit: float) -> dict[str, Any]:
        """What changes of a trace with the weights (m, D): z of an image, x and y of an outline.

        An image holds them as whole numbers of `limit`/`LEVELS`, a byte each.
        """
        if self.dataset.image_shape is None:
            return self._outlines(weights / limit)
        rows, columns = (round(side) for side in self.extent)
        mosaic = np.zeros((rows, columns), dtype=np.int8)
        levels = np.round(np.clip(weights / limit, -1, 1) * LEVELS).astype(np.int8)
        for place, image in enumerate(self.dataset.as_images(levels)):
            top, left = (round(side) for side in self.corner(place))
            mosaic[top : top + image.shape[0], left : left + image.shape[1]] = image
        return {"z": mosaic}

    def trace(self, weights: Array, limit: float, theme: str, **place: Any) -> Any:
        """The trace of the weights (m, D), as dark as their size over `limit`."""
        values = self.values(weights, limit)
        if self.dataset.image_shape is None:
            look = THEMES[theme]
            return go.Scatter(
                **values,
                mode="lines",
                line={"width": 1, "color": look.ink},
                fill="toself",
                fillcolor=blend(look.paper, look.ink, 0.55),
                hoverinfo="skip",
                showlegend=False,
                **place,
            )
        return go.Heatmap(
            **values,
            x0=0.5,
            dx=1,
            y0=0.5,
            dy=1,
            zmin=-LEVELS,
            zmax=LEVELS,
            colorscale=soft_scale(theme),
            showscale=False,
            hoverinfo="skip",
            **place,
        )

    def _outlines(self, shares: Array) -> dict[str, Any]:
        """Bars of values within −1 and 1 as closed lines, one for each weight vector."""
        height, _ = self.size
        xs, ys = [], []
        for place, row in enumerate(np.clip(shares, -1, 1)):
            top, left = self.corner(place)
            middle = top + height / 2
            edges = np.arange(len(row) + 1)
            steps = np.repeat(row, 2) * height / 2
            xs += [left, *(left + np.repeat(edges, 2)[1:-1]), left + len(row), left, None]
            ys += [middle, *(middle - steps), middle, middle, None]
        return {"x": xs, "y": ys}


def soft_scale(theme: str, stops: int = 6) -> list[list[Any]]:
    """A color scale for signed values, blue below 0 and ink above, that lifts the small ones."""
    look = THEMES[theme]
    shares = np.linspace(0, 1, stops)
    low = [[0.5 - u / 2, blend(look.paper, BLUE, u**SOFT)] for u in shares[::-1]]
    high = [[0.5 + u / 2, blend(look.paper, look.ink, u**SOFT)] for u in shares[1:]]
    return [*low, *high]
