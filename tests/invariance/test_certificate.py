"""Table 1 and the whole design space, derived, with the errors that could occur."""

import re
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from normgeo import (
    GRID,
    NORMALIZERS,
    TABLE_1,
    TRANSFORMS,
    Normalizer,
    certify,
    invariance_table,
    sweep,
)
from normgeo.base.refusal import Refusal
from normgeo.invariance import certificate, exact
from normgeo.normalizers.centers import CENTERS, BatchCenter, Center
from normgeo.normalizers.scales import SCALES, Scale

ORDER = list(TRANSFORMS)
RESCALINGS = [key for key, transform in TRANSFORMS.items() if transform.rescales]

# The paper's Table 1: weight matrix re-scaling, re-centering, weight vector re-scaling, dataset
# re-scaling, re-centering, single case re-scaling.
PAPER = {
    "batch": "✓ . ✓ ✓ ✓ .",
    "weight": "✓ . ✓ . . .",
    "layer": "✓ ✓ . ✓ . ✓",
    # Zhang and Sennrich 2019.
    "rms": "✓ . . ✓ . ✓",
    "group": "✓ ✓ . ✓ . ✓",
    "standard": ". . . . . .",
}

# W all×  all+  one×  one+  own+, and X the same.
DESIGN_SPACE = """
none   none    . . . . .  . . . . .
none   batch   ✓ . ✓ . .  ✓ . . . .
none   layer   ✓ . . . .  ✓ . ✓ . .
none   weight  ✓ . ✓ . .  . . . . .
batch  none    . . . . .  . ✓ . . .
batch  batch   ✓ . ✓ . .  ✓ ✓ . . .
batch  layer   ✓ . . . .  ✓ ✓ . . .
batch  weight  ✓ . ✓ . .  . ✓ . . .
layer  none    . ✓ . . .  . . . . .
layer  batch   ✓ ✓ . . .  ✓ . . . .
layer  layer   ✓ ✓ . . .  ✓ . ✓ . .
layer  weight  ✓ ✓ . . .  . . . . .
weight none    . . . . ✓  . . . . ✓
weight batch   ✓ . ✓ . ✓  ✓ . . . ✓
weight layer   ✓ . . . ✓  ✓ . ✓ . ✓
weight weight  ✓ . ✓ . ✓  . . . . ✓
"""
EXPECTED = {
    ((center, scale), key): sign == "✓"
    for center, scale, *signs in map(str.split, DESIGN_SPACE.strip().splitlines())
    for key, sign in zip(ORDER, signs, strict=True)
}


RESCALED = [(words, key) for words, key in EXPECTED if key in RESCALINGS]


@pytest.fixture(scope="module")
def table():
    return invariance_table(GRID)


def unchanged(center, scale):
    """The keys of the changes that a pair of words, looked up now, ignores."""
    row = invariance_table({"row": Normalizer(center, scale)})
    return {key for (_, key), verdict in row.items() if verdict.invariant}


def expected(center, scale):
    return {key for key in ORDER if EXPECTED[(center, scale), key]}


def test_table_1_follows_from_the_definitions(subtests):
    for name, column in product(PAPER, range(6)):
        with subtests.test(name=name, column=column):
            verdict = certify(NORMALIZERS[name], TRANSFORMS[TABLE_1[column]])
            assert verdict.symbol == PAPER[name].split()[column].replace(".", "✗")


def test_the_design_space_has_160_cells(table):
    assert table.keys() >= EXPECTED.keys()
    assert len(EXPECTED) == 160


def test_the_design_space_follows_from_the_definitions(table):
    assert {cell: table[cell].invariant for cell in EXPECTED} == EXPECTED


def test_a_negative_factor_turns_z_over_wherever_a_positive_one_leaves_it_alone(table):
    for (words, key), invariant in EXPECTED.items():
        flip = invariant if key in RESCALINGS else None
        assert table[words, key].sign_flip is flip, (words, key)


def test_only_rescalings_of_batch_and_layer_scales_need_eps_to_be_zero(subtests):
    for (words, key), invariant in EXPECTED.items():
        with subtests.test(words=words, key=key):
            verdict = certify(GRID[words], TRANSFORMS[key], eps=1e-5)
            needs = invariant and key in RESCALINGS and words[1] in {"batch", "layer"}
            assert verdict.only_without_eps == needs
            assert verdict.invariant == (invariant and not needs)
            assert verdict.symbol == ("≈" if needs else "✓" if invariant else "✗")
            assert verdict.normalizer.eps == 1e-5
            if key in RESCALINGS:
                assert verdict.sign_flip == verdict.invariant


