"""Predictions for norms, angles and equilibrium, against runs, simulations and arithmetic."""

import re
from fractions import Fraction

import numpy as np
import pytest

from normgeo import GRID, NORMALIZERS, NormalizedGLM, compare, descend, simulate_balance
from normgeo.base.numbers import latex
from normgeo.dynamics import equilibrium
from normgeo.dynamics.adam import Adam, AdamW
from normgeo.dynamics.equilibrium import settled
from normgeo.dynamics.gradient_descent import GradientDescent, Momentum
from normgeo.dynamics.lion import Lion
from normgeo.dynamics.optimizer import Course
from normgeo.dynamics.optimizers import OPTIMIZERS
from normgeo.dynamics.schedules import Exponential
from tests.pairwise import each, first
from tests.refused import says

METHODS = ("batch", "weight", "layer", "rms", "group")
every_key = pytest.mark.pairwise("key", METHODS)
every_batch = pytest.mark.pairwise("batch_size", [None, 64])
EXACT = ("gradient_descent", "momentum")


def model_of(digits, key, k=1.0):
    """A model on the digits; k scales its weights."""
    rng = np.random.default_rng(0)
    model = NormalizedGLM.random(NORMALIZERS[key], "categorical", 10, digits.D, rng)
    return NormalizedGLM(model.normalizer, model.family, k * model.W, model.b, model.g)


def centered(run, step):
    """w̃ of every block after a step, computed by hand from the model."""
    model = run.model_at(step)
    W = model.W
    if run.start.normalizer.center == "layer":
        groups = W.reshape(run.start.normalizer.groups, -1, W.shape[1])
        W = (groups - groups.mean(axis=1, keepdims=True)).reshape(W.shape)
    return np.array([W[neurons].ravel() for neurons in run.blocks.neurons])


# Exact laws.


@every_key
@every_batch
@pytest.mark.pairwise("decay", [0.0, 0.4])
def test_norm_law_of_gradient_descent_holds_to_rounding(digits, key, batch_size, decay):
    run = descend(
        model_of(digits, key),
        digits.X,
        digits.y,
        steps=40,
        rate=1.0,
        decay=decay,
        batch_size=batch_size,
    )
    squares = run.norms**2
    step_by_step = (1 - decay) ** 2 * squares[:-1] + run.gradient_norms**2
    np.testing.assert_allclose(squares[1:], step_by_step, rtol=1e-12)
    np.testing.assert_allclose(run.predicted_norms, run.norms, rtol=1e-12)
    by_hand = np.linalg.norm(centered(run, 40), axis=1)
    np.testing.assert_allclose(run.norms[40], by_hand, rtol=1e-13)
    assert (np.diff(run.norms, axis=0) > 0).all() == (decay == 0)


@every_key
@every_batch
@pytest.mark.pairwise("optimizer", EXACT)
@pytest.mark.pairwise("rate", [0.3, Exponential(0.6, 0.95)], ids=["constant", "exponential"])
def test_norm_and_angle_are_predicted_to_rounding(digits, key, batch_size, optimizer, rate):
    run = descend(
        model_of(digits, key),
        digits.X,
        digits.y,
        optimizer,
        steps=40,
        rate=rate,
        decay=0.2,
        batch_size=batch_size,
    )
    found = compare(run)
    assert found["norm"].deviation < 1e-11
    assert found["angle"].deviation < 1e-9
    u, v = centered(run, 7), centered(run, 8)
    cosine = (u * v).sum(axis=1) / np.linalg.norm(u, axis=1) / np.linalg.norm(v, axis=1)
    np.testing.assert_allclose(np.cos(found["angle"].predicted[7]), cosine, rtol=1e-12)


@every_key
def test_gradient_is_orthogonal_to_the_weights_on_mini_batches(digits, key):
    for optimizer in OPTIMIZERS:
        run = descend(
            model_of(digits, key),
            digits.X,
            digits.y,
            optimizer,
            steps=30,
            rate=0.05,
            decay=0.1,
            batch_size=32,
        )
        assert np.abs(run.radial).max() < 1e-13


def test_laws_fail_for_a_block_that_is_not_homogeneous(digits):
    """Negative control: the laws of a homogeneous block, applied to the standard model."""
    run = descend(model_of(digits, "standard"), digits.X, digits.y, steps=20, rate=0.5)
    grown = run.norms[:-1] ** 2 + 0.25 * run.gradient_norms**2
    assert np.abs(run.norms[1:] ** 2 / grown - 1).max() > 0.05
    assert compare(run) == {}


