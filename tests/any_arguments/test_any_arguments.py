"""For any arguments, a public function answers or refuses.

There is no other exception, no warning, and no endless call. An answer has the promised shape, and
finite numbers unless a reason says why there are none. The calls are stated in the other files of
this folder, one for each package.
"""

from __future__ import annotations

import _thread
import math
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from inspect import signature
from time import monotonic, sleep
from typing import Any

import numpy as np
import pandas
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import normgeo as ng
from normgeo.base.refusal import Refusal

from . import (
    checkpoints,
    datasets,
    dynamics,
    fisher,
    invariance,
    measured,
    models,
    networks,
    normalizers,
    null_directions,
    recordings,
    sequences,
)
from .anything import Silent, a_model, anything, fisher_of_a_model
from .calls import CALLS

PACKAGES = (
    datasets,
    normalizers,
    invariance,
    models,
    fisher,
    null_directions,
    dynamics,
    networks,
    sequences,
    recordings,
    checkpoints,
    measured,
)
"""The files that state the calls of a package, by its name."""

LONGEST = 30.0
"""Seconds that a call may take at the sizes drawn here; usually it takes milliseconds."""

LONGEST_SENTENCE = 600
"""Longest refusal, in characters."""


class Watch:
    """Fails a call that does not end within so many seconds.

    One thread looks at the clock for all calls: to start one costs more than most calls.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds, self.late, self._end = seconds, False, math.inf
        self._between = threading.Lock()
        # A job in the background of a shell ignores interrupts, these among them.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        threading.Thread(target=self._look, daemon=True).start()

    def _look(self) -> None:
        while True:
            sleep(self.seconds / 10)
            with self._between:
                if monotonic() > self._end:
                    self.late, self._end = True, math.inf
                    _thread.interrupt_main()

    @contextmanager
    def on(self) -> Iterator[None]:
        """Watch what happens inside."""
        self.late, self._end = False, monotonic() + self.seconds
        try:
            yield
        except KeyboardInterrupt:
            if not self.late:
                raise
            pytest.fail(f"no end after {self.seconds:g} s", pytrace=False)
        finally:
            with self._between:
                self._end = math.inf


@cache
def the_watch() -> Watch:
    """The one of this process."""
    return Watch(LONGEST)


def test_a_call_without_an_end_fails() -> None:
    watch = Watch(0.5)

    def endless() -> None:
        while True:
            sleep(0.01)

    with pytest.raises(pytest.fail.Exception, match=r"no end after 0\.5 s"), watch.on():
        endless()
    with watch.on():
        sleep(0.3)
    sleep(0.5)  # what has ended in time is not late


# All public names.

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
    ng.MeasuredTable: "measure",
    ng.MeasuringCost: "measuring_cost",
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
"""Classes that users do not construct, and the call that returns one."""


def test_every_public_name_is_called_here() -> None:
    """A new function or class must state here its arguments and its promises."""
    assert {one.draw.__module__ for one in CALLS.values()} == {one.__name__ for one in PACKAGES}
    constants = {name for name in ng.__all__ if name.isupper() or name == "TABLE_1"}
    called = {name.partition(".")[0] for name in CALLS}
    answered = {kind.__name__ for kind in ANSWERS}
    assert {*ng.__all__} == constants | called | answered
    assert {*ANSWERS.values()} <= {*CALLS}


@pytest.mark.parametrize("name", CALLS)
def test_every_argument_of_a_call_is_drawn(name: str) -> None:
    """So that a new parameter is not left out; `name` is for readers."""
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


def examples(count: int) -> settings:
    return settings(
        max_examples=count,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.explicit, Phase.generate),
    )


@pytest.mark.parametrize("name", CALLS)
@examples(6)
@given(data=st.data())
def test_call_answers_or_refuses(name: str, data: st.DataObject) -> None:
    drawn_call(name, data)


def test_what_once_ended_otherwise_is_refused(subtests: pytest.Subtests) -> None:
    endless, no_axis = np.broadcast_to(1.0, (10**12, 3)), np.array(1.0)
    for name, argument, value in (
        ("Rows", "source", endless),
        ("Rows", "source", [endless]),
        ("Rows", "source", np.zeros((2, 0))),
        ("Rows", "dtype", Silent()),
        ("Network.random", "widths", no_axis),
        ("Network.loss_and_gradient", "X", [[1.0], [1.0, 2.0]]),
        ("Recurrence.random", "spectral_radius", 1e308),
        ("batch_drift", "batches", np.timedelta64(3, "s")),
        ("certify", "shape", b"abc"),
        ("invariance_table", "transforms", None),
        ("sweep", "dtype", Silent()),
        ("sweep", "index", np.eye(4)),
        ("layer_report", "eigenvalues", np.ones(3)),
        ("load_layer", "files", "x" * 10**6),
        ("load_layer", "padding", no_axis),
        ("read_recording", "path", "\ud800"),
        ("record_checkpoints", "files", no_axis),
        ("run_cell", "start", endless),
    ):
        with subtests.test(name=name, argument=argument):
            assert not answer_or_refusal(name, fitting(name) | {argument: value})


def test_what_answers_are_asked_is_refused_too(subtests: pytest.Subtests) -> None:
    model, X = a_model(), np.eye(5, 3) + 1
    explanation = ng.explain(model, X, ng.null_space(fisher_of_a_model()))
    run = ng.descend(model, X, np.ones((5, 4)), steps=2, rate=0.1, block=0)
    asked: dict[str, Callable[[Any], object]] = {
        "reason": explanation.reason,
        "model_at": run.model_at,
        "of_block": run.of_block,
        "homogeneous_blocks": model.normalizer.homogeneous_blocks,
        "scaled": ng.Rows.of(X).scaled,
        "blocks": lambda size: list(ng.Rows.of(X).blocks([size])),
    }
    for name, ask in asked.items():
        for value in (None, 10**5000, "\x1b", [1], np.eye(3), pandas.NA, Silent()):
            with subtests.test(name=name, value=type(value)), pytest.raises(Refusal):
                ask(value)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", CALLS)
@examples(30)
@given(data=st.data())
def test_each_of_3_000_calls_answers_or_refuses(name: str, data: st.DataObject) -> None:
    drawn_call(name, data)


def drawn_call(name: str, data: st.DataObject) -> None:
    """Call it with valid arguments, at most one of them replaced by anything."""
    try:
        arguments = CALLS[name].draw(data.draw)
    except Refusal:
        return  # the arguments of the call are already refused
    replaceable = sorted({*arguments} - {"self"})
    wrong = data.draw(st.sets(st.sampled_from(replaceable), max_size=1)) if replaceable else ()
    for argument in wrong:
        kinds = anything()
        arguments[argument] = kinds[data.draw(st.integers(0, 999), label=argument) % len(kinds)]
    if not any(is_own(argument, arguments[argument]) for argument in wrong):
        answer_or_refusal(name, arguments)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", CALLS)
def test_call_answers_or_refuses_whatever_one_argument_is(
    name: str, subtests: pytest.Subtests
) -> None:
    """Each argument in turn is replaced by a value of every kind, in some 60,000 calls."""
    for argument in fitting(name).keys() - {"self"}:
        with subtests.test(argument=argument):
            for value in anything():
                if not is_own(argument, value):
                    answer_or_refusal(name, fitting(name) | {argument: value})


@cache
def fitting(name: str) -> dict[str, Any]:
    """Valid arguments, always the same ones."""
    found: list[dict[str, Any]] = []

    @settings(max_examples=20, derandomize=True, database=None, phases=(Phase.generate,))
    @given(st.data())
    def look(data: st.DataObject) -> None:
        with suppress(Refusal):
            found.append(CALLS[name].draw(data.draw))

    look()
    return found[0]


def is_own(argument: str, value: Any) -> bool:
    """Whether an error comes from a callback that was passed."""
    return callable(value) and argument in {"f", "progress", "source"}


def answer_or_refusal(name: str, arguments: dict[str, Any]) -> bool:
    """Call it, and return whether it answers; fail for a wrong answer or a wrong refusal."""
    called = CALLS[name]
    self = arguments.pop("self", None)
    bound = () if self is None else (self,)
    with the_watch().on():
        try:
            answer = called.function(*bound, **arguments)
        except Refusal as refusal:
            sentence = str(refusal.args[0])
            assert sentence.isprintable(), sentence
            assert len(sentence) < LONGEST_SENTENCE, sentence[:LONGEST_SENTENCE]
            return False
        called.check(answer, arguments | ({} if self is None else {"self": self}))
        return True
