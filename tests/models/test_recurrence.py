"""Recurrence against written-out loops, and its memory against differences and closed forms."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import kstest

from normgeo import NORMALIZERS, Recurrence, jacobian_norms, run_recurrence
from normgeo.base.progress import Stop
from normgeo.datasets.datasets import load
from normgeo.models.activations import ACTIVATIONS
from normgeo.models.jacobian_norms import SIGN_NOTE, jacobian
from normgeo.models.recurrence import digit_rows
from tests.pairwise import each, first
from tests.refused import says

RECURRENT = {key: n for key, n in NORMALIZERS.items() if "batch" not in n.words}
every_method = pytest.mark.pairwise("normalizer", RECURRENT.values())
every_activation = pytest.mark.pairwise("activation", ACTIVATIONS)
every_eps = pytest.mark.pairwise("eps", [0.0, 1e-5])

H, F, S = 6, 3, 4


def with_eps(normalizer, eps):
    return replace(normalizer, eps=eps)


def layer_of(normalizer, rng, activation="tanh"):
    """A small recurrence with gains, none of them 1, and biases."""
    gain = None if normalizer.words == ("none", "none") else rng.uniform(0.5, 1.5, H)
    W_hh, W_xh = rng.normal(0.2, 0.5, (H, H)), rng.normal(0, 1, (H, F))
    return Recurrence(normalizer, W_hh, W_xh, rng.normal(0, 0.3, H), gain, activation)


@pytest.fixture
def sequences(rng):
    return rng.normal(0.3, 1, (S, 5, F))


@pytest.fixture(scope="module")
def digits():
    return load("digits")


# What a step computes.


def centered_rows(W):
    return W - W.sum(axis=1, keepdims=True) / W.shape[1]


BY_HAND = {
    "standard": lambda a, W, u: a,
    "weight": lambda a, W, u: a / np.sqrt((W**2).sum(axis=1)),
    "layer": lambda a, W, u: (a - a.mean()) / np.sqrt(((a - a.mean()) ** 2).sum() / H),
    "rms": lambda a, W, u: a / np.sqrt((a**2).sum() / H),
    "group": lambda a, W, u: np.concatenate([(h - h.mean()) / h.std() for h in (a[:3], a[3:])]),
    "centered_weight": lambda a, W, u: (
        centered_rows(W) @ u / np.linalg.norm(centered_rows(W), axis=1)
    ),
}
FUNCTIONS = {"tanh": math.tanh, "relu": lambda s: max(s, 0.0), "identity": lambda s: s}


@pytest.mark.parametrize(("key", "activation"), each(BY_HAND, ACTIVATIONS))
def test_recurrence_is_equation_four_written_out(key, activation, rng, sequences):
    recurrence = layer_of(NORMALIZERS[key], rng, activation)
    units, h0 = recurrence.layer.units, rng.standard_normal((S, H))
    W_hh, W_xh = units.W[:, :H], units.W[:, H:]
    run = run_recurrence(recurrence, sequences, h0)
    for n in range(S):
        h = h0[n]
        for t in range(1, 6):
            a = W_hh @ h + W_xh @ sequences[n, t - 1]
            z = BY_HAND[key](a, units.W, np.concatenate([h, sequences[n, t - 1]]))
            s = z * (1 if units.g is None else units.g) + units.b
            h = np.array([FUNCTIONS[activation](x) for x in s])
            np.testing.assert_allclose(run.summed_inputs[t - 1, n], a, rtol=1e-12, atol=1e-13)
            np.testing.assert_allclose(run.hidden[t, n], h, rtol=1e-11, atol=1e-13)
            assert run.rms_hidden[t, n] == pytest.approx(math.sqrt((h @ h) / H))
            assert run.rms_summed_inputs[t - 1, n] == pytest.approx(math.sqrt((a @ a) / H))
    assert run.ended is None
    assert run.steps == 5


@pytest.mark.pairwise("key", ["layer", "rms", "group"])
@every_activation
def test_layer_statistics_ignore_a_rescaling_of_all_summed_inputs_of_a_step(
    key, activation, rng, sequences
):
    recurrence = layer_of(NORMALIZERS[key], rng, activation)
    factors = [1.0, 3.7, 1e-6, 1e6, 0.2]
    plain = run_recurrence(recurrence, sequences)
    scaled = run_recurrence(recurrence, sequences, factors=factors)
    np.testing.assert_allclose(scaled.hidden, plain.hidden, rtol=0, atol=1e-12)
    expected = plain.summed_inputs * np.reshape(factors, (5, 1, 1))
    np.testing.assert_allclose(scaled.summed_inputs, expected, rtol=1e-10)
    # The state may be re-scaled by a step's factor too: its Jacobian shrinks by nothing else.
    np.testing.assert_allclose(jacobian(scaled, 3), jacobian(plain, 3), rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("key", ["standard", "weight", "centered_weight"])
def test_other_recurrences_do_not_ignore_it(key, rng, sequences):
    """Negative control."""
    recurrence = layer_of(NORMALIZERS[key], rng)
    plain = run_recurrence(recurrence, sequences)
    scaled = run_recurrence(recurrence, sequences, factors=[1, 3, 1, 1, 1])
    assert np.abs(scaled.hidden[2:] - plain.hidden[2:]).max() > 0.05


def test_eps_breaks_the_rescaling_where_summed_inputs_are_small(rng, sequences):
    recurrence = layer_of(with_eps(NORMALIZERS["layer"], 1e-5), rng)
    plain = run_recurrence(recurrence, sequences)
    scaled = run_recurrence(recurrence, sequences, factors=[1, 1, 1e-3, 1, 1])
    assert np.abs(scaled.hidden[3] - plain.hidden[3]).max() > 0.1


@every_method
def test_longer_runs_read_the_sequences_again(normalizer, rng, sequences):
    recurrence = layer_of(normalizer, rng)
    again = run_recurrence(recurrence, sequences, steps=13)
    tiled = run_recurrence(recurrence, np.tile(sequences, (1, 3, 1))[:, :13])
    np.testing.assert_array_equal(again.hidden, tiled.hidden)
    shorter = run_recurrence(recurrence, sequences, steps=2)
    np.testing.assert_array_equal(shorter.hidden, tiled.hidden[:3])


# The Jacobian through time.


@every_method
@every_activation
@every_eps
def test_jacobian_of_a_step_equals_differences(normalizer, activation, eps, rng, sequences):
    recurrence = layer_of(with_eps(normalizer, eps), rng, activation)
    factors = np.array([1, 0.7, 1, 1, 1])
    run = run_recurrence(recurrence, sequences, rng.standard_normal((S, H)), factors=factors)
    step, J = 1e-3, jacobian(run, 2)

    def after(h):
        return run_recurrence(recurrence, sequences[:, 1:2], h, factors=factors[1:2]).hidden[1]

    for k in range(H):
        e = step * np.eye(H)[k]
        h = run.hidden[1]
        difference = (8 * (after(h + e) - after(h - e)) - after(h + 2 * e) + after(h - 2 * e)) / (
            12 * step
        )
        np.testing.assert_allclose(J[:, :, k], difference, atol=2e-8)


@every_method
@every_eps
def test_norms_are_those_of_the_whole_map_from_state_to_last_state(normalizer, eps, rng, sequences):
    recurrence = layer_of(with_eps(normalizer, eps), rng)
    run = run_recurrence(recurrence, sequences, rng.standard_normal((S, H)))
    found = jacobian_norms(run)
    assert found.times.tolist() == [0, 1, 2, 3, 4, 5]
    np.testing.assert_array_equal(found.log10_norms[-1], 0)
    step = 1e-3
    for t in range(5):

        def last(h, t=t):
            return run_recurrence(recurrence, sequences[:, t:], h).hidden[-1]

        columns = []
        for e in step * np.eye(H):
            h = run.hidden[t]
            eight = 8 * (last(h + e) - last(h - e)) - last(h + 2 * e) + last(h - 2 * e)
            columns.append(eight / (12 * step))
        norms = np.linalg.norm(np.stack(columns, axis=2), 2, axis=(1, 2))
        np.testing.assert_allclose(10 ** found.log10_norms[t], norms, rtol=1e-5)
    assert found.notes == ()


@pytest.mark.exhaustive
@pytest.mark.parametrize("radius", first([0.5, 2.0, 0.9, 1.0], 2))
def test_norms_of_a_linear_recurrence_are_powers_beyond_floating_point(radius, rng):
    """From the zero state nothing overflows, and every Jacobian is W_hh, ρ times a rotation."""
    Q, _ = np.linalg.qr(rng.standard_normal((H, H)))
    recurrence = Recurrence(
        NORMALIZERS["standard"], radius * Q, np.zeros((H, F)), activation="identity"
    )
    run = run_recurrence(recurrence, np.zeros((1, 1, F)), steps=4000)
    found = jacobian_norms(run, points=9)
    assert found.times.tolist() == list(range(0, 4001, 500))
    expected = (4000 - found.times) * math.log10(radius)
    np.testing.assert_allclose(found.log10_norms[:, 0], expected, rtol=1e-12, atol=1e-10)
    assert abs(expected[0]) > 1000 or radius in {0.9, 1.0}


def test_saturated_tanh_keeps_its_slope():
    """1 − tanh² s is 0 in floating point from s = 19 on; log₁₀ of the true slope is −86 at 100."""
    s = np.array([0.0, 0.5, -3.0, 30.0, -100.0])
    np.testing.assert_allclose(ACTIVATIONS["tanh"].slope(s), 1 / np.cosh(s) ** 2, rtol=1e-13)
    recurrence = Recurrence(NORMALIZERS["standard"], [[1.0]], [[1.0]], b=[99.0])
    run = run_recurrence(recurrence, np.zeros((1, 1, 1)), [[1.0]], steps=50)
    expected = 50 * (math.log10(4) - 200 * math.log10(math.e))
    assert jacobian_norms(run).log10_norms[0, 0] == pytest.approx(expected, rel=1e-12)


def test_log_norm_of_dead_units_is_minus_infinity_with_a_sentence():
    recurrence = Recurrence(
        NORMALIZERS["standard"], np.eye(2), np.eye(2), b=[-9.0, -9.0], activation="relu"
    )
    X = np.stack([np.zeros((4, 2)), np.full((4, 2), 20.0)])
    found = jacobian_norms(run_recurrence(recurrence, X))
    assert np.isneginf(found.log10_norms[:-1, 0]).all()
    np.testing.assert_array_equal(found.log10_norms[:, 1], 0)
    assert found.notes == (
        "In 1 of 2 sequences a change of some earlier state does not reach the last one at all: "
        "the product of the Jacobians is 0, for example where every neuron is off. Its logarithm "
        "is −∞.",
    )


def test_two_neurons_under_layer_norm_forget_at_once(rng):
    recurrence = Recurrence.random(NORMALIZERS["layer"], 2, F, rng)
    found = jacobian_norms(run_recurrence(recurrence, rng.standard_normal((S, 3, F))))
    assert found.notes == (SIGN_NOTE,)
    np.testing.assert_array_equal(found.log10_norms, [[-np.inf] * S] * 3 + [[0] * S])
    rms = Recurrence.random(NORMALIZERS["rms"], 2, F, rng)
    assert jacobian_norms(run_recurrence(rms, rng.standard_normal((S, 3, F)))).notes == ()


# Random recurrences and real sequences.


@pytest.mark.parametrize("radius", [0.5, 1.0, 2.0])
def test_spectral_radius_is_what_was_asked_for_and_the_matrix_the_same(radius):
    made = [
        Recurrence.random(
            NORMALIZERS["layer"], 20, F, np.random.default_rng(1), spectral_radius=value
        )
        for value in (1.0, radius)
    ]
    assert made[1].spectral_radius == pytest.approx(radius, rel=1e-12)
    eigenvalues = np.linalg.eigvals(made[1].layer.W[:, :20])
    assert np.abs(eigenvalues).max() == pytest.approx(radius, rel=1e-12)
    np.testing.assert_allclose(made[1].layer.W[:, :20], radius * made[0].layer.W[:, :20])
    np.testing.assert_array_equal(made[1].layer.W[:, 20:], made[0].layer.W[:, 20:])


@pytest.mark.parametrize(("neurons", "features"), [(400, 4), (4, 400)])
def test_random_inputs_have_weights_of_variance_one_over_the_features(neurons, features, rng):
    made = Recurrence.random(NORMALIZERS["standard"], neurons, features, rng)
    W_xh = made.layer.W[:, neurons:].ravel()
    assert kstest(W_xh * features**0.5, "norm").pvalue > 1e-3


def test_digits_are_read_row_by_row(digits):
    rows = digit_rows(digits, [0, 7])
    assert rows.shape == (2, 8, 8)
    np.testing.assert_array_equal(rows[1, 3] * 16, digits.raw[7].reshape(8, 8)[3])
    assert rows.min() == 0
    assert digit_rows(digits, range(digits.N)).max() == 1
    with says("Only images are read row by row; those of Iris are not. Use the digits."):
        digit_rows(load("iris"), [0])


def test_layer_norm_keeps_the_scale_of_a_linear_recurrence_over_thousands_of_steps(digits):
    X = digit_rows(digits, [0, 1])

    def run(key, radius):
        rng = np.random.default_rng(0)
        recurrence = Recurrence.random(
            NORMALIZERS[key], 32, 8, rng, spectral_radius=radius, activation="identity"
        )
        return run_recurrence(recurrence, X, steps=3000)

    for radius in (0.5, 2.0):
        normalized = run("layer", radius)
        assert normalized.steps == 3000
        np.testing.assert_allclose(normalized.rms_hidden[1:], 1, rtol=1e-12)
    assert run("standard", 0.5).rms_hidden.max() < 10
    exploded = run("standard", 2.0)
    assert 900 < exploded.steps < 1100
    assert exploded.rms_hidden[-1].min() > 1e300


# Runs that end, and what is refused.


@pytest.mark.parametrize("activation", ["identity", "relu"])
def test_overflow_ends_a_run_with_its_step_and_reason(activation):
    doubling = Recurrence(
        NORMALIZERS["standard"], 2 * np.eye(2), np.zeros((2, 1)), activation=activation
    )
    run = run_recurrence(doubling, np.zeros((1, 1, 1)), [[1.0, 0.0]], steps=2000)
    assert run.steps == 1023
    assert run.hidden[-1, 0, 0] == 2.0**1023
    assert run.rms_hidden[-1, 0] == pytest.approx(2.0**1023 / math.sqrt(2))
    assert run.ended == (
        1024,
        "The summed inputs overflow float64: the largest |x| is 8.99e+307 and the largest |w| 2. "
        "Scale them down or use a wider type.",
    )
    assert jacobian_norms(run).log10_norms[0, 0] == pytest.approx(1023 * math.log10(2))


def test_state_that_overflows_after_the_gain_ends_a_run():
    growing = Recurrence(
        NORMALIZERS["weight"], [[1.0]], [[1.0]], g=[1e200 * 2**0.5], activation="identity"
    )
    run = run_recurrence(growing, np.zeros((1, 1, 1)), [[1.0]], steps=5)
    assert run.ended == (
        2,
        "The natural parameter g z + b exceeds the largest float64. Use smaller gains, biases, "
        "weights or inputs.",
    )
    assert run.hidden[1, 0, 0] == pytest.approx(1e200)


NOWHERE = (
    "At step {} sequence {} has h = 0 and x = 0, so its summed inputs are all 0 and σ = 0: there "
    "is nothing to divide by. Start from a non-zero state or input."
)


@pytest.mark.parametrize("key", ["layer", "rms", "group"])
def test_zero_state_and_input_have_no_z(key, rng):
    recurrence = layer_of(NORMALIZERS[key], rng)
    X = np.ones((2, 3, F))
    X[1, 0] = 0
    with says(NOWHERE.format(1, 1)):
        run_recurrence(recurrence, X)
    assert run_recurrence(recurrence, X, np.arange(2.0 * H).reshape(2, H)).ended is None
    softened = replace(NORMALIZERS[key], eps=1e-5)
    assert run_recurrence(layer_of(softened, rng), X).ended is None


@pytest.mark.parametrize("key", ["standard", "weight"])
def test_zero_state_and_input_are_fine_without_a_layer_scale(key, rng):
    assert run_recurrence(layer_of(NORMALIZERS[key], rng), np.zeros((1, 2, F))).ended is None


def test_state_that_dies_later_ends_the_run_and_keeps_what_it_has(rng):
    units = rng.standard_normal((3, 3))
    recurrence = Recurrence(NORMALIZERS["rms"], units, np.eye(3), b=[-9.0] * 3, activation="relu")
    X = np.stack([np.ones((4, 3)), np.ones((4, 3))])
    X[1, 2] = 0
    run = run_recurrence(recurrence, X)
    assert run.ended == (3, NOWHERE.format(3, 1))
    assert run.steps == 2
    assert run.hidden.shape == (3, 2, 3)


@pytest.mark.parametrize("key", ["batch", "mean_only_batch_weight"])
def test_batch_statistics_are_refused(key, rng):
    title = NORMALIZERS[key].title
    with says(
        "A recurrence takes its statistics from one sequence at one step, a single case, and "
        f"{title} has none there. A batch mean is taken over the cases, so it needs at least 2 of "
        "them; got 1 case, whose z would be 0, 0/0 or only a sign. Use more cases, or "
        "frozen statistics."
    ):
        Recurrence.random(NORMALIZERS[key], H, F, rng)


def test_progress_is_told_and_stops_both_ways(rng, sequences):
    calls = []

    def stop(step, steps):
        calls.append((step, steps))
        if step == 3:
            raise Stop

    recurrence = layer_of(NORMALIZERS["layer"], rng)
    run = run_recurrence(recurrence, sequences, progress=stop)
    assert (run.steps, calls) == (3, [(1, 5), (2, 5), (3, 5)])
    whole = run_recurrence(recurrence, sequences)
    np.testing.assert_array_equal(run.hidden, whole.hidden[:4])
    part, full = jacobian_norms(whole, progress=stop), jacobian_norms(whole)
    assert part.times.tolist() == [2, 3, 4, 5]
    np.testing.assert_array_equal(part.log10_norms, full.log10_norms[2:])


def test_bad_arguments_are_named(rng, sequences, subtests):
    recurrence = layer_of(NORMALIZERS["layer"], rng)
    for sentence, call in [
        (
            "`W_hh` (H, H) and `W_xh` (H, F) must have one row for each of the H neurons, and "
            "W_hh one column; got shapes (2, 3) and (2, 1).",
            lambda r, X: Recurrence(NORMALIZERS["layer"], np.ones((2, 3)), np.ones((2, 1))),
        ),
        (
            "`activation` must be one of tanh, relu, identity; got 'sine'.",
            lambda r, X: Recurrence(NORMALIZERS["layer"], np.eye(2), np.eye(2), activation="sine"),
        ),
        (
            "`spectral_radius` must be a finite number above 0; got 0.",
            lambda r, X: Recurrence.random(
                NORMALIZERS["layer"], 3, 2, np.random.default_rng(0), spectral_radius=0
            ),
        ),
        (
            "`X` (S, L, F) must have 3 features at each step, one for each column of W_xh; "
            "got an array of shape (4, 5, 2).",
            lambda r, X: run_recurrence(r, X[:, :, :2]),
        ),
        (
            "`h0` must hold a state for each of the 4 sequences, shape (4, 6); got (1, 6).",
            lambda r, X: run_recurrence(r, X, np.ones((1, 6))),
        ),
        (
            "`steps` must be a whole number from 1 up; got 0.",
            lambda r, X: run_recurrence(r, X, steps=0),
        ),
        (
            "`factors` must hold a number above 0 for each of the 5 steps; got 2 numbers, the "
            "least -1.",
            lambda r, X: run_recurrence(r, X, factors=[1, -1]),
        ),
        (
            "`factors` must hold a number above 0 for each of the 5 steps; got 6 numbers, the "
            "least 2.",
            lambda r, X: run_recurrence(r, X, factors=[2] * 6),
        ),
        (
            "`points` must be a whole number from 2 up; got 2.5.",
            lambda r, X: jacobian_norms(run_recurrence(r, X), points=2.5),
        ),
        (
            "A layer computes with current statistics; got a normalizer with frozen ones. "
            "Training keeps running averages for test time by itself.",
            lambda r, X: Recurrence(
                replace(NORMALIZERS["batch"], statistics="frozen"), np.eye(2), np.eye(2)
            ),
        ),
    ]:
        with subtests.test(sentence), says(sentence):
            call(recurrence, sequences)


def test_weights_are_refused_by_the_memory_that_they_take(rng):
    with pytest.raises(ValueError, match=r"^W would take 7\.45e\+03 GiB of memory"):
        Recurrence.random(NORMALIZERS["layer"], 1000, 10**9, rng)
    # 8 MB, though a product of all three lengths would be 2 GiB.
    assert Recurrence.random(NORMALIZERS["layer"], 300, 3000, rng).neurons == 300
