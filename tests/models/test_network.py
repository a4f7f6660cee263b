"""Networks against differences and written-out passes; training from its seed, on digits."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from normgeo import GRID, NORMALIZERS, Network, NormalizedGLM, hold_out, train
from normgeo.base.progress import Stop
from normgeo.datasets.datasets import load
from normgeo.datasets.hold_out import Split
from normgeo.dynamics.adam import Adam
from normgeo.dynamics.optimizer import Optimizer
from normgeo.dynamics.optimizers import OPTIMIZERS
from normgeo.models.activations import ACTIVATIONS
from normgeo.models.layers import Layer
from normgeo.models.running_averages import LEAST_SHARE, Running
from tests.pairwise import each
from tests.refused import says

every_method = pytest.mark.pairwise("normalizer", NORMALIZERS.values())
every_activation = pytest.mark.pairwise("activation", ACTIVATIONS)
every_eps = pytest.mark.pairwise("eps", [0.0, 1e-5])
every_rule = pytest.mark.pairwise("rule", OPTIMIZERS)
BATCH = [key for key, n in NORMALIZERS.items() if "batch" in n.words]


def network_of(normalizer, depth, family="categorical", activation="tanh", seed=3):
    """A small network with gains, none of them 1, and biases."""
    rng = np.random.default_rng(seed)
    network = Network.random(
        normalizer, family, (6, 8, 6)[:depth], 5, 3, rng, activation=activation
    )
    hidden = []
    for layer in network.hidden:
        H = len(layer.W)
        gain = None if normalizer.words == ("none", "none") else rng.uniform(0.5, 1.5, H)
        hidden.append(Layer(normalizer, layer.W, rng.normal(0, 0.3, H), gain, activation))
    output = NormalizedGLM(NORMALIZERS["standard"], family, network.output.W, rng.normal(0, 0.3, 3))
    return Network(tuple(hidden), output)


def targets_of(family, rng, N):
    return {
        "categorical": rng.integers(0, 3, N),
        "bernoulli": rng.integers(0, 2, (N, 3)),
        "poisson": rng.poisson(1.0, (N, 3)),
        "gaussian": rng.standard_normal((N, 3)),
    }[family]


@pytest.fixture
def X(rng):
    return rng.normal(0.5, 1, (7, 5))


@pytest.fixture(scope="module")
def digits():
    return hold_out(load("digits"))


@pytest.fixture(scope="module")
def few(digits):
    """Few digits, for runs whose length is not the point: 101 to train on, 20 to test."""
    return Split(
        digits.X_train[:101],
        digits.y_train[:101],
        digits.X_test[:20],
        digits.y_test[:20],
        digits.kept,
    )


def on(data, key, *, eps=1e-5, widths=(16, 16), activation="relu", **options):
    normalizer = replace(NORMALIZERS[key], eps=eps)
    network = Network.random(
        normalizer,
        "categorical",
        widths,
        data.X_train.shape[1],
        10,
        np.random.default_rng(0),
        activation=activation,
    )
    return train(network, data, **options)


@pytest.mark.parametrize("part", ["train", "test"])
def test_targets_of_other_cases_are_refused(few, part):
    X, y = getattr(few, f"X_{part}"), getattr(few, f"y_{part}")
    sentence = (
        "`X` and `y` must have a row for each of the same cases; got "
        f"{len(X)} rows in X and {len(y) - 1} in y."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        on(replace(few, **{f"y_{part}": y[:-1]}), "layer", batch_size=2, epochs=1)


# What a network computes, and its derivative.


def test_forward_pass_is_equation_five_written_out(X):
    network = network_of(NORMALIZERS["layer"], 2)
    for n, x in enumerate(X):
        h = x
        for layer in network.hidden:
            a = [sum(w * v for w, v in zip(row, h, strict=True)) for row in layer.W]
            mu = sum(a) / len(a)
            sigma = math.sqrt(sum((value - mu) ** 2 for value in a) / len(a))
            h = [
                math.tanh(g * (value - mu) / sigma + b)
                for value, g, b in zip(a, layer.units.g, layer.units.b, strict=True)
            ]
        s = network.output.W @ h + network.output.b
        np.testing.assert_allclose(network.natural_parameter(X)[n], s, rtol=1e-12)


def difference(f, step):
    """The slope of f at 0 to fourth order."""
    return (8 * (f(step) - f(-step)) - (f(2 * step) - f(-2 * step))) / (12 * step)


@every_method
@every_eps
@pytest.mark.pairwise("depth", [1, 2, 3])
def test_gradient_equals_differences(normalizer, eps, depth, rng, X):
    network = network_of(replace(normalizer, eps=eps), depth)
    y, theta = targets_of("categorical", rng, len(X)), network.pack()
    loss, gradient = network.loss_and_gradient(X, y)
    assert loss == network.loss(X, y)
    by_difference = [
        difference(lambda h, e=e: network.unpack(theta + h * e).loss(X, y), 1e-3)
        for e in np.eye(len(theta))
    ]
    np.testing.assert_allclose(gradient, by_difference, atol=1e-7 * max(1, np.abs(gradient).max()))
    assert np.abs(gradient).max() > 0.01


@every_activation
@pytest.mark.pairwise("family", ["gaussian", "bernoulli", "poisson", "categorical"])
def test_gradient_equals_differences_for_every_activation_and_family(activation, family, rng, X):
    network = network_of(NORMALIZERS["layer"], 2, family, activation)
    y, theta = targets_of(family, rng, len(X)), network.pack()
    _, gradient = network.loss_and_gradient(X, y)
    for _ in range(5):
        direction = rng.standard_normal(len(theta))
        slope = difference(lambda h: network.unpack(theta + h * direction).loss(X, y), 1e-4)  # noqa: B023
        assert gradient @ direction == pytest.approx(slope, rel=1e-6, abs=1e-8)


def test_output_with_frozen_batch_statistics_has_a_z_for_one_case(rng, X):
    """As at test time: frozen statistics are constants, which a single case is normalized by."""
    below = network_of(NORMALIZERS["layer"], 1).hidden
    W = rng.standard_normal((4, len(below[-1].W)))
    reference = (W, rng.standard_normal((9, W.shape[1])))
    normalizer = replace(NORMALIZERS["batch"], statistics="frozen")
    output = NormalizedGLM(normalizer, "categorical", W, reference=reference)
    network = Network(below, output)
    apart = [network.natural_parameter(X[n : n + 1])[0] for n in range(len(X))]
    np.testing.assert_allclose(network.natural_parameter(X), apart, rtol=1e-12)


@pytest.mark.parametrize("normalizer", GRID.values(), ids=map("-".join, GRID))
def test_both_products_with_the_derivative_agree(normalizer, rng, X):
    network = network_of(normalizer, 3)
    theta, at = network.pack(), network.linearize(X)
    direction, U = rng.standard_normal(len(theta)), rng.standard_normal((7, 3))
    forward = at.jvp(direction)
    assert np.vdot(U, forward) == pytest.approx(at.vjp(U) @ direction, rel=1e-10)
    slope = difference(lambda h: network.unpack(theta + h * direction).natural_parameter(X), 1e-5)
    np.testing.assert_allclose(forward, slope, atol=1e-7 * np.abs(forward).max() + 1e-8)


@every_method
def test_parameters_are_packed_layer_by_layer_and_neuron_by_neuron(normalizer, X):
    network = network_of(normalizer, 2)
    theta = network.pack()
    rebuilt = network.unpack(theta)
    np.testing.assert_array_equal(rebuilt.pack(), theta)
    np.testing.assert_array_equal(rebuilt.natural_parameter(X), network.natural_parameter(X))
    layer = network.hidden[0].units
    first = [*layer.W[0], layer.b[0]] + ([] if layer.g is None else [layer.g[0]])
    np.testing.assert_array_equal(theta[: len(first)], first)
    output = network.output
    np.testing.assert_array_equal(theta[-5:], [*output.W[-1], output.b[-1]][-5:])
    assert len(theta) == sum(units.layout.size for units in network.units)


@every_method
def test_homogeneous_weights_have_gradients_orthogonal_to_them(normalizer, rng, X):
    """In a hidden layer as in an output: the first layer's blocks may be scaled."""
    network = network_of(normalizer, 2)
    y = targets_of("categorical", rng, len(X))
    _, gradient = network.loss_and_gradient(X, y)
    layer = network.hidden[0].units
    dW, _, _ = layer.layout.split(gradient[: layer.layout.size])
    for block in normalizer.homogeneous_blocks(len(layer.W)):
        assert abs(np.vdot(dW[block], layer.W[block])) < 1e-12
        assert np.abs(dW[block]).max() > 1e-6


