"""Which entries share a mean and a variance, beside what that costs, at each size of batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.pictures.batch import accuracy_figure
from normgeo.pictures.batch.axes import FLAT_MARK, MAP_MARK, Axes, Panel, Shared
from normgeo.pictures.style.annotations import note
from normgeo.pictures.style.colors import blend, name_color
from normgeo.pictures.style.player import STRIP, add_slider
from normgeo.pictures.style.template import SIZE, SMALL, THEMES, Theme, dress

# Each method has axes of its own: pixels downward, and hundredths of its width across.
ABOVE, BETWEEN, BELOW = 50, 72, 66  # room for two lines of words, for three, and for two and one
FLAT_ALONE, FLAT, MAPS = 282, 77, 133  # heights of the arrays
HALF, GAP = 0.49, 0.02  # of the width, for the arrays; free between two methods
PHONE_ACCURACY = 430
MARGIN = {"l": 44, "r": 10, "t": 6, "b": 6}
NEURON, CHANNEL = text("neuron"), text("channel")


class Cells(NamedTuple):
    """So many cells in a row from `start` on, each of some pixels, one of them free between two."""

    start: float
    length: float
    cells: int
    pixels: int = 1

    @property
    def free(self) -> int:
        return int(self.pixels > 1)

    @property
    def pixel(self) -> float:
        """The length of a pixel."""
        return self.length / (self.cells * (self.pixels + self.free) - self.free)

    def low(self, place: float, pixel: float = 0) -> float:
        """Where a cell, or a pixel in it, begins."""
        return self.start + self.pixel * (place * (self.pixels + self.free) + pixel)

    def high(self, place: float) -> float:
        """Where a cell ends."""
        return self.low(place, self.pixels)


class Place(NamedTuple):
    """An array on the axes of a method, its marked entry, and what its parts are called."""

    down: Cells
    across: Cells
    mark: tuple[int, ...]
    channel: str
    name: str

    @classmethod
    def flat(cls, values: Array, height: float) -> Place:
        """Cases × neurons, at the top."""
        N, C = values.shape
        name = text("cases ×<br>neurons")
        return cls(Cells(ABOVE, height, N), Cells(0, 100, C), FLAT_MARK, NEURON, name)

    @classmethod
    def maps(cls, values: Array) -> Place:
        """Cases × channels, each an image, below cases × neurons."""
        N, C, R, S = values.shape
        top = ABOVE + FLAT + BETWEEN
        name = text("cases ×<br>channels")
        return cls(Cells(top, MAPS, N, R), Cells(0, 100, C, S), MAP_MARK, CHANNEL, name)


def figure(result: Axes, theme: str) -> go.Figure:
    """Draw the arrays once for each method, and in frames what is lit in a batch of m cases."""
    places = _places(result)
    height = places[-1].down.high(places[-1].down.cells - 1) + BELOW
    methods = len(result.panels[result.start])
    drawn = go.Figure()
    for axis in range(1, methods + 1):
        drawn.add_traces(list(_arrays(result, places, axis, theme)))
    if result.accuracy is not None:
        drawn.add_traces(list(accuracy_figure.traces(result.accuracy, methods + 1, theme)))
    dress(drawn, theme, height=round(height) + MARGIN["t"] + MARGIN["b"])
    drawn.update_layout(margin=MARGIN, showlegend=False)
    drawn.update_layout(_layout(result, methods, height))
    states = {m: _state(result, m, places, len(drawn.data), theme) for m in result.panels}
    opening = states[result.start]
    if opening["data"]:
        drawn.add_traces(opening["data"])
    drawn.update_layout(opening["layout"])
    drawn.update_layout(meta={"narrow": _phone(result, methods, height)})
    add_slider(
        drawn,
        [{"name": str(m), **state} for m, state in states.items()],
        start=list(states).index(result.start),
        prefix=text("cases in the batch: m = "),
        theme=theme,
        setting="batch_size",
        values=[str(m) for m in states],
    )
    return drawn


def _places(result: Axes) -> list[Place]:
    """Cases × neurons, and below them feature maps where the data are images."""
    if result.maps is None:
        return [Place.flat(result.flat, FLAT_ALONE)]
    return [Place.flat(result.flat, FLAT), Place.maps(result.maps)]


def _arrays(result: Axes, places: list[Place], axis: int, theme: str) -> Iterator[go.Heatmap]:
    """What is averaged, the same for every method, as grays."""
    look = THEMES[theme]
    grays = [[0, look.paper], [1 / 255, look.panel], [1, blend(look.paper, look.ink, 0.8)]]
    arrays = [result.flat] if result.maps is None else [result.flat, result.maps]
    for place, values in zip(places, arrays, strict=True):
        images = values.ndim > 2
        cells = _mosaic(values) if images else _shades(values, axis=None)
        down, across = place.down, place.across
        yield go.Heatmap(
            z=cells,
            x0=across.pixel / 2,
            dx=across.pixel,
            y0=down.start + down.pixel / 2,
            dy=down.pixel,
            xaxis=f"x{axis}",
            yaxis=f"y{axis}",
            colorscale=grays,
            showscale=False,
            zmin=0,
            zmax=255,
            xgap=0 if images else 1,
            ygap=0 if images else 1,
            customdata=None if images else np.round(values, 3),
            hoverinfo="skip" if images else None,
            hovertemplate=None if images else "a = %{customdata}<extra></extra>",
        )


def _shades(values: Array, axis: tuple[int, ...] | None) -> Array:
    """Values from 1 to 255, the largest along `axis` at 255."""
    size = np.abs(values)
    most = size.max(axis=axis, keepdims=True)
    shades: Array = np.round(1 + 254 * size / np.where(most > 0, most, 1)).astype(np.uint8)
    return shades


def _mosaic(maps: Array) -> Array:
    """Lay the maps out, cases down and channels across, with a free pixel between two."""
    N, C, R, S = maps.shape
    padded = np.zeros((N, C, R + 1, S + 1), dtype=np.uint8)
    padded[:, :, :R, :S] = _shades(maps, axis=(0, 2, 3))
    laid: Array = padded.transpose(0, 2, 1, 3).reshape(N * (R + 1), C * (S + 1))[:-1, :-1]
    return laid


def _layout(result: Axes, methods: int, height: float) -> dict[str, Any]:
    """Where the axes stand: the methods beside each other, then the accuracy."""
    width = HALF if result.accuracy is not None else 1.0
    step = (width + GAP) / methods
    layout: dict[str, Any] = {}
    for place in range(methods):
        domain = [place * step, (place + 1) * step - GAP]
        layout |= _hidden(place + 1, height, domain, [0, 1])
    if result.accuracy is not None:
        layout |= accuracy_figure.axes(result.accuracy, methods + 1, [width + 0.09, 1], [0, 1])
    return layout


def _phone(result: Axes, methods: int, height: float) -> dict[str, Any]:
    """Two methods beside each other, the next two below them, then the accuracy."""
    rows = -(-methods // 2)
    accuracy = PHONE_ACCURACY if result.accuracy is not None else 0
    total = rows * height + accuracy
    patch: dict[str, Any] = {"height": round(total) + MARGIN["t"] + MARGIN["b"] + STRIP}
    for place in range(methods):
        row, column = divmod(place, 2)
        across = [0.0, 0.48] if column == 0 else [0.52, 1.0]
        down = [1 - (row + 1) * height / total, 1 - row * height / total]
        name = _name(place + 1)
        patch |= {f"xaxis{name}": {"domain": across}, f"yaxis{name}": {"domain": down}}
    if accuracy:
        room = [0, 0.96 * accuracy / total]
        patch |= accuracy_figure.domains(methods + 1, [0.04, 1], room)
    return patch


def _hidden(axis: int, height: float, across: list[float], down: list[float]) -> dict[str, Any]:
    """Axes of a method: hundredths of its width, and pixels from the top."""
    common = {"visible": False, "fixedrange": True}
    return {
        f"xaxis{axis}": {**common, "domain": across, "anchor": f"y{axis}", "range": [-0.6, 100.6]},
        f"yaxis{axis}": {**common, "domain": down, "anchor": f"x{axis}", "range": [height, 0]},
    }


def _state(result: Axes, m: int, places: list[Place], traces: int, theme: str) -> dict[str, Any]:
    """All in which a batch of m cases differs from one of another size."""
    look, panels = THEMES[theme], result.panels[m]
    shapes: list[dict[str, Any]] = []
    words: list[dict[str, Any]] = []
    for axis, panel in enumerate(panels.values(), start=1):
        color, arrays = name_color(panel.sharing.title), (panel.flat, panel.maps)
        for place, found in zip(places, arrays, strict=False):
            shapes += _shapes(found, place, axis, m, color, look)
        words += _captions(panel, places, axis, color)
    words.append(_cases_drawn(m, places[-1], look))
    words += _names(places, look)
    data: list[dict[str, Any]] = []
    if result.accuracy is not None:
        axis = len(panels) + 1
        data = accuracy_figure.marks(result.accuracy, m, axis, theme)
        shapes.append(accuracy_figure.line(m, axis, theme))
        words += accuracy_figure.captions(result.accuracy, m, axis, theme)
    return {
        "data": data,
        "traces": list(range(traces, traces + len(data))),
        "layout": {"shapes": shapes, "annotations": words},
    }


def _shapes(
    found: Shared | str | None, place: Place, axis: int, m: int, color: str, look: Theme
) -> list[dict[str, Any]]:
    """What is not in the batch, what is lit, and the entry whose z is written: three, always."""
    down, across = place.down, place.across
    on = {"xref": f"x{_name(axis)}", "yref": f"y{_name(axis)}"}
    last = down.cells - 1
    cases, channels = (found.cases, found.channels) if isinstance(found, Shared) else ((0, 0),) * 2
    goes_on = cases[1] > last  # in cases that are not drawn
    n, c, *pixel = place.mark
    y, x = pixel or (0, 0)
    return [
        {
            **on,
            "type": "rect",
            "visible": m <= last,
            "x0": -0.5,
            "x1": 100.5,
            "y0": down.low(min(m, last)) - 1,
            "y1": down.high(last) + 1,
            "fillcolor": look.paper,
            "opacity": 0.85,
            "line": {"width": 0},
        },
        {
            **on,
            "type": "rect",
            "visible": isinstance(found, Shared),
            "x0": across.low(channels[0]),
            "x1": across.high(channels[1]),
            "y0": down.low(cases[0]),
            "y1": down.high(min(cases[1], last)) + 5 * goes_on,
            "fillcolor": _see_through(color),
            "opacity": 1,
            "line": {"width": 3, "color": color},
        },
        {
            **on,
            "type": "circle",
            "visible": isinstance(found, Shared),
            # A ring of ten pixels around the middle of the entry.
            "xsizemode": "pixel",
            "ysizemode": "pixel",
            "xanchor": across.low(c, x + 0.5),
            "yanchor": down.low(n, y + 0.5),
            "x0": -5,
            "x1": 5,
            "y0": -5,
            "y1": 5,
            "fillcolor": look.paper,
            "opacity": 1,
            "line": {"width": 2, "color": look.ink},
        },
    ]


def _name(axis: int) -> str:
    """What plotly calls the axis of a number, after its x or y."""
    return "" if axis == 1 else str(axis)


def _see_through(color: str) -> str:
    """A color "#rrggbb" through which an array is seen."""
    red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.45)"


def _captions(panel: Panel, places: list[Place], axis: int, color: str) -> list[dict[str, Any]]:
    """The name of a method, and what each of its statistics is of, around its arrays."""
    title = f'<b style="color:{color};font-size:{SIZE}px">{panel.sharing.title}</b>'
    at: dict[str, Any] = {
        "x": 0,
        "xref": f"x{_name(axis)} domain",
        "yref": f"y{_name(axis)}",
        "font": {"size": SMALL},
    }
    words, above = [], [title]
    for place, found in zip(places, (panel.flat, panel.maps), strict=False):
        last = place.down.cells - 1
        above.append(_per(found, place))
        words.append(note(above, **{**at, "y": place.down.low(0), "yshift": 2}))
        words.append(note(_numbers(found, place), **{**at, "y": place.down.high(last)}))
        words[-1] |= {"yanchor": "top", "yshift": -4}
        above = []
    return words


def _per(found: Shared | str | None, place: Place) -> str:
    """What there is one μ and one σ for."""
    if not isinstance(found, Shared):
        return ""
    names = {"cases": text("case"), "groups": text("group"), "channels": place.channel}
    return text("μ per {one}", one=", ".join(str(names[axis]) for axis in found.per))


def _numbers(found: Shared | str | None, place: Place) -> list[str]:
    """How many entries share a statistic, and z of the marked one."""
    if not isinstance(found, Shared):
        return [text("no equal groups:"), text("<b>no z</b>")]
    z = found.entry.z
    return [
        text("of 1 entry") if found.entries == 1 else text("of {n} entries", n=found.entries),
        text("<b>σ = 0: no z</b>") if z is None else f"<b>z = {number(z)}</b>",
    ]


def _names(places: list[Place], look: Theme) -> list[dict[str, Any]]:
    """What the rows and the columns of the arrays are, beside the first of them."""
    font = {"size": SMALL, "color": look.muted}
    return [
        note(
            place.name,
            x=0,
            y=place.down.start + place.down.length / 2,
            xref="x domain",
            yref="y",
            xanchor="right",
            yanchor="middle",
            align="center",
            textangle=-90,
            xshift=-3,
            font=font,
        )
        for place in places
    ]


def _cases_drawn(m: int, place: Place, look: Theme) -> dict[str, Any]:
    """How many of the cases are drawn, where the batch has more."""
    words = text("The first {few} of m = {m} cases are drawn.", few=place.down.cells, m=m)
    return note(
        words if m > place.down.cells else "",
        x=0,
        y=place.down.high(place.down.cells - 1) + BELOW,
        xref="x domain",
        yref="y",
        font={"size": SMALL, "color": look.muted},
    )
