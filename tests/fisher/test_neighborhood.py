"""The KL around a model and its contours, against the KL of two models and the matrix F."""

import re

import numpy as np
import pytest

from normgeo import FAMILIES, NORMALIZERS, NormalizedGLM, fisher, kl
from normgeo.base.progress import Stop
from normgeo.fisher.contours import LENGTHS, RAYS, block_directions, kl_contours
from normgeo.fisher.neighborhood import Neighborhood, reach_of
from tests.drawn import model_and_cases

every_normalizer = pytest.mark.pairwise("name", NORMALIZERS)
every_family = pytest.mark.pairwise("family", FAMILIES)


def draw(name, family="bernoulli", H=6, **more):
    # Another seed than those of the directions, or they would be along the weights.
    return model_and_cases(NORMALIZERS[name], family, H=H, seed=6, **more)


def block(model):
    return np.concatenate(model.normalizer.homogeneous_blocks(len(model.W))[:1] or [[0]])


def stepped(model, step):
    return model.unpack(model.pack() + step)


@every_normalizer
@every_family
def test_kl_of_a_step_is_that_of_the_two_models(name, family):
    model, X = draw(name, family)
    around = Neighborhood.of(model, X)
    rng = np.random.default_rng(1)
    whole = 0.1 * rng.standard_normal(model.layout.size)
    one = np.where(np.arange(len(whole)) < 2, whole, 0)  # of the first neuron alone
    for step in (whole, one):
        assert around.kl(step) == pytest.approx(kl(model, stepped(model, step), X), rel=1e-12)
        half = step @ fisher(model, X).to_dense() @ step / 2
        assert around.quadratic(step) == pytest.approx(half, rel=1e-9)


def test_step_that_moves_no_output_costs_nothing():
    model, X = draw("batch")
    around = Neighborhood.of(model, X)
    assert around.kl(np.zeros(model.layout.size)) == 0
    double = model.layout.pack(model.W, np.zeros(6), np.zeros(6))
    assert around.kl(double) < 1e-25


def test_a_level_that_is_never_reached_is_not_a_number():
    assert np.isnan(reach_of(lambda t: 1 - np.exp(-t), 2.0, 0.1))


@every_normalizer
def test_directions_are_orthonormal_and_in_the_block(name):
    model, X = draw(name)
    neurons = block(model)
    around = Neighborhood.of(model, X)
    found = block_directions(around, neurons, np.random.default_rng(0))
    np.testing.assert_allclose(found @ found.T, np.eye(3), atol=1e-12)
    w = np.zeros_like(model.W)
    w[neurons] = model.W[neurons]
    np.testing.assert_allclose(found[0][model.layout.weights], w.ravel() / np.linalg.norm(w))
    for direction in found:
        dW, db, dg = model.layout.split(direction)
        assert not db.any()
        assert dg is None or not dg.any()
        assert not np.delete(dW, neurons, axis=0).any()


@every_normalizer
def test_second_direction_is_the_steepest_across_the_weights(name):
    model, X = draw(name)
    neurons = block(model)
    found = block_directions(Neighborhood.of(model, X), neurons, np.random.default_rng(0))
    F = fisher(model, X)
    steepest = F.quad(found[1])
    rng = np.random.default_rng(2)
    for _ in range(50):
        dW = np.zeros_like(model.W)
        dW[neurons] = rng.standard_normal((len(neurons), 5))
        v = np.zeros(model.layout.size)
        v[model.layout.weights] = dW.ravel()
        v -= (v @ found[0]) * found[0]
        assert F.quad(v / np.linalg.norm(v)) <= steepest * (1 + 1e-9)


@every_normalizer
def test_steepest_direction_is_the_top_eigenvector_of_the_projected_matrix(name):
    model, X = draw(name, "poisson")
    neurons = block(model)
    _, found, _ = block_directions(Neighborhood.of(model, X), neurons, np.random.default_rng(0))
    places = model.layout.weights.reshape(6, 5)[neurons].ravel()
    w = model.W[neurons].ravel()
    P = np.eye(len(w)) - np.outer(w, w) / (w @ w)
    F = fisher(model, X).to_dense()[np.ix_(places, places)]
    expected = np.linalg.eigh(P @ F @ P)[1][:, -1]
    assert abs(expected @ found[places]) == pytest.approx(1, abs=1e-9)


