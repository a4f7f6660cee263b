"""Panels beside each other, which stand below each other where a figure is narrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from normgeo.pictures.style.annotations import wrapped
from normgeo.pictures.style.template import FOOT_MARGIN, NARROW_LEFT_MARGIN, RIGHT_MARGIN

WIDE, NARROW = 120, 40  # letters of the size SMALL in a line


def stacked(
    panels: Sequence[Sequence[int]],
    *,
    each: int,
    between: int,
    top: int,
    bottom: int = FOOT_MARGIN,
    left: int = NARROW_LEFT_MARGIN,
    right: int = RIGHT_MARGIN,
) -> dict[str, Any]:
    """Return the layout in which panels stand below each other, for `meta["narrow"]`.

    Args:
        panels: rows of the numbers of axes, from the top; those of a row stand beside each other.
        each: the height of a panel in pixels. between: what their titles and heads take.
        top, bottom, left, right: the margins.

    """
    rows = len(panels)
    paper = rows * each + (rows - 1) * between
    layout: dict[str, Any] = {
        "height": top + paper + bottom,
        "margin": {"l": left, "r": right, "t": top, "b": bottom},
    }
    for row, numbers in enumerate(panels):
        low = 1 - (row * (each + between) + each) / paper
        for place, n in enumerate(numbers):
            across = [(place + 0.04 * bool(place)) / len(numbers), (place + 0.96) / len(numbers)]
            name = "" if n == 1 else str(n)
            layout[f"xaxis{name}"] = {"domain": across if len(numbers) > 1 else [0.0, 1.0]}
            layout[f"yaxis{name}"] = {"domain": [max(low, 0.0), min(low + each / paper, 1.0)]}
    return layout


def lines_of(sentences: Sequence[str], narrow: bool) -> list[str]:
    """Return sentences in lines of a wide or a narrow figure, each beginning a new one."""
    return [line for words in sentences for line in wrapped(words, NARROW if narrow else WIDE)]


def head(panel: int, words: Sequence[str], **place: Any) -> dict[str, Any]:
    """Return the words above a panel: they follow its axes, wherever those are."""
    return {
        "text": "<br>".join(map(str, words)),
        "x": 0,
        "y": 1,
        "xref": "x domain" if panel == 1 else f"x{panel} domain",
        "yref": "y domain" if panel == 1 else f"y{panel} domain",
        "xanchor": "left",
        "yanchor": "bottom",
        "align": "left",
        "yshift": 4,
        **place,
    }
