"""The metric along the gains against the scale of the inputs, exact and as printed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.fisher.gain_metric import GainMetric
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.style.template import (
    CLAIM,
    MEASURED,
    SIZE,
    THEMES,
    above,
    colored,
    dress,
    log_ticks,
    method_color,
    method_title,
)

LEFT, RIGHT = (0.0, 0.56), (0.64, 1.0)


def magnitude_figure(
    methods: Sequence[tuple[Normalizer, str]],
    metrics: Sequence[GainMetric],
    *,
    about: str,
    which: str,
    theme: str,
) -> go.Figure:
    """Draw the trace of the metric, exact solid and as printed dotted, and the ratio of both.

    Args:
        methods: with what is unusual about each. metrics: theirs, on the same δ.
        about, which: of the models and their Fisher information. theme: of the figure.

    """
    look, figure = THEMES[theme], go.Figure()
    seen: list[Array] = []
    ratios: list[Array] = []
    for (normalizer, more), metric in zip(methods, metrics, strict=True):
        color, name = method_color(normalizer), f"{normalizer.title}{more}"
        seen.append(metric.total)
        # Weight norm's line lies on that of the standard model: the first one is drawn wider.
        width = 3 if figure.data else 7
        figure.add_trace(_line(metric.deltas, metric.total, name, color, MEASURED, width, 1, True))
        if metric.printed_total is not None:
            seen.append(metric.printed_total)
            words = text("{name}, as printed", name=name)
            figure.add_trace(_line(metric.deltas, metric.printed_total, words, color, CLAIM, 2, 1))
            with np.errstate(invalid="ignore", divide="ignore"):
                ratio = metric.printed_total / metric.total
            ratios.append(ratio)
            figure.add_trace(_line(metric.deltas, ratio, words, color, CLAIM, 3, 2))
    figure.add_scatter(
        x=[None],
        y=[None],
        mode="lines",
        name=text("as printed"),
        line={"color": look.muted, "width": 2, "dash": CLAIM},
    )
    dress(figure, theme, height=420)
    figure.update_layout(
        _axes(seen, ratios, metrics[0].deltas),
        margin={"l": 8, "r": 8, "t": 104, "b": 48},
        legend={"x": 0, "y": 1, "yref": "container", "yanchor": "top", "font": {"size": SIZE - 1}},
        annotations=_heads(methods, metrics, about, which, look.muted),
    )
    return figure


def _line(
    x: Array,
    y: Array,
    name: str,
    color: str,
    dash: str,
    width: float,
    panel: int,
    legend: bool = False,
) -> go.Scatter:
    return go.Scatter(
        x=x,
        y=np.where(y > 0, y, np.nan),
        mode="lines",
        name=name,
        showlegend=legend,
        line={"color": color, "dash": dash, "width": width},
        xaxis=f"x{panel}",
        yaxis=f"y{panel}",
        hovertemplate=text(
            "{name}, δ = {delta}: {value}<extra></extra>",
            name=name,
            delta="%{x:.3g}",
            value="%{y:.4g}",
        ),
    )


def _axes(seen: Sequence[Array], ratios: Sequence[Array], deltas: Array) -> dict[str, Any]:
    x = log_ticks(float(deltas[0]), float(deltas[-1]))
    across = {
        "type": "log",
        "tickvals": x,
        "ticktext": [f"{t:g}" for t in x],
        "range": np.log10(deltas[[0, -1]]).tolist(),
        "title": text("scale of the inputs δ, X → δX"),
    }
    values = np.concatenate(seen)
    values = values[np.isfinite(values) & (values > 0)]
    low, high = (values.min() / 1.25, 1.25 * values.max()) if len(values) else (0.5, 2.0)
    y = log_ticks(float(low), float(high))
    most = float(np.nanmax(np.concatenate([np.ones(1), *ratios])))
    return {
        "xaxis": {**across, "domain": LEFT},
        "yaxis": {
            "type": "log",
            "range": [np.log10(low), np.log10(high)],
            "tickvals": y,
            "ticktext": [_tick(t) for t in y],
            "title": text("trace of the metric along the gains"),
        },
        "xaxis2": {**across, "domain": RIGHT, "anchor": "y2"},
        "yaxis2": {
            "anchor": "x2",
            "range": [0, 1.25 * most],
            "title": text("as printed over exact"),
        },
    }


def _tick(value: float) -> str:
    power = round(np.log10(value))
    return f"{value:.3g}" if -4 < power < 5 else f"10<sup>{power}</sup>".replace("-", "−")


def _heads(
    methods: Sequence[tuple[Normalizer, str]],
    metrics: Sequence[GainMetric],
    about: str,
    which: str,
    muted: str,
) -> list[dict[str, Any]]:
    still = [
        method_title(*m) for m, found in zip(methods, metrics, strict=True) if not found.changes
    ]
    first = (
        text("{methods}: the same at every δ", methods=", ".join(still))
        if still
        else text("every metric depends on the scale of the inputs")
    )
    off = [
        (
            method_title(*m),
            float(
                found.printed_total[int(np.abs(found.deltas - 1).argmin())]
                / np.trace(found.unscaled)
            ),
        )
        for m, found in zip(methods, metrics, strict=True)
        if found.printed_total is not None
    ]
    wrong = [
        text("{method} × {factor:.3g}", method=name, factor=factor)
        for name, factor in off
        if abs(factor - 1) > 1e-6
    ]
    second = (
        text("as printed, at δ = 1: {wrong}", wrong=", ".join(wrong))
        if wrong
        else text("as printed is exact for all of them")
    )
    return [
        above(f"{first}<br>{colored(f'{about}; {which}', muted)}", LEFT[0], 8),
        above(f"{second}<br>{colored(text('1 where the appendix is exact'), muted)}", RIGHT[0], 8),
    ]
