"""Panels of lines, one for each method: the mean over the seeds, on a band from end to end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.numbers import power, power_of_ten
from normgeo.base.text import text
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.style.colors import blend, method_color
from normgeo.pictures.style.sheet import Panel as Axes
from normgeo.pictures.style.sheet import Sheet, answer, level, on_panel, told, upright
from normgeo.pictures.style.template import CLAIM, MEASURED, THEMES, powers


class Curve(NamedTuple):
    """Values of one method, (seeds, K), at x (K,); a name that is not its title; its line style."""

    normalizer: Normalizer
    x: Array
    values: Array
    name: str = ""
    dash: str = MEASURED

    @property
    def title(self) -> str:
        """What the legend says."""
        return str(self.name or self.normalizer.title)


class Panel(NamedTuple):
    """What stands in one pair of axes.

    Attributes:
        title: above it. across, up: titles of the axes; "" for none.
        curves: a line each. mark: where an upright line stands, or None.
        stays: values are log₁₀; those between −stays and stays are shaded. 0 for plain values.

    """

    title: str
    across: str
    up: str
    curves: Sequence[Curve]
    mark: float | None = None
    stays: float = 0.0


def drawn_panels(
    panels: Sequence[Panel], said: Sequence[str], about: Sequence[str], theme: str
) -> go.Figure:
    """Draw panels beside each other on one scale, under what is to be seen and what was done."""
    low, high = reach(panels)
    return Sheet(
        [answer(*said)],
        rows=[[_axes(panel, low, high, theme) for panel in panels]],
        foot=[told(theme, *about)],
    ).on(traces(panels, theme), theme)


def traces(panels: Sequence[Panel], theme: str, first: int = 1) -> list[go.Scatter]:
    """Return the curves of panels, numbered from the first on: all bands lie under all lines."""
    numbered = [
        (n, panel, curve) for n, panel in enumerate(panels, first) for curve in panel.curves
    ]
    paper = THEMES[theme].paper
    bands = [trace for n, _, curve in numbered for trace in _band(curve, n, paper, theme)]
    lines = [_line(curve, panel, n, theme) for n, panel, curve in numbered]
    named = {line.name: line for line in reversed(lines)}
    for line in lines:
        line.showlegend = line is named[line.name]
    return [*bands, *lines]


def _axes(panel: Panel, low: float, high: float, theme: str) -> Axes:
    y: dict[str, Any] = {"range": [low, high], "title": panel.up, "zeroline": False}
    shapes = []
    if panel.mark is not None:
        line = {"color": THEMES[theme].muted, "width": 2, "dash": CLAIM}
        shapes.append(upright(panel.mark, line))
    if panel.stays:
        shapes.append(level(-panel.stays, panel.stays, THEMES[theme].grid))
        ticks = powers(low, high)
        y |= {"tickvals": ticks, "ticktext": [power(tick) if tick else "1" for tick in ticks]}
    head = [f"<b>{panel.title}</b>"] if panel.title else []
    return Axes({"title": panel.across, "zeroline": False}, y, head, shapes=shapes, high=(340, 250))


def _band(curve: Curve, number: int, paper: str, theme: str) -> Iterator[go.Scatter]:
    """From the lowest to the highest seed, where there are several."""
    if len(curve.values) < 2:
        return
    x, color = curve.x.tolist(), method_color(curve.normalizer, theme)
    low, high = curve.values.min(axis=0).tolist(), curve.values.max(axis=0).tolist()
    yield go.Scatter(
        x=[*x, *x[::-1]],
        y=[*high, *low[::-1]],
        mode="lines",
        fill="toself",
        fillcolor=blend(paper, color, 0.25),
        line={"width": 0, "color": color},
        hoverinfo="skip",
        showlegend=False,
        **on_panel(number),
    )


def _line(curve: Curve, panel: Panel, number: int, theme: str) -> go.Scatter:
    """The mean over the seeds, with a gap where it is no number."""
    mean = curve.values.mean(axis=0)
    return go.Scatter(
        x=curve.x.tolist(),
        y=np.where(np.isfinite(mean), mean, np.nan).tolist(),
        name=curve.title,
        legendgroup=curve.title,
        mode="lines+markers" if len(mean) < 6 else "lines",
        marker={"size": 9},
        line={"color": method_color(curve.normalizer, theme), "width": 4, "dash": curve.dash},
        customdata=[power_of_ten(log) for log in mean] if panel.stays else None,
        hovertemplate=text(
            "{name}, {panel}: {value} at {x}<extra></extra>",
            name=curve.title,
            panel=panel.title,
            value="%{customdata}" if panel.stays else "%{y:.3g}",
            x="%{x:.3g}",
        ),
        **on_panel(number),
    )


def reach(panels: Sequence[Panel]) -> tuple[float, float]:
    """Return the range of what all panels show, with some room."""
    shown = [curve.values.ravel() for panel in panels for curve in panel.curves]
    values = np.concatenate([*shown, np.zeros(0)])
    values = values[np.isfinite(values)]
    if not len(values):
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    room = 0.05 * (high - low) + 1e-3
    return low - room, high + room
