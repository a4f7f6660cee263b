"""Training from three norms, against loops of its own."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from normgeo import NORMALIZERS, NormalizedGLM
from normgeo.base.progress import Stop
from normgeo.dynamics.optimizers import OPTIMIZERS
from normgeo.pictures import PICTURES
from normgeo.pictures.learning_rate.block_on_data import at_norm, block_on_data
from normgeo.pictures.style.player import for_script
from normgeo.settings import Settings
from tests.pairwise import loops

DESCENT = PICTURES["descent"]
LAWFUL = [key for key, method in NORMALIZERS.items() if method.homogeneous_blocks(4)]
QUICK = Settings(dataset="wine", neurons=6, steps=20)


def tangents(settings: Settings) -> list[float]:
    """tan of the first turns from norms 1, 2 and 4."""
    runs = DESCENT.compute(settings).runs
    return [float(np.tan(run.angles[0, 0])) for run in runs]


def test_descent_obeys_the_law_of_norms_and_angles(subtests: pytest.Subtests) -> None:
    for method in LAWFUL:
        with subtests.test(method=method):
            for run in DESCENT.compute(replace(QUICK, method=method)).runs:
                np.testing.assert_allclose(run.norms, run.predicted_norms, rtol=1e-9)
                np.testing.assert_allclose(run.angles, run.predicted_angles, rtol=1e-6)


def test_descent_starts_from_one_function_at_norms_one_two_four() -> None:
    runs = DESCENT.compute(QUICK).runs
    assert [run.norms[0, 0] for run in runs] == pytest.approx([1, 2, 4])
    assert [run.loss[0] for run in runs] == pytest.approx([runs[0].loss[0]] * 3)


def test_larger_norm_learns_slower() -> None:
    losses = [run.loss[5] for run in DESCENT.compute(QUICK).runs]
    assert losses == sorted(losses)


def test_ended_run_says_at_which_step_and_why() -> None:
    settings = Settings(dataset="linnerud_reversed", rate=0.2)
    result = DESCENT.compute(settings)
    figure = DESCENT.figure(result, "light")
    words = figure.layout.annotations[0].text.replace("<br>", " ")
    assert "from 1 at step 2" in words
    assert result.runs[0].diverged.reason in words


def test_stopped_descent_keeps_what_it_has_and_is_still_drawn() -> None:
    told = []

    def stop(done: int, steps: int) -> None:
        told.append((done, steps))
        if done >= 25:
            raise Stop

    result = DESCENT.compute(QUICK, stop)
    assert [run.steps for run in result.runs] == [20, 5, 0]
    assert told[:2] == [(0, 60), (1, 60)]
    assert told[-1] == (25, 60)
    assert len(DESCENT.figure(result, "light").frames) == 21
    assert DESCENT.table(result).rows


def test_default_rate_keeps_counts_from_overflowing() -> None:
    runs = DESCENT.compute(Settings(dataset="linnerud_reversed")).runs
    assert [run.diverged for run in runs] == [None] * 3
    assert all(run.loss[-1] < 0.1 * run.loss[0] for run in runs)


def test_descent_frames_put_dots_where_the_runs_are() -> None:
    result = DESCENT.compute(QUICK)
    figure = DESCENT.figure(result, "light")
    for frame in figure.frames:
        step = int(frame.name)
        losses, norms = (
            [run.loss[step] for run in result.runs],
            [run.norms[step, 0] for run in result.runs],
        )
        np.testing.assert_allclose(frame.data[0].y, losses, rtol=1e-4)
        np.testing.assert_allclose(frame.data[1].y, norms, rtol=1e-4)
    assert figure.frames[-1].name == "20"


@pytest.mark.parametrize(
    "rows",
    loops(["gradient_descent", "momentum"], [0.0, 0.05], [0, 32], ["batch", "layer", "weight"]),
)
def test_norm_and_angle_obey_the_law_of_the_optimizer(
    rows: list[Any], subtests: pytest.Subtests
) -> None:
    for optimizer, decay, batch, method in rows:
        with subtests.test(optimizer=optimizer, decay=decay, batch=batch, method=method):
            settings = replace(
                QUICK, method=method, optimizer=optimizer, decay=decay, mini_batch=batch
            )
            for run in DESCENT.compute(settings).runs:
                np.testing.assert_allclose(run.norms, run.predicted_norms, rtol=1e-9)
                np.testing.assert_allclose(run.angles, run.predicted_angles, rtol=1e-5)


def test_descent_with_decay_is_a_plain_loop() -> None:
    """An own loop: θ ← (1 − ηλ)θ − ηG on W, θ ← θ − ηG on g and b."""
    settings = replace(QUICK, method="layer", decay=0.1, rate=0.3, steps=7)
    it = block_on_data(settings)
    for norm, run in zip((1.0, 2.0, 4.0), DESCENT.compute(settings).runs, strict=True):
        model = at_norm(it.model, norm)
        W, b, g = model.W, model.b, model.g
        for step in range(7):
            mean = W - W.mean(axis=0)
            assert run.norms[step, 0] == pytest.approx(np.linalg.norm(mean), rel=1e-9)
            here = NormalizedGLM(model.normalizer, model.family, W, b, g)
            dW, db, dg = here.layout.split(here.gradient(it.X, it.y))
            # The gradient is that of the log-likelihood, which descent climbs.
            W, b = (1 - 0.3 * 0.1) * W + 0.3 * dW, b + 0.3 * db
            g = g + 0.3 * dg


@pytest.mark.parametrize("rows", loops(["batch", "layer", "weight"], OPTIMIZERS, of=1))
def test_first_turn_falls_as_the_square_of_the_norm_but_for_adam_as_the_norm(
    words, figure_of, rows: list[tuple[str, str]]
) -> None:
    for method, optimizer in rows:
        one, two, four = tangents(replace(QUICK, method=method, optimizer=optimizer))
        power = 2 if OPTIMIZERS[optimizer].linear else 1
        rel = 0.03 if power == 1 else 1e-9
        assert two / one == pytest.approx(2.0**-power, rel=rel)
        assert four / one == pytest.approx(4.0**-power, rel=rel)
        drawn = figure_of("descent", replace(QUICK, method=method, optimizer=optimizer))
        (slope,) = re.findall(r"to the power −(\d(?:\.\d+)?)\.", words(drawn))
        assert float(slope) == pytest.approx(power, abs=0.04)


def test_a_rate_of_zero_is_one_that_suits_the_optimizer() -> None:
    first = {key: tangents(replace(QUICK, optimizer=key))[0] for key in OPTIMIZERS}
    # The longest of all first steps is half of ŵ; that of this block is a part of it.
    assert 0.1 < first["gradient_descent"] <= 0.5
    assert first["momentum"] == pytest.approx(0.1 * first["gradient_descent"])
    assert first["adam"] == pytest.approx(0.1, rel=0.02)
    assert tangents(replace(QUICK, optimizer="adam", rate=0.02))[0] < first["adam"]


def test_every_optimizer_learns_from_every_start(subtests: pytest.Subtests) -> None:
    for optimizer in OPTIMIZERS:
        with subtests.test(optimizer=optimizer):
            settings = Settings(dataset="wine", optimizer=optimizer)
            for run in DESCENT.compute(settings).runs:
                assert run.diverged is None
                assert run.loss[-1] < 0.5 * run.loss[0]


def test_adam_says_that_its_norm_has_no_law(words, lines, figure_of) -> None:
    settings = replace(QUICK, optimizer="adam")
    drawn = figure_of("descent", settings)
    assert "predicted" not in lines(drawn, 2)
    assert len(lines(drawn, 3)["predicted"]) == 3
    assert "no prediction for the norm" in words(drawn)
    table = DESCENT.table(DESCENT.compute(settings))
    assert {row[table.columns.index("predicted_norm")] for row in table.rows} == {None}


def test_figure_says_what_the_law_assumes(words, figure_of, subtests: pytest.Subtests) -> None:
    for optimizer in OPTIMIZERS:
        with subtests.test(optimizer=optimizer):
            drawn = figure_of("descent", replace(QUICK, optimizer=optimizer))
            assert OPTIMIZERS[optimizer].assumes in words(drawn)
            assert f"{OPTIMIZERS[optimizer].title} on all parameters" in words(drawn)


def test_mini_batches_come_from_the_seed_and_are_named(words, figure_of) -> None:
    settings = replace(QUICK, mini_batch=16)
    first, again = (DESCENT.compute(settings).runs[0].loss for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert (first != DESCENT.compute(replace(settings, seed=1)).runs[0].loss).any()
    assert "mini-batches of 16" in words(figure_of("descent", settings))
    assert "all 178 cases" in words(figure_of("descent", QUICK))


def test_descent_has_a_frame_for_each_step_and_plays(figure_of) -> None:
    drawn = figure_of("descent", replace(QUICK, steps=30))
    assert [frame.name for frame in drawn.frames] == [str(step) for step in range(31)]
    (menu,) = drawn.layout.updatemenus
    assert [button.label for button in menu.buttons] == ["play", "pause"]
    assert for_script(drawn)["layout"]["meta"]["steps"]["single"]


def test_a_hundred_steps_are_single_and_more_are_some(figure_of) -> None:
    assert len(figure_of("descent", replace(QUICK, steps=100)).frames) == 101
    many = figure_of("descent", replace(QUICK, steps=200)).frames
    assert len(many) == 101
    assert [frame.name for frame in many[:2]] == ["0", "2"]


def test_runs_that_end_in_their_first_step_say_so_in_place_of_angles(words, figure_of) -> None:
    settings = Settings(dataset="wine", family="poisson", rate=1e6, steps=5)
    result = DESCENT.compute(settings)
    assert [run.steps for run in result.runs] == [0, 0, 0]
    said = words(DESCENT.figure(result, "light"))
    assert "no run completed a step" in said
    assert "Runs that ended early: from 1 at step 1, from 2 at step 1, from 4 at step 1." in said
    assert "no run" not in words(figure_of("descent", Settings(dataset="wine", steps=5)))
