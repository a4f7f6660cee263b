"""The derivative of z = (A − μ)/σ in the weights and in the inputs, as products with it.

    dC = dX̃ W̃ᵀ + X̃ dW̃ᵀ        d~ is the same projection as the center's
    dz = the scale's differential of (dC, dW̃)

Each direction costs one product of X with a (D, H) matrix, plus O(NH + HD).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.normalizers.centers import Center
from normgeo.normalizers.scales import Scale, ScalePoint


@final
@dataclass(frozen=True, eq=False)
class Linearization:
    """The derivative of z (N, H) at one (W, X).

    Attributes:
        center, scale: those that are differentiated.
        z: (N, H). sigma: σ, broadcasts against (N, H).
        centered_weights, centered_inputs: W̃ (H, D) and X̃ (N, D).
        inputs: X (N, D), whose size decides the rounding errors of X̃.
        groups: G, the number of groups of neurons.
        added: ε if the scale uses it, else 0.
        stream: added to the summed inputs, (N, H), None without one.

    """

    center: Center
    scale: Scale
    z: Array
    sigma: Array
    centered_weights: Array
    centered_inputs: Array
    inputs: Array
    groups: int = 1
    added: float = 0.0
    stream: Array | None = None

    @property
    def point(self) -> ScalePoint:
        """The values at this point that the scale needs."""
        return ScalePoint(self.z, self.sigma, self.centered_weights, self.groups)

    @property
    def sizes(self) -> Array:
        """Σ|x̃||w̃| (N, H): the size of C without cancellation."""
        sizes: Array = np.abs(self.centered_inputs) @ np.abs(self.centered_weights).T
        return sizes if self.stream is None else sizes + np.abs(self.stream)

    def jvp(self, dW: Array | None = None, dX: Array | None = None) -> Array:
        """Return dz (…, N, H) for changes dW (…, H, D) and dX (…, N, D); None leaves one fixed.

        Raises:
            ValueError: both are None.

        """
        dW_centered, parts = None, []
        if dW is not None:
            dW_centered = self.center.project_weights(self._wide(dW), self.groups)
            # One product for a stack of changes, with each neuron's cases contiguous, as in z.
            sums = dW_centered.reshape(-1, dW_centered.shape[-1]) @ self.centered_inputs.T
            parts.append(sums.reshape(*dW_centered.shape[:-1], -1).mT)
        if dX is not None:
            parts.append(self.center.project_inputs(self._wide(dX)) @ self.centered_weights.T)
        if not parts:
            raise Refusal("`jvp` needs a change: give dW (H, D), dX (N, D) or both; got none.")
        dC = parts[0] if len(parts) == 1 else parts[0] + parts[1]
        return self.scale.differential(dC, dW_centered, self.point)

    def vjp(self, U: Array) -> tuple[Array, Array]:
        """Return (dW (…, H, D), dX (…, N, D)), the adjoint of `jvp` at U (…, N, H)."""
        R, extra = self.scale.adjoint(U, self.point)
        return self._to_weights(R, extra), self.center.project_inputs(R @ self.centered_weights)

    def vjp_weights(self, U: Array) -> Array:
        """Return only the dW (…, H, D) of `vjp`."""
        return self._to_weights(*self.scale.adjoint(U, self.point))

    def vjp_inputs(self, U: Array) -> Array:
        """Return only the dX (…, N, D) of `vjp`."""
        R, _ = self.scale.adjoint(U, self.point)
        return self.center.project_inputs(R @ self.centered_weights)

    def of_first(self, features: int) -> Linearization:
        """Return the derivative in the weights of only the first features.

        The others are a residual stream with weights of 1, (x, r)(W, 1)ᵀ = x Wᵀ + r, for centers
        and scales that depend on summed inputs, not on the weights themselves.
        """
        return replace(
            self,
            scale=self.scale.of_first(features),
            centered_weights=self.centered_weights[:, :features],
            centered_inputs=self.centered_inputs[:, :features],
            inputs=self.inputs[:, :features],
            stream=self.inputs[:, features:],
        )

    def own_neuron(self) -> OwnNeuronLinearization:
        """Return the part of ∂z/∂W with ∂z_h/∂w_h only, as in Eq. 13 and 14."""
        scale = self.scale.own_neuron(self.center.neuron_dimensions_lost)
        own = replace(self, center=self.center.own_neuron(), scale=scale)
        return OwnNeuronLinearization(own)

    def _wide(self, change: Array) -> Array:
        """A change, converted to the type of z if that is wider."""
        return change.astype(np.result_type(change, self.z), copy=False)

    def _to_weights(self, R: Array, extra: Array | None) -> Array:
        dW_centered = R.mT.reshape(-1, len(self.z)) @ self.centered_inputs
        dW_centered = dW_centered.reshape(*R.shape[:-2], R.shape[-1], -1)
        if extra is not None:
            dW_centered = dW_centered + extra
        return self.center.project_weights(dW_centered, self.groups)


@final
@dataclass(frozen=True, eq=False)
class OwnNeuronLinearization:
    """The own-neuron part of a linearization, Eq. 14: each z_h depends only on its own w_h.

    Without a layer statistic it is the whole derivative. There is no dX: inputs belong to no
    neuron.
    """

    full: Linearization

    def jvp(self, dW: Array) -> Array:
        """Return (∂z_h/∂w_h) dw_h for every neuron, (…, N, H), for changes dW (…, H, D)."""
        return self.full.jvp(dW)

    def vjp_weights(self, U: Array) -> Array:
        """Return the adjoint of `jvp` at U (…, N, H), (…, H, D)."""
        return self.full.vjp_weights(U)
