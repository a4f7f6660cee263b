"""Each optimizer against a loop written by hand, with gradients independent of the optimizer."""

import numpy as np
import pytest

from normgeo import GRID, NORMALIZERS, NormalizedGLM, descend
from normgeo.base.refusal import Refusal
from normgeo.datasets.mini_batches import MiniBatches
from normgeo.dynamics.adam import Adam, AdamW
from normgeo.dynamics.gradient_descent import GradientDescent, Momentum
from normgeo.dynamics.lion import Lion
from normgeo.dynamics.optimizer import Optimizer
from normgeo.dynamics.optimizers import OPTIMIZERS
from normgeo.dynamics.scale_free import ScaleFree
from normgeo.dynamics.schedules import Constant, Exponential, Schedule
from tests.dynamics.started import start
from tests.refused import says
from tests.stepping import stepping

RATE, DECAY = 0.07, 0.3
every_optimizer = pytest.mark.pairwise("optimizer", OPTIMIZERS)
every_method = pytest.mark.pairwise("normalizer", GRID.values())


@pytest.fixture
def cases(rng):
    return rng.normal(0.5, 1, (13, 5)), rng.integers(0, 4, 13)


TEXTBOOK = ("gradient_descent", "momentum", "adam", "adamw", "lion")
every_textbook_loop = pytest.mark.pairwise("optimizer", TEXTBOOK)


def by_hand(key, theta, gradient, weights, *, rate=RATE, decay=DECAY, steps=6):
    """The textbook loops, parameter by parameter; `gradient` is of the loss at θ and step t."""
    velocity = mean = square = np.zeros_like(theta)
    path, decays = [theta], decay * weights
    for t in range(1, steps + 1):
        G = gradient(theta, t - 1)
        if key == "gradient_descent":
            theta = (1 - rate * decays) * theta - rate * G
        elif key == "momentum":
            velocity = 0.9 * velocity + (G + decays * theta)
            theta = theta - rate * velocity
        elif key == "lion":
            sign = np.sign(0.9 * mean + 0.1 * G)
            theta = theta - rate * (sign + decays * theta)
            mean = 0.99 * mean + 0.01 * G
        else:
            if key == "adam":
                G = G + decays * theta
            mean = 0.9 * mean + 0.1 * G
            square = 0.999 * square + 0.001 * G**2
            step = (mean / (1 - 0.9**t)) / (np.sqrt(square / (1 - 0.999**t)) + 1e-8)
            if key == "adamw":
                theta = theta - rate * decays * theta
            theta = theta - rate * step
        path.append(theta)
    return np.array(path)


def is_weight(model):
    """1 at the indices of W in θ, neuron by neuron [w, b, g]."""
    row = [1.0] * 5 + [0.0] * (1 if model.g is None else 2)
    return np.array(row * 4)


@every_method
@every_textbook_loop
def test_rule_is_its_textbook_loop_with_decay_on_the_weights_alone(optimizer, normalizer, cases):
    X, y = cases
    model = start(normalizer)
    run = descend(model, X, y, optimizer, steps=6, rate=RATE, decay=DECAY)
    expected = by_hand(
        optimizer,
        model.pack(),
        lambda theta, t: -model.unpack(theta).gradient(X, y),
        is_weight(model),
    )
    np.testing.assert_allclose(run.parameters, expected, rtol=0, atol=1e-9)


@every_textbook_loop
def test_mini_batches_are_the_loop_over_the_same_cases(optimizer, cases):
    X, y = cases
    model = start(NORMALIZERS["batch"])
    order = MiniBatches(13, 5).draw(seed=8)
    batches = [next(order) for _ in range(8)]
    assert [len(batch) for batch in batches] == [5, 5, 3, 5, 5, 3, 5, 5]
    expected = by_hand(
        optimizer,
        model.pack(),
        lambda theta, t: -model.unpack(theta).gradient(X[batches[t]], y[batches[t]]),
        is_weight(model),
        steps=7,
    )
    run = descend(model, X, y, optimizer, steps=7, rate=RATE, decay=DECAY, batch_size=5, seed=8)
    np.testing.assert_allclose(run.parameters, expected, rtol=0, atol=1e-9)
    for t, cases_of_step in enumerate(batches):
        loss = -run.model_at(t).log_likelihood(X[cases_of_step], y[cases_of_step])
        assert run.loss[t] == pytest.approx(loss, rel=1e-12)


