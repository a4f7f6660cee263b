"""Whatever the arguments, a public function answers or refuses.

No other exception, no warning, and no call without an end. An answer has the shape that is
promised, and numbers where no reason says why there is none. The calls are stated beside this, in
a file for each package.
"""

from __future__ import annotations

import _thread
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import cache
from inspect import signature
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import normgeo as ng
from normgeo.base.refusal import Refusal

from . import (
    datasets,
    depth,
    dynamics,
    fisher,
    invariance,
    layers,
    models,
    normalizers,
    recordings,
    sequences,
    symmetry,
)
from .calls import CALLS

PACKAGES = (
    datasets,
    normalizers,
    invariance,
    models,
    fisher,
    symmetry,
    dynamics,
    depth,
    sequences,
    recordings,
    layers,
)
"""The files that state the calls of a package, by its name."""

LONGEST = 30.0
"""Seconds that a call may take at the sizes drawn here: they take milliseconds."""

EXAMPLES = 12


@contextmanager
def watched(seconds: float) -> Iterator[None]:
    """Fail a call that has not come to an end after so many seconds."""
    late = threading.Event()

    def interrupt() -> None:
        late.set()
        _thread.interrupt_main()

    timer = threading.Timer(seconds, interrupt)
    timer.start()
    try:
        yield
    except KeyboardInterrupt:
        if not late.is_set():
            raise
        pytest.fail(f"no end after {seconds:g} s", pytrace=False)
    finally:
        timer.cancel()


# What anybody may put anywhere.


def anything() -> tuple[Any, ...]:
    """Values of every kind, the extreme and the wrong ones; made anew, since some have a state."""
    return (
        None,
        True,
        False,
        0,
        1,
        -1,
        2.5,
        float("nan"),
        float("inf"),
        -float("inf"),
        1e308,
        -1e-300,
        5e-324,
        2**63,
        10**9 + 1,
        10**400,
        -(10**400),
        Fraction(1, 3),
        np.float32(0.5),
        np.float16(2),
        np.int8(2),
        np.True_,
        1j,
        "",
        "gaussian",
        "⟦",
        b"layer",
        (),
        [],
        {},
        [[]],
        [1.0],
        [1, 2],
        [[1.0]],
        [[1.0], [1.0, 2.0]],
        [[float("nan"), 1.0]],
        [[10**400, 1]],
        [None, None],
        ["a", "b"],
        np.zeros((0, 3)),
        np.ones((2, 2, 2)),
        np.ones((3, 2), dtype=np.longdouble),
        np.array("a"),
        np.array(1.0),
        np.ma.masked,
        np.ma.masked_array(np.ones((4, 3)), mask=np.eye(4, 3)),
        np.ones(4, dtype="M8[s]"),
        range(3),
        {1, 2},
        object(),
        int,
        lambda *numbers: None,
        ng.NORMALIZERS["layer"],
        ng.NORMALIZERS["standard"],
        ng.TRANSFORMS["case_rescaling"],
        ng.FAMILIES["poisson"],
        ng.OPTIMIZERS["adam"],
        ng.Constant(0.1),
        np.random.default_rng(0),
        a_model(),
        fisher_of_a_model(),
    )


KINDS = 61  # of `anything`


@cache
def a_model() -> ng.NormalizedGLM:
    rng = np.random.default_rng(0)
    return ng.NormalizedGLM.random(ng.NORMALIZERS["layer"], "gaussian", 4, 3, rng)


@cache
def fisher_of_a_model() -> ng.Fisher:
    return ng.fisher(a_model(), np.eye(5, 3) + 1)


# All of them.

ANSWERS = {
    ng.AngularUpdates: "angular_updates",
    ng.BlockFinding: "findings",
    ng.Recording: "read_recording",
    ng.Balance: "simulate_balance",
    ng.CellRun: "run_cell",
    ng.Comparison: "compare",
    ng.ConvolutionHistory: "train_convolution",
    ng.RotationalEquilibrium: "rotational_equilibrium",
    ng.DecayAsSchedule: "decay_as_schedule",
    ng.DoublingRow: "doubling_table",
    ng.Explanation: "explain",
    ng.Fisher: "fisher",
    ng.Fit: "fit",
    ng.GainMetric: "gain_metric",
    ng.History: "train",
    ng.Ignored: "residual_ignored",
    ng.LayerReport: "layer_report",
    ng.Normalized: "Normalizer.normalize",
    ng.NullSpace: "null_space",
    ng.PlanePath: "plane_path",
    ng.PlaceStatistics: "place_statistics",
    ng.Spectrum: "spectrum",
    ng.SequenceHistory: "train_sequences",
    ng.Signals: "signals",
    ng.StepStatistics: "CellRun.own_statistics",
    ng.Trajectory: "descend",
    ng.Witness: "smallest_witness",
}
"""Classes that nobody makes by hand, and the call that answers with one."""


def test_every_public_name_is_called_here() -> None:
    """A new function or class states here what it takes and what it promises."""
    assert {one.draw.__module__ for one in CALLS.values()} == {one.__name__ for one in PACKAGES}
    constants = {name for name in ng.__all__ if name.isupper() or name == "TABLE_1"}
    called = {name.partition(".")[0] for name in CALLS}
    answered = {kind.__name__ for kind in ANSWERS}
    assert {*ng.__all__} == constants | called | answered
    assert {*ANSWERS.values()} <= {*CALLS}


@pytest.mark.parametrize("name", CALLS)
def test_every_argument_of_a_call_is_drawn(name: str) -> None:
    """So that none is left out when a parameter is added; `name` is for people to read."""
    taken = {*signature(CALLS[name].function).parameters} - {"name", "tolerance"}
    drawn: dict[str, Any] = {}

    @settings(max_examples=10, derandomize=True, database=None)
    @given(st.data())
    def look(data: st.DataObject) -> None:
        try:
            drawn.update(CALLS[name].draw(data.draw))
        except Refusal:
            return

    look()
    assert {*drawn} | {"tolerance"} == taken | {"tolerance"}


@pytest.mark.parametrize("name", CALLS)
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.generate),
)
@given(data=st.data())
def test_call_answers_or_refuses(name: str, data: st.DataObject) -> None:
    called = CALLS[name]
    try:
        arguments = called.draw(data.draw)
    except Refusal:
        return  # what the call would be made with is refused already
    replaceable = sorted({*arguments} - {"self"})
    wrong = data.draw(st.sets(st.sampled_from(replaceable), max_size=1)) if replaceable else ()
    for argument in wrong:
        arguments[argument] = anything()[data.draw(st.integers(0, KINDS - 1), label=argument)]
    self = arguments.pop("self", None)
    bound = () if self is None else (self,)
    with watched(LONGEST):
        try:
            answer = called.function(*bound, **arguments)
        except Refusal:
            return
        called.check(answer, arguments | ({} if self is None else {"self": self}))
