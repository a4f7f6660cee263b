"""A walk along a null direction of W, and along one at random: templates, predictions, the KL."""

from __future__ import annotations

import textwrap
from math import ceil
from typing import Any

import numpy as np
import plotly.graph_objects as go

from normgeo.base.arrays import Array
from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.pictures.style.annotations import colored, note
from normgeo.pictures.style.colors import method_color
from normgeo.pictures.style.player import STRIP, add_slider
from normgeo.pictures.style.template import LARGE, SIZE, SMALL, THEMES, dress
from normgeo.pictures.symmetry.templates_figure import Grid
from normgeo.pictures.symmetry.walk import Walks, headline
from normgeo.symmetry.direction import Direction
from normgeo.symmetry.walk import Walk

HEIGHT, TOP, FOOT = 476, 88, 46  # pixels of the figure, and of its margins
BODY = HEIGHT - TOP - FOOT
PANELS = ((0.0, 0.3), (0.35, 0.655), (0.705, 1.0))  # reasons, the walk, the walk at random
TEMPLATES, DOTS = (0.485, 0.8), (0.0, 0.34)  # of the height, in both walks
REASONS = 4  # that are drawn
LINE = 25  # pixels of a line of words, with room for a lower screen

NARROW_TOP, NARROW_BODY, NARROW_FOOT = 190, 1010, FOOT + STRIP + 20
NARROW_PANELS = ((0.74, 1.0), (0.38, 0.66), (0.0, 0.28))  # of the height, one above the other


def figure(result: Walks, theme: str) -> go.Figure:
    """Draw the reasons with their templates, and both walks at every step."""
    drawn = go.Figure()
    walks = [(2, result.null), (4, result.random)]
    limit, reach = _limit(result), _reach(result)
    moving: list[int] = []
    _reasons(drawn, result, theme)
    for axis, one in walks:
        if one is not None:
            first = len(drawn.data)
            drawn.add_traces(_walk_traces(result, one, result.opening, axis, limit, theme))
            moving += [first, *range(first + 2, first + 4)]
    dress(drawn, theme, height=HEIGHT)
    words = [_words(result, t, theme) for t in range(len(result.steps))]
    drawn.update_layout(
        showlegend=False,
        title=_title(result, theme, 62, 110),
        margin={"l": 8, "r": 8, "t": TOP, "b": FOOT},
        shapes=[*_marks(result, theme), *_moved(result, theme)],
        annotations=words[result.opening],
        meta={
            "narrow": {**_narrow_layout(), "title": _title(result, theme, 26, 48)},
            "picks": _picks(result),
        },
        **_axes(result, reach),
    )
    frames = [
        {
            "name": number(float(step)),
            "data": [
                change
                for axis, one in walks
                if one is not None
                for change in _walk_changes(result, one, t, limit)
            ],
            "traces": moving,
            "layout": {"annotations": words[t]},
        }
        for t, step in enumerate(result.steps)
    ]
    add_slider(
        drawn,
        frames,
        start=result.opening,
        prefix=text("walk by r = "),
        theme=theme,
        setting="walk",
        values=[f"{step:g}" for step in result.steps],
    )
    return drawn


def _grid(result: Walks) -> Grid:
    """Where the weight vectors of a walk stand: in two rows, where there are many."""
    count = len(result.shown)
    return Grid(result.dataset, count, count if count < 4 else ceil(count / 2))


def _picks(result: Walks) -> list[dict[str, Any]]:
    """Where a click chooses the neuron that moves, where one moves by itself."""
    if result.chosen is None or not result.chosen.alone:
        return []
    shown = list(map(int, result.shown))
    axes = [axis for axis, one in ((2, result.null), (4, result.random)) if one is not None]
    return [_grid(result).picks(shown, axis) for axis in axes]


def _weights(result: Walks, one: Walk, t: int) -> Array:
    W = result.found.model.W + one.steps[t] * one.change
    shown: Array = W[result.shown]
    return shown


def _limit(result: Walks) -> float:
    """The largest weight of all frames, for one scale."""
    walks = [one for one in (result.null, result.random) if one is not None]
    largest = max(
        float(np.abs(_weights(result, one, t)).max())
        for one in walks
        for t in range(len(result.steps))
    )
    return largest or 1.0


def _reach(result: Walks) -> tuple[float, float]:
    """The range of the predictions of all frames."""
    walks = [one for one in (result.null, result.random) if one is not None]
    values = np.concatenate([[*one.means.ravel(), *one.before] for one in walks])
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    if result.dataset.labelled:
        low, high = 0.0, 1.0
    room = 0.08 * (high - low) or 1.0
    return low - room, high + room