def test_momentum_without_memory_is_gradient_descent(cases):
    model = start(NORMALIZERS["layer"])
    plain, forgetful = (
        descend(model, *cases, rule, steps=20, rate=0.3, decay=0.1)
        for rule in (GradientDescent(), Momentum(0.0))
    )
    np.testing.assert_allclose(forgetful.parameters, plain.parameters, rtol=0, atol=1e-13)


def test_adam_and_adamw_differ_only_by_decay(cases):
    model = start(NORMALIZERS["layer"])
    runs = {
        decay: [descend(model, *cases, rule, steps=9, decay=decay) for rule in ("adam", "adamw")]
        for decay in (0.0, 0.5)
    }
    np.testing.assert_array_equal(runs[0.0][0].parameters, runs[0.0][1].parameters)
    assert np.abs(runs[0.5][0].parameters - runs[0.5][1].parameters).max() > 0.01


@every_optimizer
@pytest.mark.pairwise("batch_size", [None, 4])
def test_same_seed_same_numbers_and_another_seed_others(optimizer, batch_size, cases):
    def run(seed):
        return descend(
            start(NORMALIZERS["batch"]),
            *cases,
            optimizer,
            steps=12,
            batch_size=batch_size,
            seed=seed,
        )

    first, second, other = run(1), run(1), run(2)
    np.testing.assert_array_equal(first.parameters, second.parameters)
    np.testing.assert_array_equal(first.loss, second.loss)
    assert (first.parameters == other.parameters).all() == (batch_size is None)


def test_adam_is_a_ratio_of_explicit_weighted_means(rng):
    gradients, rates = rng.standard_normal((6, 4)), np.full(4, 0.1)
    theta, by_hand = np.ones(4), np.ones(4)
    update = stepping(Adam(), theta)
    for t, gradient in enumerate(gradients, start=1):
        theta = update(theta, gradient, rates)
        weights1, weights2 = (beta ** np.arange(t)[::-1] for beta in (0.9, 0.999))
        mean = weights1 @ gradients[:t] / weights1.sum()
        square = weights2 @ gradients[:t] ** 2 / weights2.sum()
        by_hand = by_hand - 0.1 * mean / (np.sqrt(square) + 1e-8)
    np.testing.assert_allclose(theta, by_hand, rtol=1e-10)


@every_optimizer
def test_runs_of_one_rule_share_nothing(optimizer):
    rule, ones = OPTIMIZERS[optimizer], np.ones(2)
    memory = rule.init(ones)
    once, following = rule.update(memory, ones, ones, ones, 0.1 * ones)
    rule.update(following, once, ones, ones, 0.1 * ones)
    again, _ = rule.update(memory, ones, ones, ones, 0.1 * ones)
    np.testing.assert_array_equal(again, once)


@every_optimizer
def test_steps_are_linear_in_the_gradients_where_it_says_so(optimizer, rng):
    rule, gradients, ones = OPTIMIZERS[optimizer], rng.standard_normal((4, 6)), np.ones(6)
    ends = []
    for factor in (1.0, 3.0):
        theta, update = np.zeros(6), stepping(rule, np.zeros(6))
        for gradient in gradients:
            theta = update(theta, factor * gradient, 0.1 * ones)
        ends.append(theta)
    assert np.allclose(ends[1], 3 * ends[0], rtol=1e-9) == rule.linear


