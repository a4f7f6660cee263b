"""What each method averages: lit in the grids of real data, and worked by hand in integers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.normalizers.averages import Average, Worked
from normgeo.pictures.style.template import SIZE, THEMES, dress, ink_scale, method_color

WHAT = {
    "batch": "one neuron, over the cases",
    "layer": "one case, over the neurons",
    "weight": "one weight vector, over its features",
}
FINE = 30
"""So many columns leave no room for gaps between them."""

AXES = {"A": ("neurons h", "cases n"), "W": ("features d", "neurons h")}


def averages_figure(
    real: Mapping[str, Average],
    example: Mapping[str, Average],
    numbers: Mapping[str, Worked],
    theme: str,
) -> go.Figure:
    """Draw a column for each method: real data above, integers and their arithmetic below."""
    look = THEMES[theme]
    methods = len(real)
    figure = make_subplots(
        rows=2,
        cols=methods,
        row_heights=[0.53, 0.47],
        vertical_spacing=0.17,
        horizontal_spacing=0.09,
    )
    dress(figure, theme, height=470)
    figure.update_layout(showlegend=False, margin={"l": 28, "r": 8, "t": 52, "b": 84})
    for column, (key, average) in enumerate(real.items(), start=1):
        color = method_color(average.normalizer)
        _draw_real(figure, average, column, theme)
        _draw_integers(figure, example[key], column, theme)
        for row, grid in ((1, average), (2, example[key])):
            _frame(figure, grid, row, column, color)
        axis = figure.layout[f"xaxis{column}" if column > 1 else "xaxis"].domain
        title = f"<b>{average.normalizer.title}</b><br>{text(WHAT[average.normalizer.scale])}"
        figure.add_annotation(
            text=title,
            x=sum(axis) / 2,
            y=1,
            xref="paper",
            yref="paper",
            xanchor="center",
            yanchor="bottom",
            yshift=6,
            font={"size": SIZE - 1, "color": look.ink},
        )
        figure.add_annotation(
            text=_arithmetic(numbers[key]),
            x=sum(axis) / 2,
            y=0,
            xref="paper",
            yref="paper",
            xanchor="center",
            yanchor="top",
            yshift=-8,
            font={"size": SIZE, "color": look.ink},
        )
    return figure


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


def _arithmetic(numbers: Worked) -> str:
    """Return the three lines of Eq. 5: mean, scale, result."""
    entries, mu, count = numbers.averaged, numbers.mu, numbers.divisor
    if count == 1:
        center = text("no mean is taken off: μ = {mu}", mu=_number(mu))
        squares = " + ".join(f"{_number(entry)}²" for entry in entries)
        scale = f"σ = ‖w‖ = √({squares}) = {_number(numbers.sigma)}"
    else:
        center = f"μ = ({' + '.join(map(_number, entries))})/{count} = {_number(mu)}"
        squares = " + ".join(_number((entry - mu) ** 2) for entry in entries)
        scale = f"σ² = ({squares})/{count} = {_number(numbers.sigma**2)}"
    sigma = numbers.sigma
    root = _number(sigma) if count == 1 else f"√{_number(sigma**2)}"
    return (
        f"{center}<br>{scale}<br>"
        f"z = ({_number(numbers.a)} − {_number(mu)})/{root} = <b>{_number(numbers.z)}</b>"
    )


def _number(value: float) -> str:
    return f"{round(float(value), 2):g}".replace("-", "−")


def _whole(values: Array) -> list[list[str]]:
    return [[_number(value) for value in row] for row in values]