def _walk_traces(
    result: Walks, one: Walk, t: int, axis: int, limit: float, theme: str
) -> list[Any]:
    """The weight vectors, and the predictions before (hollow), between, and after (filled)."""
    look, color = THEMES[theme], method_color(result.found.normalizer)
    _, way, after = _walk_changes(result, one, t, limit)
    place = {"xaxis": f"x{axis + 1}", "yaxis": f"y{axis + 1}"}
    neurons = np.arange(len(one.before))
    grid = _grid(result)
    above: dict[str, Any] = {"xaxis": f"x{axis}", "yaxis": f"y{axis}"}
    return [
        grid.trace(_weights(result, one, t), limit, theme, **above),
        go.Scatter(
            x=neurons,
            y=one.before,
            mode="markers",
            marker={
                "size": 15,
                "symbol": "circle-open",
                "color": look.ink,
                "line": {"width": 2},
            },
            cliponaxis=False,
            hovertemplate=text("neuron %{x}, before: %{y:.4g}<extra></extra>"),
            **place,
        ),
        go.Scatter(
            x=way["x"],
            y=way["y"],
            mode="lines",
            line={"color": color, "width": 3},
            hoverinfo="skip",
            **place,
        ),
        go.Scatter(
            x=neurons,
            y=after["y"],
            mode="markers",
            marker={"size": 9, "color": color},
            cliponaxis=False,
            hovertemplate=text("neuron %{x}, after: %{y:.4g}<extra></extra>"),
            **place,
        ),
    ]


def _walk_changes(result: Walks, one: Walk, t: int, limit: float) -> list[dict[str, Any]]:
    """What a step changes of the weight vectors, the way and the predictions after."""
    neurons = np.arange(len(one.before), dtype=np.float32)
    gap = np.full(len(neurons), np.nan)
    way = np.column_stack([one.before, one.means[t], gap]).ravel().astype(np.float32)
    grid = _grid(result)
    return [
        {"type": grid.kind, **grid.values(_weights(result, one, t), limit)},
        {"x": np.repeat(neurons, 3), "y": way},
        {"y": one.means[t].astype(np.float32)},
    ]


# The reasons


def _drawn_reasons(result: Walks) -> tuple[Direction, ...]:
    """The reasons that are drawn: the first ones, and the one that is walked along."""
    found = result.directions
    if len(found) <= REASONS or result.chosen in found[:REASONS] or result.chosen is None:
        return found[:REASONS]
    return (*found[: REASONS - 1], result.chosen)


def _slots(result: Walks) -> list[tuple[float, float, float]]:
    """For each reason, in pixels from the top: its slot's top, its pictures' top and height."""
    count = len(_drawn_reasons(result))
    words, head = (2 if count < 4 else 1) * LINE, 1.6 * LINE
    pitch = min(112.0, (BODY - head) / max(count, 1))
    pictures = min(38.0, pitch - words - 10)
    return [(head + i * pitch, head + i * pitch + words, pictures) for i in range(count)]


def _reasons(figure: go.Figure, result: Walks, theme: str) -> None:
    """Draw what one direction of each reason adds to the weight vectors."""
    grid = Grid(result.dataset, len(result.shown), len(result.shown))
    height, _ = grid.extent
    for one, (_, top, tall) in zip(_drawn_reasons(result), _slots(result), strict=True):
        values = one.each[result.shown]
        limit = float(np.abs(values).max()) or 1.0
        trace = grid.trace(values, limit, theme)
        scale = tall / height
        if trace.type == "heatmap":
            trace.update(y0=top + scale / 2, dy=scale)
        else:
            trace.y = [None if y is None else top + scale * y for y in trace.y]
        figure.add_trace(trace)


def _marks(result: Walks, theme: str) -> list[dict[str, Any]]:
    """Frames around what moves together, and a bar beside the reason that is walked along."""
    look, color = THEMES[theme], method_color(result.found.normalizer)
    grid = Grid(result.dataset, len(result.shown), len(result.shown))
    height, _ = grid.extent
    shapes = []
    for one, (start, top, tall) in zip(_drawn_reasons(result), _slots(result), strict=True):
        scale = tall / height
        places = np.flatnonzero(one.moved[result.shown])
        sets = [np.array([place]) for place in range(grid.count)] if one.alone else [places]
        for together in sets:
            if len(together):
                box = grid.box(together)
                box |= {"y0": top + scale * box["y0"], "y1": top + scale * box["y1"]}
                shapes.append({"type": "rect", "line": {"color": look.muted, "width": 1}, **box})
        if one is result.chosen:
            shapes.append(
                {
                    "type": "line",
                    "x0": -2.2,
                    "x1": -2.2,
                    "y0": start,
                    "y1": top + tall,
                    "line": {"color": color, "width": 5},
                }
            )
    return shapes


