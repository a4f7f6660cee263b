"""Equal KL around a block of weights, against the KL of the models there and the dense Fisher."""

import numpy as np
import pytest

from normgeo import NORMALIZERS, NormalizedGLM, fisher, kl
from normgeo.fisher.ellipse import equal_kl


def draw(rng, X):
    model = NormalizedGLM(NORMALIZERS["weight"], "bernoulli", rng.standard_normal((3, X.shape[1])))
    return model, rng.integers(0, 2, (len(X), 3))


def moved(model, w):
    """The model with other weights of its first neuron."""
    return NormalizedGLM(model.normalizer, "bernoulli", np.concatenate([[w], model.W[1:]]))


def test_curves_are_at_their_level_and_ellipses_at_that_of_the_quadratic(rng):
    X = rng.standard_normal((20, 4))
    model, y = draw(rng, X)
    own = model.W[0] / np.linalg.norm(model.W[0])
    found = equal_kl(model, X, y, [1.0, 3.0], rng=rng)
    np.testing.assert_allclose(found.directions @ own, 0, atol=1e-14)
    for at in found.at:
        here = moved(model, at.norm * own)
        assert at.contour.shape == (49, 2)
        np.testing.assert_allclose(at.contour[0], at.contour[-1], atol=1e-12 * at.norm)
        turns = np.unwrap(np.arctan2(*at.contour.T[::-1]))
        np.testing.assert_allclose(np.diff(turns), 2 * np.pi / 48, rtol=1e-9)
        for point in at.contour[::7]:
            there = moved(model, at.norm * own + point @ found.directions)
            assert kl(here, there, X) == pytest.approx(found.level, rel=1e-3)
        F = fisher(here, X).to_dense()[:4, :4]
        halves = [(p @ found.directions) @ F @ (p @ found.directions) / 2 for p in at.ellipse]
        np.testing.assert_allclose(halves, found.level, rtol=1e-9)


def test_directions_along_which_no_output_changes_have_no_ellipse(rng):
    X = rng.standard_normal((20, 1)) * rng.standard_normal(4)
    model, y = draw(rng, X)
    with pytest.raises(ValueError, match=r"^An ellipse needs curvature in both of its directions"):
        equal_kl(model, X, y, [1.0], rng=rng)
