"""Errors against contrast, the digits, and the chances that each network gives to the classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.pictures.experiments.about import NAMES, normalizer_of
from normgeo.pictures.experiments.convolution import Contrast
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.lines import compact, rounded
from normgeo.pictures.style.player import add_slider, frames
from normgeo.pictures.style.sheet import Panel, Sheet, answer, drawn, on_panel, told
from normgeo.pictures.style.template import THEMES
from normgeo.settings import as_text

CLASSES, GAP = 10, 1
TICKS = {1 / 16: "1/16", 1 / 4: "1/4", 1: "1", 4: "4", 16: "16"}


def figure(result: Contrast, theme: str) -> go.Figure:
    """Draw errors, digits and chances; a frame for each contrast."""
    still = [_line(result, method, theme) for method in result.methods]
    still += [_right(result, panel, theme) for panel in _panels(result)]
    places = range(len(result.contrasts))
    moving = [_frame(result, place, theme) for place in places]
    sheets = [_sheet(result, place, theme) for place in places]
    opening = result.opening
    whole, words = drawn(sheets, [*still, *moving[opening]], theme, opening)
    contrasts = result.contrasts.tolist()
    add_slider(
        whole,
        frames([number(one, 3) for one in contrasts], moving, words, len(still)),
        start=opening,
        prefix=text("contrast × "),
        theme=theme,
        setting="delta",
        values=[*map(as_text, contrasts)],
    )
    return whole


def _panels(result: Contrast) -> range:
    """The numbers of the panels of chances."""
    return range(3, 3 + len(result.methods))


def _sheet(result: Contrast, place: int, theme: str) -> Sheet:
    K, side = len(result.digits), result.ink.shape[-1]
    low, high = np.log10(result.contrasts[[0, -1]])
    highest = max(float(one.errors.max()) for one in result.methods.values())
    errors = Panel(
        {
            "type": "log",
            "title": text("contrast"),
            "range": [float(low) - 0.05, float(high) + 0.05],
            "tickvals": [*TICKS],
            "ticktext": [*TICKS.values()],
            "zeroline": False,
        },
        {"title": text("errors, %"), "range": [0, 1.08 * highest], "zeroline": False, "nticks": 3},
        [text("<b>errors on the test set</b>")],
        high=(170, 180),
        lowest=0.4,
    )
    bare = {"visible": False, "showgrid": False, "zeroline": False, "constrain": "domain"}
    digits = Panel(
        {**bare, "range": [-0.5 - GAP, K * (side + GAP) - 0.5]},
        {**bare, "range": [side - 0.5 + GAP, -0.5 - GAP], "scaleanchor": "x"},
        [text("<b>the digits</b>")],
        high=(110, 60),
        lowest=0.5,
    )
    labels = [*map(str, result.digits.tolist())]
    chances = [
        Panel(
            {
                "range": [-0.5, K - 0.5],
                "tickvals": [*range(K)],
                "ticktext": labels,
                "showgrid": False,
                "zeroline": False,
            },
            {
                "range": [CLASSES - 0.5, -0.5],
                "tickvals": [0, 3, 6, 9],
                "title": text("answer"),
                "showgrid": False,
                "zeroline": False,
            },
            [_head(method, theme)],
            high=(170, 170),
            lowest=0.35,
        )
        for method in result.methods
    ]
    return Sheet(
        [answer(result.told(place))],
        rows=[[errors, digits], chances],
        foot=[told(theme, result.about, result.shown)],
        legend=False,
    )


def _head(method: str, theme: str) -> str:
    color = method_color(normalizer_of(method), theme)
    return f'<b style="color:{color}">{NAMES[method]}</b>'


def _frame(result: Contrast, place: int, theme: str) -> list[dict[str, Any]]:
    """The digits at a contrast, the chances, and a mark on each line."""
    look = THEMES[theme]
    found = [_digits(result, place, theme)]
    for panel, (method, one) in zip(_panels(result), result.methods.items(), strict=True):
        color = method_color(normalizer_of(method), theme)
        found.append(
            {
                "type": "heatmap",
                "z": compact(one.chances[place].T),
                "zmin": 0,
                "zmax": 1,
                "colorscale": [[0, look.panel], [1, color]],
                "showscale": False,
                "hovertemplate": text(
                    "{name}: class {y} has the chance {z}<extra></extra>",
                    name=NAMES[method],
                    y="%{y}",
                    z="%{z:.0%}",
                ),
                **on_panel(panel),
            }
        )
    for method, one in result.methods.items():
        found.append(
            {
                "type": "scatter",
                "x": rounded(result.contrasts[[place]]),
                "y": rounded(one.errors[[place]]),
                "mode": "markers",
                "marker": {"size": 14, "color": method_color(normalizer_of(method), theme)},
                "showlegend": False,
                "hoverinfo": "skip",
                "cliponaxis": False,
                **on_panel(1),
            }
        )
    return found


def _digits(result: Contrast, place: int, theme: str) -> dict[str, Any]:
    look = THEMES[theme]
    padded = np.pad(result.ink, ((0, 0), (0, 0), (0, GAP)))
    row = np.concatenate([*padded], axis=1)
    return {
        "type": "heatmap",
        "z": compact(np.sqrt(result.contrasts[place] * row)),
        "zmin": 0,
        "zmax": float(np.sqrt(result.contrasts.max())),
        "colorscale": [[0, look.panel], [1, look.ink]],
        "showscale": False,
        "hoverinfo": "skip",
        **on_panel(2),
    }


def _line(result: Contrast, method: str, theme: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "x": rounded(result.contrasts),
        "y": rounded(result.methods[method].errors),
        "mode": "lines",
        "name": str(NAMES[method]),
        "line": {"color": method_color(normalizer_of(method), theme), "width": 4},
        "hovertemplate": text(
            "{name}: {y}% errors at contrast × {x}<extra></extra>",
            name=NAMES[method],
            x="%{x:.3g}",
            y="%{y:.3g}",
        ),
        **on_panel(1),
    }


def _right(result: Contrast, panel: int, theme: str) -> dict[str, Any]:
    """A frame around the right answer to each digit."""
    x, y = [], []
    for k, digit in enumerate(result.digits.tolist()):
        x += [k - 0.5, k + 0.5, k + 0.5, k - 0.5, k - 0.5, None]
        y += [digit - 0.5, digit - 0.5, digit + 0.5, digit + 0.5, digit - 0.5, None]
    return {
        "type": "scatter",
        "x": x,
        "y": y,
        "mode": "lines",
        "line": {"color": THEMES[theme].ink, "width": 2},
        "showlegend": False,
        "hoverinfo": "skip",
        **on_panel(panel),
    }
