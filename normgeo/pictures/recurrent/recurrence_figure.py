"""A recurrent state over time and its memory, with and without layer norm, by spectral radius."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.normalizers.normalizer import NORMALIZERS
from normgeo.pictures.style.template import (
    LEGEND_ABOVE,
    MEASURED,
    PREDICTED,
    SIZE,
    THEMES,
    add_slider,
    dress,
    method_color,
)

LEFT, RIGHT = (0.0, 0.45), (0.55, 1.0)
UPPER, LOWER = (0.56, 1.0), (0.0, 0.44)
NAMES = {"standard": "without normalization", "layer": "with layer norm"}


class Curves(NamedTuple):
    """A run of T steps at some times.

    Attributes:
        times: t, (K,), from 0 to T. summed_inputs: rms of a^t for t > 0, (K−1,).
        hidden: rms of h^t, (K,). log10_norms: of ∂h^T/∂h^t, (K,), −∞ for a norm of 0.

    """

    times: Array
    summed_inputs: Array
    hidden: Array
    log10_norms: Array


def recurrence_figure(
    curves: Mapping[float, Mapping[str, Curves]],
    *,
    start: float,
    rows: int,
    about: str,
    theme: str,
) -> go.Figure:
    """Draw rms of a^t and of h^t at the left, the norm of ∂h^T/∂h^t at the right.

    Args:
        curves: by radius (a frame each), then by method. start: the radius at which it opens.
        rows: steps of one sequence, after which it is read again. about: what runs.
        theme: of the figure.

    """
    look = THEMES[theme]
    radii = list(curves)
    opening = radii.index(start)
    traces = _traces(curves[start], start, look.ink)
    figure = go.Figure(traces)
    dress(figure, theme, height=490)
    for trace in figure.data[: len(NAMES)]:
        trace.showlegend = True
    figure.data[-1].showlegend = True
    _axes(figure, curves)
    figure.update_layout(
        margin={"l": 8, "r": 8, "t": 72, "b": 40},
        legend=LEGEND_ABOVE,
        annotations=_captions(curves[start], start, about, theme),
        shapes=[_first_rows(number, rows, look.panel) for number in ("", "2", "3")],
    )
    frames = [
        go.Frame(
            name=f"{radius:g}",
            data=_traces(methods, radius, look.ink),
            traces=list(range(len(traces))),
            layout={"annotations": _captions(methods, radius, about, theme)},
        )
        for radius, methods in curves.items()
    ]
    prefix = text("spectral radius of W<sub>hh</sub>: ρ = ")
    add_slider(figure, frames, start=opening, prefix=prefix, theme=theme)
    figure.update_layout({"sliders[0].pad": {"t": 46, "b": 0}})
    return figure


def _traces(methods: Mapping[str, Curves], radius: float, ink: str) -> list[go.Scatter]:
    """Return all lines of a frame: a, h and memory of each method, and the prediction."""
    lines = []
    for panel in (1, 2, 3):
        for key, curves in methods.items():
            times = curves.times[1:] if panel == 1 else curves.times
            values = (curves.summed_inputs, curves.hidden, curves.log10_norms)[panel - 1]
            lines.append(_line(times, values, panel, text(NAMES[key]), key))
    times = next(iter(methods.values())).times
    lines.append(
        go.Scatter(
            x=times[[0, -1]],
            y=np.array([times[-1] - times[0], 0]) * np.log10(radius),
            name=text("predicted for f(s) = s: ρ<sup>T−t</sup>"),
            mode="lines",
            xaxis="x3",
            yaxis="y3",
            line={"color": ink, "width": 2, "dash": PREDICTED},
            showlegend=False,
            hoverinfo="skip",
        )
    )
    return lines


def _line(times: Array, values: Array, panel: int, name: str, key: str) -> go.Scatter:
    unit = "10^%{y:.3g}" if panel == 3 else "%{y:.3g}"
    shown = np.where(np.isfinite(values), values, np.nan)
    return go.Scatter(
        x=times,
        y=np.array([float(f"{value:.4g}") for value in shown]),
        name=name,
        mode="lines",
        legendgroup=key,
        xaxis=f"x{panel}",
        yaxis=f"y{panel}",
        showlegend=False,
        line={"color": method_color(NORMALIZERS[key]), "width": 4, "dash": MEASURED},
        hovertemplate=text(
            "{name}, t = {t}: {value}<extra></extra>", name=name, t="%{x}", value=unit
        ),
    )


def _first_rows(number: str, rows: int, shade: str) -> dict[str, Any]:
    """Return the band of the first reading of a sequence."""
    return {
        "type": "rect",
        "xref": f"x{number}",
        "yref": f"y{number} domain",
        "x0": 0,
        "x1": rows,
        "y0": 0,
        "y1": 1,
        "fillcolor": shade,
        "line": {"width": 0},
        "layer": "below",
    }


def _axes(figure: go.Figure, curves: Mapping[float, Mapping[str, Curves]]) -> None:
    every = [each for methods in curves.values() for each in methods.values()]
    last = int(every[0].times[-1])
    across = {"range": [0, last], "dtick": _tick(last)}
    figure.update_layout(
        xaxis={**across, "domain": LEFT, "anchor": "y", "showticklabels": False},
        xaxis2={**across, "domain": LEFT, "anchor": "y2", "title": text("step t")},
        xaxis3={**across, "domain": RIGHT, "anchor": "y3", "title": text("step t")},
        yaxis=_log_axis(np.concatenate([each.summed_inputs for each in every]), UPPER, "x"),
        yaxis2=_log_axis(np.concatenate([each.hidden for each in every]), LOWER, "x2"),
    )
    logs = np.concatenate(
        [each.log10_norms for each in every]
        + [last * np.log10([min(curves), max(curves)]), np.zeros(1)]
    )
    logs = logs[np.isfinite(logs)]
    room = 0.06 * max(float(np.ptp(logs)), 1.0)
    figure.update_layout(
        yaxis3={
            "domain": (0, 1),
            "anchor": "x3",
            "range": [logs.min() - room, logs.max() + room],
            "tickprefix": "10<sup>",
            "ticksuffix": "</sup>",
            "zeroline": True,
            "nticks": 9,
            "title": text("norm of ∂h<sup>T</sup>/∂h<sup>t</sup>"),
        },
    )


def _tick(last: int) -> int:
    return 1 if last <= 16 else 4 if last <= 32 else 8 if last <= 96 else 16 if last <= 160 else 32


def _log_axis(values: Array, domain: tuple[float, float], anchor: str) -> dict[str, Any]:
    seen = values[np.isfinite(values) & (values > 0)]
    low, high = np.log10([seen.min(), seen.max()]) if len(seen) else (-1.0, 1.0)
    low, high = min(low, -0.7), max(high, 0.5)
    room = 0.08 * (high - low)
    axis = {"type": "log", "domain": domain, "anchor": anchor, "range": [low - room, high + room]}
    if high - low < 2:
        ticks = [d * 10.0**k for k in range(-3, 4) for d in (1, 2, 5)]
        return {**axis, "tickvals": ticks, "ticktext": [f"{tick:g}" for tick in ticks]}
    step = next(step for step in (1, 2, 5, 10, 20, 50, 100) if 6 * step >= high - low)
    powers = step * np.arange(int(low / step) - 1, int(high / step) + 2)
    words = [f"10<sup>{k}</sup>".replace("-", "−") for k in powers]
    return {**axis, "tickvals": 10.0**powers, "ticktext": words}


def _captions(
    methods: Mapping[str, Curves], radius: float, about: str, theme: str
) -> list[dict[str, Any]]:
    """Return what each panel shows, with the numbers of this frame."""
    look = THEMES[theme]
    muted = {"color": look.muted, "size": SIZE - 1}
    standard, layer = methods["standard"], methods["layer"]

    def ends(values: str) -> str:
        return text(
            "at T: {standard}, with layer norm {layer}",
            standard=_number(getattr(standard, values)[-1]),
            layer=_number(getattr(layer, values)[-1]),
        )

    memory = text(
        "<b>memory:</b> ‖∂h<sup>T</sup>/∂h<sup>0</sup>‖ = {standard}, with layer norm {layer}",
        standard=_power(standard.log10_norms[0]),
        layer=_power(layer.log10_norms[0]),
    )
    verdict = text(_verdict(float(standard.log10_norms[0]), float(layer.log10_norms[0])))
    return [
        _words(about, LEFT[0], 1, yshift=46, font=muted),
        _words(
            text("<b>summed inputs</b>, rms of a<sup>t</sup>; ") + ends("summed_inputs"),
            LEFT[0],
            1,
            yshift=3,
        ),
        _words(
            text("<b>state</b>, rms of h<sup>t</sup>; ") + ends("hidden"),
            LEFT[0],
            LOWER[1],
            yshift=3,
        ),
        _words(f"{memory}<br>{verdict}", RIGHT[0], 1, yshift=3),
        _words(text("first reading"), 0, 0.98, xref="x", yref="y domain", xshift=2, font=muted)
        | {"yanchor": "top"},
    ]


def _verdict(standard: float, layer: float) -> str:
    """Return in words what happens to a small change of the first state."""
    without, within = _fate(standard), _fate(layer)
    if without == within:
        return f"a change of h<sup>0</sup> {without}, with and without layer norm"
    return f"a change of h<sup>0</sup> {without}; with layer norm it {within}"


def _fate(log: float) -> str:
    """Return what becomes of a change that grows by so many decades."""
    if log == -np.inf:
        return "is lost"
    if abs(log) <= 2:
        return "stays"
    return "explodes" if log > 0 else "dies"


def _number(value: float) -> str:
    mantissa, e, exponent = f"{value:.2g}".partition("e")
    return f"{mantissa} · 10<sup>{int(exponent)}</sup>".replace("-", "−") if e else mantissa


def _power(log: float) -> str:
    return "0" if log == -np.inf else f"10<sup>{log:.1f}</sup>".replace("-", "−")


def _words(words: str, x: float, y: float, **style: Any) -> dict[str, Any]:
    return {
        "text": words,
        "x": x,
        "y": y,
        "xref": "paper",
        "yref": "paper",
        "xanchor": "left",
        "yanchor": "bottom",
        "align": "left",
        **style,
    }
