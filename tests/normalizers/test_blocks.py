"""Lengths and angles of blocks of weights."""

import numpy as np
import pytest

from normgeo.normalizers.blocks import angles_between, angles_turned, cosines, lengths


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
