"""Predict the factor by which the angular update changes when the norm of the weights doubles."""

from __future__ import annotations

from collections.abc import Hashable

from normgeo.base.numbers import fraction, number
from normgeo.base.text import text
from normgeo.pictures import PICTURES
from normgeo.pictures.learning_rate.angular_update import AngularUpdate
from normgeo.pictures.teaching import FIRST_STEP
from normgeo.settings import Settings
from normgeo.ui.results import Part
from normgeo.ui.teaching import predict

PAGE = "learning_rate"
FACTORS = (0.25, 0.5, 1.0, 2.0)
NEAR = 0.05  # largest relative difference of a measured factor from one of these
OTHER = "another"


def revealed(settings: Settings) -> bool:
    """Whether the angular update may be shown."""
    return bool(predict.known(PAGE, settings, _question(settings)))


def part(settings: Settings, result: AngularUpdate) -> Part | None:
    """The step at norm 1 alone, while the one at norm 2 is to be predicted."""
    return None if revealed(settings) else Part(FIRST_STEP.name, FIRST_STEP, result)


def ask(settings: Settings, result: AngularUpdate) -> None:
    """Draw the question, or the answer and its reason."""
    predict.ask(
        PAGE,
        _question(settings),
        text(
            "{method}, {symbol} × 2: the turn of one gradient step, tan θ, takes a factor of",
            method=result.normalizer.title,
            symbol=result.symbol,
        ),
        {
            **{str(value): fraction(value) for value in FACTORS},
            OTHER: text("another one"),
        },
        lambda: _answer(result),
        lambda: _reason(result),
    )


def _question(settings: Settings) -> Hashable:
    """All settings that the angular update depends on, without the slider's."""
    return PICTURES["turn"].decisive(settings)


def _answer(result: AngularUpdate) -> str:
    factor = result.changes(result.place(2.0))[2].factor
    near = [value for value in FACTORS if abs(factor / value - 1) < NEAR]
    return str(near[0]) if near else OTHER


def _reason(result: AngularUpdate) -> str:
    _, gradient, turn, _ = result.changes(result.place(2.0))
    found = text(
        "**It takes a factor of {turn}**: the gradient takes a factor of {gradient}",
        turn=fraction(turn.factor),
        gradient=fraction(gradient.factor),
    )
    if not result.has_law:
        return text("{found}. {why}", found=found, why=result.no_law)
    return text(
        "{found}, and seen from the origin, at twice the distance, a step is half as wide: "
        "{gradient} × ½ = {product}.",
        found=found,
        gradient=number(gradient.factor),
        product=number(gradient.factor / 2),
    )
