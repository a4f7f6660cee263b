"""Where everything of a sheet stands on a form of screen, for all of its frames."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Protocol, final

from normgeo.pictures.style.annotations import width
from normgeo.pictures.style.sheet.bands import EDGE, Band, Form, Layout, Pair, Tiles
from normgeo.pictures.style.sheet.grid import Box, Cell, Column, Grid
from normgeo.pictures.style.sheet.panel import BAR, Panel, axis_name
from normgeo.pictures.style.template import SIZE, SMALL

NAMES = 1.6  # of a line of the legend, of the size of its type
MENU, BUTTON = 48, 28  # pixels of the height of buttons, and around the label of one
NOWHERE = {"visible": False, "domain": [0, 0.001]}  # the axes of a panel that a slide leaves out
SYMBOL = 51  # pixels of what a legend draws before a name, with what is between two names


Words = Sequence[Band | Pair | Tiles]


class Said(Protocol):
    """What a sheet has."""

    @property
    def bands(self) -> Words: ...
    @property
    def foot(self) -> Sequence[Band]: ...
    @property
    def columns(self) -> list[list[Column]]: ...
    @property
    def cells(self) -> list[Cell]: ...
    @property
    def panels(self) -> dict[int, tuple[int, Panel]]: ...
    @property
    def phone(self) -> Sequence[Sequence[int]]: ...
    @property
    def one_scale(self) -> bool: ...
    @property
    def right(self) -> int: ...
    @property
    def above(self) -> int: ...
    @property
    def legend_over(self) -> int | None: ...
    @property
    def menu(self) -> Layout | None: ...


@final
@dataclass(frozen=True)
class Placement:
    """The places of all words and panels, in pixels.

    Attributes:
        form, theme: what it is for. grid: the boxes of the cells.
        left, right: margins. wide: of the paper. high: of the paper.
        bands, foot: the height of each. room: the width of bands.
        keys: the height of the legend, and of buttons. named: whether the legend is there, and
            names_at: the pixels at its left.

    """

    form: Form
    theme: str
    grid: Grid
    left: int
    right: int
    wide: float
    high: float
    bands: Sequence[float]
    foot: Sequence[float]
    room: float
    keys: float
    named: bool
    names_at: float

    @classmethod
    def of(cls, among: Sequence[Said], form: Form, names: Sequence[str], theme: str) -> Placement:
        """Return it for sheets that take turns; each has the room of the longest."""
        first = among[0]
        rows, every = _rows(first, form), [each.cells for each in among]
        starts = [place for row in rows for place in row[0]]
        left = EDGE + round(max(first.cells[place].beside(True, form) for place in starts))
        wide = form.width - left - first.right
        edge = float(left - EDGE) if form.narrow else 0.0
        whole = form.width - 2 * EDGE if form.at_edge else wide
        over = first.legend_over
        under = next((n for n, row in enumerate(rows) if any(over in column for column in row)), 0)
        # Plotly gives a legend beside the paper half of its width, where that is narrow.
        free = wide / 2 if under and form.narrow else wide if under or form.narrow else whole
        lines = _lines_of_names(names, free)
        keys = NAMES * SIZE * lines + EDGE if len(names) > 1 else 0.0
        within = under, keys if under else 0.0
        grid = Grid.of(rows, every, wide, form._replace(edge=edge), first.one_scale, within)
        keys -= within[1]
        buttons = _buttons(first.menu)
        room = whole if form.narrow else whole - buttons
        bands = _heights([each.bands for each in among], room, form)
        foot = _heights([each.foot for each in among], room, form)
        names_at = EDGE - left if form.at_edge else 0.0
        if over in grid.boxes and not form.narrow and not under:
            box = grid.boxes[over]
            names_at = box.left if _lines_of_names(names, box.wide) == 1 else names_at
        if buttons:
            keys += MENU if form.narrow else max(0.0, MENU - sum(bands))
        outside = 3 * EDGE + sum(bands) + keys + grid.below + sum(foot)
        high = max(form.high - outside, grid.least) if form.high else grid.high
        right, named = first.right, len(names) > 1
        return cls(
            form, theme, grid, left, right, wide, high, bands, foot, room, keys, named, names_at
        )

    def layout(self, sheet: Said) -> Layout:
        """Return the layout of a figure but for its words: all that depends on the form."""
        top = round(EDGE + sum(self.bands) + self.keys) + sheet.above * self.form.narrow
        bottom = round(self.grid.below + sum(self.foot) + EDGE * bool(self.foot))
        layout = {
            "height": round(top + self.high + bottom),
            "margin": {"l": self.left, "r": self.right, "t": top, "b": bottom},
            "showlegend": self.named,
            "legend": {
                "orientation": "h",
                "x": self.names_at / self.wide,
                "xanchor": "left",
                "y": 1 - self._down / self.high,
                "yanchor": "bottom",
                "tracegroupgap": 0,
            },
        }
        if sheet.menu:
            layout["updatemenus"] = [sheet.menu | self._menu()]
        for place, box in self.grid.boxes.items():
            if place in sheet.panels:
                layout |= self._axes(sheet, place, box)
        if self.form.high:
            layout["least"] = round(top + self.grid.least + bottom)
            layout["edges"] = {
                f"{axis_name('y', n)[0]}axis{axis_name('y', n)[1:]}": [
                    self.grid.boxes[place].foot,
                    self.grid.boxes[place].top,
                ]
                for place, (n, _) in sheet.panels.items()
                if place in self.grid.boxes
            }
        absent = [n for at, (n, _) in sheet.panels.items() if at not in self.grid.boxes]
        if absent:
            layout["absent"] = [axis_name("x", n) for n in absent]
            for n in absent:
                layout |= {f"{letter}axis{n if n > 1 else ''}": NOWHERE for letter in "xy"}
        return layout

    def words(self, sheet: Said) -> Layout:
        """Return the words of a frame, with the marks that belong to them."""
        drawn = [*self._words(sheet)]
        return {
            "annotations": [one for one in drawn if "text" in one],
            "shapes": [one for one in drawn if "text" not in one],
        }

    @property
    def _down(self) -> float:
        """How far down the legend is: at the top, or over the row of its own panel."""
        return self.grid.names.at(self.high)

    @property
    def _shift(self) -> int:
        """On a phone and in a hall, words begin at the edge of the figure."""
        return EDGE - self.left if self.form.at_edge else 0

    def _menu(self) -> Layout:
        """Where buttons stand: beside the words above, on a phone below them."""
        narrow = self.form.narrow
        return {
            "type": "buttons",
            "direction": "right",
            "x": self._shift / self.wide if narrow else 1,
            "xanchor": "left" if narrow else "right",
            "y": 1,
            "yanchor": "bottom",
            "pad": {"b": EDGE, "l": 0, "r": 0},
        }

    def _axes(self, sheet: Said, place: int, box: Box) -> Layout:
        n, panel = sheet.panels[place]
        inner, high = panel.inner(box.wide, self.form), box.high.at(self.high)
        across = [box.left / self.wide, min((box.left + inner) / self.wide, 1.0)]
        down = [
            max(1 - box.foot.at(self.high) / self.high, 0.0),
            min(1 - box.top.at(self.high) / self.high, 1.0),
        ]
        x, y = axis_name("x", n), axis_name("y", n)
        hidden = sheet.one_scale and box.left > 0
        up = {"showticklabels": False, "title": {"text": ""}} if hidden else {}
        axes = {
            f"xaxis{x[1:]}": {
                "domain": across,
                "anchor": y,
                **panel.across(inner, self.form, high),
            },
            f"yaxis{y[1:]}": {"domain": down, "anchor": x, **panel.up(high, self.form), **up},
        }
        bar: Layout = {"showscale": False}
        if not self.form.narrow:
            middle, length = sum(down) / 2, down[1] - down[0]
            at: Layout = {"x": (box.left + box.wide - BAR) / self.wide, "y": middle, "len": length}
            bar = {"colorbar": at | ({"beside": f"yaxis{y[1:]}"} if self.form.high else {})}
        axes |= dict.fromkeys(panel.bars, bar)
        return axes

    def _words(self, sheet: Said) -> Iterator[Layout]:
        yield from self._bands(sheet.bands, self.bands, 1, sum(self.bands) + self.keys)
        for place, box in sorted(self.grid.boxes.items()):
            cell, high = sheet.cells[place], box.high.at(self.high)
            if isinstance(cell, Panel):
                n, _ = sheet.panels[place]
                form = self.form._replace(edge=box.edge)
                yield from cell.words(n, box.wide, box.head, high, form, self.theme)
                yield from cell.own(n, cell.shapes)
            else:
                edge = self._shift if self.form.narrow else 0
                up = box.head - box.top.at(self.high)
                yield from cell.words(box.left + edge, box.wide - edge, up, self.wide)
        yield from self._bands(sheet.foot, self.foot, 0, -self.grid.below)

    def _bands(
        self, bands: Words, heights: Sequence[float], y: int, top: float
    ) -> Iterator[Layout]:
        tops = accumulate(heights, lambda up, high: up - high, initial=top)
        place: Layout = {"x": 0, "y": y, "xref": "paper", "yref": "paper", "xshift": self._shift}
        for band, up in zip(bands, tops, strict=False):
            yield from band.drawn(self.room, self.form, self.theme, yshift=up, **place)


def _rows(sheet: Said, form: Form) -> list[list[list[int]]]:
    """The places of the cells in each column of each row."""
    if form.narrow:
        alone = [[place] for place in range(len(sheet.cells))]
        return [[[place] for place in row] for row in sheet.phone or alone]
    sizes = [len(column) for row in sheet.columns for column in row]
    ends = iter(pairwise(accumulate(sizes, initial=0)))
    rows = [[[*range(*next(ends))] for _ in row] for row in sheet.columns]
    if not form.high:
        return rows
    absent = {at for at, (_, panel) in sheet.panels.items() if not panel.on_slide}
    kept = ([[at for at in column if at not in absent] for column in row] for row in rows)
    return [row for each in kept if (row := [column for column in each if column])]


def _buttons(menu: Layout | None) -> float:
    """The width of the buttons of a menu."""
    labels = [one["label"] for one in menu["buttons"]] if menu else []
    return sum(width(label, SMALL) + BUTTON for label in labels)


def _heights(turns: Sequence[Words], room: float, form: Form) -> list[float]:
    """The height of each band, of the longest among those that take turns."""
    return [max(band.height(room, form) for band in each) for each in zip(*turns, strict=True)]


def _lines_of_names(names: Sequence[str], room: float) -> int:
    """How many lines a legend has."""
    lines, across = 0, room
    for name in names:
        wide = width(name, SIZE) + SYMBOL
        across += wide
        if across > room:
            lines, across = lines + 1, wide
    return lines
