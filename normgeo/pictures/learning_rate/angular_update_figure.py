"""By which factors a longer weight vector changes a step, in its plane and as angle per step."""

from __future__ import annotations

from functools import cache
from operator import or_
from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.numbers import fraction, number
from normgeo.base.text import text
from normgeo.pictures.learning_rate.angular_update import AngularUpdate, norm_words
from normgeo.pictures.learning_rate.angular_update_words import (
    FACTOR,
    about,
    angle,
    effective,
    norm_of,
    seen,
    steps,
    tiles,
    why,
)
from normgeo.pictures.learning_rate.weight_plane_figure import (
    NUMBERS,
    Plane,
    Trace,
    step_traces,
)
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.player import add_slider, frames
from normgeo.pictures.style.sheet import Panel, Sheet, Tiles, answer, drawn, told
from normgeo.pictures.style.template import CLAIM, MEASURED, PREDICTED, SMALL, THEMES, log_ticks

HIGH, PLANE_HIGH = (162, 230), (162, 165)  # pixels of a panel
NAMED_AT = 2 * 2**0.5  # the norm at the name of a line above the law
CLEAR = 2 * "\N{NO-BREAK SPACE}"  # before it, as the line falls


def figure(result: AngularUpdate, theme: str) -> go.Figure:
    """Draw one step at several norms: factors, the plane of ŵ and the step, angle per step."""
    color, opening = method_color(result.normalizer, theme), result.opening
    plane = Plane.of(result, color, theme)
    every = range(len(result.curve.norms))
    moving = [_moving(result, plane, step, theme) for step in every]
    sheets = [_sheet(result, plane, step, theme) for step in every]
    whole, words = drawn(sheets, [*moving[opening], *_lines(result, theme)], theme, opening)
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


def _moving(result: AngularUpdate, plane: Plane, step: int, theme: str) -> list[Trace]:
    """What moves to another norm: the image of the loss, the steps, the dot."""
    color, ink = method_color(result.normalizer, theme), THEMES[theme].ink
    return [
        *plane.images(step),
        *step_traces(result, plane, step, color, ink),
        _dot(result, step, color, ink),
    ]


def _sheet(result: AngularUpdate, plane: Plane, step: int, theme: str) -> Sheet:
    """The factors, the plane with the steps, and the angle per step, at one norm."""
    look = THEMES[theme]
    left = _plane_axes(plane, result.curve.optimizer.linear)
    right = _angle_axes(result)
    still = plane.still(result, step)

    @cache  # a sheet asks again for each thing that it measures
    def at(pixels: float) -> list[dict[str, Any]]:
        return steps(result, plane.reaches[step], still, step, pixels)

    return Sheet(
        [
            answer(why(result, step)),
            Tiles(tiles(result, step, look.muted), FACTOR, short=True),
        ],
        rows=[
            [
                Panel(
                    *left,
                    effective(result, step),
                    notes=lambda wide, high: at(plane.pixels(wide, high)),
                    high=PLANE_HIGH,
                    share=1.15,
                    widest=plane.longest,
                ),
                Panel(
                    *right,
                    [_angle_title(result)],
                    [angle(result, step, look.paper)],
                    high=HIGH,
                ),
            ]
        ],
        foot=[
            told(
                theme,
                f"{about(result)}. {seen(result)}",
                on_slide=[f"<b>{result.normalizer.title}</b>, {result.name}. {seen(result)}"],
            )
        ],
        half=True,
        legend_over=1,
    )


# The angle per step.


