"""Growth against weight decay: closed forms of where they balance."""

import re
from dataclasses import replace

import numpy as np
import pytest

from normgeo.dynamics.optimizers import OPTIMIZERS
from normgeo.dynamics.scale_free import ScaleFree
from normgeo.pictures import PICTURES
from normgeo.settings import Settings

EQUILIBRIUM = PICTURES["equilibrium"]
QUICK = Settings(dataset="wine", neurons=6, steps=20)


@pytest.mark.exhaustive
def test_simulation_settles_where_growth_and_decay_balance(subtests: pytest.Subtests) -> None:
    for method in ["batch", "layer", "weight"]:
        with subtests.test(method=method):
            result = EQUILIBRIUM.compute(Settings(dataset="wine", method=method))
            run = result.real[0]
            eta, decay, square = run.rate, run.decay, result.gradient_norm**2
            star = (eta * square / (decay * (2 - eta * decay))) ** 0.25
            for simulated in result.simulated_runs:
                assert simulated.settled.norm == pytest.approx(star, rel=0.02)
                assert simulated.settled.angle == pytest.approx(
                    np.arccos(1 - eta * decay), rel=0.02
                )
            assert [each.norms[0] for each in result.simulated_runs] == pytest.approx([1, 2, 4])


def test_gradient_of_the_simulation_is_that_of_the_real_runs() -> None:
    result = EQUILIBRIUM.compute(QUICK)
    halves = [
        run.norms[t, 0] * run.gradient_norms[t, 0] for run in result.real for t in range(10, 20)
    ]
    assert result.gradient_norm == pytest.approx(np.sqrt(np.mean(np.square(halves))))
    assert all(run.gradient_norm == result.gradient_norm for run in result.simulated)


def test_real_runs_settle_near_the_prediction_and_keep_the_mean_cosine() -> None:
    result = EQUILIBRIUM.compute(Settings(method="layer"))
    star = float(result.predicted.norm)
    for run in result.real_runs:
        assert run.settled.norm == pytest.approx(star, rel=0.05)
    cosines = [np.cos(run.angles[t, 0]) for run in result.real for t in range(50, 100)]
    mean = np.prod(cosines) ** (1 / len(cosines))
    assert result.mean_cosine() == pytest.approx(mean)
    assert mean == pytest.approx(1 - result.real[0].rate * result.real[0].decay, abs=2e-3)


def test_momentum_and_adamw_settle_at_their_angles() -> None:
    momentum = EQUILIBRIUM.compute(Settings(dataset="wine", optimizer="momentum", steps=300))
    eta, decay = momentum.real[0].rate, momentum.real[0].decay
    assert float(momentum.predicted.angle) == pytest.approx(np.arccos(1 - eta * decay / 1.9))
    for run in momentum.simulated_runs:
        assert run.settled.angle == pytest.approx(np.arccos(1 - eta * decay / 1.9), rel=0.03)
    adamw = EQUILIBRIUM.compute(Settings(dataset="wine", optimizer="adamw", steps=300))
    kept = 1 - adamw.real[0].rate * adamw.real[0].decay
    angle = np.arccos((kept + 0.9) / (1 + 0.9 * kept))
    for run in adamw.simulated_runs:
        assert run.settled.angle == pytest.approx(angle, rel=0.05)


class Lawless(ScaleFree):
    """Steps of η along each sign, of which nothing is stated but their angle."""

    key, title, assumes = "lawless", "signs without a law", "Small angles."

    def update(self, memory, theta, gradient, rates, decays):
        return -rates * (np.sign(gradient) + decays * theta), memory


def test_optimizer_without_a_law_has_no_predicted_line(words, lines, monkeypatch) -> None:
    monkeypatch.setitem(OPTIMIZERS, "adam", Lawless())
    result = EQUILIBRIUM.compute(replace(QUICK, optimizer="adam"))
    assert result.predicted is None
    drawn = EQUILIBRIUM.figure(result, "light")
    assert "predicted" not in lines(drawn, 1)
    assert "No law is known for this optimizer." in words(drawn)


@pytest.mark.exhaustive
def test_simulated_runs_settle_where_adam_and_lion_are_predicted(subtests: pytest.Subtests) -> None:
    for optimizer in ["adam", "lion"]:
        with subtests.test(optimizer=optimizer):
            result = EQUILIBRIUM.compute(Settings(dataset="wine", optimizer=optimizer, steps=300))
            for run in result.simulated_runs:
                assert run.settled.norm == pytest.approx(float(result.predicted.norm), rel=0.1)
                assert run.settled.angle == pytest.approx(float(result.predicted.angle), rel=0.1)


def test_equilibrium_labels_what_is_simulated_and_says_how_far_it_is_off(words, lines) -> None:
    result = EQUILIBRIUM.compute(Settings(dataset="wine", method="layer"))
    drawn = EQUILIBRIUM.figure(result, "light")
    assert "<b>simulation</b>: a gradient of constant √Γ" in words(drawn)
    assert "<b>real</b>: Wine, mini-batches of 32" in words(drawn)
    off = re.findall(r"off by up to ([\d.]+)%", words(drawn))
    star = float(result.predicted.norm)
    for found, runs in zip(off, (result.simulated_runs, result.real_runs), strict=True):
        worst = max(abs(np.sqrt(np.mean(run.norms[50:] ** 2)) / star - 1) for run in runs)
        assert float(found) == pytest.approx(100 * worst, rel=0.06)
        norm, angle, *off_by = result.settled(runs)
        assert norm == pytest.approx(np.mean([run.settled.norm for run in runs]))
        assert angle == pytest.approx(np.mean([run.angles[50:].mean() for run in runs]))
        worst_angle = max(
            abs(run.angles[50:].mean() / float(result.predicted.angle) - 1) for run in runs
        )
        assert off_by == pytest.approx([worst, worst_angle])
    for panel, level in ((1, star), (3, np.degrees(float(result.predicted.angle)))):
        (dashed,) = lines(drawn, panel)["predicted"]
        assert dashed.line.dash == "dash"
        assert dashed.y == pytest.approx([level, level], rel=1e-6)


def test_too_few_steps_for_an_equilibrium_have_a_sentence(sentence_of) -> None:
    assert sentence_of("equilibrium", replace(QUICK, steps=2)) == (
        "An equilibrium takes 4 steps or more, and the runs have 2. Take more steps, or a smaller "
        "learning rate η."
    )