@every_optimizer
@pytest.mark.pairwise("decay", [0.0, 0.4])
def test_steps_are_tangent_where_it_says_so(optimizer, decay, cases):
    """Without memory, a step adds to (1 − ηλ)w a vector orthogonal to w, like the gradient."""
    rule = OPTIMIZERS[optimizer]
    run = descend(start(NORMALIZERS["layer"]), *cases, rule, steps=5, rate=0.1, decay=decay)
    shrunk = (1 - 0.1 * decay) * run.norms[:-1] / run.norms[1:]
    assert np.allclose(np.cos(run.angles), shrunk, rtol=0, atol=1e-12) == rule.tangent


@every_optimizer
def test_longest_first_step_at_the_suggested_rate_is_as_long_as_asked(optimizer, rng):
    rule, blocks, other = OPTIMIZERS[optimizer], rng.standard_normal((3, 7)), rng.standard_normal(2)
    rate = rule.suggested_rate(rule.first_turn, blocks, (other,))
    steps = [
        np.linalg.norm(stepping(rule, 0 * part)(0 * part, part, rate)) for part in (*blocks, other)
    ]
    # For momentum, compare the total of the steps under a constant gradient.
    assert max(steps) / (1 - getattr(rule, "beta", 0)) == pytest.approx(rule.first_turn, rel=1e-6)


@pytest.mark.parametrize("beta", [0.0, 0.5, 0.9])
def test_effective_rate_is_that_of_the_step_which_a_lasting_gradient_ends_in(beta):
    theta, gradient = np.zeros(3), np.array([1.0, -2.0, 2.0])
    update = stepping(Momentum(beta), theta)
    for _ in range(400):
        before, theta = theta, update(theta, gradient, np.full(3, RATE))
    found = Momentum(beta).effective_rates(np.array([RATE]), 0.0, np.array([2.0]))
    assert found == pytest.approx(np.linalg.norm(theta - before) / 3 / 2.0**2)


def test_where_the_law_is_for_small_angles_the_first_turn_is_small():
    """So small that the angle and its tangent agree to 1%."""
    turns = [rule.first_turn for rule in OPTIMIZERS.values() if isinstance(rule, ScaleFree)]
    assert turns
    assert np.arctan(turns) == pytest.approx(turns, rel=0.01)


def test_a_rule_forgets_one_run_before_the_next(cases):
    rule, model = Adam(), start(NORMALIZERS["layer"])
    first, second = (descend(model, *cases, rule, steps=5) for _ in range(2))
    np.testing.assert_array_equal(first.parameters, second.parameters)


# Schedules.


def test_exponential_rates_multiply_each_step(cases):
    X, y = cases
    model = start(NORMALIZERS["weight"])
    run = descend(model, X, y, steps=4, rate=Exponential(0.2, 1.5))
    theta = model.pack()
    for t in range(5):
        np.testing.assert_allclose(run.parameters[t], theta, rtol=0, atol=1e-13)
        theta = theta + 0.2 * 1.5**t * model.unpack(theta).gradient(X, y)
    np.testing.assert_allclose(run.rates, [0.2, 0.3, 0.45, 0.675, 1.0125], rtol=1e-15)
    assert run.rate == 0.2


def test_gain_and_bias_may_have_a_schedule_of_their_own(cases):
    model = start(NORMALIZERS["weight"])
    run = descend(model, *cases, steps=3, rate=Exponential(0.2, 0.5), affine_rate=Constant(0.2))
    W, b, g = (
        np.array([getattr(run.model_at(t), name) for t in range(4)]) for name in ("W", "b", "g")
    )
    for t in range(3):
        dW, db, dg = model.layout.split(run.model_at(t).gradient(*cases))
        np.testing.assert_allclose(W[t + 1] - W[t], 0.2 * 0.5**t * dW, atol=1e-14)
        np.testing.assert_allclose(b[t + 1] - b[t], 0.2 * db, atol=1e-14)
        np.testing.assert_allclose(g[t + 1] - g[t], 0.2 * dg, atol=1e-14)


def test_a_rate_that_outgrows_floating_point_ends_the_run(cases):
    run = descend(start(NORMALIZERS["layer"]), *cases, steps=20, rate=Exponential(0.1, 1e60))
    assert run.diverged is not None
    assert run.steps + 1 == run.diverged.step < 10
    assert np.isfinite(run.norms).all()
    assert np.isfinite(run.predicted_norms).all()


