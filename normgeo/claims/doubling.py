"""Statements on the effect of doubled weights on curvature, gradient and angle: section 5.2.2."""

from __future__ import annotations

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.claims.claim import (
    FAILS,
    FOLLOWS,
    HOLDS,
    HOLDS_IF,
    Claim,
    Finding,
    by_method,
    number,
    numbers,
    plain,
    shared,
)
from normgeo.claims.examples import PAPER, ROUNDING, Example, moved, softened, with_weights
from normgeo.dynamics.angular_update import angular_updates
from normgeo.dynamics.doubling import BETWEEN, DoublingRow, doubling_table
from normgeo.models.glm import NormalizedGLM
from normgeo.normalizers.named import NORMALIZERS

BY_RULE, BY_STEP = "turn by a fixed dw", "turn by one gradient step"
EPS = 0.1  # to show the error of factors without ε
TINY_TURN = 1e-7  # the relative error of an angular update of 1e-8 radians


@shared
def _doubled(example: Example, method: str, eps: float = 0.0) -> tuple[DoublingRow, ...]:
    """Return the factors by which doubling a block of weights changes each quantity."""
    return doubling_table(softened(example.digits_model(method), eps), *example.images)


def _factors(example: Example, method: str) -> dict[str, float]:
    """Return the measured factors."""
    return {
        row.quantity: row.measured for row in _doubled(example, method) if row.measured is not None
    }


def _doubled_block(example: Example) -> Finding:
    """Double the weights that a method normalizes together, with and without ε."""
    X, change = example.images[0], {}
    for eps in (0.0, EPS):
        models = [softened(example.digits_model(method), eps) for method in PAPER]
        change[f"ε = {eps:g}"] = max(
            _change(model, X, model.normalizer.homogeneous_blocks(len(model.W))[0])
            for model in models
        )
    return Finding(
        max(change.values()) < ROUNDING,
        change["ε = 0"] < ROUNDING,
        numbers(text("change of the output"), change),
    )


def _change(model: NormalizedGLM, X: Array, neurons: Array) -> float:
    """Return the change of the output when the weights of some neurons double."""
    W = model.W.copy()
    W[neurons] *= 2
    return moved(model.natural_parameter(X), with_weights(model, W).natural_parameter(X))


def _doubled_vector(example: Example) -> Finding:
    """Double one weight vector under each of the three methods, and with ε."""
    X = example.images[0]
    models = {NORMALIZERS[method].title: example.digits_model(method) for method in PAPER}
    models[text("batch norm, ε = {eps:g}", eps=EPS)] = softened(example.digits_model("batch"), EPS)
    change = {name: _change(model, X, np.array([0])) for name, model in models.items()}
    own = [
        change[name]
        for name, model in models.items()
        if not (model.normalizer.shared_by_neurons or model.normalizer.added_eps)
    ]
    return Finding(
        max(change.values()) < ROUNDING,
        max(own) < ROUNDING < change[NORMALIZERS["layer"].title],
        numbers(text("change of the output"), change),
    )


def _curvature_halves(example: Example) -> Finding:
    """Interpret "curvature along w changes by ½" as each of the quantities it could mean.

    Under a softmax, and under independent outputs as in the paper, without curvature between
    neurons.
    """
    halved = ("gradient of the loss", "ds of a fixed dw")
    softmax, model = _factors(example, "batch"), example.model("batch", "bernoulli")
    y = model.family.sample(model.natural_parameter(example.X), example.rng(), model.phi)
    rows = {row.quantity: row for row in doubling_table(model, example.X, y)}
    independent = {quantity: rows[quantity].measured or 0.0 for quantity in softmax}
    read = ("F of the doubled w", BETWEEN, *halved, BY_RULE)
    found = [factors[quantity] for factors in (softmax, independent) for quantity in read]
    off = [
        abs(factors[quantity] - 0.5) for factors in (softmax, independent) for quantity in halved
    ]
    return Finding(
        max(abs(factor - 0.5) for factor in found) < TINY_TURN,
        max(off) < ROUNDING,
        numbers(text("factor"), {quantity: softmax[quantity] for quantity in read})
        + numbers(text("size with independent outputs"), {BETWEEN: rows[BETWEEN].after})
        + number(text("curvature along w itself"), softmax["curvature along w"]),
    )


