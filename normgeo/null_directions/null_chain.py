"""A null space followed along the maps from a change of θ to the distribution of y.

dθ  →  dC = X̃ dW̃ᵀ  →  dz  →  ds = g dz + z dg + db  →  (A''/φ)^½ ds

Whether a map sends directions to zero is decided as for the null space itself: for the equilibrated
map, with the same multiple of rounding. So no reason contradicts the count.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.subspaces import (
    SAME,
    graded_basis,
    mapped_to_zero,
    orthonormal,
    principal_angles,
    without,
)
from normgeo.models.families import FAMILIES
from normgeo.models.glm import NormalizedGLM
from normgeo.models.linearization import ModelLinearization
from normgeo.normalizers.linearization import Linearization
from normgeo.null_directions.equilibration import Change, Equilibrated
from normgeo.null_directions.null_space import NullSpace

INDEPENDENT = 1e5
"""Units of rounding below which the remainder of a vector, after projection, is rounding."""


@final
@dataclass(frozen=True, eq=False)
class NullChain:
    """A model, its derivative and its null space, along the chain of maps.

    Directions are in the coordinates e of `outputs`, as in the null space.
    """

    model: NormalizedGLM
    at: ModelLinearization
    null: NullSpace

    @property
    def normalized(self) -> Linearization:
        """The linearization of z."""
        return self.at.whole

    @cached_property
    def outputs(self) -> Equilibrated:
        """The derivative of the distribution of y, which has the null space."""
        return Equilibrated.of(self.at, self.model.family, self.null.weights_only)

    @cached_property
    def parameters(self) -> Equilibrated:
        """The derivative of s."""
        if not (self.model.family.coupled or self.outputs.saturated):
            return self.outputs
        return Equilibrated.of(self.at, FAMILIES["gaussian"], self.null.weights_only)

    @cached_property
    def normalized_inputs(self) -> Equilibrated:
        """The derivative of z in the weights."""
        if self.null.weights_only and (self.at.gain is None or self.at.gain.all()):
            return self.parameters
        gain = None if self.at.gain is None else np.ones_like(self.at.gain)
        return Equilibrated.of(replace(self.at, gain=gain), FAMILIES["gaussian"], True)

    @property
    def independent(self) -> float:
        """The remainder of a unit vector, after projection, below which it is rounding."""
        return INDEPENDENT * self.outputs.unit

    @cached_property
    def silent(self) -> Array:
        """The null directions along which s is constant, (P, j)."""
        if self.parameters is self.outputs:
            return self.null.coordinates
        return self.zero(self.parameters, self.null.coordinates)

    def decided(self, S: Array) -> bool:
        """Whether directions S (P, k) that the map sends to rounding are null, not only nearly."""
        angles, _ = principal_angles(S, self.null.coordinates)
        return self.null.clear or bool((angles < SAME).all())

    def shifting(self, S: Array) -> Array:
        """The part of null directions S that affects no output, even if none were saturated."""
        if not self.outputs.saturated:
            return S
        if not self.model.family.coupled:
            return self.zero(self.parameters, S)
        at = replace(self.at, s=np.zeros_like(self.at.s))
        return self.zero(Equilibrated.of(at, self.model.family, self.null.weights_only), S)

    def zero(self, of: Equilibrated, S: Array) -> Array:
        """Return a basis of the part of S (P, k) that one of the maps sends to zero.

        Directions that do not change the parameters of that map are left out.
        """
        if not S.shape[1] or (of is self.outputs and self.null.dimension == of.columns):
            return S
        if of is self.outputs:
            return mapped_to_zero(S, of.effects(S), of.rounding)
        change = self.outputs.unpack(S)
        if of is self.normalized_inputs:
            change = of.of_centered(change.weights, change.offsets)
        Q, lengths, turned = np.linalg.svd(of.pack(change), full_matrices=False)
        moved = lengths > self.independent * max(1.0, lengths[0])
        S, Q = S @ (turned[moved].T / lengths[moved]), Q[:, moved]
        part = mapped_to_zero(np.eye(Q.shape[1]), of.effects(Q), of.rounding)
        return orthonormal(S @ part, self.independent)

    def span(self, change: Change) -> Array:
        """Return a basis (P, m) of the span of changes of the parameters."""
        return orthonormal(self.outputs.pack(change), self.independent)

    def weights(self, dW: Array) -> Array:
        """Return a basis (P, m) of the span of changes dW (k, H, D) of the weights."""
        return self.span(self.outputs.change(dW))

    def of_centered(self, dW: Array) -> Array:
        """Return a basis (P, m) of the span of changes dW̃ (k, H, D)."""
        offsets = np.zeros((len(dW), self.outputs.offsets.shape[1]))
        return self.span(self.outputs.of_centered(dW, offsets))

    @cached_property
    def of_outputs(self) -> Array:
        """A unit change of each b and g, (P, H or 2H)."""
        outputs, layout = self.outputs, self.null.layout
        indices = np.concatenate([layout.biases, layout.gains])
        return np.eye(layout.size + outputs.offsets.shape[1])[:, indices]

    def theta(self, S: Array) -> Array:
        """Return an orthonormal basis (P, k) in θ of the span of null directions S (P + m, k)."""
        return graded_basis(self.outputs.theta(self.outputs.unpack(S)))

    def beyond(self, S: Array, credited: Array) -> Array:
        """Return the part (P, j) of null directions S beyond those with a reason, as in `left`."""
        part: Array = self.null.coordinates @ without(self.null.coordinates.T @ S, credited)
        return part

    def left(self, credited: Array) -> Array:
        """Return the null directions (P, j) beyond those with a reason, in coordinates (k, i)."""
        rest = without(np.eye(self.null.dimension), credited, self.independent)
        left: Array = self.null.coordinates @ rest
        return left

    @cached_property
    def each_vector(self) -> Array:
        """The re-scaling of each centered weight vector separately, (H, H, D)."""
        H = self.null.layout.neurons
        each: Array = np.eye(H)[:, :, None] * self.normalized.centered_weights.astype(np.float64)
        return each


@final
@dataclass(frozen=True, eq=False)
class Finding:
    """A reason before it is credited: `part` (P, a) is a basis of its null directions.

    The other fields are as in `Reason`.
    """

    key: str
    title: str
    sentence: str
    part: Array
    span: int = 0
    angles: Array = field(default_factory=lambda: np.zeros(0))
    null: int = 0
