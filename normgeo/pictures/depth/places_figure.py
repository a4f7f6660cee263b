"""A residual network on digits with its norm at either place: sizes by layer, what it ignores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.pictures.depth.places import AtPlace, Depth
from normgeo.pictures.style.annotations import note
from normgeo.pictures.style.colors import CLASSES, GRAY, OTHER, on_paper
from normgeo.pictures.style.lines import rounded
from normgeo.pictures.style.sheet import Band, Panel, Sheet, marks, told
from normgeo.pictures.style.template import MEASURED, PREDICTED, THEMES, log_ticks

COLORS = {"pre": CLASSES[0], "post": OTHER, "none": GRAY}
SYMBOLS = {"pre": "circle", "post": "square", "none": "diamond"}


def place_color(place: str, theme: str) -> str:
    """The color of the place of a norm: "pre", "post" or "none"."""
    return on_paper(COLORS[place], theme)


def figure(result: Depth, theme: str) -> go.Figure:
    """Draw the stream and the gradients of both places by layer, and the table beside them."""
    look = THEMES[theme]
    lines = [line for at in result.at.values() for line in _lines(at, theme)]
    if any(at.signals.expected_stream is not None for at in result.at.values()):
        style = {"color": look.muted, "width": 2, "dash": PREDICTED}
        name = text("predicted for random weights")
        lines.append(go.Scatter(x=[None], y=[None], mode="lines", line=style, name=name))
    return Sheet(
        [
            # In a hall each has one line.
            *(
                Band([f"<b>{at.answer}</b>"], 17, place_color(at.place.key, theme))
                for at in result.at.values()
            ),
            told(theme, result.about),
        ],
        rows=[
            [
                _panel(result, text("rms of the stream"), text("layer"), _of_stream),
                _panel(result, text("gradient of a block"), text("block"), _of_gradients),
                marks(
                    theme,
                    text("What the whole network ignores"),
                    [
                        (at.place.short, place_color(at.place.key, theme))
                        for at in result.at.values()
                    ],
                    result.rows,
                    share=1.3,
                ),
            ]
        ],
    ).on(lines, theme)


def _panel(result: Depth, head: str, across: str, values: Any) -> Panel:
    low, high = _range(result, values)
    empty = not any(values(at)[0].any() for at in result.at.values())
    ends = [-0.03 * result.blocks, 1.03 * result.blocks]
    return Panel(
        {"title": across, "range": ends, "dtick": max(1, result.blocks // 4)},
        {
            "type": "log",
            "range": np.log10([low, high]),
            "tickvals": [] if empty else log_ticks(low, high),
        },
        [f"<b>{head}</b>"],
        [note(_why_zero(result), 0.03, 0.9, yanchor="top")] if empty else [],
    )


def _why_zero(result: Depth) -> str:
    if result.normalizer.leaves_only_signs(result.width):
        return text("0 in every block: the last norm<br>leaves only signs")
    return text("0 in every block")


def _of_stream(at: AtPlace) -> tuple[Array, Array | None]:
    return at.signals.stream, at.signals.expected_stream


def _of_gradients(at: AtPlace) -> tuple[Array, Array | None]:
    return at.signals.gradients, at.signals.expected_gradients


def _lines(at: AtPlace, theme: str) -> Iterator[go.Scatter]:
    color, title = place_color(at.place.key, theme), at.place.title
    for axis, (measured, expected) in (("", _of_stream(at)), ("2", _of_gradients(at))):
        layers = np.arange(len(measured)) + bool(axis)
        where = {"xaxis": f"x{axis}", "yaxis": f"y{axis}", "legendgroup": title}
        if expected is not None:
            yield go.Scatter(
                x=layers,
                y=rounded(expected),
                mode="lines",
                line={"color": color, "width": 2, "dash": PREDICTED},
                showlegend=False,
                hoverinfo="skip",
                **where,
            )
        yield go.Scatter(
            x=layers,
            y=rounded(measured),
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


def _range(result: Depth, values: Any) -> tuple[float, float]:
    """What an axis shows: all values but 0, and at least a factor of 3."""
    parts = [part for at in result.at.values() for part in values(at) if part is not None]
    every = np.concatenate(parts)
    some = every[(every > 0) & np.isfinite(every)]
    low, high = (float(f(some)) if len(some) else 1.0 for f in (np.min, np.max))
    middle = np.sqrt(low * high)
    return min(low / 1.15, middle / 3**0.5), max(high * 1.15, middle * 3**0.5)
