"""Equilibrium under random gradients: against a simulation here, closed forms and publications."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad

from normgeo import OPTIMIZERS, rotational_equilibrium
from normgeo.dynamics.adam import Adam, AdamW
from normgeo.dynamics.gradient_descent import GradientDescent, Momentum
from normgeo.dynamics.lion import Lion
from normgeo.dynamics.optimizer import Optimizer
from normgeo.dynamics.scale_free import ScaleFree
from tests.pairwise import each
from tests.refused import says

ROOT = 1.7  # √Γ


def random_walk(rule, rate, decay, norm, weights, steps, seed=0):
    """w of each step, by the published rules, with gradients independent of everything.

    G is orthogonal to w, of length √Γ/‖w‖, in a new direction at each step.
    """
    rng = np.random.default_rng(seed)
    w = rng.standard_normal(weights)
    w *= norm / np.linalg.norm(w)
    m, v = np.zeros((2, weights))
    for t in range(1, steps + 1):
        yield w
        g = rng.standard_normal(weights)
        g -= (g @ w) / (w @ w) * w
        g *= ROOT / np.linalg.norm(w) / np.linalg.norm(g)
        match rule:
            case GradientDescent():
                w = w - rate * (g + decay * w)
            case Momentum(beta):
                m = beta * m + g + decay * w
                w = w - rate * m
            case Adam(beta1, beta2) | AdamW(beta1, beta2):
                if isinstance(rule, Adam):
                    g = g + decay * w
                m = beta1 * m + (1 - beta1) * g
                v = beta2 * v + (1 - beta2) * g**2
                step = m / (1 - beta1**t) / np.sqrt(v / (1 - beta2**t))
                if isinstance(rule, AdamW):
                    step = step + decay * w
                w = w - rate * step
            case Lion(beta1, beta2):
                step = np.sign(beta1 * m + (1 - beta1) * g) + decay * w
                m = beta2 * m + (1 - beta2) * g
                w = w - rate * step


def angle(u, w):
    return np.arccos(u @ w / np.linalg.norm(u) / np.linalg.norm(w))


RULES = {
    "gradient descent": GradientDescent(),
    "momentum 0.9": Momentum(0.9),
    "Adam": Adam(0.9, 0.99),
    "Adam without a mean": Adam(0.0, 0.99),
    "AdamW": AdamW(0.9, 0.99),
    "Lion": Lion(),
    "Lion 0.95, 0.98": Lion(0.95, 0.98),
    "Lion 0.5, 0.9": Lion(0.5, 0.9),
    "signs": Lion(0.0, 0.0),
}
every_rule = pytest.mark.parametrize("rule", RULES.values(), ids=RULES)


def test_every_optimizer_is_simulated():
    assert {type(rule) for rule in RULES.values()} == {type(rule) for rule in OPTIMIZERS.values()}


@pytest.mark.parametrize(("name", "speed"), each(RULES, [(0.1, 0.1), (0.02, 1.0), (0.5, 0.1)]))
def test_norm_and_angle_are_those_of_a_random_walk_within_three_percent(name, speed):
    rule, (rate, decay), weights = RULES[name], speed, 300
    balance = rotational_equilibrium(
        rule, rate=rate, decay=decay, weights=weights, gradient_norm=ROOT
    )
    walk = [*random_walk(rule, rate, decay, balance.norm, weights, 6000)][1000:]
    norm = np.mean([w @ w for w in walk]) ** 0.5
    turned = np.mean([angle(u, w) ** 2 for u, w in pairwise(walk)]) ** 0.5
    assert norm == pytest.approx(balance.norm, rel=0.03)
    assert turned == pytest.approx(balance.angle, rel=0.03)


SLOW = {
    "gradient descent": (GradientDescent(), 0.01, 0.1, 0.4),
    "momentum 0.9": (Momentum(0.9), 3e-4, 0.1, 0.6),
    "Adam": (Adam(0.9, 0.95), 7e-4, 0.02, 0.4),
    "AdamW": (AdamW(0.9, 0.95), 0.01, 0.1, 0.4),
    "Lion": (Lion(0.9, 0.95), 0.01, 0.1, 0.4),
}
"""A rule, η, λ, and a start as a fraction of the equilibrium, from which it rises slowly."""
MANY = 8000  # weights: so many that few walks agree with the mean of all
WARM = 60  # steps until the averages, which start at 0, are full


@pytest.mark.parametrize(("name", "above"), each(SLOW, [False, True]))
def test_time_to_equilibrium_is_that_of_a_random_walk_within_three_percent(name, above):
    rule, rate, decay, below = SLOW[name]
    balance = rotational_equilibrium(rule, rate=rate, decay=decay, weights=MANY, gradient_norm=ROOT)
    assert 2e-4 < balance.forgotten < 1.1e-3
    start, within = (2.5 if above else below) * balance.norm, 0.2
    counted, expected = [], []
    for seed in range(3):
        walk = random_walk(rule, rate, decay, start, MANY, 8000, seed)
        for step, w in enumerate(walk, start=-WARM):
            norm = np.linalg.norm(w)
            if step == 0:
                expected.append(balance.steps_from(norm, within))
            if step >= 0 and abs(norm / balance.norm - 1) < within:
                break
        counted.append(step)
    assert np.mean(expected) > 50
    # Below, gradients are longer, and their averages lag behind a growing norm.
    lag = 0.0 if above or not isinstance(rule, ScaleFree) else 0.1
    assert np.mean(counted) == pytest.approx(np.mean(expected), rel=0.03 + lag)


TURNING = {
    "gradient descent": (GradientDescent(), 0.02, 0.2),
    "momentum 0.9": (Momentum(0.9), 0.002, 0.2),
    "Adam": (Adam(0.9, 0.95), 0.005, 0.02),
    "AdamW": (AdamW(0.9, 0.95), 0.02, 0.2),
    "Lion": (Lion(0.9, 0.95), 0.02, 0.2),
}


@pytest.mark.parametrize(("rule", "rate", "decay"), TURNING.values(), ids=TURNING)
def test_half_of_a_direction_is_left_after_the_turnover(rule, rate, decay):
    """Half of what is left after the rule's memory has faded."""
    balance = rotational_equilibrium(rule, rate=rate, decay=decay, weights=1000, gradient_norm=ROOT)
    walk = np.array([*random_walk(rule, rate, decay, balance.norm, 1000, 10_000)])[500:]
    left = [
        np.einsum("tw,tw->t", walk[k:], walk[: len(walk) - k]).mean()
        for k in (WARM, WARM + round(balance.turnover))
    ]
    assert left[1] / left[0] == pytest.approx(0.5, abs=0.02)


