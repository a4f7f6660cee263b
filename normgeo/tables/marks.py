"""The marks of verdicts, ✓ ✗ ± ≈, drawn as bold lines, independent of fonts."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

Line = tuple[tuple[float, float], ...]

BOX, STROKE = 24, 4  # the side of a mark's square, and the width of its lines

MARKS: dict[str, tuple[Line, ...]] = {
    "✓": (((3, 13), (9.5, 19.5), (21, 5)),),
    "✗": (((4, 4), (20, 20)), ((20, 4), (4, 20))),
    "±": (((12, 2), (12, 16)), ((5, 9), (19, 9)), ((5, 21.5), (19, 21.5))),
    "≈": (
        ((3, 10), (6, 7), (9, 7), (15, 10), (18, 10), (21, 7)),
        ((3, 18), (6, 15), (9, 15), (15, 18), (18, 18), (21, 15)),
    ),
}
"""The lines of each mark, from point to point, in a square with the y axis downward."""

COLORS = {
    "✓": ("#006B4C", "#3ECF9F"),
    "✗": ("#B04000", "#FF9A5C"),
    "±": ("#7A5200", "#E0B050"),
    "≈": ("#00629A", "#7CC6F2"),
}
"""The color of each mark and its words, on light and on dark paper."""


def color(sign: str, theme: str) -> str:
    """The color of a mark in a theme."""
    return COLORS[sign][theme == "dark"]


def path(sign: str) -> str:
    """The mark as an SVG path in its square.

    >>> path("✗")
    'M4,4L20,20M20,4L4,20'

    """
    return "".join("M" + "L".join(f"{x:g},{y:g}" for x, y in line) for line in MARKS[sign])


def drawn(sign: str, stroke: str = "currentcolor") -> str:
    """The mark as an SVG element, with the size and color of the text around it."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {BOX} {BOX}" width="1em" '
        f'height="1em" fill="none" stroke="{stroke}" stroke-width="{STROKE}">'
        f'<path d="{path(sign)}"/></svg>'
    )


def in_markdown(words: str, theme: str) -> str:
    """Markdown with each ✓ and ✗ as an image, named by the sign for screen readers."""
    for sign in "✓✗":
        image = f"![{sign}](data:image/svg+xml,{quote(drawn(sign, color(sign, theme)))})"
        words = words.replace(sign, image)
    return words


def shape(
    sign: str, theme: str, size: float, shift: tuple[float, float] = (0, 0), **place: Any
) -> dict[str, Any]:
    """The mark as a plotly shape, around a point and shifted from it by pixels.

    `shift` is to the right and up; `place` holds the point (`xanchor`, `yanchor`) and its axes
    (`xref`, `yref`).
    """
    scale, (right, up) = size / BOX, shift
    lines = "".join(
        "M"
        + "L".join(
            f"{(x - BOX / 2) * scale + right:.4g},{(BOX / 2 - y) * scale + up:.4g}" for x, y in line
        )
        for line in MARKS[sign]
    )
    return {
        "type": "path",
        "path": lines,
        "xsizemode": "pixel",
        "ysizemode": "pixel",
        "line": {"color": color(sign, theme), "width": STROKE * scale},
        **place,
    }
