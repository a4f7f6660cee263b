"""A convolution with each norm over images: loops written out, differences, and digits."""

from dataclasses import replace

import numpy as np
import pytest

from normgeo import shared_statistics
from normgeo.base.progress import Stop
from normgeo.base.refusal import Refusal
from normgeo.networks.convolution import ConvolutionalNetwork, Kernel, image_windows
from normgeo.networks.image_norm import ImageNorm, norms
from normgeo.networks.images import Images
from normgeo.networks.place_statistics import place_statistics
from normgeo.networks.training import train_convolution
from normgeo.normalizers.shared_statistics import SHARINGS

NORMS = norms()
every_norm = pytest.mark.parametrize("norm", NORMS.values(), ids=NORMS)


def network_of(norm, seed=2):
    """Four channels on 4 × 4 pixels, with gains different from 1 and biases from 0."""
    rng = np.random.default_rng(seed)
    start = ConvolutionalNetwork.random(norm, 4, 16, 3, rng)
    return start.unpack(start.pack() + 0.3 * rng.standard_normal(start.pack().shape))


@pytest.fixture
def images(rng):
    return rng.uniform(0, 1, (5, 4, 4))


def plain_logits(network, images):
    """Loops over pixels; the norm is that of `shared_statistics`, with ε = 0."""
    at, norm = network.parts, network.norm
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1)))
    a = np.zeros((len(images), 4, 4, 4))
    for n, c, i, j in np.ndindex(a.shape):
        a[n, c, i, j] = (at.K[c].reshape(3, 3) * padded[n, i : i + 3, j : j + 3]).sum()
    z = a
    if norm.sharing is not None:
        z = shared_statistics(norm.sharing.key, a, norm.groups).z
    h = np.maximum(at.g[:, None, None] * z + at.b[:, None, None], 0)
    return h.reshape(len(images), -1) @ at.U.T + at.u


def plain_loss(network, images, y):
    logits = plain_logits(network, images)
    log_p = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    return -log_p[np.arange(len(y)), y].mean()


@every_norm
def test_logits_are_loops_over_pixels_written_out(norm, images):
    network = network_of(replace(norm, eps=0.0))
    np.testing.assert_allclose(
        network.forward(image_windows(images)).logits, plain_logits(network, images), rtol=1e-10
    )


@every_norm
def test_gradients_are_differences_of_the_loss_written_out(norm, images, rng):
    network, y, step = network_of(replace(norm, eps=0.0)), rng.integers(0, 3, 5), 1e-5
    loss, gradients = network.loss_and_gradient(image_windows(images), y)
    assert loss == pytest.approx(plain_loss(network, images, y))
    for name, gradient in zip(Kernel._fields, gradients, strict=True):
        direction = rng.standard_normal(gradient.shape)

        def moved(by, name=name, direction=direction):
            part = getattr(network.parts, name) + by * direction
            parts = network.parts._replace(**{name: part})
            return plain_loss(replace(network, parts=parts), images, y)

        slope = (moved(step) - moved(-step)) / (2 * step)
        assert (gradient * direction).sum() == pytest.approx(slope, rel=1e-5, abs=1e-9), name


@every_norm
def test_an_eps_is_added_to_the_variance_and_differentiated(norm, rng):
    norm, A, U = (
        replace(norm, eps=0.3),
        rng.standard_normal((3, 4, 5)),
        rng.standard_normal((3, 4, 5)),
    )
    D, step = rng.standard_normal(A.shape), 1e-6
    slope = (norm.normalize(A + step * D).z - norm.normalize(A - step * D).z) / (2 * step)
    assert (norm.normalize(A).vjp(U) * D).sum() == pytest.approx((U * slope).sum(), rel=1e-6)
    if norm.sharing is not None:
        found = norm.normalize(A)
        plain = replace(norm, eps=0.0).normalize(A)
        ratio = found.rows / plain.rows
        np.testing.assert_allclose(
            ratio**2,
            np.broadcast_to(plain.moments.sigma**2 / (plain.moments.sigma**2 + 0.3), ratio.shape),
        )


