"""What a layer decides with its norm: which neurons turn, what balances, where ε counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.numbers import number, power
from normgeo.base.text import text
from normgeo.checkpoints.epsilon import MUCH
from normgeo.pictures.style.annotations import note
from normgeo.pictures.style.colors import VERMILION, method_color, on_paper
from normgeo.pictures.style.sheet import Band, Panel, Sheet, answer, told
from normgeo.pictures.style.sheet import across as level
from normgeo.pictures.style.template import (
    CLAIM,
    PREDICTED,
    SIZE,
    SMALL,
    THEMES,
    log_ticks,
)
from normgeo.pictures.your_network.layer import Neurons, percent
from normgeo.pictures.your_network.layer_neurons_figure import one_by_one, ordered, places
from normgeo.tables.layer import COLUMNS

MOST = 2000  # marks: a screen shows no more
FAR = 4  # decades from the marks, where what is beside them would push them into a corner
WRITTEN_OUT = 0.9e-7  # the least share whose percent are written out
LEAST, GREATEST = 1e-304, 1e304  # that an axis shows: what double precision can go around

FROZEN = text("frozen")
BALANCE = text("A step of the gradient lengthens w, weight decay shortens it: at ◇ both balance.")
HEIGHTS = {
    "angle": text("turn of w, degrees a step"),
    "effective_rate": text("effective learning rate"),
    "gain": text("gain"),
}
"""The titles of what stands for how fast a neuron turns."""


def figure(result: Neurons, theme: str) -> go.Figure:
    """Draw how fast each neuron turns against its norm, and beside it what ε does."""
    look = THEMES[theme]
    color = method_color(result.normalizer, theme)
    norms, heights = (_drawable(result.values[key]) for key in ("norm", result.height))
    shown = _thinned(result, heights)
    placed = [] if result.balance is None else [_drawable(each) for each in result.balance]
    frozen = [np.array([result.frozen_below])] if result.height == "angle" else []
    across = _axis(norms, placed[:1], tight=True) | {"title": text("norm of the weights")}
    upward = _axis(heights, [*placed[1:], *frozen]) | {"title": text(HEIGHTS[result.height])}
    against = text("<b>turn and norm</b>")
    turning = Panel(across, upward, [against], high=(280, 240))
    order = ordered(heights, shown)
    balanced = placed[1] if placed and result.height == "angle" else None
    each = Panel(
        places(order, text("slowest") if result.height == "angle" else text("smallest")),
        upward,
        [text("<b>neuron by neuron</b>")],
        high=(280, 240),
        share=1.6,
        on_slide=False,
    )
    if result.height == "angle":
        below = [level(result.frozen_below, {"color": look.muted, "width": 2, "dash": CLAIM})]
        highest = upward["range"][1]
        above = (
            np.log10(result.frozen_below) > highest
        )  # then the ways to the balance are at the left
        words = [_frozen(result, look.muted, highest, right=right) for right in (above, True)]
        turning, each = (
            panel._replace(notes=[said], shapes=below)
            for panel, said in zip((turning, each), words, strict=True)
        )
    method, why = result.normalizer.title, [BALANCE] if placed else []
    norm = text("Layer “{title!s}”, with {norm}.", title=result.title, norm=method)
    briefly = text("With {norm}.", norm=method)
    first, *others = result.headline
    # What ε does has a tab: here it is drawn if it is the answer.
    answers = first not in result.of_turning
    on_slide = others if answers else [one for one in result.of_turning if one != first]
    epsilon = [_shorter(result, look.muted, look.ink)] if answers else []
    return Sheet(
        [
            answer(first),
            Band(
                [" ".join(map(str, others))],
                color=look.muted,
                on_slide=[" ".join(map(str, on_slide))] if on_slide else (),
            ),
        ],
        rows=[[turning, each, *epsilon]],
        foot=[told(theme, " ".join([norm, *why]), on_slide=[" ".join([briefly, *why])])],
        phone=[[1], [0], [2]][: 2 + answers],
    ).on(
        [
            *_balances(result, norms, heights, look.muted),
            *_marks(result, norms, heights, shown, color, theme),
            *_selected(result, norms, heights, look.ink),
            *one_by_one(result, heights, balanced, order, color, theme),
            *(_epsilon(result, color) if answers else ()),
        ],
        theme,
    )


def _shorter(result: Neurons, muted: str, ink: str) -> Panel:
    """By how much ε makes z shorter."""
    head = [f"<b>{text(COLUMNS['shorter_by_eps'])}</b>"]
    across = {
        "title": text("{what}, sorted", what=result.shorter_of),
        "rangemode": "tozero",
        "zeroline": False,
        "nticks": 5,
    }
    counts = level(MUCH, {"color": muted, "width": 2, "dash": CLAIM})
    found = _shortened(result)
    upward = _shares(found)
    low, high = upward["range"]
    place = {"yref": "y", "yanchor": "top", "font": {"size": SMALL, "color": muted}}
    said = [note(text("matters from {share}", share=percent(MUCH)), 0.01, np.log10(MUCH), **place)]
    if len(found) and low < (most := np.log10(found[0])) < high - 0.25 * (high - low):
        largest = {"yref": "y", "yshift": 8, "font": {"size": SIZE, "color": ink}}
        said.append(note(text("<b>{most}</b>", most=percent(found[0])), 0.05, most, **largest))
    return Panel(across, upward, head, said, [counts], high=(280, 240), share=0.8)


def _drawable(values: Iterable[Any]) -> Array:
    """Numbers for a logarithmic axis, where 0 and what is not finite, or nearly, have no place."""
    found = np.array([np.nan if value is None else float(value) for value in values])
    return np.where((found > LEAST) & (found < GREATEST), found, np.nan)


def _thinned(result: Neurons, heights: Array) -> Array:
    """Which neurons are drawn: of very many, some of each height, and all that are frozen."""
    order = np.argsort(heights)
    if len(order) > MOST:
        order = order[np.linspace(0, len(order) - 1, MOST).astype(int)]
    return np.union1d(order, result.frozen[:MOST]).astype(int)


def _marks(
    result: Neurons, norms: Array, heights: Array, shown: Array, color: str, theme: str
) -> Iterator[go.Scatter]:
    """The neurons, and apart from them the frozen ones."""
    look, frozen = THEMES[theme], np.isin(shown, result.frozen)
    apart = {"color": look.paper, "width": 1.5}
    for name, of, marker in (
        (text("a neuron"), shown[~frozen], {"color": color, "size": 11, "line": apart}),
        (FROZEN, shown[frozen], {"color": on_paper(VERMILION, theme), "size": 13, "symbol": "x"}),
    ):
        if not len(of):
            continue
        yield go.Scatter(
            x=norms[of],
            y=heights[of],
            name=name,
            showlegend=True,
            mode="markers+text",
            marker=marker,
            text=_numbers(result, of) if name == FROZEN else None,
            textposition="bottom left",
            textfont={"size": SIZE, "color": look.ink},
            cliponaxis=False,
            customdata=of,
            hovertemplate=text(
                "neuron {h}: norm {x}, {what} {y}<extra></extra>",
                h="%{customdata}",
                x="%{x:.3g}",
                what=text(HEIGHTS[result.height]),
                y="%{y:.3g}",
            ),
        )


def _numbers(result: Neurons, frozen: Array) -> list[str]:
    """What stands at frozen neurons: the number of the only one, if no ring tells it."""
    alone = len(frozen) == 1 and frozen[0] != result.neuron
    return [text("<b>neuron {h}</b>", h=h) if alone else "" for h in frozen.tolist()]


def _balances(result: Neurons, norms: Array, heights: Array, ink: str) -> Iterator[go.Scatter]:
    """The way of frozen neurons and of the selected one to where growth and decay balance."""
    if result.balance is None or result.height != "angle":
        return
    told = np.union1d(result.frozen[:MOST], [result.neuron]).astype(int)
    to_x, to_y = (_drawable(each)[told] for each in result.balance)
    gap = np.full(len(told), np.nan)
    yield go.Scatter(
        x=np.stack([norms[told], to_x, gap], axis=1).ravel(),
        y=np.stack([heights[told], to_y, gap], axis=1).ravel(),
        mode="lines",
        line={"color": ink, "width": 1, "dash": PREDICTED},
        showlegend=False,
        hoverinfo="skip",
    )
    yield go.Scatter(
        x=to_x,
        y=to_y,
        name=text("balance: growth = weight decay"),
        showlegend=True,
        mode="markers+text",
        marker={"color": ink, "size": 9, "symbol": "diamond-open", "line": {"width": 1.5}},
        text=[text("neuron {h}’s balance", h=h) for h in told],
        textposition="top right",
        textfont={"size": SMALL, "color": ink},
        hoverinfo="skip",
    )


def _selected(result: Neurons, norms: Array, heights: Array, ink: str) -> Iterator[go.Scatter]:
    """A ring around the neuron that is selected."""
    h = result.neuron
    if np.isnan(norms[h] + heights[h]):
        return
    yield go.Scatter(
        x=[norms[h]],
        y=[heights[h]],
        name=text("selected"),
        showlegend=True,
        mode="markers+text",
        marker={"color": ink, "size": 18, "symbol": "circle-open", "line": {"width": 2.5}},
        text=[text("<b>neuron {h}</b>", h=h)],
        textposition="bottom left",
        textfont={"size": SIZE, "color": ink},
        cliponaxis=False,
        hoverinfo="skip",
    )


def _epsilon(result: Neurons, color: str) -> Iterator[go.Scatter]:
    """By how much ε makes z shorter, largest first."""
    shares = _shortened(result)
    at = np.unique(np.linspace(0, max(len(shares) - 1, 0), MOST).astype(int))[: len(shares)]
    yield go.Scatter(
        x=at + 1,
        y=shares[at],
        mode="lines+markers" if len(shares) < 50 else "lines",
        line={"color": color, "width": 4},
        marker={"size": 8},
        showlegend=False,
        xaxis="x3",
        yaxis="y3",
        hovertemplate=text(
            "number {i}: ε shortens z by {y}<extra></extra>", i="%{x}", y="%{y:.2%}"
        ),
    )


def _axis(marks: Array, beside: Sequence[Array] = (), *, tight: bool = False) -> dict[str, Any]:
    """A logarithmic axis with room around the marks, and around what is near them."""
    seen, others = (np.log10(each[~np.isnan(each)]) for each in (marks, np.hstack([*beside, []])))
    if not len(seen):
        seen = others if len(others) else np.zeros(1)
    near = others[(others > seen.min() - FAR) & (others < seen.max() + FAR)]
    shown, room = np.append(seen, near), np.log10(1.5 if tight else 3.0)
    low, high = shown.min() - room, shown.max() + room
    ticks = [t for t in log_ticks(10**low, 10**high) if low <= np.log10(t) <= high]
    return {
        "type": "log",
        "range": [low, high],
        "tickvals": ticks,
        "ticktext": [number(tick) for tick in ticks],
        "zeroline": False,
    }


def _shortened(result: Neurons) -> Array:
    """By how much ε makes z shorter, largest first."""
    return _drawable([] if result.shorter is None else result.shorter)


def _shares(found: Array) -> dict[str, Any]:
    """The axis of what ε does, with the share from where on it counts."""
    axis = _axis(np.append(np.maximum(found, 1e-12), MUCH))
    high = min(axis["range"][1], 0.05)
    ticks = [tick for tick in axis["tickvals"] if tick <= 1]
    return axis | {
        "range": [axis["range"][0], high],
        "tickvals": ticks,
        "ticktext": [_in_percent(tick, min(ticks)) for tick in ticks],
    }


def _in_percent(tick: float, least: float) -> str:
    """A power of ten in percent: written out, or as a power where all are."""
    if least < WRITTEN_OUT:
        return f"{power(round(np.log10(100 * tick)))}%"
    return f"{100 * tick:.10f}".rstrip("0").rstrip(".") + "%"


def _frozen(result: Neurons, muted: str, highest: float, *, right: bool) -> dict[str, Any]:
    """What the dotted line is, also of one above the axis."""
    return note(
        text("frozen: below {angle}°", angle=number(result.frozen_below)),
        0.99 if right else 0.01,
        min(np.log10(result.frozen_below), highest),
        yref="y",
        xanchor="right" if right else "left",
        yanchor="top",
        font={"size": SMALL, "color": muted},
    )