def test_norm_law_ignores_decay_only_at_its_peril(digits):
    """Negative control: without the factor (1 − ηλ)² the law is wrong."""
    run = descend(model_of(digits, "layer"), digits.X, digits.y, steps=20, rate=1.0, decay=0.1)
    without = run.norms[:-1] ** 2 + run.gradient_norms**2
    assert np.abs(run.norms[1:] ** 2 / without - 1).max() > 0.1


@every_batch
def test_effective_learning_rate_is_the_turn_over_the_unit_sphere_gradient(digits, batch_size):
    run = descend(
        model_of(digits, "batch"),
        digits.X,
        digits.y,
        steps=20,
        rate=0.7,
        decay=0.1,
        batch_size=batch_size,
    )
    expected = 0.7 / (0.93 * run.norms**2)
    np.testing.assert_allclose(run.effective_learning_rate, expected, rtol=1e-14)
    assert compare(run)["effective_learning_rate"].deviation < 1e-10
    smaller = descend(model_of(digits, "batch", 3.0), digits.X, digits.y, steps=20, rate=0.7)
    np.testing.assert_allclose(
        smaller.effective_learning_rate[0], 0.93 * run.effective_learning_rate[0] / 9, rtol=1e-12
    )


def test_decay_that_reverses_the_weights_has_the_angle_beyond_a_right_one(digits):
    run = descend(model_of(digits, "batch"), digits.X, digits.y, steps=5, rate=0.5, decay=3.0)
    assert (run.angles > np.pi / 2).all()
    np.testing.assert_allclose(run.predicted_angles, run.angles, rtol=1e-11)
    assert run.equilibrium is None


# Adam.


def slope(angles, factors):
    return np.polyfit(np.log(factors), np.log(angles), 1)[0]


@pytest.mark.pairwise(
    "optimizer,expected", [("gradient_descent", -2), ("adam", -1), ("adamw", -1), ("lion", -1)]
)
@every_key
def test_angle_falls_with_the_norm_by_the_power_of_its_rule(digits, key, optimizer, expected):
    factors = 2.0 ** np.arange(5)
    runs = [
        descend(model_of(digits, key, k), digits.X, digits.y, optimizer, steps=1, rate=1e-4)
        for k in factors
    ]
    for block in range(len(runs[0].blocks.neurons)):
        angles = np.array([run.angles[0, block] for run in runs])
        assert slope(angles, factors) == pytest.approx(expected, abs=0.01)
        predicted = np.array([run.predicted_angles[0, block] for run in runs])
        np.testing.assert_allclose(angles, predicted, rtol=0.02)
    rates = np.array([run.effective_learning_rate[0, 0] for run in runs])
    assert slope(rates, factors) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("optimizer", ["adam", "adamw", "lion"])
def test_scale_free_steps_may_shorten_the_weights_without_decay(digits, optimizer):
    run = descend(model_of(digits, "layer"), digits.X, digits.y, optimizer, steps=40, rate=1e-3)
    lone = descend(model_of(digits, "batch"), digits.X, digits.y, optimizer, steps=40, rate=1e-3)
    assert min(np.diff(run.norms, axis=0).min(), np.diff(lone.norms, axis=0).min()) < 0
    assert run.predicted_norms.shape == (41, 0)
    assert set(compare(run)) == {"angle"}


def test_scale_free_angle_is_that_of_an_orthogonal_step_while_it_is_small(digits):
    for key in METHODS:
        for optimizer in ("adam", "adamw", "lion"):
            run = descend(
                model_of(digits, key),
                digits.X,
                digits.y,
                optimizer,
                steps=20,
                rate=1e-4,
                decay=0.1,
                batch_size=64,
            )
            assert compare(run)["angle"].deviation < 0.2
            off = np.abs(run.predicted_angles / run.angles - 1)
            assert np.median(off) < 0.05


