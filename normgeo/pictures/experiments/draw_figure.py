"""The canvases of each method at each glimpse, beside the digits, and what they miss."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.pictures.experiments.about import NAMES, normalizer_of
from normgeo.pictures.experiments.draw import Drawing, Painted
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.lines import compact, rounded
from normgeo.pictures.style.player import add_slider, frames
from normgeo.pictures.style.sheet import Panel, Sheet, answer, drawn, on_panel, told
from normgeo.pictures.style.template import THEMES

GAP = 2  # pixels between two digits
HIGH = 116, 92  # of a row of digits


def figure(result: Drawing, theme: str) -> go.Figure:
    """Draw the digits and every canvas; a frame for each glimpse."""
    still = [
        _heatmap(_row(result.targets), 1, theme),
        *(_line(result, method, 4, theme) for method in result.methods),
    ]
    moving = [_frame(result, place, theme) for place in range(result.glimpses)]
    sheets = [_sheet(result, place, theme) for place in range(result.glimpses)]
    whole, words = drawn(sheets, [*still, *moving[result.opening]], theme, result.opening)
    add_slider(
        whole,
        frames(range(1, result.glimpses + 1), moving, words, len(still)),
        start=result.opening,
        prefix=text("glimpse t = "),
        theme=theme,
        setting="glimpse",
    )
    return whole


def _sheet(result: Drawing, place: int, theme: str) -> Sheet:
    side, count = result.targets.shape[-1], len(result.digits)
    across = [-0.5 - GAP / 2, count * (side + GAP) - GAP / 2 - 0.5]
    bare = {"visible": False, "showgrid": False, "zeroline": False}
    x = {**bare, "range": across, "constrain": "domain"}
    y = {**bare, "range": [side - 0.5 + GAP / 2, -0.5 - GAP / 2]}
    y |= {"scaleanchor": "x", "constrain": "domain"}
    heads = [text("<b>the digits</b>"), *(_title(method, theme) for method in result.methods)]
    missed = np.concatenate([one.missed.mean(axis=1) for one in result.methods.values()])
    line = Panel(
        {"title": text("glimpse"), "range": [0.5, result.glimpses + 0.5], "dtick": 1},
        {"title": text("nats"), "range": [0, 1.08 * float(missed.max())], "zeroline": False},
        [text("<b>what the canvases miss</b>, mean")],
        high=(170, 200),
        lowest=0.3,
    )
    return Sheet(
        [answer(result.told(place))],
        rows=[[Panel(x, y, [head], high=HIGH, lowest=0.8) for head in heads], [line]],
        foot=[told(theme, result.attention)],
    )


def _title(method: str, theme: str) -> str:
    color = method_color(normalizer_of(method), theme)
    return f'<b style="color:{color}">{NAMES[method]}</b>'


def _frame(result: Drawing, place: int, theme: str) -> list[dict[str, Any]]:
    """The canvases and windows of both methods, and a mark on each line."""
    found = []
    for panel, method in enumerate(result.methods, start=2):
        one = result.methods[method]
        found.append(_heatmap(_row(one.canvases[place]), panel, theme))
        found.append(_windows(one, place, result, method, panel, theme))
    for method in result.methods:
        missed = result.methods[method].missed[place].mean()
        found.append(
            {
                "type": "scatter",
                "x": [place + 1],
                "y": rounded(np.array([missed])),
                "mode": "markers",
                "marker": {"size": 14, "color": method_color(normalizer_of(method), theme)},
                "showlegend": False,
                "hoverinfo": "skip",
                "cliponaxis": False,
                **on_panel(4),
            }
        )
    return found


def _row(pictures: Array) -> Array:
    """Pictures (P, 8, 8) beside each other, with gaps."""
    padded = np.pad(pictures, ((0, 0), (0, 0), (0, GAP)), constant_values=np.nan)
    return compact(np.concatenate([*padded], axis=1)[:, :-GAP])


def _heatmap(row: Array, panel: int, theme: str) -> dict[str, Any]:
    look = THEMES[theme]
    return {
        "type": "heatmap",
        "z": row,
        "zmin": 0,
        "zmax": 1,
        "colorscale": [[0, look.panel], [1, look.ink]],
        "showscale": False,
        "hoverongaps": False,
        "hovertemplate": text("chance of ink: %{z:.2f}<extra></extra>"),
        **on_panel(panel),
    }


def _windows(
    one: Painted, place: int, result: Drawing, method: str, panel: int, theme: str
) -> dict[str, Any]:
    """A square around where each picture is written to, cut where its picture ends."""
    side = result.targets.shape[-1]
    x, y = [], []
    for n, (center_x, center_y, wide) in enumerate(one.windows[place]):
        left, right, top, bottom = (
            float(np.clip(center + sign * wide / 2, -0.5, side - 0.5))
            for center in (center_x, center_y)
            for sign in (-1, 1)
        )
        first = n * (side + GAP)
        x += [first + left, first + right, first + right, first + left, first + left, None]
        y += [top, top, bottom, bottom, top, None]
    return {
        "type": "scatter",
        "x": x,
        "y": y,
        "mode": "lines",
        "line": {"color": method_color(normalizer_of(method), theme), "width": 3},
        "showlegend": False,
        "hoverinfo": "skip",
        **on_panel(panel),
    }


def _line(result: Drawing, method: str, panel: int, theme: str) -> dict[str, Any]:
    missed = result.methods[method].missed.mean(axis=1)
    return {
        "type": "scatter",
        "x": list(range(1, result.glimpses + 1)),
        "y": rounded(missed),
        "mode": "lines+markers",
        "name": str(NAMES[method]),
        "line": {"color": method_color(normalizer_of(method), theme), "width": 3},
        "hovertemplate": text(
            "{name}, glimpse {t}: {missed} nats<extra></extra>",
            name=NAMES[method],
            t="%{x}",
            missed="%{y:.3g}",
        ),
        **on_panel(panel),
    }
