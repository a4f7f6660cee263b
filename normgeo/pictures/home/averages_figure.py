"""What each method averages: lit in the grids of real data, and worked by hand in integers."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from normgeo.base.arrays import Array
from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.normalizers.averages import Average, Worked
from normgeo.pictures.home.averages import Averages
from normgeo.pictures.style.annotations import note
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.template import SIZE, THEMES, dress, ink_scale

FINE = 30
"""So many columns leave no room for gaps between them."""

AXES = {"A": ("neurons h", "cases n"), "W": ("features d", "neurons h")}


def figure(result: Averages, theme: str) -> go.Figure:
    """Draw a column for each method: real data above, integers and their arithmetic below."""
    look = THEMES[theme]
    drawn = make_subplots(
        rows=2,
        cols=len(result.real),
        row_heights=[0.53, 0.47],
        vertical_spacing=0.17,
        horizontal_spacing=0.09,
    )
    dress(drawn, theme, height=470)
    drawn.update_layout(showlegend=False, margin={"l": 28, "r": 8, "t": 52, "b": 84})
    for column, (key, average) in enumerate(result.real.items(), start=1):
        color, example = method_color(average.normalizer), result.example[key]
        _draw_real(drawn, average, column, theme)
        _draw_integers(drawn, example, column, theme)
        for row, grid in ((1, average), (2, example)):
            _frame(drawn, grid, row, column, color)
        middle = sum(drawn.layout[f"xaxis{column}" if column > 1 else "xaxis"].domain) / 2
        centered: dict[str, Any] = {"xanchor": "center", "align": "center"}
        title = [f"<b>{average.normalizer.title}</b>", example.rule]
        font = {"size": SIZE - 1, "color": look.ink}
        drawn.add_annotation(note(title, middle, yshift=6, font=font, **centered))
        lines, font = _arithmetic(result.numbers[key]), {"size": SIZE, "color": look.ink}
        drawn.add_annotation(
            note(lines, middle, 0, yanchor="top", yshift=-8, font=font, **centered)
        )
    return drawn


def _draw_real(figure: go.Figure, average: Average, column: int, theme: str) -> None:
    """Draw the real matrix, faded but for what is averaged."""
    across, down = (text(words) for words in AXES[average.matrix])
    reach = float(np.abs(average.values).max()) or 1.0
    gap = 1 if average.values.shape[1] < FINE else 0
    rounded = np.round(average.values.astype(float), 3)
    for values, opacity in ((rounded, 0.22), (np.where(average.lit, rounded, np.nan), 1.0)):
        figure.add_heatmap(
            z=values,
            zmin=-reach,
            zmax=reach,
            colorscale=ink_scale(theme),
            showscale=False,
            opacity=opacity,
            xgap=gap,
            ygap=1,
            row=1,
            col=column,
            hoverongaps=False,
            hovertemplate=f"{down} %{{y}}, {across} %{{x}}: %{{z}}<extra></extra>",
        )
    figure.update_xaxes(
        title={"text": across, "standoff": 4},
        showticklabels=False,
        ticks="",
        showline=False,
        showgrid=False,
        zeroline=False,
        row=1,
        col=column,
    )
    figure.update_yaxes(
        title={"text": down, "standoff": 4},
        showticklabels=False,
        ticks="",
        showline=False,
        showgrid=False,
        autorange="reversed",
        zeroline=False,
        row=1,
        col=column,
    )


def _draw_integers(figure: go.Figure, average: Average, column: int, theme: str) -> None:
    look = THEMES[theme]
    figure.add_heatmap(
        z=average.lit.astype(float),
        zmin=0,
        zmax=1,
        showscale=False,
        xgap=1,
        ygap=1,
        colorscale=[[0, look.panel], [1, method_color(average.normalizer)]],
        opacity=0.35,
        text=_whole(average.values),
        texttemplate="%{text}",
        hoverinfo="skip",
        textfont={"size": SIZE + 2, "color": look.ink},
        row=2,
        col=column,
    )
    hidden = {
        "showticklabels": False,
        "ticks": "",
        "showline": False,
        "showgrid": False,
        "zeroline": False,
        "constrain": "domain",
    }
    figure.update_xaxes(hidden, row=2, col=column)
    figure.update_yaxes(
        hidden,
        autorange="reversed",
        scaleanchor=f"x{3 + column}",
        title={"text": average.matrix, "standoff": 4},
        row=2,
        col=column,
    )


def _frame(figure: go.Figure, average: Average, row: int, column: int, color: str) -> None:
    """Outline what is averaged, and mark the summed input that it is averaged for."""
    rows, columns = np.nonzero(average.lit)
    box = {
        "x0": columns.min() - 0.5,
        "x1": columns.max() + 0.5,
        "y0": rows.min() - 0.5,
        "y1": rows.max() + 0.5,
    }
    figure.add_shape(type="rect", line={"color": color, "width": 3}, row=row, col=column, **box)
    if average.mark is not None:
        n, h = average.mark
        figure.add_scatter(
            x=[h],
            y=[n],
            mode="markers",
            hoverinfo="skip",
            row=row,
            col=column,
            marker={
                "symbol": "circle-open",
                "color": color,
                "size": 12 if row == 1 else 34,
                "line": {"width": 2},
            },
        )


def _arithmetic(worked: Worked) -> list[str]:
    """The three lines of Eq. 5: mean, scale, result."""
    mu, sigma, divisor = number(worked.mu), number(worked.sigma), round(worked.divisor)
    summands = " + ".join(map(number, worked.mean_of))
    if worked.mean_of.size:
        mean = f"μ = ({summands})/{worked.mean_of.size} = {mu}"
    elif worked.mu == 0:
        mean = text("no mean is taken off: μ = {mu}", mu=mu)
    else:
        mean = f"μ = {mu}"
    if worked.of_weights and np.array_equal(worked.deviations, worked.deviations.round()):
        squares = " + ".join(f"{number(abs(entry))}²" for entry in worked.deviations)
        scale, root = f"σ = ‖w‖ = √({squares}) = {sigma}", sigma
    else:
        squares = " + ".join(number(deviation**2, 2) for deviation in worked.deviations)
        share = f"({squares})/{divisor}" if divisor > 1 else squares
        scale, root = f"σ² = {share} = {number(worked.sigma**2)}", f"√{number(worked.sigma**2)}"
    above = f"({number(worked.a)} − {mu})" if worked.mu >= 0 else f"({number(worked.a)} + {mu[1:]})"
    return [mean, scale, f"z = {above}/{root} = <b>{number(worked.z)}</b>"]


def _whole(values: Array) -> list[list[str]]:
    return [[number(value) for value in row] for row in values]
