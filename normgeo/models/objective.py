"""The training loss: −mean log P(y|x) over fixed cases, as a function of θ."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike

from normgeo.base.arguments import flag, instance_of, whole_number
from normgeo.base.arrays import Array, require_same_cases
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.models.family import Likelihood
from normgeo.models.glm import NormalizedGLM
from normgeo.models.linearization import ModelLinearization
from normgeo.normalizers.blocks import Blocks, lengths, require_direction
from normgeo.normalizers.fixed_cases import FixedCases


@final
@dataclass(frozen=True, eq=False)
class ObjectivePoint:
    """The loss at one θ, with the ingredients of its gradient.

    Attributes:
        at: the linearization of s in θ. loss: L, nats per case.
        slope: ∂L/∂s = (f(s) − y)/(Nφ), (N, H).

    """

    at: ModelLinearization
    loss: float
    slope: Array

    def gradient(self) -> Array:
        """Return ∂L/∂θ = Jᵀ ∂L/∂s, (P,)."""
        return self.at.vjp(self.slope)


@final
@dataclass(frozen=True, eq=False)
class Objective:
    """The loss L(θ) = −mean log P(y|x), in nats per case, of one kind of model on fixed cases.

    Work that does not depend on θ is done once.

    Attributes:
        model: has the normalizer, the family, φ and the layout of θ.
        cases: the normalizer over X (N, D). likelihood: of y (N, H).

    """

    model: NormalizedGLM
    cases: FixedCases
    likelihood: Likelihood

    @classmethod
    def of(cls, model: NormalizedGLM, X: ArrayLike, y: ArrayLike) -> Objective:
        """Prepare the loss of such a model on X (N, D) and y, as the family takes it.

        Raises:
            ValueError: X or y of a bad shape, bad numbers, or y outside the family's support.

        """
        likelihood = model.family.likelihood(y, len(model.W), model.phi)
        cases = model.over(X)
        require_same_cases(cases.X, likelihood.targets)
        return cls(model, cases, likelihood)

    @property
    def X(self) -> Array:
        """The inputs of the cases, (N, D)."""
        return self.cases.X

    def rows(self, cases: Array) -> Objective:
        """Return the loss on some of the cases, by their indices: a mini-batch."""
        return replace(self, cases=self.cases.rows(cases), likelihood=self.likelihood.rows(cases))

    def linearize(self, theta: Array) -> ModelLinearization:
        """Return the derivative of s in θ (P,); raises where z is undefined."""
        return self.model.unpack(theta).linearize_over(self.cases)

    def at(self, theta: Array) -> ObjectivePoint:
        """Return the loss at θ (P,) and its derivative; raises where z is undefined."""
        at = self.linearize(theta)
        log_likelihood, residual = self.likelihood.at(at.s)
        return ObjectivePoint(at, -log_likelihood, residual / (-len(residual) * self.model.phi))


class BlockPoint(NamedTuple):
    """The model at one value of a block: its linearization, the loss, and G = ∂L/∂w̃ (K·D,)."""

    at: ModelLinearization
    loss: float
    gradient: Array


@final
@dataclass(frozen=True, eq=False)
class BlockObjective:
    """The loss as a function of one block of weights, all other parameters held.

    Attributes:
        objective: of all parameters. blocks: this block alone. own: its centered weights w̃ in the
            model, row by row, (K·D,).

    """

    objective: Objective
    blocks: Blocks
    own: Array

    @classmethod
    def of(
        cls,
        model: NormalizedGLM,
        X: ArrayLike,
        y: ArrayLike,
        block: int,
        *,
        homogeneous: bool = True,
    ) -> BlockObjective:
        """The loss of such a model on X (N, D) and y, by the block of this number.

        Args:
            model, X, y: as in `Objective.of`. block: the number of the block.
            homogeneous: False takes each neuron by itself where the normalizer has no block that
                may change its norm and leave z alone.

        Raises:
            ValueError: the normalizer has no such block, or the block is zero.

        """
        instance_of("model", model, NormalizedGLM)
        blocks = Blocks.of(model.normalizer, len(model.W))
        if flag("homogeneous", homogeneous) and not blocks.homogeneous:
            raise Refusal(
                "Only a homogeneous block of weights may change its norm and leave z "
                "alone; {method} has none. Use a normalizer with a scale that is not "
                "frozen.",
                method=model.normalizer.title,
            )
        count = len(blocks.neurons)
        meaning = text(
            "one of the {count} homogeneous blocks of {method}",
            count=count,
            method=model.normalizer.title,
        )
        blocks = blocks.only(whole_number("block", block, 0, count - 1, meaning))
        own = blocks.vectors(model.W.astype(np.float64))[0]
        require_direction(own)
        return cls(Objective.of(model, X, y), blocks, own)

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
        """Return the loss at centered weights w (K·D,) of the block; raises if z is undefined."""
        point = self.objective.at(self.theta(w))
        dW, _, _ = point.at.layout.split(point.gradient())
        return BlockPoint(point.at, point.loss, self.blocks.vectors(dW)[0])

    def theta(self, w: Array) -> Array:
        """Return θ (P,) of the model with w (K·D,) as the block's centered weights."""
        model = self.objective.model
        return model.layout.pack(self.blocks.replaced(model.W, w), model.b, model.g)

    def centered(self, dw: Array) -> Array:
        """Return a change of the block (K·D,) without what the normalizer's center removes."""
        still = np.zeros_like(self.objective.model.W, dtype=np.float64)
        vectors: Array = self.blocks.vectors(self.blocks.replaced(still, dw))[0]
        return vectors

    def embed(self, dw: Array) -> Array:
        """Return the dθ (P,) that changes the block by dw (K·D,) alone."""
        model = self.objective.model
        dtheta = np.zeros(model.layout.size)
        dW, _, _ = model.layout.split(dtheta)
        dW[self.neurons] = dw.reshape(len(self.neurons), -1)
        return dtheta
