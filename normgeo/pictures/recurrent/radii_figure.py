"""By what factor a step multiplies a small change of the state, against the spectral radius."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.models.activations import ACTIVATIONS
from normgeo.pictures.recurrent.radii import Radii
from normgeo.pictures.style.annotations import note, wrapped
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.template import LARGE, MEASURED, PREDICTED, SIZE, SMALL, THEMES, dress

WIDE, NARROW = 470, 1240  # heights: panels beside each other, and one beneath the other
ABOVE, BELOW = 8, 56  # margins
AXES = ("", "2", "3")  # of the panels, as plotly numbers them
COLUMNS = ((0.0, 0.31), (0.345, 0.655), (0.69, 1.0))
TICKS = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.4, 2.0)


def figure(result: Radii, theme: str) -> go.Figure:
    """Draw the factor per step of each method against ρ: identity, tanh and ReLU, one scale."""
    look = THEMES[theme]
    lines = [
        line
        for axis, name in zip(AXES, result.curves, strict=False)
        for line in _lines(result, name, axis)
    ]
    drawn = go.Figure([*lines, *_law(result, look.muted)])
    dress(drawn, theme, height=WIDE)
    drawn.update_layout(
        _placed(result, look.muted, narrow=False),
        margin={"t": ABOVE, "b": BELOW},
        shapes=[*_regions(result, look.grid, look.muted)],
        meta={"narrow": _placed(result, look.muted, narrow=True) | {"height": NARROW}},
    )
    scale = {
        "type": "log",
        "range": _range(result),
        "tickvals": TICKS,
        "ticktext": [f"× {tick:g}" for tick in TICKS],
    }
    ends = np.log10(result.radii[[0, -1]])
    for axis in AXES:
        drawn.update_layout(
            {
                f"xaxis{axis}": {
                    "type": "log",
                    "anchor": f"y{axis}",
                    "range": [ends[0] - 0.02, ends[1] + 0.02],
                    "tickvals": [0.5, 0.7, 1, 1.4, 2],
                    "title": text("spectral radius ρ"),
                    "zeroline": False,
                },
                f"yaxis{axis}": {**scale, "anchor": f"x{axis}"},
            }
        )
    drawn.update_layout(yaxis_title=text("factor per step"))
    return drawn


def _lines(result: Radii, name: str, axis: str) -> Iterator[go.Scatter]:
    """What is measured of each method, over what theory says of it."""
    place = {"xaxis": f"x{axis}", "yaxis": f"y{axis}"}
    for key, curve in result.curves[name].items():
        color = method_color(result.setup.methods[key])
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
            name=result.setup.names[key],
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


def _law(result: Radii, ink: str) -> Iterator[go.Scatter]:
    """What the dashed lines are, for the legend."""
    if any(
        each.predicted is not None for curves in result.curves.values() for each in curves.values()
    ):
        yield go.Scatter(
            x=[None],
            y=[None],
            name=text("predicted for wide layers"),
            mode="lines",
            line={"color": ink, "width": 2, "dash": PREDICTED},
            showlegend=True,
        )


def _factors(logs: Array) -> list[float | None]:
    return [float(f"{10**log:.4g}") if np.isfinite(log) else None for log in logs]


def _range(result: Radii) -> list[float]:
    """The logarithms that all panels show, with 1 well inside."""
    curves = [each for methods in result.curves.values() for each in methods.values()]
    logs = np.concatenate(
        [part for curve in curves for part in curve if part is not None] + [np.array([-0.3, 0.2])]
    )
    logs = logs[np.isfinite(logs)]
    room = 0.04 * float(np.ptp(logs))
    return [float(logs.min()) - room, float(logs.max()) + room]


def _regions(result: Radii, band: str, ink: str) -> Iterator[dict[str, Any]]:
    """The band of a change that stays, and the radius 1, in each panel."""
    for axis in AXES:
        yield {
            "type": "rect",
            "xref": f"x{axis} domain",
            "yref": f"y{axis}",
            "x0": 0,
            "x1": 1,
            "y0": 10**-result.stays,
            "y1": 10**result.stays,
            "fillcolor": band,
            "line": {"width": 0},
            "layer": "below",
        }
        yield {
            "type": "line",
            "xref": f"x{axis}",
            "yref": f"y{axis} domain",
            "x0": 1,
            "x1": 1,
            "y0": 0,
            "y1": 1,
            "line": {"color": ink, "width": 2},
            "layer": "below",
        }


def _placed(result: Radii, muted: str, *, narrow: bool) -> dict[str, Any]:
    """Where everything is: words above the panels, which stand in a row or in a column."""
    room = (NARROW if narrow else WIDE) - ABOVE - BELOW
    size, across, small = (20, 25, 38) if narrow else (LARGE, 90, 140)
    answers = [line for answer in result.answers for line in wrapped(answer, across)]
    told = wrapped(
        text(
            "Factor by which a step multiplies a small change of the state; {about}",
            about=result.setup.about,
        ),
        small,
    )
    entries = (len(result.setup.methods) + 1) if narrow else 1
    legend = 1.35 * size * len(answers) + 1.4 * SMALL * len(told)
    top = 1 - (legend + 26 * entries + 28) / room
    rows = [(0.0, top)] * 3
    if narrow:
        each, gap = (top - 2 * 84 / room) / 3, 84 / room
        rows = [(top - (i + 1) * each - i * gap, top - i * (each + gap)) for i in range(3)]
    columns = [(0.0, 1.0)] * 3 if narrow else COLUMNS
    axes: dict[str, Any] = {}
    for axis, column, row in zip(AXES, columns, rows, strict=True):
        axes[f"xaxis{axis}"] = {"domain": column}
        axes[f"yaxis{axis}"] = {"domain": row, "showticklabels": narrow or not axis}
    return axes | {
        "legend": {
            "x": 0,
            "xanchor": "left",
            "y": 1 - legend / room,
            "yanchor": "top",
            "orientation": "v" if narrow else "h",
            "font": {"size": SIZE},
        },
        "annotations": [
            note([f"<b>{line}</b>" for line in answers], 0, 1, yanchor="top", font={"size": size}),
            note(
                told,
                0,
                1 - 1.35 * size * len(answers) / room,
                yanchor="top",
                font={"size": SMALL, "color": muted},
            ),
            *_captions(result, muted),
        ],
    }


def _captions(result: Radii, muted: str) -> Iterator[dict[str, Any]]:
    """In each panel its f, and what becomes of a change above and below the band."""
    for axis, name in zip(AXES, result.curves, strict=False):
        place = {"xref": f"x{axis} domain", "yref": f"y{axis} domain"}
        yield note(f"<b>{ACTIVATIONS[name].title}</b>", 0, 1, yshift=2, **place)
        edge = {"xref": f"x{axis} domain", "yref": f"y{axis}", "font": {"color": muted}}
        yield note(text("↑ explodes"), 0.02, result.stays, **edge)
        # At the foot, which the curves leave free at large ρ: below the band they would cross it.
        yield note(text("↓ dies"), 0.98, 0, **edge | place | {"xanchor": "right"})
        yield note(
            "ρ = 1",
            0,
            0,
            xref=f"x{axis}",
            yref=f"y{axis} domain",
            xshift=4,
            font={"size": SMALL, "color": muted},
        )
