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
from normgeo.pictures.style.annotations import note, wrapped
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.player import STRIP, add_slider
from normgeo.pictures.style.template import (
    LARGE,
    MEASURED,
    PREDICTED,
    SIZE,
    SMALL,
    THEMES,
    dress,
)

WIDE, NARROW = 480, 1180  # heights: panels beside each other, and one beneath the other
ABOVE, BELOW = 8, 52  # margins
AXES = ("", "2", "3")  # of the panels, as plotly numbers them
COLUMNS = ((0.0, 0.28), (0.36, 0.64), (0.72, 1.0))


def figure(result: Recurrences, theme: str) -> go.Figure:
    """Draw rms of a^t, rms of h^t and the norm of ∂h^T/∂h^t, and step through the radii."""
    look = THEMES[theme]
    drawn = go.Figure([*_lines(result, look.muted)])
    dress(drawn, theme, height=WIDE)
    _axes(drawn, result)
    drawn.update_layout(
        _placed(result, narrow=False),
        margin={"t": ABOVE, "b": BELOW},
        shapes=[_first_rows(axis, result.setup.rows, look.panel) for axis in AXES],
        **_words(result, result.opens_at, look.muted),
    )
    frames = [
        {
            "name": f"{radius:g}",
            "data": [{"x": x, "y": y} for x, y in _values(result, radius)],
            "traces": list(range(len(drawn.data))),
            "layout": _words(result, radius, look.muted),
        }
        for radius in result.curves
    ]
    add_slider(
        drawn,
        frames,
        start=result.opening,
        prefix=text("spectral radius ρ = "),
        theme=theme,
        setting="radius",
        values=[f"{radius:g}" for radius in result.curves],
    )
    return drawn


def _values(result: Recurrences, radius: float) -> Iterator[tuple[list[Any], list[Any]]]:
    """The x and y of all lines at a radius: a, h and memory by method, then the predictions."""
    methods = result.curves[radius]
    for panel in range(3):
        for curves in methods.values():
            times = curves.times[1:] if panel == 0 else curves.times
            values = (curves.summed_inputs, curves.hidden, curves.log10_norms)[panel]
            yield times.tolist(), _rounded(values)
    for curves in methods.values():
        if curves.predicted is not None:
            ends = curves.times[[0, -1]]
            yield ends.tolist(), _rounded((ends[-1] - ends) * curves.predicted)


def _rounded(values: Array) -> list[float | None]:
    return [float(f"{value:.4g}") if np.isfinite(value) else None for value in values]


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


def _first_rows(axis: str, rows: int, shade: str) -> dict[str, Any]:
    """The band where a sequence is read for the first time."""
    return {
        "type": "rect",
        "xref": f"x{axis}",
        "yref": f"y{axis} domain",
        "x0": 0,
        "x1": rows,
        "y0": 0,
        "y1": 1,
        "fillcolor": shade,
        "line": {"width": 0},
        "layer": "below",
    }


def _axes(figure: go.Figure, result: Recurrences) -> None:
    every = [each for methods in result.curves.values() for each in methods.values()]
    last = max(int(each.times[-1]) for each in every)
    across = {"range": [0, last], "dtick": _tick(last), "title": text("step t")}
    laws = [last * each.predicted for each in every if each.predicted is not None]
    logs = np.concatenate([*(each.log10_norms for each in every), laws, [0.0]])
    logs = logs[np.isfinite(logs)]
    room = 0.06 * max(float(np.ptp(logs)), 1.0)
    figure.update_layout(
        {f"xaxis{axis}": {**across, "anchor": f"y{axis}"} for axis in AXES},
        yaxis=_log_axis(np.concatenate([each.summed_inputs for each in every]), "x"),
        yaxis2=_log_axis(np.concatenate([each.hidden for each in every]), "x2"),
        yaxis3={
            "anchor": "x3",
            "range": [logs.min() - room, logs.max() + room],
            "zeroline": True,
            **_powers(float(logs.min()), float(logs.max())),
        },
    )


def _tick(last: int) -> int:
    return 2 if last <= 16 else 8 if last <= 32 else 16 if last <= 96 else 32 if last <= 160 else 64


def _log_axis(values: Array, anchor: str) -> dict[str, Any]:
    known = values[np.isfinite(values) & (values > 0)]
    low, high = np.log10([known.min(), known.max()]) if len(known) else (-1.0, 1.0)
    low, high = min(low, -0.7), max(high, 0.5)
    room = 0.08 * (high - low)
    axis = {"type": "log", "anchor": anchor, "range": [low - room, high + room]}
    if high - low < 2:
        ticks = [d * 10.0**k for k in range(-3, 4) for d in (1, 2, 5)]
        return {**axis, "tickvals": ticks, "ticktext": [number(tick) for tick in ticks]}
    powers = _powers(low, high)
    return {**axis, **powers, "tickvals": [10.0**power for power in powers["tickvals"]]}