@pytest.mark.parametrize("optimizer", ["adam", "adamw", "lion"])
def test_scale_free_angle_counts_what_decay_takes_off_the_norm(optimizer):
    """A step of 1.2 orthogonal to w = 3, with the decay decoupled or as a part of it."""
    rule, eta, decay = OPTIMIZERS[optimizer], 0.1, 2.0
    kept = 1 - eta * decay if rule.decoupled else 1.0
    w = np.array([3.0, 0.0])
    following = kept * w + [0.0, 1.2]
    sizes = np.linalg.norm([w, following], axis=1)[:, None]
    step = np.array([[np.linalg.norm(following - w)]])
    course = Course(np.array([[eta]]), decay, sizes, np.ones((1, 1)), step)
    turned = np.arccos(w @ following / np.prod(sizes))
    assert rule.angles(course).item() == pytest.approx(turned, rel=1e-12)


@pytest.mark.parametrize("optimizer", ["gradient_descent", "momentum"])
@pytest.mark.parametrize("power", [-700, 700])
def test_laws_of_lengths_hold_where_their_squares_are_no_floats(optimizer, power, rng):
    """All lengths are 2^700 times as long: the same angles, and norms longer by this factor."""
    rule, rates = OPTIMIZERS[optimizer], np.full((5, 1), 0.1)
    norms, gradients, steps = rng.uniform(1, 2, (6, 3)), *rng.uniform(0.1, 0.5, (2, 5, 3))
    course = Course(rates, 0.3, norms, gradients, 0.1 * steps)
    scaled = (np.ldexp(lengths, power) for lengths in course[2:])
    longer = Course(rates, 0.3, *scaled)
    np.testing.assert_allclose(rule.angles(longer), rule.angles(course), rtol=1e-13)
    np.testing.assert_allclose(rule.norms(longer), np.ldexp(rule.norms(course), power), rtol=1e-13)


# Equilibrium.


def test_a_run_settles_at_the_root_mean_square_of_its_last_half():
    balance = settled(np.array([9.0, 9.0, 1.0, 7.0]), np.array([0.9, 0.1, 0.3]))
    assert (float(balance.norm), float(balance.angle)) == (5.0, pytest.approx(0.2))


RULES = {
    "gradient descent": "gradient_descent",
    "momentum 0.5": Momentum(0.5),
    "momentum 0.9": Momentum(0.9),
    "Adam": Adam(0.9, 0.99),
    "Lion": Lion(0.9, 0.95),
    "AdamW": AdamW(0.9, 0.99),
    "AdamW without averages": AdamW(0.0, 0.99),
}


@pytest.mark.parametrize(
    ("name", "speed", "norm"), each(RULES, [(0.1, 0.1), (0.02, 1.0), (0.5, 0.2)], [0.3, 3.0])
)
def test_equilibrium_norm_and_angle_within_two_percent(name, speed, norm):
    rule, (rate, decay) = RULES[name], speed
    balance = simulate_balance(
        rule, rate=rate, decay=decay, gradient_norm=1.7, norm=norm, steps=4000
    )
    assert balance.settled.norm == pytest.approx(float(balance.predicted.norm), rel=0.02)
    assert balance.settled.angle == pytest.approx(float(balance.predicted.angle), rel=0.02)


def test_equilibrium_of_gradient_descent_is_the_closed_form():
    balance = simulate_balance(rate=0.05, decay=0.4, gradient_norm=2.0, steps=2000)
    again = simulate_balance(rate=0.05, decay=0.4, gradient_norm=2.0, steps=2000, seed=0)
    np.testing.assert_array_equal(balance.angles, again.angles)
    assert balance.norms[-1] ** 4 == pytest.approx(0.05 * 4 / (0.4 * (2 - 0.02)), rel=1e-10)
    assert balance.angles[-1] == pytest.approx(np.arccos(1 - 0.02), rel=1e-9)
    assert balance.angles[-1] == pytest.approx((2 * 0.02) ** 0.5, rel=0.02)


def test_simulated_gradients_are_orthogonal_to_the_weights():
    """Then their squares add up at each step, by Pythagoras."""
    run = simulate_balance(rate=0.5, decay=0.2, gradient_norm=1.7, weights=5, steps=60)
    squares = (1 - 0.1) ** 2 * run.norms[:-1] ** 2 + (0.5 * 1.7 / run.norms[:-1]) ** 2
    np.testing.assert_allclose(run.norms[1:] ** 2, squares, rtol=1e-12)


def test_equilibrium_norm_is_where_the_norm_law_stands_still():
    law, course_rate, decay, gamma = GradientDescent(), 0.3, 0.2, 5.0
    norm = float(law.equilibrium(course_rate, decay, np.asarray(gamma**0.5), 10).norm)
    following = (1 - 0.06) ** 2 * norm**2 + 0.09 * gamma / norm**2
    assert following == pytest.approx(norm**2, rel=1e-14)


