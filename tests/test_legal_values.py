"""Extreme values of the right type: each is refused in a sentence, or gives the answer of theory.

Each of them once gave NaN, zeros, nonsense, an inner exception or an endless run.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import normgeo as ng
from normgeo.base.numbers import round_number
from normgeo.base.refusal import Refusal
from normgeo.datasets.datasets import load
from normgeo.normalizers.blocks import angles_turned, cosines, lengths

X = np.random.default_rng(0).standard_normal((6, 3))
MODEL = ng.NormalizedGLM(ng.NORMALIZERS["layer"], "gaussian", X[:4])
Y = np.ones((6, 4))


def descended(**options: Any) -> Any:
    return ng.descend(MODEL, X, Y, **{"steps": 2, **options})


def test_value_without_a_meaning_is_refused(subtests: pytest.Subtests) -> None:
    for ask, sentence in [
        (lambda: ng.hold_out(load("linnerud"), test_share=np.nan), "`test_share` must be a finite"),
        (lambda: ng.fisher(MODEL, X).solve(np.ones(20), 1, max_iterations=0), "`max_iterations` "),
        (
            lambda: ng.expected_dimension(MODEL.normalizer, -4, -5, "gaussian"),
            "`H` must be a whole",
        ),
        (lambda: ng.expected_dimension(MODEL.normalizer, 4, 0, "gaussian"), "`D` must be a whole"),
        *(
            (
                lambda ask=ask, seed=seed: ask(seed),
                "`seed` must be a whole number from 0 to 1844674",
            )
            for seed in (-1, 2.5, np.nan, True, 10**400)
            for ask in (
                lambda seed: ng.hold_out(load("linnerud"), seed=seed),
                lambda seed: descended(batch_size=2, seed=seed),
                lambda seed: ng.simulate_balance(steps=2, seed=seed),
                lambda seed: ng.spectrum(ng.fisher(MODEL, X), 2, seed=seed),
            )
        ),
        (lambda: ng.fit(MODEL, X, [[1.0], [2.0, 3.0]]), "`y` must be a rectangular array of"),
        (lambda: descended(steps=10**400), "`steps` must be a whole number from 1 to 1000000000;"),
        (lambda: descended(steps=10**9), "What is measured of each step would take "),
        (
            lambda: descended(rate=10**400),
            "`rate` must be a finite number above 0; got about 10⁴⁰⁰",
        ),
        (lambda: descended(rate=True), "`rate` must be a finite number above 0; got True."),
        (lambda: descended(decay=None), "`decay` must be a finite number from 0 up; got None."),
        (
            lambda: MODEL.mean(np.ma.masked_array(X, X > 0)),
            "`X` must hold plain numbers; got a mas",
        ),
        (lambda: ng.fit(MODEL, X, np.ma.masked_array(Y)), "`y` must hold plain numbers; got a mas"),
        (lambda: ng.fit("layer", X, Y), "`start` must be of type NormalizedGLM; got 'layer'."),
        (lambda: ng.fit(MODEL, X, Y, progress=3), "`progress` must be a function of "),
    ]:
        refused = pytest.raises(Refusal, match=f"^{re.escape(sentence)}")
        with subtests.test(sentence), refused:
            ask()


@pytest.mark.parametrize("norm", [1e-160, 1e-300])
def test_tiny_start_of_a_simulation_jumps_to_the_length_of_its_first_step(norm: float) -> None:
    """A gradient of √Γ/‖w‖ at right angles: ‖w'‖ = η√Γ/‖w‖, a quarter turn."""
    run = ng.simulate_balance(norm=norm, rate=0.1, gradient_norm=1e-8, steps=2)
    assert run.norms[1] == pytest.approx(0.1 * 1e-8 / norm, rel=1e-14)
    assert run.angles[0] == pytest.approx(np.pi / 2, rel=1e-14)


