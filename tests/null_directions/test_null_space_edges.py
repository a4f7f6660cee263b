"""Null spaces in small models: one or two neurons, fewer cases than features."""

from itertools import product

import numpy as np
import pytest

from normgeo import (
    FAMILIES,
    GRID,
    TRANSFORMS,
    NormalizedGLM,
    Normalizer,
    Rows,
    certify,
    expected_dimension,
    explain,
    fisher,
    null_space,
    spectrum,
)
from normgeo.base.subspaces import orthonormal, principal_angles
from tests.drawn import model_and_cases
from tests.pairwise import grouped

every_family = pytest.mark.pairwise("family", FAMILIES)


def has_z(words, N, H, D):
    """Whether z is defined at a size: a statistic must average over more than one number."""
    lengths = {"batch": N, "layer": H, "weight": D, "none": 2}
    center, scale = words
    return lengths[center] > 1 and (scale == "weight" or lengths[scale] > 1)


SMALLEST = [(60, H, D) for H, D in product((1, 2, 3), (1, 2, 3, 5))]
FEW_CASES = [(1, 4, 5), (2, 4, 5), (3, 4, 8), (5, 2, 9), (3, 1, 6)]


def every_method_at(sizes, *others, defined=True):
    """Methods, families and sizes at which z is defined, or not, with the values of other axes."""
    return [
        row for row in product(GRID, FAMILIES, sizes, *others) if has_z(row[0], *row[2]) == defined
    ]


@pytest.mark.parametrize("rows", grouped(every_method_at(SMALLEST + FEW_CASES, defined=False)))
def test_layers_without_a_z_are_refused(rows):
    for words, family, sizes in rows:
        with pytest.raises(ValueError, match=r"so it needs at least 2"):
            fisher(*model_and_cases(GRID[words], family, *sizes))


@pytest.mark.parametrize("rows", grouped(every_method_at(SMALLEST)))
def test_smallest_layers_follow_the_formula(rows):
    for row in rows:
        words, family, (N, H, D) = row
        model, X = model_and_cases(GRID[words], family, N, H, D)
        null = null_space(fisher(model, X))
        assert null.dimension == expected_dimension(GRID[words], H, D, family), row
        assert null.clear, row
        assert explain(model, X, null).unexplained == 0, row


@pytest.mark.parametrize("rows", grouped(every_method_at(FEW_CASES, [True, False])))
def test_fewer_cases_than_features_leave_no_null_direction_unexplained(rows):
    for row in rows:
        words, family, (N, H, D), weights_only = row
        model, X = model_and_cases(GRID[words], family, N, H, D)
        null = null_space(fisher(model, X), weights_only)
        assert null.singular_values.min() >= 0, row
        # N cases can distinguish at most as many directions as they have outputs.
        rank = len(null.singular_values) - null.dimension
        assert rank <= N * (H - FAMILIES[family].coupled), row
        assert null.clear, row
        assert explain(model, X, null).unexplained == 0, row


@every_family
@pytest.mark.pairwise(
    "words", [words for words in GRID if "layer" in words and words[1] != "none"], ids="-".join
)
def test_tangents_within_groups_are_null_exactly_where_the_change_is_certified(words, family):
    normalizer = Normalizer(*words, groups=2)
    model, X = model_and_cases(normalizer, family, 40, 6, 5)
    null, rng = null_space(fisher(model, X)), np.random.default_rng(3)
    for change in (change for change in TRANSFORMS.values() if change.matrix == "W"):
        gamma = None if change.rescales else rng.standard_normal(change.gamma_shape(model.W, X))
        dW, _ = change.tangent(model.W, X, gamma=gamma, index=1)
        tangent = model.layout.pack(dW, 0 * model.b, 0 * model.b)[:, None]
        (angle,), _ = principal_angles(orthonormal(tangent), null.basis)
        if certify(normalizer, change).invariant:
            assert angle < 1e-6
        else:
            assert angle > 1e-3


@pytest.mark.parametrize("family", ["bernoulli", "poisson", "categorical"])
@pytest.mark.parametrize("name", ["weight", "none"])
def test_saturated_outputs_are_said_of_the_fisher_its_spectrum_and_its_null_space(family, name):
    """p → 0 or 1 (a rate → 0): F is nearly zero, and every result must say so."""
    model, X = model_and_cases(GRID["none", name], family, 30, 4, 5)
    certain = 40.0 * (np.arange(4) == 0) if family == "categorical" else np.full(4, -40.0)
    far = NormalizedGLM(model.normalizer, family, model.W / 9, certain, model.g)
    F = fisher(far, X)
    assert 0 < F.trace() < 1e-9
    (note,) = F.notes
    assert note.startswith(f"The {FAMILIES[family].title} outputs are saturated: their mean var")
    assert spectrum(F).notes == F.notes
    for cases in (X, Rows.of(X, block=len(X) - 1)):
        assert null_space(fisher(far, cases)).notes[0] == note
    assert fisher(model, X).notes == spectrum(fisher(model, X)).notes == ()


def test_directions_beyond_float64_are_refused_with_the_size_that_makes_them_so(rng):
    """Outputs change by some 1e-310 per unit of a weight: a unit of them takes 1e310 weights."""
    W, X = rng.standard_normal((2, 3)), rng.standard_normal((5, 3))
    model = NormalizedGLM(GRID["weight", "none"], "gaussian", W)
    with pytest.raises(ValueError, match=r"below 1\.8e308; the outputs change by \S+e-3\d\d "):
        null_space(fisher(model, 1e-310 * X))
    expected = expected_dimension(model.normalizer, 2, 3, "gaussian")
    assert null_space(fisher(model, X)).dimension == expected
