"""Pictures of cells: how far a change reaches back, what they learn, and longer sequences."""

import pickle
from dataclasses import replace

import cloudpickle
import numpy as np
import pytest

from normgeo import NORMALIZERS, SequenceModel, load_sequences, run_cell, train_sequences
from normgeo.base.cache import size_of
from normgeo.base.progress import Progress, Stop
from normgeo.pictures import PICTURES
from normgeo.pictures.recurrent import learning, longer, sequence_runs
from normgeo.pictures.recurrent.cells import Reaching
from normgeo.pictures.recurrent.learning import Learned, Learning
from normgeo.pictures.recurrent.longer import Longer, Read
from normgeo.pictures.recurrent.recurrences import LARGEST
from normgeo.pictures.recurrent.sequence_runs import SEEDS, Course, Setup
from normgeo.settings import Settings

WHOLE = Course((), 120, paused=False)
QUICK = Settings(task="rows", rnn="tanh", sequences=8, neurons=6, seed=3)
STEPS = 40  # a point of a curve for each two


@pytest.fixture(scope="module", autouse=True)
def short():
    """Runs are as short as their curves allow."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sequence_runs.STEPS, "rows", STEPS)
        yield


def eps(method):
    found = NORMALIZERS[method]
    return replace(found, eps=1e-5) if found.scaling.takes_eps else found


@pytest.fixture(scope="module")
def learned():
    return PICTURES["learning"].compute(QUICK)


def by_hand(method, seed):
    data = load_sequences("rows", seed=seed)
    rng = np.random.default_rng(seed)
    start = SequenceModel.random("tanh", eps(method), 6, 8, 10, rng)
    return data, train_sequences(
        start, data, batch_size=8, steps=STEPS, rate=0.02, seed=seed, tests=1
    )


@pytest.mark.exhaustive
def test_curves_are_the_runs_of_each_method_from_each_seed(learned):
    assert [one.normalizer.title for one in learned.methods] == [
        "standard", "layer norm", "batch norm"
    ]  # fmt: skip
    for one, method in zip(learned.methods, ("standard", "layer", "batch"), strict=True):
        assert one.losses.shape == (SEEDS, len(one.steps))
        for place in range(SEEDS):
            _, run = by_hand(method, 3 + place)
            means = run.train_loss.reshape(20, 2).mean(axis=1)
            np.testing.assert_allclose(one.losses[place], means, rtol=1e-9)
            assert one.accuracy[place] == pytest.approx(run.test_accuracy[-1])
        assert one.steps.tolist() == list(range(2, STEPS + 1, 2))
        assert (np.diff(one.seconds) > 0).all()


def test_figure_shows_both_axes_and_says_what_was_done(learned, captions):
    figure = PICTURES["learning"].figure(learned, "light")
    lines = [trace for trace in figure.data if trace.name]
    assert figure.data[-len(lines) :] == tuple(lines), "no band lies over a line"
    assert [line.name for line in lines] == ["standard", "layer norm", "batch norm"] * 2
    for line, one in zip(lines, learned.methods * 2, strict=True):
        np.testing.assert_allclose(line.y, one.losses.mean(axis=0))
        np.testing.assert_allclose(line.x, one.seconds if line.xaxis == "x2" else one.steps)
    assert "batches of 8, first gain 1, Adam at η = 0.02" in captions("learning", learned).replace(
        "\N{NO-BREAK SPACE}", " "
    )


def test_batch_of_one_has_a_reason_where_it_has_no_curve(captions):
    result = PICTURES["learning"].compute(replace(QUICK, sequences=1, method="layer"))
    lacking = {one.normalizer.title: one.reason for one in result.methods}
    assert lacking["batch norm"].startswith("A batch mean is taken over the cases")
    assert lacking["standard"] == lacking["layer norm"] == ""
    words = captions("learning", result)
    assert "batch norm: A batch mean is taken over the cases" in words


def told(name, key, losses):
    """A method with made losses, (seeds, points)."""
    losses = np.array(losses, float)
    if name == "learning":
        steps = 60 * np.arange(1, losses.shape[1] + 1)
        seeds = tuple(range(len(losses)))
        return Learned(NORMALIZERS[key], steps, losses, steps, losses[:, -1], seeds, "")
    return Read(NORMALIZERS[key], 120, losses, tuple(range(len(losses))), "")


def test_headline_names_a_method_only_where_no_seed_disagrees():
    standard = told("learning", "standard", [[3, 1.1], [3, 1.3]])

    def said(*methods):
        return Learning(methods, Setup.of(QUICK), WHOLE).said

    for lows, words in (
        ([0.8, 1.0], "layer norm is ahead: a loss of 0.9 (layer norm), 1.2 (standard)."),
        ([0.7, 1.3], "no method is clearly ahead: a loss of 1 (layer norm), 1.2 (standard)."),
    ):
        layer = told("learning", "layer", [[3, low] for low in lows])
        assert said(standard, layer) == (f"After 120 steps {words}",)
    assert said(standard) == ("After 120 steps the loss is 1.2 (standard).",)
    assert said() == ()
    farther = told("learning", "batch", [[3, 2, 1.5]])
    assert said(standard, farther) == ("After 180 steps the loss is 1.5 (batch norm).",)


def test_headline_of_longer_sequences_compares_the_end_with_the_end_of_training():
    methods = told("longer", "layer", [[9, 1, 1, 3], [9, 3, 9, 5]]), told("longer", "batch", [])
    result = Longer(methods, np.array([4, 8, 16, 32]), 8, True, Setup.of(QUICK), WHOLE)
    assert result.said == ("4 times as long as trained, the loss is × 2 (layer norm).",)


def test_headline_of_cells_counts_what_dies_and_explodes():
    made = {"tanh": (-3, 1, 2.5), "lstm": (-1.9, 0, 9), "gru": (-np.inf, 2.1, -2.1)}
    methods = {key: NORMALIZERS[key] for key in ("standard", "layer", "batch")}
    curves = {
        cell: {key: np.array([log, 0.0]) for key, log in zip(methods, logs, strict=True)}
        for cell, logs in made.items()
    }
    result = Reaching(np.array([0, 64]), curves, methods, 6, 1.0)
    assert result.said == (
        "In 64 steps a change of the state dies in 2 of 3 cells (standard), 1 of 3 cells "
        "(batch norm).",
        "It explodes in 1 of 3 cells (layer norm), 2 of 3 cells (batch norm).",
    )
    one = result._replace(curves={"lstm": {"layer": np.zeros(2)}})
    assert one.said[1] == "It explodes in no cell."
    assert result._replace(curves={"lstm": {}}).said == ()
    figure = PICTURES["cells"].figure(result, "light")
    assert "<b>It explodes in 1 of 3 cells" in figure.layout.annotations[0].text
    assert {(band.y0, band.y1) for band in figure.layout.shapes} == {(-2, 2)}


def test_stop_keeps_the_runs_that_came_to_their_end(subtests):
    for name in ["learning", "longer"]:
        with subtests.test(name=name):

            def stop(done, steps):
                if done > 0.5 * steps:
                    raise Stop

            result = PICTURES[name].compute(QUICK, stop)
            assert [len(one.losses) for one in result.methods] == [SEEDS, 1]
            never = PICTURES[name].compute(QUICK, lambda done, steps: (_ for _ in ()).throw(Stop))
            assert [len(one.losses) for one in never.methods] == [0]
            figure = PICTURES[name].figure(never, "dark")
            assert "Stopped before a run came to its end." in figure.layout.annotations[-1].text


def same(found, expected):
    """Bit for bit, but for the seconds that steps took."""
    assert [one.seeds for one in found.methods] == [one.seeds for one in expected.methods]
    for one, other in zip(found.methods, expected.methods, strict=True):
        np.testing.assert_array_equal(one.losses, other.losses)
        np.testing.assert_array_equal(one.steps, other.steps)
        np.testing.assert_array_equal(one.accuracy, other.accuracy)
    for mine, theirs in zip(found.course.runs, expected.course.runs, strict=True):
        for place, run in theirs.histories.items():
            np.testing.assert_array_equal(mine.histories[place].model.pack(), run.model.pack())


def stop_after(share):
    def stop(done, steps):
        if done >= share * steps:
            raise Stop

    return Progress(stop)


@pytest.mark.parametrize(
    "share",
    [0.5, *(pytest.param(share, marks=pytest.mark.exhaustive) for share in (0.0, 0.03, 0.97))],
)
def test_a_run_that_was_stopped_goes_on_as_if_it_had_not_been(learned, share):
    paused = PICTURES["learning"].compute(QUICK, stop_after(share))
    assert paused.course.paused
    # As a page has it: through a worker, there and back.
    sent = pickle.loads(cloudpickle.dumps(paused))
    again = learning.go_on(QUICK, sent, stop_after(0.4))
    assert again.course.paused
    same(learning.go_on(QUICK, again, Progress()), learned)
    same(learning.go_on(QUICK, paused, Progress()), learned)


def test_more_steps_after_the_end_are_those_of_a_longer_run(monkeypatch):
    monkeypatch.setitem(sequence_runs.STEPS, "rows", 10)
    learned = PICTURES["learning"].compute(QUICK)
    halfway = learning.go_on(QUICK, learned, stop_after(0.5))
    assert [one.steps[-1] for one in halfway.methods] == [20, 20, 10], "whole runs are drawn"
    assert [len(one.losses) for one in halfway.methods] == [SEEDS, 1, SEEDS]
    more = learning.go_on(QUICK, halfway, Progress())
    monkeypatch.setitem(sequence_runs.STEPS, "rows", 20)
    same(more, PICTURES["learning"].compute(QUICK))
    assert all((np.diff(one.seconds) > 0).all() for one in more.methods)
    assert len(learned.course.runs[0].histories[0].train_loss) == 10, (
        "what it began with is as it was"
    )


def test_what_is_kept_to_go_on_with_is_small(monkeypatch):
    monkeypatch.setattr(sequence_runs, "SEEDS", 1)
    monkeypatch.setitem(sequence_runs.STEPS, "rows", 1)
    result = PICTURES["learning"].compute(Settings(task="rows", rnn="lstm", neurons=LARGEST))
    assert 3 * size_of(result.course) < 16e6


def test_digits_are_read_at_several_lengths_by_what_was_trained(monkeypatch):
    monkeypatch.setattr(sequence_runs, "SEEDS", 1)
    result = PICTURES["longer"].compute(QUICK)
    assert result.steps.tolist() == [8, 16, 32, 64]
    for one, method in zip(result.methods, ("standard", "layer", "batch"), strict=True):
        data, run = by_hand(method, 3)
        for steps, loss in zip(result.steps, one.losses[0], strict=True):
            X = np.repeat(data.X_test[:128], steps // 8, axis=1)
            hidden = run_cell(run.model.layer, X, statistics=run.statistics, beyond="last").hidden[
                -1
            ]
            told = run.model.output.log_likelihood(hidden, data.y_test[:128])
            assert loss == pytest.approx(-told, rel=1e-9)
    figure = PICTURES["longer"].figure(result, "light")
    assert figure.layout.shapes[0].x0 == 8


@pytest.mark.exhaustive
def test_longer_sequences_go_on_with_the_training_that_was_stopped(monkeypatch, captions):
    monkeypatch.setattr(sequence_runs, "SEEDS", 2)
    monkeypatch.setitem(sequence_runs.STEPS, "rows", 10)
    whole = PICTURES["longer"].compute(QUICK)
    paused = pickle.loads(cloudpickle.dumps(PICTURES["longer"].compute(QUICK, stop_after(0.6))))
    assert [len(one.losses) for one in paused.methods] == [2, 1]

    def same_losses(found, expected):
        for one, other in zip(found.compared, expected.compared, strict=True):
            assert (one.normalizer, one.seeds) == (other.normalizer, other.seeds)
            np.testing.assert_array_equal(one.losses, other.losses)

    same_losses(longer.go_on(QUICK, paused, Progress()), whole)
    halfway = longer.go_on(QUICK, whole, stop_after(0.6))
    assert [one.after for one in halfway.compared] == [20, 20]
    assert [one.seeds for one in halfway.compared] == [(3, 4), (3,)], "one seed is on its way"
    words = captions("longer", halfway)
    assert "Trained with 20 batches. Not yet as far: batch norm." in words
    more = longer.go_on(QUICK, halfway, Progress())
    monkeypatch.setitem(sequence_runs.STEPS, "rows", 20)
    same_losses(more, PICTURES["longer"].compute(QUICK))
    assert len(more.compared) == 3


def test_each_method_reads_before_the_next_is_trained(monkeypatch):
    """All of them take seconds, in which the bar would stand at its end."""
    told, shares = [], []
    read = longer._read
    monkeypatch.setattr(longer, "_read", lambda *given: shares.append(told[-1]) or read(*given))
    PICTURES["longer"].compute(QUICK, lambda done, steps: told.append(done / steps))
    assert len(shares) == 3 * SEEDS
    np.testing.assert_allclose(shares[::SEEDS], [1 / 3, 2 / 3, 1], atol=0.01)


def test_letters_are_told_step_by_step_eight_times_as_far(monkeypatch):
    monkeypatch.setattr(sequence_runs, "SEEDS", 1)
    monkeypatch.setitem(sequence_runs.STEPS, "letters", 3)
    result = PICTURES["longer"].compute(replace(QUICK, task="letters"))
    assert result.steps.tolist() == list(range(4, 129, 4))
    assert all(one.losses.shape == (1, 32) for one in result.methods)


def test_change_reaches_back_as_the_power_of_one_matrix():
    """Without a norm a tanh cell of tiny gain forgets; the line ends at 0, ‖∂h^T/∂h^T‖ = 1."""
    result = PICTURES["cells"].compute(Settings(neurons=6, length=16))
    assert [*result.curves] == ["tanh", "lstm", "gru"]
    assert result.times.tolist() == list(range(17))
    for own in result.curves.values():
        assert [*own] == ["standard", "layer", "batch"]
        assert all(logs[-1] == 0 for logs in own.values())
    weaker = PICTURES["cells"].compute(Settings(neurons=6, length=16, first_gain=0.1))
    for cell in ("tanh", "lstm"):
        assert weaker.curves[cell]["layer"][0] < result.curves[cell]["layer"][0] - 0.3
        np.testing.assert_array_equal(
            weaker.curves[cell]["standard"], result.curves[cell]["standard"]
        )


def test_cells_stop_after_a_cell():
    told = []

    def stop(done, steps):
        told.append(done / steps)
        if done / steps > 0.5:
            raise Stop

    result = PICTURES["cells"].compute(Settings(neurons=6, length=16), Progress(stop))
    assert set(result.curves) <= {"tanh", "lstm"}
    PICTURES["cells"].figure(result, "light")
    PICTURES["cells"].table(result)


def test_too_many_neurons_are_refused_before_they_are_trained(subtests):
    for name in ["cells", "learning", "longer"]:
        with subtests.test(name=name):
            for neurons in (1, 256):
                with pytest.raises(
                    ValueError, match=r"^Cells are trained with 2 to 64 neurons here"
                ):
                    PICTURES[name].cost(Settings(neurons=neurons))
