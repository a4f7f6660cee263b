"""Relations between derivatives are whole numbers, as small as the known ones allow."""

import numpy as np

from normgeo.measured.relations import relations, sparsest


def test_relations_of_random_derivatives_are_those_that_were_put_in(rng):
    """Six columns whose null space is spanned by two whole-number vectors."""
    chosen = np.array([[1, 1, -1, 0, 0, 0], [0, 0, 2, 1, -1, 0]])
    free = np.linalg.svd(chosen)[2][2:]  # orthogonal to them
    derivatives = rng.standard_normal((40, 4)) @ free
    (basis,) = relations(derivatives, [1e-9, 1e-6])
    assert np.linalg.matrix_rank(np.array([*basis, *chosen])) == 2
    assert {*sparsest(basis)} == {*map(tuple, chosen.tolist())}


def test_noise_above_the_tolerance_is_no_relation(rng):
    derivatives = rng.standard_normal((40, 5))
    assert list(relations(derivatives, [1e-9, 1e-3])) == []


def test_two_known_relations_are_added_at_once():
    """E, g, b, U is E, V, U: g may stand for W, and W with b for V. One step alone is no gain."""
    known = [(0, 1, -1, 0, 0, 0), (0, 0, 1, 1, -1, 0)]
    assert sparsest([(1, 1, 0, 1, 0, 1)], known) == [(1, 0, 0, 0, 1, 1)]