def test_random_weights_keep_the_scale_of_hidden_states(rng):
    X = rng.standard_normal((500, 300))
    network = Network.random(NORMALIZERS["standard"], "gaussian", (300,) * 4, 300, 1, rng)
    squares = [(h**2).mean() for h in network.linearize(X).hidden]
    np.testing.assert_allclose(squares, 1, atol=0.25)


# Running averages.


def test_running_averages_begin_as_a_mean_and_go_on_as_an_average(rng):
    layer = Layer(NORMALIZERS["batch"], rng.standard_normal((4, 3)))
    batches = rng.normal(1, 2, (30, 8, 3))
    running, mean, variance = Running(), 0.0, 0.0
    for t, batch in enumerate(batches, start=1):
        running = running.updated(layer.units, layer.linearize(batch), batch)
        A = batch @ layer.W.T
        share = max(LEAST_SHARE, 1 / t)
        mean = (1 - share) * mean + share * A.mean(axis=0)
        variance = (1 - share) * variance + share * A.var(axis=0, ddof=1)
        np.testing.assert_allclose(running.mean[0], mean, rtol=1e-12)
        np.testing.assert_allclose(running.variance[0], variance, rtol=1e-12)
        if t == 10:
            everything = batches[:10] @ layer.W.T
            np.testing.assert_allclose(running.mean[0], everything.mean(axis=(0, 1)), rtol=1e-12)
    assert running.batches == 30


