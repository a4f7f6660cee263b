"""Lines and bands through the whole of a panel, for its `shapes`."""

from __future__ import annotations

from typing import Any

Layout = dict[str, Any]


def upright(x: float, line: Layout) -> Layout:
    """A line at x, under those of the panel."""
    return _whole("x", "line", x, x) | {"line": line}


def across(y: float, line: Layout) -> Layout:
    """A line at y, over those of the panel."""
    return _whole("y", "line", y, y) | {"line": line, "layer": "above"}


def level(low: float, high: float, color: str) -> Layout:
    """A band from y to y."""
    return _whole("y", "rect", low, high) | {"fillcolor": color, "line": {"width": 0}}


def stretch(first: float, last: float, color: str) -> Layout:
    """A band from x to x."""
    return _whole("x", "rect", first, last) | {"fillcolor": color, "line": {"width": 0}}


def _whole(letter: str, kind: str, first: float, last: float) -> Layout:
    other = "y" if letter == "x" else "x"
    return {
        "type": kind,
        f"{letter}ref": letter,
        f"{other}ref": "paper",
        f"{letter}0": first,
        f"{letter}1": last,
        f"{other}0": 0,
        f"{other}1": 1,
        "layer": "below",
    }
