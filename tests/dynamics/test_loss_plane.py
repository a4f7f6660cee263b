"""The plane of a weight vector and its gradient: the loss is constant along its rays."""

import numpy as np
import pytest

from normgeo import NORMALIZERS, NormalizedGLM, Normalizer
from normgeo.datasets.datasets import load
from normgeo.dynamics.loss_plane import loss_plane
from tests.dynamics.started import every_homogeneous, start
from tests.refused import says


@every_homogeneous
def test_loss_is_constant_along_rays_and_its_gradient_falls_with_the_radius(normalizer, cases):
    angles = np.linspace(-3, 3, 13)
    near, far = (
        loss_plane(start(normalizer), *cases, angles=angles, norm=norm) for norm in (0.01, 300.0)
    )
    np.testing.assert_allclose(near.loss, far.loss, rtol=1e-12)
    np.testing.assert_allclose(near.slope, far.slope, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(near.gradient_norms * 0.01, far.gradient_norms * 300, rtol=1e-10)
    assert np.ptp(near.loss) > 0.01  # and it is not constant across them


@every_homogeneous
def test_the_weights_themselves_are_at_angle_zero_and_descent_leads_across(normalizer, cases):
    model = start(normalizer)
    plane = loss_plane(model, *cases, angles=[0.0, 1e-3])
    assert plane.loss[0] == pytest.approx(-model.log_likelihood(*cases[:2]), rel=1e-13)
    assert plane.loss[1] < plane.loss[0]
    # The whole gradient at the weights lies in the plane, and points against `across`.
    assert plane.slope[0] == pytest.approx(-plane.norm * plane.gradient_norms[0], rel=1e-10)
    assert plane.along @ plane.across == pytest.approx(0, abs=1e-15)
    np.testing.assert_allclose([np.linalg.norm(plane.along), np.linalg.norm(plane.across)], 1)


@every_homogeneous
def test_slope_is_the_difference_of_the_loss(normalizer, cases):
    h = 1e-3
    grid = 0.7 + h * np.arange(-2, 3)
    plane = loss_plane(start(normalizer), *cases, angles=grid)
    L = plane.loss
    difference = (8 * (L[3] - L[1]) - L[4] + L[0]) / (12 * h)
    assert plane.slope[2] == pytest.approx(difference, rel=1e-7, abs=1e-9)


def test_the_plane_is_made_of_the_block_alone(cases):
    """The loss at an angle is that of the model with one row replaced by hand."""
    model = start(NORMALIZERS["batch"])
    plane = loss_plane(model, *cases, block=2, angles=[2.0])
    W = model.W.copy()
    W[2] = np.cos(2.0) * plane.along + np.sin(2.0) * plane.across
    by_hand = NormalizedGLM(model.normalizer, "categorical", W, model.b, model.g)
    assert plane.neurons.tolist() == [2]
    assert plane.loss[0] == pytest.approx(-by_hand.log_likelihood(*cases), rel=1e-13)


def test_default_angles_go_around_once_on_digits():
    digits = load("digits")
    model = NormalizedGLM.random(
        NORMALIZERS["batch"], "categorical", 10, digits.D, np.random.default_rng(0)
    )
    plane = loss_plane(model, digits.X, digits.y, block=3)
    np.testing.assert_allclose(np.degrees(plane.angles), np.arange(-180, 182, 2))
    assert plane.loss[0] == pytest.approx(plane.loss[-1], rel=1e-13)
    assert plane.loss[90] == pytest.approx(-model.log_likelihood(digits.X, digits.y), rel=1e-13)
    assert plane.reasons == ("",) * 181


def test_epsilon_bends_the_rays(cases):
    """Negative control: with ε near σ² the loss depends on the radius."""
    model = start(Normalizer("batch", "batch", eps=0.3))
    near, far = (loss_plane(model, *cases, angles=[0.5], norm=norm) for norm in (0.3, 30.0))
    assert abs(near.loss[0] - far.loss[0]) > 1e-3


def test_an_angle_without_a_number_is_a_gap_with_its_reason(cases):
    plane = loss_plane(start(NORMALIZERS["layer"]), *cases, angles=[0.0, 0.3], norm=1.7e308)
    for gap in (plane.loss, plane.slope, plane.gradient_norms):
        assert np.isnan(gap).all()
    assert all("overflow" in reason for reason in plane.reasons)
    near, far = (
        loss_plane(start(NORMALIZERS["layer"]), *cases, angles=[0.3], norm=norm)
        for norm in (1.0, 1e200)  # its square overflows; z does not need it
    )
    np.testing.assert_allclose(far.loss, near.loss, rtol=1e-12)


def test_a_gradient_of_zero_spans_no_plane():
    X = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
    model = NormalizedGLM(NORMALIZERS["weight"], "gaussian", [[1.0, 0.0]])
    with says(
        "The plane is spanned by the weights and their gradient, which is zero here: the model is "
        "at an optimum. Use other weights."
    ):
        loss_plane(model, X, X[:, 0])


def test_bad_arguments_are_named(cases):
    with says("`norm` must be a finite number above 0; got 0."):
        loss_plane(start(NORMALIZERS["batch"]), *cases, norm=0)
    with says(
        "`block` must be a whole number from 0 to 0, one of the 1 homogeneous blocks of layer "
        "norm; got 1."
    ):
        loss_plane(start(NORMALIZERS["layer"]), *cases, block=1)
