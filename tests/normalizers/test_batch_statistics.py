"""Averaging axes against NumPy's means, batch noise against Monte Carlo and closed forms."""

import math
from dataclasses import replace

import numpy as np
import pytest

from normgeo import (
    GRID,
    NORMALIZERS,
    Normalizer,
    batch_drift,
    batch_noise,
    shared_statistics,
)
from normgeo.base.progress import Stop
from normgeo.datasets.datasets import load
from normgeo.normalizers.batch_statistics import ONE_CASE, TWO_CASES, batch_sizes
from normgeo.normalizers.shared_statistics import FILTERS, SHARINGS, feature_maps
from tests.refused import says


@pytest.fixture(scope="module")
def digits():
    return load("digits")


@pytest.fixture(scope="module")
def maps(digits):
    """Real images with four channels, (N, C, R, S)."""
    return feature_maps(digits.raw[:6].reshape(-1, 8, 8))


@pytest.fixture(scope="module")
def summed(digits):
    """Summed inputs of all digits, (N, H)."""
    return digits.X @ (np.random.default_rng(4).standard_normal((5, digits.D)) / 8).T


# Averaged axes.

AXES = {"batch": (0, 2, 3), "layer": (1, 2, 3), "instance": (2, 3)}
SHAPES = {"batch": (4,), "layer": (6,), "instance": (6, 4), "group": (6, 2)}
NAMES = {
    "batch": ("channels",),
    "layer": ("cases",),
    "instance": ("cases", "channels"),
    "group": ("cases", "groups"),
}


@pytest.mark.parametrize("key", AXES)
def test_statistics_of_images_are_those_of_explicit_axes(key, maps):
    found, axes = shared_statistics(key, maps), AXES[key]
    np.testing.assert_allclose(found.mean, maps.mean(axis=axes), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.sigma, maps.std(axis=axes), rtol=1e-12)
    z = (maps - maps.mean(axis=axes, keepdims=True)) / maps.std(axis=axes, keepdims=True)
    np.testing.assert_allclose(found.z, z, atol=1e-12)
    assert found.entries == np.prod([maps.shape[axis] for axis in axes])
    assert (found.shape, found.axes) == (SHAPES[key], NAMES[key])


def test_group_statistics_of_images_are_those_of_explicit_axes(maps):
    found = shared_statistics("group", maps, groups=2)
    halves = [maps[:, :2], maps[:, 2:]]
    for group, half in enumerate(halves):
        np.testing.assert_allclose(found.mean[:, group], half.mean(axis=(1, 2, 3)), rtol=1e-12)
        np.testing.assert_allclose(found.sigma[:, group], half.std(axis=(1, 2, 3)), rtol=1e-12)
    assert found.entries == 2 * 6 * 6
    assert (found.shape, found.axes) == (SHAPES["group"], NAMES["group"])


@pytest.mark.parametrize("key", SHARINGS)
def test_entries_with_one_label_are_those_that_share_a_mean(key, maps):
    found = shared_statistics(key, maps, groups=2 if key == "group" else 1)
    assert found.labels.shape == maps.shape
    labels = np.unique(found.labels)
    np.testing.assert_array_equal(labels, np.arange(found.mean.size))
    for label in labels:
        together = maps[found.labels == label]
        assert len(together) == found.entries
        assert together.mean() == pytest.approx(found.mean.flat[label])
        assert together.std() == pytest.approx(found.sigma.flat[label])