@every_rule
def test_half_life_is_that_of_small_departures(rule):
    balance = rotational_equilibrium(rule, rate=0.01, decay=0.1, weights=50, gradient_norm=ROOT)
    for start in (1 + 2e-6, 1 - 2e-6):
        halved = balance.steps_from(start * balance.norm, 1e-6)
        assert halved == pytest.approx(balance.half_life, rel=1e-5)


@every_rule
def test_time_to_equilibrium_is_the_integral_of_the_law(rule):
    b = rotational_equilibrium(rule, rate=0.01, decay=0.1, weights=50, gradient_norm=ROOT)

    def slowness(u):
        return 1 / (u * u**b.hastens * np.log1p(-b.forgotten) * (1 - u**-b.returns))

    for factor in (1e-3, 0.5, 1.2, 1e3):
        ends = np.geomspace(factor, 1.05 if factor > 1 else 0.95, 9)
        parts = [quad(slowness, *pair)[0] for pair in pairwise(ends)]
        assert b.steps_from(factor * b.norm) == pytest.approx(sum(parts), rel=1e-6)
    assert b.steps_from(1.04 * b.norm) == b.steps_from(b.norm) == 0


# Publications.


def test_small_steps_have_the_angles_that_kosson_messmer_and_jaggi_print():
    """Their table of the expected angular update: SGD with momentum, AdamW, Lion."""
    rate, decay, beta, beta2 = 1e-5, 1e-2, 0.9, 0.99
    lost = rate * decay
    printed = {
        Momentum(beta): (2 * lost / (1 + beta)) ** 0.5,
        AdamW(beta): (2 * lost * (1 - beta) / (1 + beta)) ** 0.5,
    }
    for rule, expected in printed.items():
        found = rotational_equilibrium(rule, rate=rate, decay=decay, weights=9).angle
        assert found == pytest.approx(expected, rel=1e-5)
    lion = ((1 - beta) ** 2 + beta**2 * (1 - beta2) / (1 + beta2)) ** 0.5 * (np.pi * lost) ** 0.5
    found = rotational_equilibrium(Lion(beta, beta2), rate=rate, decay=decay, weights=9).angle
    assert found == pytest.approx(lion, rel=0.02)
    assert abs(found / lion - 1) > 0.005  # they assume that the signs are linear in the gradients


