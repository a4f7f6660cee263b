"""By what factor a step multiplies a small change of the state, against the spectral radius."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.models.activations import ACTIVATIONS
from normgeo.pictures.captions import method_name
from normgeo.pictures.recurrent.radii import Radii
from normgeo.pictures.style.annotations import note
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.lines import rounded
from normgeo.pictures.style.sheet import Panel, Sheet, answer, level, told, upright
from normgeo.pictures.style.template import MEASURED, PREDICTED, SMALL, THEMES

AXES = ("", "2", "3")  # of the panels, as plotly numbers them
TICKS = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.4, 2.0)


def figure(result: Radii, theme: str) -> go.Figure:
    """Draw the factor per step of each method against ρ: identity, tanh and ReLU, one scale."""
    look = THEMES[theme]
    lines = [
        line
        for axis, name in zip(AXES, result.curves, strict=False)
        for line in _lines(result, name, axis, theme)
    ]
    ends = np.log10(result.radii[[0, -1]])
    x = {
        "type": "log",
        "range": [ends[0] - 0.02, ends[1] + 0.02],
        "tickvals": [0.5, 0.7, 1, 1.4, 2],
        "title": text("spectral radius ρ"),
        "zeroline": False,
    }
    y = {
        "type": "log",
        "range": _range(result),
        "tickvals": TICKS,
        "ticktext": [f"× {tick:g}" for tick in TICKS],
        "title": text("factor per step"),
    }
    about = text(
        "Factor by which a step multiplies a small change of the state; {about}",
        about=result.setup.about,
    )
    laws = [curve.predicted for curves in result.curves.values() for curve in curves.values()]
    key = [wide_layers(look.muted)] if any(law is not None for law in laws) else []
    notes = _captions(result.stays, look.muted)
    regions = [
        level(10**-result.stays, 10**result.stays, look.grid),
        upright(1, {"color": look.muted, "width": 2}),
    ]
    return Sheet(
        [answer(*result.answers)],
        foot=[told(theme, about)],
        rows=[
            [
                Panel(x, y, [f"<b>{ACTIVATIONS[name].title}</b>"], notes, regions)
                for name in result.curves
            ]
        ],
        one_scale=True,
    ).on([*lines, *key], theme)


def _lines(result: Radii, name: str, axis: str, theme: str) -> Iterator[go.Scatter]:
    """What is measured of each method, over what theory says of it."""
    place = {"xaxis": f"x{axis}", "yaxis": f"y{axis}"}
    for key, curve in result.curves[name].items():
        color = method_color(result.setup.methods[key], theme)
        if curve.predicted is not None:
            yield go.Scatter(
                x=result.radii,
                y=_factors(curve.predicted),
                mode="lines",
                line={"color": color, "width": 2, "dash": PREDICTED},
                showlegend=False,
                hoverinfo="skip",
                **place,
            )
        yield go.Scatter(
            x=result.radii,
            y=_factors(curve.measured),
            name=method_name(result.setup.methods[key]),
            mode="lines+markers",
            marker={"size": 7},
            line={"color": color, "width": 4, "dash": MEASURED},
            showlegend=not axis,
            hovertemplate=text(
                "{name}, ρ = {radius}: × {factor} per step<extra></extra>",
                name=result.setup.names[key],
                radius="%{x}",
                factor="%{y:.3g}",
            ),
            **place,
        )


def wide_layers(ink: str) -> go.Scatter:
    """What the dashed lines are, for the legend."""
    return go.Scatter(
        x=[None],
        y=[None],
        name=text("growth predicted for many neurons"),
        mode="lines",
        line={"color": ink, "width": 2, "dash": PREDICTED},
        showlegend=True,
    )


def _factors(logs: Array) -> list[float | None]:
    return rounded(np.where(np.isfinite(logs), 10.0**logs, np.nan))


def _range(result: Radii) -> list[float]:
    """The logarithms that all panels show, with 1 well inside."""
    curves = [each for methods in result.curves.values() for each in methods.values()]
    logs = np.concatenate(
        [part for curve in curves for part in curve if part is not None] + [np.array([-0.3, 0.2])]
    )
    logs = logs[np.isfinite(logs)]
    room = 0.04 * float(np.ptp(logs))
    return [float(logs.min()) - room, float(logs.max()) + room]


def _captions(stays: float, muted: str) -> list[dict[str, Any]]:
    """What becomes of a change above and below the band."""
    font = {"font": {"color": muted}}
    return [
        note(text("↑ explodes"), 0.02, stays, yref="y", **font),
        # At the foot, which the curves leave free at large ρ: below the band they would cross it.
        note(text("↓ dies"), 0.98, 0, xanchor="right", **font),
        note("ρ = 1", 0, 0, xref="x", xshift=4, font={"size": SMALL, "color": muted}),
    ]
