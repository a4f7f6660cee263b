"""What training minimizes: −mean log P(y|x) over fixed cases, as a function of θ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike

from normgeo._arrays import Array
from normgeo.blocks import Blocks, lengths
from normgeo.model import ModelLinearization, NormalizedGLM


@final
@dataclass(frozen=True, eq=False, init=False)
class Objective:
    """The loss L(θ) = −mean log P(y|x), in nats per case, of one kind of model on fixed cases.

    What does not depend on θ is done once, here.

    Attributes:
        model: gives the normalizer, the family, φ and the layout of θ.
        X: (N, D). targets: y as the family encodes it, (N, H).

    Raises:
        ValueError: y outside the family's support, or of another shape than the model's outputs.

    """

    model: NormalizedGLM
    X: Array
    targets: Array

    def __init__(self, model: NormalizedGLM, X: ArrayLike, y: ArrayLike) -> None:
        object.__setattr__(self, "model", model)
        object.__setattr__(self, "X", np.asarray(X))
        object.__setattr__(self, "targets", model.family.encode(y, len(model.W)))

    def linearize(self, theta: Array) -> ModelLinearization:
        """Return the derivative of s in θ (P,); raises where z is undefined."""
        return self.model.unpack(theta).linearize(self.X)

    def loss(self, at: ModelLinearization) -> float:
        """Return L in nats per case."""
        return -float(np.mean(self.model.family.log_likelihood(self.targets, at.s, self.model.phi)))

    def gradient(self, at: ModelLinearization) -> Array:
        """Return ∂L/∂θ = −E[Jᵀ (y − f(s))]/φ, (P,)."""
        return -at.vjp(self.model.residual(at.s, self.targets))


class BlockPoint(NamedTuple):
    """The model at one value of a block: its linearization, the loss, and G = ∂L/∂w̃ (K·D,)."""

    at: ModelLinearization
    loss: float
    gradient: Array


@final
@dataclass(frozen=True, eq=False, init=False)
class BlockObjective:
    """The loss as a function of one homogeneous block of weights, all other parameters held.

    Attributes:
        objective: of all parameters. blocks: the block alone. own: its centred weights w̃ in the
            model, row after row, (K·D,).

    Raises:
        ValueError: the normalizer has no such block, or the block is zero.

    """

    objective: Objective
    blocks: Blocks
    own: Array

    def __init__(self, model: NormalizedGLM, X: ArrayLike, y: ArrayLike, block: int) -> None:
        neurons = model.normalizer.homogeneous_blocks(len(model.W))
        if not neurons:
            raise ValueError(
                "Only a homogeneous block of weights may change its norm and leave z alone; "
                f"{model.normalizer.title} has none. "
                "Use a normalizer with a scale that is not frozen."
            )
        if not 0 <= block < len(neurons):
            raise ValueError(
                f"`block` must be a whole number from 0 to {len(neurons) - 1}, one of the "
                f"{len(neurons)} homogeneous blocks of {model.normalizer.title}; got {block}."
            )
        blocks = Blocks(neurons[block][None], True, model.normalizer)
        blocks.require_direction(model.W)
        object.__setattr__(self, "objective", Objective(model, X, y))
        object.__setattr__(self, "blocks", blocks)
        object.__setattr__(self, "own", blocks.vectors(model.W.astype(np.float64))[0])

    @property
    def neurons(self) -> Array:
        """The neurons of the block, (K,)."""
        indices: Array = self.blocks.neurons[0]
        return indices

    @property
    def own_norm(self) -> float:
        """‖w̃‖ in the model."""
        return float(lengths(self.own))

    def at(self, w: Array) -> BlockPoint:
        """Return what the block's centred weights w (K·D,) make; raises where z is undefined."""
        at = self.objective.linearize(self.theta(w))
        dW, _, _ = at.layout.split(self.objective.gradient(at))
        return BlockPoint(at, self.objective.loss(at), self.blocks.vectors(dW)[0])

    def theta(self, w: Array) -> Array:
        """Return θ (P,) of the model with w (K·D,) as the block's centred weights."""
        model = self.objective.model
        return model.layout.pack(self.blocks.replaced(model.W, w), model.b, model.g)

    def embed(self, dw: Array) -> Array:
        """Return the dθ (P,) that changes the block by dw (K·D,) and nothing else."""
        model = self.objective.model
        dtheta = np.zeros(model.layout.size)
        dW, _, _ = model.layout.split(dtheta)
        dW[self.neurons] = dw.reshape(len(self.neurons), -1)
        return dtheta
