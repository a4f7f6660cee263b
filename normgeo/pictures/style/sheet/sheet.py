"""A figure says what it has, in order; where that stands is decided here, for any screen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, final

import plotly.graph_objects as go

from normgeo.pictures.style.sheet.bands import Band, Form, Layout, Pair, Tiles
from normgeo.pictures.style.sheet.grid import Cell, Column
from normgeo.pictures.style.sheet.panel import Panel, axis_name
from normgeo.pictures.style.sheet.placement import Placement
from normgeo.pictures.style.sheet.table_cell import Marks
from normgeo.pictures.style.template import RIGHT_MARGIN, template

HALL = Form(790, high=372)
FORMS = {"": Form(1140), "narrow": Form(328, narrow=True), "hall": HALL}
"""A page, a phone, and a screen that decides the height, by their names in `meta`; a page's is the
layout itself."""

WORDS = "annotations", "shapes"

HALF = {"half": Form(500, high=430)}
"""Half a screen, where two figures are seen beside each other."""

SLIDE = {"slide": HALL._replace(slide=True)}
"""What a hall reads, where that is less than elsewhere."""


@final
@dataclass(frozen=True)
class Sheet:
    """A figure: bands of words, the legend of its lines, rows of panels and tables, more bands.

    Attributes:
        bands: above all.
        rows: what stands beside each other on a wide screen; cells in a tuple stand below each
            other there.
        foot: below all.
        phone: the places, counted through `rows`, of what stands beside each other on a phone;
            others are left out there. Each stands alone if there are none.
        one_scale: panels beside each other share the labels of the first.
        right: pixels at the right. above: pixels that stay free at the top of a phone.
        legend: whether there is one. legend_over: the place of the panel whose lines it names: it
            stands over its row, and in the first one over the panel itself, if it has room there.
        menu: buttons above the panels.
        half: whether half a screen has a form of its own; else it is that of a phone.

    """

    bands: Sequence[Band | Pair | Tiles]
    rows: Sequence[Sequence[Cell | Column]]
    foot: Sequence[Band] = ()
    phone: Sequence[Sequence[int]] = ()
    one_scale: bool = False
    right: int = RIGHT_MARGIN
    above: int = 0
    legend: bool = True
    legend_over: int | None = None
    menu: Layout | None = None
    half: bool = False

    def on(self, traces: Sequence[Any], theme: str) -> go.Figure:
        """Draw traces, whose axes have the numbers of the panels, from 1."""
        return drawn([self], traces, theme)[0]

    @property
    def cells(self) -> list[Cell]:
        """All panels and tables."""
        return [cell for row in self.columns for column in row for cell in column]

    @property
    def columns(self) -> list[list[Column]]:
        """The rows, each of columns of cells."""
        return [
            [(each,) if isinstance(each, Panel | Marks) else each for each in row]
            for row in self.rows
        ]

    @property
    def panels(self) -> dict[int, tuple[int, Panel]]:
        """The panels by their place among the cells, with the numbers of their axes."""
        found = [(place, cell) for place, cell in enumerate(self.cells) if isinstance(cell, Panel)]
        return {place: (n, panel) for n, (place, panel) in enumerate(found, start=1)}

    @property
    def says_less(self) -> bool:
        """Whether a slide leaves something out."""
        panels = [panel for _, panel in self.panels.values()]
        bands = [*self.bands, *self.foot, *(one for p in panels for one in (*p.over, *p.aside))]
        single = [band for one in bands for band in (one if isinstance(one, Pair) else [one])]
        return not all(panel.on_slide for panel in panels) or any(
            isinstance(one, Band) and one.on_slide is not None for one in single
        )

    @property
    def axes(self) -> Layout:
        """The axes of the panels, wherever they stand."""
        found: Layout = {}
        for n, panel in self.panels.values():
            # What a panel says of "x" is its own.
            square = {"scaleanchor": axis_name("x", n)} if "scaleanchor" in panel.y else {}
            number = axis_name("", n)
            found |= {f"xaxis{number}": panel.x, f"yaxis{number}": panel.y | square}
        return found


def drawn(
    sheets: Sequence[Sheet], traces: Sequence[Any], theme: str, opening: int = 0
) -> tuple[go.Figure, list[Layout]]:
    """Draw traces on the sheet of the frame that opens; return the layouts of all frames besides.

    All sheets have the room of the longest words among them.
    """
    figure = go.Figure(traces)
    for one in figure.data:  # plotly gives each group of a legend the width that it needs
        if "legendgroup" in one:
            one.legendgroup = one.legendgroup or one.name
    names = [*dict.fromkeys(_named(figure))] if sheets[opening].legend else []
    first = sheets[opening]
    forms = FORMS | (HALF if first.half else {}) | (SLIDE if first.says_less else {})
    placed = {key: Placement.of(sheets, form, names, theme) for key, form in forms.items()}
    layouts = {key: each.layout(sheets[opening]) for key, each in placed.items()}
    words = {key: [each.words(sheet) for sheet in sheets] for key, each in placed.items()}
    wide = layouts.pop("") | words[""][opening]
    others = {key: _other(each | words[key][opening], wide) for key, each in layouts.items()}
    own = {"template": template(theme), "meta": others}
    figure.layout = _over(sheets[opening].axes, wide) | own  # at once: plotly looks at it once
    return figure, _frames(words)


def _over(below: Layout, above: Layout) -> Layout:
    """A layout over another, part by part; a title in words is its text."""
    found = below | above
    for key in below.keys() & above.keys():
        if isinstance(above[key], dict):
            part = below[key] if isinstance(below[key], dict) else {"text": below[key]}
            found[key] = _over(part, above[key])
    return found


def _other(form: Layout, page: Layout) -> Layout:
    """What of a form is another than on a page, of its axes and of its words and marks."""
    found = form | _other_words(form, page)
    axes = [key for key in form if key.startswith(("xaxis", "yaxis"))]
    return found | {key: _changed(form[key], page[key]) for key in axes}


def _other_words(form: Layout, page: Layout) -> Layout:
    return {part: _by_place(form[part], page[part]) for part in WORDS}


def _by_place(form: Sequence[Layout], page: Sequence[Layout]) -> Layout | Sequence[Layout]:
    """What of words or marks is another than those of a page, by their place among them."""
    if not page:
        return form
    found: Layout = {}
    for place, (own, other) in enumerate(zip_longest(form, page)):
        if own is None:
            found[str(place)] = {"visible": False}
        elif changed := _changed(own, other or {}):
            found[str(place)] = changed
    return found


def _changed(own: Layout, other: Layout) -> Layout:
    """What a patch over the other makes the own one."""
    found: Layout = {key: None for key in other if key not in own}
    for key, value in own.items():
        before = other.get(key)
        if value != before:
            parts = isinstance(value, dict) and isinstance(before, dict)
            found[key] = _changed(value, before or {}) if parts else value
    return found


def _frames(words: dict[str, list[Layout]]) -> list[Layout]:
    """The layouts of frames: what differs between any two, in all forms."""
    pages = words.pop("")
    if len(pages) == 1:
        return [{}]
    forms = {key: _moving([*map(_other_words, frames, pages)]) for key, frames in words.items()}
    return [
        page | {"meta": {key: frames[place] for key, frames in forms.items()}}
        for place, page in enumerate(_moving(pages))
    ]


def _moving(frames: Sequence[Layout]) -> list[Layout]:
    """Frames with the parts that differ between any two."""
    parts = [part for part in WORDS if any(one[part] != frames[0][part] for one in frames)]
    return [{part: one[part] for part in parts} for one in frames]


def _named(figure: go.Figure) -> Iterator[str]:
    for one in figure.data:
        if one.name and one.type != "heatmap" and one.showlegend is not False:
            yield str(one.name)
