"""The layout of parameters in θ, and the derivative of the natural parameter s in them.

ds = g dz + z dg + db,    θ = vec([W, b, g]ᵀ)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar, final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.normalizers.linearization import Linearization, OwnNeuronLinearization

T = TypeVar("T")

STACK = 2**17
"""Numbers in a stack of changes of s that is computed at once."""


@final
@dataclass(frozen=True)
class ParameterLayout:
    """The places of W (H, D), b (H,) and g (H,) in θ (P,)."""

    neurons: int
    features: int
    has_gain: bool

    @property
    def per_neuron(self) -> int:
        """D + 2, or D + 1 without a gain."""
        return self.features + 1 + self.has_gain

    @property
    def size(self) -> int:
        """P, the number of parameters."""
        return self.neurons * self.per_neuron

    @property
    def weights(self) -> Array:
        """The places of W in θ, (H·D,), neuron by neuron."""
        return self._places()[:, : self.features].reshape(-1)

    @property
    def biases(self) -> Array:
        """The places of b in θ, (H,)."""
        return self._places()[:, self.features]

    @property
    def gains(self) -> Array:
        """The places of g in θ, (H,), or (0,) without a gain."""
        return self._places()[:, self.features + 1 :].reshape(-1)

    def pack(self, W: Array, b: Array, g: Array | None) -> Array:
        """Return θ (…, P)."""
        columns = [W, b[..., None]] + ([g[..., None]] if self.has_gain and g is not None else [])
        return np.concatenate(columns, axis=-1).reshape(*b.shape[:-1], self.size)

    def split(self, theta: Array) -> tuple[Array, Array, Array | None]:
        """Return views (W, b, g) of θ (…, P); g is None without a gain."""
        theta = np.asarray(theta)
        if theta.shape[-1:] != (self.size,):
            raise Refusal(
                "`theta` must have shape ({size},): {neurons} neurons of {each} "
                "parameters; got {shape}.",
                size=self.size,
                neurons=self.neurons,
                each=self.per_neuron,
                shape=theta.shape,
            )
        rows = theta.reshape(*theta.shape[:-1], self.neurons, self.per_neuron)
        D = self.features
        return rows[..., :D], rows[..., D], rows[..., D + 1] if self.has_gain else None

    def _places(self) -> Array:
        return np.arange(self.size).reshape(self.neurons, self.per_neuron)


@final
@dataclass(frozen=True, eq=False)
class ModelLinearization:
    """The derivative of the natural parameter s = g z + b in θ at one (θ, X).

        ds = g dz + z dg + db

    Attributes:
        normalized: the linearization of z in W (and X).
        s: (N, H). z: (N, H). gain: g (H,), None for the standard model. layout: of θ.
        kind: the type in which products are computed; None for the widest type of their factors.

    """

    normalized: Linearization | OwnNeuronLinearization
    s: Array
    z: Array
    gain: Array | None
    layout: ParameterLayout
    kind: np.dtype[Any] | None = None

    @property
    def cases(self) -> int:
        """N."""
        return len(self.s)

    @property
    def coupling(self) -> str:
        """The included part of ∂s/∂θ, "exact" or "paper", as in `Fisher`."""
        return "paper" if isinstance(self.normalized, OwnNeuronLinearization) else "exact"

    @property
    def whole(self) -> Linearization:
        """The linearization of z, with the center and scale of Eq. 14 for the own-neuron part."""
        it = self.normalized
        return it if isinstance(it, Linearization) else it.full

    def parts(self) -> Iterator[Part]:
        """Yield it as its only part."""
        yield Part(1.0, self)

    def gathered(self, step: Callable[[Iterator[Part]], T], merge: Callable[[T, T], T]) -> T:
        """Return the result of a step over all parts; see `RowsLinearization`."""
        return step(self.parts())

    def in_memory(self) -> ModelLinearization:
        """Return itself: all its cases are in memory."""
        return self

    def map(self, change: Callable[[ModelLinearization], ModelLinearization]) -> ModelLinearization:
        """Return the linearization changed by a function that treats each case separately."""
        return change(self)

    def jvp(self, dtheta: Array) -> Array:
        """Return ds (…, N, H) for changes dθ (…, P)."""
        dW, db, dg = self.layout.split(self._typed(dtheta))
        ds = self._scaled(self.normalized.jvp(dW)) + db[..., None, :]
        return ds if dg is None else ds + self.z * dg[..., None, :]

    def vjp(self, U: Array) -> Array:
        """Return the adjoint of `jvp` at U (…, N, H), (…, P)."""
        U = self._typed(U)
        dg = None if self.gain is None else np.einsum("nh,...nh->...h", self.z, U)
        dW = self.normalized.vjp_weights(self._scaled(U))
        return self.layout.pack(dW, U.sum(axis=-2), dg)

    def stacks(self, directions: int) -> Iterator[slice]:
        """Split directions so that their changes of s fit into the cache."""
        step = max(1, STACK // self.s.size)
        return (slice(start, start + step) for start in range(0, directions, step))

    def own_neuron(self) -> ModelLinearization:
        """Return the part in which each s_h depends on its own w_h, b_h, g_h only (Eq. 13, 14)."""
        if isinstance(self.normalized, OwnNeuronLinearization):
            return self
        return replace(self, normalized=self.normalized.own_neuron())

    def _scaled(self, U: Array) -> Array:
        return U if self.gain is None else self.gain * U

    def _typed(self, values: Array) -> Array:
        return values if self.kind is None else values.astype(self.kind, copy=False)


class Part(NamedTuple):
    """Some of the cases: their share of all, and the derivative of their s in θ.

    A mean over all cases is the sum of the parts' means, weighted by their shares.
    """

    share: float
    at: ModelLinearization