def test_labels_name_cases_and_channels(maps):
    n, c = np.indices(maps.shape)[:2]
    expected = {"batch": c, "layer": n, "instance": 4 * n + c, "group": 2 * n + c // 2}
    for key, labels in expected.items():
        found = shared_statistics(key, maps, groups=2 if key == "group" else 1)
        np.testing.assert_array_equal(found.labels, labels)


@pytest.mark.parametrize("key", ["batch", "layer", "group"])
def test_statistics_of_summed_inputs_are_those_of_the_normalizer(key, digits, rng):
    W, X = rng.standard_normal((6, digits.D)), digits.X[:20]
    groups = NORMALIZERS[key].groups
    expected = NORMALIZERS[key].normalize(W, X)
    found = shared_statistics(key, X @ W.T, groups=groups)
    np.testing.assert_allclose(found.z, expected.z, atol=1e-11)
    mu = found.mean.reshape(-1)[found.labels]
    np.testing.assert_allclose(mu, expected.mu, atol=1e-12)


def test_group_norm_lies_between_layer_and_instance_norm(maps):
    one, each = (shared_statistics("group", maps, groups=G) for G in (1, 4))
    np.testing.assert_array_equal(one.z, shared_statistics("layer", maps).z)
    np.testing.assert_array_equal(each.z, shared_statistics("instance", maps).z)


def test_instance_norm_of_a_vector_averages_over_one_entry(digits):
    found = shared_statistics("instance", digits.raw[:5])
    assert found.entries == 1
    assert not found.z.any()
    assert found.problem == (
        "Here instance norm averages over a single entry, which is its own mean: σ = 0, and "
        "nothing is left to normalize. Use more cases, channels or positions."
    )


def test_equal_entries_are_named_and_left_at_zero():
    values = np.array([[0.1, 1.0], [0.1, 2.0], [0.1, 4.0]])  # the mean of three 0.1 is not 0.1
    found = shared_statistics("batch", values)
    assert found.problem == (
        "σ = 0 in 1 of 2 statistics of batch norm, where all entries that share it are equal. "
        "Their z is left at 0."
    )
    np.testing.assert_array_equal(found.z[:, 0], 0)
    assert found.sigma[0] == 0
    assert found.z[:, 1].std() == pytest.approx(1)


def test_feature_maps_are_sums_over_windows(digits):
    images = digits.raw[:2].reshape(-1, 8, 8)
    maps = feature_maps(images)
    assert maps.shape == (2, 4, 6, 6)
    for channel, kernel in enumerate(FILTERS.values()):
        for r, s in ((0, 0), (2, 5)):
            window = images[1, r : r + 3, s : s + 3]
            assert maps[1, channel, r, s] == (window * np.array(kernel)).sum()


def test_filters_answer_one_bright_pixel_as_they_are_called():
    image = np.zeros((1, 5, 5))
    image[0, 2, 2] = 1
    blur, upright, level, spots = feature_maps(image)[0]
    assert (blur == 1).all()
    assert upright.tolist() == [[1, 0, -1]] * 3
    np.testing.assert_array_equal(level, upright.T)
    np.testing.assert_array_equal(spots, 9 * image[0, 1:4, 1:4] - blur)


# Noise of batch statistics.


def test_batch_sizes_double_up_to_all_cases():
    assert batch_sizes(1797).tolist() == [2**k for k in range(11)] + [1797]
    assert batch_sizes(8).tolist() == [1, 2, 4, 8]
    assert batch_sizes(2).tolist() == [1, 2]


@pytest.mark.parametrize("replacement", [False, True], ids=["without", "with-replacement"])
def test_noise_of_the_mean_is_predicted_within_standard_errors(replacement, summed, rng):
    found = batch_noise(summed, rng, batches=400, replacement=replacement)
    N, m = len(summed), found.sizes[:, None]
    correction = 1 if replacement else (N - m) / (N - 1)
    exact = summed.std(axis=0) * np.sqrt(correction / m)
    np.testing.assert_allclose(found.predicted_mean_error, exact, rtol=1e-12)
    # The relative error of a root mean square of 400 draws is √((κ − 1)/4/400), κ of μ_B.
    kurtosis = 3 + (found.kurtosis - 3) / m
    chosen = slice(None) if replacement else slice(0, -1)
    deviation = (found.mean_error / np.where(exact > 0, exact, 1) - 1)[chosen]
    standard_error = np.sqrt((kurtosis - 1) / 1600)[chosen]
    assert np.abs(deviation / standard_error).max() < 4.5
    assert np.sqrt(((deviation / standard_error) ** 2).mean()) < 1.4
    if not replacement:
        assert found.mean_error[-1].max() < 1e-14 * summed.std()
        np.testing.assert_array_equal(found.predicted_mean_error[-1], 0)


@pytest.mark.parametrize("replacement", [False, True], ids=["without", "with-replacement"])
def test_noise_of_sigma_is_predicted_for_large_batches(replacement, rng):
    """A uniform a has κ = 9/5, a Gaussian 3, a Laplacian 6: their σ_B differ in noise."""
    N, kurtosis = 4000, np.array([1.8, 3.0, 6.0])
    u = (np.arange(N) + 0.5) / N
    quantiles = -np.sign(u - 0.5) * np.log1p(-2 * np.abs(u - 0.5))
    gauss = np.sort(rng.standard_normal(N))
    found = batch_noise(
        np.stack([u, gauss, quantiles], axis=1),
        rng,
        sizes=[256, 1024],
        batches=600,
        replacement=replacement,
    )
    np.testing.assert_allclose(found.kurtosis, kurtosis, rtol=0.08)
    m = found.sizes[:, None]
    correction = 1 if replacement else (N - m) / (N - 1)
    by_formula = found.sigma * np.sqrt((found.kurtosis - 1) * correction / (4 * m))
    np.testing.assert_allclose(found.predicted_sigma_error, by_formula, rtol=1e-12)
    np.testing.assert_allclose(found.sigma_error, by_formula, rtol=4.5 / math.sqrt(2 * 600))


def test_small_batches_find_sigma_too_small(rng):
    A = rng.standard_normal((5000, 2))
    found = batch_noise(A, rng, sizes=[2, 8, 32], batches=3000, replacement=True)
    # E(σ_B) of m Gaussian cases: √(2/m) Γ(m/2)/Γ((m−1)/2), times σ.
    expected = [
        math.sqrt(2 / m) * math.exp(math.lgamma(m / 2) - math.lgamma((m - 1) / 2)) - 1
        for m in (2, 8, 32)
    ]
    measured = found.sigma_bias / found.sigma
    np.testing.assert_allclose(measured, np.array(expected)[:, None] * [1, 1], atol=0.04)
    np.testing.assert_allclose(measured[2], expected[2], atol=0.01)


def test_batch_of_one_has_a_mean_no_sigma_and_a_reason(summed, rng):
    found = batch_noise(summed, rng, sizes=[1, 2])
    np.testing.assert_allclose(found.sigma_error[0], found.sigma, rtol=1e-12)
    np.testing.assert_allclose(found.sigma_bias[0], -found.sigma, rtol=1e-12)
    np.testing.assert_allclose(found.predicted_mean_error[0], found.sigma, rtol=1e-12)
    assert found.reasons == (ONE_CASE, "")
    assert np.isfinite(found.sigma_error).all()


def test_batch_of_two_leaves_only_signs(rng):
    """The sentence on the page: z = ±1 for every neuron, for any two cases."""
    z = NORMALIZERS["batch"].normalize(rng.standard_normal((6, 3)), rng.lognormal(size=(2, 3))).z
    np.testing.assert_allclose(np.abs(z), 1, rtol=1e-12)
    np.testing.assert_allclose(z[0], -z[1], rtol=1e-12)
    assert "z = ±1 for every neuron" in TWO_CASES


def test_noise_comes_back_from_its_seed(summed):
    first, second, other = (
        batch_noise(summed, np.random.default_rng(seed), batches=20) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first.sigma_error, second.sigma_error)
    assert (first.mean_error[:-1] != other.mean_error[:-1]).any()


# Training against test statistics.


@pytest.mark.parametrize(
    "normalizer",
    [n for n in GRID.values() if not n.shared_by_cases],
    ids=lambda normalizer: "-".join(normalizer.words),
)
def test_statistics_without_batch_do_not_depend_on_the_batch(normalizer, digits, rng):
    W = rng.standard_normal((6, digits.D))
    found = batch_drift(normalizer, W, digits.X, rng, batches=5)
    assert found.change.max() < 1e-13
    assert not any(found.reasons)


@pytest.mark.parametrize("words", [w for w in GRID if "batch" in w], ids="-".join)
def test_batch_statistics_drift_less_the_larger_the_batch(words, digits, rng):
    W = rng.standard_normal((6, digits.D)) / 8
    sizes = [1, 4, 64, 1024, digits.N]
    found = batch_drift(GRID[words], W, digits.X, rng, sizes=sizes, batches=30)
    assert found.change[1] > 1.4 * found.change[2] > 3 * found.change[3] > 0
    assert found.change[4] < 1e-13
    assert np.isnan(found.change[0]) == bool(found.reasons[0])
    assert "it needs at least 2 of them; got 1 case" in found.reasons[0]
    assert found.reasons[1:] == ("", "", "", "")


@pytest.mark.parametrize("words", [("batch", "batch"), ("batch", "weight")], ids="-".join)
def test_drift_is_what_frozen_statistics_give(words, digits):
    """By hand, with the frozen normalizer itself; relative to the size of z, 1 under batch norm."""
    W, m = np.random.default_rng(0).standard_normal((6, digits.D)), 16
    current = GRID[words]
    frozen = replace(current, statistics="frozen")
    found = batch_drift(current, W, digits.X, np.random.default_rng(5), sizes=[m], batches=3)
    size = math.sqrt((frozen.normalize(W, digits.X, (W, digits.X)).z ** 2).mean())
    assert (abs(size - 1) < 1e-9) == (words == ("batch", "batch"))
    rng, squares = np.random.default_rng(5), []
    for _ in range(3):
        cases = rng.choice(digits.N, m, replace=False, shuffle=False)
        X = digits.X[cases]
        z = frozen.normalize(W, X, (W, digits.X)).z
        squares.append(((current.normalize(W, X).z - z) ** 2).mean())
    assert found.change[0] == pytest.approx(math.sqrt(np.mean(squares)) / size, rel=1e-10)


def test_drift_of_batch_norm_is_predicted_for_large_batches(digits, rng):
    """z_B − z ≈ −(μ_B − μ)/σ − z (σ_B − σ)/σ, of mean square (κ + 3) f/(4m)."""
    W = rng.standard_normal((6, digits.D)) / 8
    found = batch_drift(NORMALIZERS["batch"], W, digits.X, rng, sizes=[256], batches=200)
    kurtosis = (NORMALIZERS["batch"].normalize(W, digits.X).z ** 4).mean()
    correction = (digits.N - 256) / (digits.N - 1)
    assert found.change[0] == pytest.approx(
        math.sqrt((kurtosis + 3) * correction / (4 * 256)), rel=0.1
    )


def test_progress_is_told_and_a_stop_keeps_what_is_done(summed, digits, rng):
    calls = []

    def stop(done, total):
        calls.append((done, total))
        if done == 2:
            raise Stop

    found = batch_noise(summed, rng, batches=3, progress=stop)
    assert found.sizes.tolist() == [1, 2]
    assert found.mean_error.shape == found.predicted_sigma_error.shape == (2, 5)
    W = rng.standard_normal((4, digits.D))
    assert len(batch_drift(NORMALIZERS["layer"], W, digits.X, rng, progress=stop).change) == 2
    assert calls == [(1, 12), (2, 12)] * 2


# Refusals.


@pytest.mark.parametrize(
    ("sentence", "call"),
    [
        (
            "`key` must be one of batch, layer, instance, group; got 'weight'.",
            lambda rng: shared_statistics("weight", np.eye(3)),
        ),
        (
            "`values` must have cases and channels, (N, C), and may have positions, (N, C, R, …); "
            "got an array of shape (3,).",
            lambda rng: shared_statistics("batch", np.ones(3)),
        ),
        (
            "`groups` splits the channels for group norm; got groups=2 for layer norm. "
            "Use groups=1 or group norm.",
            lambda rng: shared_statistics("layer", np.eye(4), groups=2),
        ),
        (
            "`groups` must divide the number of neurons; got 3 groups for 4 neurons.",
            lambda rng: shared_statistics("group", np.eye(4), groups=3),
        ),
        (
            "`groups` must be a whole number from 1 up; got 0.",
            lambda rng: shared_statistics("group", np.eye(4), groups=0),
        ),
        (
            "`groups` must be a whole number from 1 up; got 2.5.",
            lambda rng: shared_statistics("group", np.eye(4), groups=2.5),
        ),
        (
            "Images must be at least as large as the filters, 3 × 3; got 2 × 5 pixels.",
            lambda rng: feature_maps(np.ones((1, 2, 5))),
        ),
        (
            "A batch is a part of the cases, so there must be 2 or more; got 1.",
            lambda rng: batch_noise([[1.0]], rng),
        ),
        (
            "`sizes` must be a whole number from 1 to 3; got 0.",
            lambda rng: batch_noise(np.eye(3), rng, sizes=[0, 4]),
        ),
        (
            "`sizes` must be a whole number from 1 to 3; got 1.5.",
            lambda rng: batch_noise(np.eye(3), rng, sizes=[1.5]),
        ),
        (
            "`batches` must be a whole number from 2 up; got 2.5.",
            lambda rng: batch_noise(np.eye(3), rng, batches=2.5),
        ),
        (
            "Neuron 1 has the same summed input in every case, so σ = 0 and there is no noise to "
            "measure. Leave it out.",
            lambda rng: batch_noise([[1.0, 2.0], [3.0, 2.0]], rng),
        ),
        (
            "Training computes with the statistics of its batch; got a normalizer with frozen "
            "ones, which have no drift. Use statistics='current'.",
            lambda rng: batch_drift(
                Normalizer("batch", "batch", statistics="frozen"), np.eye(3), np.eye(3), rng
            ),
        ),
        (
            "`batches` must be a whole number from 1 up; got 0.",
            lambda rng: batch_drift(NORMALIZERS["batch"], np.eye(3), np.eye(3), rng, batches=0),
        ),
    ],
    ids=[
        "key",
        "axes",
        "groups",
        "divide",
        "no-groups",
        "half-a-group",
        "filters",
        "one-case",
        "range",
        "whole",
        "batches",
        "constant",
        "frozen",
        "drift-batches",
    ],
)
def test_bad_arguments_are_named(sentence, call, rng):
    with says(sentence):
        call(rng)


# Numbers at the ends of their type.

SIZES = (1.0, 1e-300, 1e200, 1e300, 5e-324 * 2**40)


@pytest.mark.parametrize("size", SIZES)
def test_statistics_of_very_large_and_very_small_numbers_are_those_of_others_times_a_factor(size):
    """Each channel has its own size; μ and σ times a power of two, z the same."""
    factor = 2.0 ** round(math.log2(size))
    values = np.random.default_rng(0).integers(-9, 9, (6, 4)) / 8.0
    scaled = values * np.array([1.0, factor, 1.0, factor])
    found, plain = (shared_statistics("batch", M) for M in (scaled, values))
    np.testing.assert_allclose(found.z, plain.z, rtol=1e-14)
    np.testing.assert_allclose(found.sigma[1::2] / factor, plain.sigma[1::2], rtol=1e-11)
    np.testing.assert_allclose(found.mean[1::2] / factor, plain.mean[1::2], rtol=1e-11)


@pytest.mark.parametrize("size", SIZES[:4])
def test_noise_of_very_large_and_very_small_numbers_is_that_of_others_times_a_factor(size):
    factor = 2.0 ** round(math.log2(size))
    A = np.random.default_rng(1).standard_normal((40, 3))
    found, plain = (
        batch_noise(M, np.random.default_rng(2), sizes=[2, 8], batches=20) for M in (A * factor, A)
    )
    for name in ("mean_error", "sigma_error", "predicted_sigma_error", "sigma", "mean"):
        np.testing.assert_allclose(
            getattr(found, name), getattr(plain, name) * factor, rtol=1e-13, err_msg=name
        )
    np.testing.assert_allclose(found.kurtosis, plain.kurtosis, rtol=1e-13)


@pytest.mark.parametrize("pairs", [1, 3, 10, 50])
def test_kurtosis_of_two_values_is_1_and_their_noise_is_a_number(pairs):
    """(a − μ)⁴/σ⁴ = 1 in every case; slightly below 1, the root of κ − 1 would be undefined."""
    A = np.tile(np.random.default_rng(0).standard_normal((2, 100)), (pairs, 1))
    noise = batch_noise(A, np.random.default_rng(0), sizes=[2], batches=2)
    assert (noise.kurtosis >= 1).all()
    assert noise.kurtosis == pytest.approx(np.ones(100), abs=1e-12)
    assert (noise.predicted_sigma_error >= 0).all()


def test_offset_of_the_summed_inputs_changes_no_noise(summed):
    far = batch_noise(summed[:, :1] + 2.0**40, np.random.default_rng(0), sizes=[8], batches=20)
    near = (summed[:, :1] + 2.0**40) - 2.0**40  # exactly the digits that the sum has kept
    expected = batch_noise(near, np.random.default_rng(0), sizes=[8], batches=20)
    np.testing.assert_allclose(far.sigma, expected.sigma, rtol=1e-13)
    np.testing.assert_allclose(far.sigma_error, expected.sigma_error, rtol=1e-10)


@pytest.mark.parametrize("words", [("batch", "none"), ("batch", "weight")])
def test_drift_of_equal_cases_is_refused_for_there_is_no_z(words, rng):
    sentence = (
        "The change of z is measured against z, which must not be 0 everywhere; all summed inputs "
        "equal their means here, to within rounding. Use other cases or weights."
    )
    with says(sentence):
        batch_drift(GRID[words], rng.standard_normal((3, 4)), np.full((9, 4), 0.1), rng)


def test_drift_of_any_size_of_the_inputs_is_the_same(rng):
    W, X = rng.standard_normal((3, 4)), rng.standard_normal((9, 4))
    one, large = (
        batch_drift(NORMALIZERS["batch"], W, size * X, np.random.default_rng(0)).change
        for size in (1.0, 2.0**60)
    )
    np.testing.assert_array_equal(one, large)


def test_drift_of_equal_cases_is_none_for_a_method_that_does_not_see_the_batch(rng):
    W = rng.standard_normal((3, 4))
    for key in ("standard", "weight", "layer"):
        drift = batch_drift(NORMALIZERS[key], W, np.full((9, 4), 0.1), rng, batches=2)
        assert np.nanmax(drift.change) < 1e-15
