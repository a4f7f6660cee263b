"""Which entries share a mean and a variance, beside what that costs, at each size of batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.pictures.batch import accuracy_figure
from normgeo.pictures.batch.axes import Axes, Shared
from normgeo.pictures.batch.axes_places import BELOW, Place, places_of
from normgeo.pictures.batch.axes_words import axis_name, captions, cases_drawn, names
from normgeo.pictures.style.colors import blend, name_color
from normgeo.pictures.style.player import STRIP, add_slider
from normgeo.pictures.style.template import THEMES, Theme, dress

HALF, ROOMY_HALF = 0.49, 0.585  # of the width, for the arrays
ROOMY_HIGH = 0.8  # of the height, for the accuracy beneath one line more
GAP = 0.02  # of the width, free between two methods
PHONE_ACCURACY = 430
MARGIN = {"l": 44, "r": 10, "t": 6, "b": 6}


def figure(result: Axes, theme: str) -> go.Figure:
    """Draw the arrays once for each method, and in frames what is lit in a batch of m cases."""
    places = places_of(result)
    height = places[-1].down.high(places[-1].down.cells - 1) + BELOW
    methods = len(result.panels[result.opens_at])
    drawn = go.Figure()
    for axis in range(1, methods + 1):
        drawn.add_traces(list(_arrays(result, places, axis, theme)))
    if result.accuracy is not None:
        drawn.add_traces(list(accuracy_figure.traces(result.accuracy, methods + 1, theme)))
    dress(drawn, theme, height=round(height) + MARGIN["t"] + MARGIN["b"])
    drawn.update_layout(margin=MARGIN, showlegend=False)
    drawn.update_layout(_layout(result, methods, height, HALF))
    states = {m: _state(result, m, places, len(drawn.data), theme) for m in result.panels}
    opening = states[result.opens_at]
    if opening["data"]:
        drawn.add_traces(opening["data"])
    drawn.update_layout(opening["layout"])
    # Larger words need more of the width.
    drawn.update_layout(
        meta={
            "narrow": _phone(result, methods, height),
            "room": _layout(result, methods, height, ROOMY_HALF),
        }
    )
    add_slider(
        drawn,
        [{"name": str(m), **state} for m, state in states.items()],
        start=result.opening,
        prefix=text("cases in the batch: m = "),
        theme=theme,
        setting="batch_size",
        values=[str(m) for m in states],
    )
    return drawn


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


def _layout(result: Axes, methods: int, height: float, half: float) -> dict[str, Any]:
    """Where the axes stand: the methods beside each other, then the accuracy."""
    width = half if result.accuracy is not None else 1.0
    step = (width + GAP) / methods
    layout: dict[str, Any] = {}
    for place in range(methods):
        domain = [place * step, (place + 1) * step - GAP]
        layout |= _hidden(place + 1, height, domain, [0, 1])
    if result.accuracy is not None:
        room = [0, 1 if half == HALF else ROOMY_HIGH]
        layout |= accuracy_figure.axes(result.accuracy, methods + 1, [width + 0.09, 1], room)
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
        name = axis_name(place + 1)
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
        words += captions(panel, places, axis, color)
    words.append(cases_drawn(m, places[-1], look))
    words += names(places, look)
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
    on = {"xref": f"x{axis_name(axis)}", "yref": f"y{axis_name(axis)}"}
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


def _see_through(color: str) -> str:
    """A color "#rrggbb" through which an array is seen."""
    red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.45)"
