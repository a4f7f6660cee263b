"""Statements on the equilibrium of weight decay and the growth of the norm."""

from __future__ import annotations

import numpy as np

from normgeo.base.text import text
from normgeo.claims.claim import HOLDS_IF, LATER, Claim, Finding, numbers, shared
from normgeo.claims.examples import Example
from normgeo.dynamics.adam import AdamW
from normgeo.dynamics.descent import descend
from normgeo.dynamics.equilibrium import Balance, last_half, simulate_balance
from normgeo.dynamics.gradient_descent import Momentum
from normgeo.dynamics.lion import Lion
from normgeo.dynamics.optimizer import Optimizer
from normgeo.dynamics.rotational_equilibrium import rotational_equilibrium
from normgeo.normalizers.blocks import angle_of_decay

CLOSE = 0.02
STEPS, RATE = 200, 0.5
STARTS = (0.3, 3.0)
WEIGHTS = 400  # in a random walk


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
    """Return ‖w‖ with ‖w‖⁴ = ηΓ/(λ(2 − ηλ)), and arccos(1 − ηλ), as printed."""
    eta, decay, gamma = run.rate, run.decay, run.gradient_norm**2
    fourth = eta * gamma / (decay * (2 - eta * decay))
    return fourth**0.25, float(angle_of_decay(eta * decay))


def _rotational(example: Example) -> Finding:
    """Let random walks settle from twice the equilibrium norm, and compare with the printed law."""
    momentum, adamw, lion = Momentum(), AdamW(), Lion()
    beta, beta1, (b1, b2) = momentum.beta, adamw.beta1, (lion.beta1, lion.beta2)
    squares = {
        momentum: 2 / (1 + beta),
        adamw: 2 * (1 - beta1) / (1 + beta1),
        lion: np.pi * ((1 - b1) ** 2 + b1**2 * (1 - b2) / (1 + b2)),
    }
    lost, less = 0.01, 0.001  # ηλ
    settled = {
        text("{rule}, ηλ = {lost:g}", rule=rule.title, lost=of): _settled(example.seed, rule, of)
        / (square * of) ** 0.5
        for rule, square in squares.items()
        for of in ((lost, less) if rule is lion else (lost,))
    }
    *most, soon, slow = (abs(ratio - 1) for ratio in settled.values())
    return Finding(
        max(*most, soon) < CLOSE,
        max(most) < CLOSE and slow < 3 * CLOSE < soon,
        numbers(text("settled angle over the printed"), settled),
    )


@shared
def _settled(seed: int, rule: Optimizer, lost: float) -> float:
    """Return the angle at which a random walk settles, from twice the equilibrium norm."""
    how: dict[str, float] = {"rate": lost, "decay": 1.0}
    balance = rotational_equilibrium(rule, weights=WEIGHTS, gradient_norm=1.0, **how)
    norm = 2 * balance.norm if balance else 1.0
    steps = round(60 / lost**0.5)
    run = simulate_balance(rule, weights=WEIGHTS, norm=norm, steps=steps, seed=seed, **how)
    return float(run.settled.angle)


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
        "rotational_equilibrium",
        text(
            "Under weight decay each step comes to turn the weights by an angle that η, λ and β "
            "alone decide: √(2ηλ/(1 + β)) with momentum, √(2ηλ(1 − β₁)/(1 + β₁)) with AdamW, "
            "√(πηλ((1 − β₁)² + β₁²(1 − β₂)/(1 + β₂))) with Lion."
        ),
        text("Kosson, Messmer and Jaggi 2023, Rotational Equilibrium"),
        _rotational,
        HOLDS_IF,
        "learning_rate?tab=equilibrium&optimizer=adamw",
        condition=text("gradients are a random walk and ηλ is small, for Lion far below 1 − β₂"),
        remark=text(
            "A walk of 400 weights from twice the norm of balance. At ηλ = 0.01 "
            "Lion, with β₂ = 0.99, turns by 30 % more than printed."
        ),
        kind=LATER,
    ),
)