@pytest.mark.pairwise("eps", [0.0, 0.3])
@pytest.mark.pairwise("words", GRID)
def test_running_averages_of_one_whole_batch_are_frozen_statistics(words, eps, rng):
    """Up to N/(N − 1) in v of a batch center: the reference normalizer has it without."""
    normalizer, N = replace(GRID[words], eps=eps), 9
    W, X, new = (rng.standard_normal(shape) for shape in ((4, 3), (N, 3), (5, 3)))
    g = None if words == ("none", "none") else rng.uniform(0.5, 2, 4)
    layer = Layer(normalizer, W, rng.standard_normal(4), g)
    running = Running().updated(layer.units, layer.linearize(X), X)
    if words == ("batch", "batch"):
        running = replace(running, variance=running.variance * (N - 1) / N)
    frozen = normalizer
    if "batch" in words:
        frozen = replace(normalizer, statistics="frozen")
    z = frozen.normalize(W, new, (W, X)).z
    expected = z * (1 if g is None else g) + layer.units.b
    found = running.natural_parameter(layer.units, new)
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)
    alone = running.natural_parameter(layer.units, new[:1])
    np.testing.assert_allclose(alone, found[:1], rtol=1e-12)


def test_running_variance_is_unbiased_where_the_plain_one_is_not(rng):
    layer = Layer(NORMALIZERS["batch"], np.eye(2))
    total = np.zeros(2)
    for batch in rng.standard_normal((4000, 4, 2)):
        total += Running().updated(layer.units, layer.linearize(batch), batch).variance[0]
    np.testing.assert_allclose(total / 4000, 1, atol=0.05)  # 0.75 without m/(m − 1)


def test_sigma_that_vanishes_at_test_time_is_named():
    layer = Layer(NORMALIZERS["batch"], np.eye(2))
    running = Running(np.zeros((1, 2)), np.array([[1.0, 0.0]]), 3)
    with says(
        "σ must not vanish, but neuron 1 has a = μ in every case of the reference batch, so there "
        "is nothing to divide by. Change that row, drop it, or use a larger eps with a batch or "
        "layer scale."
    ):
        running.natural_parameter(layer.units, np.eye(2))


