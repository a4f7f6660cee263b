"""z, μ and σ against exact fractions: right to a stated error at any size and type, or refused."""

import re
from dataclasses import replace
from fractions import Fraction
from math import frexp

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from normgeo import GRID, NORMALIZERS, Normalizer

KINDS = {
    **{"-".join(words): normalizer for words, normalizer in GRID.items()},
    "group": NORMALIZERS["group"],
    "frozen batch": Normalizer("batch", "batch", statistics="frozen"),
    "frozen layer": Normalizer("layer", "batch", statistics="frozen"),
    "frozen center": Normalizer("batch", "layer", statistics="frozen"),
}
every_kind = pytest.mark.pairwise("normalizer", KINDS.values(), ids=KINDS.keys())
every_scaled_kind = pytest.mark.pairwise(
    "normalizer",
    [normalizer for normalizer in KINDS.values() if normalizer.scaling.divides],
    ids=[key for key, normalizer in KINDS.items() if normalizer.scaling.divides],
)
N, H, D = 7, 6, 5
RNG = np.random.default_rng(3)
W, X, W0, X0 = (RNG.standard_normal(shape) for shape in ((H, D), (N, D), (H, D), (9, D)))


def fractions(*matrices):
    exact = [np.vectorize(lambda x: Fraction(float(x)), otypes=[object])(M) for M in matrices]
    return exact if len(exact) > 1 else exact[0]


def root(square):
    """The root of a fraction as a mantissa and an exponent of 2, since it may overflow a float."""
    if not square:
        return 0.0, 0
    half = (square.numerator.bit_length() - square.denominator.bit_length()) // 2
    mantissa, exponent = frexp(float(square / Fraction(4) ** half) ** 0.5)
    return mantissa, exponent + half


def exact(normalizer, W, X, reference=(W0, X0)):
    """z, and log₂ σ, from the floats as fractions."""
    C, v = normalizer.moments(*fractions(W, X), tuple(fractions(*reference)))
    v = np.broadcast_to(v, C.shape)
    z, log_sigma = np.empty(C.shape), np.empty(C.shape)
    for place, c in np.ndenumerate(C):
        mantissa, exponent = root(c * c / v[place]) if v[place] else (np.nan, 0)
        z[place] = np.ldexp(mantissa, exponent) * (1 if c > 0 else -1)
        mantissa, exponent = root(v[place])
        log_sigma[place] = np.log2(mantissa) + exponent if mantissa else -np.inf
    return z, log_sigma


def unit(kind):
    """Half an ulp of 1 in the type of the computation."""
    return float(np.finfo(np.result_type(kind, np.float32)).eps) / 2


def largest_error(z, expected):
    return np.abs(z.astype(float) - expected).max() / np.abs(expected).max()


# A mean that is far larger than what is left of it. -----------------------------------------------

OFFSETS = {
    "batch norm, X + 1e6": ("batch", W, X + 1e6),
    "layer norm, W = 1 + 1e-8 noise": ("layer", 1 + 1e-8 * W, X),
    "group norm, W = 1 + 1e-8 noise": ("group", 1 + 1e-8 * W, X),
    "centered weight norm, W + 1e6": ("centered_weight", W + 1e6, X),
    "batch norm in single precision, X + 1e4": ("batch", *np.float32([W[:N], X[:H] + 1e4])),
    "layer norm in single precision, W + 1e4": ("layer", *np.float32([W + 1e4, X[:H]])),
}


@pytest.mark.parametrize(("key", "W", "X"), OFFSETS.values(), ids=OFFSETS.keys())
def test_offset_of_the_weights_or_inputs_costs_no_digits(key, W, X):
    z = NORMALIZERS[key].normalize(W, X).z
    assert largest_error(z, exact(NORMALIZERS[key], W, X)[0]) < 20 * unit(W.dtype)


@pytest.mark.parametrize(("key", "W", "X"), OFFSETS.values(), ids=OFFSETS.keys())
def test_derivative_at_an_offset_keeps_its_digits_too(key, W, X):
    """Along w itself z is constant; along another direction it changes as without the offset."""
    at = NORMALIZERS[key].linearize(W, X)
    W_centered = NORMALIZERS[key].centering.project_weights(fractions(W), NORMALIZERS[key].groups)
    near, far = W_centered.astype(float), np.roll(W, 1, axis=1).astype(float)
    moved = np.abs(at.jvp(far)).max()
    assert np.abs(at.jvp(near)).max() < 50 * unit(W.dtype)
    assert np.abs(at.jvp(np.full_like(far, 1e3))).max() < 1e5 * moved  # what a center ignores


@every_kind
def test_mean_is_that_of_the_formula(normalizer):
    """μ = A − C in fractions; for numbers around 0 and far from it."""
    for offset in (0.0, 1e6):
        x, w = X + offset, W - offset
        C, _ = normalizer.moments(*fractions(w, x), tuple(fractions(W0, X0)))
        mu = (np.dot(*(fractions(x), fractions(w).T)) - C).astype(float)
        found = normalizer.normalize(w, x, (W0, X0)).mu
        np.testing.assert_allclose(found, mu, rtol=1e-15, atol=1e-14 * (1 + offset) ** 2)