class Returning(Schedule):
    """A custom schedule."""

    def __init__(self, found):
        self.found = found

    def rates(self, steps):
        return self.found


def test_what_is_no_schedule_is_refused_in_a_sentence(cases, subtests):
    model = start(NORMALIZERS["layer"])
    for found, told, count in [
        (None, "None", 1),
        ("ten", "'ten'", 1),
        ([[0.1], [0.1, 0.2]], "[[0.1], [0.1, 0.2]]", 1),
        (np.full(1, np.nan), "array([nan])", 1),
        (np.full(1, -0.1), "array([-0.1])", 1),
        (np.full(1, 0.1), "array([0.1])", 3),
    ]:
        with (
            subtests.test(found=told),
            says(
                "The `rates` of a schedule must return numbers of 0 or more, one for each step; "
                f"those of `rate` return {told} for {count} steps."
            ),
        ):
            descend(model, *cases, steps=2, rate=Returning(found))
    with pytest.raises(Refusal, match="those of `affine_rate` return None for 3 steps"):
        descend(model, *cases, steps=2, affine_rate=Returning(None))


class Stepping(Optimizer):
    """A custom optimizer."""

    key = title = "own"

    def __init__(self, found):
        self.found = found

    def update(self, memory, theta, gradient, rates, decays):
        return self.found

    def angles(self, course):
        raise AssertionError

    def effective_rates(self, rates, decay, norms):
        raise AssertionError


def test_what_is_no_optimizer_is_refused_in_a_sentence(cases, subtests):
    model = start(NORMALIZERS["layer"])
    for found, told in [
        (None, "None"),
        (np.ones(2), "array([1., 1.])"),
        ((1.0, ()), "(1.0, ())"),
        ((np.ones(3), ()), "(array([1., 1., 1.]), ())"),
    ]:
        with (
            subtests.test(found=told),
            says(
                "The `update` of an optimizer must return a step, an array of the shape of θ, and "
                f"what it remembers; that of 'Stepping' returns {told}."
            ),
        ):
            descend(model, *cases, Stepping(found), steps=2)


# Mini-batches.


@pytest.mark.parametrize(("cases", "size"), [(10, 3), (10, 5), (7, 7), (5, 1)])
def test_an_epoch_sees_every_case_once(cases, size):
    plan = MiniBatches(cases, size)
    batches, rng = plan.draw(seed=0), len(plan.bounds)
    epochs = [np.concatenate([next(batches) for _ in range(rng)]) for _ in range(3)]
    for epoch in epochs:
        assert sorted(epoch) == list(range(cases))
    assert any((epochs[0] != epoch).any() for epoch in epochs)


def test_a_single_case_without_a_z_is_left_out_of_each_epoch(rng):
    X, y = rng.normal(size=(11, 5)), rng.integers(0, 4, 11)
    run = descend(start(NORMALIZERS["batch"]), X, y, steps=8, batch_size=5)
    assert run.diverged is None
    assert run.notes == (
        "11 cases make 2 batches of 5 and one of a single case, which has no batch statistics: "
        "it is left out, another one in each epoch.",
    )
    left_in = descend(start(NORMALIZERS["layer"]), X, y, steps=8, batch_size=5)
    assert left_in.notes == ()
    plan = MiniBatches(11, 5, single_allowed=False)
    batches = plan.draw(seed=0)
    missing = [
        set(range(11)) - set(np.concatenate([next(batches), next(batches)])) for _ in range(5)
    ]
    assert {len(cases) for cases in missing} == {1}
    assert len(set.union(*missing)) > 1


def test_all_cases_as_one_mini_batch_is_the_full_descent(cases):
    model = start(NORMALIZERS["batch"])
    whole = descend(model, *cases, steps=5)
    shuffled = descend(model, *cases, steps=5, batch_size=13)
    np.testing.assert_allclose(shuffled.parameters, whole.parameters, rtol=0, atol=1e-13)


