"""The dimension of the null space against exact arithmetic, for any sizes of W and X.

z ignores dW where dC·σ = C dσ, which is 2v dC = C dv: rational in W and X. Floats are fractions, so
the rank is exact: it is computed modulo a prime of 127 bits, which divides one of the minors with
probability 1e-36.
"""

from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from normgeo import (
    FAMILIES,
    GRID,
    NORMALIZERS,
    NormalizedGLM,
    Normalizer,
    expected_dimension,
    explain,
    fisher,
    null_space,
)
from normgeo.datasets.datasets import load
from normgeo.normalizers.scales import SCALES, Scale
from normgeo.null_directions.equilibration import Equilibrated
from tests.pairwise import grouped

PRIME = 2**127 - 1
N, H, D = 5, 3, 3

every_normalizer = pytest.mark.pairwise("words", GRID, ids="-".join)


def rank_modulo_prime(rows):
    """The rank of a matrix of fractions, by elimination modulo PRIME."""
    left = [[x.numerator * pow(x.denominator, -1, PRIME) % PRIME for x in row] for row in rows]
    rank = 0
    for column in range(len(left[0])):
        pivot = next((row for row in left[rank:] if row[column]), None)
        if pivot is None:
            continue
        left.remove(pivot)
        left.insert(rank, pivot)
        inverse = pow(pivot[column], -1, PRIME)
        for i in range(rank + 1, len(left)):
            if factor := left[i][column] * inverse % PRIME:
                left[i] = [(a - factor * b) % PRIME for a, b in zip(left[i], pivot, strict=True)]
        rank += 1
    return rank


def exact_dimension(normalizer, W, X):
    """H·D − the rank of dW ↦ 2v dC − C dv; C is linear in W and v quadratic."""
    W, X = (np.vectorize(Fraction, otypes=[object])(M) for M in (W, X))
    reference = (W, X) if normalizer.statistics == "frozen" else None

    def moments(changed):
        C, v = normalizer.moments(changed, X, reference)
        return np.broadcast_arrays(C, v)

    C, v = moments(W)
    columns = []
    for place in np.ndindex(W.shape):
        dW = np.vectorize(Fraction, otypes=[object])(np.zeros(W.shape))
        dW[place] = Fraction(1)
        (C1, v1), (C0, v0) = moments(W + dW), moments(W - dW)
        columns.append((v * (C1 - C0) - C * (v1 - v0) / 2).reshape(-1))
    return W.size - rank_modulo_prime(np.stack(columns, axis=1).tolist())


def drawn(seed=0):
    """Weights and cases with few bits, so that offsets and factors cause no rounding."""
    rng = np.random.default_rng(seed)
    return (rng.integers(-64, 65, shape) / 32 for shape in ((H, D), (N, D)))


FACTORS = np.array([2.0**33, 1.0, 2.0**-33])  # 1e10, 1 and 1e-10

CHANGES = {
    "as drawn": lambda W, X: (W, X),
    "offset": lambda W, X: (W, X + 1e5),
    "offsets": lambda W, X: (W, X + np.array([1e5, 0, -1e4])),
    "large unit": lambda W, X: (W, X * np.array([2.0**33, 1, 1])),
    "small unit": lambda W, X: (W, X * np.array([1, 1, 2.0**-33])),
    "units": lambda W, X: (W, X * FACTORS),
    "norm": lambda W, X: (W * np.array([[2.0**33], [1], [1]]), X),
    "norms": lambda W, X: (W * FACTORS[:, None], X),
    "all": lambda W, X: (W * FACTORS[::-1, None], (X + 1e5) * FACTORS),
    "dependent": lambda W, X: (W, np.c_[X[:, :2], X[:, 0] - X[:, 1]] + 1e5 * np.array([1, 1, 0])),
    "constant": lambda W, X: (W, np.c_[X[:, :2], np.full(N, 0.1)]),
}


@cache
def expected(normalizer, change):
    return exact_dimension(normalizer, *CHANGES[change](*drawn()))


# With all of them at once, z under a layer statistic varies by 1e-15: float64 cannot show it.
DECIDED = [
    (words, key) for words in GRID for key in CHANGES if key != "all" or "layer" not in words
]


