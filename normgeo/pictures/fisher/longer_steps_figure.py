"""The KL of ever longer steps, against the quadratic form that it begins with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.text import text
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
)

PANELS = ((0.0, 0.3), (0.35, 0.65), (0.72, 1.0))
NOTHING = 1e-13  # nats at a step as long as w: less is rounding
SHARES = (0.45, 1.0, 0.7)


def growth_figure(
    models: Sequence[tuple[Normalizer, str]],
    lengths: Array,
    kl: Array,
    quadratic: Array,
    *,
    name: str,
    about: str,
    which: str,
    theme: str,
) -> go.Figure:
    """Draw KL solid and ½ δᵀFδ dashed against the length of the step, and their ratio.

    Args:
        models: one or two, with what is unusual about each. lengths: over ‖w‖, (n,).
        kl, quadratic: for each model and direction, ŵ first, (M, k, n). name: of the weights.
        about, which: of the models and their Fisher information. theme: of the figure.

    """
    look, figure = THEMES[theme], go.Figure()
    names = (text("along the weights ŵ"), text("steepest across"), text("at random across"))
    one = int(np.abs(lengths - 1).argmin())
    silent = []
    for m, (normalizer, _) in enumerate(models):
        for k, direction in enumerate(names[: kl.shape[1]]):
            shade = blend(look.paper, method_color(normalizer), SHARES[k])
            words = f"{normalizer.title}, {direction}"
            if np.isnan(quadratic[m, k, one]):
                continue
            if quadratic[m, k, one] < NOTHING:
                silent.append((m, direction))
                continue
            for values, dash, label, width in (
                (kl[m, k], MEASURED, "KL", 3.0),
                (quadratic[m, k], PREDICTED, "½ δᵀFδ", 1.5),
            ):
                color = shade if dash == MEASURED else look.ink
                figure.add_trace(
                    _line(lengths, values, f"{label}, {words}", m + 1, color, dash, width)
                )
            figure.add_trace(
                _line(
                    lengths,
                    kl[m, k] / quadratic[m, k],
                    text("KL over ½ δᵀFδ, {words}", words=words),
                    3,
                    shade,
                    MEASURED,
                    2.5,
                )
            )
    for direction, share in zip(names, SHARES, strict=True):
        shade = blend(look.paper, look.muted, share)
        figure.add_scatter(
            x=[None], y=[None], mode="lines", name=direction, line={"color": shade, "width": 3}
        )
    figure.add_scatter(
        x=[None],
        y=[None],
        mode="lines",
        name="½ δᵀFδ",
        line={"color": look.ink, "width": 1.5, "dash": PREDICTED},
    )
    dress(figure, theme, height=420)
    figure.update_layout(
        _axes(quadratic, kl),
        margin={"l": 8, "r": 8, "t": 104, "b": 48},
        legend=LEGEND_ABOVE,
        annotations=_heads(models, silent, name, f"{about}; {which}", look.muted),
    )
    return figure


def _line(
    x: Array, y: Array, name: str, panel: int, color: str, dash: str, width: float
) -> go.Scatter:
    return go.Scatter(
        x=x,
        y=np.where(y > 0, y, np.nan),
        mode="lines",
        name=name,
        xaxis=f"x{panel}",
        yaxis=f"y{panel}",
        showlegend=False,
        line={"color": color, "dash": dash, "width": width},
        hovertemplate=text(
            "{name}: {value} at {length}<extra></extra>",
            name=name,
            value="%{y:.3g}",
            length="%{x:.3g}",
        ),
    )


def _axes(quadratic: Array, kl: Array) -> dict[str, Any]:
    seen = quadratic[quadratic > NOTHING]
    # A Poisson KL grows as an exponential, beyond any axis: it leaves at the top.
    low, high = np.log10(seen.min() / 3), np.log10(30 * seen.max())
    apart = 2 if high - low < 16 else 4
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
            "dtick": apart,
            "title": text("nats per case") if n == 1 else "",
        }
    layout["yaxis3"] |= {"title": text("KL over ½ δᵀFδ"), "range": [-2, 1], "dtick": 1}
    return layout


def _heads(
    models: Sequence[tuple[Normalizer, str]],
    silent: Sequence[tuple[int, str]],
    name: str,
    about: str,
    muted: str,
) -> list[dict[str, Any]]:
    words = [(0.0, 52, f"{name}<br>{colored(about, muted)}")]
    for m, (normalizer, more) in enumerate(models):
        title = method_title(normalizer, more)
        none = [direction for at, direction in silent if at == m]
        line = text("KL solid, ½ δᵀFδ dashed")
        if none:
            line = text("{direction}: both are 0", direction=none[0])
        words.append((PANELS[m][0], 4, f"{title}<br>{colored(line, muted)}"))
    line = text("→ 1 for short steps")
    words.append((PANELS[2][0], 4, f"<b>{text('the ratio of both')}</b><br>{colored(line, muted)}"))
    return [above(line, x, shift) for x, shift, line in words]
