"""Descent against hand-written loops, optima of other libraries, and the laws of section 5.2."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.optimize
import statsmodels.api as sm

from normgeo import GRID, NORMALIZERS, NormalizedGLM, Normalizer
from normgeo.base.progress import Stop
from normgeo.dynamics.descent import descend
from normgeo.dynamics.gradient_descent import GradientDescent
from normgeo.dynamics.optimizer import Optimizer
from normgeo.dynamics.optimizers import OPTIMIZERS
from normgeo.dynamics.trajectory import compare
from tests.dynamics.started import every_homogeneous, start
from tests.refused import says

every_method = pytest.mark.pairwise("normalizer", GRID.values())
every_optimizer = pytest.mark.pairwise("optimizer", OPTIMIZERS)


def on_digits(digits, key, **options):
    model = NormalizedGLM.random(
        NORMALIZERS[key], "categorical", 10, digits.D, np.random.default_rng(0)
    )
    return descend(model, digits.X, digits.y, **options)


def exact_angle(u, v):
    """The angle between two vectors below a right angle, from exact fractions."""
    u, v = (np.array([Fraction(x) for x in vector.tolist()]) for vector in (u, v))
    squared_tangent = (u @ u * (v @ v) - (u @ v) ** 2) / (u @ v) ** 2
    return math.atan(math.sqrt(squared_tangent))


# The laws of a homogeneous block.


@pytest.mark.pairwise("key", ["batch", "weight", "layer", "rms", "group"])
@pytest.mark.pairwise("rate", [0.1, 2.0])
def test_squared_norm_grows_by_the_squared_step_on_digits(digits, key, rate):
    run = on_digits(digits, key, steps=60, rate=rate)
    grown = run.norms[:-1] ** 2 + rate**2 * run.gradient_norms**2
    np.testing.assert_allclose(run.norms[1:] ** 2, grown, rtol=1e-12)
    np.testing.assert_allclose(run.predicted_norms, run.norms, rtol=1e-12)
    assert (np.diff(run.norms, axis=0) > 0).all()
    assert run.norms[-1].max() > (1.0005 if rate < 1 else 1.1) * run.norms[0].max()


@pytest.mark.parametrize("key", ["batch", "weight", "layer", "rms", "group"])
def test_turn_of_a_step_is_the_arctangent_of_step_over_norm_on_digits(digits, key):
    run = on_digits(digits, key, steps=60, rate=2.0)
    np.testing.assert_allclose(run.angles, run.predicted_angles, rtol=1e-11)
    assert run.angles.max() > 0.1  # large enough that the arctangent differs from its argument
    np.testing.assert_allclose(run.effective_learning_rate, 2.0 / run.norms**2, rtol=1e-15)


@every_homogeneous
def test_gradient_is_orthogonal_to_a_homogeneous_block(normalizer, cases):
    model = start(normalizer)
    run = descend(model, *cases, steps=3, rate=0.3)
    assert run.radial.shape == (3, len(normalizer.homogeneous_blocks(len(model.W))))
    assert np.abs(run.radial).max() < 1e-13
    np.testing.assert_allclose(run.predicted_norms, run.norms, rtol=1e-13)
    np.testing.assert_allclose(run.predicted_angles, run.angles, rtol=1e-11)


@pytest.mark.parametrize("scale", ["none", "batch", "layer", "weight"])
def test_mean_row_never_moves_under_a_layer_center(scale, cases):
    model = start(Normalizer("layer", scale))
    gradient = model.gradient(*cases)
    dW, _, _ = model.layout.split(gradient)
    assert np.abs(dW.sum(axis=0)).max() < 1e-14 * np.abs(dW).sum()
    after = descend(model, *cases, steps=200, rate=0.5).model_at(200)
    np.testing.assert_allclose(after.W.mean(axis=0), model.W.mean(axis=0), rtol=0, atol=1e-13)
    assert np.abs(after.W - model.W).max() > 0.1


def test_mean_row_of_each_group_never_moves_under_group_norm(cases):
    model = start(NORMALIZERS["group"])
    after = descend(model, *cases, steps=200, rate=0.5).model_at(200)
    means = [m.W.reshape(2, 3, 5).mean(axis=1) for m in (model, after)]
    np.testing.assert_allclose(means[1], means[0], rtol=0, atol=1e-13)
    assert np.abs(after.W - model.W).max() > 0.1


def test_common_shift_of_all_rows_does_not_slow_layer_norm(cases):
    model = start(NORMALIZERS["layer"])
    shifted = replace_weights(model, model.W + 10.0)
    plain, moved = (descend(m, *cases, steps=20, rate=0.5) for m in (model, shifted))
    np.testing.assert_allclose(moved.norms, plain.norms, rtol=1e-12)
    np.testing.assert_allclose(moved.angles, plain.angles, rtol=1e-10)
    np.testing.assert_allclose(moved.loss, plain.loss, rtol=1e-12)


def replace_weights(model, W):
    return NormalizedGLM(model.normalizer, model.family, W, model.b, model.g)


@every_homogeneous
@pytest.mark.pairwise("k", [0.125, 3.0, 1e4])
def test_directions_are_the_same_when_the_rate_grows_with_the_squared_norm(normalizer, k, cases):
    model = start(normalizer)
    plain = descend(model, *cases, steps=30, rate=0.2)
    scaled = descend(
        replace_weights(model, k * model.W), *cases, steps=30, rate=0.2 * k**2, affine_rate=0.2
    )
    np.testing.assert_allclose(scaled.loss, plain.loss, rtol=1e-11)
    np.testing.assert_allclose(scaled.angles, plain.angles, rtol=1e-9)
    np.testing.assert_allclose(scaled.norms, k * plain.norms, rtol=1e-11)
    np.testing.assert_allclose(scaled.model_at(30).W, k * plain.model_at(30).W, rtol=1e-9)
    np.testing.assert_allclose(scaled.model_at(30).g, plain.model_at(30).g, rtol=1e-11)


def test_directions_differ_at_the_same_rate_from_another_norm(cases):
    """Negative control for the test above: the same rate at twice the norm turns less."""
    model = start(NORMALIZERS["layer"])
    plain = descend(model, *cases, steps=1, rate=0.2)
    slow = descend(replace_weights(model, 2 * model.W), *cases, steps=1, rate=0.2)
    np.testing.assert_allclose(np.tan(slow.angles), np.tan(plain.angles) / 4, rtol=1e-12)


@pytest.mark.parametrize("eps", [1e-12, 0.3])
def test_norm_law_is_one_of_no_epsilon(eps, cases):
    run = descend(start(Normalizer("layer", "layer", eps=eps)), *cases, steps=20, rate=0.5)
    off = np.abs(run.predicted_norms / run.norms - 1).max()
    assert off < 1e-10 if eps < 1e-3 else off > 1e-4


@pytest.mark.parametrize("normalizer", [GRID["none", "none"], GRID["layer", "none"]], ids=str)
def test_without_a_scale_neurons_are_measured_and_nothing_is_predicted(normalizer, cases):
    run = descend(start(normalizer), *cases, steps=7, rate=0.1)
    assert not run.blocks.homogeneous
    assert run.norms.shape == (8, 4)
    assert run.angles.shape == run.gradient_norms.shape == run.radial.shape == (7, 4)
    assert np.abs(run.radial).max() > 0.1
    assert run.predicted_angles.shape == (7, 0)
    assert run.predicted_norms.shape == run.effective_learning_rate.shape == (8, 0)


# The descent itself.


def difference_gradient(loss, theta, h=1e-4):
    """Fourth-order differences of a loss, one parameter at a time."""
    steps = h * np.eye(len(theta))
    return np.array(
        [
            (8 * (loss(theta + d) - loss(theta - d)) - loss(theta + 2 * d) + loss(theta - 2 * d))
            / (12 * h)
            for d in steps
        ]
    )


@every_method
def test_gradient_descent_is_a_loop_over_difference_gradients(normalizer, cases):
    X, y = cases
    model = start(normalizer)
    theta, loss = model.pack(), lambda theta: -model.unpack(theta).log_likelihood(X, y)
    run = descend(model, X, y, steps=4, rate=0.3)
    for step in range(5):
        np.testing.assert_allclose(run.parameters[step], theta, rtol=0, atol=1e-9)
        np.testing.assert_allclose(run.loss[step], loss(theta), rtol=1e-9)
        theta = theta - 0.3 * difference_gradient(loss, theta)


@pytest.mark.parametrize(
    ("family", "y", "link"),
    [
        ("gaussian", lambda X, rng: X @ [1.0, -2.0] + rng.normal(size=60), sm.families.Gaussian()),
        (
            "bernoulli",
            lambda X, rng: 1.0 * (X @ [1.0, -2.0] + rng.logistic(size=60) > 0),
            sm.families.Binomial(),
        ),
        ("poisson", lambda X, rng: rng.poisson(np.exp(X @ [0.3, -0.2])), sm.families.Poisson()),
    ],
    ids=["gaussian", "bernoulli", "poisson"],
)
def test_standard_model_descends_to_the_optimum_of_statsmodels(family, y, link, rng):
    X = rng.normal(size=(60, 2))
    targets = y(X, rng)
    expected = sm.GLM(targets, sm.add_constant(X), family=link).fit(tol=1e-12).params
    zero = NormalizedGLM(GRID["none", "none"], family, np.zeros((1, 2)))
    run = descend(zero, X, targets, steps=1000, rate=0.9)
    found = run.model_at(run.steps)
    np.testing.assert_allclose(np.append(found.b, found.W), expected, rtol=1e-8)
    assert run.angles[0] == 0  # the zero vector has no direction
    assert (np.diff(run.loss) <= 1e-15).all()


def test_standard_softmax_descends_to_the_optimum_of_scipy(rng):
    X, y = rng.normal(size=(50, 2)), rng.integers(0, 3, 50)
    zero = NormalizedGLM(GRID["none", "none"], "categorical", np.zeros((3, 2)))
    run = descend(zero, X, y, steps=2000, rate=0.5)

    def loss(theta):
        s = X @ theta[:6].reshape(3, 2).T + theta[6:]
        return np.mean(np.log(np.exp(s).sum(axis=1)) - s[np.arange(50), y])

    assert run.loss[-1] == pytest.approx(scipy.optimize.minimize(loss, np.zeros(9)).fun, rel=1e-9)


def test_measured_angle_is_that_of_the_stored_parameters(cases):
    run = descend(start(NORMALIZERS["weight"]), *cases, steps=1, rate=1e-5)
    before, after = (run.model_at(t).W for t in (0, 1))
    for h in range(4):
        assert run.angles[0, h] == pytest.approx(exact_angle(before[h], after[h]), rel=1e-12)


def test_affine_rate_of_zero_holds_gain_and_bias(cases):
    model = start(NORMALIZERS["batch"])
    after = descend(model, *cases, steps=5, rate=0.5, affine_rate=0).model_at(5)
    np.testing.assert_array_equal(after.g, model.g)
    np.testing.assert_array_equal(after.b, model.b)
    assert np.abs(after.W - model.W).min() > 0


def test_gaussian_loss_is_in_nats_per_case_with_its_dispersion(rng):
    X, y = rng.normal(size=(6, 2)), rng.normal(size=6)
    model = NormalizedGLM(GRID["none", "none"], "gaussian", [[1.0, 2.0]], phi=0.5)
    loss = np.mean((y - X @ [1.0, 2.0]) ** 2 + np.log(np.pi) / 2)
    assert descend(model, X, y, steps=1).loss[0] == pytest.approx(loss, rel=1e-14)


@every_method
@every_optimizer
def test_same_arguments_give_the_same_numbers(normalizer, optimizer, cases):
    first, second = (
        descend(start(normalizer), *cases, optimizer, steps=5, rate=0.3) for _ in range(2)
    )
    for name in ("loss", "norms", "angles", "gradient_norms", "radial", "parameters"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
        assert np.isfinite(getattr(first, name)).all()


@every_optimizer
def test_optimizer_is_taken_by_name_or_as_itself(optimizer, cases):
    model = start(NORMALIZERS["layer"])
    by_name = descend(model, *cases, optimizer, steps=3)
    itself = descend(model, *cases, OPTIMIZERS[optimizer], steps=3)
    np.testing.assert_array_equal(by_name.parameters, itself.parameters)
    assert by_name.optimizer is OPTIMIZERS[optimizer]


def test_start_is_left_as_it_was(cases):
    model = start(NORMALIZERS["layer"])
    theta = model.pack()
    descend(model, *cases, steps=5)
    np.testing.assert_array_equal(model.pack(), theta)


def test_half_precision_weights_are_trained_in_double(cases):
    model = start(NORMALIZERS["layer"])
    narrow = NormalizedGLM(model.normalizer, "categorical", model.W.astype(np.float32))
    run = descend(narrow, *cases, steps=20, rate=0.5)
    np.testing.assert_allclose(run.predicted_norms, run.norms, rtol=1e-13)


# A run that ends early.


def test_progress_is_told_of_every_step_and_may_stop_the_run(cases):
    seen = []

    def stop_at_four(step, steps):
        seen.append((step, steps))
        if step == 4:
            raise Stop

    model = start(NORMALIZERS["batch"])
    run = descend(model, *cases, steps=50, progress=stop_at_four)
    whole = descend(model, *cases, steps=4)
    assert seen == [(step, 50) for step in range(5)]
    assert run.steps == 4
    assert run.diverged is None
    np.testing.assert_array_equal(run.parameters, whole.parameters)
    np.testing.assert_array_equal(run.angles, whole.angles)


def test_run_stopped_before_its_first_step_keeps_its_start(cases):
    def stop(step, steps):
        raise Stop

    run = descend(start(NORMALIZERS["batch"]), *cases, steps=50, progress=stop)
    assert run.steps == 0
    assert run.loss.shape == (1,)
    assert run.norms.shape == run.predicted_norms.shape == (1, 4)
    assert run.angles.shape == run.predicted_angles.shape == run.radial.shape == (0, 4)


def everything_is_finite(run):
    names = ("loss", "norms", "angles", "gradient_norms", "step_norms", "radial", "parameters")
    predicted = ("predicted_norms", "predicted_angles", "effective_learning_rate")
    return all(np.isfinite(getattr(run, name)).all() for name in names + predicted)


def test_too_large_a_rate_ends_with_its_step_and_keeps_what_it_has(cases):
    X, _ = cases
    model = start(GRID["none", "none"], "gaussian")
    run = descend(model, X, X @ model.W.T + 1, steps=5000, rate=10.0)
    assert run.diverged.step == run.steps + 1
    assert 50 < run.steps < 1000
    assert run.diverged.reason.startswith("Natural parameters must not exceed 1e+150 in size; got")
    assert everything_is_finite(run)
    assert run.loss[-1] > 1e200
    assert run.kept.tolist() == list(range(run.steps + 1))
    shorter = descend(model, X, X @ model.W.T + 1, steps=run.steps, rate=10.0)
    np.testing.assert_array_equal(shorter.parameters, run.parameters)


@pytest.mark.pairwise("rate,decay", [(1e300, 0.0), (1e150, 1e-3), (1e3, 0.5)])
@every_method
@every_optimizer
def test_whatever_the_rate_a_run_keeps_finite_numbers_and_theory_of_them(
    normalizer, optimizer, rate, decay, cases
):
    """Warnings are errors: no overflow, neither in the run nor in its predictions."""
    run = descend(start(normalizer), *cases, optimizer, steps=8, rate=rate, decay=decay)
    assert everything_is_finite(run)
    for found in compare(run).values():
        assert np.isfinite(found.deviation)
    if run.diverged:
        assert run.diverged.step == run.steps + 1 <= 8
        assert run.diverged.reason.endswith(".")
    np.testing.assert_array_equal(run.model_at(run.steps).pack(), run.parameters[-1])


@pytest.mark.parametrize("key", ["standard", "batch", "layer"])
def test_poisson_overflow_ends_with_its_reason(key, rng):
    X, y = rng.normal(size=(12, 5)), rng.poisson(20, size=(12, 4))
    run = descend(start(NORMALIZERS[key], "poisson"), X, y, steps=100, rate=40.0)
    assert run.diverged is not None
    assert run.diverged.step == run.steps + 1
    assert run.diverged.reason.startswith(
        "Natural parameters of the Poisson family must not exceed 709.78"
    )
    assert everything_is_finite(run)


def test_gradient_beyond_the_largest_float_ends_with_its_reason():
    model = NormalizedGLM(GRID["none", "none"], "gaussian", [[1e149, 1e149]])
    run = descend(model, [[1.0, 0.5], [0.5, 1.0]], [0.0, 1.0], steps=5, rate=1e200)
    assert run.diverged == (
        1,
        "The gradient or the next parameters, or their squares, exceed the largest float.",
    )
    assert run.steps == 0
    assert everything_is_finite(run)


def test_vanishing_scale_ends_with_its_reason():
    X, y = np.array([[1.0, 0.0], [0.3, 1.0]]), np.array([[1.0, 0.0], [0.2, 0.7]])
    model = NormalizedGLM(NORMALIZERS["layer"], "gaussian", np.eye(2))
    run = descend(model, X, y, EqualAt(3), steps=10, rate=0.1)
    assert run.diverged.step == 3
    assert run.diverged.reason.startswith("σ must not vanish, but ")
    assert run.steps == 2
    assert everything_is_finite(run)


class EqualAt(Optimizer):
    """Gradient descent that makes all parameters equal at one step."""

    key = title = "equal"

    def __init__(self, step):
        self.step = step

    def init(self, theta):
        return (np.array(0),)

    def update(self, memory, theta, gradient, rates, decays):
        taken = memory[0] + 1
        return 1 - theta if taken == self.step else -rates * gradient, (taken,)

    def angles(self, course):
        return GradientDescent().angles(course)

    def effective_rates(self, rates, decay, norms):
        return GradientDescent().effective_rates(rates, decay, norms)


# What a run keeps.


def test_parameters_are_kept_at_every_step_of_a_usual_run(cases):
    run = descend(start(NORMALIZERS["layer"]), *cases, steps=9)
    assert run.kept.tolist() == list(range(10))
    assert run.model_at(0).W.tolist() == run.start.W.tolist()
    assert -run.model_at(6).log_likelihood(*cases) == pytest.approx(run.loss[6], rel=1e-15)


def test_a_long_run_keeps_every_kth_step_and_the_last(cases):
    model = start(NORMALIZERS["layer"])
    run = descend(model, *cases, steps=10, checkpoint_bytes=4 * model.pack().nbytes)
    assert run.kept.tolist() == [0, 3, 6, 9, 10]
    assert -run.model_at(9).log_likelihood(*cases) == pytest.approx(run.loss[9], rel=1e-15)
    assert -run.model_at(10).log_likelihood(*cases) == pytest.approx(run.loss[10], rel=1e-15)
    assert len(run.loss) == 11
    with says("`step` must be one of the 5 steps in `kept`, from 0 to 10; got 4."):
        run.model_at(4)


# Bad input.


def test_bad_options_are_named(cases, subtests):
    for options, sentence in [
        ({"rate": 0.0}, "`rate` must be a finite number above 0; got 0.0."),
        ({"rate": -1}, "`rate` must be a finite number above 0; got -1."),
        ({"rate": float("nan")}, "`rate` must be a finite number above 0; got nan."),
        ({"rate": float("inf")}, "`rate` must be a finite number above 0; got inf."),
        ({"affine_rate": -0.1}, "`affine_rate` must be a finite number from 0 up; got -0.1."),
        ({"steps": 0}, "`steps` must be a whole number from 1 up; got 0."),
        ({"steps": 1.5}, "`steps` must be a whole number from 1 up; got 1.5."),
        ({"steps": float("inf")}, "`steps` must be a whole number from 1 up; got inf."),
        (
            {"optimizer": "sgd"},
            f"`optimizer` must be one of {', '.join(OPTIMIZERS)}; got 'sgd'.",
        ),
    ]:
        with subtests.test(sentence), says(sentence):
            descend(start(NORMALIZERS["layer"]), *cases, **options)


def test_labels_outside_the_support_are_refused(cases):
    with says(
        "Class labels must be integers from 0 to 3, one for each of the 4 outputs; got 7. "
        "Renumber the classes or add outputs."
    ):
        descend(start(NORMALIZERS["layer"]), cases[0], [7] * 12)


@pytest.mark.pairwise("batch_size", [None, 2])
@pytest.mark.pairwise("rows", [11, 13, 120])
def test_targets_of_other_cases_are_refused(rows, batch_size, cases):
    """A mini-batch of X and one of y have equal lengths even if X and y do not."""
    with says(
        f"`X` and `y` must have a row for each of the same cases; got 12 rows in X and {rows} in y."
    ):
        descend(start(NORMALIZERS["layer"]), cases[0], [1] * rows, batch_size=batch_size)


def test_a_start_without_a_z_is_refused():
    model = NormalizedGLM(NORMALIZERS["weight"], "gaussian", [[0.0, 0.0]])
    with says(
        "A homogeneous block needs a direction to turn from; got one whose centered weights are "
        "all zero. Start from other weights."
    ):
        descend(model, [[1.0, 2.0]], [1.0])
    constant = NormalizedGLM(NORMALIZERS["batch"], "gaussian", [[1.0, 1.0]])
    with pytest.raises(ValueError, match=r"^σ must not vanish, but "):
        descend(constant, [[0.1, 0.2]] * 3, [1.0, 2.0, 3.0])


def test_a_block_of_zeros_under_epsilon_is_refused():
    model = NormalizedGLM(Normalizer("layer", "layer", eps=1e-5), "gaussian", np.ones((3, 2)))
    with says(
        "A homogeneous block needs a direction to turn from; got one whose centered weights are "
        "all zero. Start from other weights."
    ):
        descend(model, [[1.0, 2.0]], [[1.0, 2.0, 3.0]])


@pytest.mark.parametrize("key", ["batch", "layer", "group"])
def test_one_block_alone_is_measured_as_among_all(key, cases):
    X, y = cases
    model = start(NORMALIZERS[key], "bernoulli")
    y = np.eye(len(model.W))[y % len(model.W)]
    whole = descend(model, X, y, steps=7, rate=0.3)
    last = len(whole.blocks.neurons) - 1
    for one in (whole.of_block(last), descend(model, X, y, steps=7, rate=0.3, block=last)):
        assert one.blocks.neurons.tolist() == [whole.blocks.neurons[last].tolist()]
        for quantity in ("norms", "gradient_norms", "step_norms", "angles", "predicted_norms"):
            of_one, of_all = getattr(one, quantity), getattr(whole, quantity)
            np.testing.assert_allclose(of_one[:, 0], of_all[:, last], rtol=1e-12)
        np.testing.assert_allclose(one.loss, whole.loss, rtol=1e-12)
    assert whole.of_block(last).parameters.size == 0
    with pytest.raises(ValueError, match="`block`"):
        descend(model, X, y, steps=1, block=last + 1)


def test_checkpoints_fit_what_they_may_take(cases):
    X, y = cases
    model = start(NORMALIZERS["layer"])
    size = 8 * model.layout.size
    for room, kept in ((0, [0, 20]), (size, [0, 20]), (10 * size, [0, 3, 6, 9, 12, 15, 18, 20])):
        run = descend(model, X, y, steps=20, checkpoint_bytes=room)
        assert run.kept.tolist() == kept