@pytest.mark.parametrize("rows", grouped(DECIDED))
def test_dimension_is_that_of_exact_arithmetic(rows):
    for words, change in rows:
        W, X = CHANGES[change](*drawn())
        model = NormalizedGLM(GRID[words], "gaussian", W)
        null = null_space(fisher(model, X))
        assert null.dimension == expected(GRID[words], change), (words, change)
        assert null.clear, (words, change)
        assert explain(model, X, null).unexplained == 0, (words, change)


CASES = np.array([[2.0**33], [1.0], [2.0**-33], [1.0], [1.0]])

EXTREMES = CHANGES | {
    "cases": lambda W, X: (W, X * CASES),
    "neurons and features": lambda W, X: (W * FACTORS[:, None], X * FACTORS),
    "neurons and cases": lambda W, X: (W * FACTORS[:, None], X * CASES),
    "features and cases": lambda W, X: (W, X * FACTORS * CASES),
    "offset, then units": lambda W, X: (W, (X + 1e5) * FACTORS),
    "units, then offset": lambda W, X: (W, X * FACTORS + 1e5),
    "offset and norms": lambda W, X: (W * FACTORS[:, None], X + 1e5),
    "offset of 1e7": lambda W, X: (W, X + 1e7),
    "offset of 1e9": lambda W, X: (W, X + 1e9),
}

AT_ANY_SIZES = [
    (words, kind, change)
    for change in EXTREMES
    for words in GRID
    for kind in ("current", "frozen")
    if kind == "current" or "batch" in words
]


@pytest.mark.parametrize("rows", grouped(AT_ANY_SIZES))
def test_what_is_counted_is_null_and_what_is_not_decided_is_said(rows):
    """At any sizes: no more null directions than in exact arithmetic, and none undecided hidden."""
    for row in rows:
        words, kind, change = row
        W, X = EXTREMES[change](*drawn())
        normalizer = replace(GRID[words], statistics=kind)
        reference = (W, X) if kind == "frozen" else None
        model = NormalizedGLM(normalizer, "gaussian", W, reference=reference)
        null = null_space(fisher(model, X))
        exact = exact_dimension(normalizer, W, X)
        assert null.dimension <= exact <= null.dimension + null.undecided, row
        undecided = any("cannot be decided in float64" in note for note in null.notes)
        assert null.clear != undecided, row
        explanation = explain(model, X, null)
        assert explanation.unexplained == 0, row
        for reason in explanation.reasons:
            assert reason.held or reason.sentence != "z ignores it, and so does the model.", row
            assert reason.held or "change no output" not in reason.sentence, row