@pytest.mark.parametrize("norm", [1e200, 1e300])
def test_huge_start_of_a_simulation_decays(norm: float) -> None:
    """‖w'‖ = (1 − ηλ)‖w‖ if the gradient is negligible."""
    run = ng.simulate_balance(norm=norm, rate=0.5, decay=0.2, steps=9)
    np.testing.assert_allclose(run.norms, norm * 0.9 ** np.arange(10), rtol=1e-13)
    assert run.angles.max() < 1e-15
    assert run.settled.norm == pytest.approx(
        norm * np.sqrt(np.mean(0.9 ** (2 * np.arange(5, 10)))), rel=1e-13
    )


def test_simulation_that_leaves_floating_point_says_where() -> None:
    with pytest.raises(Refusal, match=r"^The run leaves the range of floating point at step 1\."):
        ng.simulate_balance(norm=1e-300, rate=1e10, decay=1e-12, gradient_norm=1e10)


def test_lengths_and_angles_of_vectors_whose_squares_are_no_floats(
    subtests: pytest.Subtests,
) -> None:
    for exponent in [-1000, -560, -540, -512, 0, 511, 540, 1000]:
        with subtests.test(exponent=exponent):
            u, v = np.array([3.0, 4.0]), np.array([-4.0, 3.0])
            scale = 2.0**exponent
            assert lengths(scale * u) == 5 * scale
            assert cosines(scale * u, u) == pytest.approx(1, rel=1e-15)
            assert angles_turned(scale * u, scale * v) == pytest.approx(np.pi / 4, rel=1e-15)


def test_ratio_of_a_metric_that_is_zero_is_no_number() -> None:
    """The standard model over inputs of 0: no gain changes an output, at any δ."""
    model = ng.NormalizedGLM(ng.NORMALIZERS["standard"], "gaussian", [[1.0]])
    found = ng.gain_metric(model, [[0.0], [0.0]], [1.0, 2.0])
    assert found.total.tolist() == [0, 0]
    assert np.isnan(found.ratio).all()


@pytest.mark.pairwise("eps", [1e-5, 0.1])
@pytest.mark.pairwise("normalizer", [("none", "batch"), ("batch", "batch"), ("none", "layer")])
def test_doubling_of_one_weight_says_that_nothing_turns(
    normalizer: tuple[str, str], eps: float
) -> None:
    H = 1 if normalizer[1] == "batch" else 2
    model = ng.NormalizedGLM(ng.Normalizer(*normalizer, eps=eps), "gaussian", np.eye(H, 1) + 1)
    rows = ng.doubling_table(model, [[1.0], [2.0], [4.0]], np.eye(3, H))
    assert [row.measured is None for row in rows] == [bool(row.reason) for row in rows]
    by_name = {row.quantity: row for row in rows}
    if H == 1:  # two neurons with one feature each have an orthogonal direction
        zero, own = "It is 0 before and after.", "The block has only one direction, its own, "
        assert by_name["turn by one gradient step"].reason.startswith((zero, own))
        assert by_name["curvature along w"].reason.startswith(own)
    assert by_name["output s"].measured == pytest.approx(1, abs=eps)


def test_round_number_is_the_nearest_below_also_at_powers_of_ten() -> None:
    for exponent in range(-30, 31):
        steps = one, two, five, _ = [float(f"{digit}e{exponent}") for digit in (1, 2, 5, 10)]
        assert [*map(round_number, steps)] == steps
        below = [round_number(digit * one) for digit in (1.9, 4.9, 9.9)]
        assert below == [one, two, five]
        # A power of ten that rounding made smaller.
        assert round_number(one * (1 - 1e-12)) == one
        assert round_number(one * (1 - 1e-3)) == float(f"5e{exponent - 1}")


def test_change_of_weights_that_are_zero_moves_nothing() -> None:
    model = ng.NormalizedGLM(ng.NORMALIZERS["standard"], "gaussian", np.zeros((2, 3)))
    found = ng.explain(model, X, ng.null_space(ng.fisher(model, X)))
    reason = found.reason("weight_matrix_rescaling")
    assert reason.sentence == "It moves nothing here: what it would change is zero."
    assert (reason.span, reason.added, found.unexplained) == (0, 0, 0)