def test_momentum_of_zero_has_the_equilibrium_of_gradient_descent():
    gamma = np.array([[1.0, 2.0], [3.0, 4.0]])
    rates = np.array([[0.1], [0.2]])
    plain, ball = (
        law.equilibrium(rates, 0.5, gamma, 7) for law in (GradientDescent(), Momentum(0))
    )
    np.testing.assert_array_equal(plain.norm, ball.norm)
    np.testing.assert_allclose(plain.angle, np.arccos([[0.95] * 2, [0.9] * 2]), rtol=1e-14)


def test_small_steps_of_adamw_have_the_equilibrium_of_the_literature():
    rate, decay, size = 1e-4, 1e-2, 300
    balance = AdamW(0.9).equilibrium(rate, decay, np.ones(2), size)
    np.testing.assert_allclose(balance.norm, (rate * size / (2 * decay)) ** 0.5, rtol=1e-4)
    angle = (2 * rate * decay * (1 - 0.9) / (1 + 0.9)) ** 0.5
    np.testing.assert_allclose(balance.angle, angle, rtol=1e-4)


def test_angle_of_a_small_decay_keeps_its_digits(subtests):
    """Against cos θ in exact fractions: the decay reduces it by 1 − cos θ = θ²/2 − θ⁴/24 + …."""
    for lost in [1e-300, 1e-20, 1e-16, 1e-9, 1e-3, 0.5, 0.999]:
        with subtests.test(lost=lost):
            adamw, beta = AdamW(0.9), Fraction(0.9)
            share = Fraction(lost)
            expected = {
                GradientDescent(): share,
                Momentum(0.9): share / (1 + beta),
                adamw: share * (1 - beta) / (1 + (1 - share) * beta),
            }
            for law, x in expected.items():
                theta = Fraction(float(law.equilibrium(lost, 1.0, np.asarray(1.0), 9).angle))
                series, term = Fraction(0), Fraction(1)
                for k in range(1, 16):
                    term *= -(theta**2) / (2 * k * (2 * k - 1))
                    series -= term
                assert abs(series / x - 1) < Fraction(1, 10**14)


@pytest.mark.parametrize(("rate", "decay"), [(1e-300, 1e299), (1e300, 1e-301), (0.1, 1e-20)])
def test_balance_of_rates_far_apart_is_where_the_norm_stands_still(rate, decay):
    """With s = ηλ, s(2 − s) ‖w‖⁴ = η²Γ, in exact fractions; AdamW has another law."""
    gamma, s = Fraction(2.0), Fraction(rate) * Fraction(decay)
    norm = Fraction(float(GradientDescent().equilibrium(rate, decay, np.sqrt(2.0), 9).norm))
    assert abs(s * (2 - s) * norm**4 / (Fraction(rate) ** 2 * gamma) - 1) < Fraction(1, 10**13)
    adamw, beta = AdamW(0.9), Fraction(0.9)
    a = 1 - s
    steps = 9 * (1 - beta) * (1 + a * beta) / ((1 + beta) * (1 - a * beta))
    norm = Fraction(float(adamw.equilibrium(rate, decay, np.asarray(1.0), 9).norm))
    assert abs(norm**2 * (1 - a * a) / (Fraction(rate) ** 2 * steps) - 1) < Fraction(1, 10**13)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("key", "within"), first([("layer", 0.02), ("batch", 0.05)]))
