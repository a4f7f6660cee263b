"""The smallest witness of every "no": true, exact, of a legal shape, and the smallest."""

import re
import tracemalloc
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from normgeo import GRID, NORMALIZERS, TRANSFORMS, Normalizer, certify, smallest_witness
from normgeo.invariance import smallest_witness as searching
from tests.pairwise import some

CELLS = {
    f"{'-'.join(words)}-{key}": (GRID[words], TRANSFORMS[key])
    for words in GRID
    for key in TRANSFORMS
}


def whole(array):
    return np.array(array.tolist(), dtype=float)


def check(witness, normalizer, transform):
    """The claims of a witness, in exact arithmetic and again in floating point."""
    before, after, parameters = witness.before, witness.after, witness.parameters
    arrays = [*before, *after] + ([] if parameters.gamma is None else [parameters.gamma])
    assert {type(value) for array in arrays for value in array.ravel()} == {Fraction}
    entries = [before.W, before.X] + ([] if parameters.gamma is None else [parameters.gamma])
    assert {int(value) for array in entries for value in array.ravel()} <= {-2, -1, 0, 1, 2}
    assert parameters.delta == (2 if transform.rescales else None)
    assert parameters.row == 0

    reference = whole(before.W), whole(before.X)
    changed = parameters.apply(transform, before.W, before.X)
    squares = []
    for side, (W, X), z2 in (
        (before, (before.W, before.X), witness.z_squared),
        (after, changed, witness.z_squared_after),
    ):
        assert (side.W == W).all()
        assert (side.X == X).all()
        C, v = normalizer.moments(W, X, (before.W, before.X))
        assert (side.C == C).all()
        assert (side.v == v).all()
        assert (side.v > 0).all()
        v = np.broadcast_to(side.v, side.C.shape)
        assert side.C[witness.place] ** 2 / v[witness.place] == z2
        squares.append(normalizer.normalize(whole(W), whole(X), reference).z ** 2)
    assert witness.z_squared != witness.z_squared_after
    assert squares[0][witness.place] == pytest.approx(float(witness.z_squared), abs=1e-12)
    assert squares[1][witness.place] == pytest.approx(float(witness.z_squared_after), abs=1e-12)

    (N, D), H = before.X.shape, len(before.W)
    assert "batch" not in normalizer.words or N >= 3
    assert "layer" not in normalizer.words or H // normalizer.groups >= 3
    assert normalizer.center != "weight" or D >= 2


@pytest.mark.parametrize("names", some([*CELLS], 4))
def test_every_no_has_a_witness_that_holds(names, subtests):
    for name in names:
        if certify(*CELLS[name]).invariant:
            continue
        with subtests.test(name):
            check(smallest_witness(*CELLS[name]), *CELLS[name])


def test_a_yes_has_none_and_says_so():
    for normalizer, transform in CELLS.values():
        if not certify(normalizer, transform).invariant:
            continue
        sentence = (
            f"A witness shows that z moves, but {normalizer.title} is invariant to "
            f"{transform.label}: there is none. Ask `certify` for the verdict first."
        )
        with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
            smallest_witness(normalizer, transform)


def test_layer_norm_moves_when_all_cases_are_shifted_by_a_unit_vector():
    witness = smallest_witness(NORMALIZERS["layer"], TRANSFORMS["dataset_recentering"])
    assert witness.before.W.tolist() == [[1, 0], [0, 1], [0, 0]]
    assert witness.before.X.tolist() == [[1, 0]]
    assert witness.parameters.gamma.tolist() == [0, 1]
    assert witness.place == (0, 0)
    assert (witness.z_squared, witness.z_squared_after) == (2, Fraction(1, 2))


def test_batch_norm_moves_when_one_case_is_doubled():
    witness = smallest_witness(NORMALIZERS["batch"], TRANSFORMS["case_rescaling"])
    assert witness.before.W.tolist() == [[1]]
    assert witness.before.X.tolist() == [[1], [1], [0]]
    assert witness.after.X.tolist() == [[2], [1], [0]]
    assert (witness.z_squared, witness.z_squared_after) == (Fraction(1, 2), Fraction(3, 2))


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("weight", "weight_matrix_recentering"),
        ("weight", "weight_vector_offsets"),
        ("rms", "weight_vector_rescaling"),
        ("batch", "case_rescaling"),
    ],
)
def test_nothing_smaller_moves_z(name, key):
    """Every table of integers with fewer entries, or as many with a smaller sum, keeps |z|."""
    normalizer, transform = NORMALIZERS[name], TRANSFORMS[key]
    witness = smallest_witness(normalizer, transform)
    parts = [witness.before.W, witness.before.X]
    if witness.parameters.gamma is not None:
        parts.append(witness.parameters.gamma)
    size = sum(part.size for part in parts), sum(abs(part).sum() for part in parts)
    least = 3 if "batch" in normalizer.words else 1, 3 if "layer" in normalizer.words else 1
    tried = 0
    for N, H, D in product(range(least[0], 4), range(least[1], 4), range(1, 3)):
        W, X = np.zeros((H, D)), np.zeros((N, D))
        shift = None if transform.rescales else transform.gamma_shape(W, X)[0]
        count = W.size + X.size + (shift or 0)
        if count > size[0]:
            continue
        for entries in product(range(-2, 3), repeat=count):
            if (count, np.abs(entries).sum()) >= size:
                continue
            W, X, gamma = np.split(np.array(entries, dtype=float), [H * D, (H + N) * D])
            W, X = W.reshape(H, D), X.reshape(N, D)
            given = {"delta": 2.0} if transform.rescales else {"gamma": gamma}
            C, v = normalizer.moments(W, X)
            C1, v1 = normalizer.moments(*transform(W, X, **given))
            tried += 1
            if v.min() > 1e-9 and v1.min() > 1e-9:
                np.testing.assert_allclose(C1**2 * v, C**2 * v1, atol=1e-9)
    assert tried > 20


