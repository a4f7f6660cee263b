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
from normgeo.pictures.style.template import SIZE, THEMES, dress, ink_scale

FINE = 30
"""So many columns leave no room for gaps between them."""

FAINT = 0.25
"""The share of its color that is left to what is not averaged."""

AXES = {"A": ("neurons h", "cases n"), "W": ("features d", "neurons h")}

TOP, GAP, HEIGHT = 56, 0.09, 520
REAL, WORKED = (0.56, 1.0), (0.0, 0.4)  # of the paper's height
BLOCK = 440  # pixels of a method's two grids and their words on a phone

HIDDEN = {
    "showticklabels": False,
    "ticks": "",
    "showline": False,
    "showgrid": False,
    "zeroline": False,
}


def figure(result: Averages, theme: str) -> go.Figure:
    """Draw a column for each method: real data above, integers and their arithmetic below."""
    look, count = THEMES[theme], len(result.real)
    drawn = dress(go.Figure(), theme, height=HEIGHT)
    narrow: dict[str, Any] = {"height": BLOCK * count}
    width = (1 - GAP * (count - 1)) / count
    for place, (key, average) in enumerate(result.real.items()):
        color, example = method_color(average.normalizer), result.example[key]
        left = place * (width + GAP)
        foot = (count - place - 1) / count
        for half, (grid, share) in enumerate(((average, REAL), (example, WORKED))):
            axis = _axis(2 * place + half)
            down = list(share)
            _axes(drawn, grid, axis, [left, min(left + width, 1.0)], down, titled=not half)
            narrow |= {
                f"xaxis{axis}": {"domain": [0, 1]},
                f"yaxis{axis}": {"domain": [foot + (0.2 + 0.66 * s) / count for s in down]},
            }
            _outline(drawn, grid, axis, color, radius=17 if half else 6)
        real, worked = _axis(2 * place), _axis(2 * place + 1)
        for axis, grid in ((real, _real(average, theme)), (worked, _integers(example, theme))):
            drawn.add_trace(grid.update(xaxis=f"x{axis}", yaxis=f"y{axis}"))
        words: dict[str, Any] = {
            "xanchor": "center",
            "align": "center",
            "font": {"size": SIZE, "color": look.ink},
        }
        title = [f"<b>{average.normalizer.title}</b>", example.rule]
        above: dict[str, Any] = {"xref": f"x{real} domain", "yref": f"y{real} domain", "yshift": 4}
        below: dict[str, Any] = {
            "xref": f"x{worked} domain",
            "yref": f"y{worked} domain",
            "yshift": -6,
        }
        drawn.add_annotation(note(title, 0.5, **above, **words))
        lines = arithmetic(result.numbers[key])
        bold = [*lines[:-1], f"<b>{lines[-1]}</b>"]
        drawn.add_annotation(note(bold, 0.5, 0, **below, yanchor="top", **words))
    drawn.update_layout(
        showlegend=False, margin={"l": 28, "r": 8, "t": TOP, "b": 84}, meta={"narrow": narrow}
    )
    return drawn


def _axis(number: int) -> str:
    """The suffix of an axis's name, which the first one has not."""
    return str(number + 1) if number else ""


def _axes(
    figure: go.Figure,
    average: Average,
    axis: str,
    across: list[float],
    down: list[float],
    *,
    titled: bool,
) -> None:
    """Place the axes of a grid: with names for real data, with square entries for integers."""
    rows, columns = average.values.shape
    names = [text(words) if titled else "" for words in AXES[average.matrix]]
    square = {} if titled else {"scaleanchor": f"x{axis}", "constrain": "domain"}
    x = {"range": [-0.5, columns - 0.5], "domain": across, "anchor": f"y{axis}"}
    y = {"range": [rows - 0.5, -0.5], "domain": down, "anchor": f"x{axis}"}
    figure.update_layout(
        {
            f"xaxis{axis}": {
                **HIDDEN,
                **x,
                "title": {"text": names[0], "standoff": 4},
                "constrain": "domain",
            },
            f"yaxis{axis}": {
                **HIDDEN,
                **y,
                **square,
                "title": {"text": names[1] or average.matrix, "standoff": 4},
            },
        }
    )


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


def _outline(figure: go.Figure, average: Average, axis: str, color: str, *, radius: int) -> None:
    """Outline what is averaged, and circle the summed input that it is averaged for."""
    rows, columns = np.nonzero(average.lit)
    box = {
        "x0": columns.min() - 0.5,
        "x1": columns.max() + 0.5,
        "y0": rows.min() - 0.5,
        "y1": rows.max() + 0.5,
    }
    on: dict[str, Any] = {"xref": f"x{axis}", "yref": f"y{axis}"}
    figure.add_shape(type="rect", line={"color": color, "width": 3}, **box, **on)
    if average.mark is not None:
        n, h = average.mark
        figure.add_shape(
            type="circle",
            line={"color": color, "width": 2},
            xsizemode="pixel",
            ysizemode="pixel",
            xanchor=h,
            yanchor=n,
            x0=-radius,
            x1=radius,
            y0=-radius,
            y1=radius,
            **on,
        )
