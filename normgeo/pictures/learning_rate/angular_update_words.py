"""The words of an angular update: the factors, the captions, what is seen, the angles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from normgeo.base.numbers import fraction, number
from normgeo.base.text import text
from normgeo.pictures.learning_rate.angular_update import APART, AngularUpdate, Change, norm_words
from normgeo.pictures.style.annotations import colored, halo, sized, width
from normgeo.pictures.style.template import SIZE, SMALL

LENGTH = {2.0: text("twice the length"), 0.5: text("half the length")}
FACTOR = 28  # type of the four numbers that answer the question
CLEAR, FREE = 3, 14  # pixels between the words of two steps: at least, and where one can choose
NEAR = 0.01  # of a factor
SMALL_ANGLE = 0.1  # of a factor: up to here an angle grows as its tangent does
FAR, BESIDE = 0.75, 24  # a share of the reach; pixels that words go on beyond their step there


def tiles(result: AngularUpdate, step: int, muted: str) -> list[list[str]]:
    """Return by what factor each quantity has changed, and below it from what to what."""
    return [_tile(change, place == 0, muted) for place, change in enumerate(result.changes(step))]


def why(result: AngularUpdate, step: int) -> str:
    """What a longer or shorter norm does to the turn of a step, and why."""
    if not result.has_law:
        return result.no_law
    norm, pushed, turn, _ = result.changes(step)
    times, expected = norm_words(norm.factor), turn.predicted or 0.0
    if norm.factor == 1:
        return text("At this length a step turns it by {angle}°.", angle=number(turn.after))
    long = {2.0: text("Twice as long"), 0.5: text("Half as long")}.get(
        norm.factor, text("{times} times as long", times=times)
    )
    if abs(turn.factor / expected - 1) > 2 * NEAR:
        limit = text("without ε") if result.normalizer.added_eps else text("for small steps")
        return text(
            "{long}, it turns × {found} as much; {limit} × {expected}.",
            long=long,
            found=number(turn.factor),
            limit=limit,
            expected=fraction(expected),
        )
    linear = result.curve.optimizer.linear
    turned = text("it turns {share} as far", share=_share(expected))
    if abs(turn.after / turn.before / expected - 1) >= SMALL_ANGLE:
        turned = text("tan θ is {share} as large", share=_share(expected))
    return text(
        "{long}, {turned}: {pushed} over {length}.",
        long=long,
        pushed=_gradient(pushed.predicted or 0.0) if linear else text("the same step"),
        length=LENGTH.get(norm.factor, text("that length")),
        turned=turned,
    )


def _share(factor: float) -> str:
    """A factor before "as far"."""
    if np.isclose(factor, 2):
        return text("twice")
    words = fraction(factor)
    return text("{times} times", times=words) if factor > 1 else words


def _gradient(factor: float) -> str:
    """The gradient, as a multiple of that at norm 1."""
    if np.isclose(factor, 0.5):
        return text("half the gradient")
    words = "{share} of the gradient" if factor < 1 else "{share} the gradient"
    return text(words, share=_share(factor))


def effective(result: AngularUpdate, step: int) -> list[str]:
    """By what factor the learning rate on the unit sphere differs; nothing without a law."""
    if not result.has_law:
        return []
    power = result.curve.optimizer.power
    return [
        text(
            "One step, effective learning rate {rate}: <b>× {factor}</b>",
            rate=f"η/{result.symbol}{'²' * (power == 2)}",
            factor=fraction(float(result.curve.norms[step]) ** -power),
        )
    ]


def about(result: AngularUpdate) -> str:
    """What steps, and by which rate."""
    return text(
        "{about}: first step of {optimizer}, η = {rate}",
        optimizer=result.curve.optimizer.title,
        about=f"<b>{result.normalizer.title}</b>, {result.name}",
        rate=number(result.curve.rate),
    )


def norm_of(result: AngularUpdate) -> str:
    """What the norm is of; a tilde stands for what the center leaves of the weights."""
    if result.normalizer.centering.projects_weights:
        return text("norm {symbol} of the weights minus their mean", symbol=result.symbol)
    return text("norm {symbol} of the {name}", symbol=result.symbol, name=result.name)


def seen(result: AngularUpdate) -> str:
    """What the plane shows."""
    if result.same_along_rays:
        return text("Color: the loss, equal along each ray, so half as steep twice as far out.")
    if result.has_law:
        return text(
            "Almost wedges: with ε > 0 the loss changes along a ray, larger in stronger color."
        )
    return text("No wedges: the loss changes along a ray, larger in stronger color.")


def steps(
    result: AngularUpdate, reach: float, still: Sequence[int], step: int, pixels: float
) -> list[dict[str, Any]]:
    """The words at the tips and the feet of the steps, the frame's own first.

    Where the reach has so many pixels, a step has words that stand beside all others.
    """
    shown: list[tuple[float, float]] = []
    notes: list[dict[str, Any]] = []
    for place in (step, *still):
        norm, own = float(result.curve.norms[place]), place == step
        words = _words_of_step(result, place, own)
        wide = max(width(one["text"], one["font"]["size"]) for one in words)
        room = max(APART * pixels - CLEAR, wide)
        middle = norm / reach * pixels
        ways = [(middle - room / 2, room, {}, FREE), _to_left(middle, wide, 0)]
        if own and norm > FAR * reach:
            ways = [_to_left(middle, wide, BESIDE)]
        for left, taken, how, gap in ways:
            right = left + taken
            if all(right + gap < first or last + gap < left for first, last in shown):
                shown.append((left, right))
                notes += [one | how for one in words]
                break
    return notes


def _to_left(middle: float, wide: float, beyond: int) -> tuple[float, float, dict[str, Any], int]:
    """Words that end so far beyond their step: their left end, how wide, how, and the gap."""
    return middle + beyond - wide, wide, {"xanchor": "right", "xshift": beyond}, CLEAR


def angle(result: AngularUpdate, step: int, paper: str) -> dict[str, Any]:
    """Return the angle beside the dot, on the side that the line leaves free."""
    degrees = np.degrees(result.curve.angles)
    rises = degrees[min(step + 1, len(degrees) - 1)] > degrees[max(step - 1, 0)]
    return {
        "xref": "x2",
        "yref": "y2",
        "x": float(np.log10(result.curve.norms[step])),
        "y": float(np.log10(degrees[step])),
        "text": f"<b>{number(float(degrees[step]))}°</b>",
        "font": {"size": SIZE + 4, "shadow": halo(paper)},
        "xanchor": "right",
        "yanchor": "bottom" if rises else "top",
        "xshift": -14,
    }


def _tile(change: Change, is_norm: bool, muted: str) -> list[str]:
    """Return by what factor a quantity has changed, and below it from what to what."""
    both = np.array([change.before, change.after])
    if change.unit == "°":  # the law is one of tangents
        both = np.tan(np.radians(both))
    moved = " → ".join(map(number, both.tolist()))
    if is_norm:
        moved = f"1 → {norm_words(change.after)}"
    elif change.predicted is not None:
        moved = text(
            "{moved}, predicted × {factor}", moved=moved, factor=fraction(change.predicted)
        )
        if _shown(change) != change.factor:
            moved = text("{moved}, here {found}", moved=moved, found=number(change.factor))
    words = norm_words(change.factor) if is_norm else fraction(_shown(change))
    factor = sized(f"<b>× {words}</b>", FACTOR)
    return [f"{factor}  {change.quantity}", colored(moved, muted, SMALL)]


def _shown(change: Change) -> float:
    """The factor to show: the predicted one, where a law for small angles holds but for NEAR."""
    if change.predicted is None or not change.approximate:
        return change.factor
    if abs(change.factor / change.predicted - 1) > NEAR:
        return change.factor
    same = fraction(change.factor) == fraction(change.predicted)
    return change.factor if same else change.predicted


def _words_of_step(result: AngularUpdate, step: int, own: bool) -> tuple[dict[str, Any], ...]:
    norm = float(result.curve.norms[step])
    _, gradient, turn, _ = result.changes(step)
    along, across = result.way(step)
    what = text("‖G‖") if result.curve.optimizer.linear else text("step")
    times, turned = f"× {fraction(_shown(gradient))}", f"{number(turn.after)}°"
    tip = f"{what} {times}<br>" + (f"θ = {turned}" if own else turned)
    foot = f"{result.symbol} = {norm_words(norm)}" if own else norm_words(norm)
    if own:
        tip, foot = f"<b>{tip}</b>", f"<b>{foot}</b>"
    place: dict[str, Any] = {"font": {"size": SIZE if own else SMALL}}
    return (
        {
            "x": float(f"{norm + along:.6g}"),
            "y": float(f"{across:.6g}"),
            "text": tip,
            "yanchor": "bottom",
            "yshift": 5,
            **place,
        },
        {"x": float(f"{norm:.6g}"), "y": 0, "text": foot, "yanchor": "top", "yshift": -6, **place},
    )
