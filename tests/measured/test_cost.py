"""Calls are counted: there are as many as announced, and a stop keeps what is measured."""

import tracemalloc

import numpy as np
import pytest

import normgeo
from normgeo.base.progress import Stop
from normgeo.base.refusal import Refusal
from normgeo.measured.notes import notes_on
from tests.measured.networks import NETWORKS
from tests.measured.test_verdicts import SEED, signs


class Counted:
    """A function that counts its calls."""

    def __init__(self, f):
        self.f, self.calls = f, 0

    def __call__(self, *arguments):
        self.calls += 1
        return self.f(*arguments)


@pytest.mark.exhaustive
def test_calls_are_about_as_many_as_told(subtests):
    for name, known in NETWORKS.items():
        with subtests.test(name=name):
            f, parameters = Counted(known.f), known.draw(np.random.default_rng(SEED))
            table = normgeo.measure(f, parameters)
            told = normgeo.measuring_cost(parameters).passes
            assert table.calls == f.calls
            assert 0.7 * told < f.calls < 1.4 * told


def network(rows):
    X = np.random.default_rng(0).standard_normal((30, 4))
    rng = np.random.default_rng(1)
    parameters = {"W": rng.standard_normal((rows, 4)), "V": rng.standard_normal((3, rows))}
    return Counted(lambda p: np.tanh(X @ p["W"].T) @ p["V"].T), parameters


def test_more_rows_take_no_more_calls():
    calls = []
    for rows in (16, 512):
        f, parameters = network(rows)
        normgeo.measure(f, parameters)
        calls.append(f.calls)
    assert abs(calls[0] - calls[1]) <= 4
    assert calls[1] < 60


def test_rows_that_are_not_looked_at_alone_are_told():
    f, parameters = network(64)
    table = normgeo.measure(f, parameters)
    one = table.tensors["W"]
    assert len(one.untried) == 64
    assert len(table.tensors["V"].rows) == 3
    on_all = (
        "In 1 of 2 tensors each group of rows that was tried moves the outputs, and not every "
        "row was looked at alone. Larger `tries` look at more."
    )
    assert [note for note in table.notes() if "group" in note] == [on_all]
    sentence = (
        "'W': 64 of 64 rows were tried in groups only, which move (0, 1, 2, 3, 4, 5, 6, 7, …)."
    )
    assert notes_on(one, ()) == [sentence]


def test_rows_that_are_not_looked_at_alone_beside_others_that_are_keep_their_own_sentence():
    X = np.random.default_rng(0).standard_normal((30, 4))

    def f(parameters):
        W = parameters["W"]
        lengths = np.linalg.norm(W, axis=1, keepdims=True)
        lengths[40:] = 1  # the first 40 rows may be scaled
        return X @ (W / lengths).T

    W = np.random.default_rng(1).standard_normal((64, 4))
    table = normgeo.measure(f, {"W": W}, tries=4)
    one = table.tensors["W"]
    assert any(verdict.ignored for verdict in one.rows.values())
    assert one.untried
    note = next(note for note in table.notes() if "group" in note)
    assert note.startswith(f"'W': {len(one.untried)} of 64 rows were tried in groups only")


def test_one_row_of_many_is_found_by_halving():
    """63 rows with a norm by rows and one without take about 2 log₂ 64 groups."""
    X = np.random.default_rng(0).standard_normal((30, 4))

    def f(parameters):
        W = parameters["W"]
        lengths = np.linalg.norm(W, axis=1, keepdims=True)
        lengths[37] = 1
        return X @ (W / lengths).T

    counted = Counted(f)
    W = np.random.default_rng(1).standard_normal((64, 4))
    one = normgeo.measure(counted, {"W": W}, tries=16).tensors["W"]
    assert [row for row, verdict in one.rows.items() if not verdict.ignored] == [37]
    assert one.untried == ()
    assert counted.calls < 64 + 20


def test_several_inputs_are_told_as_one_pass():
    known = NETWORKS["layer_norm_before"]
    parameters = known.draw(np.random.default_rng(SEED))
    one = normgeo.measure(known.f, parameters)
    two = normgeo.measure(lambda p, _: known.f(p), parameters, ["a", "b"])
    assert two.calls == 2 * one.calls


def test_memory_is_at_most_what_was_told():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4, 500)).astype(np.float32)
    tracemalloc.start()
    try:
        for kind in (np.float32, np.float64):
            p = {n: rng.standard_normal((500, 500)).astype(kind) for n in "UVW"}
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            normgeo.measure(lambda p: X @ p["U"] @ p["V"] @ p["W"], p, tries=0)
            peak = tracemalloc.get_traced_memory()[1] - before
            told = normgeo.measuring_cost(p).bytes
            assert 0.4 * told < peak <= told
    finally:
        tracemalloc.stop()


def test_progress_is_told_and_comes_to_its_end():
    known = NETWORKS["layer_norm_after"]
    heard = []
    normgeo.measure(
        known.f,
        known.draw(np.random.default_rng(SEED)),
        progress=lambda done, steps: heard.append((done, steps)),
    )
    assert heard == sorted(heard)
    assert len({steps for _, steps in heard}) == 1
    assert heard[-1][0] == heard[-1][1]


@pytest.mark.parametrize("at", [1, 30, 70, 110, 150])
def test_stop_keeps_a_part_that_goes_on_to_the_same_table(at):
    known = NETWORKS["layer_norm_after"]
    parameters = known.draw(np.random.default_rng(SEED))
    whole = normgeo.measure(known.f, parameters)
    assert whole.calls > at if at < 150 else whole.calls

    def stop(done, steps):
        if done >= at:
            raise Stop

    part = normgeo.measure(known.f, parameters, progress=stop)
    rest = normgeo.measure(known.f, parameters, resume=part)
    assert rest.complete
    assert {n: signs(one) for n, one in rest.tensors.items()} == known.signs
    assert rest.trades == whole.trades
    assert rest.roles == whole.roles
    if not part.complete:
        assert part.trades == ()
        assert "Measured in part" in str(part)
        with pytest.raises(Refusal, match=r"^Groups follow from the whole table, and this one is"):
            part.groups()
    for name, one in part.tensors.items():
        assert rest.tensors[name] is one


def test_only_a_table_of_the_same_network_is_gone_on_with():
    known = NETWORKS["layer_norm_after"]
    parameters = known.draw(np.random.default_rng(SEED))

    def stop(done, steps):
        if done >= 60:
            raise Stop

    part = normgeo.measure(known.f, parameters, progress=stop)
    assert part.tensors
    others = {"W": 2.0 * parameters["W"]}
    for changed, options in ((parameters | others, {}), (parameters, {"seed": 1})):
        with pytest.raises(Refusal, match=r"^`resume` must be a table of the same network"):
            normgeo.measure(known.f, changed, resume=part, **options)