@pytest.mark.pairwise(
    ("words", "change"),
    [
        (words, change)
        for words in GRID
        for change in ("offset", "units", "norms", "offset of 1e7")
        if "batch" in words and (words[1] != "layer" or change == "offset")
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(value),
)
def test_with_frozen_statistics_sizes_decide_nothing(words, change):
    """Nor does an offset, to which the mean is frozen: the dimension is the same."""
    normalizer = replace(GRID[words], statistics="frozen")

    def counted_at(W, X):
        return null_space(fisher(NormalizedGLM(normalizer, "gaussian", W, reference=(W, X)), X))

    null = counted_at(*EXTREMES[change](*drawn()))
    assert null.dimension == counted_at(*drawn()).dimension == expected(normalizer, "as drawn")
    assert null.clear or change == "offset of 1e7"


@pytest.mark.pairwise("words", [w for w in GRID if w[1] in ("batch", "layer")], ids="-".join)
@pytest.mark.pairwise("eps", [1e-5, 1e-12, 1e-30])
def test_no_epsilon_is_too_small(words, eps):
    """With any ε > 0 a re-scaling changes z, by a fraction ε/σ² of its size."""
    normalizer = replace(GRID[words], eps=eps)
    W, X = drawn()
    model = NormalizedGLM(normalizer, "gaussian", W)
    null = null_space(fisher(model, X))
    assert null.dimension == expected(normalizer, "as drawn") < expected(GRID[words], "as drawn")
    found = explain(model, X, null)
    assert found.unexplained == 0
    for reason in found.reasons:
        if reason.key.endswith("rescaling"):
            assert reason.held == 0
            assert "ignores" not in reason.sentence


@pytest.mark.pairwise("words", [w for w in GRID if w[1] in ("batch", "layer")], ids="-".join)
@pytest.mark.pairwise("family", ["gaussian", "categorical"])
@pytest.mark.pairwise("weights_only", [True, False])
def test_an_epsilon_below_rounding_is_not_taken_for_none(words, family, weights_only):
    """Changes of order ε/σ² are not null: float64 does not decide them, and says so."""
    W, X = drawn()
    at = {
        eps: null_space(
            fisher(NormalizedGLM(replace(GRID[words], eps=eps), family, W, g=[1, 2, 0.5]), X),
            weights_only,
        )
        for eps in (1e-3, 1e-18, 1e-30)
    }
    assert at[1e-3].clear
    for eps in (1e-18, 1e-30):
        assert at[eps].dimension == at[1e-3].dimension


def test_words_that_residues_cannot_follow_are_left_to_float64(rng, monkeypatch):
    """Else the constant pixel would be counted; a root of a mean fourth power is no polynomial."""

    class Fourth(Scale):
        key, title, over, shared_by_cases = "fourth", "cases", "the cases", True

        def variance(self, C, W_centered, groups=1):
            return np.sqrt((C**4).mean(axis=-2, keepdims=True))

        def differential(self, dC, dW_centered, at):
            cubes = (at.z**3 * dC).mean(axis=-2, keepdims=True)
            return (dC - at.z * cubes) / at.sigma

        def adjoint(self, U, at):
            V = U / at.sigma
            return V - at.z**3 * (V * at.z).mean(axis=-2, keepdims=True), None

        def radial(self, X_centered, at):
            return (at.z**3).T @ X_centered / len(at.z)

    monkeypatch.setitem(SCALES, "fourth", Fourth())
    W, X = drawn()
    X[:, 2] = 0.0
    null = null_space(fisher(NormalizedGLM(Normalizer("none", "fourth"), "gaussian", W), X))
    assert null.counts == "6 null"


def test_constants_of_the_data_are_told_from_features_that_hardly_vary():
    """1e5 + 1e-11 x has three values in float64: whether it varies is not decided."""
    W, X = drawn()
    model = NormalizedGLM(GRID["batch", "none"], "gaussian", W)
    constant, hardly = np.c_[X[:, :2], np.full(N, 1e5)], np.c_[X[:, :2], 1e5 + 1e-11 * X[:, 2]]
    assert np.ptp(hardly[:, 2]) > 0
    for cases, counts, said in (
        (constant, "3 null", "The 5 cases span 2 of 3 dimensions (constant features: 1)"),
        (
            hardly,
            "0 null, 3 cannot be decided in float64",
            "In all but 2 of 3 dimensions the 5 cases differ by rounding, and float64 cannot",
        ),
    ):
        null = null_space(fisher(model, cases))
        assert null.counts == counts
        assert explain(model, cases, null).reason("data").sentence.startswith(said)


def test_the_oracle_counts_what_is_known():
    """The table of section 6, H = D = 3; and it finds a dependence that floats do not have."""
    W, X = drawn()
    for words, dimension in ((("layer", "layer"), 4), (("batch", "batch"), 3), (("none",) * 2, 0)):
        assert exact_dimension(GRID[words], W, X) == dimension
    X[:, 2] = X[:, 0] - X[:, 1]
    assert exact_dimension(GRID["none", "none"], W, X) == 3
    X[0, 2] += 2.0**-40
    assert exact_dimension(GRID["none", "none"], W, X) == 0


# Cases where the sizes of weights, cases and outputs once changed the result.


def counted(model, X):
    null = null_space(fisher(model, X))
    explanation = explain(model, X, null)
    reasons = {reason.key: reason.added for reason in explanation.reasons if reason.added}
    return null.counts, sum(reasons.values()), set(reasons)


RESCALED, RECENTERED = "weight_matrix_rescaling", "weight_matrix_recentering"
OWN = "weight_vector_rescaling"


def test_layer_norm_of_cases_with_an_offset(rng):
    model = NormalizedGLM(NORMALIZERS["layer"], "gaussian", rng.standard_normal((4, 4)))
    X = rng.standard_normal((40, 4)) + 1e5
    assert counted(model, X) == ("5 null", 5, {RESCALED, RECENTERED})


def test_layer_norm_of_weights_that_nearly_agree(rng):
    W = 1 + 1e-8 * rng.standard_normal((4, 4))
    model = NormalizedGLM(NORMALIZERS["layer"], "gaussian", W)
    X = rng.standard_normal((40, 4))
    assert counted(model, X) == ("5 null", 5, {RESCALED, RECENTERED})


@pytest.mark.parametrize("name", ["batch", "weight"])
@pytest.mark.parametrize("factor", [1e10, 1e-10])
def test_norms_of_the_weight_vectors_do_not_count(name, factor, rng):
    W = rng.standard_normal((2, 5)) * [[factor], [1]]
    model, X = NormalizedGLM(NORMALIZERS[name], "gaussian", W), rng.standard_normal((40, 5))
    assert counted(model, X) == ("2 null", 2, {RESCALED, OWN})


@pytest.mark.parametrize("phi", [1e-14, 1e14])
def test_the_dispersion_does_not_count(phi, rng):
    W, X = rng.standard_normal((4, 4)), rng.standard_normal((40, 4))
    model = NormalizedGLM(NORMALIZERS["layer"], "gaussian", W, phi=phi)
    assert counted(model, X) == ("5 null", 5, {RESCALED, RECENTERED})


@pytest.mark.parametrize("name", ["standard", "batch", "weight", "layer", "centered_weight"])
def test_raw_features_of_breast_cancer_span_all_dimensions(name, rng):
    X = load("breast_cancer", standardize=False).raw.astype(float)
    model = NormalizedGLM.random(NORMALIZERS[name], "gaussian", 4, 30, rng)
    counts, explained, reasons = counted(model, X)
    expected = expected_dimension(model.normalizer, 4, 30, "gaussian")
    assert (counts, explained) == (f"{expected} null", expected)
    assert not reasons & {"data", "case_factors", "cases"}


@pytest.mark.parametrize("family", FAMILIES)
def test_cases_that_hardly_count_are_seen(family, rng):
    """Frozen (layer, batch): means from 1e-9 to 1e9 for a Poisson, but the same rank."""
    W, X = rng.standard_normal((4, 5)), rng.standard_normal((40, 5))
    normalizer = Normalizer("layer", "batch", statistics="frozen")
    model = NormalizedGLM(normalizer, family, W, [20, -20, 0, 0], [3, 0.3, 1, 1], reference=(W, X))
    assert counted(model, X) == ("5 null", 5, {RECENTERED})


@pytest.mark.parametrize("family", ["bernoulli", "poisson", "categorical"])
def test_outputs_that_are_nearly_certain_are_seen(family, rng):
    """A'' from 1e-130 to 1: small, but not 0."""
    W, X = rng.standard_normal((4, 5)), rng.standard_normal((40, 5))
    model = NormalizedGLM(NORMALIZERS["batch"], family, W, [-300.0, -60.0, 0.0, 0.0])
    null = null_space(fisher(model, X))
    assert null.counts == f"{expected_dimension(model.normalizer, 4, 5, family)} null"


def test_shifts_of_large_weights_are_found(rng):
    """W + γ loses γ in rounding, so a shift's tangent must not be a difference of the two."""
    W, X = 1e17 * rng.standard_normal((4, 5)), rng.standard_normal((40, 5))
    model = NormalizedGLM(NORMALIZERS["layer"], "gaussian", W)
    assert counted(model, X) == ("6 null", 6, {RESCALED, RECENTERED})


def test_rounding_errors_of_z_make_more_directions_undecided(rng):
    """At an offset of 1e6 that the weights cancel, z has lost six digits."""
    W, X = rng.integers(-9, 10, (4, 5)).astype(float), rng.standard_normal((40, 5))
    W[:, 0] -= W.sum(axis=1)
    model = NormalizedGLM(NORMALIZERS["rms"], "gaussian", W)
    near, far = (null_space(fisher(model, X + offset)) for offset in (0, 1e6))
    assert near.tolerance < 100 * near.rounding
    assert 1e6 * far.rounding < far.tolerance < 1e9 * far.rounding


@pytest.mark.parametrize("eps", [1e-5, 1e-12])
def test_a_softmax_explains_what_epsilon_leaves(eps, rng):
    """The null directions of a softmax rotate toward re-scalings as ε falls, and stay null."""
    W, X = rng.standard_normal((4, 9)), rng.standard_normal((40, 9))
    model = NormalizedGLM(replace(NORMALIZERS["batch"], eps=eps), "categorical", W)
    assert counted(model, X) == ("9 null", 9, {"softmax"})


def test_gains_are_traded_for_biases_where_z_is_constant():
    """N = 2 and pairs: z = ±1, and by chance of the same sign in both cases for some pairs."""
    normalizer = Normalizer("layer", "layer", groups=2)
    W = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 0.0], [0.0, 1.0]])
    for X, pairs in (([[2.0, 1.0], [3.0, 1.0]], 2), ([[2.0, 1.0], [3.0, 4.0]], 1)):
        model = NormalizedGLM(normalizer, "gaussian", W)
        null = null_space(fisher(model, np.array(X)), weights_only=False)
        found = explain(model, np.array(X), null)
        assert (null.dimension, found.unexplained) == (8 + 2 * pairs, 0)
        reason = found.reason("bias_for_gain")
        assert (reason.held, reason.added) == (2 * pairs,) * 2
        assert reason.sentence == (
            f"z is the same in every case at {2 * pairs} of 4 neurons: a change of g_h adds a "
            "constant there, which b_h takes back."
        )


