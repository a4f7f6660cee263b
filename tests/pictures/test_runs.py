"""The pictures of runs on the Learning rate page, against closed forms and loops of their own."""

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
from normgeo.settings import Settings

NAMES = ("descent", "equilibrium", "twin", "spiral")
LAWFUL = [key for key, normalizer in NORMALIZERS.items() if normalizer.scale != "none"]
QUICK = Settings(dataset="wine", neurons=6, steps=20)


def picture(name: str, settings: Settings) -> Any:
    return PICTURES[name].compute(settings)


def figure(name: str, settings: Settings) -> Any:
    return PICTURES[name].figure(picture(name, settings), "light")


def sentence_of(name: str, settings: Settings) -> str:
    with pytest.raises(ValueError, match=r".") as caught:
        picture(name, settings)
    return str(caught.value)


def words(fig: Any) -> str:
    return re.sub(r"\s|<br>", " ", " ".join(a.text for a in fig.layout.annotations))


def lines(fig: Any, panel: int) -> dict[str, Any]:
    """The lines of a panel by name, a list of them for each."""
    found: dict[str, Any] = {}
    for trace in fig.data:
        if (trace.yaxis or "y").removeprefix("y") in {str(panel), "" if panel == 1 else "-"}:
            found.setdefault(trace.name, []).append(trace)
    return found


def tangents(settings: Settings) -> list[float]:
    """tan of the first turns from norms 1, 2 and 4."""
    return [float(np.tan(run.angles[0, 0])) for run in picture("descent", settings).runs]


# Training with every optimizer.


@pytest.mark.parametrize("optimizer", ["gradient_descent", "momentum"])
@pytest.mark.parametrize("decay", [0.0, 0.05])
@pytest.mark.parametrize("batch", [0, 32])
@pytest.mark.parametrize("method", ["batch", "layer", "weight"])
def test_norm_and_angle_obey_the_law_of_the_optimizer(
    optimizer: str, decay: float, batch: int, method: str
) -> None:
    settings = replace(QUICK, method=method, optimizer=optimizer, decay=decay, mini_batch=batch)
    for run in picture("descent", settings).runs:
        np.testing.assert_allclose(run.norms, run.predicted_norms, rtol=1e-9)
        np.testing.assert_allclose(run.angles, run.predicted_angles, rtol=1e-5)


def test_descent_with_decay_is_a_plain_loop() -> None:
    """An own loop: θ ← (1 − ηλ)θ − ηG on W, θ ← θ − ηG on g and b."""
    settings = replace(QUICK, method="layer", decay=0.1, rate=0.3, steps=7)
    it = block_on_data(settings)
    for norm, run in zip((1.0, 2.0, 4.0), picture("descent", settings).runs, strict=True):
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


@pytest.mark.parametrize("method", ["batch", "layer", "weight"])
def test_first_turn_falls_as_the_square_of_the_norm_but_for_adam_as_the_norm(method: str) -> None:
    for optimizer in OPTIMIZERS:
        one, two, four = tangents(replace(QUICK, method=method, optimizer=optimizer))
        power = 1 if optimizer.startswith("adam") else 2
        rel = 0.03 if power == 1 else 1e-9
        assert two / one == pytest.approx(2.0**-power, rel=rel)
        assert four / one == pytest.approx(4.0**-power, rel=rel)
        drawn = figure("descent", replace(QUICK, method=method, optimizer=optimizer))
        (slope,) = re.findall(r"to the power −(\d\.\d\d)", words(drawn))
        assert float(slope) == pytest.approx(power, abs=0.04)


