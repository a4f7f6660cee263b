"""A null space followed along the maps from a change of θ to the distribution of y.

dθ  →  dC = X̃ dW̃ᵀ  →  dz  →  ds = g dz + z dg + db  →  (A''/φ)^½ ds
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.subspaces import mapped_to_zero
from normgeo.models.glm import ModelLinearization, NormalizedGLM
from normgeo.normalizers.linearization import Linearization
from normgeo.symmetry.null_space import NullSpace


@final
@dataclass(frozen=True, eq=False)
class NullChain:
    """A model, its derivative and its null space, along the chain of maps."""

    model: NormalizedGLM
    at: ModelLinearization
    null: NullSpace

    @cached_property
    def normalized(self) -> Linearization:
        at = self.at.normalized
        return at if isinstance(at, Linearization) else at.full

    @property
    def inputs(self) -> Array:
        """The centered inputs, (N, D)."""
        return self.normalized.centered_inputs

    @cached_property
    def size(self) -> float:
        """The norm of dz by dW with σ held constant."""
        lengths = np.linalg.norm(self.inputs, axis=1)[:, None]
        return float(np.linalg.norm(np.broadcast_to(lengths / self.normalized.sigma, self.z.shape)))

    @property
    def z(self) -> Array:
        """(N, H)."""
        return self.at.z

    @cached_property
    def changes_of_outputs(self) -> Array:
        """Return ds of every null direction, (k, N, H)."""
        basis = self.null.basis.T
        return np.array([self.at.jvp(v) for v in basis]).reshape(len(basis), *self.z.shape)

    @cached_property
    def silent(self) -> Array:
        """The null directions that leave s alone, (P, j)."""
        return self.part_without(self.null.basis, self.size, self.changes_of_outputs)

    @cached_property
    def shifting(self) -> Array:
        """The null directions that leave the distribution of each case alone, (P, m)."""
        ds = self.changes_of_outputs
        if not self.model.family.coupled:
            return self.silent
        return self.part_without(self.null.basis, self.size, ds - ds.mean(axis=2, keepdims=True))

    @cached_property
    def unseen(self) -> Array:
        """The null directions that leave z alone, (P, i)."""
        dW, _ = self.neurons(self.silent)
        dz = np.array([self.at.normalized.jvp(d) for d in dW]).reshape(len(dW), *self.z.shape)
        return self.part_without(self.silent, self.size, dz)

    def part_without(self, basis: Array, size: float, *effects: Array) -> Array:
        """Return the part of `basis` (P, k) with no effect; each of `effects` is (k, …)."""
        flat = [e.reshape(len(e), int(np.prod(e.shape[1:]))) for e in effects]
        return mapped_to_zero(basis, np.concatenate(flat, axis=1).T, size)

    def neurons(self, basis: Array) -> tuple[Array, Array]:
        """Return the changes of W (k, H, D), and of b and g (k, H, 1 or 2), of a basis (P, k)."""
        layout = self.null.layout
        changes = basis.T.reshape(basis.shape[1], layout.neurons, layout.per_neuron)
        return changes[:, :, : layout.features], changes[:, :, layout.features :]

    def summed(self, dW: Array) -> tuple[Array, Array]:
        """Return dW̃ (k, H, D) and dC (k, N, H) of changes dW (k, H, D)."""
        at = self.normalized
        dW_centered = at.center.project_weights(dW, at.groups)
        return dW_centered, at.centered_inputs @ dW_centered.mT

    def coordinates(self, places: Array) -> Array:
        """Return a unit change of each of some parameters, (P, m)."""
        return np.eye(self.null.layout.size)[:, places]

    def at_weights(self, dW: Array) -> Array:
        """Return changes (m, H, D) of the weights as changes of θ, (P, m)."""
        theta = np.zeros((self.null.layout.size, len(dW)))
        theta[self.null.layout.weights] = dW.reshape(len(dW), -1).T
        return theta

    @cached_property
    def each_vector(self) -> Array:
        """The re-scalings of each centered weight vector by itself, (H, H, D)."""
        H = self.null.layout.neurons
        return np.eye(H)[:, :, None] * self.normalized.centered_weights