def test_mean_is_one_number_wherever_it_is_shared():
    for words in (("batch", "batch"), ("layer", "layer"), ("none", "weight"), ("none", "batch")):
        mu = GRID[words].normalize(W, X).mu
        shared = {"batch": mu[:1], "layer": mu[:, :1], "none": 0.0}[words[0]]
        assert (mu == shared).all()
    mu = NORMALIZERS["group"].normalize(W, X).mu
    assert (mu[:, :3] == mu[:, :1]).all()
    assert (mu[:, 3:] == mu[:, 3:4]).all()


# Numbers whose squares are too large or too small for their type. ---------------------------------

SIZES = [
    (np.float16, 4e-4),
    (np.float16, 3e2),
    (np.float32, 1e-22),
    (np.float32, 1e22),
    (np.float64, 1e-161),
    (np.float64, 1e161),
    (np.float64, 1e-300),
]
every_size = pytest.mark.pairwise(
    ("kind", "size"), SIZES, ids=[f"{np.dtype(kind)} {size:g}" for kind, size in SIZES]
)


@every_scaled_kind
@every_size
def test_z_is_right_where_squares_overflow_or_underflow(normalizer, kind, size):
    """Without ε, with one as large as σ², and with one far above or below it."""
    w, x, reference = (W * size).astype(kind), X.astype(kind), (W0 * size, X0)
    near = min(size, 1e150) ** 2
    for eps in (0, near, near / 4, 1e-5) if normalizer.scaling.takes_eps else (0,):
        asked = replace(normalizer, eps=eps)
        z = asked.normalize(w, x, tuple(M.astype(kind) for M in reference)).z
        expected, _ = exact(asked, w, x, [M.astype(kind) for M in reference])
        half = float(np.finfo(kind).eps)
        np.testing.assert_allclose(z, expected, rtol=60 * half, atol=9 * half * abs(z).max())


@every_scaled_kind
@every_size
def test_derivative_is_right_there_as_well(normalizer, kind, size):
    """z ignores a factor of all weights: dz is unchanged, and ∂z/∂W smaller by that factor."""
    factor = float(2.0 ** round(np.log2(size)))
    w, x, w0, x0, dw = (np.round(4 * M).astype(kind) for M in (W, X, W0, X0, np.roll(W, 1)))
    w[0, :2] += 8
    U = np.ones((N, H), kind)
    near = normalizer.linearize(w, x, (w0, x0))
    far = normalizer.linearize(w * kind(factor), x, (w0 * kind(factor), x0))
    close = {"rtol": 400 * unit(kind), "atol": 400 * unit(kind)}
    np.testing.assert_allclose(far.jvp(dw * kind(factor)), near.jvp(dw), **close)
    np.testing.assert_allclose(far.vjp_inputs(U), near.vjp_inputs(U), **close)
    np.testing.assert_allclose(factor * far.vjp_weights(U), near.vjp_weights(U), **close)


@every_scaled_kind
@every_size
def test_moments_are_right_there_or_refused(normalizer, kind, size):
    """v itself must fit into its type; it is infinite if it is too large."""
    w, x, reference = (W * size).astype(kind), X.astype(kind), (W0 * size).astype(kind)
    given = (reference, X0.astype(kind))
    exact_v = normalizer.moments(*fractions(w, x), tuple(fractions(*given)))[1]
    limits = np.finfo(kind)
    if exact_v.min() < Fraction(float(limits.tiny)):
        with pytest.raises(ValueError, match=r"^σ² must not be below the smallest normal number"):
            normalizer.moments(w, x, given)
        return
    C, v = normalizer.moments(w, x, given)
    assert C.dtype == v.dtype == kind
    for found, true in zip(v.ravel(), exact_v.ravel(), strict=True):
        if np.isinf(found):
            assert true > Fraction(float(limits.max)) / 2
        else:
            assert abs(Fraction(float(found)) / true - 1) < 20 * Fraction(float(limits.eps))


def test_weights_of_very_different_sizes_each_have_their_z():
    """Powers of two for each statistic: rows from 1e-300 to 1e300 under batch and weight norm."""
    scales = np.array([1e-300, 1e-161, 1.0, 1e161, 1e300, 1e-10])[:, None]
    for key in ("batch", "weight", "centered_weight", "mean_only_batch_weight"):
        z = NORMALIZERS[key].normalize(W * scales, X).z
        np.testing.assert_allclose(z, NORMALIZERS[key].normalize(W, X).z, rtol=1e-13)


# Types that are mixed. ----------------------------------------------------------------------------