def _moved(result: Walks, theme: str) -> list[dict[str, Any]]:
    """Frames around the weight vectors that move, where others rest."""
    if result.chosen is None:
        return []
    places = np.flatnonzero(result.chosen.moved[result.shown])
    if not len(places) or len(places) == len(result.shown):
        return []
    grid, color = _grid(result), method_color(result.found.normalizer)
    return [
        {
            "type": "rect",
            "xref": f"x{axis}",
            "yref": f"y{axis}",
            "line": {"color": color, "width": 3},
            **grid.box(np.array([place])),
        }
        for axis in (2, 4)
        for place in places
    ]


# Words


def _words(result: Walks, t: int, theme: str) -> list[dict[str, Any]]:
    """All words of a step but for the headline."""
    muted = THEMES[theme].muted
    words = _reason_words(result, theme)
    captions = (
        (2, result.null, text("Along a null direction"), _rule(result, t)),
        (4, result.random, text("Along a random direction"), _random_rule(result, t)),
    )
    for axis, one, title, rules in captions:
        if one is not None:
            lines = [f"<b>{title}</b>", *(colored(rule, muted, SMALL) for rule in rules)]
            words.append(_above(axis, lines, SIZE))
            words.append(_above(axis + 1, _kl(one, t, muted), LARGE))
    if result.null is None:
        words.append(_above(2, _nothing(result), SIZE))
    return words


def _title(result: Walks, theme: str, wide: int, long: int) -> dict[str, Any]:
    """The headline in lines of `wide` characters, and beneath it what is meant, of `long`."""
    found, muted = result.found, THEMES[theme].muted
    title = textwrap.wrap(str(headline(found)), wide)
    method = text("{method}; {about}", method=found.normalizer.title, about=found.caption)
    below = [*textwrap.wrap(str(method), long), *textwrap.wrap(str(found.formula), long)]
    return {
        "text": "<br>".join(f"<b>{line}</b>" for line in title),
        "font": {"size": LARGE},
        "pad": {"t": 8 + 1.3 * LARGE * (len(title) - 1)},  # plotly places the last line
        "subtitle": {"text": "<br>".join(below), "font": {"size": SMALL, "color": muted}},
    }


def _above(axis: int, lines: list[str], size: int) -> dict[str, Any]:
    """Words above the panel of an axis."""
    place = {"xref": f"x{axis} domain", "yref": f"y{axis} domain", "yshift": 6}
    return note(lines, 0, 1, font={"size": size}, **place)


def _reason_words(result: Walks, theme: str) -> list[dict[str, Any]]:
    """Above the pictures of each reason, what it is, and how many directions it explains."""
    muted = THEMES[theme].muted
    if not result.directions:
        return []
    slots, place = _slots(result), {"xref": "x", "yref": "y", "yanchor": "top"}
    title = text("<b>Null directions, by their reasons</b>")
    words = [note(title, 0, 0, **place)]
    for one, (top, pictures, _) in zip(_drawn_reasons(result), slots, strict=True):
        lines = [f"<b>{one.count}</b> · {one.title}"]
        if pictures - top > 1.5 * LINE:
            lines.append(colored(_what(one), muted, SMALL))
        words.append(note(lines, 0, pictures, **{**place, "yanchor": "bottom"}))
    left = len(result.directions) - len(_drawn_reasons(result))
    if left:
        more = text("and {count} more reasons", count=left)
        words.append(note(colored(more, muted, SMALL), 0, BODY, **{**place, "yanchor": "bottom"}))
    return words


def _what(one: Direction) -> str:
    """What a direction of a reason does to the weight vectors."""
    if one.rescales:
        return text("each w × δ by itself") if one.alone else text("all w × δ together")
    if one.follows:
        return text("any γ, added to one w") if one.alone else text("any γ, added to all w alike")
    return text("one of them")


