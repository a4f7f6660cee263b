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
from normgeo.null_directions.explanation import Explanation, Reason
from normgeo.null_directions.null_space import NullSpace
from normgeo.pictures.style.annotations import colored, note
from normgeo.pictures.style.colors import blend, method_color
from normgeo.pictures.style.sheet import Panel, Sheet, across, stretch
from normgeo.pictures.style.template import SIZE, SMALL, THEMES
from normgeo.pictures.style.values import values_axes, values_trace
from normgeo.pictures.symmetry.null_directions import NullDirections

THICK, MOST = 0.36, 4  # of a row, a bar; with fewer rows than so many, rows are higher
LABEL = 56  # characters in a line of a label


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
    look, color = THEMES[theme], method_color(result.normalizer, theme)
    values = result.null.singular_values
    seen, top = result.null.seen, float(values[0])
    last = seen + result.null.undecided
    traces: list[Any] = [
        values_trace(part, first, name, hue, top=top, null=null, claim=False)
        for part, first, name, hue, null in (
            (values[:seen], 1, text("seen"), color, False),
            (values[seen:last], seen + 1, text("undecided"), look.muted, True),
            (values[last:], last + 1, text("null"), look.ink, True),
        )
        if len(part)
    ]
    bars = _bars(result.explanation)
    rows = max(len(bars), 1)
    thick = THICK * min(1, (rows + 0.35) / (MOST + 0.35))
    drawn = go.Bar(
        x=[bar.count for bar in bars],
        y=list(range(len(bars))),
        orientation="h",
        width=thick,
        text=[bar.words for bar in bars],
        textposition="outside",
        marker={"color": [color] * (len(bars) - 1) + [look.muted] * bool(bars)},
        hovertext=[bar.hover for bar in bars],
        hovertemplate="%{hovertext}<extra></extra>",
        cliponaxis=False,
        xaxis="x2",
        yaxis="y2",
    )
    left, right = _heads(result, look.muted)
    titles = [
        note(bar.title, 0, i - thick / 2 - 0.04, xref="x", yref="y") for i, bar in enumerate(bars)
    ]
    reasons = Panel(
        {"visible": False, "range": [0, 1.6 * max([1, *(bar.count for bar in bars)])]},
        {"visible": False, "range": [rows - 0.4, -0.75]},
        right,
        [*titles, *_silence(result, look.muted)],
        high=(284, 70 * max(rows, 2)),
    )
    sheet = Sheet([], rows=[[_values(result.null, left, theme), reasons]], legend=False)
    return sheet.on([*traces, drawn], theme)


def _values(null: NullSpace, head: Sequence[str], theme: str) -> Panel:
    """The singular values with what is rounding, what is undecided, and the null directions."""
    look, values, k = THEMES[theme], null.singular_values, null.dimension
    x, y = values_axes(
        values, count=text("singular value, the largest first"), title=text("singular value")
    )
    at = log10(null.rounding)
    y["range"] = [min(y["range"][0], at - 1.5), max(y["range"][1], at + 0.5)]
    line = {"color": look.muted, "width": 1}
    levels = (null.rounding, null.tolerance)[: 1 if null.clear else 2]
    shapes = [across(level, line) for level in levels]
    if k:
        ends = len(values) - k + 0.5, 1.01 * len(values) + 1
        shapes.append(stretch(*ends, blend(look.paper, look.ink, 0.08)))
    threshold = _threshold(null, at, look.muted)
    return Panel(x, y, head, [threshold], shapes, high=(284, 280), share=1.5)


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


def _threshold(null: NullSpace, at: float, muted: str) -> dict[str, Any]:
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
    font = {"color": muted, "size": SMALL}
    # Two lines have no room between the level and the foot, nor above it where all is null.
    side = "bottom" if null.seen else "top"
    return note(words, 0.02, at, yref="y", yanchor=side, font=font)


def _heads(result: NullDirections, muted: str) -> tuple[list[str], list[str]]:
    """Return the sentences above the values and above the bars."""
    null, k = result.null, result.null.dimension
    counted = text("each counted once, under the first reason that explains it")
    undecided = text("<b>{count} cannot be decided in float64</b>", count=null.undecided)
    left = [
        text("<b>{method}</b>: what each direction of W changes", method=result.normalizer.title),
        colored(result.caption, muted),
        colored(str(null.which), muted),
    ]
    right = [
        text("<b>{k} of {all} directions are null</b>", k=k, all=len(null.singular_values)),
        *([] if null.clear else [undecided]),
        result.formula,
        colored(counted, muted),
    ]
    return left, right


def _silence(result: NullDirections, muted: str) -> list[dict[str, Any]]:
    """Return what stands in place of the bars, where there are none."""
    if not result.null.dimension:
        words = text("Every direction changes the model:<br>there is nothing to explain.")
    elif result.explanation is None:
        words = text("Stopped before the null directions<br>were explained.")
    else:
        return []
    return [note(words, 0, 0.9, yanchor="top", font={"size": SIZE, "color": muted})]