# Training.


@pytest.mark.exhaustive
@pytest.mark.parametrize(("key", "how"), each(NORMALIZERS, [(128, 6, 0.1), (4, 2, 0.005)]))
def test_training_reaches_nine_digits_in_ten(key, how, digits):
    batch_size, epochs, rate = how
    run = on(digits, key, widths=(64, 64), batch_size=batch_size, epochs=epochs, rate=rate)
    assert run.test_accuracy.max() > 0.9
    assert run.train_loss[-10:].mean() < run.train_loss[:3].mean() / 2
    steps = -(-1438 // batch_size)
    assert run.epoch_ends.tolist() == [steps * epoch for epoch in range(1, epochs + 1)]
    assert len(run.train_loss) == steps * epochs
    assert run.ended is None


@pytest.mark.parametrize(("key", "rule"), each(NORMALIZERS, OPTIMIZERS))
def test_training_with_batch_4_comes_back_bit_for_bit_from_its_seed(key, rule, few):
    first, second, other = (
        on(few, key, optimizer=rule, batch_size=4, epochs=2, rate=0.01, seed=seed)
        for seed in (5, 5, 6)
    )
    np.testing.assert_array_equal(first.network.pack(), second.network.pack())
    np.testing.assert_array_equal(first.train_loss, second.train_loss)
    np.testing.assert_array_equal(first.test_loss, second.test_loss)
    assert (first.train_loss != other.train_loss).any()


@pytest.mark.parametrize("rule", ["gradient_descent", "momentum"])
def test_training_is_the_loop_written_out(rule, few):
    """Batch norm with batches of 25: 4 of them and a case left over, shuffled anew each epoch."""
    run = on(few, "batch", optimizer=rule, batch_size=25, epochs=3, rate=0.05, seed=9)
    rng, network = np.random.default_rng(9), run.start
    theta, velocity, losses = network.pack(), 0.0, []
    running = [Running(), Running()]
    for epoch in range(3):
        order = rng.permutation(101)
        for start in (0, 25, 50, 75):
            cases = order[start : start + 25]
            now = network.unpack(theta)
            loss, gradient = now.loss_and_gradient(few.X_train[cases], few.y_train[cases])
            velocity = gradient + (0.9 if rule == "momentum" else 0.0) * velocity
            inputs = few.X_train[cases]
            for place, layer in enumerate(now.hidden):
                at = layer.linearize(inputs)
                running[place] = running[place].updated(layer.units, at, inputs)
                inputs = layer.activation.value(at.s)
            theta = theta - 0.05 * velocity
            losses.append(loss)
        assert run.epoch_ends[epoch] == len(losses)
    np.testing.assert_allclose(run.train_loss, losses, rtol=1e-10)
    np.testing.assert_allclose(run.network.pack(), theta, rtol=1e-8, atol=1e-10)
    for found, expected in zip(run.running, running, strict=True):
        np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(found.variance, expected.variance, rtol=1e-8)
    assert run.notes == (
        "101 cases make 4 batches of 25 and one of a single case, which has no batch statistics: "
        "it is left out, another one in each epoch.",
    )


@pytest.mark.parametrize("key", NORMALIZERS)
def test_test_loss_is_that_of_the_network_at_the_end(key, few):
    run = on(few, key, batch_size=20, epochs=2)
    s = run.natural_parameter(few.X_test)
    top = s.max(axis=1, keepdims=True)
    log_p = s - top - np.log(np.exp(s - top).sum(axis=1, keepdims=True))
    loss = -log_p[np.arange(20), few.y_test].mean()
    assert run.test_loss[-1] == pytest.approx(loss, rel=1e-10)
    assert run.test_accuracy[-1] == (s.argmax(axis=1) == few.y_test).mean()
    # Each case by itself: no statistic of the test cases.
    for n in range(3):
        alone = run.natural_parameter(few.X_test[n : n + 1])[0]
        np.testing.assert_allclose(alone, s[n], rtol=1e-9, atol=1e-11)
    current = run.network.natural_parameter(few.X_test)
    assert (np.abs(current - s).max() > 0.01) == (key in BATCH)


def test_a_last_case_stays_where_a_layer_has_z_for_it(few):
    run = on(few, "layer", batch_size=25, epochs=2)
    assert run.epoch_ends.tolist() == [5, 10]
    assert run.notes == ()
    assert on(few, "batch", batch_size=99, epochs=1).notes == ()  # a last batch of two
    assert len(on(few, "layer", batch_size=1, epochs=1).train_loss) == 101
    assert len(on(few, "layer", batch_size=101, epochs=2).train_loss) == 2


@pytest.mark.parametrize("key", BATCH)
def test_batches_of_one_have_no_batch_statistics(key, few):
    with says(
        "A batch mean is taken over the cases, so it needs at least 2 of them; got 1 case, whose "
        "z would be 0, 0/0 or only a sign. Use more cases, or frozen statistics."
    ):
        on(few, key, batch_size=1)


def test_families_without_classes_have_no_accuracy():
    diabetes = hold_out(load("diabetes"))
    network = Network.random(
        NORMALIZERS["layer"], "gaussian", (8,), 10, 1, np.random.default_rng(0), activation="tanh"
    )
    run = train(network, diabetes, batch_size=32, epochs=20, rate=0.01)
    assert run.test_accuracy is None
    assert run.test_loss[-1] < run.test_loss[0]


def test_two_classes_of_one_output_have_an_accuracy():
    """Breast cancer: 0 or 1, which is told right where the log odds have its sign."""
    data = hold_out(load("breast_cancer"))
    network = Network.random(
        NORMALIZERS["layer"], "bernoulli", (8,), data.X_train.shape[1], 1, np.random.default_rng(0)
    )
    run = train(network, data, batch_size=64, epochs=3)
    signs = run.natural_parameter(data.X_test)[:, 0] > 0
    right = [bool(y) == sign for y, sign in zip(data.y_test.ravel(), signs, strict=True)]
    assert run.test_accuracy[-1] == np.mean(right) > 0.9


def test_progress_is_told_of_every_step_and_stops_the_run(few):
    calls = []

    def stop(step, steps):
        calls.append((step, steps))
        if step == 7:
            raise Stop

    run = on(few, "batch", batch_size=25, epochs=3, progress=stop)
    whole = on(few, "batch", batch_size=25, epochs=3)
    assert calls == [(step, 12) for step in range(8)]
    np.testing.assert_array_equal(run.train_loss, whole.train_loss[:7])
    np.testing.assert_array_equal(run.test_loss, whole.test_loss[:1])
    assert run.ended is None


def test_divergence_ends_a_run_with_its_step_and_keeps_what_it_has(few):
    run = on(few, "standard", batch_size=50, epochs=9, rate=1e120, optimizer="gradient_descent")
    step, reason = run.ended
    assert step == len(run.train_loss) + 1
    assert reason == (
        "The summed inputs overflow float64: the largest |x| is 2.78e+239 and the largest |w| "
        "5.67e+119. Scale them down or use a wider type. A smaller `rate` may avoid it."
    )
    assert np.isfinite(run.train_loss).all()
    assert np.isfinite(run.network.pack()).all()


def test_parameters_beyond_floating_point_end_a_run(few):
    """The third step multiplies by more than there are floats; two are kept."""

    class Leap(Optimizer):
        key = title = "leap"
        angles, effective_rates = Adam.angles, Adam.effective_rates

        def init(self, theta):
            return 100.0, 100.0, np.inf

        def update(self, memory, theta, gradient, rates, decays):
            return theta * memory[0] - theta, memory[1:]

    run = on(few, "layer", optimizer=Leap(), batch_size=50)
    assert run.ended == (
        3,
        "The gradient or the parameters after it exceed the largest float. "
        "A smaller `rate` may avoid it.",
    )
    np.testing.assert_allclose(run.network.pack(), run.start.pack() * 1e4)


def test_held_out_cases_without_a_loss_end_a_run(few):
    far = replace(few, X_test=few.X_test * 1e160)
    run = on(far, "standard", batch_size=50, epochs=2)
    assert run.ended.step == 3
    assert run.ended.reason.startswith("The held-out cases have no loss here. Natural parameters")
    assert len(run.train_loss) == 3
    assert len(run.test_loss) == 0


# The split.


def test_split_is_disjoint_whole_and_standardized_by_its_training_part():
    data = load("digits")
    part = hold_out(data, seed=3)
    assert len(part.X_train) == 1438
    assert len(part.X_test) == 359
    raw = data.raw[:, part.kept]
    whole = np.vstack([part.X_train, part.X_test])
    np.testing.assert_allclose(part.X_train.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(part.X_train.std(axis=0), 1, rtol=1e-12)
    # Each raw case is there once: with the scale undone, the same rows in another order.
    train = part.X_train.shape[0]
    labels = np.concatenate([part.y_train, part.y_test])
    np.testing.assert_array_equal(np.bincount(labels), np.bincount(data.y))
    slope, shift = np.array(
        [np.polyfit(np.sort(whole[:, d]), np.sort(raw[:, d]), 1) for d in range(raw.shape[1])]
    ).T
    ink = (whole * slope + shift).round().astype(int)
    np.testing.assert_array_equal(np.unique(ink, axis=0), np.unique(raw.astype(int), axis=0))
    assert train == len(part.y_train)
    again, other = hold_out(data, seed=3), hold_out(data, seed=4)
    np.testing.assert_array_equal(again.X_test, part.X_test)
    assert (other.y_test != part.y_test).any()


def test_features_that_only_vary_among_held_out_cases_are_left_out():
    data = load("digits")
    part = hold_out(data, test_share=0.9)
    assert part.kept.sum() < data.kept.sum()
    assert np.isfinite(part.X_test).all()


# What is refused.


def test_bad_arguments_are_named(few, subtests):
    for sentence, call in [
        (
            "Each layer must have one feature for each neuron of the layer below; got weights of "
            "shape (2, 4) above 3 neurons.",
            lambda few: Network(
                (Layer(NORMALIZERS["layer"], np.eye(3)),),
                NormalizedGLM(NORMALIZERS["standard"], "gaussian", np.ones((2, 4))),
            ),
        ),
        (
            "The output of a network must be defined for a single case. A batch mean is taken over "
            "the cases, so it needs at least 2 of them; got 1 case, whose z would be 0, 0/0 or "
            "only a sign. Use more cases, or frozen statistics.",
            lambda few: Network((), NormalizedGLM(NORMALIZERS["batch"], "gaussian", np.eye(3))),
        ),
        (
            "`theta` must have shape (51,), 36 + 15 parameters of 2 layers; got (5,).",
            lambda few: small().unpack(np.ones(5)),
        ),
        (
            "`activation` must be one of tanh, relu, identity; got 'sine'.",
            lambda few: Layer(NORMALIZERS["layer"], np.eye(3), activation="sine"),
        ),
        (
            f"`optimizer` must be one of {', '.join(OPTIMIZERS)}; got 'newton'.",
            lambda few: on(few, "layer", optimizer="newton"),
        ),
        (
            "`batch_size` must be a whole number from 1 to 101, the number of training cases; "
            "got 102.",
            lambda few: on(few, "layer", batch_size=102),
        ),
        (
            "`epochs` must be a whole number from 1 up; got 0.",
            lambda few: on(few, "layer", batch_size=10.0, epochs=0),
        ),
        (
            "`rate` must be a finite number above 0; got nan.",
            lambda few: on(few, "layer", batch_size=10, rate=math.nan),
        ),
        (
            "`test_share` must leave 2 or more of the 20 cases to train on and 1 or more to test; "
            "got 0.99.",
            lambda few: hold_out(load("linnerud"), test_share=0.99),
        ),
    ]:
        with subtests.test(sentence), says(sentence):
            call(few)


def small():
    return Network.random(NORMALIZERS["layer"], "gaussian", (4,), 7, 3, np.random.default_rng(0))
