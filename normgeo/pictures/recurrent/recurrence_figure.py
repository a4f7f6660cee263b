"""A recurrent state over time and its memory, with and without normalization, by radius."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import or_
from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.numbers import number, power, power_of_ten
from normgeo.base.text import text
from normgeo.models.activations import ACTIVATIONS
from normgeo.pictures.captions import method_name
from normgeo.pictures.recurrent.radii_figure import wide_layers
from normgeo.pictures.recurrent.recurrence import Curves, Recurrences
from normgeo.pictures.style.annotations import colored, sized
from normgeo.pictures.style.colors import legible, method_color
from normgeo.pictures.style.lines import rounded
from normgeo.pictures.style.player import add_slider, frames
from normgeo.pictures.style.sheet import Panel, Sheet, across, answer, drawn, stretch, told, upright
from normgeo.pictures.style.template import (
    MEASURED,
    SIZE,
    SMALL,
    THEMES,
    log_ticks,
    powers,
)

HIGH = 222, 104  # pixels of a panel
NUMBERS = 20  # type of the numbers over a panel
KEPT = "\N{NO-BREAK SPACE}"  # a method's name and its number are on one line


def figure(result: Recurrences, theme: str) -> go.Figure:
    """Draw rms of h^t, the norm of ∂h^T/∂h^t and its growth, and step through the radii."""
    axes = _axes(result)
    sheets = {radius: _sheet(result, radius, axes, theme) for radius in result.curves}
    lines, dots = [*_lines(result, theme)], [*_dots(result, theme)]
    traces = [*lines, *_growth(result, theme), *dots]
    moving = [*range(len(lines)), *range(len(traces) - len(dots), len(traces))]
    figure, layouts = drawn([*sheets.values()], traces, theme, result.opening)
    radii = [f"{radius:g}" for radius in result.curves]
    changes = [[{"x": x, "y": y} for x, y in _values(result, radius)] for radius in result.curves]
    heights = [_heights([*curves.values()]) for curves in result.curves.values()]
    figure.update_layout(_heights([*result.curves[result.opens_at].values()]))
    add_slider(
        figure,
        frames(radii, changes, map(or_, layouts, heights), moving),
        start=result.opening,
        prefix=text("spectral radius ρ = "),
        theme=theme,
        setting="radius",
        values=radii,
    )
    return figure


def _sheet(result: Recurrences, radius: float, axes: Sequence[Any], theme: str) -> Sheet:
    """What happens, what runs, and what each panel shows, with the numbers of this frame."""
    methods = result.curves[radius]
    look = THEMES[theme]
    colors = {
        key: legible(method_color(method, theme), look.paper, look.ink)
        for key, method in result.setup.methods.items()
    }

    def at_end(numbers: Mapping[str, str]) -> str:
        """The numbers of the methods, large, with their names."""
        found = []
        for key, method in result.setup.methods.items():
            name, said = (one.replace(" ", KEPT) for one in (method_name(method), numbers[key]))
            large = f'<b style="font-size:{NUMBERS}px">{said}</b>'
            found.append(colored(f"{name}{KEPT}{large}", colors[key], SMALL))
        return f"{KEPT} ".join(found)

    norms = {key: float(curves.log10_norms[0]) for key, curves in methods.items()}
    heads = (
        (
            text("<b>size of the state</b> at the end"),
            {key: number(curves.hidden[-1], 2) for key, curves in methods.items()},
        ),
        (
            text("<b>a change at t = 0</b> becomes"),
            {key: f"× {power_of_ten(log, 2 if abs(log) < 3 else 1)}" for key, log in norms.items()},
        ),
        (
            text("<b>growth</b> of a change per step"),
            {key: f"× {number(float(curves.factor))}" for key, curves in methods.items()},
        ),
    )
    about = text("{about}; shaded: first reading; ρ: growth by W alone", about=result.about)
    on_slide = text(
        "{f}; shaded: first reading of a digit's {n} rows; ρ: growth by W alone",
        f=ACTIVATIONS[result.activation].title,
        n=result.setup.rows,
    )
    first = stretch(0, result.setup.rows, THEMES[theme].panel)
    one = {"color": THEMES[theme].muted, "width": 1}
    shapes = [first], [first], [across(1, one), upright(1, one)]
    return Sheet(
        [answer(result.verdict(radius))],
        rows=[
            [
                Panel(x, y, [sized(title, SIZE), at_end(numbers)], shapes=there, high=HIGH)
                for (title, numbers), (x, y), there in zip(heads, axes, shapes, strict=True)
            ]
        ],
        foot=[told(theme, about, on_slide=[on_slide])],
    )


def _values(result: Recurrences, radius: float) -> Iterator[tuple[list[Any], list[Any]]]:
    """The x and y at a radius: h, memory and growth by method."""
    methods = result.curves[radius]
    for panel in range(2):
        for curves in methods.values():
            values = (curves.hidden, curves.log10_norms)[panel]
            yield curves.times.tolist(), rounded(values)
    for curves in methods.values():
        yield [radius], rounded(np.array([curves.factor]))


ON_GROWTH: dict[str, Any] = {"xaxis": "x3", "yaxis": "y3"}


def _growth(result: Recurrences, theme: str) -> Iterator[go.Scatter]:
    """The growth of a change at all radii by method, measured and predicted."""
    radii = [*result.curves]
    for key, method in result.setup.methods.items():
        every = [methods[key] for methods in result.curves.values()]
        yield go.Scatter(
            x=radii,
            y=rounded(np.array([curves.factor for curves in every])),
            mode="lines",
            line={"color": method_color(method, theme), "width": 3, "dash": MEASURED},
            showlegend=False,
            hovertemplate=text(
                "{name}, ρ = {radius}: × {factor} per step<extra></extra>",
                name=result.setup.names[key],
                radius="%{x}",
                factor="%{y:.3g}",
            ),
            **ON_GROWTH,
        )
        laws = [curves.predicted for curves in every]
        if None not in laws:
            yield wide_layers(method_color(method, theme)).update(
                x=radii, y=rounded(10.0 ** np.array(laws)), showlegend=False, **ON_GROWTH
            )
    if any(curves.predicted is not None for curves in result.curves[result.opens_at].values()):
        yield wide_layers(THEMES[theme].ink)


def _dots(result: Recurrences, theme: str) -> Iterator[go.Scatter]:
    """A dot on the growth of each method at the radius where it opens."""
    ends = [*_values(result, result.opens_at)][-len(result.setup.methods) :]
    for method, (x, y) in zip(result.setup.methods.values(), ends, strict=True):
        yield go.Scatter(
            x=x,
            y=y,
            mode="markers",
            marker={
                "size": 15,
                "color": method_color(method, theme),
                "line": {"width": 2, "color": THEMES[theme].paper},
            },
            showlegend=False,
            cliponaxis=False,
            hoverinfo="skip",
            **ON_GROWTH,
        )


def _lines(result: Recurrences, theme: str) -> Iterator[go.Scatter]:
    """The lines over the steps, at the radius where it opens."""
    values = _values(result, result.opens_at)
    methods, names = result.curves[result.opens_at], result.setup.names
    colors = {key: method_color(method, theme) for key, method in result.setup.methods.items()}
    for panel, axis in enumerate(("", "2")):
        unit = "10^%{y:.3g}" if panel else "%{y:.3g}"
        for key in methods:
            x, y = next(values)
            yield go.Scatter(
                x=x,
                y=y,
                name=method_name(result.setup.methods[key]),
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


def _axes(result: Recurrences) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """The axes of each panel."""
    every = [each for methods in result.curves.values() for each in methods.values()]
    last = max(int(each.times[-1]) for each in every)
    steps = {"range": [0, last], "dtick": _tick(last), "title": text("step t")}
    changed = {**steps, "title": text("small change made at step t")}
    heights = _heights(every)
    return [
        (steps, heights["yaxis"]),
        (changed, heights["yaxis2"] | {"zeroline": True}),
        _growth_axes(result),
    ]


def _heights(every: Sequence[Curves]) -> dict[str, Any]:
    """The axes at the left of the state and of the memory, for curves."""
    logs = np.concatenate([*(each.log10_norms for each in every), [0.0]])
    logs = logs[np.isfinite(logs)]
    low, high = float(logs.min()), float(logs.max())
    room = 0.06 * max(high - low, 1.0)
    return {
        "yaxis": _log_axis(np.concatenate([each.hidden for each in every])),
        "yaxis2": {"range": [low - room, high + room], **_powers(low, high)},
    }


def _growth_axes(result: Recurrences) -> tuple[dict[str, Any], dict[str, Any]]:
    every = [each for methods in result.curves.values() for each in methods.values()]
    factors = np.array([each.factor for each in every])
    low, high = np.log10([min([0.9, *factors[factors > 0]]), max([1.1, *factors])])
    ends = np.log10([min(result.curves), max(result.curves)])
    x = {
        "type": "log",
        "range": [ends[0] - 0.03, ends[1] + 0.03],
        "tickvals": [0.5, 0.7, 1, 1.4, 2],
        "title": text("spectral radius ρ"),
        "zeroline": False,
    }
    ticks = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0]
    y = {
        "type": "log",
        "range": [low - 0.04, high + 0.04],
        "tickvals": ticks,
        "ticktext": [f"× {tick:g}" for tick in ticks],
    }
    return x, y


def _tick(last: int) -> int:
    return 2 if last <= 16 else 8 if last <= 32 else 16 if last <= 96 else 32 if last <= 160 else 64


def _log_axis(values: Array) -> dict[str, Any]:
    known = values[np.isfinite(values) & (values > 0)]
    low, high = np.log10([known.min(), known.max()]) if len(known) else (-1.0, 1.0)
    low, high = min(low, -0.7), max(high, 0.5)
    room = 0.08 * (high - low)
    axis = {"type": "log", "range": [low - room, high + room]}
    if high - low < 2:
        ticks = [tick for tick in log_ticks(10**low, 10**high) if low <= np.log10(tick) <= high]
        return {**axis, "tickvals": ticks, "ticktext": [number(tick) for tick in ticks]}
    powers_of_ten = _powers(low, high)
    places = [10.0**tick for tick in powers_of_ten["tickvals"]]
    return {**axis, **powers_of_ten, "tickvals": places}


def _powers(low: float, high: float) -> dict[str, list[Any]]:
    """Ticks at powers of ten between two logarithms."""
    ticks = powers(low, high)
    return {"tickvals": ticks, "ticktext": [power(tick) if tick else "1" for tick in ticks]}
