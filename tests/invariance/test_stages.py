"""Positions of a layer's points, against Eq. 5 written out, geometry and the exact verdicts."""

from dataclasses import replace

import numpy as np
import pytest

from normgeo.invariance.before_and_after import shift_pattern
from normgeo.invariance.certificate import certify
from normgeo.invariance.stages import journey, lengths, stages, surfaces
from normgeo.invariance.transforms import TRANSFORMS
from normgeo.normalizers.named import GRID, NORMALIZERS

OF_ONE_GROUP = {
    **{name: replace(known, groups=1) for name, known in NORMALIZERS.items()},
    **{"-".join(words): normalizer for words, normalizer in GRID.items()},
}


@pytest.fixture(scope="module")
def layer() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    return rng.standard_normal((3, 5)), rng.standard_normal((20, 5)) + 1


def carried(layer, method, change, strengths=(2.0,), eps=0.0, index=1):
    W, X = layer
    transform, gamma = TRANSFORMS[change], None
    if not transform.rescales:
        gamma = shift_pattern(transform, W, X, np.random.default_rng(1))
    normalizer = replace(OF_ONE_GROUP[method], eps=eps)
    return journey(normalizer, transform, W, X, strengths, gamma=gamma, index=index)


def test_mean_over_the_neurons_drops_every_case_onto_one_plane(layer):
    W, X = layer
    A = X @ W.T
    found = stages(NORMALIZERS["layer"], W, X)
    np.testing.assert_allclose(found.summed_inputs, A)
    assert np.abs(found.centered.sum(axis=1)).max() < 1e-12
    assert np.abs(found.z.sum(axis=1)).max() < 1e-12
    drops = A - found.centered
    np.testing.assert_allclose(drops, np.repeat(A.mean(axis=1)[:, None], 3, axis=1))
    for surface in surfaces(NORMALIZERS["layer"], W, X):
        np.testing.assert_allclose(surface.normal, np.full(3, 3**-0.5))


@pytest.mark.parametrize("method", ["layer", "rms"])
def test_mean_of_squares_over_the_neurons_gives_every_z_the_length_root_3(layer, method):
    W, X = layer
    normalizer = NORMALIZERS[method]
    assert np.abs(np.linalg.norm(stages(normalizer, W, X).z, axis=1) - 3**0.5).max() < 1e-12
    _, surface = surfaces(normalizer, W, X)
    assert surface.radius == pytest.approx(3**0.5, rel=1e-12)
    assert (surface.normal is None) == (method == "rms"), "a circle, or the whole sphere"


@pytest.mark.parametrize("method", ["layer", "rms"])
def test_eps_pulls_z_inside_by_its_law(layer, method):
    W, X = layer
    normalizer = replace(NORMALIZERS[method], eps=0.3)
    C = X @ W.T
    if method == "layer":
        C = C - C.mean(axis=1, keepdims=True)
    v = (C * C).mean(axis=1)
    law = np.sqrt(3 * v / (v + 0.3))
    np.testing.assert_allclose(lengths(normalizer, W, X), law)
    np.testing.assert_allclose(np.linalg.norm(stages(normalizer, W, X).z, axis=1), law)
    assert law.max() < 3**0.5
    assert surfaces(normalizer, W, X)[1].radius == pytest.approx(3**0.5), "still at ε = 0"


def test_batch_norm_moves_and_stretches_the_cloud(layer):
    W, X = layer
    found = stages(NORMALIZERS["batch"], W, X)
    np.testing.assert_allclose(
        found.summed_inputs - found.centered, (X @ W.T).mean(axis=0)[None].repeat(20, axis=0)
    )
    assert np.abs(found.z.mean(axis=0)).max() < 1e-12
    np.testing.assert_allclose(found.z.var(axis=0), 1)


def test_weight_norm_divides_each_axis_by_the_length_of_its_weights(layer):
    W, X = layer
    z = stages(NORMALIZERS["weight"], W, X).z
    np.testing.assert_allclose(z, X @ W.T / np.linalg.norm(W, axis=1))


