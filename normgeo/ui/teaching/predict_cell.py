"""Predict a cell of Table 1: does z stay?"""

from __future__ import annotations

from collections.abc import Hashable

from normgeo.base.text import text
from normgeo.invariance.rules import laws
from normgeo.invariance.transforms import Transform
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures import PICTURES
from normgeo.pictures.invariance.effect import EffectOnData
from normgeo.settings import Settings
from normgeo.tables.verdicts import SIGNS, sign_and_word
from normgeo.ui.invariance.why import reasons
from normgeo.ui.results import Part
from normgeo.ui.teaching import predict
from normgeo.ui.verdict_table import Known, verdict

PAGE = "invariance"


def known(settings: Settings) -> Known | None:
    """Which verdicts may be shown; None for all."""
    if not settings.predict:
        return None
    found = predict.made(PAGE)
    return lambda normalizer, transform, negative: (
        _question(settings, normalizer, transform, -1.0 if negative else 1.0) in found
    )


def revealed(settings: Settings) -> bool:
    """Whether the answer for the selected cell may be shown."""
    return bool(predict.known(PAGE, settings, _question(settings, *settings.selected)))


def part(settings: Settings, result: EffectOnData) -> Part | None:
    """The picture of the change, with z under the predicted methods only; None for all.

    It has no frames: a factor of the other sign is another question.
    """
    if not settings.predict:
        return None
    transform, strengths = result.effect.transform, result.effect.strengths.tolist()
    found = predict.made(PAGE)

    def predicted(key: str, delta: float) -> bool:
        return _question(settings, result.rows[key], transform, delta) in found

    if all(predicted(key, delta) for key in result.rows for delta in strengths):
        return None
    keys = [key for key in result.rows if predicted(key, settings.delta)]
    side = _turned(transform, settings.delta)
    steps = [step for step, delta in enumerate(strengths) if _turned(transform, delta) == side]
    return Part(f"effect of {keys} in {steps}", PICTURES["effect"], result.only(keys, steps))


def ask(settings: Settings) -> None:
    """Draw the question about the selected cell, or the answer and its reason."""
    normalizer, transform = settings.selected
    signs = [sign for sign in SIGNS if _may_be(sign, settings, normalizer, transform)]
    labels = {
        "✓": text(":material/check: yes"),
        "±": text("± its sign flips"),
        "≈": text("≈ only at ε = 0"),
        "✗": text(":material/close: no"),
    }
    predict.ask(
        PAGE,
        _question(settings, normalizer, transform),
        text(
            "{method}, {change}: does z stay?",
            method=text(normalizer.title),
            change=text(transform.label),
        ),
        {sign: labels[sign] for sign in signs},
        lambda: _sign(settings, normalizer, transform)[0],
        lambda: _reason(settings, normalizer, transform),
    )


def _question(
    settings: Settings, normalizer: Normalizer, transform: Transform, delta: float | None = None
) -> Hashable:
    """The key that decides the answer, for the settings' δ or another one."""
    negative = _turned(transform, settings.delta if delta is None else delta)
    return normalizer, transform.key, negative, settings.seed


def _turned(transform: Transform, delta: float) -> bool:
    """Whether a change may flip the sign of z."""
    return transform.rescales and delta < 0


def _sign(settings: Settings, normalizer: Normalizer, transform: Transform) -> tuple[str, str]:
    return sign_and_word(verdict(normalizer, transform, settings.seed), settings.delta < 0)


def _may_be(sign: str, settings: Settings, normalizer: Normalizer, transform: Transform) -> bool:
    """Whether a sign is offered; the settings alone decide, so that it reveals nothing."""
    if sign == "±":
        return transform.rescales and settings.delta < 0
    return sign != "≈" or (settings.eps > 0 and transform.rescales)


def _reason(settings: Settings, normalizer: Normalizer, transform: Transform) -> str:
    _, word = _sign(settings, normalizer, transform)
    found = verdict(normalizer, transform, settings.seed)
    lines = reasons(laws(normalizer, transform), found, transform)
    return f"**{text(word)}**. {' '.join(map(str, lines))}"