def _doubling_table(example: Example) -> Finding:
    """Compare every factor of the doubling table with the one computed from derivatives."""
    tables = {NORMALIZERS[method].title: _doubled(example, method) for method in PAPER}
    softened_title = text("batch norm, ε = {eps:g}", eps=EPS)
    tables[softened_title] = _doubled(example, "batch", EPS)
    off, rows = {}, 0
    for name, table in tables.items():
        errors = [abs(r.measured - float(r.predicted)) for r in table if r.measured is not None]
        off[name], rows = max(errors), rows + len(errors)
    exact = max(error for name, error in off.items() if name != softened_title)
    return Finding(
        max(off.values()) < TINY_TURN,
        exact < TINY_TURN,
        number(text("quantities"), rows) + numbers(text("largest error of a factor"), off),
    )


def _slope(example: Example, method: str) -> float:
    """Return the slope of log tan(angle) against log ‖w̃‖ over a factor of 16."""
    model, (X, y) = example.digits_model(method), example.images
    own = angular_updates(model, X, y, [1.0], rate=0.1).here.norm
    curve = angular_updates(model, X, y, own * 2.0 ** np.arange(5), rate=0.1)
    return float(np.polyfit(np.log(curve.norms), np.log(np.tan(curve.angles)), 1)[0])


def _turns_slower(example: Example) -> Finding:
    slopes = {method: _slope(example, method) for method in PAPER}
    measured = by_method(text("slope of log turn against log norm"), slopes)
    return plain(max(slopes.values()) < -ROUNDING, measured)


def _turn_halves(example: Example) -> Finding:
    """Interpret "½" as a statement on the angular update of a gradient step."""
    factors = {method: _factors(example, method)[BY_STEP] for method in PAPER}
    off = max(abs(factor - 0.5) for factor in factors.values())
    return plain(off < TINY_TURN, by_method(text("factor of the turn"), factors))


CLAIMS = (
    Claim(
        "doubled_block",
        text(
            "The output of a normalized model stays the same if all weights that it normalizes "
            "together double."
        ),
        text("section 5.2.2"),
        _doubled_block,
        HOLDS_IF,
        "learning_rate",
        condition=text("ε = 0"),
    ),
    Claim(
        "doubled_vector",
        text("The output stays the same if one weight vector doubles."),
        text("section 5.2.2"),
        _doubled_vector,
        FAILS,
        "learning_rate?method=batch",
        repair=text("of batch and weight norm only, at ε = 0"),
        remark=text(
            "It is true of every method whose neurons share no statistic. Under layer norm only a "
            "whole group of weight vectors may double."
        ),
    ),
    Claim(
        "curvature_halves",
        text("Where a weight vector doubles, the curvature along it halves."),
        text("section 5.2.2"),
        _curvature_halves,
        FAILS,
        "learning_rate?tab=fisher",
        repair=text("of the gradient; curvature: 0 along it, ¼ across"),
        remark=text(
            "The block of the Fisher matrix changes by a factor of ¼, so that a length "
            "ds = √(dwᵀF dw) changes by ½; along w itself there is no curvature. The block "
            "between a doubled and another weight vector changes by ½ under a softmax; in the "
            "paper's own models, whose outputs are independent, it is 0."
        ),
    ),
    Claim(
        "doubling_table",
        text(
            "Doubling multiplies each derivative by ½ for each index in the doubled weights, and a "
            "turn by another ½."
        ),
        text("section 5.2.2, completed"),
        _doubling_table,
        HOLDS_IF,
        "learning_rate?tab=fisher",
        condition=text("ε = 0"),
        kind=FOLLOWS,
    ),
    Claim(
        "turns_slower",
        text(
            "Of two weight vectors that express one function, the longer one turns less in a "
            "gradient step."
        ),
        text("section 5.2.2"),
        _turns_slower,
        HOLDS,
        "learning_rate",
    ),
    Claim(
        "turn_halves",
        text("The turn by a gradient step halves where the norm doubles."),
        text("section 5.2.2, the ½ read as a turn"),
        _turn_halves,
        FAILS,
        "learning_rate",
        remark=text("It falls to a quarter: half the gradient over twice the length."),
        kind=FOLLOWS,
    ),
)
