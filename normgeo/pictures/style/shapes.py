"""Lines and bands over the whole of a panel, which its sheet gives their axes."""

from __future__ import annotations

from typing import Any


def upright(x: float, line: dict[str, Any]) -> dict[str, Any]:
    """A line at x, under those of the panel."""
    return _whole("x", "line", x, x) | {"line": line}


def across(y: float, line: dict[str, Any]) -> dict[str, Any]:
    """A line at y, over those of the panel."""
    return _whole("y", "line", y, y) | {"line": line, "layer": "above"}


def level(low: float, high: float, color: str) -> dict[str, Any]:
    """A band from y to y."""
    return _whole("y", "rect", low, high) | {"fillcolor": color, "line": {"width": 0}}


def stretch(first: float, last: float, color: str) -> dict[str, Any]:
    """A band from x to x."""
    return _whole("x", "rect", first, last) | {"fillcolor": color, "line": {"width": 0}}


def _whole(letter: str, kind: str, first: float, last: float) -> dict[str, Any]:
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
