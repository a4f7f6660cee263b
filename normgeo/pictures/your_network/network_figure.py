"""How much a change of each tensor moves the outputs: a mark for each, and what is rounding."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, log10

import plotly.graph_objects as go

from normgeo.base.text import text
from normgeo.measured.changes import CHANGES
from normgeo.measured.judging import WORDS
from normgeo.pictures.style.colors import blend
from normgeo.pictures.style.sheet import Band, Panel, Sheet, level, told
from normgeo.pictures.style.template import THEMES, log_ticks
from normgeo.pictures.your_network.network import Network
from normgeo.tables.marks import color

LOW, HIGH = 1e-18, 1e2
"""Shares that are drawn at the ends: 0 has no logarithm, and what is beyond floats no place."""

SYMBOLS = {"✓": "circle", "≈": "diamond", "✗": "x", "?": "square-open"}


def figure(result: Network, theme: str) -> go.Figure:
    """Draw the marks in the order of the tensors, and the range of rounding."""
    look, count = THEMES[theme], max(1, len(result.names))
    shares = [_drawn(verdict.moved) for verdict in result.verdicts if verdict]
    low = min([*shares, result.rounding, 1e-3]) / 10
    high = max([*shares, 1.0]) * 3
    ticks = [tick for tick in log_ticks(low, high) if f"{tick:e}".startswith("1.0000")]
    panel = Panel(
        {"range": [-0.7, count - 0.3], "title": text("tensor, in order"), "nticks": 12},
        {
            "type": "log",
            "range": [log10(low), log10(high)],
            "tickvals": ticks[:: 1 + len(ticks) // 6],
            "exponentformat": "power",
            "title": text("share of the outputs that moves"),
        },
        head=[text("{change}; shaded: rounding", change=CHANGES[result.change])],
        shapes=[level(low, result.rounding, blend(look.paper, look.muted, 0.18))],
        high=(300, 260),
    )
    bands = [Band([f"<b>{result.headline}</b>"], size=20), told(theme, result.title)]
    return Sheet(bands, rows=[[panel]]).on([*_marks(result, theme)], theme)


def _marks(result: Network, theme: str) -> Iterator[go.Scatter]:
    """The marks of each verdict, and a ring around the selected one."""
    for sign, word in WORDS.items():
        places = [n for n, one in enumerate(result.verdicts) if one and one.sign == sign]
        if places:
            yield _scatter(result, places, str(word), theme, sign)
    if result.names and result.verdicts[result.tensor] is not None:
        yield _scatter(result, [result.tensor], str(text("selected")), theme, "ring")


def _scatter(result: Network, places: list[int], name: str, theme: str, sign: str) -> go.Scatter:
    look, verdicts = THEMES[theme], result.verdicts
    shares = [one.moved if (one := verdicts[n]) else inf for n in places]
    if sign == "ring":
        marker = {"symbol": "circle-open", "size": 22, "color": look.ink, "line": {"width": 2.5}}
    else:
        ink = look.muted if sign == "?" else color(sign, theme)
        marker = {"symbol": SYMBOLS[sign], "size": 10, "color": ink}
    return go.Scatter(
        x=places,
        y=[_drawn(share) for share in shares],
        customdata=shares,
        text=[str(text("{name!s}", name=result.names[n])) for n in places],
        mode="markers",
        name=name,
        legendgroup=name,
        marker=marker,
        cliponaxis=False,
        hovertemplate=text(
            "{tensor}: {word}, {moved}<extra></extra>",
            tensor="%{text}",
            word=name,
            moved="%{customdata:.3g}",
        ),
        hoverinfo="skip" if sign == "ring" else None,
    )


def _drawn(share: float) -> float:
    return min(max(share, LOW), HIGH)