def test_the_dual_cell_has_the_same_verdict(table, subtests):
    """W and X exchanged, batch and layer exchanged; ‖w‖ has no dual."""
    for words, key in [cell for cell in EXPECTED if cell[0][1] != "weight"]:
        with subtests.test(words=words, key=key):
            center, scale = words
            dual = {"batch": "layer", "layer": "batch"}
            partner = {(t.operation.key, t.matrix): key for key, t in TRANSFORMS.items()}[
                TRANSFORMS[key].operation.key, "X" if TRANSFORMS[key].matrix == "W" else "W"
            ]
            other = table[(dual.get(center, center), dual.get(scale, scale)), partner]
            assert table[words, key].invariant == other.invariant
            assert table[words, key].sign_flip == other.sign_flip


FROZEN = {
    ("none", "batch"): set(),
    ("batch", "none"): set(),
    ("batch", "batch"): set(),
    ("batch", "layer"): set(),
    ("batch", "weight"): set(),
    ("layer", "batch"): {"weight_matrix_recentering"},
    ("weight", "batch"): {"weight_vector_offsets", "case_offsets"},
}


@pytest.mark.parametrize("words", FROZEN, ids="-".join)
def test_frozen_statistics_keep_only_what_another_word_grants(words):
    row = invariance_table({"row": Normalizer(*words, statistics="frozen")})
    assert {key for (_, key), verdict in row.items() if verdict.invariant} == FROZEN[words]


@pytest.mark.parametrize("words", [w for w in GRID if GRID[w].shared_by_neurons], ids="-".join)
def test_groups_of_neurons_change_no_verdict(words, table):
    row = invariance_table({words: Normalizer(*words, groups=2)})
    assert {cell: verdict.invariant for cell, verdict in row.items()} == {
        cell: table[cell].invariant for cell in row
    }
    assert {verdict.shape.H for verdict in row.values()} == {6}


def test_the_degree_is_that_of_the_polynomial_and_bounds_the_error(table, subtests):
    """C has degree 2 and δ adds 1; an average of C² doubles that; ‖w‖² has 2, and δ adds 2."""
    for words, key in EXPECTED:
        with subtests.test(words=words, key=key):
            factor, scale = key in RESCALINGS, words[1]
            C, C1 = 2, 2 + factor
            v = {"none": 0, "batch": 2 * C, "layer": 2 * C, "weight": 2}[scale]
            scaled_weights = factor and TRANSFORMS[key].matrix == "W"
            v1 = {
                "none": 0,
                "batch": 2 * C1,
                "layer": 2 * C1,
                "weight": 4 if scaled_weights else 2,
            }[scale]
            verdict = table[words, key]
            assert verdict.degree == max(2 * C1 + v, 2 * C + v1) <= 10
            assert verdict.error_bound == (verdict.degree / 2**61 if verdict.invariant else 0)
            assert verdict.error_bound < 1e-17


def test_a_degree_of_10_is_reached(table):
    assert max(verdict.degree for verdict in table.values()) == 10


def test_a_yes_has_no_counterexample(table):
    for cell, invariant in EXPECTED.items():
        assert (table[cell].witness is None) == invariant, cell


def test_a_no_comes_with_a_counterexample_that_anyone_can_check(table, subtests):
    for words, key in [cell for cell, invariant in EXPECTED.items() if not invariant]:
        with subtests.test(words=words, key=key):
            verdict = table[words, key]
            found, place = verdict.witness, verdict.witness.place
            after = found.parameters.apply(verdict.transform, found.W, found.X)
            (C, v), (C1, v1) = GRID[words].moments(found.W, found.X), GRID[words].moments(*after)
            v, v1 = np.broadcast_to(v, C.shape), np.broadcast_to(v1, C.shape)
            assert C1[place] ** 2 * v[place] != C[place] ** 2 * v1[place]
            assert found.ratio == C1[place] ** 2 / v1[place] / (C[place] ** 2 / v[place])


