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
from normgeo.pictures.style.colors import blend, method_color
from normgeo.pictures.style.template import LEGEND_ABOVE, MEASURED, PREDICTED, THEMES, dress

PANELS = ((0.0, 0.3), (0.35, 0.65), (0.72, 1.0))
SHARES = (0.45, 1.0, 0.7)  # of the method's color, a direction each
NAMES = (text("along the weights ŵ"), text("steepest across"), text("at random across"))


def figure(result: LongerSteps, theme: str) -> go.Figure:
    """Draw KL solid and ½ δᵀFδ dashed against the length of the step, and their ratio."""
    look, drawn = THEMES[theme], go.Figure()
    for m, k in np.ndindex(result.silent.shape):
        if not result.silent[m, k] and not np.isnan(result.quadratic[m, k]).all():
            drawn.add_traces(_lines(result, m, k, theme))
    for direction, share in zip(NAMES, SHARES, strict=True):
        shade = blend(look.paper, look.muted, share)
        drawn.add_scatter(
            x=[None], y=[None], mode="lines", name=str(direction), line={"color": shade, "width": 3}
        )
    drawn.add_scatter(
        x=[None],
        y=[None],
        mode="lines",
        name="½ δᵀFδ",
        line={"color": look.ink, "width": 1.5, "dash": PREDICTED},
    )
    dress(drawn, theme, height=420)
    drawn.update_layout(
        _axes(result.quadratic),
        margin={"l": 8, "r": 8, "t": 104, "b": 48},
        legend=LEGEND_ABOVE,
        annotations=_heads(result, look.muted),
    )
    return drawn


def _lines(result: LongerSteps, m: int, k: int, theme: str) -> list[go.Scatter]:
    """Return the lines of a model and a direction: KL, its quadratic form, and the ratio."""
    look, normalizer = THEMES[theme], result.base.points[m].normalizer
    shade = blend(look.paper, method_color(normalizer), SHARES[k])
    words = f"{normalizer.title}, {NAMES[k]}"
    solid = {"color": shade, "dash": MEASURED, "width": 3.0}
    dashed = {"color": look.ink, "dash": PREDICTED, "width": 1.5}
    ratio = text("KL over ½ δᵀFδ, {words}", words=words)
    return [
        _line(result.lengths, result.kl[m, k], f"KL, {words}", m + 1, solid),
        _line(result.lengths, result.quadratic[m, k], f"½ δᵀFδ, {words}", m + 1, dashed),
        _line(result.lengths, result.ratio[m, k], ratio, 3, {**solid, "width": 2.5}),
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
    layout["yaxis3"] |= {"title": text("KL over ½ δᵀFδ"), "range": [-2, 1], "dtick": 1}
    return layout


def _heads(result: LongerSteps, muted: str) -> list[dict[str, Any]]:
    base = result.base
    heads = [note([base.name, colored(f"{base.caption}; {base.which}", muted)], yshift=52)]
    for m, point in enumerate(base.points):
        line = text("KL solid, ½ δᵀFδ dashed")
        if result.silent[m].any():
            direction = NAMES[int(result.silent[m].argmax())]
            line = text("{direction}: both are 0", direction=direction)
        title = method_title(point.normalizer, variant(point.normalizer))
        heads.append(note([title, colored(line, muted)], PANELS[m][0], yshift=4))
    lines = [
        f"<b>{text('the ratio of both')}</b>",
        colored(text("→ 1 for short steps"), muted),
    ]
    return [*heads, note(lines, PANELS[2][0], yshift=4)]