def test_steepest_direction_is_found_where_equal_weights_change_nothing(rng):
    """Of three features a center over them and ŵ leave one direction, at right angles to 1."""
    tried = 0
    for _ in range(200):
        X, W = rng.integers(-4, 5, (4, 3)).astype(float), rng.integers(-4, 5, (1, 3)).astype(float)
        if len(set(W[0])) < 3:
            continue
        model = NormalizedGLM(NORMALIZERS["centered_weight"], "gaussian", W)
        F = fisher(model, X)
        steepest = np.linalg.eigvalsh(F.to_dense()[:3, :3])[-1]
        if steepest > 1e-9:
            _, found, *_ = block_directions(Neighborhood.of(model, X), np.array([0]), rng)
            assert F.quad(found) == pytest.approx(steepest, rel=1e-9)
            tried += 1
    assert tried > 50


@every_normalizer
@every_family
@pytest.mark.pairwise("part", ["across", "along"])
def test_every_point_of_a_contour_has_its_level(name, family, part):
    model, X = draw(name, family)
    around = Neighborhood.of(model, X)
    directions = block_directions(around, block(model), np.random.default_rng(3))
    plane = directions[[2, 1] if part == "across" else [0, 1]]
    levels = np.array([0.001, 0.004])
    within = None if part == "across" else 0.5
    seen = kl_contours(around, plane, levels, within=within)
    F = fisher(model, X).to_dense()
    assert seen.strip == (part == "along" and bool(model.normalizer.homogeneous_blocks(6)))
    points = 0
    for level, quadratic, true in zip(levels, seen.quadratic, seen.true, strict=True):
        for point in quadratic[np.isfinite(quadratic).all(axis=1)]:
            assert (point @ plane) @ F @ (point @ plane) / 2 == pytest.approx(level, rel=1e-6)
        for point in true[np.isfinite(true).all(axis=1)]:
            there = stepped(model, point @ plane)
            assert kl(model, there, X) == pytest.approx(level, rel=1e-3)
            points += 1
    assert points >= LENGTHS


def test_contours_of_a_gaussian_standard_model_are_its_ellipses():
    model, X = draw("standard", "gaussian", phi=0.5)
    around = Neighborhood.of(model, X)
    plane = block_directions(around, np.array([1]), np.random.default_rng(3))[1:]
    seen = kl_contours(around, plane, np.array([0.1, 1.0, 50.0]), within=None)
    np.testing.assert_allclose(seen.true, seen.quadratic, rtol=1e-4, atol=1e-9)
    np.testing.assert_array_equal(seen.true[:, 0], seen.true[:, -1])  # closed


def test_part_of_a_long_ellipse_is_bounded_by_its_own_edges():
    """Of a Gaussian standard model the KL is the quadratic form, tilted and not flat."""
    model, X = draw("standard", "gaussian")
    around = Neighborhood.of(model, X)
    plane = block_directions(around, np.array([1]), np.random.default_rng(3))[[2, 1]]
    seen = kl_contours(around, plane, np.array([0.5, 2.0]), within=0.2)
    assert seen.strip
    assert np.isfinite(seen.true[:, :LENGTHS]).all()
    np.testing.assert_allclose(seen.true, seen.quadratic, rtol=1e-4, atol=1e-9)
    assert np.ptp(seen.quadratic[0, :LENGTHS, 1]) > 1e-3  # no level line


def test_edges_of_a_strip_that_leans_are_on_the_quadratic():
    """Between two directions of unequal curvature the cross term of the metric is as large."""
    model, X = draw("standard", "gaussian", N=8)
    around = Neighborhood.of(model, X)
    flat, steep = np.linalg.eigh(fisher(model, X).to_dense())[1].T[[0, -1]]
    plane = np.stack([flat + 0.5 * steep, steep - 0.5 * flat]) / 1.25**0.5
    seen = kl_contours(around, plane, np.array([0.5, 2.0]), within=0.3)
    metric = plane @ fisher(model, X).to_dense() @ plane.T
    assert seen.strip
    assert metric[0, 1] > 0.3 * metric[1, 1]
    for level, edges in zip((0.5, 2.0), seen.quadratic, strict=True):
        points = edges[np.isfinite(edges).all(axis=1)]
        assert len(points) == 2 * LENGTHS
        half = np.einsum("ri,ij,rj->r", points, metric, points) / 2
        np.testing.assert_allclose(half, level, rtol=1e-9)