def test_verdicts_come_back_and_say_what_they_rest_on():
    first, again = (certify(NORMALIZERS["layer"], TRANSFORMS["case_offsets"]) for _ in range(2))
    assert (first.witness.W == again.witness.W).all()
    assert first.shape == (5, 4, 4)
    assert first.draws == 1
    words = {
        certify(NORMALIZERS["layer"], TRANSFORMS[key], eps=eps).word
        for key, eps in (("case_rescaling", 0), ("case_rescaling", 1e-5), ("case_offsets", 0))
    }
    assert words == {"invariant", "invariant only at ε = 0", "not invariant"}


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(5))
def test_another_draw_gives_the_same_table(seed):
    for (words, key), invariant in EXPECTED.items():
        rng = np.random.default_rng(seed)
        assert certify(GRID[words], TRANSFORMS[key], rng=rng).invariant == invariant


@pytest.mark.exhaustive
@pytest.mark.parametrize("shape", [(3, 3, 3), (3, 6, 4), (4, 3, 7), (6, 5, 3)])
def test_other_shapes_give_the_same_table(shape):
    """The algebra for every size, checked at the smallest one and at three others."""
    for (words, key), invariant in EXPECTED.items():
        found = certify(GRID[words], TRANSFORMS[key], shape=shape, seed=1)
        assert found.invariant == invariant
        assert found.shape == shape


def test_a_seed_is_that_of_the_draw_and_a_generator_has_none():
    cell = NORMALIZERS["layer"], TRANSFORMS["case_offsets"]
    first, other, again = (certify(*cell, seed=seed) for seed in (0, 5, 5))
    assert (first.seed, other.seed) == (0, 5)
    assert (other.witness.W == again.witness.W).all()
    assert (other.witness.W != first.witness.W).all()
    drawn = certify(*cell, rng=np.random.default_rng(5))
    assert (drawn.witness.W == other.witness.W).all()
    assert drawn.seed is None
    table = invariance_table({"layer": NORMALIZERS["layer"]}, seed=5)
    assert {verdict.seed for verdict in table.values()} == {5}
    with pytest.raises(ValueError, match=r"^`seed` must be a whole number from 0 to "):
        certify(*cell, seed=-1)


# Planted mistakes: the verdicts must notice. ----------------------------------------------------


class ForgetsTheMean(Center):
    """A layer center that does not center."""

    key = "layer"

    def undefined(self, cases, neurons, features):
        return ""


class HalvesTheMean(ForgetsTheMean):
    def project_neurons(self, W, groups=1):
        return W - W.mean(axis=-2, keepdims=True) / 2


class MeanOfTheFirstTwo(ForgetsTheMean):
    def project_neurons(self, W, groups=1):
        return W - W[..., :2, :].mean(axis=-2, keepdims=True)


class Averages(Scale):
    key = "layer"

    def differential(self, dC, dW_centered, at):
        raise NotImplementedError

    def adjoint(self, U, at):
        raise NotImplementedError

    def radial(self, X_centered, at):
        raise NotImplementedError


class OverTheWrongAxis(Averages):
    def variance(self, C, W_centered, groups=1):
        return (C * C).mean(axis=-2, keepdims=True)


class SquaredTwice(Averages):
    def variance(self, C, W_centered, groups=1):
        return (C * C * C * C).mean(axis=-1, keepdims=True)


class OverEverything(Averages):
    def variance(self, C, W_centered, groups=1):
        return (C * C).mean(axis=(-2, -1), keepdims=True)


class PlusOne(Averages):
    def variance(self, C, W_centered, groups=1):
        return (C * C).mean(axis=-1, keepdims=True) + 1


class LeavesOneNeuronOut(Averages):
    def variance(self, C, W_centered, groups=1):
        return (C * C)[..., 1:].mean(axis=-1, keepdims=True)


class SumNotMean(Averages):
    def variance(self, C, W_centered, groups=1):
        return (C * C).sum(axis=-1, keepdims=True)


LAYER_NORM = expected("layer", "layer")
PLANTED_CENTERS = {
    ForgetsTheMean: LAYER_NORM - {"weight_matrix_recentering"},
    HalvesTheMean: LAYER_NORM - {"weight_matrix_recentering"},
    BatchCenter: expected("batch", "layer"),
}
PLANTED_SCALES = {
    OverTheWrongAxis: LAYER_NORM - {"case_rescaling"},
    SquaredTwice: {"weight_matrix_recentering"},
    OverEverything: LAYER_NORM - {"case_rescaling"},
    PlusOne: {"weight_matrix_recentering"},
}


