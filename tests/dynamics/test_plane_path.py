"""The path of a block on a plane, against projections by hand."""

import numpy as np
import pytest

from normgeo import NORMALIZERS, NormalizedGLM, descend, plane_path
from normgeo.base.progress import Stop
from tests.refused import says

every_plane = pytest.mark.parametrize("plane", ["principal", "first_step"])


@pytest.fixture
def run(rng):
    X, y = rng.normal(0.5, 1, (30, 5)), rng.integers(0, 4, 30)
    model = NormalizedGLM(NORMALIZERS["batch"], "categorical", rng.normal(0.3, 1, (4, 5)))
    return descend(model, X, y, steps=30, rate=2.0)


@every_plane
def test_coordinates_are_projections_on_orthonormal_axes(run, plane):
    path = plane_path(run, block=2, plane=plane)
    W = np.array([run.model_at(t).W[2] for t in range(31)])
    np.testing.assert_allclose(path.axes @ path.axes.T, np.eye(2), atol=1e-14)
    np.testing.assert_allclose(path.coordinates, W @ path.axes.T, rtol=1e-12)
    inside = (path.coordinates**2).sum(axis=1) / (W**2).sum(axis=1)
    np.testing.assert_allclose(path.share, inside, rtol=1e-12)
    assert path.share.max() <= 1 + 1e-12
    assert path.coordinates[0, 0] > 0
    assert path.coordinates[-1, 1] > 0
    assert path.neurons.tolist() == [2]
    assert path.steps.tolist() == list(range(31))


def test_plane_of_the_first_step_holds_the_weights_and_their_gradient(run):
    path = plane_path(run, plane="first_step")
    np.testing.assert_allclose(path.share[:2], 1, rtol=1e-12)
    w, step = run.model_at(0).W[0], run.model_at(1).W[0] - run.model_at(0).W[0]
    np.testing.assert_allclose(path.axes[0], w / np.linalg.norm(w), rtol=1e-12)
    np.testing.assert_allclose(
        np.abs(path.axes[1]), np.abs(step) / np.linalg.norm(step), rtol=1e-9
    )  # the gradient is orthogonal to w, and so is the step
    np.testing.assert_allclose(np.abs(path.coordinates[1]), [run.norms[0, 0], run.step_norms[0, 0]])


@every_plane
def test_a_single_step_spans_the_plane_that_it_lies_in(plane, rng):
    X, y = rng.normal(0.5, 1, (30, 5)), rng.integers(0, 4, 30)
    model = NormalizedGLM(NORMALIZERS["batch"], "categorical", rng.normal(0.3, 1, (4, 5)))
    path = plane_path(descend(model, X, y, steps=1, rate=2.0), plane=plane)
    np.testing.assert_allclose(path.share, [1, 1], rtol=1e-12)


def test_principal_plane_holds_more_of_the_path_than_any_other(run, rng):
    W = np.array([run.model_at(t).W[1] for t in range(31)])
    held = (plane_path(run, block=1).coordinates ** 2).sum()
    others = [np.linalg.qr(rng.normal(size=(5, 2)))[0] for _ in range(200)]
    assert held > max(((W @ Q) ** 2).sum() for Q in others)
    assert held == pytest.approx((np.linalg.svd(W)[1][:2] ** 2).sum(), rel=1e-12)


def test_in_the_plane_of_two_features_the_spiral_goes_outward(rng):
    X, y = rng.normal(size=(40, 2)), rng.integers(0, 2, (40, 1))
    model = NormalizedGLM(NORMALIZERS["weight"], "bernoulli", [[0.3, 0.1]])
    path = plane_path(descend(model, X, y, steps=20, rate=1.0))
    np.testing.assert_allclose(path.share, 1, rtol=1e-12)
    assert (np.diff(np.hypot(*path.coordinates.T)) > 0).all()


def test_a_block_of_several_neurons_is_one_path(rng):
    X, y = rng.normal(0.5, 1, (30, 5)), rng.integers(0, 6, 30)
    model = NormalizedGLM(NORMALIZERS["group"], "categorical", rng.normal(0.3, 1, (6, 5)))
    path = plane_path(descend(model, X, y, steps=5), block=1)
    assert path.axes.shape == (2, 15)
    assert path.neurons.tolist() == [3, 4, 5]
    np.testing.assert_allclose(path.axes.reshape(2, 3, 5).sum(axis=1), 0, atol=1e-13)


@every_plane
def test_a_path_that_does_not_turn_spans_no_plane(plane, rng):
    def stop(step, steps):
        raise Stop

    X, y = rng.normal(0.5, 1, (30, 5)), rng.integers(0, 4, 30)
    model = NormalizedGLM(NORMALIZERS["batch"], "categorical", rng.normal(0.3, 1, (4, 5)))
    with says(
        "The path spans no plane: the weights did not turn. Take more steps or a larger rate."
    ):
        plane_path(descend(model, X, y, progress=stop), plane=plane)


def test_unknown_planes_and_blocks_are_named(run):
    with says("`plane` must be one of principal, first_step; got 'xy'."):
        plane_path(run, plane="xy")
    with says("`block` must be a whole number from 0 to 3; got 4."):
        plane_path(run, block=4)