@every_kind
def test_narrow_weights_and_wide_inputs_are_computed_in_the_wide_type(normalizer):
    for w, x in ((np.float32(W), X + 1e6), (1 + W / 1000, np.float32(X)), (np.float16(W), X)):
        result = normalizer.normalize(w, x, (np.float32(W0), X0))
        wide = normalizer.normalize(w.astype(float), x.astype(float), (np.float32(W0), X0))
        assert result.z.dtype == result.mu.dtype == result.sigma.dtype == np.float64
        np.testing.assert_allclose(result.z, wide.z, rtol=1e-14, atol=1e-13)
        over = normalizer.over(x, H, (np.float32(W0), X0)).linearize(w)
        np.testing.assert_allclose(over.z, wide.z, rtol=1e-14, atol=1e-13)
        C, v = normalizer.moments(w, x, (np.float32(W0), X0))
        np.testing.assert_allclose(C / np.sqrt(v), wide.z, rtol=1e-14, atol=1e-13)


def test_single_precision_weights_far_from_double_precision_inputs_keep_their_z():
    """Centered weight norm: the error is that of 1e6 in double precision, not in single."""
    w, x, centered = np.float32(W), X + 1e6, NORMALIZERS["centered_weight"]
    assert largest_error(centered.normalize(w, x).z, exact(centered, w, x)[0]) < 1e-9


# What is left of weights that are nearly the same is their rounding. ------------------------------

ROUNDING = (
    "σ must not vanish, but {} to within rounding, so there is nothing to divide by. Change that "
    "row, drop it, or use a larger eps with a batch or layer scale."
)
CASE = "case 0 has a = μ at every neuron of a group"
NEURON = "the centered weight vector of neuron {} is zero"
NEARLY_EQUAL = {
    "layer norm": (("layer", "layer"), 1 + 1e-14 * W, X, CASE),
    "layer center, weight scale": (("layer", "weight"), 1 + 1e-14 * W, X, NEURON.format(0)),
    "centered weight norm": (("weight", "weight"), 1 + 1e-14 * W, X, NEURON.format(2)),
    "batch norm": (("batch", "batch"), W, 1 + 1e-14 * X, "neuron 0 has a = μ in every case"),
    "batch center, layer scale": (("batch", "layer"), W, 1 + 1e-14 * X, CASE),
    "sums that cancel": (
        ("none", "batch"),
        np.array([[1.0, -1.0], [1.0, 1.0]]),
        np.array([[1, 1], [1, 1 + 2e-16], [1 + 2e-16, 1]]),
        "neuron 0 has a = μ in every case",
    ),
}


@pytest.mark.parametrize(
    ("words", "W", "X", "place"), NEARLY_EQUAL.values(), ids=NEARLY_EQUAL.keys()
)
def test_rows_that_differ_by_rounding_are_refused_in_a_sentence(words, W, X, place):
    for use in (GRID[words].normalize, GRID[words].linearize):
        with pytest.raises(ValueError, match=f"^{re.escape(ROUNDING.format(place))}$"):
            use(W, X)


def test_reference_batch_of_equal_cases_is_refused_as_well():
    frozen = Normalizer("batch", "batch", statistics="frozen")
    place = "neuron 0 has a = μ in every case of the reference batch"
    with pytest.raises(ValueError, match=f"^{re.escape(ROUNDING.format(place))}$"):
        frozen.normalize(W, X, (W, 1 + 1e-14 * X))


def refused(normalizer, w, x):
    """Whether z is refused because σ is rounding."""
    try:
        normalizer.normalize(w, x)
    except ValueError as error:
        return bool(re.match("σ must not vanish, but ", str(error)))
    return False


@settings(max_examples=150)
@given(
    key=st.sampled_from([key for key, kind in KINDS.items() if "frozen" not in key]),
    logs=st.tuples(*[st.integers(-17, 0)] * 2, *[st.integers(-15, 15)] * 2),
    seed=st.integers(0, 2**32 - 1),
    kind=st.sampled_from([np.float32, np.float64]),
)
def test_answer_is_right_to_its_stated_error_or_refused(key, logs, seed, kind):
    """|Δz| ≤ 4 (D + 8) u S/σ (1 + |z|), S the largest Σ_d |x̃||w̃|; if refused, σ is rounding.

    W and X vary around 1 by 10^−k, and are then scaled.
    """
    normalizer, rng = KINDS[key], np.random.default_rng(seed)
    w, x = (
        ((1 + 10.0**spread * rng.standard_normal(shape)) * 10.0**size).astype(kind)
        for spread, size, shape in zip(logs[:2], logs[2:], ((6, 3), (4, 3)), strict=True)
    )
    expected, log_sigma = exact(normalizer, w, x)
    u, center, groups = unit(kind), normalizer.centering, normalizer.groups
    if refused(normalizer, w, x):
        sizes = normalizer.over(x.astype(float), 6).deviation_of_sizes(w.astype(float))
        assert (log_sigma - np.log2(sizes)).min() < np.log2(1.01 * 64 * u)
        return
    exact_w, exact_x = fractions(w, x)
    X_centered = abs(center.project_inputs(exact_x)).astype(float)
    S = np.max(X_centered @ abs(center.project_weights(exact_w, groups)).astype(float).T)
    bound = 4 * (3 + 8) * u * S / 2**log_sigma * (1 + np.abs(expected).max())
    assert (np.abs(normalizer.normalize(w, x).z - expected) <= bound).all()