def test_signs_alone_turn_by_less_than_print_says():
    """Without averages Lion is signed descent: √(2ηλ), where the printed form gives √(πηλ)."""
    found = rotational_equilibrium(Lion(0, 0), rate=1e-4, decay=1e-2, weights=9).angle
    assert found == pytest.approx((2 * 1e-6) ** 0.5, rel=1e-5)


def test_gradient_descent_has_the_angle_and_norm_that_wan_et_al_print():
    """Spherical Motion Dynamics, theorem 1: ⁴√(Lη/2λ) and √(2ηλ) up to the order of ηλ."""
    rate, decay = 1e-3, 1e-3
    found = rotational_equilibrium(
        "gradient_descent", rate=rate, decay=decay, weights=9, gradient_norm=ROOT
    )
    assert found.norm == pytest.approx((rate * ROOT**2 / (2 * decay)) ** 0.25, rel=1e-6)
    assert found.angle == pytest.approx((2e-6) ** 0.5, rel=1e-6)
    momentum = rotational_equilibrium(
        Momentum(0.9), rate=rate, decay=decay, weights=9, gradient_norm=ROOT
    )
    expected = rate * ROOT**2 / (decay * 0.1 * (2 - rate * decay / 1.9))
    assert momentum.norm == pytest.approx(expected**0.25, rel=1e-12)
    assert momentum.angle == pytest.approx((2e-6 / 1.9) ** 0.5, rel=1e-6)


# Closed forms.


@pytest.mark.pairwise("beta1,beta2", [(0.9, 0.99), (0.3, 0.0), (0.99, 0.999), (0, 0.9)])
@pytest.mark.pairwise("lost", [1e-6, 0.1, 0.9])
def test_law_of_lion_is_the_sum_over_the_correlations_of_its_signs(beta1, beta2, lost):
    """ρ_k from the weights that a gradient gets in each later step, none of them in closed form."""
    steps = 40_000
    weight = (beta1 * (1 - beta2)) * beta2 ** np.arange(-1.0, steps - 1) if beta2 else None
    if weight is None:
        weight = np.zeros(steps)
        weight[1] = beta1
    weight[0] = 1 - beta1
    spectrum = np.abs(np.fft.rfft(weight, 2 * steps)) ** 2
    products = np.fft.irfft(spectrum)[:steps]
    signs = 2 / np.pi * np.arcsin(np.minimum(products / products[0], 1))
    kept = 1 - lost
    powers = kept ** np.arange(steps)
    total = 2 * powers @ signs - signs[0]  # Σ over all k of c^|k| r_k
    square = 0.01 * 70 * total / (1 - kept**2)
    found = Lion(beta1, beta2).equilibrium(0.1, lost / 0.1, np.asarray(1.0), 70)
    if lost > 1e-3:  # the sum ends before smaller decays have faded
        assert found.norm**2 == pytest.approx(square, rel=1e-9)
        next_to = kept * square + 0.01 * 70 * (powers @ np.append(signs[1:], 0))
        assert np.cos(found.angle) * square == pytest.approx(next_to, rel=1e-9, abs=1e-9)
    else:
        exact = 2 * signs.sum() - signs[0]
        assert found.norm**2 == pytest.approx(0.01 * 70 * exact / (1 - kept**2), rel=2e-3)


@pytest.mark.pairwise("beta", [0.0, 0.9])
@pytest.mark.pairwise("rate", [1e-6, 1e-3, 0.5, 40.0])
@pytest.mark.pairwise("root", [1e-8, 1.0, 1e6])
def test_balance_of_adam_is_momentum_over_its_own_denominator(beta, rate, root):
    """‖w‖ settles where the heavy ball with rate η(1 − β)/D does, D² = (‖G‖² + λ²‖w‖²)/KD."""
    decay, size = 0.02, 300

    def denominator(norm):
        return (((root / norm) ** 2 + (decay * norm) ** 2) / size) ** 0.5

    def of(norm):
        return Momentum(beta).equilibrium(
            rate * (1 - beta) / denominator(norm), decay, np.asarray(root), size
        )

    found = Adam(beta).equilibrium(rate, decay, np.asarray(root), size)
    lost = rate * decay * (1 - beta) / denominator(float(found.norm)) / (1 + beta)
    if lost < 1.9:  # beyond, the ball turns back, and the rest has few digits
        assert of(float(found.norm)).norm == pytest.approx(float(found.norm), rel=1e-6)
    assert np.cos(found.angle) == pytest.approx(1 - lost, rel=1e-6, abs=1e-9)
    half = ((1 - beta) / (1 + beta)) ** 0.5 * decay * found.norm**2 / root
    assert found.angle == pytest.approx(2 * np.arctan(half), rel=1e-9)