@pytest.mark.pairwise("key", TRANSFORMS)
@pytest.mark.pairwise(
    "normalizer",
    [
        NORMALIZERS["group"],
        Normalizer("none", "layer", groups=2),
        Normalizer("batch", "batch", statistics="frozen"),
        Normalizer("batch", "weight", statistics="frozen"),
        Normalizer("layer", "batch", statistics="frozen"),
        Normalizer("batch", "batch", eps=1e-5),
        Normalizer("layer", "layer", eps=1e-30),
        Normalizer("none", "layer", eps=Fraction(1, 2)),
    ],
    ids=[
        "group",
        "rms groups",
        "frozen",
        "frozen weight",
        "frozen layer",
        "eps",
        "tiny eps",
        "half",
    ],
)
def test_groups_frozen_statistics_and_any_eps_have_theirs(normalizer, key):
    transform = TRANSFORMS[key]
    if certify(normalizer, transform).invariant:
        with pytest.raises(ValueError, match="there is none"):
            smallest_witness(normalizer, transform)
    else:
        witness = smallest_witness(normalizer, transform)
        assert witness.normalizer == normalizer
        check(witness, normalizer, transform)


MANY = [
    ("none", "layer", 3, 0, "weight_vector_rescaling"),
    ("none", "layer", 3, 0, "weight_matrix_recentering"),
    ("none", "layer", 2, 0, "weight_vector_offsets"),
    ("none", "layer", 2, 0, "weight_vector_recentering"),
    ("layer", "none", 3, 0, "dataset_rescaling"),
    ("none", "layer", 4, Fraction(1, 2), "dataset_rescaling"),
]


def rows_up_to(length, total):
    """Every row of integers in {−2, …, 2} whose sizes sum to at most `total`."""
    if length == 0:
        yield ()
        return
    for first in range(-2, 3):
        if abs(first) <= total:
            yield from ((first, *rest) for rest in rows_up_to(length - 1, total - abs(first)))


@pytest.mark.parametrize(("center", "scale", "groups", "eps", "key"), MANY)
def test_with_many_groups_nothing_smaller_moves_z_either(center, scale, groups, eps, key):
    """The first of all integers in the order of the docstring, over all groups together."""
    normalizer = Normalizer(center, scale, groups=groups, eps=eps)
    transform = TRANSFORMS[key]
    witness = smallest_witness(normalizer, transform)
    check(witness, normalizer, transform)
    gamma = [] if transform.rescales else list(witness.parameters.gamma)
    found = [int(value) for value in (*witness.before.W.flat, *witness.before.X.flat, *gamma)]
    H = 3 * groups
    assert (len(witness.before.W), witness.before.X.shape) == (H, (1, 1))

    every = np.array(list(rows_up_to(len(found), np.abs(found).sum())), dtype=float)
    W, X, shift = np.split(every, [H, H + 1], axis=1)
    W, X = W[..., None], X[..., None]
    given = {"delta": 2} if transform.rescales else {"gamma": shift}
    C, v = normalizer.moments(W, X)
    C1, v1 = normalizer.moments(*transform(W, X, **given))
    v, v1 = np.broadcast_to(v, C.shape), np.broadcast_to(v1, C.shape)
    shows = ((v > 1e-9) & (v1 > 1e-9)).all(axis=(1, 2))
    shows &= (np.abs(C1**2 * v - C**2 * v1) > 1e-9).any(axis=(1, 2))
    first = min(
        every[shows].astype(int).tolist(),
        key=lambda row: (
            sum(map(abs, row)),
            sum(value < 0 for value in row),
            [(1, 2, 0, -1, -2).index(value) for value in row],
        ),
    )
    assert found == first


@pytest.mark.parametrize("key", ["weight_vector_rescaling", "dataset_recentering", "case_offsets"])
def test_each_further_group_adds_one_entry_of_one(key):
    """No group has a z without an entry, so seven groups need at least five entries more."""
    few, many = (
        smallest_witness(Normalizer("none", "layer", groups=groups), TRANSFORMS[key])
        for groups in (2, 7)
    )
    assert abs(many.before.W).sum() == abs(few.before.W).sum() + 5
    assert (many.before.X == few.before.X).all()


@pytest.mark.exhaustive
@pytest.mark.parametrize("key", ["case_recentering", "weight_vector_offsets", "case_offsets"])
def test_many_groups_take_no_more_memory_than_one(key):
    normalizer = Normalizer("none", "layer", groups=60, eps=Fraction(1, 8))
    tracemalloc.start()
    witness = smallest_witness(normalizer, TRANSFORMS[key])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    check(witness, normalizer, TRANSFORMS[key])
    assert peak < 40e6


def test_a_search_that_looks_at_too_much_gives_up_in_a_sentence(monkeypatch):
    monkeypatch.setattr(searching, "LARGEST_SEARCH", 1000)
    sentence = (
        "The search for a witness that dataset re-centering moves the z of (layer, layer) has "
        "become too large with 4 groups. Use fewer groups, or the counterexample of `certify`."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        smallest_witness(Normalizer("layer", "layer", groups=4), TRANSFORMS["dataset_recentering"])