@pytest.mark.parametrize("planted", PLANTED_CENTERS, ids=lambda planted: planted.__name__)
def test_a_mistake_planted_in_the_layer_center_changes_the_row_of_layer_norm(planted, monkeypatch):
    monkeypatch.setitem(CENTERS, "layer", planted())
    assert unchanged("layer", "layer") == PLANTED_CENTERS[planted] != LAYER_NORM


@pytest.mark.parametrize("planted", PLANTED_SCALES, ids=lambda planted: planted.__name__)
def test_a_mistake_planted_in_the_layer_scale_changes_the_row_of_layer_norm(planted, monkeypatch):
    monkeypatch.setitem(SCALES, "layer", planted())
    assert unchanged("layer", "layer") == PLANTED_SCALES[planted] != LAYER_NORM


@pytest.mark.parametrize("planted", [SumNotMean, LeavesOneNeuronOut, MeanOfTheFirstTwo])
def test_negative_control_a_change_that_keeps_every_invariance_keeps_the_row(planted, monkeypatch):
    """Verdicts concern invariance: a constant factor, or another average of neurons, keeps them."""
    words = SCALES if issubclass(planted, Scale) else CENTERS
    monkeypatch.setitem(words, "layer", planted())
    assert unchanged("layer", "layer") == LAYER_NORM


class TurnsOver(ForgetsTheMean):
    """A layer center that flips z with the sign of one weight."""

    def project_neurons(self, W, groups=1):
        return (W - W.mean(axis=-2, keepdims=True)) * W[..., :1, :1]


def test_a_sign_that_turns_over_is_noticed_although_the_squares_agree(monkeypatch):
    monkeypatch.setitem(CENTERS, "layer", TurnsOver())
    normalizer, transform = Normalizer("layer", "batch"), TRANSFORMS["weight_matrix_recentering"]
    verdicts = [
        certify(normalizer, transform, rng=np.random.default_rng(seed)) for seed in range(20)
    ]
    assert {verdict.invariant for verdict in verdicts} == {True, False}
    assert {verdict.witness.ratio for verdict in verdicts if verdict.witness} == {1}


def test_an_even_function_of_a_factor_is_no_sign_flip(monkeypatch):
    monkeypatch.setitem(CENTERS, "layer", TurnsOver())
    verdict = certify(Normalizer("layer", "batch"), TRANSFORMS["weight_matrix_rescaling"])
    assert verdict.invariant
    assert verdict.sign_flip is False


# The traps of exact evaluation. -----------------------------------------------------------------


def draw_naively(numerators):
    """Fractions of NumPy integers, which keep 64 bits and overflow silently."""

    def draw(rng, shape):
        array = np.empty(shape, dtype=object)
        for place in np.ndindex(shape):
            array[place] = Fraction(numerators(rng))
        return array

    return draw


def test_numpy_integers_in_fractions_would_certify_what_is_false(monkeypatch):
    """Powers of two overflow to 0 = 0. The same numbers, converted, prove that z changes."""
    powers = draw_naively(lambda rng: np.int64(2**16))
    monkeypatch.setattr(exact, "draw", powers)
    monkeypatch.setattr(exact, "draw_factor", lambda rng: Fraction(np.int64(2)))
    cell = NORMALIZERS["standard"], TRANSFORMS["weight_matrix_rescaling"]
    with np.errstate(over="ignore"):
        assert certify(*cell).invariant
    monkeypatch.setattr(exact, "draw", lambda rng, shape: exact.fractions(np.full(shape, 2**16)))
    monkeypatch.setattr(exact, "draw_factor", lambda rng: Fraction(2))
    assert not certify(*cell).invariant


class FloatFactor(SumNotMean):
    def variance(self, C, W_centered, groups=1):
        return super().variance(C, W_centered) * (1 / C.shape[-1])


class FloatZero(SumNotMean):
    def variance(self, C, W_centered, groups=1):
        return super().variance(C, W_centered) + 0.0


class FloatOnes(Averages):
    def variance(self, C, W_centered, groups=1):
        return np.ones((1, 1))


@pytest.mark.parametrize("planted", [FloatFactor, FloatZero, FloatOnes])
def test_a_float_that_slips_in_is_refused(planted, monkeypatch):
    monkeypatch.setitem(SCALES, "layer", planted())
    sentence = (
        "Exact evaluation must stay in Fraction; got float. A float constant or a NumPy integer "
        "entered a projection or `variance`: divide by whole numbers instead."
    )
    with pytest.raises(TypeError, match=f"^{re.escape(sentence)}$"):
        certify(Normalizer("layer", "layer"), TRANSFORMS["case_rescaling"])


