"""A recurrent state over time and its memory, with and without normalization, by radius."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.numbers import number, power_of_ten
from normgeo.base.text import text
from normgeo.pictures.recurrent.recurrence import Curves, Recurrences
from normgeo.pictures.recurrent.recurrences import COMPARED
from normgeo.pictures.style.annotations import note
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.template import (
    LEGEND_ABOVE,
    MEASURED,
    PREDICTED,
    SIZE,
    THEMES,
    add_slider,
    dress,
)

LEFT, RIGHT = (0.0, 0.45), (0.55, 1.0)
UPPER, LOWER = (0.56, 1.0), (0.0, 0.44)
STAYS = 2.0  # decades by which a change may grow or shrink and still be said to stay


def figure(result: Recurrences, theme: str) -> go.Figure:
    """Draw rms of a^t and of h^t at the left, the norm of ∂h^T/∂h^t at the right."""
    look = THEMES[theme]
    traces = _traces(result, result.start, look.ink)
    drawn = go.Figure(traces)
    dress(drawn, theme, height=490)
    for trace in drawn.data[: len(result.methods)]:
        trace.showlegend = True
    drawn.data[-1].showlegend = True
    _axes(drawn, result.curves)
    drawn.update_layout(
        margin={"l": 8, "r": 8, "t": 72, "b": 40},
        legend=LEGEND_ABOVE | _font(len(result.methods), SIZE - 1),
        annotations=_captions(result, result.start, theme),
        shapes=[_first_rows(axis, result.rows, look.panel) for axis in ("", "2", "3")],
    )
    frames = [
        go.Frame(
            name=f"{radius:g}",
            data=_traces(result, radius, look.ink),
            traces=list(range(len(traces))),
            layout={"annotations": _captions(result, radius, theme)},
        )
        for radius in result.curves
    ]
    opening = list(result.curves).index(result.start)
    prefix = text("spectral radius of W<sub>hh</sub>: ρ = ")
    add_slider(drawn, frames, start=opening, prefix=prefix, theme=theme)
    drawn.update_layout({"sliders[0].pad": {"t": 46, "b": 0}})
    return drawn


def _font(methods: int, size: int) -> dict[str, dict[str, int]]:
    """The font of words that name the methods: smaller where there are more than usual."""
    return {"font": {"size": size if methods == len(COMPARED) else size - 2}}


def _traces(result: Recurrences, radius: float, ink: str) -> list[go.Scatter]:
    """All lines of a frame: a, h and memory of each method, and the prediction."""
    lines = []
    for panel in (1, 2, 3):
        for key, curves in result.curves[radius].items():
            times = curves.times[1:] if panel == 1 else curves.times
            values = (curves.summed_inputs, curves.hidden, curves.log10_norms)[panel - 1]
            line = _line(times, values, panel, result.names[key])
            line.update(legendgroup=key, line_color=method_color(result.methods[key]))
            lines.append(line)
    times = next(iter(result.curves[radius].values())).times
    lines.append(
        go.Scatter(
            x=times[[0, -1]],
            y=np.array([times[-1] - times[0], 0]) * np.log10(radius),
            name=text("f(s) = s without norm, for large T − t: ρ<sup>T−t</sup>"),
            mode="lines",
            xaxis="x3",
            yaxis="y3",
            line={"color": ink, "width": 2, "dash": PREDICTED},
            showlegend=False,
            hoverinfo="skip",
        )
    )
    return lines


def _line(times: Array, values: Array, panel: int, name: str) -> go.Scatter:
    unit = "10^%{y:.3g}" if panel == 3 else "%{y:.3g}"
    shown = np.where(np.isfinite(values), values, np.nan)
    return go.Scatter(
        x=times,
        y=np.array([float(f"{value:.4g}") for value in shown]),
        name=name,
        mode="lines",
        xaxis=f"x{panel}",
        yaxis=f"y{panel}",
        showlegend=False,
        line={"width": 4, "dash": MEASURED},
        hovertemplate=text(
            "{name}, t = {t}: {value}<extra></extra>", name=name, t="%{x}", value=unit
        ),
    )


def _first_rows(number: str, rows: int, shade: str) -> dict[str, Any]:
    """The band where a sequence is read for the first time."""
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
    known = values[np.isfinite(values) & (values > 0)]
    low, high = np.log10([known.min(), known.max()]) if len(known) else (-1.0, 1.0)
    low, high = min(low, -0.7), max(high, 0.5)
    room = 0.08 * (high - low)
    axis = {"type": "log", "domain": domain, "anchor": anchor, "range": [low - room, high + room]}
    if high - low < 2:
        ticks = [d * 10.0**k for k in range(-3, 4) for d in (1, 2, 5)]
        return {**axis, "tickvals": ticks, "ticktext": [number(tick) for tick in ticks]}
    step = next(step for step in (1, 2, 5, 10, 20, 50, 100) if 6 * step >= high - low)
    powers = step * np.arange(int(low / step) - 1, int(high / step) + 2)
    words = [f"10<sup>{k}</sup>".replace("-", "−") for k in powers]
    return {**axis, "tickvals": 10.0**powers, "ticktext": words}


def _captions(result: Recurrences, radius: float, theme: str) -> list[dict[str, Any]]:
    """What each panel shows, with the numbers of this frame."""
    look, methods = THEMES[theme], result.curves[radius]
    muted = {"color": look.muted, "size": SIZE - 1}
    font = _font(len(methods), SIZE)["font"]
    plain, *others = result.methods

    def beside(numbers: Mapping[str, str]) -> str:
        """The number without normalization, then those of the methods with their names."""
        return ", ".join(
            [numbers[plain], *(f"{result.names[key]} {numbers[key]}" for key in others)]
        )

    summed = beside({key: number(curves.summed_inputs[-1], 2) for key, curves in methods.items()})
    hidden = beside({key: number(curves.hidden[-1], 2) for key, curves in methods.items()})
    norms = {key: float(curves.log10_norms[0]) for key, curves in methods.items()}
    memory = [
        text(
            "<b>memory:</b> ‖∂h<sup>T</sup>/∂h<sup>0</sup>‖ = {numbers}",
            numbers=beside({key: power_of_ten(log, 2) for key, log in norms.items()}),
        ),
        _verdict([norms[key] for key in result.methods], [result.names[key] for key in others]),
    ]
    return [
        note(result.about, LEFT[0], yshift=46, font=muted),
        note(
            text("<b>summed inputs</b>, rms of a<sup>t</sup>; at T: {numbers}", numbers=summed),
            LEFT[0],
            yshift=3,
            font=font,
        ),
        note(
            text("<b>state</b>, rms of h<sup>t</sup>; at T: {numbers}", numbers=hidden),
            LEFT[0],
            LOWER[1],
            yshift=3,
            font=font,
        ),
        note(memory, RIGHT[0], yshift=3, font=font),
        note(
            text("first reading"),
            0,
            0.98,
            xref="x",
            yref="y domain",
            xshift=2,
            yanchor="top",
            font=muted,
        ),
    ]


def _verdict(logs: Sequence[float], names: Sequence[str]) -> str:
    """What happens to a small change of the first state: without, and with each method."""
    without, *others = map(_fate, logs)
    if {without} == set(others):
        return text("a change of h<sup>0</sup> {fate}, normalized or not", fate=without)
    within = [
        text("{name} it {fate}", name=name, fate=fate)
        for name, fate in zip(names, others, strict=True)
    ]
    return text(
        "a change of h<sup>0</sup> {fate}; {within}",
        fate=without,
        within="; ".join(map(str, within)),
    )


def _fate(log: float) -> str:
    """What becomes of a change that grows by so many decades."""
    if log == -np.inf:
        return text("is lost")
    if abs(log) <= STAYS:
        return text("stays")
    return text("explodes") if log > 0 else text("dies")
