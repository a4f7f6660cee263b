"""One product of a cell, normalized: s = g z + b with z = (a − μ)/σ, for all steps or for one.

W̃ is computed once for a run, so a step costs a product, the scale and the gain. Arrays may have
leading axes, steps or changes. Gates with their own statistics are an axis of blocks before the
cases, (…, B, S, K/B), a view of the same memory as (…, S, K).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.normalizers.centers import Center
from normgeo.normalizers.normalizer import Normalizer
from normgeo.normalizers.scales import Scale, ScalePoint


class Point(NamedTuple):
    """A product's state for its derivative: X̃ (…, S, D), and z and σ in blocks."""

    inputs: Array
    z: Array
    sigma: Array


class Held(NamedTuple):
    """Statistics shared by cases, as constants at each step: μ and v (T, B, 1, K/B), or None."""

    mean: Array | None
    variance: Array | None

    def at(self, t: int | slice) -> Held:
        """Return the statistics of some steps; steps after the last use the last."""
        return Held(*(None if each is None else each[t] for each in self))


@final
@dataclass(frozen=True, eq=False)
class Stream:
    """A normalized product of K sums over D inputs, at given parameters.

    Attributes:
        center, scale: of the normalizer. groups: of the neurons of a block. added: ε.
        W_centered: W̃ in blocks, (B, K/B, D). g: (K,), None without a gain. b: (K,).

    """

    center: Center
    scale: Scale
    groups: int
    added: float
    W_centered: Array
    g: Array | None
    b: Array

    @classmethod
    def of(cls, normalizer: Normalizer, blocks: int, W: Array, g: Array | None, b: Array) -> Stream:
        """Prepare W (K, D), g and b (K,), whose neurons form `blocks` blocks."""
        split = W.reshape(blocks, -1, W.shape[1])
        W_centered = normalizer.centering.project_weights(split, normalizer.groups)
        center, scale = normalizer.centering, normalizer.scaling
        return cls(center, scale, normalizer.groups, float(normalizer.added_eps), W_centered, g, b)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the statistics that the cases share at a step, (B, 1, K/B)."""
        blocks, K, _ = self.W_centered.shape
        return blocks, 1, K

    def holding(self, held: Held | None) -> Stream:
        """Return the product with constants instead of the statistics that the cases share."""
        if held is None:
            return self
        scale = self.scale if held.variance is None else self.scale.freeze(held.variance)
        return replace(self, center=self.center.freeze(held.mean), scale=scale)

    def point(self, X: Array) -> Point:
        """Return z of inputs X (…, S, D), with X̃ and σ."""
        inputs = self.center.project_inputs(X)
        C = self.center.subtract_frozen(self.split(inputs @ self._joined_weights.T))
        if not self.scale.divides:
            return Point(inputs, C, np.ones((1, 1)))
        sigma = self.scale.deviation(C, self.W_centered, self.groups, self.added)
        C *= 1 / sigma
        return Point(inputs, C, sigma)

    def sums(self, at: Point) -> Array:
        """Return s = g z + b, (…, S, K)."""
        z = self.joined(at.z)
        if self.g is None:
            return z + self.b
        s: Array = self.g * z
        s += self.b
        return s

    def shared(self, at: Point, X: Array) -> Held:
        """Return the statistics that the cases of X (…, S, D) share at a point."""
        mean = self.center.mean_case(X)
        if mean is not None:
            mean = self.split(mean @ self._joined_weights.T)
        # If v = 0, as when all sequences start equal, σ² − ε is rounding, possibly below 0.
        variance = np.maximum(at.sigma**2 - self.added, 0) if self.scale.shared_by_cases else None
        return Held(mean, variance)

    def residual(self, U: Array, at: Point) -> tuple[Array, Array | None]:
        """Return the adjoint of s at U (…, S, K) as parts for a (…, S, K) and for W̃, or None."""
        scaled = self.split(U if self.g is None else self.g * U)
        R, extra = self.scale.adjoint(
            scaled, ScalePoint(at.z, at.sigma, self.W_centered, self.groups)
        )
        return self.joined(R), extra

    def to_inputs(self, R: Array) -> Array:
        """Return the change of the inputs, (…, S, D), from the change R of a."""
        return self.center.project_inputs(R @ self._joined_weights)

    def to_weights(self, change: Array) -> Array:
        """Return the change of W (K, D), from a change of W̃ in blocks."""
        projected = self.center.project_weights(change, self.groups)
        weights: Array = projected.reshape(-1, projected.shape[-1])
        return weights

    def split(self, sums: Array) -> Array:
        """Split (…, S, K) into blocks, (…, B, S, K/B)."""
        blocks = len(self.W_centered)
        return sums.reshape(*sums.shape[:-1], blocks, -1).swapaxes(-3, -2)

    def joined(self, blocks: Array) -> Array:
        """Join blocks (…, B, S, K/B) to (…, S, K)."""
        apart = blocks.swapaxes(-3, -2)
        return apart.reshape(*apart.shape[:-2], -1)

    @property
    def _joined_weights(self) -> Array:
        return self.W_centered.reshape(-1, self.W_centered.shape[-1])
