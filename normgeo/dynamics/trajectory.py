"""A training run, measured at every step, with the predictions and assumptions of theory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

import numpy as np

from normgeo.base.arguments import instance_of, is_whole, shown, whole_number
from normgeo.base.arrays import Array
from normgeo.base.progress import Ended
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.dynamics.optimizer import Course, Equilibrium, Optimizer
from normgeo.models.glm import NormalizedGLM
from normgeo.normalizers.blocks import Blocks


@final
@dataclass(frozen=True, eq=False)
class Trajectory:
    """A run of T steps over B blocks of weights, measured; its predictions are properties.

    The blocks are the homogeneous ones, or single neurons if there are none. Predictions have no
    columns, (T, 0), without homogeneous blocks or without a law. Norms and angles are those of the
    centered weights w̃.

    Attributes:
        start: the model at step 0. optimizer: the rule.
        rates: η_t of the weights at each step and the next, (T+1,). decay: λ, of the weights.
        batch_size: m, None for all cases at once. seed: of the mini-batches.
        blocks: the neurons of each block.
        loss: −mean log-likelihood in nats per case, (T+1,): before each step on the batch of that
            step, and after the last step on the next batch.
        norms: ‖w̃‖, (T+1, B). gradient_norms: ‖G‖, G = ∂L/∂w̃, (T, B).
        step_norms: ‖Δw̃‖, (T, B).
        angles: between each block before and after a step, radians, (T, B); 0 for a block of zeros.
        radial: w̃·G/(‖w̃‖‖G‖), (T, B), 0 in theory.
        kept: the steps whose θ is kept, (C,): every k-th and the last, with the smallest k that
            fits into `checkpoint_bytes`. parameters: their θ, (C, P).
        diverged: the step at which a number overflowed or z was undefined, or None.
        notes: sentences about the run.

    """

    start: NormalizedGLM
    optimizer: Optimizer
    rates: Array
    decay: float
    batch_size: int | None
    seed: int
    blocks: Blocks
    loss: Array
    norms: Array
    gradient_norms: Array
    step_norms: Array
    angles: Array
    radial: Array
    kept: Array
    parameters: Array
    diverged: Ended | None
    notes: tuple[str, ...] = ()

    @property
    def steps(self) -> int:
        """T, the number of steps taken: fewer than requested if the run ended early."""
        return len(self.angles)

    @property
    def rate(self) -> float:
        """η of the first step."""
        return float(self.rates[0])

    @property
    def effective_learning_rate(self) -> Array:
        """The learning rate on the unit sphere, η/‖w̃‖² for gradient descent, (T+1, B)."""
        norms = self._with_theory(self.norms)
        return self.optimizer.effective_rates(self.rates[:, None], self.decay, norms)

    @cached_property
    def predicted_angles(self) -> Array:
        """The angle of each step, predicted from ‖w̃‖ before it, radians, (T, B)."""
        return self.optimizer.angles(self._course)

    @cached_property
    def predicted_norms(self) -> Array:
        """‖w̃‖ predicted from its first value and the lengths of gradients or steps, (T+1, B)."""
        return self.optimizer.norms(self._course)

    @property
    def equilibrium(self) -> Equilibrium | None:
        """The norm and the angle (T, B) at which growth and decay would balance.

        Computed from the gradient at each step, as if its norm on the unit sphere were constant.
        None without a homogeneous block, a law, or a decay with ηλ < 1.
        """
        with np.errstate(over="ignore", invalid="ignore"):  # a schedule may overflow
            shrunk = self.decay * self.rates.max()
        if not (self.blocks.homogeneous and 0 < shrunk < 1):
            return None
        sphere_gradient = self.norms[:-1] * self.gradient_norms
        size = self.blocks.neurons.shape[1] * self.start.W.shape[1]
        rates = self.rates[:-1, None]
        return self.optimizer.equilibrium(rates, self.decay, sphere_gradient, size)

    def model_at(self, step: int) -> NormalizedGLM:
        """Return the model after `step` steps.

        Raises:
            ValueError: a step that was not taken or not kept.

        """
        indices = np.flatnonzero(self.kept == step) if is_whole(step) else np.zeros(0, int)
        if not len(indices):
            raise Refusal(
                "`step` must be one of the {kept} steps in `kept`, from 0 to {last}; got {step}.",
                kept=len(self.kept),
                last=self.steps,
                step=shown(step),
            )
        return self.start.unpack(self.parameters[indices[0]])

    def of_block(self, block: int) -> Trajectory:
        """Return the measurements of one block, without the θ kept during the run.

        Raises:
            ValueError: no such block.

        """
        block = whole_number("block", block, 0, len(self.blocks.neurons) - 1)
        one = [block]
        return replace(
            self,
            blocks=self.blocks.only(block),
            norms=self.norms[:, one],
            gradient_norms=self.gradient_norms[:, one],
            step_norms=self.step_norms[:, one],
            angles=self.angles[:, one],
            radial=self.radial[:, one],
            kept=self.kept[:0],
            parameters=self.parameters[:0].copy(),
        )

    def vectors(self) -> Array:
        """Return w̃ of each block at the steps in `kept`, (C, B, K·D)."""
        W = self.parameters[:, self.start.layout.weights]
        return self.blocks.vectors(W.reshape(-1, *self.start.W.shape))

    @property
    def _course(self) -> Course:
        measured = (self.norms, self.gradient_norms, self.step_norms)
        return Course(self.rates[:-1, None], self.decay, *map(self._with_theory, measured))

    def _with_theory(self, measured: Array) -> Array:
        return measured if self.blocks.homogeneous else measured[:, :0]


@final
@dataclass(frozen=True, eq=False)
class Comparison:
    """One quantity of a run over B blocks.

    Attributes:
        title: its name. unit: "" if it has none.
        measured, predicted: of the same shape, (T, B) or (T+1, B).
        assumes: the assumptions of the prediction, a sentence.

    """

    title: str
    unit: str
    measured: Array
    predicted: Array
    assumes: str

    @property
    def deviation(self) -> float:
        """The largest |predicted/measured − 1|; |predicted| if the measured value is 0."""
        off = np.abs(self.predicted - self.measured) / np.where(self.measured, self.measured, 1.0)
        return float(off.max(initial=0.0))


def compare(run: Trajectory) -> dict[str, Comparison]:
    """Return the quantities of a run that theory predicts, by key.

    Keys: norm, angle; for tangent steps also effective_learning_rate, measured as tan(angle) over
    the unit-sphere gradient norm ‖w̃‖‖G‖; with weight decay equilibrium_norm and
    equilibrium_angle, which a run approaches over time. Empty without a homogeneous block.
    """
    if not instance_of("run", run, Trajectory).blocks.homogeneous:
        return {}
    optimizer, found = run.optimizer, {}
    if run.predicted_norms.size:
        found["norm"] = Comparison(
            text("norm"), "", run.norms, run.predicted_norms, optimizer.assumes
        )
    found["angle"] = Comparison(
        text("angle per step"), "radians", run.angles, run.predicted_angles, optimizer.assumes
    )
    sphere_gradient = run.norms[:-1] * run.gradient_norms
    if optimizer.tangent and sphere_gradient.all():
        found["effective_learning_rate"] = Comparison(
            text("effective learning rate"),
            "",
            np.tan(run.angles) / sphere_gradient,
            run.effective_learning_rate[:-1],
            optimizer.assumes,
        )
    if (balance := run.equilibrium) is not None:
        assumes = optimizer.equilibrium_assumes
        found["equilibrium_norm"] = Comparison(
            text("norm at equilibrium"), "", run.norms[:-1], balance.norm, assumes
        )
        found["equilibrium_angle"] = Comparison(
            text("angle at equilibrium"), "radians", run.angles, balance.angle, assumes
        )
    return found