def test_a_mini_batch_without_a_z_ends_the_run_with_its_reason():
    X = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.5], [2.0, 1.0], [0.3, 3.0], [-1.0, 0.7]])
    model = NormalizedGLM(NORMALIZERS["batch"], "gaussian", [[1.0, 1.0], [1.0, -2.0]])
    run = descend(model, X, np.zeros((6, 2)), steps=50, batch_size=2, seed=4)
    assert 1 < run.diverged.step == run.steps + 1
    assert run.diverged.reason.startswith("σ must not vanish, but neuron 0 has a = μ")
    assert len(run.loss) == len(run.norms) == run.steps + 1
    assert run.kept[-1] == run.steps


# Bad input.


def test_bad_numbers_of_a_rule_are_named(subtests):
    for make, sentence in [
        (lambda: Momentum(1.0), "`beta` must be a finite number from 0 up and below 1; got 1.0."),
        (
            lambda: Momentum(float("nan")),
            "`beta` must be a finite number from 0 up and below 1; got nan.",
        ),
        (
            lambda: Adam(beta1=-0.1),
            "`beta1` must be a finite number from 0 up and below 1; got -0.1.",
        ),
        (lambda: AdamW(beta2=2), "`beta2` must be a finite number from 0 up and below 1; got 2."),
        (
            lambda: Lion(beta2=1),
            "`beta2` must be a finite number from 0 up and below 1; got 1.",
        ),
        (lambda: AdamW(eps=0), "`eps` must be a finite number above 0; got 0."),
        (lambda: Constant(-1), "`rate` must be a finite number from 0 up; got -1."),
        (lambda: Exponential(0, 1), "`rate` must be a finite number above 0; got 0."),
        (lambda: Exponential(1, -1), "`ratio` must be a finite number above 0; got -1."),
    ]:
        with subtests.test(sentence), says(sentence):
            make()


def test_bad_options_of_a_descent_are_named(cases, subtests):
    for options, sentence in [
        ({"decay": -1}, "`decay` must be a finite number from 0 up; got -1."),
        ({"decay": float("inf")}, "`decay` must be a finite number from 0 up; got inf."),
        ({"rate": Constant(0)}, "`rate` must be a finite number above 0; got 0.0."),
        (
            {"batch_size": 14},
            "`batch_size` must be a whole number from 1 to 13, the number of training cases; "
            "got 14.",
        ),
        (
            {"batch_size": 0},
            "`batch_size` must be a whole number from 1 to 13, the number of training cases; "
            "got 0.",
        ),
        (
            {"batch_size": 2.5},
            "`batch_size` must be a whole number from 1 to 13, the number of training cases; "
            "got 2.5.",
        ),
    ]:
        with subtests.test(sentence), says(sentence):
            descend(start(NORMALIZERS["layer"]), *cases, **options)


def test_batches_of_one_case_are_refused_where_they_have_no_z(cases):
    with says(
        "A batch mean is taken over the cases, so it needs at least 2 of them; got 1 case, "
        "whose z would be 0, 0/0 or only a sign. Use more cases, or frozen statistics."
    ):
        descend(start(NORMALIZERS["batch"]), *cases, batch_size=1)


@pytest.mark.parametrize("decay", [0.0005, 0.02, 0.5, 2.0])
def test_angle_of_momentum_goes_with_its_gradient_and_through_balance(decay):
    """On both sides of ηλ = (1 − √β)² = 0.0026, above which w oscillates."""
    rule, one = OPTIMIZERS["momentum"], np.ones(1)
    balance = rule.equilibrium(0.1, decay, one, 100)
    here = rule.expected_angles(0.1, decay, balance.norm, one / balance.norm, 100)
    np.testing.assert_allclose(here, balance.angle, rtol=1e-9)
    lengths = np.array([1e-9, 1e-6, 1e-3])
    small = rule.expected_angles(0.1, decay, np.ones(3), lengths, 100)
    np.testing.assert_allclose(small / lengths, small[0] / lengths[0], rtol=1e-3)
    assert small[0] < 1e-8
