"""Weight decay beside the exponential schedule."""

from dataclasses import replace

import numpy as np
import pytest

from normgeo import NORMALIZERS
from normgeo.dynamics.exponential_schedule import decay_as_schedule
from normgeo.pictures import PICTURES
from normgeo.pictures.learning_rate.block_on_data import block_on_data
from normgeo.settings import Settings

TWIN = PICTURES["twin"]
LAWFUL = [key for key, method in NORMALIZERS.items() if method.homogeneous_blocks(4)]
QUICK = Settings(dataset="wine", neurons=6, steps=20)


def test_twin_turns_as_the_run_with_decay(subtests: pytest.Subtests) -> None:
    for method in LAWFUL:
        with subtests.test(method=method):
            result = TWIN.compute(replace(QUICK, method=method))
            decayed, scheduled = result.twin.decayed, result.twin.scheduled
            assert (
                max(run.parameters.size for run in (decayed, scheduled)) == 0
            )  # dropped with the others
            data = block_on_data(replace(QUICK, method=method))
            sizes = {"rate": decayed.rate, "decay": decayed.decay, "batch_size": decayed.batch_size}
            whole = decay_as_schedule(decayed.start, data.X, data.y, steps=20, **sizes)
            norms = whole.decayed.norms[:, [data.block]]
            np.testing.assert_allclose(result.twin.decayed.norms, norms, rtol=1e-12)
            for step in (0, 7, 20):
                U, V = (run.vectors()[step] for run in (whole.decayed, whole.scheduled))
                U, V = (M / np.linalg.norm(M, axis=1, keepdims=True) for M in (U, V))
                assert np.abs(U - V).max() < 1e-9
                assert decayed.loss[step] == pytest.approx(scheduled.loss[step], rel=1e-9)
            assert result.apart < 1e-9
            assert result.twin.parted is None


def test_twin_rate_and_norm_grow_as_powers() -> None:
    result = TWIN.compute(replace(QUICK, rate=0.01, decay=2))
    rates = [0.01 * (1 - 0.02) ** (-2 * t - 1) for t in range(21)]
    np.testing.assert_allclose(result.twin.scheduled.rates, rates)
    growth = result.twin.scheduled.norms[:, 0] / result.twin.decayed.norms[:, 0]
    np.testing.assert_allclose(growth, [0.98**-t for t in range(21)], rtol=1e-9)


def test_default_rate_of_the_twin_doubles_and_the_two_stay_one() -> None:
    result = TWIN.compute(Settings(dataset="wine"))
    growth = result.twin.scheduled.rates[-1] / result.twin.decayed.rates[0]
    assert growth == pytest.approx(2, rel=0.02)
    assert result.apart < 1e-9


def test_chaotic_twins_part_at_a_step_that_is_said(words) -> None:
    settings = Settings(dataset="wine", rate=0.65, decay=0.06)
    result = TWIN.compute(settings)
    far = [step for step in range(101) if (result.twin.angles[step] > 1e-9).any()]
    assert 10 < far[0] < 90
    drawn = TWIN.figure(result, "light")
    assert f"from step {far[0]} on" in words(drawn)
    assert "rounding errors grow" in words(drawn)


def test_twin_with_eps_says_that_the_law_does_not_hold(words, figure_of) -> None:
    assert "at ε = 0.1, z depends on the length" in words(
        figure_of("twin", replace(QUICK, eps=0.1))
    )
