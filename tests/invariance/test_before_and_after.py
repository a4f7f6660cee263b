"""The effect of a change on z of one case, against formulas written out and the exact verdicts."""

import numpy as np
import pytest

from normgeo.base.cache import size_of
from normgeo.invariance.before_and_after import apply_change, shift_pattern
from normgeo.invariance.transforms import TRANSFORMS
from normgeo.normalizers.named import GRID, NORMALIZERS

SHIFTS = [key for key, transform in TRANSFORMS.items() if not transform.rescales]


@pytest.fixture
def layer(rng):
    return rng.standard_normal((6, 5)), rng.standard_normal((9, 5)) + 1


def shown(layer, key, methods=NORMALIZERS, strengths=(-2.0, 0.5, 1.0, 3.0), **options):
    W, X = layer
    transform = TRANSFORMS[key]
    gamma = None if transform.rescales else shift_pattern(transform, W, X, np.random.default_rng(1))
    return apply_change(methods, transform, W, X, strengths, gamma=gamma, **options)


def test_case_shown_is_the_one_that_changes(layer):
    W, X = layer
    found = shown(layer, "case_rescaling", index=4)
    assert found.case == 4
    np.testing.assert_array_equal(found.rows_before, X)
    np.testing.assert_allclose(found.rows_after[:, 4], np.outer([-2, 0.5, 1, 3], X[4]))
    assert found.changed.tolist() == [row == 4 for row in range(9)]
    np.testing.assert_array_equal(found.rows_after[:, ~found.changed], [np.delete(X, 4, 0)] * 4)
    a = X[4] @ W.T
    last = found.methods["layer"].after[-1]
    np.testing.assert_allclose(last.summed_inputs, 3 * a)
    np.testing.assert_allclose(last.mu, 3 * a.mean())
    np.testing.assert_allclose(last.sigma, 3 * a.std())
    np.testing.assert_allclose(last.z, (a - a.mean()) / a.std())


def test_batch_norm_of_a_changed_case_is_that_of_the_changed_batch(layer):
    W, X = layer
    changed = X.copy()
    changed[2] *= 3
    A = changed @ W.T
    last = shown(layer, "case_rescaling", index=2).methods["batch"].after[-1]
    np.testing.assert_allclose(last.z, ((A - A.mean(axis=0)) / A.std(axis=0))[2])


def test_only_the_rows_asked_for_are_shown(layer):
    W, _ = layer
    found = shown(layer, "weight_vector_rescaling", index=5, shown=[0, 5])
    np.testing.assert_array_equal(found.rows_before, W[[0, 5]])
    np.testing.assert_allclose(found.rows_after[-1], [W[0], 3 * W[5]])
    assert found.changed.tolist() == [False, True]


def test_move_is_measured_in_the_case_that_is_shown(layer):
    """A z that grows fivefold has changed by four times its size, whatever other cases do."""
    for key in ("case_rescaling", "dataset_rescaling"):
        after = shown(layer, key, strengths=(5.0,)).methods["weight"].after[0]
        assert after.change == pytest.approx(4)
    W, X = layer
    X = X * np.array([1, *[10] * 8])[:, None]
    after = shown((W, X), "dataset_rescaling", strengths=(5.0,)).methods["weight"].after[0]
    assert after.change == pytest.approx(4)


def test_mean_of_what_is_centered_already_is_zero(layer, rng):
    """A mean of 4e-16 is rounding: "μ = 4 · 10⁻¹⁶" would look like a real mean."""
    W, X = layer
    X = 1e3 * (X - X.mean(axis=0))
    for method in shown((W, X), "case_rescaling", index=1, strengths=(1.0,)).methods.values():
        if method.normalizer.center in ("none", "batch"):
            assert not method.before.mu.any()
            assert not method.after[0].mu.any()
        else:
            assert method.before.mu.any()


@pytest.mark.parametrize("key", TRANSFORMS)
def test_z_moves_where_the_verdict_says_so(layer, key):
    found = shown(layer, key, methods=GRID, strengths=(2.0, 3.0))
    for method in found.methods.values():
        moved = max(after.change for after in method.after)
        assert (moved < 1e-10) == method.verdict.invariant, method.normalizer.title


def test_negative_factor_flips_the_sign_where_the_verdict_says_so(layer):
    for method in shown(layer, "weight_matrix_rescaling").methods.values():
        if method.verdict.sign_flip:
            np.testing.assert_allclose(method.after[0].z, -method.before.z)


def test_nothing_moves_at_a_factor_of_one(layer):
    for method in shown(layer, "dataset_rescaling").methods.values():
        assert method.after[2].change == 0


def test_strength_without_z_has_its_reason():
    W, X = np.ones((3, 2)), np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 1.0]])
    away = {"batch": NORMALIZERS["batch"]}
    found = apply_change(
        away, TRANSFORMS["weight_vector_recentering"], W, X, [1.0], gamma=[-1.0, -1.0]
    )
    (after,) = found.methods["batch"].after
    assert after.problem.startswith("σ must not vanish, but neuron 0 has a = μ in every case")
    np.testing.assert_array_equal(after.z, found.methods["batch"].before.z)


@pytest.mark.parametrize("key", SHIFTS)
def test_shift_of_strength_three_is_as_large_as_the_matrix(layer, key):
    W, X = layer
    M = W if TRANSFORMS[key].matrix == "W" else X
    gamma = shift_pattern(TRANSFORMS[key], W, X, np.random.default_rng(0))
    assert np.mean((3 * gamma) ** 2) == pytest.approx(np.mean(M**2))


def test_overlay_of_the_data_is_the_mean_case_or_random_where_that_is_rounding(layer):
    W, X = layer
    overlay = TRANSFORMS["dataset_recentering"]
    gamma = shift_pattern(overlay, W, X, np.random.default_rng(0))
    assert np.corrcoef(gamma, X.mean(axis=0))[0, 1] == pytest.approx(1)
    centered = X - X.mean(axis=0)
    random = shift_pattern(overlay, W, centered, np.random.default_rng(0))
    drawn = np.random.default_rng(0).standard_normal(5)
    assert np.corrcoef(random, drawn)[0, 1] == pytest.approx(1)


def test_one_case_is_kept_and_not_the_arrays_that_it_is_a_row_of(rng):
    """Four numbers per neuron at each strength, not those of all 2,000 cases."""
    layer = rng.standard_normal((6, 5)), rng.standard_normal((2000, 5))
    batch = {"batch": NORMALIZERS["batch"]}
    effect = shown(layer, "case_rescaling", batch, shown=range(8))
    kept = [effect.rows_before, effect.rows_after, effect.methods["batch"].after]
    assert size_of(kept) < 10_000
