"""A table of changes of weights in words, with a column of marks for each of what ignores them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from normgeo.pictures.style.annotations import colored, note
from normgeo.pictures.style.template import SMALL
from normgeo.tables.marks import COLORS, color

LINE = 1.3  # of a line of type
Rows = Sequence[tuple[str, tuple[str, ...]]]
"""Changes in words, each with its marks."""


def height(rows: Rows) -> float:
    """Return the pixels that the table takes."""
    return LINE * SMALL * (len(rows) + 1) + 6


def marks(
    title: str,
    rows: Rows,
    heads: Sequence[tuple[str, str]],
    left: float,
    columns: Sequence[float],
    top: float,
    theme: str,
) -> Iterator[dict[str, Any]]:
    """Yield the notes that the table is made of.

    Args:
        title: above the changes. rows: the changes. heads: words and color of each column of marks.
        left: where the words begin. columns: the middle of each column of marks. top: of all.
        theme: "light" or "dark".

    """
    place = {"yanchor": "top", "font": {"size": SMALL}}
    yield note([f"<b>{title}</b>", *(words for words, _ in rows)], left, top, **place)
    for index, ((words, ink), x) in enumerate(zip(heads, columns, strict=True)):
        signs = [_sign(signs[index], theme) for _, signs in rows]
        head = colored(f"<b>{words}</b>", ink)
        yield note([head, *signs], x, top, **place, xanchor="center", align="center")


def _sign(sign: str, theme: str) -> str:
    bold = f"<b>{sign}</b>"
    return colored(bold, color(sign, theme)) if sign in COLORS else bold
