"""The optimizers that runs, menus and claims choose from."""

from __future__ import annotations

from normgeo.base.arguments import entry_of
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
        ValueError: an unknown key.

    """
    return entry_of("optimizer", optimizer, OPTIMIZERS, Optimizer)
