"""Which entries of an array share a mean and a variance: four methods, batches of several sizes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.normalizers.shared_statistics import Statistics
from normgeo.pictures.batch.axes import Axes, Panel
from normgeo.pictures.style.annotations import note
from normgeo.pictures.style.colors import blend, name_color
from normgeo.pictures.style.template import SIZE, THEMES, add_slider, dress

# A column for each method: cases × neurons at its left, cases × channels × pixels at its right.
COLUMN, FLAT, MAPS = 0.2545, (0.0, 0.096), (0.114, 0.2365)
NEURON = text("neuron"), text("neurons")
CHANNEL = text("channel"), text("channels")


def figure(result: Axes, theme: str) -> go.Figure:
    """Draw both arrays once for each method, and in frames what is lit in a batch of m cases."""
    flat, maps, panels = result.flat, result.maps, result.panels
    look = THEMES[theme]
    drawn = go.Figure()
    pitch = maps.shape[2] + 1
    middles = pitch * np.arange(len(flat)) + (pitch - 2) / 2
    scale = [[0, look.panel], [1, blend(look.paper, look.ink, 0.8)]]
    common = {"colorscale": scale, "showscale": False, "zmin": 0, "zmax": 255}
    mosaic = _mosaic(maps)
    methods = len(panels[result.start])
    for axis in range(1, 2 * methods, 2):
        drawn.add_heatmap(
            z=_shades(flat, axis=None),
            y=middles,
            xgap=1,
            ygap=1,
            xaxis=f"x{axis}",
            yaxis=f"y{axis}",
            customdata=np.round(flat, 3),
            **common,
            hovertemplate=text("neuron {h}: a = {a}<extra></extra>", h="%{x}", a="%{customdata}"),
        )
        drawn.add_heatmap(
            z=mosaic, xaxis=f"x{axis + 1}", yaxis=f"y{axis + 1}", hoverinfo="skip", **common
        )
    dress(drawn, theme, height=490)
    drawn.update_layout(margin={"l": 26, "r": 4, "t": 66, "b": 96}, showlegend=False)
    _axes(drawn, methods, flat, mosaic)
    frames = [
        go.Frame(
            name=str(m),
            # A frame without traces is not drawn.
            traces=[0],
            data=[go.Heatmap(zmin=0)],
            layout={
                "shapes": _shapes(found, m, flat, maps, theme),
                "annotations": _captions(found, theme),
            },
        )
        for m, found in panels.items()
    ]
    opening = list(panels).index(result.start)
    drawn.update_layout(frames[opening].layout)
    prefix = text("cases in the batch: N = ")
    add_slider(drawn, frames, start=opening, prefix=prefix, theme=theme)
    drawn.update_layout({"sliders[0].pad": {"t": 84, "b": 0}})
    return drawn


def _shades(values: Array, axis: tuple[int, ...] | None) -> Array:
    """Values from 0 to 255, the darkest entry along `axis` at 255."""
    size = np.abs(values)
    most = size.max(axis=axis, keepdims=True)
    shades: Array = np.round(255 * size / np.where(most > 0, most, 1)).astype(np.uint8)
    return shades


def _mosaic(maps: Array) -> Array:
    """Lay the maps out, cases down and channels across, with a gap after each."""
    N, C, R, S = maps.shape
    padded = np.full((N, C, R + 1, S + 1), np.nan)
    padded[:, :, :R, :S] = _shades(maps, axis=(0, 2, 3))
    laid: Array = padded.transpose(0, 2, 1, 3).reshape(N * (R + 1), C * (S + 1))[:-1, :-1]
    return laid


def _axes(figure: go.Figure, methods: int, flat: Array, mosaic: Array) -> None:
    hidden: dict[str, Any] = {
        "showticklabels": False,
        "ticks": "",
        "showline": False,
        "showgrid": False,
        "zeroline": False,
        "fixedrange": True,
    }
    rows = len(mosaic)
    for place in range(methods):
        left, number = place * COLUMN, 2 * place + 1
        for offset, (domain, columns) in enumerate(
            ((FLAT, flat.shape[1]), (MAPS, mosaic.shape[1]))
        ):
            figure.update_layout(
                {
                    f"xaxis{number + offset}": {
                        **hidden,
                        "domain": (left + domain[0], left + domain[1]),
                        "anchor": f"y{number + offset}",
                        "range": [-0.7, columns - 0.3],
                    },
                    f"yaxis{number + offset}": {
                        **hidden,
                        "domain": (0, 1),
                        "anchor": f"x{number + offset}",
                        "range": [rows + 0.2, -1.2],
                    },
                }
            )
    figure.update_layout({"yaxis.title": {"text": text("cases n"), "standoff": 2}})


def _shapes(
    methods: Mapping[str, Panel], m: int, flat: Array, maps: Array, theme: str
) -> list[dict[str, Any]]:
    """What is lit, what is not in the batch, and the entry whose z is written."""
    look, pitch = THEMES[theme], maps.shape[2] + 1
    down = _Span(pitch, pitch - 1)
    shapes = []
    for place, panel in enumerate(methods.values()):
        color = name_color(panel.sharing.title)
        sides = (
            (panel.flat, panel.flat_mark, _Span(1, 1), flat.shape[1]),
            (panel.maps, panel.map_mark, _Span(pitch, pitch - 1), maps.shape[1]),
        )
        for offset, (found, mark, across, channels) in enumerate(sides):
            number = 2 * place + 1 + offset
            on = {"xref": f"x{number}", "yref": f"y{number}", "type": "rect"}
            if m < len(flat):
                out = {
                    "x0": across.low(0) - 0.2,
                    "x1": across.high(channels - 1) + 0.2,
                    "y0": down.low(m) - 0.4,
                    "y1": down.high(len(flat) - 1) + 0.4,
                }
                shapes.append(
                    {**on, **out, "fillcolor": look.paper, "opacity": 0.85, "line": {"width": 0}}
                )
            if isinstance(found, str):
                continue
            shared = found.labels == found.labels[mark]
            cases, channels_lit = np.nonzero(shared.reshape(*shared.shape[:2], -1).any(axis=2))
            lit = {
                "x0": across.low(int(channels_lit.min())),
                "x1": across.high(int(channels_lit.max())),
                "y0": down.low(int(cases.min())),
                "y1": down.high(int(cases.max())),
            }
            shapes.append({**on, **lit, "fillcolor": color, "opacity": 0.45, "line": {"width": 0}})
            shapes.append({**on, **lit, "line": {"color": color, "width": 3}})
            shapes.append(
                {
                    **on,
                    **_entry(mark, down, across),
                    "type": "circle",
                    "fillcolor": look.paper,
                    "line": {"color": look.ink, "width": 2},
                }
            )
    return shapes


class _Span(NamedTuple):
    """Cells of one size at equal distances: where each begins and ends."""

    pitch: int
    size: int

    def low(self, place: int) -> float:
        return self.pitch * place - 0.5

    def high(self, place: int) -> float:
        return self.pitch * place + self.size - 0.5


def _entry(mark: tuple[int, ...], down: _Span, across: _Span) -> dict[str, float]:
    """A small ring around one entry: the middle of a cell, or one pixel."""
    n, c, *pixel = mark
    if pixel:
        y, x = down.pitch * n + pixel[0], across.pitch * c + pixel[1]
        return {"x0": x - 0.9, "x1": x + 0.9, "y0": y - 0.9, "y1": y + 0.9}
    y_middle = down.pitch * n + (down.size - 1) / 2
    return {"x0": c - 0.32, "x1": c + 0.32, "y0": y_middle - 1, "y1": y_middle + 1}


def _captions(methods: Mapping[str, Panel], theme: str) -> list[dict[str, Any]]:
    """The words above and below the arrays."""
    small, numbers = {"size": SIZE - 2, "color": THEMES[theme].muted}, {"size": SIZE - 1}
    words = []
    for place, panel in enumerate(methods.values()):
        left = place * COLUMN
        title = [f"<b>{panel.sharing.title}</b>", panel.sharing.rule]
        words.append(note(title, left, yshift=22))
        for found, mark, domain, name, channel in (
            (panel.flat, panel.flat_mark, FLAT, text("N × D: neurons"), NEURON),
            (panel.maps, panel.map_mark, MAPS, text("N × C × H × W: images"), CHANNEL),
        ):
            x = left + domain[0]
            words.append(note(name, x, yshift=2, font=small))
            lines = _numbers(found, mark, *channel)
            words.append(note(lines, x, 0, yanchor="top", yshift=-4, font=numbers))
    return words


def _numbers(
    found: Statistics | str, mark: tuple[int, ...], channel: str, channels: str
) -> list[str]:
    """The shape of μ and σ in words, what they are of, and z of the marked entry."""
    if isinstance(found, str):
        sentence = "the groups do<br>not divide<br>the {channels}:<br><b>no z</b>"
        return [text(sentence, channels=channels)]
    names = {"cases": text("case"), "groups": text("group"), "channels": channel}
    one = ", ".join(str(names[axis]) for axis in found.axes)
    shape = ", ".join(map(str, found.shape)) + ("," if len(found.shape) == 1 else "")
    z = found.at(mark).z
    return [
        text("per {one}:", one=one),
        text("shape ({shape})", shape=shape),
        text("of 1 entry") if found.entries == 1 else text("of {n} entries", n=found.entries),
        text("<b>σ = 0: no z</b>") if z is None else f"<b>z = {number(z)}</b>",
    ]