def _powers(low: float, high: float) -> dict[str, list[Any]]:
    """Ticks at powers of ten between two logarithms, written out: exponents stay large."""
    step = next(step for step in (1, 2, 5, 10, 20, 50, 100) if 6 * step >= high - low)
    powers = [step * k for k in range(int(low / step) - 1, int(high / step) + 2)]
    return {
        "tickvals": powers,
        "ticktext": [f"1e{power}".replace("-", "−") if power else "1" for power in powers],
    }


def _rows(result: Recurrences, narrow: bool) -> tuple[float, float, float]:
    """The heights in paper where what runs begins, where the legend does, and the top panel."""
    room = (NARROW if narrow else WIDE) - ABOVE - BELOW
    methods = len(result.setup.methods)
    verdict = (27 * (2 * methods - 1)) if narrow else 36 + 34 * (methods > 2)
    told, legend = (80, 26 * (methods + 1)) if narrow else (22, 28)
    heights = np.cumsum([verdict, told, legend + 58])
    under, keys, top = (1 - heights / room).tolist()
    return under, keys, top


def _placed(result: Recurrences, *, narrow: bool) -> dict[str, Any]:
    """Where the panels and the legend are: in a row, or in a column."""
    _, keys, top = _rows(result, narrow)
    columns, rows = list(COLUMNS), [(0.0, top)] * 3
    if narrow:
        gap = 100 / (NARROW - ABOVE - BELOW)
        each = (top - 2 * gap) / 3
        columns = [(0.0, 1.0)] * 3
        rows = [(top - (i + 1) * each - i * gap, top - i * (each + gap)) for i in range(3)]
    axes: dict[str, Any] = {}
    for axis, column, row in zip(AXES, columns, rows, strict=True):
        axes[f"xaxis{axis}"] = {"domain": column}
        axes[f"yaxis{axis}"] = {"domain": row}
    legend = {
        "x": 0,
        "xanchor": "left",
        "y": keys,
        "yanchor": "top",
        "orientation": "v" if narrow else "h",
        "tracegroupgap": 0,
        "font": {"size": SIZE},
    }
    return axes | {"legend": legend}


def _words(result: Recurrences, radius: float, muted: str) -> dict[str, Any]:
    """All words of a frame, and of it on a phone, where the figure is another one besides."""
    narrow = _placed(result, narrow=True) | {
        "height": NARROW + STRIP,
        "annotations": _captions(result, radius, muted, narrow=True),
    }
    return {
        "annotations": _captions(result, radius, muted, narrow=False),
        "meta": {"narrow": narrow},
    }


def _captions(
    result: Recurrences, radius: float, muted: str, *, narrow: bool
) -> list[dict[str, Any]]:
    """What happens, what runs, and what each panel shows, with the numbers of this frame."""
    methods = result.curves[radius]
    plain, *others = result.setup.methods
    under, _, _ = _rows(result, narrow)
    size, across, small = (20, 25, 38) if narrow else (LARGE, 90, 150)

    def at_end(numbers: Mapping[str, str]) -> str:
        """The number without normalization, then those of the methods with their names."""
        with_method = [f"{result.setup.methods[key].title} {numbers[key]}" for key in others]
        return ", ".join([numbers[plain], *map(str, with_method)])

    norms = {key: float(curves.log10_norms[0]) for key, curves in methods.items()}
    names = result.setup.names
    verdict = _verdict([norms[key] for key in methods], [names[key] for key in others])
    panels = (
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
    return [
        note(
            [f"<b>{line}</b>" for line in wrapped(verdict, across)],
            0,
            1,
            yanchor="top",
            font={"size": size},
        ),
        note(
            wrapped(
                text("{about}; shaded: the digit is read for the first time", about=result.about),
                small,
            ),
            0,
            under,
            yanchor="top",
            font={"size": SMALL, "color": muted},
        ),
        *(
            note(
                [title, f"{which} {at_end(numbers)}"],
                0,
                1,
                xref=f"x{axis} domain",
                yref=f"y{axis} domain",
                yshift=2,
                font={"size": SIZE if len(methods) == 2 else SMALL},
            )
            for axis, (title, which, numbers) in zip(AXES, panels, strict=True)
        ),
    ]


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