def _rule(result: Walks, t: int) -> list[str]:
    """Along what the null walk goes, and where it is at a step."""
    one, r = result.chosen, _added(result, t)
    if one is None or result.null is None:
        return []
    moved = np.flatnonzero(one.moved)
    who = text("every w") if len(moved) > 1 else text("w of neuron {h}", h=int(moved[0]))
    if one.rescales:
        where = text("{who} × {factor}", who=who, factor=number(1 + float(result.steps[t])))
        if result.steps[t] < -1:
            where = text("{where}: a negative δ flips the sign of z", where=where)
    elif one.follows:
        where = text("{who} {r} γ", who=who, r=r)
    elif result.null.still.all():
        where = text("on a straight line, W {r} V", r=r)
    else:
        where = text("on a straight line, W {r} V: flat near r = 0 only", r=r)
    return [str(one.title), where]


def _random_rule(result: Walks, t: int) -> list[str]:
    """The same of the walk at random."""
    r = _added(result, t)
    return [text("just as far"), text("on a straight line, W {r} R", r=r)]


def _added(result: Walks, t: int) -> str:
    """The r of a step with its sign, to follow what it is added to."""
    r = float(result.steps[t])
    return f"{'−' if r < 0 else '+'} {number(abs(r))}"


def _kl(one: Walk, t: int, muted: str) -> list[str]:
    """The KL of a step, large, or why there is none."""
    if one.problems[t]:
        return [colored(line, muted, SMALL) for line in textwrap.wrap(one.problems[t], 46)[:2]]
    if one.still[t]:
        return [text("<b>KL = 0</b>")]
    kl = f"<b>KL = {number(float(one.kl[t]), 2)}</b>"
    return [kl + " " + colored(text("nats per case"), muted, SMALL)]


def _nothing(result: Walks) -> list[str]:
    """What stands where there is no direction to walk along."""
    if result.found.null.dimension:
        return [text("Stopped before the null directions"), text("were explained.")]
    return [text("Every direction changes the model:"), text("there is none to walk along.")]


# Axes


def _axes(result: Walks, reach: tuple[float, float]) -> dict[str, Any]:
    """The panels beside each other."""
    hidden = {"visible": False, "showgrid": False}
    strip = Grid(result.dataset, len(result.shown), len(result.shown))
    _, width = strip.extent
    high, wide = _grid(result).extent
    images = result.dataset.image_shape is not None
    H = len(result.found.model.W)
    axes: dict[str, Any] = {
        "xaxis": {**hidden, "domain": PANELS[0], "range": [-3, width + 1], "anchor": "y"},
        "yaxis": {**hidden, "domain": [0, 1], "range": [BODY, 0], "anchor": "x"},
    }
    predicted = text("probability") if result.dataset.labelled else text("predicted mean")
    for axis, panel in ((2, PANELS[1]), (4, PANELS[2])):
        square = {"scaleanchor": f"x{axis}", "constrain": "domain", "constraintoward": "top"}
        axes[f"xaxis{axis}"] = {
            **hidden,
            "domain": panel,
            "range": [-0.6, wide + 0.6],
            "anchor": f"y{axis}",
            **({"constrain": "domain", "constraintoward": "left"} if images else {}),
        }
        axes[f"yaxis{axis}"] = {
            **hidden,
            "domain": TEMPLATES,
            "range": [high + 0.6, -0.6],
            "anchor": f"x{axis}",
            **(square if images else {}),
        }
        axes[f"xaxis{axis + 1}"] = {
            "domain": panel,
            "range": [-0.6, H - 0.4],
            "dtick": max(1, ceil(H / 10)),
            "tick0": 0,
            "anchor": f"y{axis + 1}",
            "title": text("neuron (case {case}: ○ before, ● after)", case=result.case),
            "showgrid": False,
            "zeroline": False,
        }
        axes[f"yaxis{axis + 1}"] = {
            "domain": DOTS,
            "range": reach,
            "nticks": 4,
            "anchor": f"x{axis + 1}",
            "title": predicted,
            "zeroline": False,
        }
    return axes


def _narrow_layout() -> dict[str, Any]:
    """The panels one above the other."""
    reasons, *walks = NARROW_PANELS
    whole = [0, 1]
    layout: dict[str, Any] = {
        "height": NARROW_TOP + NARROW_BODY + NARROW_FOOT,
        "margin": {"t": NARROW_TOP, "b": NARROW_FOOT},
        "xaxis": {"domain": whole},
        "yaxis": {"domain": reasons},
    }
    for axis, (low, high) in zip((2, 4), walks, strict=True):
        size = high - low
        layout[f"xaxis{axis}"] = {"domain": whole}
        layout[f"xaxis{axis + 1}"] = {"domain": whole}
        layout[f"yaxis{axis}"] = {"domain": [low + 0.52 * size, low + 0.88 * size]}
        layout[f"yaxis{axis + 1}"] = {"domain": [low, low + 0.36 * size]}
    return layout
