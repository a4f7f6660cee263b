"""A small pair of axes for each experiment: held-out figure against steps, statement, verdict."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from normgeo.base.text import text
from normgeo.experiments.results import FASTER, LAYER
from normgeo.pictures.experiments.about import ABOUT, KINDS, NAMES, normalizer_of
from normgeo.pictures.experiments.multiples import VERDICTS, Experiment, Multiples
from normgeo.pictures.recurrent.curves_figure import Curve, reach, traces
from normgeo.pictures.recurrent.curves_figure import Panel as Curves
from normgeo.pictures.style.sheet import Band, Panel, Sheet, answer, axis_name, told
from normgeo.pictures.style.template import MEASURED, SMALL, THEMES, VARIANT, powers
from normgeo.tables import marks

SIGNS = {"holds": "✓", "fails": "✗"}  # what is not decided has no mark
HIGH = 125, 170
IN_A_ROW = 4
THIN = 2.5  # of a line in so small a panel
SHARE = f"{FASTER:.0%}"
RULE = text(
    "Holds: layer norm reaches its rival's best in at most {share} of the steps, in every seed. "
    "Fails: in as many or more, or never. Else open.",
    share=SHARE,
)
KEY = text(
    "Lower is better; bands: all seeds. %: the steps to the rival's best, of the rival's own. A "
    "claim holds with at most {share} in every seed, fails with 100% or more, or never, in every "
    "seed. Else it is open.",
    share=SHARE,
)
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
    drawn = traces(curves, theme)
    for one in drawn:
        one.line.width = min(one.line.width, THIN)
    whole = Sheet(
        [answer(result.headline), told(theme, KEY, on_slide=[RULE])],
        rows=[panels[at : at + IN_A_ROW] for at in range(0, len(panels), IN_A_ROW)],
    ).on(drawn, theme)
    picks = [_pick(n, *pair) for n, pair in enumerate(zip(result.experiments, curves, strict=True))]
    return whole.update_layout(meta={**whole.layout.meta, "picks": picks})


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
                NAMES[method],
                VARIANT if method in KINDS else MEASURED,
            )
            for method, learned in result.methods.items()
        ],
    )


def _panel(one: Experiment, curves: Curves, theme: str, *, names_steps: bool) -> Panel:
    about, sign = ABOUT[one.result.name], SIGNS.get(one.verdict, "")
    color = marks.color(sign, theme) if sign else THEMES[theme].muted
    word = f"<b>{VERDICTS[one.verdict]}</b>"
    faster = f"{text('faster')}, " if max(one.shares) < 1 else ""
    verdict = one.short if sign else f"{word}: {faster}{one.short}"
    statement = one.result.statement
    paper = text(
        "Paper {section}: {what}", section=statement.section.split()[-1], what=statement.compared
    )
    of_slide = f"{'' if sign else f'{word} '}{text('vs {rival}', rival=statement.rival)}"
    if statement.fast != LAYER:  # the rule of slides is of layer norm
        of_slide = f"{word}: {statement.short}?"
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
            Band([f"<b>{about.title}</b>"]),
            Band([paper], SMALL, on_slide=[]),
            Band([verdict], SMALL, color, sign, on_slide=[of_slide]),
        ],
    )


def _seen(one: Experiment, curves: Curves) -> list[float]:
    """The range of figures without those of the first steps, which are far from all others."""
    steps = np.array(one.result.steps)
    late = steps >= SKIPPED * steps[-1]
    shown = [curve._replace(values=curve.values[:, late]) for curve in curves.curves]
    return list(reach([curves._replace(curves=shown)]))


def _pick(place: int, one: Experiment, curves: Curves) -> dict[str, object]:
    """Where a click opens the tab of an experiment."""
    axes = [f"{letter}axis{axis_name('', place + 1)}" for letter in "xy"]
    box = [0, one.result.steps[-1], *_seen(one, curves), one.result.name]
    return {"setting": "tab", "axes": axes, "boxes": [box]}
