"""A residual network on digits with its norm at either place: sizes by layer, what it ignores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.pictures.depth.marks_figure import LINE, height, marks
from normgeo.pictures.depth.places import AtPlace, Depth
from normgeo.pictures.style.annotations import colored, note, wrapped
from normgeo.pictures.style.colors import CLASSES, OTHER
from normgeo.pictures.style.panels import head
from normgeo.pictures.style.template import (
    LARGE,
    MEASURED,
    PREDICTED,
    SIZE,
    SMALL,
    THEMES,
    dress,
    log_ticks,
)

COLORS = {"pre": CLASSES[0], "post": OTHER}
SYMBOLS = {"pre": "circle", "post": "square"}
WIDE, NARROW = 460, 1120  # heights: panels beside each other, and one beneath the other
ABOVE, BELOW, LEFT = 8, 54, 60  # margins
COLUMNS = ((0.0, 0.265), (0.335, 0.6))
TABLE, MARKS = 0.645, (0.93, 0.98)  # where the words of a change begin, and the middle of its marks
NARROW_MARKS = 0.85, 0.97


def figure(result: Depth, theme: str) -> go.Figure:
    """Draw the stream and the gradients of both places by layer, and the table beside them."""
    look = THEMES[theme]
    drawn = go.Figure([line for at in result.at.values() for line in _lines(at)])
    if any(at.signals.expected_stream is not None for at in result.at.values()):
        style = {"color": look.muted, "width": 2, "dash": PREDICTED}
        drawn.add_scatter(
            x=[None], y=[None], mode="lines", line=style, name=text("expected of random weights")
        )
    dress(drawn, theme, height=WIDE)
    drawn.update_layout(
        _placed(result, theme, narrow=False),
        margin={"l": LEFT, "t": ABOVE, "b": BELOW},
        meta={
            "narrow": _placed(result, theme, narrow=True)
            | {"height": NARROW, "margin": {"l": 52, "t": ABOVE, "b": BELOW}}
        },
    )
    for axis, values in (("", _of_stream), ("2", _of_gradients)):
        low, high = _range(result, values)
        drawn.update_layout(
            {
                f"yaxis{axis}": {
                    "type": "log",
                    "anchor": f"x{axis}",
                    "range": np.log10([low, high]),
                    "tickvals": log_ticks(low, high),
                },
                f"xaxis{axis}": {
                    "anchor": f"y{axis}",
                    "title": text("block") if axis else text("layer"),
                    "range": [-0.03 * result.blocks, 1.03 * result.blocks],
                    "dtick": max(1, result.blocks // 4),
                },
            }
        )
    return drawn


def _of_stream(at: AtPlace) -> tuple[Array, Array | None]:
    return at.signals.stream, at.signals.expected_stream


def _of_gradients(at: AtPlace) -> tuple[Array, Array | None]:
    return at.signals.gradients, at.signals.expected_gradients


def _lines(at: AtPlace) -> Iterator[go.Scatter]:
    color, title = COLORS[at.place.key], at.place.title
    for axis, (measured, expected) in (("", _of_stream(at)), ("2", _of_gradients(at))):
        layers = np.arange(len(measured)) + bool(axis)
        where = {"xaxis": f"x{axis}", "yaxis": f"y{axis}", "legendgroup": title}
        if expected is not None:
            yield go.Scatter(
                x=layers,
                y=_short(expected),
                mode="lines",
                line={"color": color, "width": 2, "dash": PREDICTED},
                showlegend=False,
                hoverinfo="skip",
                **where,
            )
        yield go.Scatter(
            x=layers,
            y=_short(measured),
            mode="lines+markers",
            name=title,
            marker={"size": 7, "symbol": SYMBOLS[at.place.key]},
            line={"color": color, "width": 3, "dash": MEASURED},
            showlegend=not axis,
            hovertemplate=text(
                "{name}, {layer}: {value}<extra></extra>",
                name=title,
                layer="%{x}",
                value="%{y:.4g}",
            ),
            **where,
        )


def _short(values: Array) -> list[float]:
    return [float(f"{value:.5g}") for value in values]


def _range(result: Depth, values: Any) -> tuple[float, float]:
    """What an axis shows: all values but 0, and at least a factor of 3."""
    parts = [part for at in result.at.values() for part in values(at) if part is not None]
    every = np.concatenate(parts)
    some = every[(every > 0) & np.isfinite(every)]
    low, high = (float(f(some)) if len(some) else 1.0 for f in (np.min, np.max))
    middle = np.sqrt(low * high)
    return min(low / 1.15, middle / 3**0.5), max(high * 1.15, middle * 3**0.5)


def _placed(result: Depth, theme: str, *, narrow: bool) -> dict[str, Any]:
    """Where everything is: words above the panels, which stand in a row or in a column."""
    room = (NARROW if narrow else WIDE) - ABOVE - BELOW
    size, across, small = (20, 32, 44) if narrow else (LARGE, 90, 150)
    answers = [
        colored(line, COLORS[at.place.key], size)
        for at in result.at.values()
        for line in wrapped(at.answer, across)
    ]
    told = wrapped(result.about, small)
    words = LINE * (size * len(answers) + SMALL * len(told)) + 4
    above = (words + (100 if narrow else 30) + 26) / room
    top = 1 - above
    rows = [(0.0, top)] * 2
    table = height(result.rows) / room
    if narrow:
        each, gap = (top - table - 0.15) / 2, 84 / room
        rows = [(top - each, top), (top - 2 * each - gap, top - each - gap)]
    axes: dict[str, Any] = {}
    for axis, column, row in zip(("", "2"), COLUMNS, rows, strict=True):
        axes[f"xaxis{axis}"] = {"domain": [0, 1] if narrow else column}
        axes[f"yaxis{axis}"] = {"domain": [max(0.0, end) for end in row]}
    heads = text("rms of the stream"), text("gradient of a block")
    return axes | {
        "legend": {
            "x": 0,
            "xanchor": "left",
            "y": 1 - words / room,
            "yanchor": "top",
            "orientation": "v" if narrow else "h",
            "font": {"size": SIZE},
        },
        "annotations": [
            note([f"<b>{line}</b>" for line in answers], 0, 1, yanchor="top", font={"size": size}),
            note(
                told,
                0,
                1 - LINE * size * len(answers) / room,
                yanchor="top",
                font={"size": SMALL, "color": THEMES[theme].muted},
            ),
            *(head(panel, [f"<b>{title}</b>"]) for panel, title in enumerate(heads, start=1)),
            *marks(
                text("What the whole network ignores"),
                result.rows,
                [(at.place.short, COLORS[at.place.key]) for at in result.at.values()],
                0.0 if narrow else TABLE,
                NARROW_MARKS if narrow else MARKS,
                table if narrow else top + 26 / room,
                theme,
            ),
        ],
    }
