"""Statements on the norm under weight decay and under other rules than gradient descent."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from normgeo.base.text import text
from normgeo.claims.claim import FAILS, FOLLOWS, HOLDS_IF, LATER, Claim, Finding, numbers
from normgeo.claims.examples import PAPER, ROUNDING, Example, softened, with_weights
from normgeo.dynamics.descent import descend
from normgeo.dynamics.equilibrium import Balance, last_half, simulate_balance
from normgeo.dynamics.exponential_schedule import decay_as_schedule
from normgeo.dynamics.optimizer import Optimizer
from normgeo.dynamics.optimizers import OPTIMIZERS
from normgeo.models.glm import NormalizedGLM
from normgeo.normalizers.blocks import angle_of_decay

CLOSE = 0.02
STEPS, RATE = 200, 0.5
SMALL_STEPS = 10
STARTS = (0.3, 3.0)


def _equilibrium(example: Example) -> Finding:
    """Simulate a gradient of constant norm on the unit sphere, from two norms; then train."""
    weights = 5 * example.digits
    runs = {
        text("‖w‖ = {start:g} at the start", start=start): simulate_balance(
            norm=start, rate=RATE, weights=weights, steps=STEPS, seed=example.seed
        )
        for start in STARTS
    }
    norms = {name: float(run.settled.norm / _law(run)[0]) for name, run in runs.items()}
    angles = {name: float(run.settled.angle / _law(run)[1]) for name, run in runs.items()}
    simulated = max(abs(ratio - 1) for ratio in (*norms.values(), *angles.values()))
    start, decay = example.digits_model("layer"), next(iter(runs.values())).decay
    real = descend(start, *example.images, steps=STEPS, rate=RATE, decay=decay)
    turned = float(last_half(real.angles).mean() / angle_of_decay(RATE * decay))
    return Finding(
        max(simulated, abs(turned - 1)) < CLOSE,
        simulated < CLOSE,
        numbers(text("settled norm over the predicted"), norms)
        + numbers(
            text("settled angle over the predicted"),
            angles | {text("training on the digits"): turned},
        ),
    )


def _law(run: Balance) -> tuple[float, float]:
    """Return ‖w‖ with ‖w‖⁴ = ηΓ/(λ(2 − ηλ)), and arccos(1 − ηλ), as they are printed."""
    eta, decay, gamma = run.rate, run.decay, run.gradient_norm**2
    fourth = eta * gamma / (decay * (2 - eta * decay))
    return fourth**0.25, float(angle_of_decay(eta * decay))


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
    """Take small steps from W and from 2W under each rule, and compare the turns of each."""
    (X, y), start, off, slope = example.images, example.digits_model("layer"), {}, {}
    for optimizer in OPTIMIZERS.values():
        near, far = (
            np.tan(descend(model, X, y, optimizer, steps=SMALL_STEPS, rate=1e-4).angles)
            for model in (start, with_weights(start, 2 * start.W))
        )
        slopes = np.log2(far / near)
        off[optimizer] = float(np.abs(slopes + 2).max())
        slope[text("{rule}, first step", rule=optimizer.title)] = slopes[0].max()
        slope[text("{rule}, last step", rule=optimizer.title)] = slopes[-1].max()
    return Finding(
        max(off.values()) < CLOSE,
        max(found for optimizer, found in off.items() if optimizer.linear) < CLOSE,
        numbers(text("slope of log turn against log norm"), slope),
    )


def _growth_by_rule(example: Example) -> Finding:
    """Look for a step of each rule in which a norm falls; then add ε to those that lengthen."""
    lengthen = [rule for rule in OPTIMIZERS.values() if rule.linear]
    growth = {rule: min(_least(example, m, rule) for m in PAPER) for rule in OPTIMIZERS.values()}
    soft = min(_least(example, "batch", rule, eps=1.0) for rule in lengthen)
    return Finding(
        min(*growth.values(), soft) > 0,
        min(growth[rule] for rule in lengthen) > 0,
        numbers(
            text("least growth in a step"),
            {rule.title: found for rule, found in growth.items()}
            | {text("gradient descent or momentum, ε = 1"): soft},
        ),
    )


def _least(example: Example, method: str, rule: Optimizer, eps: float = 0.0) -> float:
    """Return by how much the norm of a block grows at least, in ten small or ten large steps."""
    start = softened(example.digits_model(method), eps)
    runs = [
        descend(start, *example.images, rule, steps=SMALL_STEPS, rate=rate)
        for rate in (0.01, 0.5)
        if rule.linear or rate < 0.1
    ]
    return min(float(np.diff(run.norms, axis=0).min()) for run in runs)


def _common_shift(example: Example) -> Finding:
    """Train under layer norm by each rule, and measure how far the mean weight vector moves."""
    model = example.digits_model("layer")
    mean = model.W.mean(axis=0)

    def shift(rule: Optimizer, decay: float = 0.0) -> float:
        rate = 0.5 if rule.linear else 0.01
        run = descend(model, *example.images, rule, steps=20, rate=rate, decay=decay)
        after = run.model_at(20).W.mean(axis=0)
        return float(np.linalg.norm(after - mean) / np.linalg.norm(mean))

    rules = OPTIMIZERS.values()
    moved = {rule.title: shift(rule) for rule in rules}
    still = max(moved[rule.title] for rule in rules if rule.linear)
    moved[text("gradient descent, λ = 0.1")] = shift(OPTIMIZERS["gradient_descent"], 0.1)
    return Finding(
        max(moved.values()) < ROUNDING,
        still < ROUNDING,
        numbers(text("change of the mean weight vector"), moved),
    )


CLAIMS = (
    Claim(
        "equilibrium",
        text(
            "With weight decay λ the norm settles where growth and decay balance, at ‖w‖⁴ = "
            "ηΓ/(λ(2 − ηλ)) with Γ = ‖w‖²‖G‖², and the weights then turn by arccos(1 − ηλ) in "
            "each step."
        ),
        text("van Laarhoven 2017; Wan et al. 2021"),
        _equilibrium,
        HOLDS_IF,
        "learning_rate?tab=equilibrium",
        condition=text(
            "the optimizer is gradient descent, and the gradient has a constant norm on the unit "
            "sphere"
        ),
        remark=text(
            "In a simulation the norm at the start does not matter. In 200 steps of real "
            "training, Γ falls faster than the norm can follow."
        ),
        kind=LATER,
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
        condition=text("ε = 0 and the optimizer is gradient descent"),
        remark=text(
            "Checked over 30 steps: one run with λ, one without it and with η (1 − ηλ)^(−2t−1) for "
            "the weights."
        ),
        kind=LATER,
    ),
    Claim(
        "turn_by_rule",
        text("The turn of a step falls as the square of the norm, whatever the optimizer."),
        text("section 5.2.2, beyond gradient descent"),
        _turn_by_rule,
        FAILS,
        "learning_rate?tab=descent&method=layer&optimizer=adam",
        repair=text("it were limited to small steps of gradient descent or momentum"),
        remark=text(
            "Ten small steps each. Adam divides by the scale of the gradient and Lion takes only "
            "signs, so their turns fall as 1/‖w‖."
        ),
        kind=FOLLOWS,
    ),
    Claim(
        "growth_by_rule",
        text("The norm of the weights grows in every step, whatever the optimizer."),
        text("section 5.2.2, beyond gradient descent"),
        _growth_by_rule,
        FAILS,
        "learning_rate?tab=descent&optimizer=adam",
        repair=text(
            "it were limited to gradient descent or momentum at ε = 0, without weight decay"
        ),
        remark=text(
            "The steps that momentum remembers point across the weights or away from the origin. A "
            "step of Adam or Lion has a part along the weights and may shorten them."
        ),
        kind=FOLLOWS,
    ),
    Claim(
        "mean_row_stays",
        text("Under layer norm, learning never moves the mean of the weight vectors."),
        text("section 5.2.2, implied"),
        _common_shift,
        FAILS,
        "symmetry?method=layer",
        repair=text("it were limited to gradient descent or momentum, without weight decay"),
        remark=text(
            "Adam divides the gradient of each weight by a different size and Lion takes signs, so "
            "that the steps of the weight vectors no longer sum to 0. Decay shrinks the mean as it "
            "shrinks all weights."
        ),
        kind=FOLLOWS,
    ),
)