class VanishingScale(Averages):
    def variance(self, C, W_centered, groups=1):
        return (C * C).mean(axis=-1, keepdims=True) * 0


class VanishingCenter(ForgetsTheMean):
    def project_neurons(self, W, groups=1):
        return W * 0


@pytest.mark.parametrize("planted", [VanishingScale, VanishingCenter])
def test_a_draw_that_says_nothing_is_refused(planted, monkeypatch):
    words = SCALES if issubclass(planted, Scale) else CENTERS
    monkeypatch.setitem(words, "layer", planted())
    sentence = (
        "The draw says nothing about (layer, none): its σ or its A − μ vanishes at N=5, H=4, D=4. "
        "Use a larger shape."
    ).replace("none", "layer" if issubclass(planted, Scale) else "none")
    normalizer = Normalizer("layer", "layer" if issubclass(planted, Scale) else "none")
    with pytest.raises(Refusal, match=f"^{re.escape(sentence)}$"):
        certify(normalizer, TRANSFORMS["case_rescaling"])


@pytest.mark.parametrize(
    ("shape", "groups"),
    [((2, 4, 4), 1), ((5, 2, 4), 1), ((5, 4, 2), 1), ((5, 4, 4), 2)],
    ids=["two cases", "two neurons", "two features", "two neurons a group"],
)
def test_a_shape_that_is_too_small_to_decide_is_refused(shape, groups):
    N, H, D = shape
    sentence = (
        "A certificate needs N ≥ 3, H/G ≥ 3 and D ≥ 3, or z may be only a sign; "
        f"got N={N}, H={H}, D={D} with {groups} group(s)."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        certify(
            Normalizer("layer", "layer", groups=groups), TRANSFORMS["case_offsets"], shape=shape
        )


@pytest.mark.parametrize(
    ("name", "key", "shape"),
    [
        ("layer", "dataset_recentering", (5, 2, 4)),
        ("layer", "weight_vector_rescaling", (5, 2, 4)),
        ("batch", "weight_vector_recentering", (2, 4, 4)),
        ("batch", "case_rescaling", (2, 4, 4)),
    ],
)
def test_without_that_refusal_too_small_a_shape_gives_a_false_yes(name, key, shape, monkeypatch):
    """With two units z is only a sign: some draws flip it and some do not."""
    monkeypatch.setattr(certificate, "SMALLEST_SHAPE", (1, 1, 1))
    verdicts = {
        certify(
            NORMALIZERS[name], TRANSFORMS[key], shape=shape, rng=np.random.default_rng(seed)
        ).invariant
        for seed in range(60)
    }
    assert True in verdicts
    assert not certify(NORMALIZERS[name], TRANSFORMS[key]).invariant


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.longdouble, np.int64])
def test_an_eps_of_any_real_type_is_the_number_that_it_is(kind):
    eps = kind(1) if kind is np.int64 else kind(1e-5)
    verdict = certify(NORMALIZERS["layer"], TRANSFORMS["case_rescaling"], eps=eps)
    assert verdict.only_without_eps
    assert (
        verdict.witness.ratio
        == certify(
            NORMALIZERS["layer"], TRANSFORMS["case_rescaling"], eps=Fraction(float(eps))
        ).witness.ratio
    )
    assert type(Normalizer("layer", "layer", eps=eps).exact_eps.numerator) is int


@pytest.mark.parametrize("eps", [-1.0, float("nan"), float("inf")])
def test_an_eps_that_is_no_eps_is_refused(eps):
    sentence = f"`eps` must be a finite number from 0 up; got {eps!r}."
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        certify(NORMALIZERS["layer"], TRANSFORMS["case_rescaling"], eps=eps)


# In floating point, away from the exact path. ---------------------------------------------------


def numbers(seed=7, N=6, H=5, D=4):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((H, D)), rng.standard_normal((N, D)), rng


def changed(transform, W, X, rng, delta=2.5):
    if transform.rescales:
        return transform(W, X, delta=delta, index=1)
    return transform(W, X, gamma=rng.standard_normal(transform.gamma_shape(W, X)), index=1)


