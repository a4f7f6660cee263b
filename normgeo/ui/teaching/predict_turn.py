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
            "{method}, {optimizer}: when {symbol} doubles, the turn of one step, tan θ, becomes ×",
            optimizer=result.curve.optimizer.title,
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
    _, pushed, turn, _ = result.changes(result.place(2.0))
    if not result.has_law:
        return text("**{turn}**. {why}", turn=fraction(turn.factor), why=result.no_law)
    if not result.curve.optimizer.linear:
        return text(
            "**{turn}**: {optimizer} makes the step as long as before, and from twice as far it "
            "looks half as wide. Measured: {found}.",
            turn=fraction(turn.predicted or 0.0),
            optimizer=result.curve.optimizer.title,
            found=number(turn.factor),
        )
    return text(
        "**{turn}**: the gradient is half as long, and from twice as far a step looks half as "
        "wide: {gradient} × ½ = {product}.",
        turn=fraction(turn.factor),
        gradient=number(pushed.factor),
        product=number(pushed.factor / 2),
    )
