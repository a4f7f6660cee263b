"""Residual networks against their formulas written out, and their gradients against differences."""

from dataclasses import replace

import numpy as np
import pytest

from normgeo import GRID, NORMALIZERS, Normalizer
from normgeo.base.progress import Stop
from normgeo.base.refusal import Refusal
from normgeo.datasets.datasets import load
from normgeo.dynamics.schedules import WarmUp
from normgeo.networks.blocks import PLACES
from normgeo.networks.norm import Gain
from normgeo.networks.residual import Parts, ResidualNetwork
from normgeo.networks.signals import signals
from normgeo.networks.training import train_residual
from tests.pairwise import each

ALONE = {"-".join(words): norm for words, norm in GRID.items() if not norm.normalizes_weights} | {
    "group": NORMALIZERS["group"]
}
every_norm = pytest.mark.pairwise("norm", ALONE.values(), ids=[*ALONE])
every_place = pytest.mark.pairwise("place", PLACES)


def plain_norm(norm, x):
    """(x − μ)/σ over cases (N, D), as a reader would write it."""
    if norm.groups > 1:
        one = replace(norm, groups=1)
        return np.hstack([plain_norm(one, part) for part in np.split(x, norm.groups, axis=1)])
    axes = {"none": None, "batch": 0, "layer": 1}
    center, scale = axes[norm.center], axes[norm.scale]
    if center is not None:
        x = x - x.mean(axis=center, keepdims=True)
    if scale is not None:
        x = x / np.sqrt((x * x).mean(axis=scale, keepdims=True) + norm.eps)
    return x


def plain_streams(network, X):
    """The streams x_0 … x_L and the logits, block by block as papers write them."""
    at, norm = network.parts, network.normalizer

    def with_gain(gain, x):
        return gain.g * plain_norm(norm, x) + gain.beta

    def branch(block, x):
        return np.maximum(x @ block.W.T + block.b, 0) @ block.V.T + block.c

    x = X @ at.E.T + at.e
    streams = [x]
    if network.place.key == "pre":
        for block in at.blocks:
            x = x + branch(block, with_gain(block.norm, x))
            streams.append(x)
        read = with_gain(at.last, x)
    else:
        after = [*(block.norm for block in at.blocks[1:]), at.last]
        for block, gain in zip(at.blocks, after, strict=True):
            x = with_gain(gain, x + branch(block, x))
            streams.append(x)
        read = x
    return streams, read @ at.U.T + at.u


def plain_loss(network, X, y):
    _, logits = plain_streams(network, X)
    logits = logits - logits.max(axis=1, keepdims=True)
    log_p = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    return -log_p[np.arange(len(y)), y].mean()


def network_of(norm, place, seed=1):
    """A small network with gains different from 1 and biases from 0."""
    rng = np.random.default_rng(seed)
    start = ResidualNetwork.random(norm, place, 3, 6, 5, 4, rng)
    return with_arrays(start, [a + 0.3 * rng.standard_normal(a.shape) for a in arrays(start)])


def arrays(network):
    return list(network.parts.arrays())


def with_arrays(network, values):
    values = iter(values)
    at = network.parts
    E, e = next(values), next(values)
    blocks = []
    for block in at.blocks:
        gain = None if block.norm is None else Gain(next(values), next(values))
        blocks.append(type(block)(gain, *(next(values) for _ in range(4))))
    last = Gain(next(values), next(values))
    return replace(network, parts=Parts(E, e, tuple(blocks), last, next(values), next(values)))


@pytest.fixture
def data(rng):
    return rng.normal(0.5, 1, (7, 5)), rng.integers(0, 4, 7)