def test_floating_point_agrees_with_every_verdict(subtests):
    for (words, key), invariant in EXPECTED.items():
        with subtests.test(words=words, key=key):
            W, X, rng = numbers()
            z = GRID[words].normalize(W, X).z
            z1 = GRID[words].normalize(*changed(TRANSFORMS[key], W, X, rng)).z
            moved = np.abs(z1 - z).max()
            assert moved < 1e-12 if invariant else moved > 1e-2


def test_floating_point_agrees_with_every_sign_flip(subtests):
    for words, key in RESCALED:
        with subtests.test(words=words, key=key):
            transform = TRANSFORMS[key]
            W, X, rng = numbers()
            z = GRID[words].normalize(W, X).z
            turned = np.ones_like(z)
            rows = turned.T if transform.matrix == "W" else turned
            rows[1 if transform.operation.one_row else slice(None)] = -1
            moved = GRID[words].normalize(*changed(transform, W, X, rng, delta=-2.5)).z - turned * z
            assert (np.abs(moved).max() < 1e-12) == EXPECTED[words, key]


FORMULAS = {
    "batch": lambda W, X: (X @ W.T - (X @ W.T).mean(0)) / np.sqrt(np.var(X @ W.T, axis=0)),
    "weight": lambda W, X: X @ W.T / np.linalg.norm(W, axis=1),
    "layer": lambda W, X: (
        (X @ W.T - (X @ W.T).mean(1, keepdims=True))
        / np.sqrt(np.var(X @ W.T, axis=1, keepdims=True))
    ),
    "rms": lambda W, X: X @ W.T / np.sqrt(np.mean((X @ W.T) ** 2, axis=1, keepdims=True)),
    "standard": lambda W, X: X @ W.T,
}


def test_table_1_holds_for_formulas_written_out_in_numpy(subtests):
    """Independent of the package except for the change itself."""
    for name, key in product(FORMULAS, TABLE_1):
        with subtests.test(name=name, key=key):
            W, X, rng = numbers()
            moved = np.abs(
                FORMULAS[name](*changed(TRANSFORMS[key], W, X, rng)) - FORMULAS[name](W, X)
            )
            invariant = PAPER[name].split()[TABLE_1.index(key)] == "✓"
            assert moved.max() < 1e-12 if invariant else moved.max() > 1e-2


# Sweeps. ----------------------------------------------------------------------------------------

DECADES = np.array([1e-3, 1e-2, 0.1, 0.5, 2.0, 10.0, 100.0, 1e3])


def swept(words_or_name, key, strengths, dtype=np.float64, eps=0.0, gamma=None):
    W, X, _ = numbers()
    words = NORMALIZERS[words_or_name].words if isinstance(words_or_name, str) else words_or_name
    transform = TRANSFORMS[key]
    if not transform.rescales and gamma is None:
        gamma = np.linspace(-1, 1, transform.gamma_shape(W, X)[0])
    normalizer = Normalizer(*words, eps=eps)
    return sweep(normalizer, transform, W, X, strengths, gamma=gamma, dtype=dtype)


@pytest.mark.parametrize(("dtype", "rounding"), [(np.float64, 5e-15), (np.float32, 3e-6)])
def test_a_rescaling_moves_z_by_rounding_or_by_more_than_a_hundredth(dtype, rounding, subtests):
    for words, key in RESCALED:
        with subtests.test(words=words, key=key):
            change = swept(words, key, DECADES, dtype).change
            if EXPECTED[words, key]:
                assert change.max() < rounding
            else:
                assert change.min() > 1e-2


def test_a_factor_of_1_or_a_shift_of_0_changes_nothing(subtests):
    for words, key in EXPECTED:
        with subtests.test(words=words, key=key):
            assert swept(words, key, [1.0 if key in RESCALINGS else 0.0]).change == [0.0]