def test_a_rate_of_zero_is_one_that_suits_the_optimizer() -> None:
    first = {key: tangents(replace(QUICK, optimizer=key))[0] for key in OPTIMIZERS}
    # The longest of all first steps is half of ŵ; that of this block is a part of it.
    assert 0.1 < first["gradient_descent"] <= 0.5
    assert first["momentum"] == pytest.approx(0.1 * first["gradient_descent"])
    assert first["adam"] == pytest.approx(0.1, rel=0.02)
    assert tangents(replace(QUICK, optimizer="adam", rate=0.02))[0] < first["adam"]


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_every_optimizer_learns_from_every_start(optimizer: str) -> None:
    settings = Settings(dataset="wine", optimizer=optimizer)
    for run in picture("descent", settings).runs:
        assert run.diverged is None
        assert run.loss[-1] < 0.5 * run.loss[0]


def test_adam_says_that_its_norm_has_no_law() -> None:
    settings = replace(QUICK, optimizer="adam")
    drawn = figure("descent", settings)
    assert "predicted" not in lines(drawn, 2)
    assert len(lines(drawn, 3)["predicted"]) == 3
    assert "no law for the norm" in words(drawn)
    table = PICTURES["descent"].table(picture("descent", settings))
    assert {row[table.columns.index("predicted_norm")] for row in table.rows} == {None}


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_figure_says_what_the_law_assumes(optimizer: str) -> None:
    drawn = figure("descent", replace(QUICK, optimizer=optimizer))
    assert OPTIMIZERS[optimizer].assumes in words(drawn)
    assert f"{OPTIMIZERS[optimizer].title} on all parameters" in words(drawn)


