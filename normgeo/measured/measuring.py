"""`measure`: find which changes of its parameters a network ignores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from time import process_time
from typing import Any, final

import numpy as np

from normgeo.base.arguments import entries, flag, instance_of, seed_number, shown, whole_number
from normgeo.base.budget import Budget, Cost, memory
from normgeo.base.numbers import number
from normgeo.base.progress import Progress, Report, Stop
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.measured.changes import Maker
from normgeo.measured.judging import Judge
from normgeo.measured.parameters import (
    Neurons,
    Tensor,
    measurable,
    require_axes,
    require_names,
    tensors_of,
)
from normgeo.measured.roles import CANDIDATES, Roles
from normgeo.measured.running import Running, length
from normgeo.measured.shifts import READERS, Shifts
from normgeo.measured.table import MeasuredTable, Options
from normgeo.measured.tensor import MeasuredTensor, measure_tensor
from normgeo.measured.trade import Trade
from normgeo.measured.trades import Trades

MOST_INPUTS = 256
"""The most inputs: each costs a call of the function for every change."""

TREES = 1 << 20
"""Bytes that are kept besides the arrays."""


@final
@dataclass(frozen=True)
class MeasuringCost:
    """What a measurement costs, from the shapes of the parameters alone.

    Attributes:
        passes: about how many forward passes, each with all inputs. bytes: of memory at its
            peak, beyond the parameters and what the function itself takes.

    """

    passes: int
    bytes: int

    def __str__(self) -> str:
        return text(
            "about {passes} forward passes and {memory} of memory",
            passes=self.passes,
            memory=memory(self.bytes),
        )


def measuring_cost(parameters: Any, *, neurons: Neurons = 0, tries: int = 4) -> MeasuringCost:
    """Return what `measure` would cost, without calling the function.

    Args:
        parameters, neurons, tries: as in `measure`.

    >>> print(measuring_cost({"W": np.ones((3, 2))}))
    about 25 forward passes and 1 MB of memory

    """
    neurons = require_axes(neurons)
    tries = whole_number("tries", tries)
    arrays = measurable(parameters)
    tensors = tensors_of(arrays, neurons)
    return _cost(tensors, tries)


def _cost(tensors: Mapping[str, Tensor], tries: int, *, widen: bool = True) -> MeasuringCost:
    """Add up the steps that most tensors need until there is a verdict."""
    lengths = [
        tensor.along(axis)
        for tensor in tensors.values()
        for axis in (tensor.rows, tensor.columns)
        if axis is not None
    ]
    passes = 5 + len(tensors) + sum(lengths.count(length) > 1 for length in lengths)
    candidates = min(CANDIDATES, sum(not tensor.is_vector for tensor in tensors.values()))
    for tensor in tensors.values():
        passes += 10 + tries  # noise, rows, groups of rows, all rows, a shift, a trade
        if tensor.is_vector:
            passes += 4 + 2 * candidates + READERS  # with 0 and −1 in its place, as a shift
        else:
            passes += 5 + (tensor.values.ndim > 2)  # by columns, and with a number for each row
    sizes = [tensor.values.size for tensor in tensors.values()]
    narrow = widen and any(tensor.values.dtype != np.float64 for tensor in tensors.values())
    return MeasuringCost(passes, TREES + 8 * ((1 + narrow) * sum(sizes) + 3 * max(sizes)))


def measure(
    f: Callable[..., Any],
    parameters: Any,
    inputs: Any = None,
    *,
    neurons: Neurons = 0,
    embeddings: Iterable[str] = (),
    matrices: Iterable[str] | None = None,
    negative: bool = False,
    tries: int = 4,
    float64: bool = True,
    seed: int = 0,
    budget: Budget | None = None,
    progress: Report | Progress | None = None,
    resume: MeasuredTable | None = None,
) -> MeasuredTable:
    """Measure which changes of its parameters a network ignores: Table 1 of your own network.

    Each tensor is changed on a copy, and the outputs are compared. Names decide nothing.

    Args:
        f: parameters → outputs: an array of floats, or several in dictionaries, lists or tuples.
        parameters: arrays of any library in dictionaries, lists and tuples. f gets arrays of the
            same library in containers of the same kind.
        inputs: several inputs; f(parameters, x) is then called for each x.
        neurons: the axis that counts the neurons, 0 as in PyTorch or −1 as in Flax; or a mapping
            of the names of some tensors to their axes; for the others it is 0.
        embeddings: names of tensors whose rows are picked by tokens or places. No change of weights
            distinguishes a number added to a whole row from one that a weight adds to its neuron.
        matrices: names of the tensors that are weights of a layer with one output or one input, as
            (1, D, 1, 1) or (H, 1); other tensors with a single long axis are vectors. No change
            distinguishes a gain from a weight with one row. None for (1, D) alone.
        negative: whether factors are below 0. tries: groups of rows that are tried by themselves
            if not all are ignored; rows of a group that moves are reported as not tried.
        float64: whether to run the network in float64 if it can, whatever type its parameters have.
        seed: of the changes. budget: what it may cost. progress: called after each call of f; a
            stop leaves a part of the table. resume: such a part, to continue.

    Raises:
        ValueError: bad arguments; a function that does not answer the same twice, answers with no
            finite floats, or writes to its parameters; more than the budget allows.

    Source: Ba, Kiros and Hinton 2016, section 5.1, for a network in place of a layer.

    >>> def f(parameters):  # layer norm after W, at ε = 0
    ...     a = np.array([[1.0, 2.0], [0.5, -1.0], [3.0, 1.0]]) @ parameters["W"].T
    ...     c = a - a.mean(axis=1, keepdims=True)
    ...     return c / np.sqrt((c**2).mean(axis=1, keepdims=True))
    >>> table = measure(f, {"W": np.array([[1.0, -2.0], [0.5, 3.0], [2.0, 0.1], [-1.0, 1.0]])})
    >>> [verdict.sign for verdict in table.tensors["W"].verdicts.values()]
    ['✓', '✗', '✓', '✗', '✗', '✗']

    """
    if not callable(f):
        raise Refusal("`f` must be a function of the parameters; got {f}.", f=shown(f))
    options = Options(
        require_axes(neurons),
        whole_number("tries", tries),
        seed_number(seed),
        flag("negative", negative),
        require_names("embeddings", embeddings),
        None if matrices is None else require_names("matrices", matrices),
    )
    several = None if inputs is None else entries("inputs", inputs, text("inputs"))
    if several is not None and not 0 < len(several) <= MOST_INPUTS:
        raise Refusal(
            "`inputs` must hold 1 to {most} inputs; got {count}. Put more cases into each.",
            most=MOST_INPUTS,
            count=len(several),
        )
    widen = flag("float64", float64)
    if budget is not None:
        instance_of("budget", budget, Budget)
    seen = tensors_of(measurable(parameters), options.neurons, options.matrices)
    cost = _cost(seen, options.tries, widen=widen)
    _require(budget, Cost(cost.bytes))
    steps = cost.passes * len(several or (1,))
    with np.errstate(all="ignore"):  # numbers beyond floats count as infinite
        started = process_time()
        running = Running(f, parameters, several, options.neurons, options.matrices, widen=widen)
        judge = Judge(running, options.seed)
        seconds = (process_time() - started) / running.calls * steps
        _require(budget, Cost(cost.bytes, seconds))
        return _measured(judge, options, resume, Progress.of(progress), steps)


def _measured(
    judge: Judge,
    options: Options,
    resume: MeasuredTable | None,
    progress: Progress,
    steps: int,
) -> MeasuredTable:
    """Measure what is still missing: tensors one by one, then roles, then trades."""
    running = judge.running
    measured, roles = _from(resume, running, options)
    trades: tuple[Trade, ...] = ()
    complete = False

    def told() -> None:
        if not progress.tell(min(running.calls, steps - 1), steps):
            raise Stop

    running.told = told
    try:
        for name, tensor in running.tensors.items():
            if name not in measured:
                maker = Maker(judge, tensor, options.negative)
                measured[name] = measure_tensor(maker, options.tries)
        judge.forget()
        found = Roles(judge)
        for name in running.tensors:
            if name not in roles:
                roles[name] = found.of(name)
        search = judge, measured, roles
        scalings = Trades(*search)
        trades = scalings.find() + Shifts(*search).find()
        measured |= {name: measured[name].not_nearly() for name in scalings.grown}
        complete = True
        progress.tell(steps, steps)
    except Stop:
        pass
    return MeasuredTable(
        measured,
        roles,
        trades,
        complete,
        judge.rounding,
        tuple(sorted(running.kinds)),
        running.calls + (resume.calls if resume else 0),
        length(running.base),
        options,
        tuple(running.tensors),
    )


def _require(budget: Budget | None, cost: Cost) -> None:
    if budget is not None and not budget.allows(cost):
        raise Refusal(
            "A measurement would take about {cost}; `budget` allows {seconds} s and "
            "{memory}. Give the function fewer inputs or tensors (the others it can hold "
            "itself), lower `tries`, or allow more.",
            cost=cost if cost.seconds else memory(cost.bytes),
            seconds=number(budget.seconds, 2),
            memory=memory(budget.bytes),
        )


def _from(
    resume: MeasuredTable | None, running: Running, options: Options
) -> tuple[dict[str, MeasuredTensor], dict[str, str]]:
    """Return what is already measured; refuse a table of another network."""
    if resume is None:
        return {}, {}
    instance_of("resume", resume, MeasuredTable)
    shapes = {name: tensor.values.shape for name, tensor in running.tensors.items()}
    if (
        resume.names != tuple(running.tensors)
        or any(shapes[name] != one.shape for name, one in resume.tensors.items())
        or resume.options != options
        or abs(length(running.base) / resume.length - 1) > 1000 * running.unit
    ):
        raise Refusal(
            "`resume` must be a table of the same network, parameters, inputs and options; "
            "this one has other names, shapes, options or outputs. Measure from the start."
        )
    return dict(resume.tensors), dict(resume.roles)
