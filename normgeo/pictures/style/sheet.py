"""A figure says what it has, in order; where that stands is decided here, for any width."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, NamedTuple, final

import plotly.graph_objects as go

from normgeo.pictures.style.annotations import in_lines, note, width
from normgeo.pictures.style.cells import EDGE, LINE, Box, Layout, Marks, Panel, axis_name
from normgeo.pictures.style.template import LARGE, RIGHT_MARGIN, SIZE, SMALL, THEMES, dress

HEADLINE = 20  # type of the largest words on a phone
NAMES = 1.6  # of a line of the legend, of the size of its type
SYMBOL = 45  # pixels of what a legend draws before a name, with what is between two names


class Form(NamedTuple):
    """A width in pixels, somewhat less than the page's: fonts differ."""

    width: int
    narrow: bool


FORMS = Form(1140, narrow=False), Form(328, narrow=True)


class Band(NamedTuple):
    """Sentences across a figure, each in lines of its own."""

    sentences: Sequence[str]
    size: int = SIZE
    color: str | None = None

    def font(self, narrow: bool) -> Layout:
        """Return its type."""
        size = min(self.size, HEADLINE) if narrow else self.size
        return {"size": size} | ({"color": self.color} if self.color else {})

    def lines(self, room: float, narrow: bool) -> list[str]:
        """Return its lines in a room of so many pixels."""
        size = self.font(narrow)["size"]
        return [line for words in self.sentences for line in in_lines(str(words), size, room)]

    def height(self, room: float, narrow: bool) -> float:
        """Return the pixels that they take."""
        return LINE * float(self.font(narrow)["size"]) * len(self.lines(room, narrow))


def answer(*sentences: str, color: str | None = None) -> Band:
    """What is to be seen, in large type."""
    return Band([f"<b>{sentence}</b>" for sentence in sentences], LARGE, color)


def told(theme: str, *sentences: str) -> Band:
    """What was computed, in small type."""
    return Band(sentences, SMALL, THEMES[theme].muted)


@final
@dataclass(frozen=True)
class Sheet:
    """A figure: bands of words, the legend of its lines, rows of panels and tables, more bands.

    Attributes:
        bands: above all. rows: what stands beside each other on a wide screen. foot: below all.
        phone: the places, counted through `rows`, of what stands beside each other on a phone;
            each stands alone if there are none.
        one_scale: panels beside each other share the labels of the first.
        right: pixels at the right, as for a bar of colors.
        legend: whether there is one.
        strip: pixels for a slider on a phone; where it is wide, the slider adds them.

    """

    bands: Sequence[Band]
    rows: Sequence[Sequence[Panel | Marks]]
    foot: Sequence[Band] = ()
    phone: Sequence[Sequence[int]] = ()
    one_scale: bool = False
    right: int = RIGHT_MARGIN
    legend: bool = True
    strip: int = 0

    def on(self, traces: Sequence[Any], theme: str, among: Sequence[Sheet] = ()) -> go.Figure:
        """Draw traces, whose axes have the numbers of the panels, from 1.

        Args:
            traces: of plotly. theme: "light" or "dark".
            among: the sheets of all frames; each has the room of the longest.

        """
        drawn = go.Figure(traces)
        for one in drawn.data:  # plotly gives each group of a legend the width that it needs
            if "legendgroup" in one:
                one.legendgroup = one.legendgroup or one.name
        wide, narrow = self._forms(drawn, among)
        dress(drawn, theme, height=wide["height"])
        for n, panel in self.panels.values():
            drawn.update_layout({f"xaxis{n}": panel.x, f"yaxis{n}": panel.y})
        shapes = [one for n, panel in self.panels.values() for one in panel.own(n, panel.shapes)]
        return drawn.update_layout(wide, shapes=shapes, meta={"narrow": narrow})

    def frame(self, drawn: go.Figure, among: Sequence[Sheet]) -> Layout:
        """Return the layout of a frame of a figure: its words, in the room of the longest."""
        wide, narrow = (form["annotations"] for form in self._forms(drawn, among))
        return {"annotations": wide, "meta": {"narrow": {"annotations": narrow}}}

    @property
    def cells(self) -> list[Panel | Marks]:
        """All panels and tables."""
        return [cell for row in self.rows for cell in row]

    @property
    def panels(self) -> dict[int, tuple[int, Panel]]:
        """The panels by their place among the cells, with the numbers of their axes."""
        found = [(place, cell) for place, cell in enumerate(self.cells) if isinstance(cell, Panel)]
        return {place: (n, panel) for n, (place, panel) in enumerate(found, start=1)}

    def _forms(self, drawn: go.Figure, among: Sequence[Sheet]) -> list[Layout]:
        lines = [one for one in drawn.data if one.type != "heatmap" and one.showlegend is not False]
        names = dict.fromkeys(str(one.name) for one in lines if one.name and self.legend)
        return [_placed(self, form, [*names], among or [self]) for form in FORMS]


