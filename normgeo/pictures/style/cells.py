"""What stands in the rows of a sheet: pairs of axes with their words, and tables of marks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log10
from typing import Any, NamedTuple

from normgeo.pictures.style.annotations import colored, in_lines, note, tallest, width
from normgeo.pictures.style.template import SIZE, SMALL
from normgeo.tables.marks import color

LINE = 1.3  # of a line of type, as plotly has it
EDGE = 8  # pixels between things that stand below each other
TICK = 7  # pixels of a tick, with what is between it and its label
SLANT, SHARE = 60, 1.1  # degrees of labels that have no room, and what of their length is down
LABEL = 40  # pixels of a label that plotly chooses
WIDEST = "0.000", "0.0000"  # such labels, plain and logarithmic

Layout = dict[str, Any]
REFERENCES = "xref", "yref"
TOP = "paper", 1, "bottom"  # of a note: over its panel


class Box(NamedTuple):
    """Where a cell stands: pixels from the left and the top of the paper, and its sizes."""

    left: float
    wide: float
    top: float
    high: float
    head: float  # pixels for words above it

    def domains(self, paper: tuple[float, float]) -> tuple[list[float], list[float]]:
        """Return the shares of a paper of a width and a height that it takes."""
        wide, high = paper
        across = [self.left / wide, min((self.left + self.wide) / wide, 1.0)]
        return across, [max(1 - (self.top + self.high) / high, 0.0), 1 - self.top / high]


class Panel(NamedTuple):
    """A pair of axes.

    Attributes:
        x, y: the properties of its axes. head: sentences above it.
        notes, shapes: in it; their references "paper", "x", "y" and the like are its own.
        high: pixels, on a wide screen and on a phone. share: of the width of its row.
        left: pixels between it and what is at its left, as for a bar of colors.

    """

    x: Layout
    y: Layout
    head: Sequence[str] = ()
    notes: Sequence[Layout] = ()
    shapes: Sequence[Layout] = ()
    high: tuple[int, int] = (250, 230)
    share: float = 1.0
    left: int = 0

    def beside(self, first: bool) -> float:
        labels = _labels(self.y)
        title = LINE * SIZE + EDGE if self.y.get("title") and labels else 0
        return (
            self.left * (not first)
            + TICK
            + max((width(label, SMALL) for label in labels), default=0)
            + title
        )

    def above(self, wide: float) -> float:
        over = [one for one in self.notes if (one["yref"], one["y"], one["yanchor"]) == TOP]
        notes = [self._head(wide), *(str(one["text"]).split("<br>") for one in over)]
        return 1.15 * LINE * max(_type(lines) * len(lines) for lines in notes) + EDGE

    def height(self, wide: float, narrow: bool) -> float:
        return self.high[narrow]

    def below(self, wide: float) -> float:
        drawn = self.across(wide)
        labels = _labels(drawn)
        down = LINE * SMALL * max((label.count("<br>") + 1 for label in labels), default=0)
        if drawn.get("tickangle"):
            down = EDGE + SHARE * max(width(label, SMALL) for label in labels)
        title = drawn["title"]["text"] if "title" in drawn else ""
        titles = LINE * SIZE * (title.count("<br>") + 1) + EDGE / 2 if title else 0
        return TICK + down + titles

    def across(self, wide: float) -> Layout:
        """Return what of the axis below it depends on its width: words that go on in a new line."""
        drawn: Layout = {key: self.x[key] for key in ("showticklabels", "visible") if key in self.x}
        if self.x.get("title"):
            drawn["title"] = {"text": _broken(self.x["title"], SIZE, wide + 2 * LABEL)}
        if "nticks" in self.x:
            drawn["nticks"] = min(self.x["nticks"], int(wide / LABEL))
        if labels := self.x.get("ticktext"):
            each = wide / self._shown()
            broken = [_broken(label, SMALL, each) for label in labels]
            upright = max(width(label, SMALL) for label in broken) <= each + EDGE
            drawn["ticktext"] = broken if upright else [*labels]
            drawn["tickangle"] = 0 if upright else SLANT
        return drawn

    def _shown(self) -> int:
        """How many of its labels below it are in its range."""
        values = [float(value) for value in self.x["tickvals"]]
        places = [log10(value) for value in values] if self.x.get("type") == "log" else values
        low, high = self.x["range"]
        return max(1, sum(bool(low <= place <= high) for place in places))

    def own(self, number: int, things: Sequence[Layout]) -> list[Layout]:
        """Return notes or shapes of it whose references are to its axes, with this number."""
        return [
            thing | {key: _reference(thing.get(key, key[0]), key[0], number) for key in REFERENCES}
            for thing in things
        ]

    def words(self, number: int, wide: float) -> Iterator[Layout]:
        """Yield the words above it and those in it."""
        if self.head:
            lines = self._head(wide)
            yield from self.own(number, [note(lines, yshift=4, font={"size": _type(lines)})])
        for one in self.own(number, self.notes):
            # From its place in the panel a note has room up to the end, or to both ends.
            x = one["x"]
            room = {"left": 1 - x, "right": x, "center": 2 * min(x, 1 - x)}.get(one["xanchor"])
            if one["xref"].endswith("domain") and room and not one.get("textangle"):
                size = one["font"].get("size", SIZE)
                yield one | {"text": _broken(one["text"], size, room * wide)}
            else:
                yield one

    def _head(self, wide: float) -> list[str]:
        return [line for words in self.head for line in in_lines(str(words), SIZE, wide + EDGE)]


class Marks(NamedTuple):
    """A table of sentences with columns of marks.

    Attributes:
        title: above the sentences. heads: above the columns.
        rows: a sentence, and a mark for each column. share: of the width of its row.

    """

    title: str
    heads: Sequence[str]
    rows: Sequence[tuple[str, Sequence[str]]]
    share: float = 1.0

    def beside(self, first: bool) -> float:
        return 0.0 if first else 3.0 * EDGE

    def above(self, wide: float) -> float:
        return 0.0

    def height(self, wide: float, narrow: bool) -> float:
        lines = 1 + sum(map(len, self._sentences(wide)))
        return LINE * SMALL * lines + EDGE

    def below(self, wide: float) -> float:
        return 0.0

    def words(self, box: Box, paper: float) -> Iterator[Layout]:
        """Yield the title over the sentences, and the columns, on a paper of a width."""
        lines = self._sentences(box.wide)
        place: Layout = {"yanchor": "top", "yshift": box.head - box.top, "font": {"size": SMALL}}
        yield note(
            [f"<b>{self.title}</b>", *(line for each in lines for line in each)],
            box.left / paper,
            **place,
        )
        right = box.left + box.wide
        for column, head in reversed(list(enumerate(self.heads))):
            wide = self._column(head)
            signs = [
                line
                for (_, marks), each in zip(self.rows, lines, strict=True)
                for line in (marks[column], *[""] * (len(each) - 1))
            ]
            middle = (right - wide / 2) / paper
            yield note([head, *signs], middle, xanchor="center", align="center", **place)
            right -= wide

    def _column(self, head: str) -> float:
        return width(head, SMALL) + EDGE

    def _sentences(self, wide: float) -> list[tuple[str, ...]]:
        room = wide - EDGE - sum(map(self._column, self.heads))
        return [in_lines(str(words), SMALL, room) for words, _ in self.rows]


def marks(
    theme: str,
    title: str,
    heads: Sequence[tuple[str, str]],
    rows: Sequence[tuple[str, Sequence[str]]],
    share: float = 1.0,
) -> Marks:
    """The table of sentences with their marks, in the colors of these; heads have one each."""
    drawn = [
        (words, [colored(f"<b>{sign}</b>", color(sign, theme)) for sign in signs])
        for words, signs in rows
    ]
    return Marks(title, [colored(f"<b>{words}</b>", ink) for words, ink in heads], drawn, share)


def _type(lines: Sequence[str]) -> float:
    """The type of words over a panel: plotly keeps lines apart by it, also where parts differ."""
    return max((tallest(line, SIZE) for line in lines), default=0)


def _broken(words: str, size: int, room: float) -> str:
    return "<br>".join(in_lines(str(words), size, room))


def _labels(axis: Layout) -> list[str]:
    """The labels of an axis; one that plotly makes is as wide as such are."""
    if axis.get("visible") is False or axis.get("showticklabels") is False:
        return []
    if "ticktext" in axis:
        return [str(label) for label in axis["ticktext"]]
    return [f"{value:g}".replace("e", "×10") for value in axis.get("tickvals", ())] or [
        WIDEST[axis.get("type") == "log"]
    ]


def _reference(own: str, letter: str, number: int) -> str:
    """The reference to the axis of this number, or to its length, of a panel's own to either."""
    length = " domain" if own == "paper" or own.endswith("domain") else ""
    return f"{axis_name(letter, number)}{length}"


def axis_name(letter: str, number: int) -> str:
    """The name of an axis, of which the first has no number."""
    return letter if number == 1 else f"{letter}{number}"


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