def test_mini_batches_come_from_the_seed_and_are_named() -> None:
    settings = replace(QUICK, mini_batch=16)
    first, again = (picture("descent", settings).runs[0].loss for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert (first != picture("descent", replace(settings, seed=1)).runs[0].loss).any()
    assert "mini-batches of 16" in words(figure("descent", settings))
    assert "all 178 cases" in words(figure("descent", QUICK))


# Play, step, rewind.


def buttons(menus: Any) -> dict[str, Any]:
    (menu,) = menus
    return {button.label: button.args for button in menu.buttons}


def test_buttons_of_every_frame_go_to_the_frames_next_to_it() -> None:
    drawn = figure("descent", replace(QUICK, steps=30))
    names = [frame.name for frame in drawn.frames]
    assert names == [str(step) for step in range(31)]
    assert buttons(drawn.layout.updatemenus) == buttons(drawn.frames[0].layout.updatemenus)
    for place, frame in enumerate(drawn.frames):
        to = {
            label: frames and list(frames)
            for label, (frames, _) in buttons(frame.layout.updatemenus).items()
        }
        assert to == {
            "rewind": ["0"],
            "◀ step": [str(max(place - 1, 0))],
            "▶ play": None,
            "❚❚": [None],
            "step ▶": [str(min(place + 1, 30))],
        }


def test_a_hundred_steps_are_single_and_a_thousand_are_some() -> None:
    assert len(figure("descent", replace(QUICK, steps=100)).frames) == 101
    many = figure("descent", Settings(dataset="plane", steps=1000)).frames
    assert len(many) == 101
    assert [frame.name for frame in many[:2]] == ["0", "10"]


# Equilibrium.


@pytest.mark.parametrize("method", ["batch", "layer", "weight"])
def test_simulation_settles_where_growth_and_decay_balance(method: str) -> None:
    result = picture("equilibrium", Settings(dataset="wine", method=method))
    run = result.real[0]
    eta, decay, square = run.rate, run.decay, result.gradient_norm**2
    star = (eta * square / (decay * (2 - eta * decay))) ** 0.25
    for course in result.courses()[0]:
        assert course.settled_norm == pytest.approx(star, rel=0.02)
        assert course.settled_angle == pytest.approx(np.arccos(1 - eta * decay), rel=0.02)
    assert [course.norms[0] for course in result.courses()[0]] == pytest.approx([1, 2, 4])


def test_gradient_of_the_simulation_is_that_of_the_real_runs() -> None:
    result = picture("equilibrium", QUICK)
    halves = [
        run.norms[t, 0] * run.gradient_norms[t, 0] for run in result.real for t in range(10, 20)
    ]
    assert result.gradient_norm == pytest.approx(np.sqrt(np.mean(np.square(halves))))
    assert all(run.gradient_norm == result.gradient_norm for run in result.simulated)


def test_real_runs_settle_near_the_prediction_and_keep_the_mean_cosine() -> None:
    result = picture("equilibrium", Settings(method="layer"))
    star = float(result.predicted.norm)
    for course in result.courses()[1]:
        assert course.settled_norm == pytest.approx(star, rel=0.05)
    cosines = [np.cos(run.angles[t, 0]) for run in result.real for t in range(50, 100)]
    mean = np.prod(cosines) ** (1 / len(cosines))
    assert result.mean_cosine() == pytest.approx(mean)
    assert mean == pytest.approx(1 - result.real[0].rate * result.real[0].decay, abs=2e-3)


def test_momentum_and_adamw_settle_at_their_angles() -> None:
    momentum = picture("equilibrium", Settings(dataset="wine", optimizer="momentum", steps=300))
    eta, decay = momentum.real[0].rate, momentum.real[0].decay
    assert float(momentum.predicted.angle) == pytest.approx(np.arccos(1 - eta * decay / 1.9))
    for course in momentum.courses()[0]:
        assert course.settled_angle == pytest.approx(np.arccos(1 - eta * decay / 1.9), rel=0.03)
    adamw = picture("equilibrium", Settings(dataset="wine", optimizer="adamw", steps=300))
    kept = 1 - adamw.real[0].rate * adamw.real[0].decay
    angle = np.arccos((kept + 0.9) / (1 + 0.9 * kept))
    for course in adamw.courses()[0]:
        assert course.settled_angle == pytest.approx(angle, rel=0.05)


def test_adam_has_no_equilibrium_law_and_points_to_adamw() -> None:
    result = picture("equilibrium", replace(QUICK, optimizer="adam"))
    assert result.predicted is None
    drawn = PICTURES["equilibrium"].figure(result, "light")
    assert "predicted" not in lines(drawn, 1)
    assert "AdamW, whose decay stands apart, has one." in words(drawn)


def test_equilibrium_labels_what_is_simulated_and_says_how_far_it_is_off() -> None:
    result = picture("equilibrium", Settings(dataset="wine", method="layer"))
    drawn = PICTURES["equilibrium"].figure(result, "light")
    assert "<b>simulation</b>: a gradient of constant √Γ" in words(drawn)
    assert "<b>real</b>: Wine, mini-batches of 32" in words(drawn)
    off = re.findall(r"off by up to ([\d.]+) %", words(drawn))
    for found, courses in zip(off, result.courses(), strict=True):
        star = float(result.predicted.norm)
        worst = max(abs(np.sqrt(np.mean(c.norms[50:] ** 2)) / star - 1) for c in courses)
        assert float(found) == pytest.approx(100 * worst, abs=0.06)
    for panel, level in ((1, star), (3, np.degrees(float(result.predicted.angle)))):
        (dashed,) = lines(drawn, panel)["predicted"]
        assert dashed.line.dash == "dash"
        assert dashed.y == pytest.approx([level, level], rel=1e-6)


@pytest.mark.parametrize("name", ["equilibrium", "twin"])
def test_no_decay_has_a_sentence(name: str) -> None:
    assert sentence_of(name, replace(QUICK, decay=0)) == (
        "Without weight decay nothing holds the growth of the norm, and there is nothing to see "
        "here. Choose a weight decay λ above 0, or leave it open."
    )


@pytest.mark.parametrize("name", ["equilibrium", "twin"])
def test_decay_that_turns_the_weights_round_has_a_sentence(name: str) -> None:
    assert sentence_of(name, replace(QUICK, decay=4, rate=0.5)) == (
        "A step of decay multiplies the weights by 1 − ηλ, which must be above 0 to keep their "
        "direction; got η = 0.5 and λ = 4, so ηλ = 2. Choose a smaller λ, or leave it open."
    )


@pytest.mark.parametrize("name", NAMES)
def test_mini_batch_of_more_cases_than_there_are_has_a_sentence(name: str) -> None:
    assert sentence_of(name, replace(QUICK, mini_batch=1000)) == (
        "A mini-batch has at most the 178 cases of the data; got mini_batch=1000. Choose a "
        "smaller one, or 0 for all cases."
    )


def test_too_few_steps_for_an_equilibrium_have_a_sentence() -> None:
    assert sentence_of("equilibrium", replace(QUICK, steps=2)) == (
        "An equilibrium takes 4 steps or more, and the runs have 2. Take more steps, or a smaller "
        "step size η."
    )


# The twin.


@pytest.mark.parametrize("method", LAWFUL)
def test_twin_turns_as_the_run_with_decay(method: str) -> None:
    result = picture("twin", replace(QUICK, method=method))
    decayed, scheduled = result.twin.decayed, result.twin.scheduled
    for step in (0, 7, 20):
        U, V = (run.vectors()[step] for run in (decayed, scheduled))
        U, V = (M / np.linalg.norm(M, axis=1, keepdims=True) for M in (U, V))
        assert np.abs(U - V).max() < 1e-9
        assert decayed.loss[step] == pytest.approx(scheduled.loss[step], rel=1e-9)
    assert result.apart < 1e-9
    assert result.twin.parted is None


def test_twin_rate_and_norm_grow_as_powers() -> None:
    result = picture("twin", replace(QUICK, rate=0.01, decay=2))
    rates = [0.01 * (1 - 0.02) ** (-2 * t - 1) for t in range(21)]
    np.testing.assert_allclose(result.twin.scheduled.rates, rates)
    growth = result.twin.scheduled.norms[:, 0] / result.twin.decayed.norms[:, 0]
    np.testing.assert_allclose(growth, [0.98**-t for t in range(21)], rtol=1e-9)


def test_default_rate_of_the_twin_grows_by_two_orders_of_magnitude() -> None:
    result = picture("twin", Settings(dataset="wine"))
    assert result.twin.scheduled.rates[-1] / result.twin.decayed.rates[0] > 100
    assert result.apart < 1e-12


def test_chaotic_twins_part_at_a_step_that_is_said() -> None:
    settings = Settings(dataset="wine", rate=0.65, decay=0.06)
    result = picture("twin", settings)
    far = [step for step in range(101) if (result.twin.angles[step] > 1e-9).any()]
    assert 10 < far[0] < 90
    drawn = PICTURES["twin"].figure(result, "light")
    assert f"from step {far[0]} on" in words(drawn)
    assert "rounding grows" in words(drawn)


def test_twin_with_eps_says_that_the_law_does_not_hold() -> None:
    assert "with ε = 0.1 the length" in words(figure("twin", replace(QUICK, eps=0.1)))


# The spiral.


@pytest.mark.parametrize("method", LAWFUL)
def test_radius_of_the_spiral_is_pythagoras(method: str) -> None:
    result = picture("spiral", replace(QUICK, method=method))
    squares = np.cumsum([1.0, *(result.run.rate * result.run.gradient_norms[:, 0]) ** 2])
    np.testing.assert_allclose(result.radii, np.sqrt(squares), rtol=1e-9)
    np.testing.assert_allclose(result.predicted_radii, np.sqrt(squares), rtol=1e-9)
    assert (np.diff(result.radii) > 0).all()


def test_every_step_of_the_unrolled_path_is_tangent_and_as_long_as_measured() -> None:
    result = picture("spiral", QUICK)
    drawn = PICTURES["spiral"].figure(result, "light")
    (path,) = (trace for trace in drawn.data if trace.name == "path, unrolled")
    points = np.column_stack([path.x, path.y]).astype(float)
    steps = np.diff(points, axis=0)
    assert np.abs((points[:-1] * steps).sum(axis=1)).max() < 1e-6
    lengths = result.run.rate * result.run.gradient_norms[:, 0]
    np.testing.assert_allclose(np.linalg.norm(steps, axis=1), lengths, rtol=1e-4, atol=1e-6)


def test_shadow_is_the_projection_on_the_start_and_the_first_step() -> None:
    result = picture("spiral", QUICK)
    path = result.run.vectors()[:, 0]
    first = path[1] - path[0]
    axes = np.stack([path[0] / np.linalg.norm(path[0]), first / np.linalg.norm(first)])
    np.testing.assert_allclose(result.plane.coordinates, path @ axes.T, atol=1e-9)


def test_two_features_have_no_shadow_but_their_path() -> None:
    names = [trace.name for trace in figure("spiral", Settings(dataset="plane", steps=20)).data]
    assert "its shadow on the plane of the first step" not in names
    names = [trace.name for trace in figure("spiral", QUICK).data]
    assert "its shadow on the plane of the first step" in names


# All of them.


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("rate", [0.0, 1e6])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_wild_runs_are_drawn_or_explained(name: str, rate: float, optimizer: str) -> None:
    sentences: set[str] = set()
    for dataset in ("linnerud_reversed", "plane"):
        for decay in (None, 0.5):
            settings = Settings(
                dataset=dataset, rate=rate, optimizer=optimizer, decay=decay, steps=10
            )
            try:
                result = picture(name, settings)
            except ValueError as error:
                sentences.add(str(error))
                continue
            spec = PICTURES[name].figure(result, "dark").to_plotly_json()
            assert "nan" not in str(spec["layout"]).lower()
            assert PICTURES[name].table(result).rows
    assert all(sentence.endswith(".") for sentence in sentences)


@pytest.mark.parametrize("name", NAMES)
def test_stopped_runs_keep_what_they_have(name: str) -> None:
    def stop(done: int, steps: int) -> None:
        if done >= 15:
            raise Stop

    result = PICTURES[name].compute(QUICK, stop)
    assert PICTURES[name].figure(result, "light").data
    assert PICTURES[name].table(result).rows


@pytest.mark.parametrize("name", NAMES)
def test_progress_ends_where_it_is_done(name: str) -> None:
    told: list[tuple[int, int]] = []
    PICTURES[name].compute(QUICK, lambda *progress: told.append(progress))
    assert told[-1][0] == told[-1][1]
    assert [done for done, _ in told] == sorted(done for done, _ in told)


@pytest.mark.parametrize("name", NAMES)
def test_recipe_and_payload(name: str) -> None:
    settings = Settings(dataset="plane", steps=2000, decay=0.01, mini_batch=50, rate=0.05, seed=2)
    result = picture(name, settings)
    again = Settings.from_recipe(PICTURES[name].recipe(settings)["settings"])
    assert PICTURES[name].table(picture(name, again)) == PICTURES[name].table(result)
    assert len(PICTURES[name].figure(result, "light").to_json()) < 300_000


def test_runs_that_end_in_their_first_step_say_so_in_place_of_angles():
    settings = Settings(dataset="wine", family="poisson", rate=1e6, steps=5)
    view = PICTURES["descent"]
    picture = view.compute(settings)
    assert [run.steps for run in picture.runs] == [0, 0, 0]
    words = " ".join(note.text for note in view.figure(picture, "light").layout.annotations)
    assert "no run completed a step" in words
    assert "Runs that ended early: from 1 at step 1, from 2 at step 1, from 4 at step 1." in words
    calm = view.figure(view.compute(Settings(dataset="wine", steps=5)), "light")
    assert "no run" not in " ".join(note.text for note in calm.layout.annotations)
