"""The optimizers that runs, menus and claims choose from."""

from __future__ import annotations

from typing import Any

import numpy as np

from normgeo.base.arguments import entry_of, shown
from normgeo.base.refusal import Refusal
from normgeo.dynamics.adam import Adam, AdamW
from normgeo.dynamics.gradient_descent import GradientDescent, Momentum
from normgeo.dynamics.lion import Lion
from normgeo.dynamics.optimizer import Optimizer

OPTIMIZERS: dict[str, Optimizer] = {
    optimizer.key: optimizer
    for optimizer in (
        GradientDescent(),
        Momentum(),
        Adam(),
        AdamW(),
        Lion(),
    )
}


def optimizer_of(optimizer: str | Optimizer) -> Optimizer:
    """Return an optimizer, or the one with this key of OPTIMIZERS.

    Raises:
        ValueError: an unknown key, or an optimizer whose update returns no steps.

    """
    rule: Optimizer = entry_of("optimizer", optimizer, OPTIMIZERS, Optimizer)
    if rule is optimizer:
        _require_steps(rule)
    return rule


def _require_steps(rule: Optimizer) -> None:
    """Refuse an update whose result is not a step: a sum with θ would hide that."""
    theta, ones = np.zeros(2), np.ones(2)
    found: Any = rule.update(rule.init(theta), theta, ones, ones, theta)
    step = found[0] if isinstance(found, tuple) and len(found) == 2 else None
    if not isinstance(step, np.ndarray) or step.shape != theta.shape:
        raise Refusal(
            "The `update` of an optimizer must return a step, an array of the shape of θ, and "
            "what it remembers; that of {name!r} returns {found}.",
            name=type(rule).__name__,
            found=shown(found),
        )
