"""Table 1 as a figure that is filled in, cell by cell."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

from normgeo.base.text import text
from normgeo.invariance.certificate import Verdict
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.home.table_1 import METHODS, Filled, why
from normgeo.pictures.style.annotations import note
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.player import add_slider
from normgeo.pictures.style.sheet import Panel, Sheet, answer, drawn, told
from normgeo.pictures.style.template import THEMES
from normgeo.tables import marks
from normgeo.tables.verdicts import sign_and_word

HIGH = 240, 190  # pixels
MARK = 26  # pixels


def figure(result: Filled, theme: str) -> go.Figure:
    """Draw the table; a frame has as many marks as its number says, the one that opens the first.

    It is to be filled: full, it would give the answers away.
    """
    counts = range(1, len(result.verdicts) + 1)
    every = range(len(counts))
    # A point that is not seen in each cell, with its words.
    columns = len(result.verdicts) // len(METHODS)
    cells = go.Scatter(
        x=[n % columns for n in every],
        y=[n // columns for n in every],
        mode="markers",
        marker={"size": 40, "opacity": 0},
        showlegend=False,
        hoverinfo="skip",
    )
    sheets = [_sheet(result, count, theme) for count in counts]
    whole, words = drawn(sheets, [cells], theme)
    add_slider(
        whole,
        [{"name": str(count), "layout": words[step]} for step, count in enumerate(counts)],
        start=0,
        prefix=text("cells: "),
        theme=theme,
    )
    return whole


def _sheet(result: Filled, count: int, theme: str) -> Sheet:
    """The table with its first cells filled, the last of them framed and told above."""
    look, last = THEMES[theme], result.verdicts[count - 1]
    columns = len(result.verdicts) // len(METHODS)
    changes = [one.transform for one in result.verdicts[:columns]]
    matrices = [change.matrix for change in changes]
    axis: dict[str, Any] = {"fixedrange": True, "showgrid": False, "zeroline": False, "ticks": ""}
    x = {
        "range": [-0.5, columns - 0.5],
        "tickvals": list(range(columns)),
        "ticktext": [change.operation.symbol for change in changes],
    }
    y = {
        "range": [len(METHODS) - 0.5, -0.5],
        "tickvals": list(range(len(METHODS))),
        "ticktext": [
            _name(result.verdicts[row * columns].normalizer, theme) for row in range(len(METHODS))
        ],
    }
    heads = [
        note(
            text("change {M}", M=matrix),
            matrices.index(matrix) + (matrices.count(matrix) - 1) / 2,
            1,
            xref="x",
            xanchor="center",
        )
        for matrix in dict.fromkeys(matrices)
    ]
    sign, word = sign_and_word(last)
    said = text(
        "{method}, {change}: {word}",
        method=text(last.normalizer.title),
        change=text(last.transform.label),
        word=text(word),
    )
    every = enumerate(result.verdicts)
    edge = matrices.index("X") - 0.5
    return Sheet(
        [
            answer(said, color=marks.color(sign, theme), sign=sign),
            told(theme, why(last)),
        ],
        rows=[
            [
                Panel(
                    axis | x,
                    axis | y,
                    notes=heads,
                    shapes=[
                        _line(edge, look.muted),
                        _frame(count - 1, columns, look.ink),
                        *(_mark(one, n, n < count, columns, theme) for n, one in every),
                    ],
                    high=HIGH,
                )
            ]
        ],
        legend=False,
    )


def _name(method: Normalizer, theme: str) -> str:
    """The title of a method in its color, as large as other labels."""
    return f'<span style="color:{method_color(method, theme)}"><b>{text(method.title)}</b></span>'


def _line(x: float, color: str) -> dict[str, Any]:
    """The line between changes of W and of X."""
    return {
        "type": "line",
        "x0": x,
        "x1": x,
        "y0": 0,
        "y1": 1,
        "yref": "paper",
        "line": {"color": color, "width": 1},
    }


def _frame(place: int, columns: int, color: str) -> dict[str, Any]:
    """A frame around a cell."""
    row, column = divmod(place, columns)
    return {
        "type": "rect",
        "x0": column - 0.45,
        "x1": column + 0.45,
        "y0": row - 0.45,
        "y1": row + 0.45,
        "line": {"color": color, "width": 2},
    }


def _mark(verdict: Verdict, n: int, filled: bool, columns: int, theme: str) -> dict[str, Any]:
    """The mark of a cell, which is not seen until the cell is filled."""
    row, column = divmod(n, columns)
    sign, _ = sign_and_word(verdict)
    place: dict[str, Any] = {
        "xref": "x",
        "yref": "y",
        "xanchor": column,
        "yanchor": row,
        "visible": filled,
    }
    return marks.shape(sign, theme, MARK, **place)