def test_training_with_decay_settles_at_the_equilibrium_of_its_gradients(digits, key, within):
    run = descend(
        model_of(digits, key),
        digits.X,
        digits.y,
        steps=3000,
        rate=0.5,
        decay=0.02,
        batch_size=16,
    )
    found = compare(run)
    assert set(found) == {
        "norm",
        "angle",
        "effective_learning_rate",
        "equilibrium_norm",
        "equilibrium_angle",
    }
    fourth = 0.5 * (run.norms[:-1] * run.gradient_norms) ** 2 / (0.02 * (2 - 0.01))
    np.testing.assert_allclose(found["equilibrium_norm"].predicted ** 4, fourth, rtol=1e-12)
    settled = np.mean(run.norms[1500:] ** 2, axis=0) ** 0.5
    np.testing.assert_allclose(settled, np.mean(fourth[1500:], axis=0) ** 0.25, rtol=within)
    assert np.mean(run.angles[1500:] ** 2) ** 0.5 == pytest.approx(np.arccos(0.99), rel=within)
    assert (run.norms[0] < 0.8 * settled).all()


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_formula_of_an_equilibrium_is_that_of_its_numbers(optimizer):
    rule = OPTIMIZERS[optimizer]
    balance = rule.equilibrium(0.05, 0.4, np.asarray(1.7), 300)
    lines = rule.equilibrium_formula(0.05, 0.4, 1.7, 300)
    assert bool(lines) == (balance is not None)
    if balance is not None:
        assert all("&=" in line for line in lines)
        assert rf"\lVert w^*\rVert = {latex(float(balance.norm))}" in " ".join(lines)
        assert lines[-1].endswith(rf"{{{latex(float(np.degrees(balance.angle)))}}}^\circ")
        number, times = r"[\d.]+(?: \\cdot [\d.]+)*", r" \cdot "
        parts = re.search(
            rf"= \\frac\{{({number})\}}\{{({number})\}}(?: \\cdot ([\d.]+))?,", lines[-2]
        )
        if parts:
            above, below, more = (
                np.prod([float(n) for n in (part or "1").split(times)]) for part in parts.groups()
            )
            power = float(lines[-2].split("^")[2][0])
            assert above / below * more == pytest.approx(balance.norm**power, rel=2e-3)
        half = re.search(r"arcsin\\sqrt\{([\d.]+)\}|arctan ([\d.]+)", lines[-1])
        sine, tangent = half.groups()
        turn = 2 * (np.arctan(float(tangent)) if tangent else np.arcsin(float(sine) ** 0.5))
        assert turn == pytest.approx(balance.angle, rel=1e-3)


def test_formula_of_adam_has_the_right_side_that_its_numbers_have():
    lines = Adam().equilibrium_formula(0.05, 0.4, 1.7, 300)
    right = 0.05 * (0.4 * 300) ** 0.5 / (2 * 1.7**0.5)
    assert rf" = {latex(right)}, \quad" in lines[1]


def test_every_comparison_says_what_it_assumes(digits):
    for optimizer in OPTIMIZERS:
        run = descend(model_of(digits, "batch"), digits.X, digits.y, optimizer, steps=2, decay=0.1)
        for comparison in compare(run).values():
            assert comparison.assumes.endswith(".")
            assert comparison.measured.shape == comparison.predicted.shape


def test_every_method_with_a_scale_has_the_exact_laws(rng):
    X, y = rng.normal(0.5, 1, (12, 5)), rng.integers(0, 4, 12)
    for normalizer in GRID.values():
        if not normalizer.homogeneous_blocks(4):
            continue
        model = NormalizedGLM(normalizer, "categorical", rng.normal(0.3, 1, (4, 5)))
        for optimizer in EXACT:
            run = descend(model, X, y, optimizer, steps=30, rate=0.1, decay=0.3, batch_size=6)
            found = compare(run)
            assert found["norm"].deviation < 1e-12
            assert found["angle"].deviation < 1e-8


def test_bad_numbers_of_a_simulation_are_named(subtests):
    for options, sentence in [
        ({"rate": 0}, "`rate` must be a finite number above 0; got 0."),
        ({"decay": -1.0}, "`decay` must be a finite number above 0; got -1.0."),
        (
            {"gradient_norm": float("nan")},
            "`gradient_norm` must be a finite number above 0; got nan.",
        ),
        ({"norm": 0.0}, "`norm` must be a finite number above 0; got 0.0."),
        (
            {"rate": 2, "decay": 0.5},
            "The product of `rate` and `decay` must be below 1, so that decay keeps the direction; "
            "got 2.0 × 0.5.",
        ),
        ({"weights": 2}, "`weights` must be a whole number from 3 up; got 2."),
        ({"steps": 2.5}, "`steps` must be a whole number from 2 up; got 2.5."),
        (
            {"optimizer": "sgd"},
            f"`optimizer` must be one of {', '.join(OPTIMIZERS)}; got 'sgd'.",
        ),
    ]:
        with subtests.test(sentence), says(sentence):
            simulate_balance(**options)


def test_a_simulation_is_refused_by_the_memory_of_its_path(monkeypatch):
    monkeypatch.delattr(equilibrium, "lengths")  # a run that starts fails at once
    with pytest.raises(ValueError, match=r"^The vector and its path would take 14\.9 GiB"):
        simulate_balance(steps=10**9)
