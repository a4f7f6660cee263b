"""Columns of neurons apart, added up: their products and triangles are those of each by itself."""

import numpy as np
import pytest

from normgeo import NORMALIZERS, NormalizedGLM, Rows, fisher, null_space
from normgeo.fisher.packed_columns import PackedColumns
from normgeo.null_directions.equilibration import Equilibrated

H, D, N = 4, 5, 30


def draw(name, family, seed=0):
    rng = np.random.default_rng(seed)
    model = NormalizedGLM.random(NORMALIZERS[name], family, H, D, rng)
    return fisher(model, rng.normal(0.3, 1, (N, D)))


def columns_of_neurons(F, rng, neurons=(2, 0, 2, 3)):
    """A column for each of these neurons, 0 elsewhere; none of neuron 1."""
    V = np.zeros((H, F.layout.per_neuron, len(neurons)))
    for k, h in enumerate(neurons):
        V[h, :, k] = rng.standard_normal(F.layout.per_neuron)
    return V.reshape(F.layout.size, -1)


@pytest.mark.parametrize("name", ["batch", "weight", "layer", "group"])
def test_products_and_triangles_of_columns_are_those_of_each_column(name, rng):
    F = draw(name, "bernoulli")
    mixed = rng.standard_normal((F.layout.size, 3))
    for V in (columns_of_neurons(F, rng), mixed, mixed[:, :0], np.zeros_like(mixed)):
        dense, size = F.to_dense(), max(F.trace(), 1.0)
        packed = F.structure.packed(V)
        found = packed.unpacked(F @ packed.V)
        np.testing.assert_allclose(found, dense @ V, rtol=0, atol=1e-13 * size)
        for R in (F.structure.factor_triangle(V), F.structure.factor_root(V)):
            np.testing.assert_allclose(R.T @ R, V.T @ dense @ V, rtol=0, atol=1e-12 * size)


def test_as_many_sums_as_one_neuron_has_columns(rng):
    F = draw("batch", "bernoulli")
    V = columns_of_neurons(F, rng)
    assert F.structure.packed(V).V.shape == (F.layout.size, 2)
    V[0, 0] = 1.0  # a column of two neurons
    assert F.structure.packed(V).V.shape == V.shape
    assert draw("layer", "bernoulli").structure.packed(V).V.shape == V.shape
    packed = PackedColumns.of(V, F.structure.clusters, F.layout)
    np.testing.assert_array_equal(packed.unpacked(packed.V), V)


@pytest.mark.parametrize("gap", [1e-4, 1e-5, 1e-9])
def test_nearly_null_directions_have_the_singular_values_of_the_outputs(gap, rng):
    """Their squares are 1e-18, which no matrix of products in float64 holds: the outputs decide."""
    X = rng.normal(0.3, 1, (60, D))
    X[:, [2, 4]] = X[:, [1, 3]] + gap * rng.standard_normal((60, 2)) * [3, 1]
    model = NormalizedGLM.random(NORMALIZERS["batch"], "bernoulli", H, D, rng)
    rows = Rows.of(X, block=17)
    null = null_space(fisher(model, rows))
    structure = fisher(model, X).structure
    E = Equilibrated.of(structure.at, structure.family, True)
    outputs = E.effects(E.spread(np.eye(len(E.changing))))
    expected = np.linalg.svd(outputs, compute_uv=False)
    assert null.counts == f"{H} null"  # each weight vector's own length, and no direction more
    found = null.singular_values
    np.testing.assert_allclose(found, expected, rtol=1e-4 * (gap < 1e-6) + 1e-8, atol=1e-14)
    assert (found[-3 * H : -H] < 10 * gap).all()
