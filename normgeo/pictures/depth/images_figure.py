"""A small convolution on digits with each norm: where its units are on, and what it learns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import plotly.graph_objects as go

from normgeo.base.text import text
from normgeo.pictures.depth.images import Learned, OnImages
from normgeo.pictures.style.annotations import colored
from normgeo.pictures.style.colors import GRAY, name_color, on_paper
from normgeo.pictures.style.sheet import Band, Panel, Sheet, answer, on_panel, told
from normgeo.pictures.style.template import SIZE, THEMES

HIDDEN = {"showticklabels": False, "ticks": "", "showgrid": False, "zeroline": False}


def figure(result: OnImages, theme: str) -> go.Figure:
    """Draw a map of each norm, and the accuracies beneath."""
    learned = list(result.learned.values())
    count, muted = len(learned), THEMES[theme].muted
    maps = [_map(one, axis) for axis, one in enumerate(learned, start=1)]
    points = [
        trace
        for place, one in enumerate(learned)
        for trace in _accuracies(one, place, count + 1, theme)
    ]
    rows = [
        Panel(
            {**HIDDEN, "constrain": "domain", "constraintoward": "left"},
            {
                **HIDDEN,
                "autorange": "reversed",
                "scaleanchor": f"x{axis}",
                "constrain": "domain",
                "constraintoward": "top",
            },
            [
                colored(f"<b>{one.norm.title}</b>", _color(one, theme), SIZE),
                colored(_shares(one), muted),
            ],
            high=(150, 120),
        )
        for axis, one in enumerate(learned, start=1)
    ]
    headline, *others = result.answers or ("",)
    drawn = Sheet(
        [answer(headline), Band(others), told(theme, result.about)],
        rows=[*([rows] if rows else []), [_axes(learned)]],
        phone=[*(range(first, min(first + 2, count)) for first in range(0, count, 2)), [count]],
    ).on([*maps, *points], theme)
    scale = [[0, THEMES[theme].panel], [1, THEMES[theme].ink]]
    ends = dict(zip(("cmin", "cmax"), result.range, strict=True))
    return drawn.update_layout(coloraxis={**ends, "colorscale": scale, "showscale": False})


def _axes(learned: Sequence[Learned]) -> Panel:
    """The accuracies, with a place for each norm."""
    count = len(learned)
    shares = np.concatenate([one.accuracies for one in learned] or [np.ones(1)])
    low = float(np.floor(100 * shares.min() - 0.5) / 100)
    return Panel(
        {
            "range": [-0.5, max(count, 1) - 0.5],
            "tickvals": list(range(count)),
            "ticktext": [str(one.norm.title) for one in learned],
            "tickangle": 0,
            "showgrid": False,
            "zeroline": False,
        },
        {"range": [low, 1.002], "tickformat": ".0%", "nticks": 4, "title": text("accuracy")},
        high=(180, 200),
    )


def _color(one: Learned, theme: str) -> str:
    sharing = one.norm.sharing
    return on_paper(GRAY, theme) if sharing is None else name_color(sharing.title, theme)


def _map(one: Learned, axis: int) -> go.Heatmap:
    return go.Heatmap(
        z=np.round(one.on, 4),
        customdata=np.round(one.distances, 3),
        coloraxis="coloraxis",
        **on_panel(axis),
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


def _accuracies(one: Learned, place: int, axis: int, theme: str) -> Iterator[go.Scatter]:
    """A point for each seed, and a line at the mean."""
    color = _color(one, theme)
    where = on_panel(axis)
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


def _shares(one: Learned) -> str:
    border, inside = (f"{share:.0%}" for share in one.shares.mean(axis=0))
    return f"{border} / {inside}"
