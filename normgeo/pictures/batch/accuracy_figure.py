"""The half of a figure that shows accuracy against the size of the batches."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import plotly.graph_objects as go

from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.normalizers.named import NORMALIZERS
from normgeo.pictures.batch.accuracy import Accuracy
from normgeo.pictures.style.annotations import KEPT, halo, note
from normgeo.pictures.style.colors import legible, method_color, see_through
from normgeo.pictures.style.sheet import Band, Panel, on_panel, upright
from normgeo.pictures.style.template import LARGE, MEASURED, SIZE, THEMES

SIZES = {"circle": 26, "diamond": 14}  # pixels of a large mark


def traces(result: Accuracy, axis: int, theme: str) -> Iterator[go.Scatter]:
    """The mean over the seeds of each method, on a band from the lowest to the highest."""
    on = on_panel(axis)
    for method in result.shares:
        known = [(m, told) for m in result.sizes if (told := result.at(method, m)) is not None]
        sizes = [m for m, _ in known]
        highest, lowest = [told[2] for _, told in known], [told[1] for _, told in known]
        yield go.Scatter(
            x=[*sizes, *sizes[::-1]],
            y=[*highest, *lowest[::-1]],
            mode="lines",
            fill="toself",
            fillcolor=see_through(_color(method, theme), 0.2),
            line={"width": 0, "color": _color(method, theme)},
            hoverinfo="skip",
            **on,
        )
    for method in result.shares:
        yield go.Scatter(
            x=result.sizes,
            y=[None if (told := result.at(method, m)) is None else told[0] for m in result.sizes],
            customdata=[result.at(method, m) for m in result.sizes],
            mode="lines+markers",
            line={"color": _color(method, theme), "width": 4, "dash": MEASURED},
            marker={"size": 9, "symbol": _symbol(method)},
            hovertemplate=text(
                "{name}, m = {m}: {share}, {low} to {high}<extra></extra>",
                name=NORMALIZERS[method].title,
                m="%{x}",
                share="%{y:.1%}",
                low="%{customdata[1]:.1%}",
                high="%{customdata[2]:.1%}",
            ),
            **on,
        )


def marks(result: Accuracy, m: int, axis: int, theme: str) -> list[dict[str, Any]]:
    """A large mark on each line at batches of m, as one trace."""
    told = [result.at(method, m) for method in result.shares]
    return [
        {
            "type": "scatter",
            "x": [m] * len(told),
            "y": [None if one is None else one[0] for one in told],
            "mode": "markers",
            "marker": {
                # Where they meet, a diamond leaves a circle seen.
                "size": [SIZES[_symbol(method)] for method in result.shares],
                "opacity": 1,
                "color": [_color(method, theme) for method in result.shares],
                "symbol": [_symbol(method) for method in result.shares],
                "line": {"width": 2, "color": THEMES[theme].paper},
            },
            "hoverinfo": "skip",
            "cliponaxis": False,
            **on_panel(axis),
        }
    ]


def about(result: Accuracy) -> str:
    """What was trained."""
    return text(
        "Accuracy: {epochs} epochs, η = {rate} m/{at}, {tested} test cases, running averages; mean "
        "and range of {seeds} seeds.",
        tested=result.tested,
        epochs=result.epochs,
        rate=number(result.rate),
        at=result.rate_at,
        seeds=result.seeds,
    )


def in_short(result: Accuracy) -> str:
    """The same for a slide."""
    return text("Accuracy: mean and range of {seeds} seeds.", seeds=result.seeds)


def headline(result: Accuracy, m: int, theme: str) -> Band:
    """The accuracies at batches of m."""
    shares = (
        f'<b style="color:{_color(key, theme)}">{_share(result, key, m)}</b>'
        for key in result.shares
    )
    told = text("Test accuracy:").replace(" ", KEPT)
    if m == 2:
        told = f"{text('Batch norm of 2 keeps only signs: z = ±1.')} {told}"
    return Band([f"<b>{told}</b>  {', '.join(shares)}"], LARGE)


def panel(result: Accuracy, m: int, share: float, theme: str) -> Panel:
    """The axes, with a line at batches of m."""
    low, high = result.sizes[0], result.sizes[-1]
    missing = {
        method: sizes
        for method in result.shares
        if (sizes := [size for size in result.sizes if result.at(method, size) is None])
    }
    first, *others = result.sizes  # where batch norm has no z, and where it barely learns
    ticks = [first, *others[::2]]
    return Panel(
        {
            "type": "log",
            # There is room for words at the smallest batch.
            "range": [math.log10(low / 2.1), math.log10(high * 1.25)],
            "tickvals": ticks,
            "ticktext": [str(size) for size in ticks],
            "showgrid": False,  # it would be over the line of the slider
            "title": text("cases in the batch m"),
        },
        _up(result),
        [text("test accuracy")],
        notes=[_none(sizes, method, theme) for method, sizes in missing.items()],
        shapes=[upright(m, {"color": THEMES[theme].muted, "width": 2})],
        high=(220, 200),
        share=share,
    )


def _up(result: Accuracy) -> dict[str, Any]:
    """The axis of accuracies, from a whole tenth below the lowest."""
    told = [result.at(method, m) for method in result.shares for m in result.sizes]
    tenths = max(0, math.floor(10 * min((one[1] for one in told if one), default=0.0) - 0.5))
    step = 1 if tenths > 5 else 2
    labels = [tenth / 10 for tenth in range(10, tenths - 1, -step)]
    return {
        "range": [tenths / 10, 1 + 0.003 * (10 - tenths)],
        "tickvals": labels[::-1],
        "tickformat": ".0%",
    }


def _none(sizes: list[int], method: str, theme: str) -> dict[str, Any]:
    """Where a method has no z, at the foot of the axes."""
    look = THEMES[theme]
    return note(
        text("no z"),
        x=math.log10(sizes[-1]),
        y=0.02,
        xref="x",
        xanchor="center",
        font={
            "size": SIZE,
            "color": legible(_color(method, theme), look.paper, look.ink),
            "shadow": halo(look.paper),  # the line of the slider may stand there
        },
    )


def _share(result: Accuracy, method: str, m: int) -> str:
    told = result.at(method, m)
    normalizer = NORMALIZERS[method]
    name = normalizer.title
    if m != 2:  # of which more is said
        per = text("μ per case")
        if normalizer.shared_by_cases:
            per = text("μ of 1 case") if m == 1 else text("μ of {m} cases", m=m)
        name = text("{name} ({per})", name=name, per=per)
    name = name.replace(" ", KEPT)
    if told is None:
        return text("{name}: σ = 0, no z", name=name)
    return text("{name}{kept}{share:.0%}", name=name, kept=KEPT, share=told[0])


def _color(method: str, theme: str) -> str:
    return method_color(NORMALIZERS[method], theme)


def _symbol(method: str) -> str:
    return "circle" if NORMALIZERS[method].shared_by_cases else "diamond"