def _lines(result: AngularUpdate, theme: str) -> list[go.Scatter]:
    """Return the angle per step against the norm: measured, predicted, and of another slope."""
    curve, look = result.curve, THEMES[theme]

    def line(angles: Array, name: str, **style: Any) -> go.Scatter:
        return go.Scatter(
            x=curve.norms,
            y=np.degrees(angles),
            name=name,
            mode="lines",
            line=style,
            xaxis="x2",
            yaxis="y2",
            hovertemplate=text("{name}: {angle}<extra></extra>", name=name, angle="%{y:.4g}°"),
        )

    color = method_color(result.normalizer, theme)
    measured = line(curve.angles, text("measured"), color=color, width=5, dash=MEASURED)
    if not result.has_law:
        return [measured]
    other, name = _other(result)
    claim = line(other, name, color=look.muted, width=2.5, dash=CLAIM)
    if curve.optimizer.power == 2:  # below the law is the number of the dot
        place = result.place(NAMED_AT)
        claim.update(
            mode="lines+text",
            text=[CLEAR + name if step == place else "" for step in range(len(curve.norms))],
            textposition="top right",
            textfont={"size": SMALL, "color": look.muted},
            showlegend=False,
        )
    predicted = line(curve.predicted_angles, text("law"), color=look.ink, width=1.8, dash=PREDICTED)
    return [measured, predicted, claim]


def _angle_title(result: AngularUpdate) -> str:
    """What the angles are, and their law."""
    if not result.has_law:
        return text("angle θ of a step")
    law = _law(result, result.curve.optimizer.power)
    return text("angle θ of a step; law: tan θ {law}", law=law)


def _other(result: AngularUpdate) -> tuple[Array, str]:
    """The angles by the other power, and its name: for gradient descent, when it would hold."""
    power = 3 - result.curve.optimizer.power
    name = text("with ‖G‖ fixed") if power == 1 else _law(result, power)
    return result.curve.angles_by_power(power), name


def _law(result: AngularUpdate, power: int) -> str:
    return f"∝ 1/{result.symbol}{'²' * (power == 2)}"


def _dot(result: AngularUpdate, step: int, color: str, ink: str) -> Trace:
    """Return where a frame is on the line."""
    return {
        "type": "scatter",
        "x": [float(result.curve.norms[step])],
        "y": [float(np.degrees(result.curve.angles[step]))],
        "mode": "markers",
        "marker": {"size": 15, "color": color, "line": {"color": ink, "width": 2}},
        "xaxis": "x2",
        "yaxis": "y2",
        "showlegend": False,
        "cliponaxis": False,
        "hoverinfo": "skip",
    }


def _plane_axes(plane: Plane, gradient: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    across = text("gradient step −Ĝ") if gradient else text("toward the step")
    if plane.stretch != 1:
        letters = text("−Ĝ") if gradient else text("step")
        across = text("{axis}, drawn × {stretch}", axis=letters, stretch=fraction(plane.stretch))
    plain = {"showgrid": False, "zeroline": False, "constrain": "range"}
    up = {
        "title": across,
        "scaleanchor": "x",
        "scaleratio": plane.stretch,
        "exponentformat": "power",
        "nticks": NUMBERS,
    }
    return {"title": text("along the weights ŵ"), **plain}, up | plain


def _angle_axes(result: AngularUpdate) -> tuple[dict[str, Any], dict[str, Any]]:
    curve = result.curve
    shown = [curve.angles, _other(result)[0]] if result.has_law else [curve.angles]
    seen = np.degrees(np.concatenate(shown))
    low, high = np.log10([seen.min(), seen.max()])
    high = min(max(high, low + 1), np.log10(180))
    decades = max(high - low, 1.0)
    # There is room for the number beside the first dot, and below the last.
    first, last = np.log10(curve.norms[[0, -1]]).tolist()
    return (
        {
            "type": "log",
            "title": norm_of(result),
            "range": [first - 0.25 * (last - first), last + 0.05 * (last - first)],
            "tickvals": curve.norms[::2],
            "ticktext": [fraction(norm) for norm in curve.norms[::2].tolist()],
        },
        {
            "type": "log",
            "range": [low - 0.3 * decades, high + 0.08 * decades],
            "tickvals": log_ticks(10**low, 10**high),
            "ticktext": [f"{number(value)}°" for value in log_ticks(10**low, 10**high)],
        },
    )
