"""A run of a recurrent layer, and its gradient by back-propagation through time.

    θ̄ = Σ_t (∂state^t/∂θ)ᵀ U^t

The derivative of each z is that of its center and its scale, as everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike

from normgeo.base.arrays import Array, real_array
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.sequences.cell import Product, State
from normgeo.sequences.layer import CellLayer
from normgeo.sequences.step_statistics import MEMORY, NOTHING_SEEN, StepStatistics, holding
from normgeo.sequences.stream import Held, Point, Stream


class Step(NamedTuple):
    """What the way back needs of a step: of the cell, of the memory, of what reads the state."""

    kept: Any
    memory: Point | None
    points: dict[int, Point]


class StepBack(NamedTuple):
    """The adjoint of a step.

    Attributes:
        state: the change of the state before it. sums: of the sums of each product.
        residuals: of each product that reads the state, the parts for a and for W̃.
        memory: of the sums of the memory; None where nothing normalizes it.

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
        layer: with its parameters. inputs: (T, S, F), time first. statistics: in place of what the
            sequences share at each step; None for their own.
        states: h^t, and c^t where the cell has one, each (T+1, S, H), t from 0.
        streams, memory_stream: the products as they were taken.

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
        """What a product reads at step t, from 0, (S, D)."""
        return product.reads(self.hidden[t], self.inputs[t])

    def point(self, place: int, t: int) -> Point:
        """Where product `place` is at step t, from 0."""
        if place not in self._ahead:
            return self._steps[t].points[place]
        of_stretch, i = self._ahead[place][t // self._stretch], t % self._stretch
        inputs, z, sigma = of_stretch
        return Point(inputs[i], z[i], sigma[i] if sigma.ndim == z.ndim else sigma)

    def own_statistics(self) -> StepStatistics:
        """Return what the sequences share at each step, as it is: held at it, they run alike."""
        places = range(len(self.streams) + (self.memory_stream is not None))
        return StepStatistics(tuple(map(self._shared, places)), np.ones(self.steps, dtype=int))

    def averaged_into(self, averages: StepStatistics | None) -> StepStatistics:
        """Return running averages with this batch among them; None for those of no batch."""
        return (averages or NOTHING_SEEN).updated(self.own_statistics(), self.hidden.shape[1])

    def back(self, t: int, change: State) -> StepBack:
        """Take a change of the state after step t, from 0, one step back; it may be many."""
        step, reached = self._steps[t], []

        def inner(dn: Array) -> Array:
            if self.memory_stream is None or step.memory is None:
                return dn
            stream = holding(self.memory_stream, self.statistics, MEMORY, t)
            reached.append(dn)
            return stream.to_inputs(stream.residual(dn, step.memory)[0])

        sums, (dh, *others) = self.layer.cell.back(step.kept, change, inner)
        residuals = {}
        for place, at in step.points.items():
            stream = holding(self.streams[place], self.statistics, place, t)
            residuals[place] = stream.residual(sums[place], at)
            dh = dh + stream.to_inputs(residuals[place][0])[..., : self.layer.neurons]
        state = tuple(map(np.asarray, (dh, *others)))
        return StepBack(state, sums, residuals, reached[0] if reached else None)

    def vjp(self, U: ArrayLike) -> Array:
        """Return the adjoint of the derivative of h^1 … h^T in θ, at U (T, S, H): (P,).

        It is back-propagation through time: with U = ∂L/∂h it is the gradient of L.

        Raises:
            ValueError: U of another shape, or a result that leaves the range of floating point.

        """
        U = real_array("U", U, 3)
        if U.shape != self.hidden[1:].shape:
            raise Refusal(
                text(
                    "`U` must be a change of each state, (T, S, H) = {expected}; got {shape}.",
                    expected=self.hidden[1:].shape,
                    shape=U.shape,
                )
            )
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            gradient = self._vjp(U)
        if not np.isfinite(gradient).all():
            raise Refusal(text("The gradient through time exceeds the largest float."))
        return gradient

    def _vjp(self, U: Array) -> Array:
        _, S, H = U.shape
        T = self.steps
        layer, stretch = self.layer, self._stretch
        grads = [_Gradient(stream) for stream in self.streams]
        ahead: dict[int, list[Array]] = {place: [] for place in self._ahead}
        memory = np.zeros((2, H))
        change: State = tuple(np.zeros((S, H)) for _ in self.states)
        for t in range(T - 1, -1, -1):
            back = self.back(t, (change[0] + U[t], *change[1:]))
            for place, (R, extra) in back.residuals.items():
                grads[place].add(self._steps[t].points[place], back.sums[place], R, extra)
            for place, later in ahead.items():
                later.append(back.sums[place])
                if t % stretch == 0:
                    U_ahead = later[0][None] if len(later) == 1 else np.stack(later[::-1])
                    at = self._ahead[place][t // stretch]
                    steps = slice(t, t + stretch)
                    stream = holding(self.streams[place], self.statistics, place, steps)
                    grads[place].add(at, U_ahead, *stream.residual(U_ahead, at))
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

    def _shared(self, place: int) -> Held:
        """What the sequences share in one product, or last in the memory, at all steps."""
        if not self.layer.normalizer.shared_by_cases:
            return Held(None, None)
        each = []
        for t, step in enumerate(self._steps):
            if place == len(self.streams) and self.memory_stream and step.memory:
                each.append(self.memory_stream.shared(step.memory, self.states[1][t + 1]))
            else:
                X = self.reads(self.layer.cell.products[place], t)
                each.append(self.streams[place].shared(self.point(place, t), X))
        parts = (list(part) for part in zip(*each, strict=True))
        return Held(*(None if part[0] is None else np.stack(part) for part in parts))


class _Gradient:
    """Sums over the steps of the parts for W̃ in blocks, b and g of one product."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.W, self.b = np.zeros_like(stream.W_centered), np.zeros_like(stream.b)
        self.g = None if stream.g is None else np.zeros_like(stream.g)

    def add(self, at: Point, U: Array, R: Array, extra: Array | None) -> None:
        """Add a step, or several, of sums whose adjoint is U."""
        K, D = R.shape[-1], at.inputs.shape[-1]
        self.W += (R.reshape(-1, K).T @ at.inputs.reshape(-1, D)).reshape(self.W.shape)
        if extra is not None:
            self.W += extra.reshape(-1, *self.W.shape).sum(axis=0)
        sums = U.reshape(-1, K)
        self.b += sums.sum(axis=0)
        if self.g is not None:
            self.g += np.einsum("nk,nk->k", self.stream.joined(at.z).reshape(-1, K), sums)