@pytest.mark.parametrize("family", ["gaussian", "categorical"])
@pytest.mark.parametrize("scale", ["batch", "weight"])
def test_equation_13_lets_each_centered_vector_grow(scale, family, rng):
    """A layer center's own-neuron part is no projection: dw_h = w̃_h alone keeps z_h."""
    W, X = rng.standard_normal((4, 5)), rng.standard_normal((30, 5))
    model = NormalizedGLM(Normalizer("layer", scale), family, W)
    null = null_space(fisher(model, X, coupling="paper"))
    found = explain(model, X, null)
    assert found.unexplained == 0
    reason = found.reason("vectors_together")
    assert (reason.held, reason.added) == (4, 4)
    assert "in Eq. 13 each output depends on its own neuron only" in reason.sentence


# The equilibrated derivative of the outputs.


@every_normalizer
@pytest.mark.pairwise("family", ["gaussian", "categorical"])
@pytest.mark.pairwise("weights_only", [True, False])
def test_coordinates_are_those_of_changes_of_the_parameters(words, family, weights_only, rng):
    """Both directions of conversion, and E e = 0 where J v = 0; no column of E is longer than 1."""
    gain = None if words == ("none", "none") else rng.uniform(0.5, 1.5, 4)
    model = NormalizedGLM(GRID[words], family, rng.standard_normal((4, 5)), None, gain)
    X = rng.standard_normal((30, 5)) * [1e3, 1, 1e-3, 1, 1]
    F = fisher(model, X)
    E = Equilibrated.of(F.structure.at, F.structure.family, weights_only)
    e = E.spread(rng.standard_normal((len(E.gram()), 3)))
    np.testing.assert_allclose(E.pack(E.unpack(e)), e, atol=1e-14 * np.abs(e).max())
    v = E.theta(E.unpack(e))
    assert (np.linalg.norm(E.effects(np.eye(len(e))[:, E.changing]), axis=0) < 2).all()
    # E is J in other units of its rows and columns: if the rows share one unit, they are parallel.
    if family == "gaussian" and words[1] == "none":
        J = F.factor_times(v).reshape(30, 4, 3)
        rows = E.effects(e).reshape(30, 4, 3)
        ratios = J / rows
        same = np.broadcast_to(ratios[:1, :, :1], ratios.shape)
        np.testing.assert_allclose(ratios, same, rtol=1e-6)
