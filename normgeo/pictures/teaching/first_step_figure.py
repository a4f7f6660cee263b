"""A step from weights of norm 1, beside the same weights twice as long: the turn of these is asked.

Nothing but the step at norm 1 is drawn, so a page can show it before the answer.
"""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.pictures.learning_rate.angular_update import AngularUpdate
from normgeo.pictures.learning_rate.weight_plane_figure import stretch_of
from normgeo.pictures.style.annotations import note
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.sheet import Band, Panel, Sheet
from normgeo.pictures.style.template import LARGE, THEMES

HEIGHT = 350  # pixels
ARC = 0.55  # where the angle is marked, in lengths of the weights


def figure(result: AngularUpdate, theme: str) -> go.Figure:
    """Draw the step at norm 1, and the weights of norm 2 with a question mark."""
    ink, color = THEMES[theme].ink, method_color(result.normalizer, theme)
    along, across = result.way(result.place(1.0))
    up = across * stretch_of(result)
    arc = ARC * np.array(
        [[np.cos(t), np.sin(t)] for t in np.linspace(0, np.arctan2(up, 1 + along))]
    )
    traces = [
        _line([0, 2], [0, 0], color, 6),
        _line([0, 1], [0, 0], ink, 6),
        _line([0, 1 + along], [0, up], ink, 1.5),
        _line(arc[:, 0].tolist(), arc[:, 1].tolist(), ink, 1.5),
        _arrow([1, 1 + along], [0, up], ink),
    ]
    symbol, here = result.symbol, result.curve.here
    angle = number(float(np.degrees(here.angle)))
    at = {"xref": "x", "yref": "y", "xanchor": "center", "font": {"size": LARGE}}
    under = {**at, "yanchor": "top", "yshift": -6}
    angles = [
        note(f"θ = {angle}°", 1 + along, up, yshift=8, **at),
        note(f"{symbol} = 1", 1, 0, **under),
        note("<b>θ = ?</b>", 2, 0, yshift=8, **at),
        note(f"<b>{symbol} = 2</b>", 2, 0, **under),
    ]
    about = text(
        "<b>{method}</b>, {name}: first step of {optimizer}, η = {rate}",
        optimizer=result.curve.optimizer.title,
        method=result.normalizer.title,
        name=result.name,
        rate=number(result.curve.rate),
    )
    panel = Panel(
        {"visible": False, "range": [-0.1, 2.4]},
        {"visible": False, "range": [-0.22, max(0.6, 1.4 * up)]},
        notes=angles,
        high=(HEIGHT, HEIGHT),
    )
    return Sheet([Band([about])], rows=[[panel]], right=8, legend=False).on(traces, theme)


def _line(x: list[float], y: list[float], color: str, width: float) -> go.Scatter:
    return go.Scatter(
        x=x, y=y, mode="lines", line={"color": color, "width": width}, hoverinfo="skip"
    )


def _arrow(x: list[float], y: list[float], color: str) -> go.Scatter:
    marker = {"symbol": ["circle", "arrow"], "size": [7, 16], "angleref": "previous"}
    return go.Scatter(
        x=x,
        y=y,
        mode="lines+markers",
        line={"color": color, "width": 3},
        marker={**marker, "color": color, "opacity": 1},
        hoverinfo="skip",
    )
