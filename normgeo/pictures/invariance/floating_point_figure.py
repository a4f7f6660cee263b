"""How exact a verdict is in floating point: the largest change of z against the strength."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from normgeo.base.text import text
from normgeo.invariance.floating_point import Sweep
from normgeo.pictures.invariance.floating_point import Sweeps
from normgeo.pictures.style.annotations import note
from normgeo.pictures.style.colors import blend
from normgeo.pictures.style.sheet import Band, Panel, Sheet, upright
from normgeo.pictures.style.template import MEASURED, SMALL, THEMES

FLOOR = 1e-18
INK = (0.55, 0.7, 0.85, 1.0)  # shades of the curves: the colors are those of methods
GAP, TOP = 2.3, 3  # powers of ten: between rows of crosses, with their words; the end of the axis
PHONE, LETTER = 400, 8  # pixels: of a panel, and of a letter of the words in it
HIGH = 300, 410  # pixels of the panel
SYMBOLS = ("circle-open", "square-open", "diamond-open", "triangle-up")


def figure(result: Sweeps, theme: str) -> go.Figure:
    """Draw max|z′ − z| / max|z| against δ or ‖γ‖, one line for each number type and ε.

    Unchanged z stands at the foot of the axis; a strength without a number is a cross below it,
    with its reason on hover and named once.
    """
    look, rescales = THEMES[theme], result.transform.rescales
    foot = np.log10(FLOOR)
    drawn, rows = go.Figure(), list[_Row]()
    for row, (name, sweep) in enumerate(result.curves):
        color = blend(look.paper, look.ink, INK[row % len(INK)])
        known = ~np.isnan(sweep.change)
        drawn.add_scatter(
            x=sweep.strengths,
            y=np.where(known, np.maximum(sweep.change, FLOOR), np.nan),
            name=name,
            mode="lines+markers",
            connectgaps=False,
            marker={"size": 7, "symbol": SYMBOLS[row % len(SYMBOLS)]},
            line={"color": color, "dash": MEASURED, "width": 2},
            customdata=sweep.change,
            hovertemplate=f"{name}: %{{x:.3g}} → %{{customdata:.3g}}<extra></extra>",
        )
        if known.all():
            continue
        foot -= GAP
        drawn.add_scatter(
            x=sweep.strengths[~known],
            y=np.full((~known).sum(), 10**foot),
            mode="markers",
            marker={"symbol": "x-thin", "size": 7, "line": {"color": color, "width": 1.5}},
            text=[str(reason) for reason in sweep.reasons if reason],
            showlegend=False,
            hovertemplate=f"{name} at %{{x:.3g}}: %{{text}}<extra></extra>",
        )
        rows.append(_Row(sweep, foot, color))
    name = text("factor δ") if rescales else text("factor on the shift γ")
    ends = np.log10([sweep.strengths for _, sweep in result.curves]).ravel()
    room = 0.03 * float(np.ptp(ends))
    x = {
        "type": "log",
        "exponentformat": "e",
        "title": name,
        "nticks": 11,
        "range": [float(ends.min()) - room, float(ends.max()) + room],
    }
    y = {
        "type": "log",
        "exponentformat": "e",
        "tickvals": 10.0 ** np.arange(np.log10(FLOOR), TOP + 1, 3),
        "range": [foot - 0.5, TOP],
        "title": text("largest change of z, max|z′ − z| / max|z|"),
    }
    line = {"color": look.muted, "dash": "dot", "width": 1}
    unchanged = [upright(1, line)] if rescales else []
    panel = Panel(
        x, y, notes=lambda wide, _: _notes(rows, wide, rescales, theme), shapes=unchanged, high=HIGH
    )
    title = f"{result.normalizer.title}: {result.transform.label}"
    return Sheet([Band([title])], rows=[[panel]]).on(drawn.data, theme)


class _Row(NamedTuple):
    """Crosses of a sweep in a row: where they stand, as a power of ten, and their color."""

    sweep: Sweep
    foot: float
    color: str


def _notes(rows: Sequence[_Row], width: float, rescales: bool, theme: str) -> list[dict[str, Any]]:
    """The words in a panel of so many pixels."""
    style = {"size": SMALL, "color": THEMES[theme].muted}
    left = width < PHONE  # what stands right of δ = 1 has no room there
    place = {"xref": "x", "yanchor": "top", "xshift": -4 if left else 4}
    side = "right" if left else "left"
    one = note(text("δ = 1: nothing changed"), 0, 1, font=style, **place) | {"xanchor": side}
    return [*_words(rows, width), *([one] if rescales else [])]


def _words(rows: Sequence[_Row], width: float) -> Iterator[dict[str, Any]]:
    """Words above the crosses: at each run of one reason, or once where that has no room.

    `width` is that of the panel, in pixels.
    """
    for sweep, foot, color in rows:
        logs = np.log10(sweep.strengths)
        first_words = groupby(zip(sweep.reasons, logs, strict=True), _first_word)
        runs = [(word, [log for _, log in run]) for word, run in first_words if word]
        told = [((run[0] + run[-1]) / 2, f"{sweep.dtype} {word}") for word, run in runs]
        pixels = width / max(float(np.ptp(logs)), 1.0)
        if any(
            (right - left) * pixels < LETTER * (len(one) + len(other)) / 2
            for (left, one), (right, other) in pairwise(told)
        ):
            reasons = ", ".join(dict.fromkeys(word for word, _ in runs))
            told = [((logs[0] + logs[-1]) / 2, f"{sweep.dtype} {reasons}")]
        for log, words in told:
            place = {"xref": "x", "yref": "y", "xanchor": "center", "yshift": 2}
            yield note(words, log, foot, font={"size": SMALL, "color": color}, **place)


def _first_word(pair: tuple[str, float]) -> str:
    return str(pair[0]).partition(":")[0]
