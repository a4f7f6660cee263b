"""Norm and angle per step under weight decay, settling from three norms: simulated and real."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.progress import Ended
from normgeo.base.text import text
from normgeo.dynamics.equilibrium import settled
from normgeo.dynamics.optimizer import Equilibrium
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.style.lines import (
    end_mark,
    line,
    predicted_style,
    start_styles,
    words,
    wrapped,
)
from normgeo.pictures.style.template import SIZE, THEMES, dress, log_ticks, method_color

LEFT, RIGHT = (0.0, 0.47), (0.53, 1.0)
UPPER, LOWER = (0.55, 1.0), (0.0, 0.45)
MOST = 60.0  # a run may leave the picture by this factor


class Course(NamedTuple):
    """A run of T steps.

    Attributes:
        norms: ‖w‖, (T+1,). angles: radians, (T,). ended: why it ended early.

    """

    norms: Array
    angles: Array
    ended: Ended | None = None

    @property
    def settled_norm(self) -> float:
        """The root mean square of ‖w‖ over the last half of the run."""
        return float(settled(self.norms, self.angles).norm)

    @property
    def settled_angle(self) -> float:
        """The mean angle over the last half of the run, radians; NaN without a step."""
        return float(settled(self.norms, self.angles).angle)


def deviations(courses: Sequence[Course], predicted: Equilibrium) -> tuple[float, float]:
    """Return the largest |measured/predicted − 1| of the settled norm and angle."""
    norms = [abs(c.settled_norm / float(predicted.norm) - 1) for c in courses if len(c.angles)]
    angles = [abs(c.settled_angle / float(predicted.angle) - 1) for c in courses if len(c.angles)]
    return max(norms), max(angles)


def equilibrium_figure(
    simulated: Sequence[Course],
    real: Sequence[Course],
    predicted: Equilibrium | None,
    normalizer: Normalizer,
    *,
    symbol: str,
    about: str,
    data: str,
    assumes: str,
    theme: str,
) -> go.Figure:
    """Draw norm above angle, a simulation at the left and real data at the right.

    Args:
        simulated, real: runs from three norms. predicted: of the equilibrium, None without a law.
        normalizer: for its color. symbol: of the norm. about: what runs. data: what it sees.
        assumes: of the law. theme: of the figure.

    """
    look = THEMES[theme]
    figure = go.Figure()
    styles = start_styles(method_color(normalizer), theme)
    last = max(len(course.angles) for course in (*simulated, *real))
    for column, courses in enumerate((simulated, real)):
        for place in reversed(range(len(courses))):
            course = courses[place]
            name = text("from {symbol} = {norm:.3g}", symbol=symbol, norm=course.norms[0])
            points, degrees = np.arange(len(course.norms)), np.degrees(course.angles)
            for panel, steps, values in (
                (1 + column, points, course.norms),
                (3 + column, points[1:], degrees),
            ):
                figure.add_trace(line(steps, values, panel, name, styles[place], panel == 1))
                if course.ended:
                    figure.add_trace(end_mark(steps, values, panel, look.ink))
        if predicted is not None:
            levels = (float(predicted.norm), float(np.degrees(predicted.angle)))
            for panel, level in zip((1 + column, 3 + column), levels, strict=True):
                figure.add_trace(
                    line(
                        np.array([0, last]),
                        np.array([level, level]),
                        panel,
                        text("predicted"),
                        predicted_style(theme),
                        panel == 1,
                    )
                )
    lines = [about, *wrapped(assumes)]
    if predicted is None:
        lines[1:] = [
            text(
                "No law is known: this decay is a part of the gradient, and is divided "
                "by its scale. AdamW, whose decay stands apart, has one."
            )
        ]
    dress(figure, theme, height=470 + 19 * (len(lines) - 1))
    _axes(figure, (*simulated, *real), predicted, last, symbol)
    titles = (
        text(
            "<b>simulation</b>: a gradient of constant √Γ on the unit sphere, in random directions"
        ),
        text("<b>real</b>: {data}", data=data),
    )
    small = {"size": SIZE - 1}
    captions = []
    for title, courses, domain in zip(titles, (simulated, real), (LEFT, RIGHT), strict=True):
        captions.append(
            words([title, _settled(courses, predicted)], domain[0], 1, yshift=4, font=small)
        )
    figure.update_layout(
        margin={"l": 8, "r": 8, "t": 92 + 19 * len(lines), "b": 44},
        legend={
            "x": 0,
            "xanchor": "left",
            "y": 1.0,
            "yref": "paper",
            "yanchor": "bottom",
            "font": {"size": SIZE - 1},
            "traceorder": "reversed",
        },
        annotations=[*captions, words(lines, yshift=76)],
    )
    room = figure.layout.height - figure.layout.margin.t - figure.layout.margin.b
    figure.update_layout({"legend.y": 1 + 46 / room})
    return figure


def _settled(courses: Sequence[Course], predicted: Equilibrium | None) -> str:
    """Return where the runs have come to, beside the prediction."""
    begun = [course for course in courses if len(course.angles)]
    norms = [course.settled_norm for course in begun]
    angles = np.degrees([course.settled_angle for course in begun])
    if predicted is None:
        return text(
            "last half: norm {norm:.3g}, angle {angle:.3g}°",
            norm=np.mean(norms),
            angle=np.mean(angles),
        )
    off = deviations(courses, predicted)
    return text(
        "last half: norm {norm:.3g} (predicted {star:.3g}, off by up to {norm_off:.1f} %), angle "
        "{angle:.3g}° ({turn:.3g}°, {angle_off:.1f} %)",
        norm=np.mean(norms),
        star=float(predicted.norm),
        norm_off=100 * off[0],
        angle=np.mean(angles),
        turn=np.degrees(float(predicted.angle)),
        angle_off=100 * off[1],
    )


def _axes(
    figure: go.Figure,
    courses: Sequence[Course],
    predicted: Equilibrium | None,
    last: int,
    symbol: str,
) -> None:
    norms = np.concatenate([course.norms for course in courses])
    angles = np.degrees(np.concatenate([course.angles for course in courses]))
    middle = (float(np.median(norms)), float(np.median(angles)))
    if predicted is not None:
        middle = (float(predicted.norm), float(np.degrees(predicted.angle)))
    ranges = [
        _log_range(values, level) for values, level in zip((norms, angles), middle, strict=True)
    ]
    across = {"range": [-0.01 * last, 1.01 * last]}
    names = (
        text("norm of the weights {symbol}", symbol=symbol),
        text("angle per step θ, degrees"),
    )
    for panel, (domain, row, kind) in enumerate(
        ((LEFT, UPPER, 0), (RIGHT, UPPER, 0), (LEFT, LOWER, 1), (RIGHT, LOWER, 1)), start=1
    ):
        low, high = ranges[kind]
        figure.update_layout(
            {
                f"xaxis{panel}": {
                    **across,
                    "domain": domain,
                    "anchor": f"y{panel}",
                    "showticklabels": kind == 1,
                    "title": text("step") if kind else None,
                },
                f"yaxis{panel}": {
                    "domain": row,
                    "anchor": f"x{panel}",
                    "type": "log",
                    "range": [np.log10(low), np.log10(high)],
                    "tickvals": log_ticks(low, high),
                    "exponentformat": "power",
                    "title": names[kind] if domain is LEFT else None,
                    "showticklabels": domain is LEFT,
                },
            }
        )


def _log_range(values: Array, level: float) -> tuple[float, float]:
    """Return what an axis shows: all values within a factor of the level."""
    near = values[(values > level / MOST) & (values < level * MOST)]
    near = np.append(near, level)
    return float(near.min() / 1.15), float(near.max() * 1.15)