@pytest.mark.parametrize(
    ("words", "key"),
    [
        (("layer", "layer"), "weight_matrix_recentering"),
        (("batch", "batch"), "dataset_recentering"),
        (("weight", "weight"), "case_offsets"),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(value),
)
def test_the_rounding_of_a_recentering_grows_with_gamma(words, key):
    change = swept(words, key, [1.0, 1e2, 1e4, 1e6], np.float32).change
    assert change[0] < 1e-5
    assert (change[1:] > 10 * change[:-1]).all()
    assert change[-1] > 0.01  # M + γ is rounded; a mean that is subtracted twice adds no error


def test_half_precision_batch_norm_overflows_at_large_factors_and_says_so():
    result = swept("batch", "dataset_rescaling", [1.0, 1e3, 1e6], np.float16)
    assert result.change[0] == 0
    assert np.isnan(result.change[1:]).all()
    assert result.reasons == (
        "",
        "overflow: σ² or a − μ exceeds the largest float16, 6.55e+04",
        "overflow: δ is no float16",
    )
    assert result.dtype == "float16"


def test_single_precision_overflows_and_underflows_at_20_decades_and_says_so():
    result = swept("layer", "dataset_rescaling", [1e-60, 1e-30, 1e-5, 1e5, 1e30], np.float32)
    assert np.isnan(result.change).tolist() == [True, True, False, False, True]
    assert result.reasons == (
        "underflow: δ is no float32",
        "underflow: σ² is below the smallest normal float32, 1.18e-38",
        "",
        "",
        "overflow: σ² or a − μ exceeds the largest float32, 3.4e+38",
    )


def test_weights_that_the_type_cannot_hold_leave_nothing_but_a_labeled_gap():
    W, X, _ = numbers()
    result = sweep(
        NORMALIZERS["layer"], TRANSFORMS["case_rescaling"], W * 1e6, X, [2.0], dtype=np.float16
    )
    assert np.isnan(result.change).all()
    assert result.reasons == ("overflow: σ² or a − μ exceeds the largest float16, 6.55e+04",)


@pytest.mark.parametrize("name", ["batch", "layer", "rms"])
def test_with_eps_a_yes_fails_once_the_scaled_variance_is_near_eps(name):
    change = swept(name, "dataset_rescaling", [1e3, 1.0, 1e-1, 1e-3, 1e-5], eps=1e-5).change
    assert change[0] < 1e-4
    assert change[1] == 0
    assert change[2] < 0.1
    assert change[3] > 0.3
    assert change[4] > 0.99


def test_a_sweep_of_one_row_is_of_the_first_unless_another_is_named():
    W, X, _ = numbers()
    first, named, other = (
        sweep(NORMALIZERS["batch"], TRANSFORMS["case_rescaling"], W, X, [3.0], **row).change
        for row in ({}, {"index": 0}, {"index": 1})
    )
    assert first == named != other


def test_a_frozen_sweep_refers_to_the_unchanged_batch():
    W, X, _ = numbers()
    frozen = Normalizer("batch", "batch", statistics="frozen")
    change = sweep(frozen, TRANSFORMS["dataset_rescaling"], W, X, [1.0, 2.0]).change
    A = X @ W.T
    z = (A - A.mean(0)) / A.std(0)
    assert change[0] < 1e-15
    assert change[1] == pytest.approx(np.abs(A / A.std(0)).max() / np.abs(z).max())


REFUSED = {
    "δ = 0": (
        "dataset_rescaling",
        {"strengths": [1.0, 0.0]},
        "`delta` must be a finite number other than 0; got 0.0. "
        "A factor of 0 would erase what it scales.",
    ),
    "no γ": (
        "dataset_recentering",
        {"strengths": [1.0]},
        "'dataset_recentering' takes a shift: give gamma of shape (4,), no delta.",
    ),
    "γ for a factor": (
        "dataset_rescaling",
        {"strengths": [1.0], "gamma": np.ones(4)},
        "'dataset_rescaling' takes a factor: give delta, and no gamma.",
    ),
    "strengths that are no numbers": (
        "dataset_rescaling",
        {"strengths": [1.0, np.nan]},
        "`strengths` must hold finite numbers; got 1 NaN or infinite among 2. "
        "Remove or impute them first.",
    ),
    "no strengths": (
        "dataset_rescaling",
        {"strengths": []},
        "`strengths` must not be empty; got an array of shape (0,).",
    ),
}


@pytest.mark.parametrize(("key", "given", "sentence"), REFUSED.values(), ids=REFUSED.keys())
def test_a_sweep_of_nothing_is_refused_in_a_sentence(key, given, sentence):
    W, X, _ = numbers()
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        sweep(NORMALIZERS["layer"], TRANSFORMS[key], W, X, **given)


def test_a_sweep_of_a_z_that_is_0_everywhere_is_refused():
    sentence = (
        "A sweep compares z' with z, so z must not be 0 everywhere; all summed inputs equal their "
        "means here. Use other weights or inputs."
    )
    layer = Normalizer("layer", "layer", eps=1e-5)
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        sweep(layer, TRANSFORMS["case_rescaling"], np.ones((3, 2)), np.eye(2), [2.0])
