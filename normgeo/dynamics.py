"""Full-batch training of a normalized GLM: what the weights do, and what theory says they do.

A homogeneous block w of weights may be scaled without changing z, so the gradient G of the loss
is orthogonal to it, and gradient descent with step η obeys

    ‖w_{t+1}‖² = ‖w_t‖² + η²‖G_t‖²,    tan(angle per step) = η‖G_t‖/‖w_t‖,

which on the unit sphere is descent with the effective learning rate η/‖w‖² (w centred: w̃).
Both hold at ε = 0, and for ε > 0 as far as ε ≪ σ². Source: section 5.2 of the paper, and
van Laarhoven 2017.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from math import isfinite
from typing import Any, ClassVar, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike

from normgeo._arrays import Array
from normgeo.blocks import Blocks, angles_turned, cosines, lengths
from normgeo.model import NormalizedGLM, ParameterLayout
from normgeo.objective import Objective, ObjectivePoint

CHECKPOINT_BYTES = 64 * 2**20

Update = Callable[[Array, Array], Array]


class Optimizer(ABC):
    """A rule that turns gradients into changes of θ, and what theory predicts of it."""

    key: ClassVar[str]
    title: ClassVar[str]

    @abstractmethod
    def start(self, rates: Array) -> Update:
        """Begin a run with a learning rate for each parameter, (P,).

        Returns:
            The update (θ, ∂L/∂θ) ↦ next θ, which keeps what the rule remembers of this run.

        """

    @abstractmethod
    def predicted_angles(self, rate: float, norms: Array, gradient_norms: Array) -> Array:
        """Return the angle of each step (T, B), in radians, from ‖w̃‖ (T+1, B) and ‖G‖ (T, B)."""

    @abstractmethod
    def predicted_norms(self, rate: float, norms: Array, gradient_norms: Array) -> Array:
        """Return ‖w̃‖ (T+1, B) from its first value and ‖G‖ (T, B)."""


@final
@dataclass(frozen=True)
class GradientDescent(Optimizer):
    """θ ← θ − η ∂L/∂θ."""

    key = "gradient_descent"
    title = "gradient descent"

    def start(self, rates: Array) -> Update:
        return lambda theta, gradient: theta - rates * gradient

    def predicted_angles(self, rate: float, norms: Array, gradient_norms: Array) -> Array:
        angles: Array = np.arctan(rate * gradient_norms / norms[:-1])
        return angles

    def predicted_norms(self, rate: float, norms: Array, gradient_norms: Array) -> Array:
        squares = np.vstack([norms[:1] ** 2, (rate * gradient_norms) ** 2])
        predicted: Array = np.sqrt(np.cumsum(squares, axis=0))
        return predicted


OPTIMIZERS: dict[str, Optimizer] = {optimizer.key: optimizer for optimizer in (GradientDescent(),)}


class Divergence(NamedTuple):
    """The step that could not be taken, counted from 1, and why, in a sentence."""

    step: int
    reason: str


@final
@dataclass(frozen=True, eq=False)
class Trajectory:
    """A run of T steps over B blocks of weights, measured; its predictions are properties.

    The blocks are the homogeneous ones, or each neuron by itself where there are none; then what
    is predicted has no columns, (T, 0). Norms and angles are those of the centred weights w̃.

    Attributes:
        start: the model at step 0. optimizer: the rule. rate: η.
        blocks: which neurons make a block.
        loss: −mean log-likelihood in nats per case, (T+1,).
        norms: ‖w̃‖, (T+1, B). gradient_norms: ‖G‖, G = ∂L/∂w̃, (T, B).
        angles: by which each step turned each block, radians, (T, B); 0 for a block of zeros.
        radial: w̃·G/(‖w̃‖‖G‖), (T, B), which theory says is 0.
        kept: the steps whose θ is kept, (C,): every k-th and the last, with the least k for
            which they fit 64 MiB. parameters: their θ, (C, P).
        diverged: the step that left the range of floating point or had no z, or None.

    """

    start: NormalizedGLM
    optimizer: Optimizer
    rate: float
    blocks: Blocks
    loss: Array
    norms: Array
    gradient_norms: Array
    angles: Array
    radial: Array
    kept: Array
    parameters: Array
    diverged: Divergence | None

    @property
    def steps(self) -> int:
        """T, the number of steps taken: fewer than asked for where the run was ended."""
        return len(self.angles)

    @property
    def effective_learning_rate(self) -> Array:
        """η/‖w̃‖², the learning rate on the unit sphere, (T+1, B)."""
        return self.rate / self._with_theory(self.norms) ** 2

    @property
    def predicted_angles(self) -> Array:
        """The angle of each step from ‖w̃‖ and ‖G‖, radians, (T, B)."""
        return self.optimizer.predicted_angles(
            self.rate, self._with_theory(self.norms), self._with_theory(self.gradient_norms)
        )

    @property
    def predicted_norms(self) -> Array:
        """‖w̃‖ from its first value and the gradients alone, (T+1, B)."""
        return self.optimizer.predicted_norms(
            self.rate, self._with_theory(self.norms), self._with_theory(self.gradient_norms)
        )

    def model_at(self, step: int) -> NormalizedGLM:
        """Return the model after `step` steps.

        Raises:
            ValueError: a step that was not taken or not kept.

        """
        (place,) = np.nonzero(self.kept == step)
        if not len(place):
            raise ValueError(
                f"`step` must be one of the {len(self.kept)} steps in `kept`, from 0 to "
                f"{self.steps}; got {step}."
            )
        return self.start.unpack(self.parameters[place[0]])

    def _with_theory(self, measured: Array) -> Array:
        return measured if self.blocks.homogeneous else measured[:, :0]


def descend(
    model: NormalizedGLM,
    X: ArrayLike,
    y: ArrayLike,
    optimizer: str | Optimizer = "gradient_descent",
    *,
    steps: int = 100,
    rate: float = 0.1,
    affine_rate: float | None = None,
    callback: Callable[[int, float], Any] | None = None,
) -> Trajectory:
    """Train a model on all cases at once, from its own parameters, and measure every step.

        minimize L(θ) = −mean log P(y|x)

    A run that leaves the range of floating point, or meets a z that is undefined, ends there and
    keeps what it has (`Trajectory.diverged`).

    Args:
        model: the start. X: (N, D). y: as the family takes.
        optimizer: one of OPTIMIZERS, or its key.
        steps: T ≥ 1. rate: η > 0, of the weights.
        affine_rate: that of g and b, 0 to hold them; `rate` where None.
        callback: called with (step, loss) from step 0 on; may raise StopIteration to end the run
            with what it has.

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
    rule = _optimizer(optimizer)
    affine = rate if affine_rate is None else affine_rate
    if not (isfinite(rate) and rate > 0):
        raise ValueError(f"`rate` must be a finite number above 0; got {rate}.")
    if not (isfinite(affine) and affine >= 0):
        raise ValueError(f"`affine_rate` must be a finite number from 0 up; got {affine}.")
    if steps < 1 or not float(steps).is_integer():
        raise ValueError(f"`steps` must be a whole number from 1 up; got {steps!r}.")

    blocks = Blocks.of(model.normalizer, len(model.W))
    blocks.require_direction(model.W)
    objective = Objective.of(model, X, y)
    update = rule.start(_rates(model.layout, rate, affine))
    point = _point(objective, blocks, model.pack().astype(np.float64))
    stride = -(-(int(steps) + 1) * point.theta.nbytes // CHECKPOINT_BYTES)
    loss, norms, turns, kept = [point.loss], [point.norms], [], {0: point.theta}
    diverged = None
    with suppress(StopIteration):
        if callback is not None:
            callback(0, point.loss)
        for step in range(1, int(steps) + 1):
            try:
                point, turn = _advance(objective, blocks, update, point)
            except ValueError as error:
                diverged = Divergence(step, str(error))
                break
            loss.append(point.loss)
            norms.append(point.norms)
            turns.append(turn)
            if step % stride == 0:
                kept[step] = point.theta
            if callback is not None:
                callback(step, point.loss)
    kept[len(turns)] = point.theta
    by_quantity = np.reshape(turns, (len(turns), 3, len(blocks.neurons))).swapaxes(0, 1)
    gradient_norms, angles, radial = by_quantity
    return Trajectory(
        start=model,
        optimizer=rule,
        rate=rate,
        blocks=blocks,
        loss=np.array(loss),
        norms=np.array(norms),
        gradient_norms=gradient_norms,
        angles=angles,
        radial=radial,
        kept=np.array(list(kept)),
        parameters=np.array(list(kept.values())),
        diverged=diverged,
    )


class _Point(NamedTuple):
    """Where a run is: θ, the objective there, the loss, w̃ of each block and ‖w̃‖."""

    theta: Array
    at: ObjectivePoint
    loss: float
    vectors: Array
    norms: Array


def _point(objective: Objective, blocks: Blocks, theta: Array) -> _Point:
    at = objective.at(theta)
    W, _, _ = objective.model.layout.split(theta)
    vectors = blocks.vectors(W)
    return _Point(theta, at, at.loss, vectors, lengths(vectors))


def _advance(
    objective: Objective, blocks: Blocks, update: Update, point: _Point
) -> tuple[_Point, Array]:
    """Take one step; also return ‖G‖, the angle turned and the radial cosine, (3, B).

    Raises:
        ValueError: the step overflows, or z is undefined after it.

    """
    layout = objective.model.layout
    with np.errstate(over="ignore", invalid="ignore"):
        gradient = point.at.gradient()
        theta = update(point.theta, gradient)
        # Blocks of the change, not the change of blocks: neighbouring floats subtract exactly.
        change = blocks.vectors(layout.split(theta - point.theta)[0])
        G = blocks.vectors(layout.split(gradient)[0])
        turn = np.stack(
            [lengths(G), angles_turned(point.vectors, change), cosines(point.vectors, G)]
        )
        if not (np.isfinite(theta).all() and np.isfinite(turn).all()):
            raise ValueError(
                "The gradient or the next parameters, or their squares, exceed the largest float."
            )
        after = _point(objective, blocks, theta)
        if not np.isfinite(after.norms).all():
            raise ValueError("The norm of a block of weights exceeds the largest float.")
    return after, turn


def _rates(layout: ParameterLayout, rate: float, affine_rate: float) -> Array:
    """Return a learning rate for each parameter, (P,)."""
    affine = np.full(layout.neurons, affine_rate)
    return layout.pack(np.full((layout.neurons, layout.features), rate), affine, affine)


def _optimizer(optimizer: str | Optimizer) -> Optimizer:
    if isinstance(optimizer, Optimizer):
        return optimizer
    if optimizer not in OPTIMIZERS:
        raise ValueError(f"`optimizer` must be one of {', '.join(OPTIMIZERS)}; got {optimizer!r}.")
    return OPTIMIZERS[optimizer]
