"""What the directions of W change, the null ones apart, beside what explains these."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from math import log10
from typing import Any, final

import plotly.graph_objects as go

from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.pictures.style.annotations import colored, note, wrapped
from normgeo.pictures.style.colors import blend, method_color
from normgeo.pictures.style.panels import NARROW, head, stacked
from normgeo.pictures.style.template import LEFT_MARGIN, SIZE, SMALL, THEMES, dress
from normgeo.pictures.style.values import values_axes, values_trace
from normgeo.pictures.symmetry.null_directions import NullDirections
from normgeo.symmetry.explanation import Explanation, Reason
from normgeo.symmetry.null_space import NullSpace

LEFT, RIGHT = (0.0, 0.56), (0.63, 1.0)
LABEL = 56  # characters in a line of a label
LINE = 21  # pixels of a line of words above a panel


@final
@dataclass(frozen=True)
class Bar:
    """The null directions that a reason explains and none before it does.

    Attributes:
        title: of the reason. count: of the directions. words: at the bar. hover: over it.

    """

    title: str
    count: int
    words: str
    hover: str


def figure(result: NullDirections, theme: str) -> go.Figure:
    """Draw all singular values, null ones apart, and a bar for each reason."""
    look, color = THEMES[theme], method_color(result.normalizer)
    values = result.null.singular_values
    seen, top = result.null.seen, float(values[0])
    last = seen + result.null.undecided
    drawn = go.Figure()
    for part, first, name, hue, null in (
        (values[:seen], 1, text("seen"), color, False),
        (values[seen:last], seen + 1, text("undecided"), look.muted, True),
        (values[last:], last + 1, text("null"), look.ink, True),
    ):
        if len(part):
            drawn.add_trace(values_trace(part, first, name, hue, top=top, null=null, claim=False))
    bars = _bars(result.explanation)
    drawn.add_bar(
        x=[bar.count for bar in bars],
        y=list(range(len(bars))),
        orientation="h",
        width=0.36,
        text=[bar.words for bar in bars],
        textposition="outside",
        marker={"color": [color] * (len(bars) - 1) + [look.muted] * bool(bars)},
        hovertext=[bar.hover for bar in bars],
        hovertemplate="%{hovertext}<extra></extra>",
        cliponaxis=False,
        xaxis="x2",
        yaxis="y2",
    )
    dress(drawn, theme, height=420)
    drawn.update_layout(
        values_axes(
            values,
            domain=LEFT,
            count=text("singular value, the largest first"),
            title=text("singular value"),
        ),
        showlegend=False,
        margin={"t": 84},
        xaxis2={
            "domain": RIGHT,
            "anchor": "y2",
            "visible": False,
            "range": [0, 1.6 * max([1, *(bar.count for bar in bars)])],
        },
        yaxis2={"anchor": "x2", "visible": False, "range": [max(3.6, len(bars) - 0.4), -0.75]},
    )
    level = _mark(drawn, result.null, theme)
    titles = [_bar_title(i, bar.title) for i, bar in enumerate(bars)]
    silence = _silence(result, look.muted)
    left, right = _heads(result, look.muted)
    drawn.update_layout(
        annotations=[
            note(left, LEFT[0], yshift=8),
            note(right, RIGHT[0], yshift=8),
            *titles,
            *silence,
            _threshold(result.null, level, look.muted),
        ],
        meta={"narrow": _narrow(result, level, [*titles, *silence], look.muted)},
    )
    return drawn


def _narrow(
    result: NullDirections, level: float, beside_bars: list[dict[str, Any]], muted: str
) -> dict[str, Any]:
    """Return the layout of a narrow figure: the bars below the values."""
    left, right = _heads(result, muted, narrow=True)
    # Two lines have no room between the level and the foot, nor above it where all is null.
    side = "bottom" if result.null.seen else "top"
    top, between = 16 + LINE * len(left), 72 + LINE * len(right)
    return stacked([[1], [2]], each=280, between=between, top=top, bottom=16, left=LEFT_MARGIN) | {
        "annotations": [
            head(1, left),
            head(2, right),
            *beside_bars,
            _threshold(result.null, level, muted, narrow=True) | {"yanchor": side},
        ]
    }


def _bars(explanation: Explanation | None) -> list[Bar]:
    """Return the bars; the last for what has no reason."""
    if explanation is None or not explanation.null.dimension:
        return []
    bars = [_bar(reason) for reason in explanation.reasons if reason.added]
    left = explanation.unexplained
    hover = text("null directions that no known reason explains")
    return [*bars, Bar(text("no known reason"), left, f"<b>{left}</b>", hover)]


def _bar(reason: Reason) -> Bar:
    words = f"<b>{reason.added}</b>"
    if reason.overlap:
        words = text("{count} new of {held}", count=words, held=reason.held)
    lines = textwrap.wrap(str(reason.sentence), LABEL)
    if reason.angle is not None:
        angle = text(
            "{span} independent tangents, at most {angle} rad from the null space (largest "
            "principal angle)",
            span=reason.span,
            angle=number(reason.angle, 2),
        )
        lines += textwrap.wrap(str(angle), LABEL)
    return Bar(str(reason.title), reason.added, words, "<br>".join(lines))


def _mark(drawn: go.Figure, null: NullSpace, theme: str) -> float:
    """Draw what is rounding, what is undecided, and the region of the null directions.

    Returns: the place of the level of rounding on its axis.
    """
    look = THEMES[theme]
    values, k = null.singular_values, null.dimension
    others = len(values) - k
    if k:
        drawn.add_shape(
            type="rect",
            x0=others + 0.5,
            x1=1.01 * len(values) + 1,
            yref="y domain",
            y0=0,
            y1=1,
            fillcolor=blend(look.paper, look.ink, 0.08),
            line={"width": 0},
            layer="below",
        )
    low, high = drawn.layout.yaxis.range
    at = log10(null.rounding)
    drawn.update_layout(yaxis_range=[min(low, at - 1.5), max(high, at + 0.5)])
    for level in (null.rounding, null.tolerance)[: 1 if null.clear else 2]:
        drawn.add_shape(
            type="line",
            xref="x domain",
            x0=0,
            x1=1,
            y0=level,
            y1=level,
            line={"color": look.muted, "width": 1},
        )
    return at


def _threshold(null: NullSpace, at: float, muted: str, *, narrow: bool = False) -> dict[str, Any]:
    """Say what singular values are compared with, at the level of rounding."""
    words = [
        text(
            "null up to {rounding}, as small as rounding errors",
            rounding=number(null.rounding, 2),
        )
    ]
    if not null.clear:
        words.append(
            text("undecided in float64 up to {tolerance}", tolerance=number(null.tolerance, 2))
        )
    return note(
        _lines(words, narrow),
        0.02,
        at,
        xref="x domain",
        yref="y",
        yanchor="top",
        font={"color": muted, "size": SMALL},
    )


def _heads(
    result: NullDirections, muted: str, *, narrow: bool = False
) -> tuple[list[str], list[str]]:
    """Return the words above the values and above the bars, in lines."""
    null, k = result.null, result.null.dimension
    about = _lines([result.caption, str(null.which)], narrow)
    counted = text("each counted once, under the first reason that explains it")
    left = [
        text("<b>{method}</b>: what each direction of W changes", method=result.normalizer.title),
    ]
    right = [
        text("<b>{k} of {all} directions are null</b>", k=k, all=len(null.singular_values)),
        *(
            []
            if null.clear
            else [text("<b>{count} cannot be decided in float64</b>", count=null.undecided)]
        ),
        result.formula,
    ]
    return (
        [*_lines(left, narrow), *(colored(line, muted) for line in about)],
        [*_lines(right, narrow), *(colored(line, muted) for line in _lines([counted], narrow))],
    )


def _lines(sentences: Sequence[str], narrow: bool) -> list[str]:
    """Return sentences as lines, of which a narrow figure has room for parts."""
    return [line for words in sentences for line in (wrapped(words, NARROW) if narrow else [words])]


def _bar_title(i: int, title: str) -> dict[str, Any]:
    return note(title, 0, i - 0.22, xref="x2", yref="y2")


def _silence(result: NullDirections, muted: str) -> list[dict[str, Any]]:
    """Return what stands in place of the bars, where there are none."""
    if not result.null.dimension:
        words = text("Every direction changes the model:<br>there is nothing to explain.")
    elif result.explanation is None:
        words = text("Stopped before the null directions<br>were explained.")
    else:
        return []
    return [note(words, RIGHT[0], 0.9, yanchor="top", font={"size": SIZE, "color": muted})]
