"""What each method averages: lit in the grids of real data, and worked by hand in integers."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.text import text
from normgeo.normalizers.averages import Average
from normgeo.pictures.home.arithmetic import arithmetic
from normgeo.pictures.home.averages import Averages
from normgeo.pictures.style.annotations import note
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.sheet import Panel, Sheet, axis_name
from normgeo.pictures.style.template import SIZE, THEMES, ink_scale

FINE = 30
"""So many columns leave no room for gaps between them."""

FAINT = 0.25
"""The share of its color that is left to what is not averaged."""

AXES = {"A": ("neurons h", "cases n"), "W": ("features d", "neurons h")}

HIGH = (167, 120), (152, 110)  # pixels of real data, and of integers

HIDDEN = {
    "showticklabels": False,
    "ticks": "",
    "showline": False,
    "showgrid": False,
    "zeroline": False,
}


def figure(result: Averages, theme: str) -> go.Figure:
    """Draw a column for each method: real data above, integers and their arithmetic below."""
    traces: list[Any] = []
    columns = []
    for key, average in result.real.items():
        example, lines = result.example[key], arithmetic(result.numbers[key])
        title = [f"<b>{average.normalizer.title}</b>", example.rule]
        center: dict[str, Any] = {"xanchor": "center", "align": "center"}
        above = note(title, 0.5, yshift=4, **center)
        bold = [*lines[:-1], f"<b>{lines[-1]}</b>"]
        below = note(bold, 0.5, 0, yanchor="top", yshift=-6, **center)
        columns.append((_panel(average, len(traces) + 1, above), _panel(example, 0, below)))
        for trace in (_real(average, theme), _integers(example, theme)):
            n = len(traces) + 1
            traces.append(trace.update(xaxis=axis_name("x", n), yaxis=axis_name("y", n)))
    return Sheet([], rows=[columns], right=8, legend=False).on(traces, theme)


def _panel(average: Average, number: int, words: dict[str, Any]) -> Panel:
    """A grid: with names for real data, whose panel has a number, with squares for integers."""
    rows, columns = average.values.shape
    across, down = (str(text(words)) for words in AXES[average.matrix])
    x = {**HIDDEN, "range": [-0.5, columns - 0.5], "constrain": "domain"}
    y = {**HIDDEN, "range": [rows - 0.5, -0.5]}
    if number:
        x, y = x | {"title": across}, y | {"title": down}
    else:
        y |= {"title": average.matrix, "scaleanchor": "x", "constrain": "domain"}
    marks = _outline(average, radius=6 if number else 17)
    return Panel(x, y, notes=[words], shapes=marks, high=HIGH[not number])


def _real(average: Average, theme: str) -> go.Heatmap:
    """The real matrix, faint but for what is averaged."""
    across, down = (text(words) for words in AXES[average.matrix])
    values = np.round(average.values.astype(float), 3)
    reach = float(np.abs(values).max()) or 1.0
    return go.Heatmap(
        z=np.round(np.where(average.lit, values, FAINT * values), 3),
        customdata=values,
        zmin=-reach,
        zmax=reach,
        colorscale=ink_scale(theme),
        showscale=False,
        xgap=1 if values.shape[1] < FINE else 0,
        ygap=1,
        hovertemplate=f"{down} %{{y}}, {across} %{{x}}: %{{customdata}}<extra></extra>",
    )


def _integers(average: Average, theme: str) -> go.Heatmap:
    look = THEMES[theme]
    return go.Heatmap(
        z=average.lit.astype(float),
        zmin=0,
        zmax=1,
        showscale=False,
        xgap=1,
        ygap=1,
        colorscale=[[0, look.panel], [1, method_color(average.normalizer)]],
        opacity=0.35,
        text=[[f"{entry:,}".replace("-", "−") for entry in row] for row in average.values.tolist()],
        texttemplate="%{text}",
        hoverinfo="skip",
        textfont={"size": SIZE + 2, "color": look.ink},
    )


def _outline(average: Average, *, radius: int) -> list[dict[str, Any]]:
    """Outline what is averaged, and circle the summed input that it is averaged for."""
    rows, columns = np.nonzero(average.lit)
    color = method_color(average.normalizer)
    outline = {
        "type": "rect",
        "line": {"color": color, "width": 3},
        "x0": columns.min() - 0.5,
        "x1": columns.max() + 0.5,
        "y0": rows.min() - 0.5,
        "y1": rows.max() + 0.5,
    }
    if average.mark is None:
        return [outline]
    n, h = average.mark
    circle = {
        "type": "circle",
        "line": {"color": color, "width": 2},
        "xsizemode": "pixel",
        "ysizemode": "pixel",
        "xanchor": h,
        "yanchor": n,
        "x0": -radius,
        "x1": radius,
        "y0": -radius,
        "y1": radius,
    }
    return [outline, circle]
