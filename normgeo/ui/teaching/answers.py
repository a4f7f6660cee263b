"""The answer that the first picture of a page gives, in one sentence made from its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from normgeo.base.numbers import number
from normgeo.base.text import text
from normgeo.normalizers.named import NORMALIZERS
from normgeo.pictures.batch.axes import Axes, nothing_measured
from normgeo.pictures.captions import listed
from normgeo.pictures.fisher.equal_kl import EqualKL
from normgeo.pictures.invariance.effect import EffectOnData, parameter, sign_and_words
from normgeo.pictures.learning_rate.angular_update import AngularUpdate
from normgeo.pictures.recurrent.recurrence import Recurrences
from normgeo.pictures.symmetry.walk import Walks, headline


def _effect(result: EffectOnData) -> str:
    effect, step = result.effect, result.opening
    methods = effect.methods.values()
    words = listed(
        text(
            "{method} {verdict}",
            method=text(method.normalizer.title),
            verdict=sign_and_words(effect, method, step)[1],
        )
        for method in methods
    )
    found = text(
        "with {name} = {strength}, {words}",
        name=parameter(effect.transform),
        strength=number(effect.strengths[step]),
        words=words,
    )
    signs = [
        text(m.normalizer.title) for m in methods if m.normalizer.leaves_only_signs(len(m.before.z))
    ]
    if not signs:
        return text("{found}.", found=found)
    return text("{found}; of {names}, z is only a sign.", found=found, names=listed(signs))


def _turn(result: AngularUpdate) -> str:
    turn = result.changes(result.place(2.0))[2]
    words = {"symbol": result.symbol, "factor": number(turn.factor)}
    if turn.predicted is None:
        return text(
            "when {symbol} doubles, the turn of a step is multiplied by {factor}, and there is no "
            "law.",
            **words,
        )
    return text(
        "when {symbol} doubles, the turn of a step is multiplied by {factor}; at ε = 0 it would be "
        "{predicted}.",
        **words,
        predicted=number(turn.predicted),
    )


def _walk(result: Walks) -> str:
    return text("{headline}.", headline=headline(result.found))


def _equal_kl(result: EqualKL) -> str:
    return listed(
        text("{method}: {shape}", method=point.normalizer.title, shape=plane.shape)
        for point, plane in zip(result.base.points, result.planes, strict=True)
    )


def _axes(result: Axes) -> str:
    if result.accuracy is None:
        return nothing_measured(result)
    m = result.opens_at
    shares = listed(
        text("{method} reaches {share:.0%}", method=NORMALIZERS[method].title, share=told[0])
        if (told := result.told(method, m)) is not None
        else text("{method} has no z to learn with", method=NORMALIZERS[method].title)
        for method in result.accuracy.shares
    )
    return text("trained in batches of {m}, {shares}.", m=m, shares=shares)


def _recurrence(result: Recurrences) -> str:
    return text("{verdict}.", verdict=result.verdict(result.opens_at))


ANSWERS: Mapping[str, Callable[[Any], str]] = {
    "effect": _effect,
    "turn": _turn,
    "walk": _walk,
    "equal_kl": _equal_kl,
    "axes": _axes,
    "recurrence": _recurrence,
}
"""Result → sentence, by picture."""
