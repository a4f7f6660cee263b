"""A recurrent layer over sequences, step by step.

    s_i^t = g_i z_i^t + b_i,    state^t = step(s^t, state^{t−1})

Products that read only the inputs are computed for several steps at once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from normgeo.base.arguments import instance_of
from normgeo.base.arrays import Array, real_array, require_room
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.sequences.cell_run import CellRun, Step
from normgeo.sequences.layer import CellLayer
from normgeo.sequences.step_statistics import MEMORY, StepStatistics, holding
from normgeo.sequences.stream import Point, Stream

LARGEST = 1e150  # squares of larger sums overflow
ROUNDING = 1e-12  # fraction of a size, far more than the rounding of a sum

STRETCH = 2**15
"""Entries of a product computed ahead at once: more do not fit into a processor's caches."""


def run_cell(
    layer: CellLayer,
    X: ArrayLike,
    start: Sequence[ArrayLike] | None = None,
    *,
    statistics: StepStatistics | None = None,
    beyond: str = "refuse",
) -> CellRun:
    """Run a recurrent layer over sequences.

    Args:
        layer: with its parameters. X: S sequences of T steps of F features, (S, T, F).
        start: h⁰, and c⁰ if the cell has one, (S, H) each; None for zeros. With h⁰ = 0 a layer
            statistic needs ε > 0, since W_h h⁰ = 0 has no spread.
        statistics: of other sequences, for test time, instead of those that these sequences share
            at each step; None for their own.
        beyond: for steps after the last statistics: "refuse", or "last" to use the last.

    Raises:
        ValueError: bad shapes or numbers, an undefined z for this number of sequences, a σ that
            vanishes (the message names the step), or a state that overflows.

    >>> from normgeo import NORMALIZERS
    >>> layer = CellLayer("tanh", NORMALIZERS["layer"], [([[1, 0, 0], [0, 1, 0]], [0, 0], None)])
    >>> np.round(run_cell(layer, [[[3.0]]], (np.array([[0.0, 1.0]]),)).hidden[1], 4)
    array([[-0.7616,  0.7616]])

    """
    instance_of("layer", layer, CellLayer)
    inputs = _time_first(X, layer.features)
    T, S, _ = inputs.shape
    H, cell = layer.neurons, layer.cell
    require_room(text("The states of all steps"), T, S, 16 * H)
    states = tuple(np.zeros((T + 1, S, H)) for _ in range(cell.states))
    for each, first in zip(states, _checked_start(start, cell.states, S, H), strict=True):
        each[0] = first
    safe = _within_floats(layer, inputs, states)
    streams, memory = layer.streams(), layer.memory_stream()
    if statistics is None:
        layer.require_defined(S)
    else:
        instance_of("statistics", statistics, StepStatistics)
        statistics.require_fits(streams if memory is None else (*streams, memory))
        statistics = statistics.covering(T, beyond)
    ahead: dict[int, list[Point]] = {
        p: [] for p, each in enumerate(cell.products) if not each.state
    }
    stretch = min(T, max(1, STRETCH // max(S * len(stream.b) for stream in streams)))
    steps: list[Step] = []
    with np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
        for t in range(T):
            if t % stretch == 0:
                known = _taken_ahead(streams, statistics, inputs, slice(t, t + stretch), ahead)
            points: dict[int, Point] = {}
            sums = []
            for index, product in enumerate(cell.products):
                if index in ahead:
                    sums.append(known[index][t % stretch])
                    continue
                stream = holding(streams[index], statistics, index, t)
                points[index] = stream.point(product.reads(states[0][t], inputs[t]))
                sums.append(stream.sums(points[index]))
            shown: list[Point] = []

            def inner(c: Array, t: int = t, shown: list[Point] = shown) -> Array:
                if memory is None:
                    return c
                stream = holding(memory, statistics, MEMORY, t)
                shown.append(stream.point(c))
                return stream.sums(shown[0])

            after, kept = cell.step(sums, tuple(each[t] for each in states), inner)
            for each, value in zip(states, after, strict=True):
                each[t + 1] = value
            steps.append(Step(kept, shown[0] if shown else None, points))
    run = CellRun(layer, inputs, statistics, states, streams, memory, steps, ahead, stretch)
    if not safe:
        _require_spread(run)
    _require_finite(run)
    return run


def _taken_ahead(
    streams: tuple[Stream, ...],
    statistics: StepStatistics | None,
    inputs: Array,
    steps: slice,
    ahead: dict[int, list[Point]],
) -> dict[int, Array]:
    """Compute the products that read only inputs, for several steps at once; return their sums."""
    known = {}
    for index, points in ahead.items():
        stream = holding(streams[index], statistics, index, steps)
        points.append(stream.point(inputs[steps]))
        known[index] = stream.sums(points[-1])
    return known


def _time_first(X: ArrayLike, features: int) -> Array:
    inputs = real_array("X", X, 3)
    if inputs.shape[2] != features:
        raise Refusal(
            "`X` (S, T, F) must have {F} features at each step; got an array of shape {shape}.",
            F=features,
            shape=inputs.shape,
        )
    return np.ascontiguousarray(inputs.swapaxes(0, 1), dtype=np.float64)


def _checked_start(start: object, states: int, S: int, H: int) -> tuple[Array, ...]:
    if start is None:
        return (np.zeros((S, H)),) * states
    parts = start if isinstance(start, list | tuple) else (start,)
    if isinstance(start, np.ndarray) and start.ndim:
        parts = tuple(start[: states + 1])
    given = tuple(real_array(f"start[{i}]", each, 2) for i, each in enumerate(parts))
    if [each.shape for each in given] != [(S, H)] * states:
        raise Refusal(
            "`start` must hold {states} arrays of a state for each of the {S} sequences, shape "
            "{expected}; got {shapes}.",
            states=states,
            S=S,
            expected=(S, H),
            shapes=", ".join(str(each.shape) for each in given) or text("nothing"),
        )
    return given


def _within_floats(layer: CellLayer, inputs: Array, states: tuple[Array, ...]) -> bool:
    """Whether, by the sizes of all factors, no σ can be mere rounding.

    Raises:
        ValueError: sizes whose squares may overflow.

    """
    # |h| and the terms a step adds to c are at most 1, except for the start.
    largest = max(float(np.abs(inputs).max()), *(float(np.abs(each).max()) for each in states))
    largest += len(inputs)
    safe, scale, eps = True, layer.normalizer.scaling, float(layer.normalizer.added_eps)
    for W, b, g in layer.all_units:
        with np.errstate(over="ignore"):
            size = float(max(W.shape[1], 1) * np.abs(W).max(initial=1.0)) * largest
            sums = size * float(np.abs(np.ones(1) if g is None else g).max()) + np.abs(b).max()
        if not sums < LARGEST:
            raise Refusal(
                "A cell takes sums up to {most:.0e}; weights, gains or biases and inputs may "
                "make them {sums:.3g} here. Scale them down.",
                most=LARGEST,
                sums=sums,
            )
        safe = safe and (not scale.divides or eps**0.5 > ROUNDING * size)
    return safe


def _require_spread(run: CellRun) -> None:
    """Raise if a σ vanished or may be rounding, with the step and the reason.

    It judges σ at the step where it is smallest relative to the size of its sums.
    """
    layer, T = run.layer, run.steps
    for index, product in enumerate(layer.cell.products):
        normalizer = layer.whole_normalizer(product)
        if not normalizer.scaling.divides or run.statistics is not None:
            continue
        least = np.array([run.point(index, t).sigma.min() for t in range(T)])
        largest = np.array([np.abs(run.reads(product, t)).max() for t in range(T)])
        bad = np.flatnonzero(~((least > 0) & np.isfinite(least)))
        with np.errstate(invalid="ignore", divide="ignore"):
            t = int(bad[0] if len(bad) else np.argmin(least / largest))
        if not np.isfinite(run.hidden[t]).all():
            continue
        try:
            normalizer.linearize(layer.units[index].W, run.reads(product, t))
        except Refusal as error:
            raise Refusal(
                "Step {t} has no state: {reason}", t=t + 1, reason=error.args[0]
            ) from error


def _require_finite(run: CellRun) -> None:
    lost = np.any([~np.isfinite(each).all(axis=(1, 2)) for each in run.states], axis=0)
    if lost.any():
        raise Refusal(
            "Step {t} has no state: a sum exceeds the largest float, or a memory has no "
            "spread to divide by. Use smaller weights or inputs, or an eps above 0.",
            t=int(np.argmax(lost)),
        )
