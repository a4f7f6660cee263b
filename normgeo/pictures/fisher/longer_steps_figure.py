"""The KL of ever longer steps, against the quadratic form that it begins with."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.pictures.captions import variant
from normgeo.pictures.fisher.longer_steps import NOTHING, LongerSteps
from normgeo.pictures.style.annotations import colored, method_title, note
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.panels import head, lines_of, stacked
from normgeo.pictures.style.template import (
    LEFT_MARGIN,
    LEGEND_ABOVE,
    MEASURED,
    PREDICTED,
    SMALL,
    THEMES,
    dress,
)

PANELS = ((0.0, 0.3), (0.35, 0.65), (0.72, 1.0))
WIDTHS = (6.5, 3.5, 1.5)  # of the lines, a direction each
TOP, NARROW_TOP = 112, 282
NAMES = (text("along the weights ŵ"), text("steepest across"), text("at random across"))


def figure(result: LongerSteps, theme: str) -> go.Figure:
    """Draw KL solid and ½ δᵀFδ dashed against the length of the step, and their ratio."""
    look, drawn = THEMES[theme], go.Figure()
    for m, k in np.ndindex(result.silent.shape):
        if not result.silent[m, k] and not np.isnan(result.quadratic[m, k]).all():
            drawn.add_traces(_lines(result, m, k, theme))
    for direction, width in zip(NAMES, WIDTHS, strict=True):
        line = {"color": look.muted, "width": width}
        drawn.add_scatter(x=[None], y=[None], mode="lines", name=str(direction), line=line)
    drawn.add_scatter(
        x=[None],
        y=[None],
        mode="lines",
        name="½ δᵀFδ",
        line={"color": look.ink, "width": 1.5, "dash": PREDICTED},
    )
    dress(drawn, theme, height=428)
    drawn.update_layout(
        _axes(result.quadratic),
        margin={"t": TOP},
        legend=LEGEND_ABOVE,
        annotations=_heads(result, look.muted, narrow=False),
        meta={
            "narrow": {
                **stacked(_panels(result), each=230, between=122, top=NARROW_TOP, left=LEFT_MARGIN),
                "legend": {"x": 0, "xanchor": "left"},
                "annotations": _heads(result, look.muted, narrow=True),
            }
        },
    )
    return drawn


def _lines(result: LongerSteps, m: int, k: int, theme: str) -> list[go.Scatter]:
    """Return the lines of a model and a direction: KL, its quadratic form, and the ratio."""
    look, normalizer = THEMES[theme], result.base.points[m].normalizer
    words = f"{normalizer.title}, {NAMES[k]}"
    solid = {"color": method_color(normalizer), "dash": MEASURED, "width": WIDTHS[k]}
    dashed = {"color": look.ink, "dash": PREDICTED, "width": 1.5}
    ratio = text("KL over ½ δᵀFδ, {words}", words=words)
    return [
        _line(result.lengths, result.kl[m, k], f"KL, {words}", m + 1, solid),
        _line(result.lengths, result.quadratic[m, k], f"½ δᵀFδ, {words}", m + 1, dashed),
        _line(result.lengths, result.ratio[m, k], ratio, 3, solid),
    ]


def _line(x: Array, y: Array, name: str, panel: int, line: dict[str, Any]) -> go.Scatter:
    return go.Scatter(
        x=x,
        y=np.where(y > 0, y, np.nan),
        mode="lines",
        name=name,
        xaxis=f"x{panel}",
        yaxis=f"y{panel}",
        showlegend=False,
        line=line,
        hovertemplate=text(
            "{name}: {value} at {length}<extra></extra>",
            name=name,
            value="%{y:.3g}",
            length="%{x:.3g}",
        ),
    )


def _axes(quadratic: Array) -> dict[str, Any]:
    seen = quadratic[quadratic > NOTHING]
    # A Poisson KL grows as an exponential, beyond any axis: it leaves at the top.
    low, high = np.log10(seen.min() / 3), np.log10(30 * seen.max())
    log = {"type": "log", "exponentformat": "power", "dtick": 1}
    layout: dict[str, Any] = {}
    for n, domain in enumerate(PANELS, start=1):
        layout[f"xaxis{n}"] = {
            "domain": domain,
            "anchor": f"y{n}",
            "range": [-3, 1],
            **log,
            "title": text("length of the step ‖δ‖/‖w‖"),
        }
        layout[f"yaxis{n}"] = {
            "anchor": f"x{n}",
            "range": [low, high],
            **log,
            "dtick": 2 if high - low < 16 else 4,
            "title": text("nats per case") if n == 1 else "",
        }
    layout["yaxis3"] |= {"title": text("KL over ½ δᵀFδ"), "range": [-2.3, 1], "dtick": 1}
    return layout


def _panels(result: LongerSteps) -> list[list[int]]:
    """Return the numbers of the axes: one for each model, and that of the ratio."""
    return [[n] for n in (*range(1, len(result.base.points) + 1), 3)]


def _heads(result: LongerSteps, muted: str, *, narrow: bool) -> list[dict[str, Any]]:
    base = result.base
    about = (text("{name}; {about}", name=base.name, about=base.caption), str(base.which))
    lines = [colored(line, muted, SMALL) for line in lines_of(about, narrow)]
    heads = [note(lines, yanchor="top", yshift=NARROW_TOP - 86 if narrow else TOP - 2)]
    for m, point in enumerate(base.points):
        line = text("KL solid, ½ δᵀFδ dashed")
        if result.silent[m].any():
            direction = NAMES[int(result.silent[m].argmax())]
            line = text("{direction}: both are 0", direction=direction)
        title = method_title(point.normalizer, variant(point.normalizer))
        heads.append(head(m + 1, [title, colored(line, muted)]))
    ratio = f"<b>{text('the ratio of both')}</b>"
    return [*heads, head(3, [ratio, colored(text("→ 1 for short steps"), muted)])]
