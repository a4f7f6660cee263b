"""The words and marks of the picture of a change: what changes, by what factor, the verdicts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.invariance.before_and_after import BeforeAndAfter
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.captions import listed, variant
from normgeo.pictures.invariance.effect import EffectOnData, digits_apart, movement, sign_and_words
from normgeo.pictures.style.annotations import colored, in_lines, note, width
from normgeo.pictures.style.colors import BLUE, legible, method_color, on_paper
from normgeo.pictures.style.sheet import Band, Pair, answer
from normgeo.pictures.style.template import LARGE, SIZE, SMALL, THEMES

BARS = {"W": text("each bar is a weight"), "X": text("each bar is a feature")}
"""What one sees of a row of W or X that is no image."""

SPOKEN = {2: text("two"), 3: text("three"), 4: text("four")}
BESIDE_TABLE = 640  # pixels of its page for the picture, which has not the width of a page


def heading(result: EffectOnData, step: int, theme: str) -> list[Pair]:
    """Which methods ignore the change, its name, its row and its factor."""
    answered, name = _heading(result, step)
    # The name has its place in a line of one height: another change moves nothing below it.
    factor = f"<b>{_factor(result, step)}</b> {colored(name, THEMES[theme].muted, SIZE)}"
    return [
        Pair(
            Band(in_lines(answered, SIZE, BESIDE_TABLE)),
            Band([f"{factor}{below_zero(result, step, theme)}"], LARGE),
        )
    ]


def below_zero(result: EffectOnData, step: int, theme: str) -> str:
    """What blue pixels are, in blue; "" where there are none."""
    if result.dataset.image_shape is None or (result.effect.rows_after[step] >= 0).all():
        return ""
    look = THEMES[theme]
    blue = legible(on_paper(BLUE, theme), look.paper, look.ink)
    return f" {colored(text('(blue: below 0)'), blue, SIZE)}"


def beside(result: EffectOnData, key: str, step: int, theme: str) -> list[Band | Pair]:
    """The name of a method, its verdict and its numbers."""
    effect, look, normalizer = result.effect, THEMES[theme], result.rows[key]
    method = effect.methods.get(key)
    sign, verdict = sign_and_words(effect, method, step) if method else ("", "?")
    numbers = _numbers(result, method, step) if method else []
    color = legible(method_color(normalizer, theme), look.paper, look.ink)
    return [
        Pair(
            Band([_bold(normalizer)], SIZE, color),
            answer(verdict, sign=sign),
            max(width(_bold(one), SIZE) for one in result.rows.values()),
        ),
        Band(numbers, SMALL, look.muted, on_slide=numbers[:1], brief=True),
    ]


def _bold(normalizer: Normalizer) -> str:
    """The name of a method, with its ε and its frozen statistics."""
    used = replace(normalizer, eps=normalizer.added_eps)
    return f"<b>{text(used.title)}{variant(used)}</b>"


def missing(result: EffectOnData, key: str, step: int) -> list[dict[str, Any]]:
    """Why a method has no z after the change, in place of its dots."""
    method = result.effect.methods.get(key)
    problem = method and method.after[step].problem
    return [note(str(problem), 0, 0.5, font={"size": SMALL}, yanchor="middle")] if problem else []


def what_is_drawn(result: EffectOnData) -> str:
    """What hollow and filled stand for."""
    return text("neuron (z of case {n}: ○ before, ● after)", n=result.case)


def _heading(result: EffectOnData, step: int) -> list[str]:
    """Return who ignores what one sees of the change, and its name."""
    transform, name = result.effect.transform, text(result.effect.transform.label)
    if result.dataset.image_shape is None:
        return [f"<b>{_answer(result, step, name) or name}</b>", str(BARS[transform.matrix])]
    seen = text(transform.on_images)
    answered = _answer(result, step, seen)
    return [f"<b>{answered}</b>", name] if answered else [f"<b>{name}</b>", seen]


def _answer(result: EffectOnData, step: int, change: str) -> str:
    """Return which of the shown methods ignore a change; "" where one has no plain verdict."""
    effect = result.effect
    signs = [sign_and_words(effect, method, step)[0] for method in effect.methods.values()]
    if result.hidden or not {*signs} <= {"✓", "✗"}:
        return ""
    names = [
        str(text(method.normalizer.title))
        for method, sign in zip(effect.methods.values(), signs, strict=True)
        if sign == "✓"
    ]
    count = SPOKEN.get(len(signs), str(len(signs)))
    if not names:
        return text("None of these {n} ignores {change}", n=count, change=change)
    if len(names) == len(signs):
        return text("All {n} ignore {change}", n=count, change=change)
    told = text("only {name} ignores {change}", name=names[0], change=change)
    if len(names) > 1:
        who = text("{first} and {last}", first=listed(names[:-1]), last=names[-1])
        told = text("{who} ignore {change}", who=who, change=change)
    return text("Of these {n}, {told}", n=count, told=told)


def _factor(result: EffectOnData, step: int) -> str:
    """Return which rows change and by what: "case 0: x × 3", or as in the table, "all + 3 γ"."""
    effect = result.effect
    transform, strength = effect.transform, float(effect.strengths[step])
    symbol = str(text(transform.operation.symbol))
    if transform.operation.one_row:
        n = effect.index if transform.matrix == "W" else result.case
        row = text("neuron {n}: w", n=n) if transform.matrix == "W" else text("case {n}: x", n=n)
        symbol = symbol.replace("one", row)
    if transform.rescales:
        return f"{symbol} {number(strength, 6)}"
    signed = symbol if strength > 0 else symbol.replace("+", "−")
    return f"{signed} {number(abs(strength), 6)} γ"


def _numbers(result: EffectOnData, method: BeforeAndAfter, step: int) -> list[str]:
    """Return how far z moved, and μ and σ before and after: of one neuron, or of the case."""
    after, h = method.after[step], result.effect.neuron
    if after.problem:
        return []
    used, before = method.normalizer, method.before
    statistics = [("μ", before.mu[h], after.mu[h])] * used.centering.subtracts
    if used.scaling.divides:
        symbol = "σ" if used.centering.subtracts or not used.normalizes_weights else "‖w‖"
        statistics.append((symbol, before.sigma[h], after.sigma[h]))
    told = ", ".join(_moved(*each) for each in statistics)
    return [str(movement(method, step)), *[f"{_whose(result, method)}: {told}"] * bool(told)]


def _whose(result: EffectOnData, method: BeforeAndAfter) -> str:
    """The neuron that the statistics belong to, or the case, where its neurons share them."""
    if not method.normalizer.shared_by_neurons:
        return text("neuron {h}", h=result.effect.neuron)
    if np.ptp(method.before.mu) == np.ptp(method.before.sigma) == 0:
        return text("case {n}", n=result.case)
    return text("case {n}, neuron {h}", n=result.case, h=result.effect.neuron)


def _moved(symbol: str, before: float, after: float) -> str:
    """A statistic before and after, with as many digits as tell them apart."""
    digits = digits_apart(before, after)
    old, new = (number(float(one), digits) for one in (before, after))
    return text("{s} stays {x}", s=symbol, x=old) if old == new else f"{symbol} {old} → {new}"
