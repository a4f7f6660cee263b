"""Who reaches whose best in how many steps, a row for each experiment; below, its curves."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from normgeo.base.text import text
from normgeo.experiments.results import FASTER, IN_WORDS
from normgeo.pictures.experiments.about import ABOUT, KINDS, normalizer_of
from normgeo.pictures.experiments.multiples import Experiment, Multiples
from normgeo.pictures.recurrent.curves_figure import Curve, reach, traces
from normgeo.pictures.recurrent.curves_figure import Panel as Curves
from normgeo.pictures.style.colors import legible, method_color
from normgeo.pictures.style.sheet import (
    Band,
    Panel,
    Sheet,
    answer,
    axis_name,
    stretch,
    told,
    upright,
)
from normgeo.pictures.style.template import MEASURED, SMALL, THEMES, VARIANT, powers
from normgeo.tables import marks

SIGNS = {"holds": "✓", "fails": "✗"}  # what is not decided has no mark
HIGH, STEPS_HIGH = (125, 170), (230, 300)  # pixels of a panel
IN_A_ROW = 4
THIN = 2.5  # of a line in so small a panel
KEY = text(
    "Claim: the colored method is much faster. Holds: all dots (runs) ≤ {share} (as in "
    "§ 6.1). Fails: none below 100%. Else open.",
    share=f"{FASTER:.0%}",
)
FAR, NEVER, WORDS, END = 1.5, 1.7, 2.1, 3.05  # shares: the largest drawn, and what stands beyond
TOP = -1.0  # where the sides of 100% are named, in rows
SIDES = {"middle left": text("← faster "), "middle right": text(" slower →")}
UP = {"ranks": text("mean rank"), "%": text("error, %"), "nats": text("loss, nats")}
"""What stands at the left of curves, by the first word of their unit."""
SKIPPED = 0.1  # of the steps, for the range of figures


def figure(result: Multiples, theme: str) -> go.Figure:
    """Draw all experiments; a click on one opens it."""
    curves = [_curves(one) for one in result.experiments]
    below = (len(curves) - 1) // IN_A_ROW * IN_A_ROW  # the last row begins here
    panels = [
        _panel(*pair, theme, names_steps=place >= below)
        for place, pair in enumerate(zip(result.experiments, curves, strict=True))
    ]
    drawn = traces(curves, theme, first=2)
    for one in drawn:
        one.line.width = min(one.line.width, THIN)
    whole = Sheet(
        [answer(result.headline), told(theme, KEY)],
        rows=[
            [_steps(result, theme)],
            *(panels[at : at + IN_A_ROW] for at in range(0, len(panels), IN_A_ROW)),
        ],
        legend_over=1,
    ).on([*_dots(result, theme), *drawn], theme)
    rows = [
        [0, END, row - 0.5, row + 0.5, one.result.name]
        for row, one in enumerate(result.experiments)
    ]
    picks = [
        {"setting": "tab", "axes": ["xaxis", "yaxis"], "boxes": rows},
        *(_pick(n, *pair) for n, pair in enumerate(zip(result.experiments, curves, strict=True))),
    ]
    return whole.update_layout(meta={**whole.layout.meta, "picks": picks})


def _steps(result: Multiples, theme: str) -> Panel:
    """The steps to the best of another, as a share of its own: a row for each experiment."""
    look, count = THEMES[theme], len(result.experiments)
    ticks = {0.0: "0", FASTER: f"{FASTER:.0%}", 1.0: "100%", NEVER: text("never")}
    names = [_name(one, theme) for one in result.experiments]
    return Panel(
        {
            "range": [0, END],
            "tickvals": [*ticks],
            "ticktext": [*map(str, ticks.values())],
            "title": text("steps to reach the rival’s best; rival: 100% (×2: two runs)"),
            "zeroline": False,
            "showline": False,
        },
        {
            "range": [count - 0.4, TOP - 0.3],
            "tickvals": [*range(count)],
            "ticktext": names,
            "zeroline": False,
            "showgrid": False,
        },
        shapes=[stretch(0, FASTER, look.panel), upright(1, {"color": look.muted, "width": 1})],
        high=STEPS_HIGH,
    )


def _name(one: Experiment, theme: str) -> str:
    """What a row compares, the first in the color of its dots."""
    look, statement = THEMES[theme], one.result.statement
    fast, slow = statement.pair
    color = legible(method_color(normalizer_of(statement.fast), theme), look.paper, look.ink)
    return text(
        "{title}: {fast} vs {slow}",
        title=ABOUT[one.result.name].title,
        fast=f'<b style="color:{color}">{fast}</b>',
        slow=slow,
    )


def _dots(result: Multiples, theme: str) -> list[go.Scatter]:
    """A dot for the seeds at each place, and the verdict at the end of its row."""
    look, colors, x, y, times, told_ = THEMES[theme], [], [], [], [], []
    for row, one in enumerate(result.experiments):
        color = method_color(normalizer_of(one.result.statement.fast), theme)
        found: dict[float, list[str]] = {}
        for share in one.shares:
            place, words = NEVER, text("never")
            if np.isfinite(share):
                place, words = min(share, FAR), f"{share:.0%}"
            found.setdefault(place, []).append(words)
        for place, seeds in found.items():
            colors.append(color)
            x.append(place)
            y.append(row)
            times.append(f"<b> ×{len(seeds)}</b>" if len(seeds) > 1 else "")
            told_.append(", ".join(seeds))
    inks = [_ink(one, theme) for one in result.experiments]
    rows = range(len(inks))
    return [
        go.Scatter(  # a line of the grid, which does not go on through the verdict
            x=[0, NEVER, None] * len(inks),
            y=[y for row in rows for y in (row, row, None)],
            mode="lines",
            line={"color": look.grid, "width": 1},
            hoverinfo="skip",
            showlegend=False,
        ),
        go.Scatter(
            x=x,
            y=y,
            mode="markers+text",
            marker={"size": 10, "color": colors},
            text=times,
            textposition="middle right",
            textfont={"size": SMALL, "color": [legible(c, look.paper, look.ink) for c in colors]},
            hovertext=told_,
            hoverinfo="text",
            showlegend=False,
        ),
        go.Scatter(
            x=[WORDS] * len(inks),
            y=[*rows],
            mode="text",
            text=[f"<b>{one.told}</b>" for one in result.experiments],
            textposition="middle right",
            textfont={"size": SMALL, "color": inks},
            hoverinfo="skip",
            showlegend=False,
        ),
        go.Scatter(
            x=[1, 1],
            y=[TOP, TOP],
            mode="text",
            text=[*SIDES.values()],
            textposition=[*SIDES],
            textfont={"size": SMALL, "color": look.muted},
            hoverinfo="skip",
            showlegend=False,
        ),
    ]


def _ink(one: Experiment, theme: str) -> str:
    """The color of a verdict."""
    sign = SIGNS.get(one.verdict, "")
    return marks.color(sign, theme) if sign else THEMES[theme].muted


def _curves(one: Experiment) -> Curves:
    result = one.result
    return Curves(
        "",
        text("steps of training"),
        result.unit,
        [
            Curve(
                normalizer_of(method),
                np.array(result.steps),
                np.array(learned.validation),
                IN_WORDS[method],
                VARIANT if method in KINDS else MEASURED,
            )
            for method, learned in result.methods.items()
        ],
    )


def _panel(one: Experiment, curves: Curves, theme: str, *, names_steps: bool) -> Panel:
    about, sign = ABOUT[one.result.name], SIGNS.get(one.verdict, "")
    faster = f"{text('faster')}, " if one.faster else ""
    verdict = one.short if sign else f"{faster}{one.short}"
    statement = one.result.statement
    section = statement.section.split()[-1]
    return Panel(
        {
            "title": curves.across if names_steps else "",
            "range": [0, one.result.steps[-1]],
            "zeroline": False,
            "tickvals": powers(0, one.result.steps[-1]),
        },
        {
            "title": UP[curves.up.split()[0]],
            "range": _seen(one, curves),
            "zeroline": False,
            "nticks": 4,
        },
        high=HIGH,
        over=[
            Band([f"<b>{about.title}</b> {section}"]),
            Band([verdict], SMALL, _ink(one, theme), sign),
        ],
        on_slide=False,
    )


def _seen(one: Experiment, curves: Curves) -> list[float]:
    """The range of figures without those of the first steps, which are far from all others."""
    steps = np.array(one.result.steps)
    late = steps >= SKIPPED * steps[-1]
    shown = [curve._replace(values=curve.values[:, late]) for curve in curves.curves]
    return list(reach([curves._replace(curves=shown)]))


def _pick(place: int, one: Experiment, curves: Curves) -> dict[str, object]:
    """Where a click opens the tab of an experiment."""
    axes = [f"{letter}axis{axis_name('', place + 2)}" for letter in "xy"]
    box = [0, one.result.steps[-1], *_seen(one, curves), one.result.name]
    return {"setting": "tab", "axes": axes, "boxes": [box]}
