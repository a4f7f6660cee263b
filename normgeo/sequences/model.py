"""A recurrent layer with a generalized linear model of its state: one class per sequence or step.

s = W h^T + b for a sequence, or s^t = W h^t + b at every step,    log P(y|x) = s·y − A(s)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike

from normgeo.base.arguments import instance_of, whole_number
from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.models.glm import NormalizedGLM
from normgeo.models.layers import UnitsLinearization
from normgeo.normalizers.named import NORMALIZERS
from normgeo.normalizers.normalizer import Normalizer
from normgeo.sequences.cell import Cell
from normgeo.sequences.cell_run import CellRun
from normgeo.sequences.layer import CellLayer
from normgeo.sequences.step_statistics import StepStatistics
from normgeo.sequences.through_time import run_cell


class Told(NamedTuple):
    """Predictions of a model, (S,) or (S, T): log-likelihood of each class; whether it is right."""

    log_likelihood: Array
    right: Array


@final
@dataclass(frozen=True, eq=False)
class SequenceModel:
    """A recurrent layer, and a model that predicts classes from its state.

    Attributes:
        layer: the cell. output: the standard model of classes, with H inputs.

    Raises:
        ValueError: an output that does not fit the layer.

    """

    layer: CellLayer
    output: NormalizedGLM

    def __post_init__(self) -> None:
        instance_of("layer", self.layer, CellLayer)
        instance_of("output", self.output, NormalizedGLM)
        if self.output.W.shape[1] != self.layer.neurons or not self.output.family.has_classes:
            raise Refusal(
                "The output must tell classes from {H} inputs, one for each neuron of the "
                "layer; got weights of shape {shape} and the {family} family.",
                H=self.layer.neurons,
                shape=self.output.W.shape,
                family=self.output.family.key,
            )

    @classmethod
    def random(
        cls,
        cell: str | Cell,
        normalizer: Normalizer | str,
        neurons: int,
        features: int,
        classes: int,
        rng: np.random.Generator,
        *,
        gain: float = 1.0,
        gate_by_gate: bool = True,
    ) -> SequenceModel:
        """Return a model with Gaussian weights of variance 1/D; see `CellLayer.random`."""
        layer = CellLayer.random(
            cell, normalizer, neurons, features, rng, gain=gain, gate_by_gate=gate_by_gate
        )
        count = whole_number("classes", classes, 2)
        standard = NORMALIZERS["standard"]
        output = NormalizedGLM.random(standard, "categorical", count, layer.neurons, rng)
        return cls(layer, output)

    def pack(self) -> Array:
        """Return θ (P,), the layer's and then the output's."""
        return np.concatenate([self.layer.pack(), self.output.pack()])

    def unpack(self, theta: Array) -> SequenceModel:
        """Return the model of the same kind with parameters θ (P,)."""
        at = len(theta) - self.output.layout.size
        return SequenceModel(self.layer.unpack(theta[:at]), self.output.unpack(theta[at:]))

    def loss_and_gradient(self, X: ArrayLike, y: Array) -> tuple[float, Array, CellRun]:
        """Return −mean log P(y|x) in nats per class, its gradient in θ (P,), and the run.

        Args:
            X: (S, T, F). y: classes, integers from 0, (S,) per sequence or (S, T) per step.

        """
        run = run_cell(self.layer, X)
        states, targets = _read_out(run, y)
        at = UnitsLinearization.of(self.output, states)
        residual = self.output.residual(at.s, targets)
        U = np.zeros_like(run.hidden[1:])
        dh = -at.vjp_inputs(residual)
        if np.ndim(y) == 2:
            U[:] = dh.reshape(U.shape)
        else:
            U[-1] = dh
        loss = -float(np.mean(self.output.family.log_likelihood(targets, at.s, 1.0)))
        return loss, np.concatenate([run.vjp(U), -at.parameters.vjp(residual)]), run

    def told(
        self,
        X: ArrayLike,
        y: Array,
        statistics: StepStatistics | None = None,
        beyond: str = "refuse",
    ) -> Told:
        """Return the predictions for sequences at test time, each sequence by itself.

        Args:
            X, y: as in `loss_and_gradient`. statistics, beyond: as in `run_cell`.

        """
        run = run_cell(self.layer, X, statistics=statistics, beyond=beyond)
        states, targets = _read_out(run, y)
        s, family = self.output.natural_parameter(states), self.output.family
        encoded = family.encode(targets, len(self.output.W))
        parts = (family.log_likelihood(targets, s, 1.0), family.right(encoded, s))
        # A run has steps first, the result sequences first.
        return Told(*(np.reshape(part, np.shape(y)[::-1]).T for part in parts))


def _read_out(run: CellRun, y: Array) -> tuple[Array, Array]:
    """Return the states from which classes are predicted, (N, H), and the classes (N,)."""
    if np.ndim(y) == 2:
        return run.hidden[1:].reshape(-1, run.hidden.shape[2]), np.asarray(y).T.reshape(-1)
    return run.hidden[-1], np.asarray(y)