@pytest.mark.pairwise("method", OF_ONE_GROUP)
def test_what_is_called_a_plane_or_a_sphere_holds_all_points_and_nothing_else_is(layer, method):
    W, X = layer
    normalizer = replace(OF_ONE_GROUP[method], eps=0.2)
    found, ideal = stages(normalizer, W, X), stages(replace(normalizer, eps=0.0), W, X)
    plane, surface = surfaces(normalizer, W, X)
    for points, normal in ((found.centered, plane.normal), (found.z, surface.normal)):
        flat = np.linalg.svd(points)[1][-1] < 1e-10
        assert flat == (normal is not None)
        if normal is not None:
            assert np.abs(points @ normal).max() < 1e-12
    sizes = np.linalg.norm(ideal.z, axis=1)
    assert (np.ptp(sizes) < 1e-10) == (surface.radius is not None)
    if surface.radius is not None:
        np.testing.assert_allclose(sizes, surface.radius)


@pytest.mark.parametrize("change", TRANSFORMS)
def test_points_come_back_where_the_verdict_says_so(layer, change):
    for method, normalizer in OF_ONE_GROUP.items():
        found = carried(layer, method, change)
        (after,) = found.after
        assert after.back.all() == certify(normalizer, TRANSFORMS[change]).invariant, method
        assert found.verdict.invariant == after.back.all(), method
        assert not after.turned.any(), method
        np.testing.assert_allclose(
            after.distance, np.linalg.norm(after.stages.z - found.before.z, axis=1), err_msg=method
        )


RESCALINGS = [key for key, transform in TRANSFORMS.items() if transform.rescales]


@pytest.mark.parametrize("change", RESCALINGS)
def test_negative_factor_turns_points_over_where_the_verdict_says_so(layer, change):
    for method in NORMALIZERS:
        found = carried(layer, method, change, strengths=(-2.0,))
        (after,) = found.after
        assert (after.back | after.turned).all() == found.verdict.sign_flip, method
        if found.verdict.sign_flip:
            one = found.transform.operation.one_row and found.transform.matrix == "X"
            assert after.turned.sum() == (1 if one else 20), method
            assert after.turned[1], method


def test_only_the_changed_case_moves_where_none_shares_a_statistic_with_it(layer):
    found = carried(layer, "standard", "case_rescaling", index=7)
    assert np.flatnonzero(~found.after[0].back).tolist() == [7]
    found = carried(layer, "batch", "case_rescaling", index=7)
    assert not found.after[0].back.any(), "its mean and variance are everybody's"


def test_nothing_moves_at_the_strength_that_changes_nothing(layer):
    for change, nothing in (("case_rescaling", 1.0), ("case_recentering", 0.0)):
        (after,) = carried(layer, "batch", change, strengths=(nothing,)).after
        assert after.back.all()
        assert after.distance.max() == 0


def test_eps_lets_points_move_that_come_back_without_it(layer):
    found = carried(layer, "layer", "dataset_rescaling", eps=0.5)
    assert not found.after[0].back.any()
    assert found.verdict.only_without_eps


def test_change_that_leaves_no_z_says_why_and_the_rest_goes_on():
    W, X = np.eye(3), np.array([[1.0, 2.0, 4.0], [3.0, 1.0, 1.0], [0.0, 5.0, 1.0]])
    pull = TRANSFORMS["case_recentering"]
    gamma = np.array([1.0, 0.0, -2.0])  # at strength 1: case 0 becomes (2, 2, 2)
    found = journey(NORMALIZERS["layer"], pull, W, X, (0.5, 1.0), gamma=gamma)
    assert found.after[0].stages is not None
    assert found.after[1].stages is None
    assert "case 0 has a = μ" in str(found.after[1].problem)
    assert np.isnan(found.after[1].distance).all()
