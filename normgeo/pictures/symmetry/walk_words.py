"""The words of a walk: where each walk is, and the KL."""

from __future__ import annotations

import numpy as np

from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.null_directions.walk import Walk
from normgeo.pictures.style.annotations import colored, sized
from normgeo.pictures.style.template import LARGE, SIZE, SMALL, THEMES
from normgeo.pictures.symmetry.walk import Walks

SYMBOLS = text("KL: how far the outputs move, per case. F: the curvature of KL")


def null_words(result: Walks, t: int, theme: str) -> list[str]:
    """What stands above a walk along a null direction, at a step."""
    muted = THEMES[theme].muted
    title = text("<b>Along a null direction</b> of {method}", method=result.found.normalizer.title)
    return [title, colored(_rule(result, t), muted, SMALL)]


def random_words(result: Walks, t: int, theme: str) -> list[str]:
    """The same of a walk at random."""
    line = text("a random R is added: W {r} R", r=_added(result, t))
    if result.null is not None:
        line = text("a random step of the same length: W {r} R", r=_added(result, t))
    return [text("<b>Along a random direction</b>"), colored(line, THEMES[theme].muted, SMALL)]


def kl_words(one: Walk, t: int, theme: str) -> list[str]:
    """The KL of a step, large, or why there is none."""
    muted = THEMES[theme].muted
    if one.problems[t]:
        return [colored(one.problems[t], muted, SMALL)]
    if one.still[t]:
        words = text("the outputs stand still") if one.steps[t] else text("no step yet")
        return [f"{sized(text('<b>KL = 0:</b>'), LARGE)} {sized(words, SIZE + 2)}"]
    kl = sized(f"<b>KL = {number(float(one.kl[t]), 2)}</b>", LARGE)
    return [f"{kl} {sized(text('nats: the outputs move'), SIZE + 2)}"]


def about(result: Walks) -> list[str]:
    """The method, the data, and how many directions are null by formula."""
    found = result.found
    return [
        text("{method}; {about}", method=found.normalizer.title, about=found.caption),
        found.formula,
    ]


def letters(result: Walks) -> str:
    """What a step and the letters of a walk stand for; the glossary tells H, D and G."""
    one = result.chosen
    if one is None or one.rescales:
        return SYMBOLS
    if one.follows:
        return text("{words}; γ is added to each w", words=SYMBOLS)
    return text("{words}; V is the null direction", words=SYMBOLS)


def _rule(result: Walks, t: int) -> str:
    """Along what the null walk goes, and where it is at a step."""
    one, r = result.chosen, _added(result, t)
    if one is None or result.null is None:
        return ""
    moved = np.flatnonzero(one.moved)
    first, last = int(moved[0]), int(moved[-1])
    who = text("every w")
    if not one.moved.all():
        who = text("w of neurons {first} to {last}", first=first, last=last)
    if first == last:
        who = text("w of neuron {h}", h=first)
    if one.rescales:
        factor = number(1 + float(result.steps[t]))
        where = text("{who} × {factor} (= 1 + r)", who=who, factor=factor)
        if result.steps[t] < -1:
            return text("{where}: a negative δ flips the sign of z", where=where)
        return text("{where}: the norm divides it out", where=where)
    if one.follows:
        return text("{who} {r} γ, which the norm subtracts", who=who, r=r)
    if result.null.still.all():
        where = text("W {r} V", r=r)
    else:
        where = text("W {r} V, flat near r = 0 only", r=r)
    return text("{title}: {where}", title=one.title, where=where)


def _added(result: Walks, t: int) -> str:
    """The r of a step with its sign, to follow what it is added to; 1 goes without saying."""
    r = float(result.steps[t])
    size = "" if abs(r) == 1 else f" {number(abs(r))}"
    return f"{'−' if r < 0 else '+'}{size}"
