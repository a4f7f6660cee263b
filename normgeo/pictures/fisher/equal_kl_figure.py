"""Contours of the true KL over the ellipses of its quadratic form, two planes for each model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.fisher.contours import Contours
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.style.template import (
    LEGEND_ABOVE,
    MEASURED,
    PREDICTED,
    THEMES,
    above,
    blend,
    colored,
    dress,
    method_color,
    method_title,
    rounded,
)

ACROSS, ALONG = (0.0, 0.47), (0.53, 1.0)
BETWEEN = 0.02
SHARES = (1.0, 0.7, 0.45)


def contours_figure(
    models: Sequence[tuple[Normalizer, str]],
    across: Sequence[Contours | None],
    along: Sequence[Contours | None],
    *,
    name: str,
    about: str,
    which: str,
    theme: str,
) -> go.Figure:
    """Draw KL = c solid and ½ δᵀFδ = c dashed for three levels.

    Args:
        models: one or two, with what is unusual about each. across, along: the contours of each
            in its two planes, in units of ‖w‖. name: of the weights. about, which: of the models
            and their Fisher information. theme: of the figure.

    """
    look, figure = THEMES[theme], go.Figure()
    in_legend = True
    for part, sides in enumerate((across, along)):
        for place, contours in enumerate(sides):
            if contours is None:
                continue
            panel = place + 1 + len(models) * part
            color = method_color(models[place][0])
            for level, quadratic, true, share in zip(
                contours.levels, contours.quadratic, contours.true, SHARES, strict=True
            ):
                shade = blend(look.paper, color, share)
                words = text("KL = {c:.3g} nats", c=level)
                figure.add_trace(_curve(true, words, panel, contours.strip, color=shade, width=3))
                words = text("½ δᵀFδ = {c:.3g} nats", c=level)
                figure.add_trace(
                    _curve(
                        quadratic,
                        words,
                        panel,
                        contours.strip,
                        color=look.ink,
                        width=1.2,
                        dash=PREDICTED,
                    )
                )
            figure.add_scatter(
                x=[0],
                y=[0],
                mode="markers",
                marker={"size": 7, "color": look.ink},
                xaxis=f"x{panel}",
                yaxis=f"y{panel}",
                showlegend=False,
                hoverinfo="skip",
            )
    for line, words in (
        ({"color": look.muted, "width": 3, "dash": MEASURED}, text("KL = c, true")),
        ({"color": look.ink, "width": 1.2, "dash": PREDICTED}, text("½ δᵀFδ = c")),
    ):
        figure.add_scatter(
            x=[None], y=[None], mode="lines", line=line, name=words, showlegend=in_legend
        )
    dress(figure, theme, height=452)
    figure.update_layout(
        _axes(across, along),
        margin={"l": 8, "r": 8, "t": 124, "b": 48},
        legend=LEGEND_ABOVE,
        annotations=_heads(models, across, along, name, f"{about}; {which}", look.muted),
    )
    return figure


def _curve(points: Array, words: str, panel: int, strip: bool, **line: Any) -> go.Scatter:
    return go.Scatter(
        x=points[:, 0].astype(np.float32),
        y=points[:, 1].astype(np.float32),
        mode="lines",
        line={"dash": MEASURED, "shape": "linear" if strip else "spline", **line},
        name=words,
        xaxis=f"x{panel}",
        yaxis=f"y{panel}",
        showlegend=False,
        hoverinfo="name",
        hoverlabel={"namelength": -1},
    )


def _axes(
    across: Sequence[Contours | None], along: Sequence[Contours | None]
) -> dict[str, dict[str, Any]]:
    """Return axes in which the panels of a part share one scale, the same up as sideways."""
    layout: dict[str, dict[str, Any]] = {}
    for part, (sides, (left, right)) in enumerate(((across, ACROSS), (along, ALONG))):
        width = (right - left - BETWEEN * (len(across) - 1)) / max(2, len(across))
        far = 1.1 * max((_extent(c) for c in sides if c is not None), default=1.0)
        for place in range(len(sides)):
            n, start = place + 1 + len(sides) * part, left + place * (width + BETWEEN)
            along_x = (
                text("along the weights ŵ") if part else text("a direction at random across ŵ")
            )
            along_y = "" if place else text("the steepest across ŵ")
            plain = {"zeroline": False, "constrain": "domain", "nticks": 6}
            layout[f"xaxis{n}"] = {
                "domain": (start, start + width),
                "anchor": f"y{n}",
                "range": [-far, far],
                "title": along_x,
                **plain,
            }
            layout[f"yaxis{n}"] = {
                "anchor": f"x{n}",
                "range": [-far, far],
                **plain,
                "scaleanchor": f"x{n}",
                "showticklabels": not place,
                "title": along_y,
            }
    return layout


def _extent(contours: Contours) -> float:
    """Return how far a panel must reach: to all of the ellipses, or along a strip to the origin."""
    if contours.strip:
        return max(1.0, float(np.nanmax(np.abs(contours.quadratic[..., 1]))))
    both = np.abs(np.concatenate([contours.quadratic, contours.true]))
    return float(np.nanmax(both))


def _heads(
    models: Sequence[tuple[Normalizer, str]],
    across: Sequence[Contours | None],
    along: Sequence[Contours | None],
    name: str,
    about: str,
    muted: str,
) -> list[dict[str, Any]]:
    first = text("<b>{name}</b>: steps in units of ‖w‖", name=name)
    words = [(0.0, 66, f"{first}<br>{colored(about, muted)}")]
    for part, sides, (left, right) in ((0, across, ACROSS), (1, along, ALONG)):
        width = (right - left - BETWEEN * (len(models) - 1)) / max(2, len(models))
        for place, ((normalizer, more), contours) in enumerate(zip(models, sides, strict=True)):
            title = method_title(normalizer, more)
            line = colored(_told(contours, part), muted)
            words.append((left + place * (width + BETWEEN), 4, f"{title}<br>{line}"))
    return [above(line, x, shift) for x, shift, line in words]


def _told(contours: Contours | None, along: int) -> str:
    """Say what is seen in a panel."""
    if contours is None:
        return text("stopped") if along else text("no second direction across, or stopped")
    first, second = contours.metric.diagonal()
    if not along:
        ratio = text("curvatures {a} : {b}", a=rounded(first), b=rounded(second))
        return text("across ŵ: {ratio}", ratio=ratio)
    if contours.strip:
        share = first / second
        flat = (
            text("no curvature")
            if abs(share) < 1e-9
            else text("{share:.1g} × the curvature", share=share)
        )
        return text("with ŵ: {flat} along ŵ", flat=flat)
    return text("with ŵ: curvatures {a} : {b}", a=rounded(first), b=rounded(second))
