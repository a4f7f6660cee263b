"""Norm and angle of each block of a recorded run against the step, and where they balance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.pictures.style.annotations import note
from normgeo.pictures.style.colors import VERMILION, blend, method_color, on_paper
from normgeo.pictures.style.lines import line
from normgeo.pictures.style.sheet import Band, Panel, Sheet
from normgeo.pictures.style.template import MEASURED, PREDICTED, SIZE, THEMES, log_ticks
from normgeo.pictures.your_network.training import Run
from normgeo.recordings.findings import BlockFinding

MOST = 24  # blocks: more lines cannot be told apart


def figure(result: Run, theme: str) -> go.Figure:
    """Draw the norms above the angles, what is measured solid and what is predicted dashed."""
    last = int(result.steps[-1])
    x = {"range": [-0.01 * last, 1.01 * last]}
    norms, angles = np.transpose([balance(found) for found in result.findings])
    return Sheet(
        [Band([f"<b>{_words(result)}</b>"], size=22)],
        rows=[
            [
                Panel(
                    x,
                    _upward(np.append(result.norms, norms), text("norm ‖w‖")),
                    notes=list(_name(result, theme)),
                    high=(184, 230),
                )
            ],
            [
                Panel(
                    x | {"title": text("step")},
                    _upward(np.append(result.angles, angles), text("angle, degrees")),
                    high=(176, 230),
                )
            ],
        ],
    ).on([*_blocks(result, theme)], theme)


def _name(result: Run, theme: str) -> Iterator[dict[str, Any]]:
    """The name of the selected block, above the end of its norm."""
    if result.lit is None:
        return
    norms = result.norms[:, result.lit]
    known = np.flatnonzero(np.isfinite(norms) & (norms > 0))
    if len(known):
        yield note(
            text("<b>{block!s}</b>", block=result.findings[result.lit].name),
            float(result.steps[known[-1]]),
            float(np.log10(norms[known[-1]])),
            xref="x",
            yref="y",
            xanchor="right",
            yshift=10,
            font={"size": SIZE, "color": THEMES[theme].ink},
        )


def _words(result: Run) -> str:
    shown = len(drawn_blocks(result))
    if shown == len(result.findings):
        return str(result.headline)
    return f"{result.headline} " + text("{shown} of them are drawn.", shown=shown)


def drawn_blocks(result: Run) -> list[int]:
    """Which blocks are drawn: of many, some of each angle, and the selected one."""
    angles = np.array([found.angle for found in result.findings])
    order = np.argsort(angles)
    places = np.unique(np.linspace(0, len(order) - 1, min(MOST, len(order))).astype(int))
    lit = [] if result.lit is None else [result.lit]
    return sorted({*order[places].tolist(), *lit})


def _blocks(result: Run, theme: str) -> Iterator[go.Scatter]:
    """The lines of every block: measured, by the law, and in balance over the last half."""
    look, named = THEMES[theme], set()
    light = {"color": look.ink, "width": 7.0}
    half = result.steps[[len(result.steps) // 2, -1]]
    for b in sorted(drawn_blocks(result), key=lambda b: b == result.lit):
        found = result.findings[b]
        color = method_color(result.normalizers[b], theme)
        if found.is_frozen:
            kind, color = text("frozen"), on_paper(VERMILION, theme)
        elif found.is_balanced:
            kind = text("in balance")
        else:
            kind, color = text("neither"), look.muted
        measured = {"color": color, "width": 2.0, "dash": MEASURED}
        law = {"color": blend(look.paper, color, 0.6), "width": 1.5, "dash": PREDICTED}
        level = {"color": look.ink, "width": 1.5, "dash": PREDICTED}
        both = (result.norms, result.norm_law), (result.angles, result.angle_law)
        for panel, ((values, by_law), at) in enumerate(
            zip(both, balance(found), strict=True), start=1
        ):
            for name, steps, numbers, style in (
                (kind, result.steps, values[:, b], measured),
                (text("by the law of the optimizer"), result.steps, by_law[:, b], law),
                (text("growth and decay balance"), half, np.full(2, at), level),
            ):
                heights = np.where(numbers > 0, numbers, np.nan)
                if not np.isfinite(heights).any():
                    continue
                if b == result.lit and style is measured:
                    around = line(steps, heights, panel, text("selected"), light)
                    yield around.update(hoverinfo="skip", hovertemplate=None)
                drawn = line(steps, heights, panel, name, style, str(name) not in named)
                drawn.hovertemplate = text(
                    "{block!s}, {name!s}, step {step}: {value}<extra></extra>",
                    block=found.name,
                    name=name,
                    step="%{x}",
                    value="%{y:.4g}",
                )
                named.add(str(name))
                yield drawn


def balance(found: BlockFinding) -> tuple[float, float]:
    """Norm and angle of the balance, in degrees, NaN where there is none."""
    norm = found.balance.norm if found.balance else np.nan
    return norm, float(np.degrees(found.balanced_angle))


def _upward(values: Array, title: str) -> dict[str, Any]:
    low, high = _range(values)
    return {
        "type": "log",
        "range": [np.log10(low), np.log10(high)],
        "tickvals": _ticks(low, high),
        "exponentformat": "power",
        "title": title,
    }


def _ticks(low: float, high: float) -> list[float]:
    """At most five or so: a panel is low where both are presented."""
    ticks = [tick for tick in log_ticks(low, high) if low <= tick <= high]
    if len(ticks) > 6:
        ticks = [tick for tick in ticks if f"{tick:e}".startswith("1.0000")]
    return ticks[:: 1 + len(ticks) // 6]


def _range(values: Array) -> tuple[float, float]:
    """What an axis shows: all that is measured, and the balance."""
    seen = values[np.isfinite(values) & (values > 0)]
    if not len(seen):
        return 0.1, 10.0
    return float(seen.min() / 1.3), float(seen.max() * 1.3)
