"""The words of a walk: the headline, the reasons, where each walk is, and the KL."""

from __future__ import annotations

from typing import Any

import numpy as np

from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.null_directions.direction import Direction
from normgeo.null_directions.walk import Walk
from normgeo.pictures.style.annotations import colored, note, sized
from normgeo.pictures.style.template import LARGE, SMALL, THEMES
from normgeo.pictures.symmetry.walk import Walks

BODY = 276  # pixels of the reasons
REASONS = 4  # that are drawn
LINE, HIGH_LINE = 30, 40  # pixels of a line of words, with room for the type of a hall


def drawn_reasons(result: Walks) -> tuple[Direction, ...]:
    """The reasons that are drawn: the first ones, and the one that is walked along."""
    found = result.directions
    if len(found) <= REASONS or result.chosen in found[:REASONS] or result.chosen is None:
        return found[:REASONS]
    return (*found[: REASONS - 1], result.chosen)


def slots(result: Walks) -> list[tuple[float, float, float]]:
    """For each reason, in pixels from the top: its slot's top, its pictures' top and height."""
    count = len(drawn_reasons(result))
    line = HIGH_LINE if count < 3 else LINE
    words, head = (2 if count < 4 else 1) * line, 0.2 * line
    pitch = min(3.4 * line, (BODY - head) / max(count, 1))
    pictures = min(38.0, pitch - words - 10)
    return [(head + i * pitch, head + i * pitch + words, pictures) for i in range(count)]


def heads(result: Walks, t: int, theme: str) -> tuple[tuple[list[str], list[str]], ...]:
    """For each walk what stands above its templates and above its predictions, at a step."""
    muted = THEMES[theme].muted
    found = []
    for one, title, rules in (
        (result.null, text("Along a null direction"), _rule(result, t)),
        (result.random, text("Along a random direction"), _random_rule(result, t)),
    ):
        lines = [f"<b>{title}</b>", *(colored(rule, muted, SMALL) for rule in rules)]
        found.append(([], []) if one is None else (lines, _kl(one, t, muted)))
    if result.null is None:
        found[0] = _nothing(result), []
    return tuple(found)


def about(result: Walks) -> list[str]:
    """The method, the data, and how many directions are null by formula."""
    found = result.found
    return [
        text("{method}; {about}", method=found.normalizer.title, about=found.caption),
        found.formula,
    ]


def reason_words(result: Walks, theme: str) -> list[dict[str, Any]]:
    """Above the pictures of each reason, what it is, and how many directions it explains."""
    muted = THEMES[theme].muted
    if not result.directions:
        return []
    there, place = slots(result), {"xref": "x", "yref": "y"}
    found = []
    for one, (top, pictures, _) in zip(drawn_reasons(result), there, strict=True):
        lines = [f"<b>{one.count}</b> · {one.title}"]
        if pictures - top > 1.5 * LINE:
            lines.append(colored(_what(one, bool(one.moved.all())), muted, SMALL))
        found.append(note(lines, 0, pictures, **place))
    left = len(result.directions) - len(drawn_reasons(result))
    if left:
        more = text("and {count} more reasons", count=left)
        found.append(note(colored(more, muted, SMALL), 0, BODY, **place))
    return found


def _what(one: Direction, every: bool) -> str:
    """What a direction of a reason does to the weight vectors, every one or those of a group."""
    if one.rescales and one.alone:
        return text("each w × δ by itself")
    if one.rescales:
        return text("all w × δ together") if every else text("all w of a group × δ together")
    if one.follows and one.alone:
        return text("any γ, added to one w")
    if one.follows:
        return text("any γ, added to all w") if every else text("any γ, added to all w of a group")
    return text("one of them")


def _rule(result: Walks, t: int) -> list[str]:
    """Along what the null walk goes, and where it is at a step."""
    one, r = result.chosen, _added(result, t)
    if one is None or result.null is None:
        return []
    moved = np.flatnonzero(one.moved)
    first, last = int(moved[0]), int(moved[-1])
    who = text("every w")
    if not one.moved.all():
        who = text("w of neurons {first} to {last}", first=first, last=last)
    if first == last:
        who = text("w of neuron {h}", h=first)
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
    line = text("on a straight line, W {r} R", r=_added(result, t))
    return [line] if result.null is None else [text("just as far"), line]


def _added(result: Walks, t: int) -> str:
    """The r of a step with its sign, to follow what it is added to."""
    r = float(result.steps[t])
    return f"{'−' if r < 0 else '+'} {number(abs(r))}"


def _kl(one: Walk, t: int, muted: str) -> list[str]:
    """The KL of a step, large, or why there is none."""
    if one.problems[t]:
        return [colored(one.problems[t], muted, SMALL)]
    if one.still[t]:
        return [sized(text("<b>KL = 0</b>"), LARGE)]
    kl = sized(f"<b>KL = {number(float(one.kl[t]), 2)}</b>", LARGE)
    return [f"{kl} {colored(text('nats per case'), muted, SMALL)}"]


def _nothing(result: Walks) -> list[str]:
    """What stands where there is no direction to walk along."""
    if result.found.null.dimension:
        return [text("Stopped before the null directions"), text("were explained.")]
    return [text("Every direction changes the model:"), text("there is none to walk along.")]
