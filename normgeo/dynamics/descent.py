"""Training of a normalized GLM: the path of the weights, measured and predicted.

Scaling a homogeneous block w of weights does not change z, so the gradient G of the loss is
orthogonal to w, and gradient descent with step η obeys

    ‖w_{t+1}‖² = ‖w_t‖² + η²‖G_t‖²,    tan(angle per step) = η‖G_t‖/‖w_t‖,

which on the unit sphere is descent with the effective learning rate η/‖w‖² (w centered: w̃).
Both hold at ε = 0, and approximately for ε ≪ σ². Other optimizers have laws of their own.
Source: section 5.2 of the paper, and van Laarhoven 2017.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from normgeo.base.arguments import instance_of, real_number, seed_number, whole_number
from normgeo.base.arrays import Array, require_room
from normgeo.base.progress import Progress, Report, Steps
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.datasets.mini_batches import MiniBatches
from normgeo.dynamics.optimizer import Memory, Optimizer
from normgeo.dynamics.optimizers import optimizer_of
from normgeo.dynamics.schedules import Schedule, rates_of
from normgeo.dynamics.trajectory import Trajectory
from normgeo.models.glm import NormalizedGLM
from normgeo.models.objective import Objective, ObjectivePoint
from normgeo.normalizers.blocks import Blocks, angles_turned, cosines, lengths

__all__ = ["CHECKPOINT_BYTES", "Trajectory", "descend"]

CHECKPOINT_BYTES = 64 * 2**20


def descend(
    model: NormalizedGLM,
    X: ArrayLike,
    y: ArrayLike,
    optimizer: str | Optimizer = "gradient_descent",
    *,
    steps: int = 100,
    rate: float | Schedule = 0.1,
    affine_rate: float | Schedule | None = None,
    decay: float = 0.0,
    batch_size: int | None = None,
    seed: int = 0,
    block: int | None = None,
    checkpoint_bytes: float = CHECKPOINT_BYTES,
    progress: Report | Progress | None = None,
) -> Trajectory:
    """Train a model from its own parameters, and measure every step.

        minimize L(θ) = −mean log P(y|x)

    A run ends early, and keeps its steps, if a number overflows or z is undefined
    (`Trajectory.diverged`).

    Args:
        model: the start. X: (N, D). y: as the family takes it.
        optimizer: one of OPTIMIZERS, or its key.
        steps: T ≥ 1. rate: η > 0 of the weights, a number or a schedule.
        affine_rate: the rate of g and b, 0 to fix them; None for `rate`.
        decay: λ ≥ 0, the weight decay of W; g and b have none.
        batch_size: m, from 1 to N, the size of mini-batches, each with its own batch statistics, in
            a new order every epoch. The last batch of an epoch has the remaining cases; a single
            case without a z is left out. None for all cases at once.
        seed: of the mini-batches.
        block: number of the block to measure; None for all of them.
        checkpoint_bytes: limit on the θ kept during the run, besides the first and the last.
        progress: called with (step, steps) from step 0 on; a stop ends the run early.

    Raises:
        ValueError: bad arguments, or a start with undefined z or a homogeneous block of zeros.

    >>> from normgeo import NORMALIZERS
    >>> import numpy as np
    >>> X, y = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.array([0.0, 1.0, 1.0])
    >>> start = NormalizedGLM(NORMALIZERS["weight"], "bernoulli", [[3.0, 4.0]])
    >>> run = descend(start, X, y, steps=50)
    >>> bool(run.loss[-1] < run.loss[0]), bool(np.allclose(run.norms, run.predicted_norms))
    (True, True)

    """
    rule = optimizer_of(optimizer)
    affine = rate if affine_rate is None else affine_rate
    instance_of("model", model, NormalizedGLM)
    first = rates_of(rate, np.zeros(1))[0] if isinstance(rate, Schedule) else rate
    real_number("rate", first, above=0)
    decay, steps = real_number("decay", decay, least=0), whole_number("steps", steps, 1)

    blocks = Blocks.of(model.normalizer, len(model.W))
    require_room(text("What is measured of each step"), steps, 5 * len(blocks.neurons) + 6)
    blocks.require_direction(model.W)
    if block is not None:
        blocks = blocks.only(whole_number("block", block, 0, len(blocks.neurons) - 1))
    objective = Objective.of(model, X, y)
    batches, notes = _batches(objective, batch_size, seed)
    t = np.arange(steps + 1)
    is_weight = np.zeros(model.layout.size, dtype=bool)
    is_weight[model.layout.weights] = True
    rates = rates_of(rate, t)
    etas = (
        np.where(is_weight, *both)
        for both in zip(rates, rates_of(affine, t, "affine_rate"), strict=True)
    )

    theta, decays = model.pack().astype(np.float64), np.where(is_weight, decay, 0.0)
    point = _Point(theta, rule.init(theta), next(batches).at(theta))
    fitting = real_number("checkpoint_bytes", checkpoint_bytes, least=0) // theta.nbytes
    stride = ceil(len(t) / fitting) if fitting else len(t)
    loss, turns, kept = [point.at.loss], [], {0: point.theta}
    taken = Steps(_walk(batches, blocks, rule, point, etas, decays), steps, progress)
    for step, (point, turn) in taken:
        loss.append(point.at.loss)
        turns.append(turn)
        if step % stride == 0:
            kept[step] = point.theta
    kept[len(turns)] = point.theta
    by_quantity = np.reshape(turns, (len(turns), 5, len(blocks.neurons))).swapaxes(0, 1)
    norms, gradient_norms, step_norms, angles, radial = by_quantity
    last = lengths(blocks.vectors(model.layout.split(point.theta)[0]))
    return Trajectory(
        start=model,
        optimizer=rule,
        rates=rates[: len(loss)],
        decay=decay,
        batch_size=batch_size,
        seed=seed,
        blocks=blocks,
        loss=np.array(loss),
        norms=np.vstack([norms, last]),
        gradient_norms=gradient_norms,
        step_norms=step_norms,
        angles=angles,
        radial=radial,
        kept=np.array(list(kept)),
        parameters=np.array(list(kept.values())),
        diverged=taken.ended,
        notes=notes,
    )


class _Point(NamedTuple):
    """A point of a run: θ, the optimizer's memory, and the objective there."""

    theta: Array
    memory: Memory
    at: ObjectivePoint


