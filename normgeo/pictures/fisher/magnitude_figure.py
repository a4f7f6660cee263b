"""The metric along the gains against the scale of the inputs, exact and as printed."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.pictures.captions import listed
from normgeo.pictures.fisher.magnitude import DELTAS, Magnitude, MethodMetric, observed
from normgeo.pictures.style.annotations import method_title
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.sheet import Band, Panel, Sheet, on_panel, told
from normgeo.pictures.style.template import CLAIM, MEASURED, THEMES, log_ticks

WIDEST, NARROWEST = 8.0, 2.0  # lines lie on each other: the first is the widest


def figure(result: Magnitude, theme: str) -> go.Figure:
    """Draw the trace of the metric, exact solid and as printed dotted, and the ratio of both."""
    widths = np.linspace(WIDEST, NARROWEST, len(result.methods))
    lines = [
        line
        for each, width in zip(result.methods, widths, strict=True)
        for line in _lines(each, float(width), theme)
    ]
    printed = go.Scatter(
        x=[None],
        y=[None],
        mode="lines",
        name=text("as printed"),
        line={"color": THEMES[theme].muted, "width": 2, "dash": CLAIM},
    )
    about = told(theme, f"{result.caption}; {result.which}")
    return Sheet([Band([observed(result)])], rows=[_panels(result, theme)], foot=[about]).on(
        [*lines, printed], theme
    )


def _lines(method: MethodMetric, width: float, theme: str) -> list[go.Scatter]:
    """Return the traces of the metric, exact and as printed, and the ratio of both."""
    color = method_color(method.normalizer, theme)
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
        **on_panel(panel),
        hovertemplate=text(
            "{name}, δ = {delta}: {value}<extra></extra>",
            name=name,
            delta="%{x:.3g}",
            value="%{y:.4g}",
        ),
    )


def _panels(result: Magnitude, theme: str) -> list[Panel]:
    methods, heads = result.methods, _heads(result, theme)
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
    metric = {
        "type": "log",
        "range": [np.log10(low), np.log10(high)],
        "tickvals": y,
        "ticktext": [number(t) for t in y],
        "title": text("trace of the metric along the gains"),
    }
    ratio = {"range": [0, 1.25 * most], "title": text("as printed over exact: 1 is right")}
    return [
        Panel(across, metric, heads[:1], high=(212, 280), share=1.5),
        Panel(across, ratio, heads[1:], high=(212, 280)),
    ]


def _heads(result: Magnitude, theme: str) -> list[str]:
    still = [_title(each, theme) for each in result.methods if not each.changes]
    wrong = [
        text("{method} × {factor}", method=_title(each, theme), factor=number(each.off))
        for each in result.methods
        if each.off is not None and each.misprinted
    ]
    return [
        text("{methods}: the same at every δ", methods=listed(still))
        if still
        else text("every metric depends on the scale of the inputs"),
        text("as printed, at δ = 1: {wrong}", wrong=listed(wrong))
        if wrong
        else text("as printed is exact for all of them"),
    ]


def _title(method: MethodMetric, theme: str) -> str:
    return method_title(method.normalizer, theme)
