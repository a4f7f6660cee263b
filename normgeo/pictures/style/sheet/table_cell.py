"""A table of sentences with columns of marks, as a cell of a sheet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from normgeo.pictures.style.annotations import colored, in_lines, note, width
from normgeo.pictures.style.sheet.bands import EDGE, LINE, Form, Layout
from normgeo.pictures.style.template import SMALL
from normgeo.tables.marks import color

WIDEST = 390  # pixels that a table takes from its neighbors, at most


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

    def beside(self, first: bool, form: Form) -> float:
        return 0.0 if first else 3.0 * EDGE

    @property
    def narrowest(self) -> int:
        """The pixels that most sentences need for one line."""
        longest = max(width(words, SMALL) for words, _ in self.rows)
        return round(min(WIDEST, longest + 2 * EDGE + sum(map(self._column, self.heads))))

    def bar(self, form: Form) -> int:
        return 0

    def above(self, wide: float, form: Form) -> float:
        return 0.0

    def height(self, wide: float, form: Form) -> float:
        lines = 1 + sum(map(len, self._sentences(wide)))
        return LINE * SMALL * lines + EDGE

    def least(self, wide: float, form: Form) -> float:
        return self.height(wide, form)

    def below(self, wide: float, form: Form) -> float:
        return 0.0

    def words(self, left: float, wide: float, up: float, paper: float) -> Iterator[Layout]:
        """Yield the title over the sentences, and the columns.

        left, wide: in pixels. up: pixels from the top of a paper, of a width in pixels.
        """
        lines = self._sentences(wide)
        place: Layout = {"yanchor": "top", "yshift": up, "font": {"size": SMALL}}
        yield note(
            [f"<b>{self.title}</b>", *(line for each in lines for line in each)],
            left / paper,
            **place,
        )
        right = left + wide
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
