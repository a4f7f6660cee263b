"""Statements on the norm under weight decay and under other optimizers than gradient descent."""

from __future__ import annotations

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.claims.claim import FAILS, FOLLOWS, HOLDS_IF, LATER, Claim, Finding, numbers
from normgeo.claims.examples import PAPER, ROUNDING, Example, softened, with_weights
from normgeo.dynamics.descent import descend
from normgeo.dynamics.exponential_schedule import decay_as_schedule
from normgeo.dynamics.optimizer import Optimizer
from normgeo.dynamics.optimizers import OPTIMIZERS
from normgeo.normalizers.blocks import Blocks, angles_between

CLOSE = 0.02
SMALL_STEPS = 10


def _twin(example: Example) -> Finding:
    """Train with decay, and with growing rates instead: plainly, with ε, and with momentum."""
    (X, y), angle = example.images, {}
    for eps in (0.0, 0.1):
        start = softened(example.digits_model("layer"), eps)
        twin = decay_as_schedule(start, X, y, rate=0.5, decay=0.02, steps=30)
        angle[f"ε = {eps:g}"] = float(twin.angles.max())
    heavy = _apart_with_momentum(example, 0.9)
    return Finding(
        max(*angle.values(), heavy) < ROUNDING,
        max(angle["ε = 0"], heavy) < ROUNDING,
        numbers(
            text("largest angle between the two"),
            angle | {text("momentum, β = 0.9"): heavy},
            text("radians"),
        ),
    )


def _apart_with_momentum(example: Example, beta: float) -> float:
    """Return the largest angle between 30 steps of momentum with decay and with growing rates.

    With V ← βV + G + λw and w ← w − ηV, u_t = α^−t w_t obeys the same rule without λ at the rates
    η α^(−2t−1), if it starts with V = −(1 − α)w/(ηα).
    """
    (X, y), start, rate, decay = example.images, example.digits_model("layer"), 0.05, 0.04
    alpha, theta = _kept(beta, rate * decay), start.pack()
    is_weight = np.zeros(theta.size, dtype=bool)
    is_weight[start.layout.weights] = True
    grown = np.where(is_weight, 1 / alpha, 1.0)

    def path(lost: Array, growth: Array, V: Array) -> Array:
        at, rates, vectors = theta, rate * growth, []
        for _ in range(30):
            V = beta * V - start.unpack(at).gradient(X, y) + lost * at
            at, rates = at - rates * V, rates * growth**2
            vectors.append(blocks.vectors(start.unpack(at).W))
        return np.array(vectors)

    blocks = Blocks.of(start.normalizer, len(start.W))
    decayed = path(decay * is_weight, np.ones(theta.size), np.zeros(theta.size))
    scheduled = path(np.zeros(theta.size), grown, (1 - grown) * theta / rate)
    return float(angles_between(decayed, scheduled).max())


def _kept(beta: float, lost: float) -> float:
    """Return the larger root α of α² − (1 + β − ηλ)α + β, 1 − ηλ without momentum."""
    half = (1 + beta - lost) / 2
    return float(half + np.sqrt(half**2 - beta))


def _turn_by_rule(example: Example) -> Finding:
    """Take small steps from W and from 2W with each optimizer, and compare the angular updates."""
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
    """Search each optimizer for a step that shrinks a norm; add ε for those that only grow it."""
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
    """Return the smallest growth of a block's norm in ten small or ten large steps."""
    start = softened(example.digits_model(method), eps)
    runs = [
        descend(start, *example.images, rule, steps=SMALL_STEPS, rate=rate)
        for rate in (0.01, 0.5)
        if rule.linear or rate < 0.1
    ]
    return min(float(np.diff(run.norms, axis=0).min()) for run in runs)


def _common_shift(example: Example) -> Finding:
    """Train under layer norm with each optimizer, and measure how the mean weight vector moves."""
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
        "twin",
        text(
            "To gradient descent and momentum, weight decay is a learning rate that grows "
            "exponentially."
        ),
        text("Li and Arora 2019"),
        _twin,
        HOLDS_IF,
        "learning_rate?tab=twin&method=layer",
        condition=text("ε = 0, and with momentum ηλ ≤ (1 − √β)²"),
        remark=text(
            "Both turn the weights alike over 30 steps: one run with λ, one without it and with η "
            "α^(−2t−1) for the weights. Without momentum α is 1 − ηλ, with it the larger root of "
            "α² − (1 + β − ηλ)α + β; the second run then starts with a momentum along its "
            "weights."
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
        repair=text("of small steps of gradient descent or momentum"),
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
        repair=text("of gradient descent and momentum at ε = 0, without weight decay"),
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
        repair=text("of gradient descent and momentum, without weight decay"),
        remark=text(
            "Adam divides the gradient of each weight by a different size and Lion takes signs, so "
            "that the steps of the weight vectors no longer sum to 0. Decay shrinks the mean as it "
            "shrinks all weights."
        ),
        kind=FOLLOWS,
    ),
)
