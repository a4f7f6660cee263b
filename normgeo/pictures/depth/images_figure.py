"""A small convolution on digits with each norm: where its units are on, and what it learns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.text import text
from normgeo.pictures.depth.images import Learned, OnImages
from normgeo.pictures.style.annotations import colored, note, wrapped
from normgeo.pictures.style.colors import GRAY, name_color
from normgeo.pictures.style.panels import head
from normgeo.pictures.style.template import LARGE, SIZE, SMALL, THEMES, dress

WIDE, NARROW = 574, 1110  # heights: maps in a row, and three beside each other
ABOVE, BELOW, LEFT, RIGHT = 8, 40, 70, 18  # margins
MAPS = 150  # pixels of a row of maps in the wide figure
HEAD = 46  # above a map


def figure(result: OnImages, theme: str) -> go.Figure:
    """Draw a map of each norm, and the accuracies beneath."""
    count = len(result.learned)
    drawn = go.Figure()
    for axis, one in enumerate(result.learned.values(), start=1):
        drawn.add_trace(_map(one, axis, theme))
    for place, one in enumerate(result.learned.values()):
        drawn.add_traces(list(_accuracies(one, place, count + 1)))
    dress(drawn, theme, height=WIDE)
    drawn.update_layout(
        _placed(result, theme, narrow=False),
        margin={"l": LEFT, "r": RIGHT, "t": ABOVE, "b": BELOW},
        showlegend=False,
        meta={
            "narrow": _placed(result, theme, narrow=True)
            | {
                "height": NARROW,
                "margin": {"l": 52, "r": 60, "t": ABOVE, "b": 84},
            }
        },
        coloraxis={
            **dict(zip(("cmin", "cmax"), result.range, strict=True)),
            "colorscale": [[0, THEMES[theme].panel], [1, THEMES[theme].ink]],
            "showscale": False,
        },
    )
    for axis in range(1, count + 1):
        hidden = {"showticklabels": False, "ticks": "", "showgrid": False, "zeroline": False}
        drawn.update_layout(
            {
                f"xaxis{axis}": {**hidden, "anchor": f"y{axis}"},
                f"yaxis{axis}": {**hidden, "anchor": f"x{axis}", "autorange": "reversed"},
            }
        )
    shares = np.concatenate([one.accuracies for one in result.learned.values()] or [np.ones(1)])
    low = float(np.floor(100 * shares.min() - 0.5) / 100)
    drawn.update_layout(
        {
            f"xaxis{count + 1}": {
                "anchor": f"y{count + 1}",
                "range": [-0.5, max(count, 1) - 0.5],
                "tickvals": list(range(count)),
                "showgrid": False,
                "zeroline": False,
            },
            f"yaxis{count + 1}": {
                "anchor": f"x{count + 1}",
                "range": [low, 1.002],
                "tickformat": ".0%",
                "nticks": 4,
            },
        }
    )
    return drawn


def _color(one: Learned) -> str:
    return GRAY if one.norm.sharing is None else name_color(one.norm.sharing.title)


def _map(one: Learned, axis: int, theme: str) -> go.Heatmap:
    return go.Heatmap(
        z=np.round(one.on, 4),
        customdata=np.round(one.distances, 3),
        coloraxis="coloraxis",
        xaxis=f"x{axis}",
        yaxis=f"y{axis}",
        xgap=1,
        ygap=1,
        hovertemplate=text(
            "{name}, row {row}, column {column}: on {share} of the time, statistics {far} σ from "
            "the layer's<extra></extra>",
            name=one.norm.title,
            row="%{y}",
            column="%{x}",
            share="%{z:.0%}",
            far="%{customdata:.2f}",
        ),
    )


def _accuracies(one: Learned, place: int, axis: int) -> Iterator[go.Scatter]:
    """A point for each seed, and a line at the mean."""
    color = _color(one)
    where = {"xaxis": f"x{axis}", "yaxis": f"y{axis}"}
    offsets = np.linspace(-0.12, 0.12, len(one.accuracies))
    yield go.Scatter(
        x=place + offsets,
        y=one.accuracies,
        mode="markers",
        marker={"size": 9, "color": color},
        hovertemplate=text("{name}: {share}<extra></extra>", name=one.norm.title, share="%{y:.2%}"),
        **where,
    )
    yield go.Scatter(
        x=[place - 0.25, place + 0.25],
        y=[one.accuracies.mean()] * 2,
        mode="lines",
        line={"color": color, "width": 3},
        hoverinfo="skip",
        **where,
    )


def _placed(result: OnImages, theme: str, *, narrow: bool) -> dict[str, Any]:
    """Where everything is."""
    room = (NARROW - 84 if narrow else WIDE - BELOW) - ABOVE
    size, across_said, small = (20, 28, 34) if narrow else (LARGE, 84, 120)
    headline, *others = result.answers or ("",)
    said = wrapped(headline, across_said)
    answers = [line for words in others for line in wrapped(words, small)]
    count, across = len(result.learned), 2 if narrow else max(len(result.learned), 1)
    told = wrapped(result.about, 42 if narrow else 140)
    large = 1.3 * size * len(said)
    words = large + 1.3 * SIZE * len(answers)
    top = room - words - 1.3 * SMALL * len(told) - 8
    layout: dict[str, Any] = {}
    maps = 120 if narrow else MAPS
    for place in range(count):
        row, column = divmod(place, across)
        high = top - HEAD - row * (maps + HEAD + 8)
        layout[_axis("x", place + 1)] = {
            "domain": [(column + 0.06) / across, (column + 0.94) / across]
        }
        layout[_axis("y", place + 1)] = {
            "domain": [max(0.0, (high - maps) / room), max(0.01, high / room)]
        }
    rows = -(-count // across)
    foot = top - rows * (maps + HEAD + 8) - 8
    titles = [str(one.norm.title) for one in result.learned.values()]
    layout[_axis("x", count + 1)] = {
        "domain": [0.0, 1.0],
        "ticktext": [title.replace(" ", "<br>") for title in titles] if narrow else titles,
        "tickangle": 0,
    }
    layout[_axis("y", count + 1)] = {
        "domain": [0.0, max(0.05, foot / room)],
        "title": {"text": "" if narrow else text("accuracy")},
    }
    muted = THEMES[theme].muted
    return layout | {
        "annotations": [
            note([f"<b>{line}</b>" for line in said], 0, 1, yanchor="top", font={"size": size}),
            note(answers, 0, 1 - large / room, yanchor="top"),
            note(
                told,
                0,
                1 - words / room,
                yanchor="top",
                font={"size": SMALL, "color": muted},
            ),
            *(
                head(
                    axis,
                    [
                        colored(f"<b>{one.norm.title}</b>", _color(one), SIZE),
                        colored(_shares(one), muted),
                    ],
                )
                for axis, one in enumerate(result.learned.values(), start=1)
            ),
        ]
    }


def _axis(letter: str, number: int) -> str:
    """The name of an axis in a layout."""
    return f"{letter}axis{number if number > 1 else ''}"


def _shares(one: Learned) -> str:
    border, inside = (f"{share:.0%}" for share in one.shares.mean(axis=0))
    return f"{border} / {inside}"
