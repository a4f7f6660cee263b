"""Where everything of a sheet stands on a form of screen, for all of its frames."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Protocol, final

from normgeo.pictures.style.annotations import width
from normgeo.pictures.style.bands import EDGE, Band, Form, Layout, Tiles
from normgeo.pictures.style.cells import BAR, Panel, axis_name
from normgeo.pictures.style.grid import Box, Cell, Column, Grid
from normgeo.pictures.style.template import SIZE

NAMES = 1.6  # of a line of the legend, of the size of its type
SYMBOL = 45  # pixels of what a legend draws before a name, with what is between two names


class Said(Protocol):
    """What a sheet has."""

    @property
    def bands(self) -> Sequence[Band | Tiles]: ...
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


@final
@dataclass(frozen=True)
class Placement:
    """The places of all words and panels, in pixels.

    Attributes:
        form, theme: what it is for. grid: the boxes of the cells.
        left, right: margins. wide: of the paper. high: of the paper.
        bands, foot: the height of each. keys: the height of the legend. named: whether it is there.

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
    keys: float
    named: bool

    @classmethod
    def of(cls, among: Sequence[Said], form: Form, names: Sequence[str], theme: str) -> Placement:
        """Return it for sheets that take turns; each has the room of the longest."""
        first = among[0]
        rows, every = _rows(first, form), [each.cells for each in among]
        starts = (place for row in rows for place in row[0])
        left = EDGE + round(max(first.cells[place].beside(True, form) for place in starts))
        wide = form.width - left - first.right
        grid = Grid.of(rows, every, wide, form, first.one_scale)
        room = form.width - 2 * EDGE if form.narrow else wide
        bands = _heights([each.bands for each in among], room, form)
        foot = _heights([each.foot for each in among], room, form)
        keys = NAMES * SIZE * _lines_of_names(names, wide) + EDGE if len(names) > 1 else 0.0
        outside = 3 * EDGE + sum(bands) + keys + grid.below + sum(foot)
        high = max(form.high - outside, grid.least) if form.high else grid.high
        return cls(
            form, theme, grid, left, first.right, wide, high, bands, foot, keys, len(names) > 1
        )

    def layout(self, sheet: Said) -> Layout:
        """Return the layout of a figure: all that depends on the form."""
        top = round(EDGE + sum(self.bands) + self.keys)
        bottom = round(self.grid.below + sum(self.foot) + EDGE * bool(self.foot))
        layout = {
            "height": round(top + self.high + bottom),
            "margin": {"l": self.left, "r": self.right, "t": top, "b": bottom},
            "showlegend": self.named,
            "legend": {
                "orientation": "h",
                "x": self._shift / self.wide,
                "xanchor": "left",
                "y": 1,
                "yanchor": "bottom",
                "tracegroupgap": 0,
            },
        }
        for place, box in self.grid.boxes.items():
            if place in sheet.panels:
                layout |= self._axes(sheet, place, box)
        if self.form.high:
            layout["least"] = round(top + self.grid.least + bottom)
            layout["edges"] = {
                f"{axis_name('y', n)[0]}axis{axis_name('y', n)[1:]}": [
                    self.grid.boxes[place].foot, self.grid.boxes[place].top,
                ]
                for place, (n, _) in sheet.panels.items()
            }
        return layout | self.words(sheet)

    def words(self, sheet: Said) -> Layout:
        """Return the words of a frame, with the marks that belong to them."""
        drawn = [*self._words(sheet)]
        return {
            "annotations": [one for one in drawn if "text" in one],
            "shapes": [one for one in drawn if "text" not in one],
        }

    @property
    def _shift(self) -> int:
        """On a phone, words begin at the edge of the figure."""
        return EDGE - self.left if self.form.narrow else 0

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
            f"xaxis{x[1:]}": {"domain": across, "anchor": y, **panel.across(inner)},
            f"yaxis{y[1:]}": {"domain": down, "anchor": x, **panel.up(high, self.form), **up},
        }
        if panel.bar and self.form.narrow:
            axes[panel.bar] = {"showscale": False}
        elif panel.bar:
            middle, length = sum(down) / 2, down[1] - down[0]
            bar = {"x": (box.left + box.wide - BAR) / self.wide, "y": middle, "len": length}
            if self.form.high:
                bar["beside"] = f"yaxis{y[1:]}"
            axes[panel.bar] = {"showscale": True, "colorbar": bar}
        return axes

    def _words(self, sheet: Said) -> Iterator[Layout]:
        shift = self._shift
        room = self.form.width - 2 * EDGE if self.form.narrow else self.wide
        above = sum(self.bands) + self.keys
        for bands, heights, y, top in (
            (sheet.bands, self.bands, 1, above),
            (sheet.foot, self.foot, 0, -self.grid.below),
        ):
            tops = accumulate(heights, lambda up, high: up - high, initial=top)
            for band, up in zip(bands, tops, strict=False):
                place: Layout = {"x": 0, "y": y, "xref": "paper", "yref": "paper"}
                yield from band.drawn(room, self.form, self.theme, xshift=shift, yshift=up, **place)
        for place, box in self.grid.boxes.items():
            cell = sheet.cells[place]
            if isinstance(cell, Panel):
                n, _ = sheet.panels[place]
                yield from cell.words(n, box.wide, self.form, self.theme)
                yield from cell.own(n, cell.shapes)
            else:
                up = box.head - box.top.at(self.high)
                yield from cell.words(box.left + shift, box.wide - shift, up, self.wide)


def _rows(sheet: Said, form: Form) -> list[list[list[int]]]:
    """The places of the cells in each column of each row."""
    if form.narrow:
        alone = [[place] for place in range(len(sheet.cells))]
        return [[[place] for place in row] for row in sheet.phone or alone]
    sizes = [len(column) for row in sheet.columns for column in row]
    ends = iter(pairwise(accumulate(sizes, initial=0)))
    return [[[*range(*next(ends))] for _ in row] for row in sheet.columns]


def _heights(bands: Sequence[Sequence[Band | Tiles]], room: float, form: Form) -> list[float]:
    """The height of each band, of the longest among those that take turns."""
    return [max(band.height(room, form) for band in turns) for turns in zip(*bands, strict=True)]


def _lines_of_names(names: Sequence[str], room: float) -> int:
    """How many lines a legend has."""
    lines, across = 0, room
    for name in names:
        wide = width(name, SIZE) + SYMBOL
        across += wide
        if across > room:
            lines, across = lines + 1, wide
    return lines
