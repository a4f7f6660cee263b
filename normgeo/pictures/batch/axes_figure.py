"""Which entries share a mean and a variance, beside what that costs, at each size of batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.normalizers.shared_statistics import SHARINGS
from normgeo.pictures.batch import accuracy_figure
from normgeo.pictures.batch.axes import Axes, Shared
from normgeo.pictures.batch.axes_places import Place
from normgeo.pictures.batch.axes_words import above, below, cases_drawn, one_case
from normgeo.pictures.style.annotations import colored, width
from normgeo.pictures.style.colors import blend, name_color, see_through
from normgeo.pictures.style.player import add_slider, frames
from normgeo.pictures.style.sheet import Band, Panel, Sheet, drawn, on_panel, told
from normgeo.pictures.style.template import SIZE, THEMES, Theme

LOWEST = 0.3  # of the height of an array, where a screen is low: it is read as an image
EDGE = 2  # above and below an array, in its pixels
SHARE = 3.2  # of the width, for the accuracy, beside that of a method
NARROWEST = 6 + round(max(width(f"<b>{one.title}</b>", SIZE) for one in SHARINGS.values()))
HIDDEN: dict[str, Any] = {
    "showticklabels": False,
    "ticks": "",
    "showline": False,
    "showgrid": False,
    "zeroline": False,
    "fixedrange": True,
}


def figure(result: Axes, theme: str) -> go.Figure:
    """Draw the array once for each method, and in frames what is lit in a batch of m cases."""
    place = Place.of(result.values)
    last = len(SHARINGS) + 1  # the number of the panel of the accuracy
    array = _array(result.values, place) | {"colorscale": _grays(theme)}
    traces: list[Any] = [array | on_panel(number) for number in range(1, last)]
    still = len(traces)
    changes: list[list[dict[str, Any]]] = [[] for _ in result.panels]
    if result.accuracy is not None:
        traces += accuracy_figure.traces(result.accuracy, last, theme)
        still = len(traces)
        changes = [accuracy_figure.marks(result.accuracy, m, last, theme) for m in result.panels]
        traces += changes[result.opening]
    sheets = [_sheet(result, m, place, theme) for m in result.panels]
    whole, words = drawn(sheets, traces, theme, result.opening)
    add_slider(
        whole,
        frames(result.panels, changes, words, still),
        start=result.opening,
        prefix=text("cases in the batch: m = "),
        theme=theme,
        setting="batch_size",
        values=[str(m) for m in result.panels],
    )
    return whole


def _sheet(result: Axes, m: int, place: Place, theme: str) -> Sheet:
    """The array of each method, and beside them the accuracy, in a batch of m cases."""
    columns = [_panel(result, m, key, place, theme) for key in SHARINGS]
    phone = [range(first, first + 2) for first in range(0, len(columns), 2)]
    bands, about, brief = [], "", ""
    if (measured := result.accuracy) is not None:
        phone.insert(0, range(len(columns), len(columns) + 1))  # the answer
        columns.append(accuracy_figure.panel(measured, m, SHARE, theme))
        bands = [accuracy_figure.headline(measured, m, theme)]
        about, brief = accuracy_figure.about(measured), accuracy_figure.in_short(measured)
    across = text("Gray: summed input a. Colored: one μ and σ, z = (a − μ)/σ.")
    faded = cases_drawn(m, place.down.cells)
    said = told(
        theme,
        " ".join(filter(None, (about, faded, across))),
        on_slide=[" ".join(filter(None, (across, brief, faded)))],
    )
    if m == 1:
        said = Band(why := [one_case(result.images)], on_slide=why)
    return Sheet(bands, rows=[columns], phone=phone, right=10, foot=[said], legend=False)


def _panel(result: Axes, m: int, key: str, place: Place, theme: str) -> Panel:
    """The array of a method, with what is lit in it, in a batch of m cases."""
    title, found = str(SHARINGS[key].title), result.panels[m][key]
    look, color = THEMES[theme], name_color(title, theme)
    high = place.down.length + 2 * EDGE  # a ring and the lines of a frame are whole at its ends
    sides = (
        text("row: image, column: channel") if result.images else text("row: case, column: neuron")
    )
    return Panel(
        {**HIDDEN, "range": [-0.6, 100.6]},
        {
            **HIDDEN,
            "range": [high - EDGE, -EDGE],
            "title": colored(sides, look.muted) if key == next(iter(SHARINGS)) else "",
        },
        above(title, found, color, images=result.images),
        [below(found, images=result.images)],
        _shapes(found, place, result.mark, m, color, look),
        high=(round(high), round(high)),
        narrowest=NARROWEST,
        lowest=LOWEST,
    )


def _grays(theme: str) -> list[list[Any]]:
    look = THEMES[theme]
    return [[0, look.paper], [1 / 255, look.panel], [1, blend(look.paper, look.ink, 0.8)]]


def _array(values: Array, place: Place) -> dict[str, Any]:
    """What is averaged, the same for every method, as grays."""
    images = values.ndim > 2
    cells = _mosaic(values) if images else _shades(values, axis=None)
    hover = (
        {}
        if images
        else {
            "customdata": np.round(values, 3),
            "hovertemplate": "a = %{customdata}<extra></extra>",
        }
    )
    return {
        "type": "heatmap",
        "z": cells,
        "x0": place.across.pixel / 2,
        "dx": place.across.pixel,
        "y0": place.down.pixel / 2,
        "dy": place.down.pixel,
        "showscale": False,
        "zmin": 0,
        "zmax": 255,
        "xgap": 0 if images else 1,
        "ygap": 0 if images else 1,
        "hoverinfo": "skip" if images else None,
        **hover,
    }


def _shades(values: Array, axis: tuple[int, ...] | None) -> Array:
    """Values from 1 to 255, along `axis` from the smallest to the largest."""
    least, most = (end(axis=axis, keepdims=True) for end in (values.min, values.max))
    share = (values - least) / np.where(most > least, most - least, 1)
    shades: Array = np.round(1 + 254 * share).astype(np.uint8)
    return shades


def _mosaic(maps: Array) -> Array:
    """Lay the maps out, cases down and channels across, with a free pixel between two."""
    N, C, R, S = maps.shape
    padded = np.zeros((N, C, R + 1, S + 1), dtype=np.uint8)
    padded[:, :, :R, :S] = _shades(maps, axis=(0, 2, 3))
    laid: Array = padded.transpose(0, 2, 1, 3).reshape(N * (R + 1), C * (S + 1))[:-1, :-1]
    return laid


def _shapes(
    found: Shared | str, place: Place, mark: tuple[int, ...], m: int, color: str, look: Theme
) -> list[dict[str, Any]]:
    """What is not in the batch, what is lit, and the entry whose z is written: three, always."""
    down, across = place.down, place.across
    last = down.cells - 1
    cases, channels = (found.cases, found.channels) if isinstance(found, Shared) else ((0, 0),) * 2
    goes_on = cases[1] > last  # in cases that are not drawn
    n, c, *pixel = mark
    y, x = pixel or (0, 0)
    return [
        {
            "type": "rect",
            "visible": m <= last,
            "x0": -0.5,
            "x1": 100.5,
            "y0": down.low(min(m, last)) - 1,
            "y1": down.high(last) + 1,
            "fillcolor": look.paper,
            "opacity": 0.8,
            "line": {"width": 0},
        },
        {
            "type": "rect",
            "visible": isinstance(found, Shared),
            "x0": across.low(channels[0]),
            "x1": across.high(channels[1]),
            "y0": down.low(cases[0]),
            "y1": down.high(min(cases[1], last)) + 5 * goes_on,
            "fillcolor": see_through(color, 0.45),
            "opacity": 1,
            "line": {"width": 3, "color": color},
        },
        {
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