def _walk(
    batches: Iterator[Objective],
    blocks: Blocks,
    rule: Optimizer,
    point: _Point,
    rates: Iterator[Array],
    decays: Array,
) -> Iterator[tuple[_Point, Array]]:
    """Take steps as long as there are rates; see `_advance`."""
    for eta in rates:
        point, turn = _advance(next(batches), blocks, rule, point, eta, decays)
        yield point, turn


def _advance(
    following: Objective,
    blocks: Blocks,
    rule: Optimizer,
    point: _Point,
    rates: Array,
    decays: Array,
) -> tuple[_Point, Array]:
    """Take one step, to a point on the next batch; also return its measurements, (5, B).

    These are ‖w̃‖ before the step, ‖G‖, ‖Δw̃‖, the angle of the step and the radial cosine.

    Raises:
        ValueError: the step overflows, or z is undefined after it.

    """
    split = following.model.layout.split
    with np.errstate(over="ignore", invalid="ignore"):
        gradient = point.at.gradient()
        step, memory = rule.update(point.memory, point.theta, gradient, rates, decays)
        theta = point.theta + step
        # Subtract before projecting: the difference of neighboring floats is exact.
        of_weights = [split(part)[0] for part in (point.theta, gradient, theta - point.theta)]
        vectors = blocks.vectors(np.stack(of_weights))
        w, G, change = vectors
        turn = np.stack([*lengths(vectors), angles_turned(w, change), cosines(w, G)])
        if not (np.isfinite(theta @ theta) and np.isfinite(turn).all()):
            raise Refusal(
                "The gradient or the next parameters, or their squares, exceed the largest float."
            )
        return _Point(theta, memory, following.at(theta)), turn


def _batches(
    objective: Objective, size: int | None, seed: int
) -> tuple[Iterator[Objective], tuple[str, ...]]:
    """Return the objective on each step's batch, without end, and notes on the batches."""
    seed_number(seed)
    if size is None:
        return repeat(objective), ()
    plan = MiniBatches.of(len(objective.X), size, single_allowed=_has_z_for_one_case(objective))
    return map(objective.rows, plan.draw(seed)), plan.notes


def _has_z_for_one_case(objective: Objective) -> bool:
    try:
        objective.rows(np.array([0]))
    except Refusal:
        return False
    return True
