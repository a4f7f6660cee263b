"""Lengths and angles of blocks of weights."""

import numpy as np
import pytest

from normgeo.normalizers.blocks import Blocks, angles_between, angles_turned, cosines, lengths
from normgeo.normalizers.centers import CENTERS
from normgeo.normalizers.named import GRID
from normgeo.normalizers.normalizer import Normalizer


def test_measured_angles_keep_their_digits_however_small(rng):
    u, direction = rng.normal(size=(2, 40))
    across = direction - (direction @ u) / (u @ u) * u
    for size in (1e-14, 1e-9, 1e-3, 1.0, 50.0):
        change = size * across + 0.3 * size * u
        angle = np.arctan(np.linalg.norm(size * across) / ((1 + 0.3 * size) * np.linalg.norm(u)))
        np.testing.assert_allclose(angles_turned(u, change), angle, rtol=1e-13)


def test_angles_beyond_a_right_angle_are_told_apart():
    u = np.array([1.0, 0.0])
    assert angles_turned(u, np.array([-2.0, 0.0])) == pytest.approx(np.pi)
    assert angles_turned(u, np.array([-1.0, 1.0])) == pytest.approx(np.pi / 2)


@pytest.mark.parametrize("angle", [1e-14, 1e-9, 0.3, np.pi / 2, 3.0, np.pi])
def test_angle_between_two_vectors_keeps_its_digits_whatever_their_lengths(angle):
    u, v = np.array([5.0, 0.0]), 1e-3 * np.array([np.cos(angle), np.sin(angle)])
    assert angles_between(u, v) == pytest.approx(angle, rel=1e-13)
    assert angles_between(u, np.zeros(2)) == 0


def test_zero_vectors_have_angle_and_cosine_zero():
    u = np.array([[0.0, 0.0], [3.0, 4.0]])
    change = np.array([[1.0, 0.0], [0.0, 0.0]])
    np.testing.assert_array_equal(angles_turned(u, change), [0, 0])
    np.testing.assert_array_equal(cosines(u, change), [0, 0])
    np.testing.assert_array_equal(lengths(u), [0, 5])


@pytest.mark.parametrize("words", GRID)
def test_every_neuron_is_in_one_block_and_found_there(words):
    blocks = Blocks.of(GRID[words], 4)
    for neuron in range(4):
        (block,) = [i for i, neurons in enumerate(blocks.neurons) if neuron in neurons]
        assert blocks.holding(neuron) == block


def test_unknown_neuron_is_refused():
    sentence = "Neurons are numbered from 0 to 5 here; got 6. Choose another."
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        Blocks.of(Normalizer("layer", "layer", groups=2), 6).holding(6)


def test_block_is_called_by_its_neurons():
    names = {
        (words, groups): Blocks.of(Normalizer(*words, groups=groups), 6).name(0)
        for words, groups in (
            (("none", "batch"), 1),
            (("none", "none"), 1),
            (("none", "layer"), 1),
            (("layer", "layer"), 3),
        )
    }
    assert list(names.values()) == [
        "weights of neuron 0",
        "weights of neuron 0",
        "weights of the layer",
        "weights of neurons 0 to 1",
    ]
    assert Blocks.of(Normalizer("none", "layer"), 1).name(0) == "weights of neuron 0"


@pytest.mark.parametrize("center", CENTERS)
@pytest.mark.parametrize("scale", ["batch", "layer"])
def test_norm_has_a_tilde_where_the_center_changes_the_weights(center, scale, rng):
    blocks, W = Blocks.of(GRID[center, scale], 4), rng.normal(size=(4, 3))
    changed = not np.array_equal(blocks.vectors(W).reshape(W.shape), W)
    assert ("̃" in blocks.symbol) == changed
    assert blocks.symbol.isupper() == (len(blocks.neurons) == 1)


@pytest.mark.parametrize("size", [1e-300, 1e-170, 1.0, 1e170, 1e300])
def test_lengths_and_angles_of_vectors_whose_squares_are_no_float(size):
    U = np.array([[3.0, 4.0], [0.0, 0.0], [5.0, 12.0]]) * size
    np.testing.assert_allclose(lengths(U), np.array([5.0, 0.0, 13.0]) * size, rtol=1e-15)
    assert lengths(np.array([3, 4], np.float16)) == 5
    mixed = np.array([[3e-300, 4e-300], [3.0, 4.0], [3e200, 4e200]])
    np.testing.assert_allclose(lengths(mixed), [5e-300, 5.0, 5e200], rtol=1e-15)
    turned = angles_turned(np.array([1.0, 0.0]), np.array([0.0, min(size, 1.0)]))
    assert turned == pytest.approx(np.arctan(min(size, 1.0)), rel=1e-15)
