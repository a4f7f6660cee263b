"""A recurrent state over time and its memory, with and without normalization, by radius."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.numbers import number, power_of_ten
from normgeo.base.text import text
from normgeo.pictures.recurrent.recurrence import Recurrences
from normgeo.pictures.recurrent.recurrences import STAYS
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.lines import rounded
from normgeo.pictures.style.player import add_slider
from normgeo.pictures.style.sheet import Panel, Sheet, answer, drawn, stretch, told
from normgeo.pictures.style.template import MEASURED, PREDICTED, THEMES, powers

AXES = ("", "2", "3")  # of the panels, as plotly numbers them


def figure(result: Recurrences, theme: str) -> go.Figure:
    """Draw rms of a^t, rms of h^t and the norm of ∂h^T/∂h^t, and step through the radii."""
    axes = _axes(result)
    sheets = {radius: _sheet(result, radius, axes, theme) for radius in result.curves}
    lines = [*_lines(result, THEMES[theme].muted)]
    figure, layouts = drawn([*sheets.values()], lines, theme, result.opening)
    frames = [
        {
            "name": f"{radius:g}",
            "data": [{"x": x, "y": y} for x, y in _values(result, radius)],
            "traces": list(range(len(lines))),
            "layout": layout,
        }
        for radius, layout in zip(sheets, layouts, strict=True)
    ]
    add_slider(
        figure,
        frames,
        start=result.opening,
        prefix=text("spectral radius ρ = "),
        theme=theme,
        setting="radius",
        values=[f"{radius:g}" for radius in result.curves],
    )
    return figure


def _sheet(result: Recurrences, radius: float, axes: Sequence[Any], theme: str) -> Sheet:
    """What happens, what runs, and what each panel shows, with the numbers of this frame."""
    methods, names = result.curves[radius], result.setup.names
    plain, *others = result.setup.methods

    def at_end(numbers: Mapping[str, str]) -> str:
        """The number without normalization, then those of the methods with their names."""
        with_method = [f"{result.setup.methods[key].title} {numbers[key]}" for key in others]
        return ", ".join([numbers[plain], *map(str, with_method)])

    norms = {key: float(curves.log10_norms[0]) for key, curves in methods.items()}
    verdict = _verdict([norms[key] for key in methods], [names[key] for key in others])
    heads = (
        (
            text("<b>size of the summed inputs</b> a<sup>t</sup>"),
            text("last:"),
            {key: number(curves.summed_inputs[-1], 2) for key, curves in methods.items()},
        ),
        (
            text("<b>size of the state</b> h<sup>t</sup>"),
            text("last:"),
            {key: number(curves.hidden[-1], 2) for key, curves in methods.items()},
        ),
        (
            text("<b>memory</b> ‖∂h<sup>T</sup>/∂h<sup>t</sup>‖"),
            text("of h<sup>0</sup>:"),
            {key: power_of_ten(log, 2) for key, log in norms.items()},
        ),
    )
    about = text("{about}; shaded: the digit is read for the first time", about=result.about)
    first = stretch(0, result.setup.rows, THEMES[theme].panel)
    return Sheet(
        [answer(verdict), told(theme, about)],
        rows=[
            [
                Panel(x, y, [title, f"{which} {at_end(numbers)}"], shapes=[first])
                for (title, which, numbers), (x, y) in zip(heads, axes, strict=True)
            ]
        ],
    )


def _values(result: Recurrences, radius: float) -> Iterator[tuple[list[Any], list[Any]]]:
    """The x and y of all lines at a radius: a, h and memory by method, then the predictions."""
    methods = result.curves[radius]
    for panel in range(3):
        for curves in methods.values():
            times = curves.times[1:] if panel == 0 else curves.times
            values = (curves.summed_inputs, curves.hidden, curves.log10_norms)[panel]
            yield times.tolist(), rounded(values)
    for curves in methods.values():
        if curves.predicted is not None:
            ends = curves.times[[0, -1]]
            yield ends.tolist(), rounded((ends[-1] - ends) * curves.predicted)


def _lines(result: Recurrences, muted: str) -> Iterator[go.Scatter]:
    """All lines, at the radius where it opens."""
    values = _values(result, result.opens_at)
    methods, names = result.curves[result.opens_at], result.setup.names
    colors = {key: method_color(method) for key, method in result.setup.methods.items()}
    for panel, axis in enumerate(AXES):
        unit = "10^%{y:.3g}" if panel == 2 else "%{y:.3g}"
        for key in methods:
            x, y = next(values)
            yield go.Scatter(
                x=x,
                y=y,
                name=names[key],
                mode="lines",
                xaxis=f"x{axis}",
                yaxis=f"y{axis}",
                legendgroup=key,
                showlegend=panel == 0,
                line={"color": colors[key], "width": 4, "dash": MEASURED},
                hovertemplate=text(
                    "{name}, t = {t}: {value}<extra></extra>",
                    name=names[key],
                    t="%{x}",
                    value=unit,
                ),
            )
    predicted = [key for key, curves in methods.items() if curves.predicted is not None]
    for place, (key, (x, y)) in enumerate(zip(predicted, values, strict=True)):
        yield go.Scatter(
            x=x,
            y=y,
            name=text("predicted for wide layers"),
            mode="lines",
            xaxis="x3",
            yaxis="y3",
            line={"color": colors[key], "width": 2, "dash": PREDICTED},
            showlegend=place == 0,
            hoverinfo="skip",
        )


def _axes(result: Recurrences) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """The axes of each panel."""
    every = [each for methods in result.curves.values() for each in methods.values()]
    last = max(int(each.times[-1]) for each in every)
    across = {"range": [0, last], "dtick": _tick(last), "title": text("step t")}
    laws = [last * each.predicted for each in every if each.predicted is not None]
    logs = np.concatenate([*(each.log10_norms for each in every), laws, [0.0]])
    logs = logs[np.isfinite(logs)]
    low, high = float(logs.min()), float(logs.max())
    room = 0.06 * max(high - low, 1.0)
    memory = {"range": [low - room, high + room], "zeroline": True, **_powers(low, high)}
    sizes = [[each.summed_inputs for each in every], [each.hidden for each in every]]
    return [(across, y) for y in (*(_log_axis(np.concatenate(each)) for each in sizes), memory)]


def _tick(last: int) -> int:
    return 2 if last <= 16 else 8 if last <= 32 else 16 if last <= 96 else 32 if last <= 160 else 64


def _log_axis(values: Array) -> dict[str, Any]:
    known = values[np.isfinite(values) & (values > 0)]
    low, high = np.log10([known.min(), known.max()]) if len(known) else (-1.0, 1.0)
    low, high = min(low, -0.7), max(high, 0.5)
    room = 0.08 * (high - low)
    axis = {"type": "log", "range": [low - room, high + room]}
    if high - low < 2:
        ticks = [d * 10.0**k for k in range(-3, 4) for d in (1, 2, 5)]
        return {**axis, "tickvals": ticks, "ticktext": [number(tick) for tick in ticks]}
    powers_of_ten = _powers(low, high)
    places = [10.0**power for power in powers_of_ten["tickvals"]]
    return {**axis, **powers_of_ten, "tickvals": places}


def _powers(low: float, high: float) -> dict[str, list[Any]]:
    """Ticks at powers of ten between two logarithms, written out: exponents stay large."""
    ticks = powers(low, high)
    words = [f"1e{power}".replace("-", "−") if power else "1" for power in ticks]
    return {"tickvals": ticks, "ticktext": words}


def _verdict(logs: Sequence[float], names: Sequence[str]) -> str:
    """What happens to a small change of the first state: without, and with each method."""
    without, *others = map(_fate, logs)
    if {without} == set(others):
        return text("A small change {fate}, normalized or not", fate=without)
    within = [
        text("{name} it {fate}", name=name, fate=fate)
        for name, fate in zip(names, others, strict=True)
    ]
    return text("A small change {fate}; {within}", fate=without, within="; ".join(map(str, within)))


def _fate(log: float) -> str:
    """What becomes of a change that grows by so many decades."""
    if log == -np.inf:
        return text("is lost")
    if abs(log) <= STAYS:
        return text("stays")
    return text("explodes") if log > 0 else text("dies")