@pytest.mark.parametrize("lean", [0.0, 0.5])
def test_a_larger_level_goes_on_where_a_smaller_one_has_ended(lean):
    """Rays begin on the first direction, and those that begin outside of a level do not meet it."""
    model, X = draw("standard", "gaussian", N=8)
    F = fisher(model, X).to_dense()
    flat, steep = np.linalg.eigh(F)[1].T[[-np.linalg.matrix_rank(F), -1]]
    plane = np.stack([flat + lean * steep, steep - lean * flat]) / (1 + lean**2) ** 0.5
    starts = np.linspace(-0.3, 0.3, LENGTHS)
    at_start = (plane[0] @ F @ plane[0]) * np.concatenate([starts, [0], starts]) ** 2 / 2
    levels = np.array([at_start.max() / 3, 2.0])
    seen = kl_contours(Neighborhood.of(model, X), plane, levels, within=0.3)
    assert seen.strip
    for level, quadratic, true in zip(levels, seen.quadratic, seen.true, strict=True):
        inside = (at_start < level)[:, None]
        assert inside.all() == (level == 2.0)
        np.testing.assert_allclose(true, np.where(inside, quadratic, np.nan), rtol=1e-4, atol=1e-9)


@pytest.mark.parametrize("name", ["batch", "weight", "layer", "rms"])
def test_contour_along_the_weights_is_a_wedge_from_the_origin(name):
    model, X = draw(name)
    around, neurons = Neighborhood.of(model, X), block(model)
    directions = block_directions(around, neurons, np.random.default_rng(3))
    norm = np.linalg.norm(model.W[neurons])
    seen = kl_contours(around, norm * directions[:2], np.array([0.001]), within=0.9)
    along, across = seen.true[0].T
    slopes = across / (1 + along)
    for side in (slopes[:LENGTHS], slopes[LENGTHS + 1 :]):
        np.testing.assert_allclose(side, side.mean(), rtol=1e-3)
    assert slopes[0] > 0 > slopes[-1]


def test_epsilon_rounds_the_wedge():
    """Negative control: with ε the norm matters, and the edges are no rays."""
    model, X = draw("batch")
    softened = NormalizedGLM(
        type(model.normalizer)("batch", "batch", eps=3.0), model.family, model.W, model.b, model.g
    )
    around = Neighborhood.of(softened, X)
    directions = block_directions(around, np.array([0]), np.random.default_rng(3))
    plane = np.linalg.norm(model.W[0]) * directions[:2]
    seen = kl_contours(around, plane, np.array([1e-4]), within=0.9)
    assert not seen.strip


@every_family
def test_a_level_beyond_all_outputs_leaves_gaps(family):
    model, X = draw("batch", family)
    around = Neighborhood.of(model, X)
    directions = block_directions(around, np.array([0]), np.random.default_rng(3))
    seen = kl_contours(around, directions[1:], np.array([1e-4, 1e6]), within=None)
    assert np.isfinite(seen.true[0]).all()
    assert np.isnan(seen.true[1]).all()


def test_progress_is_told_of_every_ray_and_may_end_the_search():
    model, X = draw("standard")
    around = Neighborhood.of(model, X)
    plane = block_directions(around, np.array([0]), np.random.default_rng(3))[1:]
    told = []
    levels = np.array([0.01])
    whole = kl_contours(
        around, plane, levels, within=None, progress=lambda *report: told.append(report)
    )
    assert told == [(ray, RAYS) for ray in range(1, RAYS + 1)]

    def stop(ray, rays):
        if ray == 5:
            raise Stop

    part = kl_contours(around, plane, levels, within=None, progress=stop)
    np.testing.assert_array_equal(part.true[:, :5], whole.true[:, :5])
    assert np.isnan(part.true[:, 5:RAYS]).all()
    np.testing.assert_array_equal(part.quadratic, whole.quadratic)


def test_two_features_leave_one_direction_across_the_weights():
    model, X = draw("batch", D=2)
    found = block_directions(Neighborhood.of(model, X), np.array([0]), np.random.default_rng(0))
    assert found.shape == (2, model.layout.size)


@pytest.mark.parametrize(
    ("name", "H", "W", "sentence"),
    [
        (
            "layer",
            2,
            None,
            "An ellipse of equal KL needs curvature across the weights, and there is none "
            "here: the outputs do not change with them, for example because a layer scale has "
            "two neurons per group (z = ±1). Choose another method, more neurons or other "
            "weights.",
        ),
        (
            "standard",
            2,
            np.zeros((2, 5)),
            "A plane along the weights needs weights that are not all zero. Start from others.",
        ),
    ],
    ids=["two neurons", "zero weights"],
)
def test_models_without_a_plane_are_refused(name, H, W, sentence):
    model, X = draw(name, H=H)
    if W is not None:
        model = NormalizedGLM(model.normalizer, model.family, W, model.b, model.g)
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        block_directions(Neighborhood.of(model, X), np.array([0, 1]), np.random.default_rng(0))
