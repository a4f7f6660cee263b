"""The loss in the plane of a weight vector, which grows along its ray."""

from __future__ import annotations

from operator import or_

import numpy as np
import plotly.graph_objects as go

from normgeo.base.numbers import fraction
from normgeo.base.text import text
from normgeo.pictures.learning_rate.angular_update import AngularUpdate, norm_words
from normgeo.pictures.learning_rate.angular_update_words import seen
from normgeo.pictures.learning_rate.weight_plane_figure import Plane, Trace, stretch_of
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.player import add_slider, frames
from normgeo.pictures.style.sheet import Band, Panel, Sheet, answer, drawn
from normgeo.pictures.style.template import THEMES

HIGH = 250, 200  # pixels
SAME = 1e-9  # of the loss: a smaller change is rounding


def figure(result: AngularUpdate, theme: str) -> go.Figure:
    """Draw the plane with the weight vector; the frames of the slider are its lengths."""
    color, opening = method_color(result.normalizer, theme), result.opening
    plane = Plane.of(result, color, theme)
    every = range(len(result.curve.norms))
    moving = [
        [*plane.images(step), _arrow(result, step, theme), _dot(result, step, theme)]
        for step in every
    ]
    sheets = [_sheet(result, step, theme) for step in every]
    whole, words = drawn(sheets, [*moving[opening], _line(result, theme)], theme, opening)
    for trace, source in zip(whole.data, plane.sources, strict=False):
        trace.source = source
    views = [{axis: {"range": ends} for axis, ends in plane.view(step)} for step in every]
    whole.update_layout(views[opening])
    add_slider(
        whole,
        frames(map(norm_words, result.curve.norms.tolist()), moving, map(or_, words, views)),
        start=opening,
        prefix=f"{result.symbol} = ",
        theme=theme,
        setting="growth",
        values=[f"{norm:.4g}" for norm in result.curve.norms],
    )
    return whole


def _arrow(result: AngularUpdate, step: int, theme: str) -> Trace:
    """The weight vector at a length."""
    return {
        "type": "scatter",
        "x": [0, float(result.curve.norms[step])],
        "y": [0, 0],
        "mode": "lines+markers",
        "line": {"color": THEMES[theme].ink, "width": 4},
        "marker": {"symbol": ["circle", "arrow"], "size": [7, 16], "angleref": "previous"},
        "showlegend": False,
        "hoverinfo": "skip",
        "cliponaxis": False,
    }


def _line(result: AngularUpdate, theme: str) -> Trace:
    """The loss against the length."""
    return {
        "type": "scatter",
        "x": result.curve.norms,
        "y": result.curve.loss,
        "mode": "lines",
        "line": {"color": method_color(result.normalizer, theme), "width": 5},
        "showlegend": False,
        "xaxis": "x2",
        "yaxis": "y2",
        "hovertemplate": text("length {x}: loss {y}<extra></extra>", x="%{x:.4g}", y="%{y:.6g}"),
    }


def _dot(result: AngularUpdate, step: int, theme: str) -> Trace:
    """Where a frame is on the line."""
    ink = {"color": THEMES[theme].ink, "width": 2}
    return {
        "type": "scatter",
        "x": [float(result.curve.norms[step])],
        "y": [float(result.curve.loss[step])],
        "mode": "markers",
        "marker": {"size": 15, "color": method_color(result.normalizer, theme), "line": ink},
        "showlegend": False,
        "xaxis": "x2",
        "yaxis": "y2",
        "cliponaxis": False,
        "hoverinfo": "skip",
    }


def _sheet(result: AngularUpdate, step: int, theme: str) -> Sheet:
    """The factors of the norm and of the loss, over the plane."""
    norm, *_, loss = result.changes(step)
    said = text("w × {norm}: the loss stays", norm=norm_words(norm.factor))
    if not result.has_law or not np.isclose(loss.factor, 1, rtol=SAME):
        said = text(
            "w × {norm}: the loss × {loss}",
            norm=norm_words(norm.factor),
            loss=fraction(loss.factor),
        )
    plain = {"showgrid": False, "zeroline": False, "constrain": "range"}
    up = {"title": text("against the gradient"), "showticklabels": False, "ticks": ""}
    norms, largest = result.curve.norms.tolist(), float(np.max(result.curve.loss))
    return Sheet(
        [answer(said), Band([seen(result)])],
        rows=[
            [
                Panel(
                    {"title": text("along the weights w"), **plain},
                    {"scaleanchor": "x", "scaleratio": stretch_of(result), **up, **plain},
                    high=HIGH,
                    share=1.15,
                ),
                Panel(
                    {
                        "type": "log",
                        "title": text("length of the weights ‖w‖"),
                        "tickvals": norms[::2],
                        "ticktext": [fraction(norm) for norm in norms[::2]],
                    },
                    {"range": [0, 1.2 * largest], "nticks": 5},
                    [text("loss")],
                    high=HIGH,
                    left=24,
                ),
            ]
        ],
        legend=False,
    )
