"""Panels of lines, one for each method: the mean over the seeds, on a band from end to end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil, floor
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.numbers import power, power_of_ten
from normgeo.base.text import text
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.style.annotations import note, wrapped
from normgeo.pictures.style.colors import blend, method_color
from normgeo.pictures.style.panels import head, stacked
from normgeo.pictures.style.template import LARGE, LEGEND_FIRST, MEASURED, SMALL, THEMES, dress

HEIGHT, EACH, BETWEEN = 400, 250, 110  # of a row of panels, of one on a phone, between them there
LEGEND, LINE, HEAD = 30, 20, 30  # pixels of a row of the legend, a line, the head of a panel
GAP = 0.05  # between panels, as a share of the paper
WIDE, NARROW = (
    (LARGE, 80, 165),
    (20, 28, 42),
)  # type of the headline, letters in its lines, in others
TALL = 1.3  # of a line of the headline


class Curve(NamedTuple):
    """Values of one method, (seeds, K), at x (K,)."""

    normalizer: Normalizer
    x: Array
    values: Array


class Panel(NamedTuple):
    """What stands in one pair of axes.

    Attributes:
        title: above it. across, up: titles of the axes; "" for none.
        curves: a line each. mark: where an upright line stands, or None.
        stays: values are log₁₀; those between −stays and stays are shaded. 0 for plain values.

    """

    title: str
    across: str
    up: str
    curves: Sequence[Curve]
    mark: float | None = None
    stays: float = 0.0


def drawn_panels(
    panels: Sequence[Panel], said: Sequence[str], about: Sequence[str], theme: str
) -> go.Figure:
    """Draw panels beside each other on one scale, under what is to be seen and what was done."""
    look = THEMES[theme]
    drawn = go.Figure(
        [
            trace
            for number, panel in enumerate(panels, start=1)
            for curve in panel.curves
            for trace in _band(curve, number, look.paper)
        ]
        # All bands lie under all lines.
        + [
            _line(curve, panel, number)
            for number, panel in enumerate(panels, start=1)
            for curve in panel.curves
        ]
    )
    names = {curve.normalizer.title for panel in panels for curve in panel.curves}
    low, high = _range(panels)
    width = (1 - GAP * (len(panels) - 1)) / len(panels)
    for number, panel in enumerate(panels, start=1):
        first = (width + GAP) * (number - 1)
        drawn.update_layout(
            {
                f"xaxis{number}": {
                    "domain": [first, min(first + width, 1.0)],
                    "anchor": f"y{number}",
                    "title": panel.across,
                    "zeroline": False,
                },
                f"yaxis{number}": {
                    "anchor": f"x{number}",
                    "range": [low, high],
                    "title": panel.up,
                    "zeroline": False,
                },
            }
        )
        if panel.mark is not None:
            drawn.add_shape(_upright(panel.mark, number, look.muted))
        if panel.stays:
            drawn.add_shape(_level(panel.stays, number, look.grid))
            ticks = _powers(low, high)
            drawn.update_layout(
                {
                    f"yaxis{number}": {
                        "tickvals": ticks,
                        "ticktext": [power(tick) if tick else "1" for tick in ticks],
                    }
                }
            )
    dress(drawn, theme, height=HEIGHT)
    wide = _words(panels, said, about, look.muted, WIDE)
    top = LEGEND + wide.high + HEAD
    drawn.update_layout(
        height=HEIGHT + top,
        margin={"t": top},
        legend=LEGEND_FIRST,
        annotations=wide.notes,
        meta={"narrow": _phone(panels, said, about, look.muted, len(names))},
    )
    return drawn


def _band(curve: Curve, number: int, paper: str) -> Iterator[go.Scatter]:
    """From the lowest to the highest seed, where there are several."""
    if len(curve.values) < 2:
        return
    x, color = curve.x.tolist(), method_color(curve.normalizer)
    low, high = curve.values.min(axis=0).tolist(), curve.values.max(axis=0).tolist()
    yield go.Scatter(
        x=[*x, *x[::-1]],
        y=[*high, *low[::-1]],
        mode="lines",
        fill="toself",
        fillcolor=blend(paper, color, 0.25),
        line={"width": 0, "color": color},
        hoverinfo="skip",
        showlegend=False,
        xaxis=f"x{number}",
        yaxis=f"y{number}",
    )


def _line(curve: Curve, panel: Panel, number: int) -> go.Scatter:
    """The mean over the seeds, with a gap where it is no number."""
    mean = curve.values.mean(axis=0)
    return go.Scatter(
        x=curve.x.tolist(),
        y=np.where(np.isfinite(mean), mean, np.nan).tolist(),
        name=str(curve.normalizer.title),
        legendgroup=str(curve.normalizer.title),
        mode="lines+markers" if len(mean) < 6 else "lines",
        marker={"size": 9},
        line={"color": method_color(curve.normalizer), "width": 4, "dash": MEASURED},
        showlegend=number == 1,
        customdata=[power_of_ten(log) for log in mean] if panel.stays else None,
        hovertemplate=text(
            "{name}, {panel}: {value} at {x}<extra></extra>",
            name=curve.normalizer.title,
            panel=panel.title,
            value="%{customdata}" if panel.stays else "%{y:.3g}",
            x="%{x:.3g}",
        ),
        xaxis=f"x{number}",
        yaxis=f"y{number}",
    )


def _range(panels: Sequence[Panel]) -> tuple[float, float]:
    """What all panels show, with some room."""
    shown = [curve.values.ravel() for panel in panels for curve in panel.curves]
    values = np.concatenate([*shown, np.zeros(0)])
    values = values[np.isfinite(values)]
    if not len(values):
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    room = 0.05 * (high - low) + 1e-3
    return low - room, high + room


def _upright(place: float, number: int, ink: str) -> dict[str, Any]:
    name = "" if number == 1 else number
    return {
        "type": "line",
        "xref": f"x{name}",
        "yref": f"y{name} domain",
        "x0": place,
        "x1": place,
        "y0": 0,
        "y1": 1,
        "line": {"color": ink, "width": 2, "dash": "dot"},
    }


def _level(stays: float, number: int, ink: str) -> dict[str, Any]:
    name = "" if number == 1 else number
    return {
        "type": "rect",
        "xref": f"x{name} domain",
        "yref": f"y{name}",
        "x0": 0,
        "x1": 1,
        "y0": -stays,
        "y1": stays,
        "fillcolor": ink,
        "line": {"width": 0},
        "layer": "below",
    }


def _powers(low: float, high: float) -> list[int]:
    """Powers of ten in equal steps, 1 among them: seven at most."""
    step = -int(-(high - low) // 6)
    return [n for n in range(ceil(low), floor(high) + 1) if n % step == 0]


class _Words(NamedTuple):
    notes: list[dict[str, Any]]
    high: float


def _words(
    panels: Sequence[Panel],
    said: Sequence[str],
    about: Sequence[str],
    muted: str,
    room: tuple[int, int, int],
) -> _Words:
    """What is to be seen, the lines that say what was done, and the heads of the panels."""
    size, of_said, across = room
    large = [f"<b>{line}</b>" for words in said for line in wrapped(words, of_said)]
    lines = [line for words in about for line in wrapped(words, across)]
    heads = [
        head(number, wrapped(f"<b>{panel.title}</b>", across))
        for number, panel in enumerate(panels, start=1)
        if panel.title
    ]
    told = note(lines, 0, 1, yshift=HEAD, font={"size": SMALL, "color": muted})
    high = LINE * len(lines)
    above = [note(large, 0, 1, yshift=HEAD + high, font={"size": size})] if large else []
    return _Words([*above, told, *heads], high + TALL * size * len(large))


def _phone(
    panels: Sequence[Panel], said: Sequence[str], about: Sequence[str], muted: str, methods: int
) -> dict[str, Any]:
    """The panels below each other, the legend and the lines above them."""
    words = _words(panels, said, about, muted, NARROW)
    top = LEGEND * methods + int(words.high) + HEAD
    layout = stacked(
        [[number] for number in range(1, len(panels) + 1)], each=EACH, between=BETWEEN, top=top
    )
    legend = {**LEGEND_FIRST, "orientation": "v"}
    return layout | {"legend": legend, "annotations": words.notes}
