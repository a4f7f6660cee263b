"""The metric along the gains against the scale of the inputs, exact and as printed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.pictures.captions import listed
from normgeo.pictures.fisher.magnitude import DELTAS, Magnitude, MethodMetric
from normgeo.pictures.style.annotations import colored, method_title, note, wrapped
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.panels import NARROW, head, lines_of, stacked
from normgeo.pictures.style.template import CLAIM, MEASURED, SMALL, THEMES, dress, log_ticks

LEFT, RIGHT = (0.0, 0.56), (0.64, 1.0)
IN_A_LINE = (4, 2)  # titles of methods above the panel at the left, and at the right
NARROW_LINE = 2  # the same in a narrow figure
TOP, NARROW_TOP = 184, 408
LEGEND, NARROW_LEGEND = 78, 196  # pixels of the margin above
WIDEST, NARROWEST = 8.0, 2.0  # lines lie on each other: the first is the widest


def figure(result: Magnitude, theme: str) -> go.Figure:
    """Draw the trace of the metric, exact solid and as printed dotted, and the ratio of both."""
    look, drawn = THEMES[theme], go.Figure()
    widths = np.linspace(WIDEST, NARROWEST, len(result.methods))
    for each, width in zip(result.methods, widths, strict=True):
        drawn.add_traces(_lines(each, float(width)))
    drawn.add_scatter(
        x=[None],
        y=[None],
        mode="lines",
        name=text("as printed"),
        line={"color": look.muted, "width": 2, "dash": CLAIM},
    )
    dress(drawn, theme, height=448)
    drawn.update_layout(
        _axes(result.methods),
        margin={"t": TOP},
        legend={"x": 0, "y": 1, "yref": "container", "yanchor": "top", "font": {"size": SMALL}},
        annotations=_heads(result, look.muted, narrow=False),
        meta={
            "narrow": {
                **stacked([[1], [2]], each=280, between=180, top=NARROW_TOP),
                "annotations": _heads(result, look.muted, narrow=True),
            }
        },
    )
    return drawn


def _lines(method: MethodMetric, width: float) -> list[go.Scatter]:
    """Return the traces of the metric, exact and as printed, and the ratio of both."""
    color = method_color(method.normalizer)
    name = method.normalizer.title
    solid = {"color": color, "width": width, "dash": MEASURED}
    lines = [_line(method.deltas, method.total, name, 1, solid, in_legend=True)]
    if method.printed_total is not None and method.printed_over_exact is not None:
        words = text("{name}, as printed", name=name)
        dotted = {"color": color, "width": 2, "dash": CLAIM}
        lines.append(_line(method.deltas, method.printed_total, words, 1, dotted))
        dotted = {**dotted, "width": 3}
        lines.append(_line(method.deltas, method.printed_over_exact, words, 2, dotted))
    return lines


def _line(
    x: Array, y: Array, name: str, panel: int, line: dict[str, Any], in_legend: bool = False
) -> go.Scatter:
    return go.Scatter(
        x=x,
        y=np.where(y > 0, y, np.nan),
        mode="lines",
        name=name,
        showlegend=in_legend,
        line=line,
        xaxis=f"x{panel}",
        yaxis=f"y{panel}",
        hovertemplate=text(
            "{name}, δ = {delta}: {value}<extra></extra>",
            name=name,
            delta="%{x:.3g}",
            value="%{y:.4g}",
        ),
    )


def _axes(methods: Sequence[MethodMetric]) -> dict[str, Any]:
    x = log_ticks(float(DELTAS[0]), float(DELTAS[-1]))
    across = {
        "type": "log",
        "tickvals": x,
        "ticktext": [number(t) for t in x],
        "range": np.log10(DELTAS[[0, -1]]).tolist(),
        "title": text("scale of the inputs δ, X → δX"),
    }
    printed = [m.printed_total for m in methods if m.printed_total is not None]
    values = np.concatenate([np.zeros(0), *(m.total for m in methods), *printed])
    values = values[np.isfinite(values) & (values > 0)]
    low, high = (values.min() / 1.25, 1.25 * values.max()) if len(values) else (0.5, 2.0)
    y = log_ticks(float(low), float(high))
    ratios = [m.printed_over_exact for m in methods if m.printed_over_exact is not None]
    most = float(np.nanmax(np.concatenate([np.ones(1), *ratios])))
    return {
        "xaxis": {**across, "domain": LEFT},
        "yaxis": {
            "type": "log",
            "range": [np.log10(low), np.log10(high)],
            "tickvals": y,
            "ticktext": [number(t) for t in y],
            "title": text("trace of the metric along the gains"),
        },
        "xaxis2": {**across, "domain": RIGHT, "anchor": "y2"},
        "yaxis2": {
            "anchor": "x2",
            "range": [0, 1.25 * most],
            "title": text("as printed over exact: 1 is right"),
        },
    }


def _heads(result: Magnitude, muted: str, *, narrow: bool) -> list[dict[str, Any]]:
    most = (NARROW_LINE, NARROW_LINE) if narrow else IN_A_LINE
    still = [_title(each) for each in result.methods if not each.changes]
    wrong = [
        text("{method} × {factor}", method=_title(each), factor=number(each.off))
        for each in result.methods
        if each.off is not None and each.misprinted
    ]
    left = (
        text("{methods}: the same at every δ", methods=listed(_broken(still, most[0])))
        if still
        else text("every metric depends on the scale of the inputs")
    )
    right = (
        text("as printed, at δ = 1: {wrong}", wrong=listed(_broken(wrong, most[1])))
        if wrong
        else text("as printed is exact for all of them")
    )
    if narrow:
        left, right = (
            words.replace(": ", ":<br>") if ": " in words else "<br>".join(wrapped(words, NARROW))
            for words in (str(left), str(right))
        )
    about = lines_of((f"{result.caption}; {result.which}",), narrow)
    lines = [colored(line, muted, SMALL) for line in about]
    top = NARROW_TOP - NARROW_LEGEND if narrow else TOP - LEGEND
    return [head(1, [left]), head(2, [right]), note(lines, yanchor="top", yshift=top)]


def _title(method: MethodMetric) -> str:
    return method_title(method.normalizer)


def _broken(titles: Sequence[str], most: int) -> list[str]:
    """Return titles of which each after so many begins a new line."""
    return [f"<br>{t}" if i and not i % most else t for i, t in enumerate(titles)]
