"""The Fisher information by pairs of neurons, against its blocks one by one."""

import re

import numpy as np
import pytest

from normgeo import FAMILIES, NORMALIZERS, NormalizedGLM, fisher
from normgeo.fisher.neuron_blocks import ENTRIES, SCREEN, NeuronBlocks, pooled
from tests.drawn import model_and_cases

every_normalizer = pytest.mark.pairwise("name", NORMALIZERS)
every_family = pytest.mark.pairwise("family", FAMILIES)


def draw(name, family="bernoulli", H=6, **more):
    return fisher(*model_and_cases(NORMALIZERS[name], family, H=H, **more))


@every_normalizer
@every_family
def test_map_has_the_norm_of_every_block(name, family):
    F = draw(name, family)
    seen = NeuronBlocks.of(F, 1, 2)
    norms = [[np.linalg.norm(F.block(i, j)) for j in range(6)] for i in range(6)]
    np.testing.assert_allclose(seen.norms, norms, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(seen.block, F.block(1, 2), rtol=1e-9, atol=1e-15)
    assert seen.trace == pytest.approx(np.trace(F.to_dense()))
    squares = np.square(norms)
    assert seen.between == pytest.approx(1 - np.trace(squares) / squares.sum(), abs=1e-12)


@pytest.mark.parametrize(
    ("name", "family", "meet"),
    [
        ("batch", "bernoulli", False),
        ("weight", "gaussian", False),
        ("layer", "bernoulli", True),
        ("batch", "categorical", True),
    ],
)
def test_neurons_meet_by_a_shared_statistic_or_a_softmax_alone(name, family, meet):
    assert (NeuronBlocks.of(draw(name, family), 0, 0).between > 0.01) is meet


@every_normalizer
def test_normalized_entries_are_those_of_the_matrix_over_its_diagonal(name):
    F = draw(name, "categorical")
    dense, p = F.to_dense(), F.layout.per_neuron
    root = np.sqrt(dense.diagonal())
    whole = dense / np.outer(root, root)
    seen = NeuronBlocks.of(F, 2, 0)
    np.testing.assert_allclose(
        seen.detail("normalized"), whole[2 * p : 3 * p, :p], rtol=1e-9, atol=1e-12
    )
    np.testing.assert_allclose(seen.overview("normalized").diagonal(), 1)
    assert np.abs(whole).max() <= 1 + 1e-12
    assert seen.overview("normalized").max() <= 1 + 1e-12


def test_logarithms_of_nothing_are_gaps():
    seen = NeuronBlocks.of(draw("batch"), 0, 1)
    assert not seen.block.any()
    assert np.isnan(seen.detail("log")).all()
    own = NeuronBlocks.of(draw("batch"), 1, 1)
    np.testing.assert_allclose(10 ** own.overview("log").diagonal(), own.norms.diagonal())
    off = own.overview("log")[~np.eye(6, dtype=bool)]
    assert np.isnan(off).all()


def test_parameter_that_changes_nothing_is_a_gap_over_its_diagonal():
    model = NormalizedGLM(NORMALIZERS["standard"], "gaussian", np.ones((2, 2)))
    seen = NeuronBlocks.of(fisher(model, [[1.0, 0.0], [2.0, 0.0]]), 0, 0)
    np.testing.assert_array_equal(
        np.isnan(seen.detail("normalized")), [[0, 1, 0], [1, 1, 1], [0, 1, 0]]
    )


def test_diagonal_that_rounding_leaves_below_zero_is_zero() -> None:
    """Of two features, what a center over them leaves is a sign: no weight changes z."""
    F = draw("centered_weight", "gaussian", H=16, D=2, N=400)
    below = F.to_dense().diagonal().reshape(16, -1)[:, :2] < 0
    assert below.any(), "else this says nothing"
    for h in range(16):
        assert (NeuronBlocks.of(F, h, h).rows[:2][below[h]] == 0).all()


@pytest.mark.parametrize(
    ("name", "H", "D"),
    [
        ("batch", 4, 1),
        ("weight", 4, 1),
        ("mean_only_batch_weight", 4, 1),
        ("group", 4, 5),
        ("centered_weight", 4, 2),
    ],
)
@every_family
def test_what_rounding_leaves_of_a_diagonal_is_no_information(name, H, D, family):
    """One weight under a scale of its own, two neurons in a group: no weight moves z."""
    F = draw(name, family, H=H, D=D, N=200)
    assert len(NORMALIZERS[name].homogeneous_blocks(H)) in {2, 4}
    for h in range(H):
        seen = NeuronBlocks.of(F, h, h)
        assert seen.silent == H * D
        assert np.isnan(seen.detail("normalized")[:D]).all()
        assert np.isnan(seen.detail("normalized")[:, :D]).all()
        assert np.isfinite(seen.detail("normalized")[D:, D:]).all()
        assert np.isnan(seen.detail("log")[:D]).all()


@every_normalizer
@every_family
def test_small_information_is_not_taken_for_rounding(name, family):
    """A feature that differs by a millionth of its size, and units that are far apart."""
    rng = np.random.default_rng(1)
    X = rng.normal(0.3, 1, (60, 4))
    X[:, 0] = 3 + 3e-6 * X[:, 0]
    X[:, 1] *= 1e-9
    model = NormalizedGLM.random(NORMALIZERS[name], family, 6, 4, rng)
    seen = NeuronBlocks.of(fisher(model, X), 1, 1)
    assert seen.silent == 0
    np.testing.assert_allclose(seen.detail("normalized").diagonal(), 1)


def test_large_matrix_is_seen_by_the_largest_of_each_tile(rng):
    values = rng.standard_normal((300, 1000))
    values[7, 501], values[150, 3] = -50, np.nan
    seen = pooled(values)
    assert seen.shape == (SCREEN, SCREEN)
    assert seen[1, 32] == -50  # the tile 7·64/300, 501·64/1000
    assert not np.isnan(seen).any()
    np.testing.assert_array_equal(pooled(values[:SCREEN, :SCREEN]), values[:SCREEN, :SCREEN])


def test_blocks_over_those_of_another_model_are_1_over_themselves_and_4_at_twice_the_inputs(rng):
    """Without a bias: F of the standard Gaussian model is E[xxᵀ], quadratic in the inputs."""
    X = rng.standard_normal((20, 3))
    model = NormalizedGLM(NORMALIZERS["standard"], "gaussian", np.ones((2, 3)))
    once, twice = (NeuronBlocks.of(fisher(model, scale * X), 1, 1) for scale in (1, 2))
    np.testing.assert_allclose(once.norms_over(once), np.eye(2), atol=1e-12)
    own = twice.block_over(once)[:3, :3]
    np.testing.assert_allclose(own.diagonal(), 4)
    cosines = (X.T @ X) / np.sqrt(np.outer((X**2).sum(axis=0), (X**2).sum(axis=0)))
    np.testing.assert_allclose(own, 4 * cosines)


def test_block_over_a_model_without_gains_leaves_the_gains_out(rng):
    X, W = rng.standard_normal((20, 3)), rng.standard_normal((4, 3))
    plain, layer = (
        NeuronBlocks.of(fisher(NormalizedGLM(NORMALIZERS[name], "gaussian", W), X), 0, 1)
        for name in ("standard", "layer")
    )
    assert layer.block_over(plain).shape == (4, 4)
    assert not plain.norms[0, 1]
    expected = layer.norms[0, 1] / np.sqrt(plain.norms[0, 0] * plain.norms[1, 1])
    assert layer.norms_over(plain)[0, 1] == pytest.approx(expected)


@pytest.mark.parametrize("entries", ENTRIES)
def test_no_more_than_a_screen_is_shown(entries):
    rng = np.random.default_rng(0)
    model = NormalizedGLM.random(NORMALIZERS["layer"], "gaussian", 150, 3, rng)
    seen = NeuronBlocks.of(fisher(model, rng.standard_normal((20, 3))), 0, 0)
    assert seen.overview(entries).shape == (SCREEN, SCREEN)
    assert seen.detail(entries).shape == (5, 5)


@pytest.mark.parametrize("pair", [(0, 6), (0, -1), (6, 0), (7, 0), (-1, 0)])
def test_neurons_that_there_are_not_are_refused(pair):
    with pytest.raises(
        ValueError, match=re.escape(f"numbered from 0 to 5; got the pair {pair}. Choose others.")
    ):
        NeuronBlocks.of(draw("batch"), *pair)
