"""A run of a recurrent layer, and its gradient by back-propagation through time.

    θ̄ = Σ_t (∂state^t/∂θ)ᵀ U^t

The derivative of each z is that of its center and its scale.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike

from normgeo.base.arrays import Array, real_array
from normgeo.base.refusal import Refusal
from normgeo.sequences.cell import Product, State
from normgeo.sequences.layer import CellLayer
from normgeo.sequences.step_statistics import MEMORY, NOTHING_SEEN, StepStatistics, holding
from normgeo.sequences.stream import Held, Point, Stream


class Step(NamedTuple):
    """What back-propagation needs of a step: of the cell, of the memory, of the products with h."""

    kept: Any
    memory: Point | None
    points: dict[int, Point]


class StepBack(NamedTuple):
    """The adjoint of a step.

    Attributes:
        state: adjoint of the state before it. sums: adjoint of the sums of each product.
        residuals: for each product that reads the state, the parts for a and for W̃.
        memory: adjoint of the sums of the memory; None if it is not normalized.

    """

    state: State
    sums: tuple[Array, ...]
    residuals: dict[int, tuple[Array, Array | None]]
    memory: Array | None


@final
@dataclass(frozen=True, eq=False)
class CellRun:
    """A recurrent layer over T steps of S sequences.

    Attributes:
        layer: with its parameters. inputs: (T, S, F), time first. statistics: constants instead of
            the statistics that the sequences share at each step; None for their own.
        states: h^t, and c^t if the cell has one, each (T+1, S, H), t from 0.
        streams, memory_stream: the products as computed.

    """

    layer: CellLayer
    inputs: Array
    statistics: StepStatistics | None
    states: State
    streams: tuple[Stream, ...]
    memory_stream: Stream | None
    _steps: list[Step]
    _ahead: dict[int, list[Point]]
    _stretch: int

    @property
    def steps(self) -> int:
        """T."""
        return len(self.inputs)

    @property
    def hidden(self) -> Array:
        """h^t, (T+1, S, H), t from 0."""
        return self.states[0]

    def reads(self, product: Product, t: int) -> Array:
        """Return the input of a product at step t, from 0, (S, D)."""
        return product.reads(self.hidden[t], self.inputs[t])

    def point(self, index: int, t: int) -> Point:
        """Return the point of product number `index` at step t, from 0."""
        if index not in self._ahead:
            return self._steps[t].points[index]
        of_stretch, i = self._ahead[index][t // self._stretch], t % self._stretch
        inputs, z, sigma = of_stretch
        return Point(inputs[i], z[i], sigma[i] if sigma.ndim == z.ndim else sigma)

    def own_statistics(self) -> StepStatistics:
        """Return the statistics that the sequences share at each step: with them z is the same."""
        indices = range(len(self.streams) + (self.memory_stream is not None))
        return StepStatistics(tuple(map(self._shared, indices)), np.ones(self.steps, dtype=int))

    def averaged_into(self, averages: StepStatistics | None) -> StepStatistics:
        """Return running averages updated with this batch; None for no batch before."""
        return (averages or NOTHING_SEEN).updated(self.own_statistics(), self.hidden.shape[1])

    def back(self, t: int, change: State) -> StepBack:
        """Take changes of the state after step t, from 0, back through it; leading axes allowed."""
        step, reached = self._steps[t], []

        def inner(dn: Array) -> Array:
            if self.memory_stream is None or step.memory is None:
                return dn
            stream = holding(self.memory_stream, self.statistics, MEMORY, t)
            reached.append(dn)
            return stream.to_inputs(stream.residual(dn, step.memory)[0])

        sums, (dh, *others) = self.layer.cell.back(step.kept, change, inner)
        residuals = {}
        for index, at in step.points.items():
            stream = holding(self.streams[index], self.statistics, index, t)
            residuals[index] = stream.residual(sums[index], at)
            dh = dh + stream.to_inputs(residuals[index][0])[..., : self.layer.neurons]
        state = tuple(map(np.asarray, (dh, *others)))
        return StepBack(state, sums, residuals, reached[0] if reached else None)

    def vjp(self, U: ArrayLike) -> Array:
        """Return the adjoint of the derivative of h^1 … h^T in θ, at U (T, S, H): (P,).

        This is back-propagation through time: with U = ∂L/∂h the result is the gradient of L.

        Raises:
            ValueError: U of another shape, or a result that overflows.

        """
        U = real_array("U", U, 3)
        if U.shape != self.hidden[1:].shape:
            raise Refusal(
                "`U` must be a change of each state, (T, S, H) = {expected}; got {shape}.",
                expected=self.hidden[1:].shape,
                shape=U.shape,
            )
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            gradient = self._vjp(U)
        if not np.isfinite(gradient).all():
            raise Refusal("The gradient through time exceeds the largest float.")
        return gradient

    def _vjp(self, U: Array) -> Array:
        _, S, H = U.shape
        T = self.steps
        layer, stretch = self.layer, self._stretch
        grads = [_Gradient(stream) for stream in self.streams]
        ahead: dict[int, list[Array]] = {index: [] for index in self._ahead}
        memory = np.zeros((2, H))
        change: State = tuple(np.zeros((S, H)) for _ in self.states)
        for t in range(T - 1, -1, -1):
            back = self.back(t, (change[0] + U[t], *change[1:]))
            for index, (R, extra) in back.residuals.items():
                grads[index].add(self._steps[t].points[index], back.sums[index], R, extra)
            for index, later in ahead.items():
                later.append(back.sums[index])
                if t % stretch == 0:
                    U_ahead = later[0][None] if len(later) == 1 else np.stack(later[::-1])
                    at = self._ahead[index][t // stretch]
                    steps = slice(t, t + stretch)
                    stream = holding(self.streams[index], self.statistics, index, steps)
                    grads[index].add(at, U_ahead, *stream.residual(U_ahead, at))
                    later.clear()
            at_memory = self._steps[t].memory
            if back.memory is not None and at_memory is not None:
                memory[0] += back.memory.sum(axis=0)
                memory[1] += np.einsum("sh,sh->h", back.memory, at_memory.z[0])
            change = back.state
        parts = [
            layout.pack(grad.stream.to_weights(grad.W), grad.b, grad.g)
            for layout, grad in zip(layer.layouts, grads, strict=False)
        ]
        if layer.memory is not None:
            parts.append(layer.layouts[-1].pack(np.zeros((H, 0)), *memory))
        return np.concatenate(parts)

    def _shared(self, index: int) -> Held:
        """Return what cases share in product `index` at all steps; the last index is the memory."""
        if not self.layer.normalizer.shared_by_cases:
            return Held(None, None)
        each = []
        for t, step in enumerate(self._steps):
            if index == len(self.streams) and self.memory_stream and step.memory:
                each.append(self.memory_stream.shared(step.memory, self.states[1][t + 1]))
            else:
                X = self.reads(self.layer.cell.products[index], t)
                each.append(self.streams[index].shared(self.point(index, t), X))
        parts = (list(part) for part in zip(*each, strict=True))
        return Held(*(None if part[0] is None else np.stack(part) for part in parts))


class _Gradient:
    """Sums over the steps, for one product: the parts for W̃ in blocks, for b and for g."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.W, self.b = np.zeros_like(stream.W_centered), np.zeros_like(stream.b)
        self.g = None if stream.g is None else np.zeros_like(stream.g)

    def add(self, at: Point, U: Array, R: Array, extra: Array | None) -> None:
        """Add one step, or several, given the adjoint U of the sums."""
        K, D = R.shape[-1], at.inputs.shape[-1]
        self.W += (R.reshape(-1, K).T @ at.inputs.reshape(-1, D)).reshape(self.W.shape)
        if extra is not None:
            self.W += extra.reshape(-1, *self.W.shape).sum(axis=0)
        sums = U.reshape(-1, K)
        self.b += sums.sum(axis=0)
        if self.g is not None:
            self.g += np.einsum("nk,nk->k", self.stream.joined(at.z).reshape(-1, K), sums)