@every_place
@every_norm
def test_streams_and_logits_are_the_formulas_written_out(norm, place, data):
    network = network_of(replace(norm, eps=0.01), place)
    streams, logits = plain_streams(network, data[0])
    passed = network.forward(data[0])
    for ours, theirs in zip(passed.stream, streams, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(passed.logits, logits, rtol=1e-10, atol=1e-12)
    assert network.loss(*data) == pytest.approx(plain_loss(network, *data), rel=1e-10)


@every_place
@every_norm
def test_gradients_are_differences_of_the_loss_written_out(norm, place, data):
    network = network_of(norm, place)
    values, gradients = arrays(network), list(network.gradients(*data).arrays())
    assert [g.shape for g in gradients] == [v.shape for v in values]
    rng, h = np.random.default_rng(0), 1e-5
    for index, gradient in enumerate(gradients):
        direction = rng.standard_normal(gradient.shape)

        def loss(step, index=index, direction=direction):
            moved = [v + step * direction if i == index else v for i, v in enumerate(values)]
            return plain_loss(with_arrays(network, moved), *data)

        slope = (loss(h) - loss(-h)) / (2 * h)
        assert (gradient * direction).sum() == pytest.approx(slope, rel=1e-5, abs=1e-8)


@pytest.mark.parametrize(("method", "place"), each(["standard", "batch", "layer", "rms"], PLACES))
def test_the_stream_has_the_expected_size_on_average_over_starts(method, place):
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((20, 8)), np.zeros(20, dtype=int)
    ratios = []
    for seed in range(150):
        start = ResidualNetwork.random(
            NORMALIZERS[method], place, 4, 16, 8, 3, np.random.default_rng(seed)
        )
        found = signals(start, X, y)
        # Relative to the prediction from this draw's own first stream.
        ratios.append((found.stream / found.expected_stream) ** 2)
    mean, error = np.mean(ratios, axis=0), np.std(ratios, axis=0) / 150**0.5
    assert (abs(mean - 1) < 4.5 * error + 1e-9).all()
    assert error.max() < 0.1


def test_gradients_of_wide_pre_norm_networks_fall_as_the_stream_grows():
    rng = np.random.default_rng(6)
    X, y = rng.standard_normal((20, 16)), rng.integers(0, 5, 20)
    ratios = []
    for seed in range(60):
        start = ResidualNetwork.random(
            NORMALIZERS["layer"], "pre", 8, 64, 16, 5, np.random.default_rng(seed)
        )
        found = signals(start, X, y)
        ratios.append((found.gradients / found.expected_gradients) ** 2)
    mean = np.mean(ratios, axis=0)
    np.testing.assert_allclose(mean, 1, atol=0.15)  # of squares that fall by a factor of 9/2
    for method, place in (("layer", "post"), ("batch", "pre"), ("standard", "pre")):
        network = network_of(NORMALIZERS[method], place)
        assert signals(network, X[:, :5], y % 4).expected_gradients is None


def test_weight_gradients_are_the_norms_of_the_gradients_of_each_block(data):
    network = network_of(NORMALIZERS["layer"], "pre")
    found = signals(network, *data).gradients
    for size, block in zip(found, network.gradients(*data).blocks, strict=True):
        assert size == pytest.approx(np.sqrt((block.W**2).sum() + (block.V**2).sum()))


def test_no_size_is_expected_where_only_a_mean_is_taken_off_or_an_eps_is_added(data):
    for norm in (Normalizer("batch", "none"), Normalizer("layer", "layer", eps=0.1)):
        assert signals(network_of(norm, "pre"), *data).expected_stream is None


def test_digits_stream_grows_with_pre_norm_and_keeps_its_size_with_post_norm():
    digits = load("digits", standardize=True)
    X, y = digits.X[:100], digits.y[:100]
    found = {
        place: signals(
            ResidualNetwork.random(
                NORMALIZERS["layer"], place, 12, 64, X.shape[1], 10, np.random.default_rng(0)
            ),
            X,
            y,
        ).stream
        for place in PLACES
    }
    assert found["pre"][-1] == pytest.approx(np.sqrt(found["pre"][0] ** 2 + 12), rel=0.15)
    np.testing.assert_allclose(found["post"][1:], 1, rtol=1e-12)


@pytest.mark.parametrize(
    ("norm", "words"),
    [
        (NORMALIZERS["weight"], "stream, not weights"),
        (NORMALIZERS["centered_weight"], "stream, not weights"),
        (Normalizer("batch", "batch", statistics="frozen"), "current statistics"),
    ],
)
def test_a_norm_that_cannot_stand_by_itself_is_refused(norm, words, data):
    network = ResidualNetwork.random(norm, "pre", 1, 4, 5, 4, np.random.default_rng(0))
    with pytest.raises(Refusal, match=words):
        network.forward(data[0])


def test_batch_statistics_of_a_single_case_are_refused(data):
    with pytest.raises(Refusal, match="at least 2 of them"):
        network_of(NORMALIZERS["batch"], "pre").forward(data[0][:1])


def test_a_stream_beyond_floats_is_refused(data):
    network = network_of(NORMALIZERS["standard"], "pre")
    huge = with_arrays(network, [1e200 * values for values in arrays(network)])
    with pytest.raises(Refusal, match="exceeds the largest float"):
        huge.forward(data[0])


def test_an_unknown_place_is_refused():
    with pytest.raises(Refusal, match="place"):
        ResidualNetwork.random(NORMALIZERS["layer"], "beside", 1, 4, 5, 4, np.random.default_rng(0))


@every_place
def test_norm_that_leaves_only_signs_lets_no_gradient_pass(place):
    """A change of all weights of the blocks that flips no sign changes no logit."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 6)), rng.integers(0, 3, 20)
    network = ResidualNetwork.random(NORMALIZERS["layer"], place, 5, 2, 6, 3, rng)
    found = signals(network, X, y)
    assert not found.gradients.any()
    assert found.expected_gradients is None
    moved = tuple(
        block._replace(W=block.W * (1 + 1e-7 * rng.standard_normal(block.W.shape)))
        for block in network.parts.blocks
    )
    changed = ResidualNetwork(network.normalizer, place, network.parts._replace(blocks=moved))
    np.testing.assert_allclose(changed.forward(X).logits, network.forward(X).logits, atol=1e-12)


def test_packed_parameters_are_the_network_again():
    network = ResidualNetwork.random("layer", "post", 3, 5, 4, 3, np.random.default_rng(0))
    again = network.unpack(network.pack() * 2)
    for one, other in zip(again.parts.arrays(), network.parts.arrays(), strict=True):
        np.testing.assert_array_equal(one, 2 * other)
    assert (again.place, again.normalizer) == (network.place, network.normalizer)
    with pytest.raises(Refusal, match="theta"):
        network.unpack(network.pack()[1:])


@pytest.mark.parametrize("rate", [0.01, WarmUp(0.01, 7)])
def test_training_is_adam_written_out(rate):
    data = load("iris", standardize=True)
    start = ResidualNetwork.random("layer", "pre", 2, 6, 4, 3, np.random.default_rng(0))
    found = train_residual(start, data.X, data.y, rate=rate, epochs=2, batch_size=50, seed=3)
    rng, network, M, V, losses = np.random.default_rng(3), start, 0.0, 0.0, []
    order = np.arange(150)
    for step in range(6):
        order = rng.permutation(150) if step % 3 == 0 else order
        cases = order[50 * (step % 3) : 50 * (step % 3 + 1)]
        loss = network.loss(data.X[cases], data.y[cases])
        gradients = network.gradients(data.X[cases], data.y[cases]).arrays()
        G = np.concatenate([one.ravel() for one in gradients])
        M, V = 0.9 * M + 0.1 * G, 0.999 * V + 0.001 * G**2
        eta = 0.01 if rate == 0.01 else 0.01 * min(1, (step + 1) / 7)
        move = M / (1 - 0.9 ** (step + 1)) / (np.sqrt(V / (1 - 0.999 ** (step + 1))) + 1e-8)
        network = network.unpack(network.pack() - eta * move)
        losses.append(loss)
    np.testing.assert_allclose(found.losses, losses, rtol=1e-9)
    np.testing.assert_allclose(found.network.pack(), network.pack(), rtol=1e-7)
    right = network.forward(data.X).logits.argmax(axis=1) == data.y
    assert found.right(data.X, data.y) == right.sum()


def test_a_stopped_training_keeps_its_steps_and_one_that_overflows_its_reason():
    data = load("iris", standardize=True)
    start = ResidualNetwork.random("standard", "pre", 2, 6, 4, 3, np.random.default_rng(0))

    def stop(done, steps):
        if done == 4:
            raise Stop

    assert len(train_residual(start, data.X, data.y, epochs=9, progress=stop).losses) == 4
    found = train_residual(start, data.X, data.y, rate=1e200, epochs=9)
    assert "largest float" in found.ended
    assert found.right(data.X, data.y) is None
