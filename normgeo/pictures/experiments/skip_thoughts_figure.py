"""The sentence that each network writes next and the one that it finds nearest, over its curves."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.pictures.experiments.about import NAMES, normalizer_of
from normgeo.pictures.experiments.skip_thoughts import Thoughts
from normgeo.pictures.recurrent.curves_figure import Curve, reach, traces
from normgeo.pictures.recurrent.curves_figure import Panel as Curves
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.player import add_slider, frames
from normgeo.pictures.style.sheet import (
    Band,
    Panel,
    Sheet,
    answer,
    drawn,
    on_panel,
    told,
)

HIGH = 190, 180


def figure(result: Thoughts, theme: str) -> go.Figure:
    """Draw words and curves; a frame for each evaluation."""
    curves = _curves(result)
    still = traces(curves, theme)
    moving = [_frame(result, place, theme) for place in range(len(result.steps))]
    sheets = [_sheet(result, curves, place, theme) for place in range(len(result.steps))]
    opening = result.opening
    whole, words = drawn(sheets, [*still, *moving[opening]], theme, opening)
    add_slider(
        whole,
        frames(result.steps, moving, words, len(still)),
        start=opening,
        prefix=text("updates: "),
        theme=theme,
        setting="updates",
    )
    return whole


def _values(result: Thoughts, method: str) -> tuple[Array, Array]:
    one = result.methods[method]
    return one.missed, one.wrong


def _curves(result: Thoughts) -> list[Curves]:
    x = np.array(result.steps)
    titles = text("nats a word"), text("% of topics wrong")
    return [
        Curves(
            "",
            text("updates"),
            title,
            [
                Curve(normalizer_of(method), x, _values(result, method)[at], NAMES[method])
                for method in result.methods
            ],
        )
        for at, title in enumerate(titles)
    ]


def _sheet(result: Thoughts, curves: list[Curves], place: int, theme: str) -> Sheet:
    panels = [
        Panel(
            {"title": each.across, "range": [0, 1.02 * result.steps[-1]], "zeroline": False},
            {"title": each.up, "range": _seen(each), "zeroline": False, "nticks": 5},
            high=HIGH,
            lowest=0.4,
        )
        for each in curves
    ]
    said = [Band([_answered(result, method, place, theme)]) for method in result.methods]
    return Sheet(
        [answer(result.told(place)), Band([result.asked]), *said],
        rows=[panels],
        foot=[told(theme, result.ended)],
        legend=False,
    )


def _seen(curves: Curves) -> list[float]:
    """The range of figures without the first, which is far from all others."""
    shown = [one._replace(values=one.values[:, 1:]) for one in curves.curves]
    return [*reach([curves._replace(curves=shown)])]


def _answered(result: Thoughts, method: str, place: int, theme: str) -> str:
    color = method_color(normalizer_of(method), theme)
    name = f'<b style="color:{color}">{NAMES[method]}</b>'
    return f"{name} {result.answered(method, place)}"


def _frame(result: Thoughts, place: int, theme: str) -> list[dict[str, Any]]:
    """A mark on each curve."""
    return [
        {
            "type": "scatter",
            "x": [result.steps[place]],
            "y": [float(f"{values[:, place].mean():.4g}")],
            "mode": "markers",
            "marker": {"size": 14, "color": method_color(normalizer_of(method), theme)},
            "showlegend": False,
            "hoverinfo": "skip",
            **on_panel(panel),
        }
        for method in result.methods
        for panel, values in enumerate(_values(result, method), start=1)
    ]
