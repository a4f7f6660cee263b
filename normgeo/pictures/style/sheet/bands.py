"""Bands of words across a figure, in as many lines as a width makes of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from normgeo.pictures.style.annotations import in_lines, note, width
from normgeo.pictures.style.template import LARGE, SIZE, SMALL, THEMES
from normgeo.tables import marks

HEADLINE = 19  # type of the largest words on a phone and in a hall
LINE = 1.3  # of a line of type, as plotly has it
EDGE = 8  # pixels between things that stand below each other
SIGN = 1.2  # of the size of type, a mark before words

Layout = dict[str, Any]


class Form(NamedTuple):
    """A kind of screen, in pixels of a figure, somewhat fewer than there are: fonts differ.

    Attributes:
        width: of a figure. narrow: whether panels stand below each other, as on a phone.
        high: of a figure where the screen decides, as in a hall; 0 where its panels do.
        edge: to the left of a panel, which words over it take as well.
        slide: whether it has one thing alone.

    """

    width: int
    narrow: bool = False
    high: int = 0
    edge: float = 0.0
    slide: bool = False

    @property
    def at_edge(self) -> bool:
        """Whether words begin at the edge of the figure, not where panels do."""
        return self.narrow or bool(self.high)


class Band(NamedTuple):
    """Sentences across a figure, each in lines of its own.

    Attributes:
        sign: a mark before them.
        on_slide: what a slide has in their place, where few are read; None for the same.
        brief: whether a phone has that as well.

    """

    sentences: Sequence[str]
    size: int = SIZE
    color: str | None = None
    sign: str = ""
    on_slide: Sequence[str] | None = None
    brief: bool = False

    def said(self, form: Form) -> Sequence[str]:
        """Return the sentences of a form."""
        short = form.slide or (self.brief and form.narrow)
        return self.on_slide if short and self.on_slide is not None else self.sentences

    def type(self, form: Form) -> int:
        """Return the size of its type."""
        return min(self.size, HEADLINE) if form.at_edge else self.size

    def lines(self, room: float, form: Form) -> list[str]:
        """Return its lines in a room of so many pixels."""
        size = self.type(form)
        room -= self._indent(form)
        return [line for words in self.said(form) for line in in_lines(str(words), size, room)]

    def height(self, room: float, form: Form) -> float:
        """Return the pixels that they take."""
        return LINE * self.type(form) * len(self.lines(room, form))

    def drawn(self, room: float, form: Form, theme: str, **place: Any) -> Iterator[Layout]:
        """Yield the words, and their mark, with their upper left corner at a place."""
        lines, size = self.lines(room, form), self.type(form)
        if not lines:
            return
        shift, up, indent = place.pop("xshift", 0), place.pop("yshift", 0), self._indent(form)
        font = {"size": size} | ({"color": self.color} if self.color else {})
        words = note(lines, yanchor="top", xshift=shift + indent, yshift=up, font=font, **place)
        yield words
        if self.sign:
            middle = shift + SIGN * size / 2, up - LINE * size / 2 - 1
            at = {"xanchor": words["x"], "yanchor": words["y"]}
            refs = {key: words[key] for key in ("xref", "yref")}
            yield marks.shape(self.sign, theme, SIGN * size, middle, **refs, **at)

    def width(self, form: Form) -> float:
        """Return the pixels of its longest sentence."""
        longest = max((width(words, self.type(form)) for words in self.said(form)), default=0.0)
        return self._indent(form) + longest

    def _indent(self, form: Form) -> float:
        return (SIGN * self.type(form) + EDGE) * bool(self.sign)


class Pair(NamedTuple):
    """Two bands, in a hall beside each other where both are short.

    Attributes:
        least: pixels that the first one takes there, as those of other pairs are wider.

    """

    first: Band
    second: Band
    least: float = 0.0

    def height(self, room: float, form: Form) -> float:
        """Return the pixels that they take."""
        heights = [band.height(room, form) for band in self[:2]]
        return max(heights) if self._fits(room, form) else sum(heights)

    def drawn(self, room: float, form: Form, theme: str, **place: Any) -> Iterator[Layout]:
        """Yield the words of both, with the upper left corner of the first at a place."""
        shift, up = place.pop("xshift", 0), place.pop("yshift", 0)
        high = self.first.height(room, form)
        if self._fits(room, form):
            # Their lines end at one height.
            down = self.second.height(room, form) - high
            left = shift + self._beside(form)
            first, second = (shift, up - max(down, 0)), (left, up - max(-down, 0))
        else:
            first, second = (shift, up), (shift, up - high)
        for band, (across, top) in zip(self[:2], (first, second), strict=True):
            yield from band.drawn(room, form, theme, xshift=across, yshift=top, **place)

    def _fits(self, room: float, form: Form) -> bool:
        one_line = all(len(band.said(form)) == 1 for band in self[:2])
        wide = self._beside(form) + self.second.width(form)
        return bool(form.high) and one_line and wide <= room

    def _beside(self, form: Form) -> float:
        """Where the second one begins."""
        return max(self.least, self.first.width(form)) + 2 * EDGE


class Tiles(NamedTuple):
    """Short words beside each other, of which the first line of each is the largest.

    Attributes:
        tiles: the lines of each. size: of the first lines.
        short: whether a phone has the first lines alone, what is after two spaces below.

    """

    tiles: Sequence[Sequence[str]]
    size: int
    short: bool = False

    def height(self, room: float, form: Form) -> float:
        """Return the pixels that they take."""
        return sum(self._heights(room))

    def drawn(self, room: float, form: Form, theme: str, **place: Any) -> Iterator[Layout]:
        """Yield the words, the upper left corner of the first tile at a place."""
        shift, up = place.pop("xshift", 0), place.pop("yshift", 0)
        rows = self._rows(room)
        for row, high in zip(rows, self._heights(room), strict=True):
            widths = [max(width(line, SIZE) for line in lines) for lines in row]
            gap = (room - sum(widths)) / (len(row) - 1) if len(row) > 2 else 4 * EDGE
            left = 0.0
            for lines, wide in zip(row, widths, strict=True):
                yield note(lines, yanchor="top", xshift=shift + left, yshift=up, **place)
                left += wide + gap if len(rows) == 1 else room / 2
            up -= high

    def _heights(self, room: float) -> list[float]:
        return [
            LINE * (self.size + SIZE * (max(map(len, row)) - 1)) + EDGE / 2
            for row in self._rows(room)
        ]

    def _rows(self, room: float) -> list[Sequence[Sequence[str]]]:
        """All beside each other where they have room, else two; on a phone, in shorter lines."""
        needed = sum(max(width(line, SIZE) for line in lines) + 2 * EDGE for lines in self.tiles)
        if needed <= room + 2 * EDGE:
            return [self.tiles]
        half = [
            [part for line in shown for part in in_lines(str(line), SIZE, room / 2 - EDGE)]
            for shown in (lines[0].split("  ") if self.short else lines for lines in self.tiles)
        ]
        return [half[first : first + 2] for first in range(0, len(half), 2)]


def answer(*sentences: str, color: str | None = None, sign: str = "") -> Band:
    """What is to be seen, in large type; one sentence is a headline, without a full stop."""
    alone = len(sentences) == 1 and ". " not in sentences[0]
    said = [sentences[0].removesuffix(".")] if alone else sentences
    return Band([f"<b>{sentence}</b>" for sentence in said], LARGE, color, sign)


def told(theme: str, *sentences: str, on_slide: Sequence[str] | None = None) -> Band:
    """What was computed, in small type."""
    return Band(sentences, SMALL, THEMES[theme].muted, on_slide=on_slide)
