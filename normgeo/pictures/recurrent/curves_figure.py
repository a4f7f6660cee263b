"""Panels of lines, one for each method: the mean over the seeds, on a band from end to end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.style.annotations import note, wrapped
from normgeo.pictures.style.colors import blend, method_color
from normgeo.pictures.style.panels import head, stacked
from normgeo.pictures.style.template import LEGEND_FIRST, MEASURED, SMALL, THEMES, dress

HEIGHT, EACH, BETWEEN = 400, 250, 110  # of a row of panels, of one on a phone, between them there
LEGEND, LINE, HEAD = 30, 20, 30  # pixels of a row of the legend, a line, the head of a panel
GAP = 0.05  # between panels, as a share of the paper
WIDE, NARROW = 165, 42  # letters in a line


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

    """

    title: str
    across: str
    up: str
    curves: Sequence[Curve]
    mark: float | None = None


def drawn_panels(panels: Sequence[Panel], about: Sequence[str], theme: str) -> go.Figure:
    """Draw panels beside each other on one scale, under the lines that say what was done."""
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
    dress(drawn, theme, height=HEIGHT)
    wide = _words(panels, about, look.muted, WIDE)
    top = LEGEND + LINE * wide.lines + HEAD
    drawn.update_layout(
        height=HEIGHT + top,
        margin={"t": top},
        legend=LEGEND_FIRST,
        annotations=wide.notes,
        meta={"narrow": _phone(panels, about, look.muted, len(names))},
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
        hovertemplate=text(
            "{name}, {panel}: {value} at {x}<extra></extra>",
            name=curve.normalizer.title,
            panel=panel.title,
            value="%{y:.3g}",
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


class _Words(NamedTuple):
    notes: list[dict[str, Any]]
    lines: int


def _words(panels: Sequence[Panel], about: Sequence[str], muted: str, across: int) -> _Words:
    """The lines above all panels and the heads of each."""
    lines = [line for words in about for line in wrapped(words, across)]
    heads = [
        head(number, wrapped(f"<b>{panel.title}</b>", across))
        for number, panel in enumerate(panels, start=1)
        if panel.title
    ]
    told = note(lines, 0, 1, yshift=HEAD, font={"size": SMALL, "color": muted})
    return _Words([told, *heads], len(lines))


def _phone(
    panels: Sequence[Panel], about: Sequence[str], muted: str, methods: int
) -> dict[str, Any]:
    """The panels below each other, the legend and the lines above them."""
    words = _words(panels, about, muted, NARROW)
    top = LEGEND * methods + LINE * words.lines + HEAD
    layout = stacked(
        [[number] for number in range(1, len(panels) + 1)], each=EACH, between=BETWEEN, top=top
    )
    legend = {**LEGEND_FIRST, "orientation": "v"}
    return layout | {"legend": legend, "annotations": words.notes}
