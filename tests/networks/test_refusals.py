"""Refusals of residual networks, attention and convolutions, in whole sentences."""

import numpy as np
import pytest

import normgeo as ng

RMS = ng.NORMALIZERS["rms"]
START = ng.ResidualNetwork.random(RMS, "pre", 1, 4, 3, 2, np.random.default_rng(0))
HEAD = ng.AttentionHead(RMS, np.eye(2), np.eye(2))
CONVOLUTION = ng.ConvolutionalNetwork.random(
    ng.ImageNorm("layer"), 2, 4, 3, np.random.default_rng(0)
)
NOT_SQUARE = ng.ConvolutionalNetwork.random(
    ng.ImageNorm("layer"), 2, 6, 3, np.random.default_rng(0)
)
FULL = {
    "parts of another number": (
        lambda: ng.ResidualNetwork(RMS, "pre", (1, 2)),
        "`parts` must be (E, e, blocks, last, U, u); got (1, 2).",
    ),
    "a bias of another length": (
        lambda: ng.ResidualNetwork(RMS, "pre", START.parts._replace(e=np.ones(3))),
        "`e` must have shape (4); got (3,).",
    ),
    "no block": (
        lambda: ng.ResidualNetwork(RMS, "pre", START.parts._replace(blocks=[])),
        "`blocks` must be a list with one block or more; got [].",
    ),
    "a draw too large": (
        lambda: ng.residual_ignored(RMS, "pre", size=(4, 3, 600, 4, 3, 3)),
        "`size D` must be a whole number from 2 to 8; got 600.",
    ),
    "weights beyond memory": (
        lambda: ng.ResidualNetwork.random(RMS, "pre", 10**6, 999, 3, 2, np.random.default_rng(0)),
        "The weights would take 1.49e+04 GiB of memory; at most 2 GiB are taken. Ask for less.",
    ),
    "a stream beyond memory": (
        lambda: START.forward(np.broadcast_to(np.ones(3), (6 * 10**6, 3))),
        "What is kept of each block would take 2.15 GiB of memory; at most 2 GiB are taken. Ask "
        "for less.",
    ),
    "classes of other cases": (
        lambda: START.gradients(np.eye(3), [0, 1]),
        "`X` and `y` must have a row for each of the same cases; got 3 rows in X and 2 in y.",
    ),
    "tokens of other features": (
        lambda: HEAD.logits(np.ones((4, 3))),
        "`X` must have shape (…, 2); got (4, 3).",
    ),
    "logits beyond floats": (
        lambda: ng.AttentionHead(ng.NORMALIZERS["standard"], [[1e200]], [[1e200]]).logits([[1.0]]),
        "The logits exceed the largest float. Use smaller weights, smaller inputs or a norm.",
    ),
    "pairs beyond memory": (
        lambda: HEAD.logits(np.ones((20_000, 2))),
        "The logits of all pairs of tokens would take 2.98 GiB of memory; at most 2 GiB are taken. "
        "Ask for less.",
    ),
    "frozen statistics of a head": (
        lambda: ng.attention_ignored(ng.Normalizer("batch", "batch", statistics="frozen")),
        "A head is looked at with the statistics of its tokens; got a normalizer with frozen ones. "
        'Use statistics="current".',
    ),
    "groups of layer norm": (
        lambda: ng.ImageNorm("layer", 2),
        "`groups` splits the channels for group norm; got groups=2 for layer norm. Use groups=1 or "
        "group norm.",
    ),
    "equal entries": (
        lambda: ng.ImageNorm("layer", eps=0).normalize(np.ones((2, 2, 2))),
        "Here layer norm has no z: a variance is 0, as of equal entries, or exceeds the largest "
        "float. Use an `eps` above 0, or smaller numbers.",
    ),
    "windows of other images": (
        lambda: CONVOLUTION.forward(np.ones((1, 9, 9))),
        "`seen` must have shape (…, 9, 4); got (1, 9, 9).",
    ),
    "windows beyond memory": (
        lambda: ng.image_windows(np.broadcast_to(1.0, (40_000, 32, 32))),
        "The windows of the images would take 2.75 GiB of memory; at most 2 GiB are taken. Ask for "
        "less.",
    ),
    "images that are not square": (
        lambda: ng.place_statistics(NOT_SQUARE, np.random.default_rng(0).random((2, 9, 6))),
        "The windows must be of square images, with a square number of places; got 6.",
    ),
    "classes with fractions": (
        lambda: ng.Images(np.ones((2, 3, 3)), [0, 1.5], np.ones((1, 3, 3)), [0]),
        "`y_train` must be a whole number from 0 to 9999; got 1.5.",
    ),
}


def test_a_refusal_says_the_rule_what_arrived_and_the_way_out(subtests: pytest.Subtests) -> None:
    for case, (call, sentence) in FULL.items():
        with subtests.test(case):
            with pytest.raises(ValueError, match=r"\.$") as refused:
                call()
            assert str(refused.value) == sentence


def test_arrays_may_come_as_lists_and_sharing_by_its_key() -> None:
    parts = ng.ResidualNetwork(
        RMS, "post", ([[1], [2]], [0, 0], [(None, [[1, 2]], [0], [[1], [0]], [0, 0])],
                      ([1, 1], [0, 0]), [[1, -1]], [0])
    ).parts  # fmt: skip
    assert parts.blocks[0].norm is None
    assert parts.last.g.dtype == float
    assert ng.ImageNorm("group", 2) == ng.ImageNorm("group", 2)


def test_images_of_ones_own_are_trained_on() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.uniform(0, 0.3, (60, 4, 4))
    X[y == 1, 1:3, 1:3] += 1
    own = ng.Images(X[:40], y[:40], X[40:], y[40:])
    found = ng.train_convolution(ng.ImageNorm("layer"), own, channels=3, epochs=8, batch_size=10)
    assert found.accuracy == 1
