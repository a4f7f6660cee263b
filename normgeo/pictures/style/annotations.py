"""Words on the paper of a figure: how wide they are, and the lines in which they have room."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.template import SIZE, SMALL


def note(
    words: str | Sequence[str], x: float = 0.0, y: float = 1.0, **place: Any
) -> dict[str, Any]:
    """The annotation of words, or of lines of them, that begin at x and end above y.

    x and y are shares of the paper; `place` overrides any property of plotly's annotations.
    """
    lines = [words] if isinstance(words, str) else words
    return {
        "text": "<br>".join(map(str, lines)),
        "x": x,
        "y": y,
        "xref": "paper",
        "yref": "paper",
        "xanchor": "left",
        "yanchor": "bottom",
        "align": "left",
        "font": {"size": SIZE},
        **place,
    }


def subscripted(words: str) -> str:
    """Words in a figure whose `_q` and the like are indices.

    >>> subscripted("W_q and W_k")
    'W<sub>q</sub> and W<sub>k</sub>'

    """
    return re.sub(r"(?<=\w)_(\w)\b", r"<sub>\1</sub>", str(words))


def colored(words: str, color: str, size: int = SMALL) -> str:
    """Words of a caption in a color and a size."""
    return f'<span style="color:{color};font-size:{size}px">{words}</span>'


def sized(words: str, size: int) -> str:
    """Words of a caption in a size."""
    return f'<span style="font-size:{size}px">{words}</span>'


def method_title(normalizer: Normalizer, theme: str, more: str = "") -> str:
    """The title of a method in its color, with what is particular about it."""
    return colored(f"<b>{normalizer.title}{more}</b>", method_color(normalizer, theme), SIZE)


def halo(paper: str) -> str:
    """A shadow that keeps words apart from the lines behind them."""
    return ", ".join(f"{x}px {y}px 2px {paper}" for x in (-2, 0, 2) for y in (-2, 0, 2))


KEPT = "\ue001"  # stands for a space at which no line ends

# Letters of the pages' font by their width, in hundredths of the size of type.
ADVANCES = {
    20: f" {KEPT}\N{NO-BREAK SPACE}",
    26: "',.:;Iijl|",
    31: "!()[]f{}-",
    35: "/\\rt",
    43: '*?sz"',
    47: "cxJYvy",
    50: "#$+0123456789<=>FL^_aegk~×−≤≥≈±°",
    54: "VXAESTZ`hou",
    57: "bdnpqCKPR",
    61: "B&DG",
    66: "UHNOQ",
    73: "wM",
    84: "W%m@",
}
ADVANCE = {letter: share / 100 for share, letters in ADVANCES.items() for letter in letters}
OTHER = 0.58  # of the size of type: a letter that is not among these
BOLD = 1.08  # a bold letter, beside another one
RAISED = 0.7  # the size of an index or an exponent, beside that of its line


SIZED = r"font-size:\s*([\d.]+)px"


def _parts(words: str, size: float) -> Iterator[tuple[str, float]]:
    """The tags and the letters of words, each with its width in pixels."""
    sizes = [size]
    for part in re.findall(r"<[^>]*>|&#?\w+;|.", words):
        if part.startswith("</"):
            sizes = sizes[: max(1, len(sizes) - 1)]
        elif part.startswith("<") and not part.startswith("<br"):
            own = re.search(SIZED, part)
            bold = BOLD if part.startswith("<b") else 1
            raised = RAISED if part.startswith("<su") else 1
            sizes.append((float(own[1]) if own else sizes[-1]) * bold * raised)
        yield part, 0 if part.startswith("<") else sizes[-1] * ADVANCE.get(part, OTHER)


@lru_cache(maxsize=4096)
def in_lines(words: str, size: float, room: float) -> tuple[str, ...]:
    """Words in lines that are no wider than the room where there is a space to break at.

    What stands beside a sign of a formula stays there, and `<br>` begins a line as well.

    >>> in_lines("three words<br>here", 10, 40)
    ('three', 'words', 'here')

    """
    words = re.sub(r" ([=+−×÷]) ", rf"{KEPT}\1{KEPT}", words)
    lines, line, across = [], "", 0.0
    space: tuple[int, float] | None = None
    for part, wide in _parts(words, size):
        if part.startswith("<br"):
            lines.append(line)
            line, across, space = "", 0.0, None
            continue
        across += wide
        if across > room and space and part != " ":
            lines.append(line[: space[0]])
            line, across, space = line[space[0] + 1 :], across - space[1], None
        line += part
        if part == " ":
            space = len(line) - 1, across
    return tuple(each.replace(KEPT, " ") for each in (*lines, line))


def tallest(words: str, size: float) -> float:
    """The largest type of a line of words."""
    return max(float(own) for own in [size, *re.findall(SIZED, words)])


@lru_cache(maxsize=4096)
def width(words: str, size: float) -> float:
    """The pixels of the widest line of words."""
    across = [0.0]
    for part, wide in _parts(words, size):
        if part.startswith("<br"):
            across.append(0.0)
        across[-1] += wide
    return max(across)