def _placed(sheet: Sheet, form: Form, names: Sequence[str], among: Sequence[Sheet]) -> Layout:
    """Where everything is on a width, with words in lines."""
    narrow = form.narrow
    rows = _rows(sheet, narrow)
    left = EDGE + round(max(sheet.cells[row[0]].beside(first=True) for row in rows))
    wide = form.width - left - sheet.right
    boxes, high, below = _boxes(rows, wide, form, among)
    paper = wide, high
    keys = NAMES * SIZE * _lines_of_names(names, wide) + EDGE if len(names) > 1 else 0.0
    # On a phone bands begin at the edge of the figure.
    room, shift = (form.width - 2 * EDGE, EDGE - left) if narrow else (wide, 0)
    bands = _heights([one.bands for one in among], room, narrow)
    foot = _heights([one.foot for one in among], room, narrow)
    top, bottom = EDGE + sum(bands) + keys, below + sum(foot) + EDGE * bool(foot)
    strip = sheet.strip * narrow

    def notes(bands: Sequence[Band], heights: Sequence[float], y: int, top: float) -> list[Layout]:
        tops = accumulate(heights, lambda up, high: up - high, initial=top)
        place: Layout = {"y": y, "yanchor": "top", "xshift": shift}
        return [
            note(band.lines(room, narrow), yshift=up, font=band.font(narrow), **place)
            for band, up in zip(bands, tops, strict=False)
            if band.sentences
        ]

    annotations = notes(sheet.bands, bands, 1, top - EDGE)
    axes: Layout = {}
    for place, box in boxes.items():
        cell = sheet.cells[place]
        if isinstance(cell, Marks):
            edge = shift if narrow else 0
            annotations += cell.words(
                box._replace(left=box.left + edge, wide=box.wide - edge), wide
            )
            continue
        n, _ = sheet.panels[place]
        annotations += cell.words(n, box.wide)
        across, down = box.domains(paper)
        hidden = sheet.one_scale and box.left > 0
        x, y = axis_name("x", n), axis_name("y", n)
        axes[f"xaxis{x[1:]}"] = {"domain": across, "anchor": y, **cell.across(box.wide)}
        axes[f"yaxis{y[1:]}"] = {"domain": down, "anchor": x} | (
            {
                "showticklabels": not hidden,
                "title": {"text": "" if hidden else cell.y.get("title", "")},
            }
            if sheet.one_scale
            else {}
        )
    return axes | {
        "height": round(top + high + bottom) + strip,
        "margin": {"l": left, "r": sheet.right, "t": round(top), "b": round(bottom) + strip},
        "annotations": annotations + notes(sheet.foot, foot, 0, -below),
        "showlegend": len(names) > 1,
        "legend": {
            "orientation": "h",
            "x": shift / wide,
            "xanchor": "left",
            "y": 1,
            "yanchor": "bottom",
            "tracegroupgap": 0,
        },
    }


def _rows(sheet: Sheet, narrow: bool) -> list[Sequence[int]]:
    """The places of the cells that stand beside each other."""
    if narrow:
        return list(sheet.phone) or [[place] for place in range(len(sheet.cells))]
    ends = [0, *accumulate(map(len, sheet.rows))]
    return [range(first, last) for first, last in pairwise(ends)]


def _boxes(
    rows: Sequence[Sequence[int]], wide: float, form: Form, among: Sequence[Sheet]
) -> tuple[dict[int, Box], float, float]:
    """Where the cells stand on a paper so wide, its height, and what is below it."""
    cells, shared = among[0].cells, among[0].one_scale
    gaps = [0.0] * max(map(len, rows))
    for row in rows:
        for k, place in enumerate(row[1:], start=1):
            gaps[k] = max(gaps[k], EDGE + (EDGE if shared else cells[place].beside(first=False)))
    boxes: dict[int, Box] = {}
    down = below = 0.0
    for row in rows:
        shares = [cells[place].share for place in row]
        inner = (wide - sum(gaps[: len(row)])) / sum(shares)
        widths = {place: share * inner for place, share in zip(row, shares, strict=True)}
        every = [(each.cells[place], widths[place]) for each in among for place in row]
        head = max(cell.above(across) for cell, across in every)
        high = max(cell.height(across, form.narrow) for cell, across in every)
        down += below + head
        left = 0.0
        for place, gap in zip(row, gaps, strict=False):
            boxes[place] = Box(left + gap, widths[place], down, high, head)
            left += gap + widths[place]
        down += high
        below = EDGE + max(cell.below(across) for cell, across in every)
    return boxes, down, below


def _heights(bands: Sequence[Sequence[Band]], room: float, narrow: bool) -> list[float]:
    """The height of each band, of the longest among those that take turns."""
    return [max(band.height(room, narrow) for band in turns) for turns in zip(*bands, strict=True)]


def _lines_of_names(names: Sequence[str], room: float) -> int:
    """How many lines a legend has."""
    lines, across = 0, room
    for name in names:
        wide = width(name, SIZE) + SYMBOL
        across += wide
        if across > room:
            lines, across = lines + 1, wide
    return lines
