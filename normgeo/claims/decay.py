"""Statements on the norm under weight decay and under other rules than gradient descent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from normgeo.base.text import text
from normgeo.claims.claim import HOLDS, HOLDS_IF, Claim, Finding, Numbers, numbers, plain
from normgeo.claims.examples import PAPER, ROUNDING, Example, with_weights
from normgeo.dynamics.descent import descend
from normgeo.dynamics.equilibrium import Balance, simulate_balance
from normgeo.dynamics.exponential_schedule import decay_as_schedule
from normgeo.dynamics.optimizer import Optimizer
from normgeo.dynamics.optimizers import OPTIMIZERS
from normgeo.models.glm import NormalizedGLM

CLOSE = 0.02
STARTS = (0.3, 3.0)


def _equilibrium(example: Example) -> Finding:
    """Simulate a gradient of constant norm on the unit sphere, from two norms."""
    runs = {
        text("‖w‖ = {start:g} at the start", start=start): simulate_balance(norm=start)
        for start in STARTS
    }
    norms = {name: float(run.settled.norm / _law(run)[0]) for name, run in runs.items()}
    angles = {name: float(run.settled.angle / _law(run)[1]) for name, run in runs.items()}
    off = max(abs(ratio - 1) for ratio in (*norms.values(), *angles.values()))
    return plain(
        off < CLOSE,
        numbers(text("settled norm over the predicted"), norms)
        + numbers(text("settled angle over the predicted"), angles),
    )


def _law(run: Balance) -> tuple[float, float]:
    """Return ‖w‖ with ‖w‖⁴ = ηΓ/(λ(2 − ηλ)), and arccos(1 − ηλ), as they are printed."""
    eta, decay, gamma = run.rate, run.decay, run.gradient_norm**2
    fourth = eta * gamma / (decay * (2 - eta * decay))
    return fourth**0.25, float(np.arccos(1 - eta * decay))


def _twin(example: Example) -> Finding:
    """Run with decay, and with growing rates in its place, without ε and with one."""
    (X, y), angle = example.images, {}
    for eps in (0.0, 0.1):
        model = example.digits_model("layer")
        normalizer = replace(model.normalizer, eps=eps)
        start = NormalizedGLM(normalizer, model.family, model.W, model.b, model.g)
        twin = decay_as_schedule(start, X, y, rate=0.5, decay=0.02, steps=30)
        angle[f"ε = {eps:g}"] = float(twin.angles.max())
    return Finding(
        max(angle.values()) < ROUNDING,
        angle["ε = 0"] < ROUNDING,
        numbers(text("largest angle between the two"), angle, text("radians")),
    )


def _turn_by_rule(example: Example) -> Finding:
    """Take one small step from W and from 2W under each rule, and compare the turns."""
    (X, y), start, slope = example.images, example.digits_model("layer"), {}
    for optimizer in OPTIMIZERS.values():
        turns = []
        for k in (1, 2):
            model = with_weights(start, k * start.W)
            turns.append(np.tan(descend(model, X, y, optimizer, steps=1, rate=1e-4).angles))
        slope[optimizer] = float(np.log2(turns[1] / turns[0]).max())
    off = {optimizer: abs(found + 2) for optimizer, found in slope.items()}
    return Finding(
        max(off.values()) < CLOSE,
        max(found for optimizer, found in off.items() if optimizer.linear) < CLOSE,
        by_optimizer(text("slope of log turn against log norm"), slope),
    )


def _growth_by_rule(example: Example) -> Finding:
    """Look for a step of each rule in which a norm falls."""
    (X, y), growth = example.images, {}
    for optimizer in OPTIMIZERS.values():
        runs = [
            descend(example.digits_model(m), X, y, optimizer, steps=50, rate=0.01) for m in PAPER
        ]
        growth[optimizer] = float(min(np.diff(run.norms, axis=0).min() for run in runs))
    return Finding(
        min(growth.values()) > 0,
        min(found for optimizer, found in growth.items() if optimizer.linear) > 0,
        by_optimizer(text("least growth in a step"), growth),
    )


def by_optimizer(quantity: str, values: Mapping[Optimizer, float]) -> Numbers:
    """Return a quantity as measured of several optimizers."""
    return numbers(quantity, {optimizer.title: value for optimizer, value in values.items()})


def _common_shift(example: Example) -> Finding:
    """Descend under layer norm, and measure how far the mean weight vector moves."""
    model, (X, y) = example.digits_model("layer"), example.images
    mean = model.W.mean(axis=0)
    moved = {}
    for name, decay in (("without decay", 0.0), ("λ = 0.1", 0.1)):
        W = descend(model, X, y, steps=20, rate=0.5, decay=decay).model_at(20).W
        moved[name] = float(np.linalg.norm(W.mean(axis=0) - mean) / np.linalg.norm(mean))
    return Finding(
        max(moved.values()) < ROUNDING,
        moved["without decay"] < ROUNDING,
        numbers(text("change of the mean weight vector"), moved),
    )


CLAIMS = (
    Claim(
        "equilibrium",
        text(
            "With weight decay λ the norm settles where growth and decay balance, at "
            "‖w‖⁴ = ηΓ/(λ(2 − ηλ)), and then turns by arccos(1 − ηλ) in each step."
        ),
        text("van Laarhoven 2017; Wan et al. 2021"),
        _equilibrium,
        HOLDS,
        "learning_rate?tab=equilibrium",
        remark=text(
            "A simulation whose gradient has a constant norm √Γ on the unit sphere; where it "
            "started does not matter."
        ),
    ),
    Claim(
        "twin",
        text(
            "Weight decay is a learning rate that grows exponentially: both turn the weights alike."
        ),
        text("Li and Arora 2019"),
        _twin,
        HOLDS_IF,
        "learning_rate?tab=twin&method=layer",
        condition=text("ε = 0, by gradient descent"),
        remark=text("30 steps, with λ or with η (1 − ηλ)^(−2t−1) for the weights in its place."),
    ),
    Claim(
        "turn_by_rule",
        text("The turn of a step falls as the square of the norm, whatever the optimizer."),
        text("section 5.2.2, beyond gradient descent"),
        _turn_by_rule,
        HOLDS_IF,
        "learning_rate?tab=descent&method=layer&optimizer=adam",
        condition=text("the step is in proportion to the gradient"),
        remark=text("Adam divides the scale of the gradient out: its turn falls as 1/‖w‖."),
    ),
    Claim(
        "growth_by_rule",
        text("The norm of the weights grows in every step, whatever the optimizer."),
        text("section 5.2.2, beyond gradient descent"),
        _growth_by_rule,
        HOLDS_IF,
        "learning_rate?tab=descent&optimizer=adam",
        condition=text("the step is a sum of gradients, and there is no decay"),
        remark=text("A step of Adam has a part along the weights and may shorten them."),
    ),
    Claim(
        "mean_row_stays",
        text("Under layer norm, learning never moves the mean of the weight vectors."),
        text("section 5.2.2, implied"),
        _common_shift,
        HOLDS_IF,
        "learning_rate?method=layer",
        condition=text("there is no weight decay, which shrinks it with the rest"),
    ),
)
