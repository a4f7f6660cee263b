"""Blocks of weights as vectors: their neurons, names, norms and accurate angles."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.normalizers.normalizer import Normalizer


@final
@dataclass(frozen=True, eq=False)
class Blocks:
    """A split of the H neurons into B blocks of K; the centered weights of a block form one vector.

    Attributes:
        neurons: (B, K), the indices of each block's neurons.
        homogeneous: whether a block may be scaled without changing z.
        normalizer: its center is the one applied.

    """

    neurons: Array
    homogeneous: bool
    normalizer: Normalizer

    @classmethod
    def of(cls, normalizer: Normalizer, neurons: int) -> Blocks:
        """Return the homogeneous blocks or, if there are none, each neuron by itself."""
        blocks = normalizer.homogeneous_blocks(neurons)
        if blocks:
            return cls(np.stack(blocks), True, normalizer)
        return cls(np.arange(neurons)[:, None], False, normalizer)

    def only(self, block: int) -> Blocks:
        """Return one of the blocks by itself."""
        return replace(self, neurons=self.neurons[block][None])

    def holding(self, neuron: int) -> int:
        """Return the number of a neuron's block.

        Raises:
            ValueError: there is no such neuron.

        """
        places, _ = np.nonzero(self.neurons == neuron)
        if not len(places):
            raise Refusal(
                "Neurons are numbered from 0 to {last} here; got {neuron}. Choose another.",
                last=self.neurons.size - 1,
                neuron=neuron,
            )
        return int(places[0])

    def name(self, block: int) -> str:
        """Return the name of a block.

        >>> from normgeo import Normalizer
        >>> Blocks.of(Normalizer("layer", "layer", groups=2), 6).name(1)
        'weights of neurons 3 to 5'
        >>> Blocks.of(Normalizer("batch", "batch"), 6).name(1)
        'weights of neuron 1'

        """
        neurons = self.neurons[block].tolist()
        if len(neurons) == 1:
            return text("weights of neuron {h}", h=neurons[0])
        if len(self.neurons) == 1:
            return text("weights of the layer")
        return text("weights of neurons {a} to {b}", a=neurons[0], b=neurons[-1])

    @property
    def symbol(self) -> str:
        """The norm of a block in letters: w of one neuron, W of several, with a tilde if centered.

        >>> from normgeo import NORMALIZERS
        >>> [Blocks.of(NORMALIZERS[key], 4).symbol for key in ("batch", "rms", "layer")]
        ['‖w‖', '‖W‖', '‖W̃‖']

        """
        symbol = "‖W̃‖" if self.normalizer.centering.projects_weights else "‖W‖"
        return symbol.lower() if self.neurons.shape[1] == 1 else symbol

    def vectors(self, W: Array) -> Array:
        """Return W̃ of W (…, H, D), or of its change, as one vector for each block, (…, B, K·D)."""
        center, groups = self.normalizer.centering, self.normalizer.groups
        rows = center.project_weights(W, groups)[..., self.neurons, :]
        vectors: Array = rows.reshape(*rows.shape[:-2], -1)
        return vectors

    def require_direction(self, W: Array) -> None:
        """Refuse homogeneous blocks of zeros, which reach this point only if ε > 0."""
        if self.homogeneous:
            require_direction(self.vectors(W))

    def replaced(self, W: Array, vectors: Array) -> Array:
        """Return W (H, D) with `vectors` (B, K·D) as the centered weights of the blocks.

        The part that the center removes, such as a mean row, is left out: z does not depend on it.
        """
        changed = W.astype(np.float64)
        changed[self.neurons] = vectors.reshape(*self.neurons.shape, -1)
        return changed


def require_direction(vectors: Array) -> None:
    """Refuse vectors (…, n) of zeros."""
    if not lengths(vectors).all():
        raise Refusal(
            "A homogeneous block needs a direction to turn from; got one whose centered "
            "weights are all zero. Start from other weights."
        )


SMALLEST_SQUARE = 1e-280
"""A square below it has lost digits to underflow."""


def dots(U: Array, V: Array) -> Array:
    """Return u·v over the last axis of U and V (…, n)."""
    products: Array = np.einsum("...i,...i->...", U, V)
    return products


def lengths(U: Array) -> Array:
    """Return ‖u‖ over the last axis of U (…, n)."""
    with np.errstate(over="ignore", under="ignore"):
        squares = dots(U, U)
    if ((squares > SMALLEST_SQUARE) & (squares < np.inf)).all():
        norms: Array = np.sqrt(squares)
        return norms
    # Scaling by a power of two brings them to order one without rounding.
    _, exponent = np.frexp(np.abs(U).max(axis=-1, initial=0))
    unit = np.ldexp(U, -exponent[..., None])
    with np.errstate(over="ignore"):
        scaled: Array = np.ldexp(np.sqrt(dots(unit, unit)), exponent)
    return scaled


def cosines(U: Array, V: Array) -> Array:
    """Return u·v/(‖u‖‖v‖) over the last axis of U and V (…, n); 0 if one is zero."""
    return dots(_units(U), _units(V))


def angles_turned(U: Array, change: Array) -> Array:
    """Return the angle in radians from u to u + δ, over the last axis (…, n); 0 where u is zero.

        tan θ = ‖δ − (δ·û)û‖ / (‖u‖ + δ·û)

    It is computed from the change itself, so that an angle of 1e-12 keeps its digits (an arccosine
    of the two directions loses all of them below 1e-8).
    """
    norm, unit = lengths(U), _units(U)
    along = dots(unit, change)
    across = lengths(change - along[..., None] * unit)
    return np.where(norm > 0, np.arctan2(across, norm + along), 0.0)


def angles_between(U: Array, V: Array) -> Array:
    """Return the angle in radians between u and v, over the last axis (…, n); 0 where one is zero.

        tan(θ/2) = ‖û − v̂‖/‖û + v̂‖

    It keeps its digits at any angle (an arccosine loses them below 1e-8).
    """
    u, v = _units(U), _units(V)
    angles: Array = 2 * np.arctan2(lengths(u - v), lengths(u + v))
    return np.where(u.any(axis=-1) & v.any(axis=-1), angles, 0.0)


def _units(U: Array) -> Array:
    """Return u/‖u‖ over the last axis of U (…, n); 0 where u is zero."""
    norms = lengths(U)
    units: Array = U / np.where(norms > 0, norms, 1.0)[..., None]
    return units


def angle_of_decay(lost: Array | float) -> Array:
    """Return the angle whose cosine is 1 − x, for x (…,) from 0 to 2.

        θ = 2 arcsin √(x/2)

    It keeps its digits at any x (arccos(1 − x) is 5% off at 1e-16, and 0 below).
    """
    angles: Array = 2 * np.arcsin(np.sqrt(lost / 2))
    return angles
