"""The KL of ever longer steps, against the quadratic form that it begins with."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.pictures.captions import variant
from normgeo.pictures.fisher.longer_steps import NOTHING, LongerSteps
from normgeo.pictures.style.annotations import colored, method_title
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.sheet import Band, Panel, Sheet, on_panel, told
from normgeo.pictures.style.template import MEASURED, PREDICTED, SIZE, THEMES

WIDTHS = (6.5, 3.5, 1.5)  # of the lines, a direction each
NAMES = (text("along the weights ŵ"), text("steepest across"), text("at random across"))


def figure(result: LongerSteps, theme: str) -> go.Figure:
    """Draw KL solid and ½ δᵀFδ dashed against the length of the step, and their ratio."""
    look = THEMES[theme]
    lines = [
        line
        for m, k in np.ndindex(result.silent.shape)
        if not result.silent[m, k] and not np.isnan(result.quadratic[m, k]).all()
        for line in _lines(result, m, k, theme)
    ]
    keys = [
        (str(direction), {"color": look.muted, "width": width})
        for direction, width in zip(NAMES, WIDTHS, strict=True)
    ]
    keys.append(("½ δᵀFδ", {"color": look.ink, "width": 1.5, "dash": PREDICTED}))
    base = result.base
    about = text("{name}; {about}", name=base.name, about=base.caption)
    foot = [told(theme, about, str(base.which))]
    return Sheet([_answer(result)], rows=[_panels(result, theme)], foot=foot).on(
        [
            *lines,
            *(go.Scatter(x=[None], y=[None], mode="lines", name=n, line=line) for n, line in keys),
        ],
        theme,
    )


def _answer(result: LongerSteps) -> Band:
    """Say how well the quadratic form predicts the KL of the shortest step."""
    ratios = result.ratio[~result.silent][..., 0]
    if not np.isfinite(ratios).any():
        return Band([])
    words = text(
        "<b>A step of {length} ‖w‖: the KL is ½ δᵀFδ, to within {error:.1%}</b>",
        length=number(float(result.lengths[0])),
        error=float(np.nanmax(np.abs(ratios - 1))),
    )
    return Band([words], SIZE + 4)


def _lines(result: LongerSteps, m: int, k: int, theme: str) -> list[go.Scatter]:
    """Return the lines of a model and a direction: KL, its quadratic form, and the ratio."""
    look, normalizer = THEMES[theme], result.base.points[m].normalizer
    words = f"{normalizer.title}, {NAMES[k]}"
    solid = {"color": method_color(normalizer, theme), "dash": MEASURED, "width": WIDTHS[k]}
    dashed = {"color": look.ink, "dash": PREDICTED, "width": 1.5}
    ratio = text("KL over ½ δᵀFδ, {words}", words=words)
    return [
        _line(result.lengths, result.kl[m, k], f"KL, {words}", m + 1, solid),
        _line(result.lengths, result.quadratic[m, k], f"½ δᵀFδ, {words}", m + 1, dashed),
        _line(result.lengths, result.ratio[m, k], ratio, len(result.base.points) + 1, solid),
    ]


def _line(x: Array, y: Array, name: str, panel: int, line: dict[str, Any]) -> go.Scatter:
    return go.Scatter(
        x=x,
        y=np.where(y > 0, y, np.nan),
        mode="lines",
        name=name,
        **on_panel(panel),
        showlegend=False,
        line=line,
        hovertemplate=text(
            "{name}: {value} at {length}<extra></extra>",
            name=name,
            value="%{y:.3g}",
            length="%{x:.3g}",
        ),
    )


def _panels(result: LongerSteps, theme: str) -> list[Panel]:
    """Return a panel for each model, and that of the ratio."""
    seen = result.quadratic[result.quadratic > NOTHING]
    # A Poisson KL grows as an exponential, beyond any axis: it leaves at the top.
    low, high = np.log10(seen.min() / 3), np.log10(30 * seen.max())
    log = {"type": "log", "exponentformat": "power", "dtick": 1}
    x = {**log, "range": [-3, 1], "title": text("length of the step ‖δ‖/‖w‖")}
    nats = {**log, "range": [low, high], "dtick": 2 if high - low < 16 else 4}
    panels, muted = [], THEMES[theme].muted
    for m, point in enumerate(result.base.points):
        line = text("KL solid, ½ δᵀFδ dashed")
        if result.silent[m].any():
            direction = NAMES[int(result.silent[m].argmax())]
            line = text("{direction}: both are 0", direction=direction)
        title = method_title(point.normalizer, theme, variant(point.normalizer))
        y = nats | ({} if m else {"title": text("nats per case")})
        panels.append(Panel(x, y, [title, colored(line, muted)], high=(264, 230)))
    ratio = [text("<b>the ratio of both</b>"), colored(text("→ 1 for short steps"), muted)]
    y = {**log, "range": [-2.3, 1], "title": text("KL over ½ δᵀFδ")}
    return [*panels, Panel(x, y, ratio, high=(264, 230))]
