"""The reasons of null directions, at the left of the walk: what each moves of the templates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.template import THEMES
from normgeo.pictures.symmetry.templates_figure import Grid
from normgeo.pictures.symmetry.walk import Walks
from normgeo.pictures.symmetry.walk_words import drawn_reasons, slots


def reasons(result: Walks, theme: str) -> Iterator[Any]:
    """Yield what one direction of each reason adds to the weight vectors."""
    grid = Grid(result.dataset, len(result.shown), len(result.shown))
    height, _ = grid.extent
    for one, (_, top, tall) in zip(drawn_reasons(result), slots(result), strict=True):
        values = one.each[result.shown]
        limit = float(np.abs(values).max()) or 1.0
        trace = grid.trace(values, limit, theme)
        scale = tall / height
        if trace.type == "heatmap":
            trace.update(y0=top + scale / 2, dy=scale)
        else:
            trace.y = [None if y is None else top + scale * y for y in trace.y]
        yield trace


def marks(result: Walks, theme: str) -> list[dict[str, Any]]:
    """Frames around what moves together, and a bar beside the reason that is walked along."""
    look, color = THEMES[theme], method_color(result.found.normalizer)
    grid = Grid(result.dataset, len(result.shown), len(result.shown))
    height, _ = grid.extent
    shapes = []
    for one, (start, top, tall) in zip(drawn_reasons(result), slots(result), strict=True):
        scale = tall / height
        places = np.flatnonzero(one.moved[result.shown])
        sets = [np.array([place]) for place in range(grid.count)] if one.alone else [places]
        for together in sets:
            if len(together):
                box = grid.box(together)
                box |= {"y0": top + scale * box["y0"], "y1": top + scale * box["y1"]}
                shapes.append({"type": "rect", "line": {"color": look.muted, "width": 1}, **box})
        if one is result.chosen:
            shapes.append(
                {
                    "type": "line",
                    "x0": -2.2,
                    "x1": -2.2,
                    "y0": start,
                    "y1": top + tall,
                    "line": {"color": color, "width": 5},
                }
            )
    return shapes