def test_adam_turns_blocks_with_other_gradients_by_other_angles_and_adamw_does_not():
    """With decay in the gradient the angle falls as the sixth root of Γ, for small decay."""
    gradients = np.array([1e-2, 1.0, 1e2])
    adam = Adam().equilibrium(1e-6, 0.01, gradients, 300)
    np.testing.assert_allclose(adam.angle[1:] / adam.angle[:-1], 100 ** (-1 / 3), rtol=0.01)
    np.testing.assert_allclose(
        adam.norm, (1e-6 * (300 * gradients**2) ** 0.5 / 0.02) ** (1 / 3), rtol=0.01
    )
    assert np.ptp(AdamW().equilibrium(1e-6, 0.01, gradients, 300).angle) == 0


@pytest.mark.parametrize("beta", [0.0, 0.5, 0.9])
def test_share_that_the_heavy_ball_forgets_is_its_slowest_root(beta):
    for lost in (1e-12, 1e-3, 0.08, 0.9, 1.5, 2.5, 2.95):
        roots = np.roots([1, -(1 + beta - lost), beta])
        found = float(Momentum(beta).forgotten(lost, 1.0, np.asarray(1.0), 9))
        if lost < 2 * (1 + beta):
            assert 1 - found == pytest.approx(np.abs(roots).max(), rel=1e-12)
        if lost == 1e-12:
            assert found == pytest.approx(lost / (1 - beta), rel=1e-9)


def test_without_the_gradient_what_depends_on_it_is_not_a_number():
    known = {
        key: rotational_equilibrium(key, rate=0.01, decay=0.1, weights=9) for key in OPTIMIZERS
    }
    finite = {key: np.isfinite([b.norm, b.angle, b.half_life]).tolist() for key, b in known.items()}
    assert finite == {
        "gradient_descent": [False, True, True],
        "momentum": [False, True, True],
        "adam": [False, False, False],
        "adamw": [True, True, True],
        "lion": [True, True, True],
    }


def test_an_optimizer_without_a_law_has_no_balance():
    class Lawless(Optimizer):
        def update(self, memory, theta, gradient, rates, decays):
            return 0 * theta, memory

        def angles(self, course):
            return course.step_norms

        def effective_rates(self, rates, decay, norms):
            return rates

    assert rotational_equilibrium(Lawless(), rate=0.1, decay=0.1, weights=9) is None


def test_bad_numbers_of_a_balance_are_named(subtests):
    for options, sentence in [
        ({"rate": 0}, "`rate` must be a finite number above 0; got 0."),
        ({"decay": -1}, "`decay` must be a finite number above 0; got -1."),
        ({"weights": 1}, "`weights` must be a whole number from 2 up; got 1."),
        ({"gradient_norm": 0}, "`gradient_norm` must be a finite number above 0; got 0."),
        (
            {"rate": 2.0, "decay": 0.5},
            "The product of `rate` and `decay` must be above 0 and below 1, so that decay keeps "
            "the direction; got 2.0 × 0.5.",
        ),
        (
            {"rate": 2.0, "decay": 1.5},
            "The product of `rate` and `decay` must be above 0 and below 1, so that decay keeps "
            "the direction; got 2.0 × 1.5.",
        ),
    ]:
        with subtests.test(sentence), says(sentence):
            rotational_equilibrium("adamw", **{"rate": 0.1, "decay": 0.1, "weights": 9} | options)


@pytest.mark.parametrize(
    ("norm", "within", "sentence"),
    [
        (0, 0.1, "`norm` must be a finite number above 0; got 0."),
        (1, 1, "`within` must be a finite number above 0 and below 1; got 1."),
    ],
)
def test_bad_starts_are_named(norm, within, sentence):
    balance = rotational_equilibrium("adamw", rate=0.1, decay=0.1, weights=9)
    with says(sentence):
        balance.steps_from(norm, within)