def test_known_moments_stand_in_for_those_of_a_batch_and_for_no_others(rng):
    A, B = rng.standard_normal((2, 6, 4, 5))
    for key, norm in NORMS.items():
        known = norm.normalize(B).moments
        alone, among = norm.normalize(A[:1], known).z, norm.normalize(A, known).z[:1]
        np.testing.assert_allclose(alone, among, rtol=1e-12)
        own = norm.normalize(A).z[:1]
        assert np.allclose(own, among) == (key != "batch")


def test_groups_that_do_not_divide_the_channels_are_refused(rng):
    with pytest.raises(Refusal, match="divide"):
        ImageNorm(SHARINGS["group"], 3).normalize(rng.standard_normal((2, 4, 5)))


def test_a_statistic_of_one_entry_is_refused(rng):
    with pytest.raises(Refusal, match="single entry"):
        ImageNorm(SHARINGS["instance"]).normalize(rng.standard_normal((2, 4, 1)))


def test_statistics_by_place_are_those_of_numpy(images):
    network = network_of(NORMS["layer"])
    seen = image_windows(images)
    found, passed = place_statistics(network, seen), network.forward(seen)
    a, s = (values.reshape(5, 4, 4, 4) for values in (passed.summed, passed.s))
    for i, j in np.ndindex(4, 4):
        here = a[:, :, i, j]
        assert found.on[i, j] == (s[:, :, i, j] > 0).mean()
        assert found.shift[i, j] == pytest.approx((here.mean() - a.mean()) / a.std())
        assert found.spread[i, j] == pytest.approx(here.std() / a.std())
    assert found.distance[0, 0] == pytest.approx(np.hypot(found.shift, found.spread - 1)[0, 0])
    assert found.is_border.sum() == 12
    assert found.at_border(found.on)[1] == pytest.approx(found.on[1:3, 1:3].mean())


@pytest.fixture(scope="module")
def digits():
    return Images.digits(0, 300)


def test_images_are_digits_and_those_held_out_are_others(digits):
    assert digits.seen_train.shape == (300, 9, 64)
    assert digits.seen_test.shape == (round(1797 / 5), 9, 64)
    assert len(digits.y_test) == len(digits.seen_test)
    middle = digits.seen_train[:, 4]  # the center pixel
    assert (middle.min(), middle.max()) == (0, 1)
    assert not {image.tobytes() for image in middle} & {
        image.tobytes() for image in digits.seen_test[:, 4]
    }


@pytest.mark.parametrize("key", ["layer", "batch"])
def test_training_names_digits_and_is_the_same_for_the_same_seed(digits, key):
    first, again, other = (
        train_convolution(NORMS[key], digits, channels=4, epochs=4, seed=seed) for seed in (0, 0, 1)
    )
    assert first.accuracy > 0.75
    logits = first.logits(digits.seen_test)
    # A batch of one gives the same: the statistics are those of the training images.
    np.testing.assert_allclose(first.logits(digits.seen_test[:1]), logits[:1], rtol=1e-9)
    assert first.accuracy == (logits.argmax(axis=1) == digits.y_test).mean()
    np.testing.assert_array_equal(first.losses, again.losses)
    assert not np.array_equal(first.losses, other.losses)


def test_a_stop_ends_training_with_what_it_has(digits):
    def stop(done, steps):
        if done == 3:
            raise Stop

    found = train_convolution(NORMS["layer"], digits, channels=4, epochs=4, progress=stop)
    assert len(found.losses) == 3


def test_units_at_the_border_are_on_less_with_layer_norm_after_training():
    found = train_convolution(NORMS["layer"], Images.digits(), epochs=3)
    at = place_statistics(found.network, Images.digits().seen_train)
    border, inside = at.at_border(at.on)
    assert border < inside - 0.05
    assert at.at_border(at.distance)[0] > 1.3 * at.at_border(at.distance)[1]
