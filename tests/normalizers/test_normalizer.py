"""Every normalizer against NumPy written out, the duality, and the exact words of refusals."""

import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from normgeo import GRID, NORMALIZERS, Normalizer
from normgeo.normalizers.centers import CENTERS
from normgeo.normalizers.scales import SCALES, AveragingScale, Scale

WORDS = ("none", "batch", "layer", "weight")
WRITTEN_OUT = [(center, scale) for center in WORDS for scale in WORDS]


def pairs(*, grouped=False, shared_by_cases=False):
    """Words of the design space: all, or those that take groups, or batch statistics."""
    return [
        words
        for words, normalizer in GRID.items()
        if normalizer.shared_by_neurons >= grouped and normalizer.shared_by_cases >= shared_by_cases
    ]


def with_groups(words):
    """Each pair with one group, and with two if it takes groups."""
    return [
        pytest.param(pair, groups, id=f"{'-'.join(pair)} groups={groups}")
        for pair in words
        for groups in ((1, 2) if GRID[pair].shared_by_neurons else (1,))
    ]


every_pair = pytest.mark.pairwise("words", GRID, ids="-".join)
every_named = pytest.mark.pairwise("normalizer", NORMALIZERS.values(), ids=NORMALIZERS.keys())
every_batch_pair = pytest.mark.pairwise("words", pairs(shared_by_cases=True), ids="-".join)


def draw(rng, N=7, H=6, D=5):
    return rng.standard_normal((H, D)), rng.standard_normal((N, D)) + 0.5


def written_out(center, scale, W, X, eps=0.0, groups=1):
    """μ, σ and z from the summed inputs, as the papers write them."""
    A = X @ W.T
    split = A.reshape(len(A), groups, -1)
    size = split.shape[2]
    mu = {
        "none": lambda: np.zeros_like(A),
        "batch": lambda: np.broadcast_to(A.mean(axis=0), A.shape),
        "layer": lambda: np.repeat(split.mean(axis=2), size, axis=1),
        "weight": lambda: np.outer(X.sum(axis=1), W.mean(axis=1)),
    }[center]()
    C = A - mu
    rows = W - W.mean(axis=0) if center == "layer" else W
    if center == "layer" and groups > 1:
        parts = W.reshape(groups, size, -1)
        rows = (parts - parts.mean(axis=1, keepdims=True)).reshape(W.shape)
    if center == "weight":
        rows = W - W.mean(axis=1, keepdims=True)
    v = {
        "none": lambda: np.ones((1, 1)),
        "batch": lambda: (C**2).mean(axis=0) + eps,
        "layer": lambda: np.repeat((C.reshape(split.shape) ** 2).mean(axis=2), size, axis=1) + eps,
        "weight": lambda: np.linalg.norm(rows, axis=1) ** 2,
    }[scale]()
    return mu, np.broadcast_to(np.sqrt(v), A.shape), C / np.sqrt(v)


@pytest.mark.pairwise("eps", [0.0, 0.3])
@pytest.mark.pairwise(("words", "groups"), with_groups(WRITTEN_OUT))
def test_each_pair_of_words_is_its_formula(words, eps, groups, rng):
    W, X = draw(rng)
    A, mu, sigma, z = Normalizer(*words, groups=groups, eps=eps).normalize(W, X)
    want = written_out(*words, W, X, eps, groups)
    np.testing.assert_allclose(A, X @ W.T)
    np.testing.assert_allclose(mu, want[0], atol=1e-13)
    np.testing.assert_allclose(np.broadcast_to(sigma, A.shape), want[1], rtol=1e-12)
    np.testing.assert_allclose(z, want[2], atol=1e-12)


def test_named_methods_are_their_textbook_formulas(rng):
    W, X = draw(rng)
    A = X @ W.T
    halves = A.reshape(len(A), 2, -1)
    long = W / np.linalg.norm(W, axis=1, keepdims=True)
    centered = W - W.mean(axis=1, keepdims=True)
    textbook = {
        "standard": A,
        "batch": (A - A.mean(axis=0)) / A.std(axis=0),
        "weight": X @ long.T,
        "layer": (A - A.mean(axis=1, keepdims=True)) / A.std(axis=1, keepdims=True),
        "rms": A / np.sqrt((A**2).mean(axis=1, keepdims=True)),
        "group": (
            (halves - halves.mean(axis=2, keepdims=True)) / halves.std(axis=2, keepdims=True)
        ).reshape(A.shape),
        "mean_only_batch_weight": (X - X.mean(axis=0)) @ long.T,
        "centered_weight": X @ (centered / np.linalg.norm(centered, axis=1, keepdims=True)).T,
    }
    assert textbook.keys() <= NORMALIZERS.keys()
    for name, z in textbook.items():
        np.testing.assert_allclose(NORMALIZERS[name].normalize(W, X).z, z, atol=1e-12)


def test_layer_norm_adds_eps_inside_the_root_as_frameworks_do(rng):
    W, X = draw(rng)
    A = X @ W.T
    expected = (A - A.mean(axis=1, keepdims=True)) / np.sqrt(A.var(axis=1, keepdims=True) + 1e-5)
    z = Normalizer("layer", "layer", eps=1e-5).normalize(W, X).z
    np.testing.assert_allclose(z, expected, atol=1e-13)


def test_eps_changes_a_batch_or_layer_scale_and_no_other(subtests):
    for words in GRID:
        with subtests.test(words=words):
            rng = np.random.default_rng(20160721)
            W, X = draw(rng)
            same = np.array_equal(
                Normalizer(*words, eps=0.3).normalize(W, X).z, GRID[words].normalize(W, X).z
            )
            assert same != GRID[words].scaling.takes_eps


@pytest.mark.parametrize("words", WRITTEN_OUT, ids="-".join)
def test_eps_is_for_the_batch_and_the_layer_scale(words):
    assert GRID[words].scaling.takes_eps == (words[1] in {"batch", "layer"})
    assert replace(GRID[words], eps=0.3).added_eps == (0.3 if words[1] in {"batch", "layer"} else 0)


def test_frozen_statistics_of_the_same_batch_change_nothing(subtests):
    for words in pairs(shared_by_cases=True):
        with subtests.test(words=words):
            rng = np.random.default_rng(20160721)
            W, X = draw(rng)
            frozen = Normalizer(*words, eps=0.3, statistics="frozen")
            current = Normalizer(*words, eps=0.3)
            np.testing.assert_allclose(
                frozen.normalize(W, X, (W, X)).z, current.normalize(W, X).z, atol=1e-13
            )


def test_frozen_batch_norm_is_an_affine_map_of_the_summed_input(rng):
    W, X = draw(rng)
    W0, X0 = draw(rng, N=9)
    A0 = X0 @ W0.T
    frozen = Normalizer("batch", "batch", eps=1e-3, statistics="frozen")
    z = frozen.normalize(W, X[:1], (W0, X0)).z
    expected = (X[:1] @ W.T - A0.mean(axis=0)) / np.sqrt(A0.var(axis=0) + 1e-3)
    np.testing.assert_allclose(z, expected, atol=1e-13)


def test_frozen_center_leaves_another_scale_current(rng):
    W, X = draw(rng)
    W0, X0 = draw(rng)
    z = Normalizer("batch", "layer", statistics="frozen").normalize(W, X, (W0, X0)).z
    C = X @ W.T - (X0 @ W0.T).mean(axis=0)
    np.testing.assert_allclose(z, C / np.sqrt((C**2).mean(axis=1, keepdims=True)), atol=1e-13)


def test_moments_take_stacks_of_weights_and_inputs(subtests):
    for words in GRID:
        with subtests.test(words=words):
            rng = np.random.default_rng(20160721)
            pairs = [draw(rng) for _ in range(3)]
            W, X = (np.stack(matrices) for matrices in zip(*pairs, strict=True))
            groups = 2 if GRID[words].shared_by_neurons else 1
            normalizer = Normalizer(*words, groups=groups, eps=0.1)
            C, v = normalizer.moments(W, X)
            for i, pair in enumerate(pairs):
                one, squared = normalizer.moments(*pair)
                np.testing.assert_allclose(C[i], one, atol=1e-13)
                squared = np.broadcast_to(squared, one.shape)
                np.testing.assert_allclose(np.broadcast_to(v, C.shape)[i], squared, rtol=1e-12)


@every_pair
@pytest.mark.pairwise("dtype", [np.float16, np.float32, np.float64])
def test_moments_keep_the_floating_point_type(words, dtype, rng):
    W, X = (M.astype(dtype) for M in draw(rng))
    C, v = Normalizer(*words, eps=1e-3).moments(W, X)
    assert C.dtype == v.dtype == dtype
    assert Normalizer(*words, eps=1e-3).normalize(W, X).z.dtype == dtype


def test_moments_keep_fractions_whatever_the_type_of_eps(subtests):
    for words in GRID:
        with subtests.test(words=words):
            W = np.array([[Fraction(2), Fraction(1)], [Fraction(0), Fraction(1)]])
            X = np.array([[Fraction(1), Fraction(3)], [Fraction(2), Fraction(0)]])
            C, v = Normalizer(*words, eps=0.5).moments(W, X)
            assert {type(value) for value in (C * v).ravel()} == {Fraction}


Moderate = st.floats(-2, 2).map(lambda x: round(x, 3))


@settings(max_examples=300)
@given(
    words=st.sampled_from([words for words, normalizer in GRID.items() if normalizer.dual]),
    data=st.data(),
)
def test_exchanging_weights_and_inputs_makes_a_normalizer_its_dual(words, data):
    """z(W, X; center, scale) = z(X, W; their duals)ᵀ."""
    W = data.draw(arrays(float, st.tuples(st.integers(2, 4), st.just(3)), elements=Moderate))
    X = data.draw(arrays(float, st.tuples(st.integers(2, 4), st.just(3)), elements=Moderate))
    C, v = GRID[words].moments(W, X)
    swapped = GRID[words].dual
    C_dual, v_dual = swapped.moments(X, W)
    np.testing.assert_allclose(C, C_dual.T, atol=1e-12)
    # The square of the possible error of C, where all of C is rounding.
    np.testing.assert_allclose(
        np.broadcast_to(v, C.shape), np.broadcast_to(v_dual, C.T.shape).T, atol=1e-24
    )
    assume(v.min() > 1e-3)
    z, z_dual = GRID[words].normalize(W, X).z, swapped.normalize(X, W).z
    np.testing.assert_allclose(z, z_dual.T, atol=1e-8)


@pytest.mark.parametrize("words", WRITTEN_OUT, ids="-".join)
def test_duals_exchange_batch_and_layer(words):
    center, scale = ({"batch": "layer", "layer": "batch"}.get(word, word) for word in words)
    expected = None if scale == "weight" else GRID[center, scale]
    assert GRID[words].dual == expected


@pytest.mark.parametrize(
    "normalizer",
    [NORMALIZERS["group"], Normalizer("batch", "batch", statistics="frozen")],
    ids=["groups", "frozen"],
)
def test_groups_of_neurons_and_frozen_statistics_have_no_dual(normalizer):
    assert normalizer.dual is None


def test_weight_scale_has_no_dual(rng):
    """Negative control of the duality: ‖w‖ becomes ‖x‖, and no scale divides by that."""
    W, X = draw(rng, H=7)
    z = NORMALIZERS["weight"].normalize(W, X).z
    assert not np.allclose(z, NORMALIZERS["weight"].normalize(X, W).z.T, atol=0.1)


BLOCKS = {
    "each neuron": [[0], [1], [2], [3]],
    "all neurons": [[0, 1, 2, 3]],
    "each group": [[0, 1], [2, 3]],
    "nothing": [],
}


@pytest.mark.parametrize(
    ("normalizer", "expected"),
    [
        (NORMALIZERS["standard"], "nothing"),
        (NORMALIZERS["batch"], "each neuron"),
        (NORMALIZERS["weight"], "each neuron"),
        (NORMALIZERS["layer"], "all neurons"),
        (NORMALIZERS["rms"], "all neurons"),
        (NORMALIZERS["group"], "each group"),
        (Normalizer("layer", "weight"), "all neurons"),
        (Normalizer("layer", "weight", groups=2), "each group"),
        (Normalizer("batch", "layer", groups=2), "each group"),
        (Normalizer("layer", "none"), "nothing"),
        (Normalizer("batch", "batch", statistics="frozen"), "nothing"),
        (Normalizer("batch", "weight", statistics="frozen"), "nothing"),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(value.words),
)
def test_homogeneous_blocks_are_those_of_the_theory(normalizer, expected):
    assert [block.tolist() for block in normalizer.homogeneous_blocks(4)] == BLOCKS[expected]


@pytest.mark.parametrize(
    ("words", "groups"), with_groups([words for words in GRID if GRID[words].scaling.divides])
)
def test_doubling_a_homogeneous_block_leaves_z_alone(words, groups, rng):
    normalizer = Normalizer(*words, groups=groups)
    W, X = draw(rng)
    blocks = normalizer.homogeneous_blocks(len(W))
    assert np.sort(np.concatenate(blocks)).tolist() == list(range(len(W)))
    for block in blocks:
        doubled = W.copy()
        doubled[block] *= 2
        np.testing.assert_allclose(
            normalizer.normalize(doubled, X).z, normalizer.normalize(W, X).z, atol=1e-12
        )


def test_titles_are_names_or_the_two_words():
    assert NORMALIZERS["layer"].title == GRID["layer", "layer"].title == "layer norm"
    assert Normalizer("batch", "layer").title == "(batch, layer)"
    assert Normalizer("layer", "layer") == NORMALIZERS["layer"]


def test_layer_norm_of_two_neurons_is_legal_and_only_a_sign(rng):
    z = NORMALIZERS["layer"].normalize(*draw(rng, H=2)).z
    np.testing.assert_allclose(np.abs(z), 1)


@pytest.mark.pairwise("eps", [0.0, 0.3])
@pytest.mark.pairwise(("words", "groups"), with_groups(WRITTEN_OUT))
def test_signs_alone_are_left_where_every_z_is_plus_or_minus_one(words, groups, eps, rng):
    normalizer = Normalizer(*words, groups=groups, eps=eps)
    for K in (2, 3):
        z = normalizer.normalize(*draw(rng, H=K * groups)).z
        assert normalizer.leaves_only_signs(K * groups) == np.allclose(np.abs(z), 1)


@pytest.mark.parametrize("words", GRID, ids="-".join)
def test_standard_model_alone_leaves_the_summed_inputs_as_they_are(words, rng):
    W, X = draw(rng)
    same = np.allclose(GRID[words].normalize(W, X).z, X @ W.T)
    assert GRID[words].is_standard == same
    assert GRID[words].centering.subtracts == GRID[words].normalize(W, X).mu.any()


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("center", CENTERS.values(), ids=CENTERS.keys())
def test_dimensions_that_a_center_takes_away_are_those_its_projection_lacks(center, groups):
    """The rank of a projection is its trace; it is self-adjoint and idempotent."""
    if_grouped = groups if center.shared_by_neurons else 1
    neurons, features = np.eye(8), np.eye(5)
    mixing = center.project_neurons(neurons, if_grouped)
    along = center.project_features(features)
    assert if_grouped * center.neuron_dimensions_lost == pytest.approx(8 - np.trace(mixing))
    assert center.feature_dimensions_lost == pytest.approx(5 - np.trace(along))
    for P in (mixing, along):
        np.testing.assert_allclose(P, P.T, atol=1e-15)
        np.testing.assert_allclose(P @ P, P, atol=1e-15)
    changed = not np.array_equal(center.project_weights(np.eye(8), if_grouped), np.eye(8))
    assert center.projects_weights == changed


def test_constants_at_test_time_are_those_of_the_reference(subtests):
    """Frozen statistics given as numbers, computed by NumPy from the reference batch."""
    for words in pairs(shared_by_cases=True):
        with subtests.test(words=words):
            rng = np.random.default_rng(20160721)
            (W, X), (W0, X0) = draw(rng), draw(rng, N=9)
            normalizer = Normalizer(*words, eps=0.3)
            frozen = replace(normalizer, statistics="frozen").normalize(W, X, (W0, X0))
            center, scale = normalizer.centering, normalizer.scaling
            mean = X0.mean(axis=0, keepdims=True) @ center.project_weights(W0).T
            v = normalizer.normalize(W0, X0).sigma ** 2 - normalizer.added_eps
            cases = normalizer.over_test_time(
                X,
                len(W),
                mean if center.shared_by_cases else None,
                v if scale.shared_by_cases else None,
            )
            np.testing.assert_allclose(cases.linearize(W).z, frozen.z, atol=1e-12)


def test_batch_norm_of_two_cases_is_legal_and_only_a_sign(rng):
    z = NORMALIZERS["batch"].normalize(*draw(rng, N=2)).z
    np.testing.assert_allclose(np.abs(z), 1)


def test_a_large_half_precision_batch_is_not_taken_for_rounding(rng):
    W, X = (M.astype(np.float16) for M in draw(rng, N=20_000))
    z = NORMALIZERS["batch"].normalize(W, X).z
    np.testing.assert_allclose(z.astype(float).std(axis=0), 1, atol=0.02)


def test_a_small_spread_around_a_large_mean_is_still_a_spread():
    X = np.array([[1e8], [1e8 + 1], [1e8 + 3]])
    z = NORMALIZERS["batch"].normalize([[1.0]], X).z
    np.testing.assert_allclose(z.ravel(), np.array([-4, -1, 5]) / np.sqrt(14), atol=1e-6)


# What is refused, and in which words. -----------------------------------------------------------

ONE_NEURON = (
    "A layer {} is taken over the neurons of a group, so it needs at least 2 of them per group; "
    "got 1 neuron, whose z would be 0, 0/0 or only a sign. Use more neurons or fewer groups."
)
ONE_CASE = (
    "A batch {} is taken over the cases, so it needs at least 2 of them; got 1 case, whose z "
    "would be 0, 0/0 or only a sign. Use more cases, or frozen statistics."
)
VANISHES = (
    "σ must not vanish, but {}, so there is nothing to divide by. Change that row, drop it, or "
    "use a larger eps with a batch or layer scale."
)
EYE = np.eye(3)
SPREAD = np.array([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 4.0]])
CONSTANT = np.full((3, 1), 0.1)

REFUSED_INPUT = {
    "one neuron, layer center": (("layer", "layer"), [[1, 2]], [[3, 4]], ONE_NEURON.format("mean")),
    "one neuron, layer scale": (
        ("none", "layer"),
        [[1, 2]],
        [[3, 4]],
        ONE_NEURON.format("variance"),
    ),
    "one case, batch center": (("batch", "batch"), EYE, EYE[:1], ONE_CASE.format("mean")),
    "one case, batch scale": (("none", "batch"), EYE, EYE[:1], ONE_CASE.format("variance")),
    "one feature, weight center": (
        ("weight", "weight"),
        [[1.0], [2.0]],
        [[1.0], [3.0]],
        "A weight center subtracts from each weight vector its own mean, so it needs at least "
        "2 features; got 1 feature, which leaves nothing. Use more features or another center.",
    ),
    "three cases of 0.1": (
        ("batch", "batch"),
        [[1.0]],
        CONSTANT,
        VANISHES.format("neuron 0 has a = μ in every case"),
    ),
    "a neuron that no case moves": (
        ("batch", "batch"),
        [[1.0, 0.0], [0.0, 1.0]],
        [[1.0, 0.1], [2.0, 0.1], [4.0, 0.1]],
        VANISHES.format("neuron 1 has a = μ in every case"),
    ),
    "equal weight vectors": (
        ("layer", "layer"),
        np.full((3, 3), 0.1),
        EYE,
        VANISHES.format("case 0 has a = μ at every neuron of a group"),
    ),
    "a case of zeros": (
        ("none", "layer"),
        EYE,
        [[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]],
        VANISHES.format("case 1 has a = μ at every neuron of a group"),
    ),
    "a case at the mean of the batch": (
        ("batch", "layer"),
        EYE,
        [[1.0, 0.0, 0.0], [0.0, 0.1, 0.0], [0.5, 0.05, 0.0]],
        VANISHES.format("case 2 has a = μ at every neuron of a group"),
    ),
    "a zero weight vector": (
        ("none", "weight"),
        [[1.0, 2.0], [0.0, 0.0]],
        [[1.0, 1.0]],
        VANISHES.format("the centered weight vector of neuron 1 is zero"),
    ),
    "a constant weight vector": (
        ("weight", "weight"),
        [[1.0, 2.0, 4.0], [0.1, 0.1, 0.1]],
        EYE,
        VANISHES.format("the centered weight vector of neuron 1 is zero"),
    ),
    "NaN": (
        ("layer", "layer"),
        EYE,
        [[1.0, np.nan, np.inf]],
        "`X` must hold finite numbers; got 2 NaN or infinite among 3. Remove or impute them first.",
    ),
    "features that differ": (
        ("layer", "layer"),
        np.ones((2, 3)),
        np.ones((4, 5)),
        "`W` (H, D) and `X` (N, D) must have the same number of features D; "
        "got W of shape (2, 3) and X of shape (4, 5).",
    ),
    "a vector of weights": (
        ("layer", "layer"),
        [1.0, 2.0],
        EYE,
        "`W` must have 2 axes; got an array of shape (2,).",
    ),
    "rows of different lengths": (
        ("layer", "layer"),
        [[1.0], [2.0, 3.0]],
        EYE,
        "`W` must be a rectangular array of numbers; got rows of different lengths.",
    ),
    "strings": (
        ("layer", "layer"),
        EYE,
        [["a", "b", "c"]],
        "`X` must hold real numbers; got elements of type <U1.",
    ),
    "complex numbers": (
        ("layer", "layer"),
        EYE * 1j,
        EYE,
        "`W` must hold real numbers; got elements of type complex128.",
    ),
    "no case": (
        ("none", "weight"),
        EYE,
        np.empty((0, 3)),
        "`X` must not be empty; got an array of shape (0, 3).",
    ),
    "overflowing summed inputs": (
        ("layer", "layer"),
        EYE * 1e200,
        EYE * 1e200,
        "The summed inputs overflow float64: the largest |x| is 1e+200 and the largest |w| 1e+200. "
        "Scale them down or use a wider type.",
    ),
    "overflowing summed inputs that the center makes equal": (
        ("batch", "batch"),
        [[1e160]],
        [[1e150], [1e150 * (1 + 1e-3)], [1e150]],
        "The summed inputs overflow float64: the largest |x| is 1e+150 and the largest |w| 1e+160. "
        "Scale them down or use a wider type.",
    ),
    "a standard deviation below the normal numbers": (
        ("batch", "batch"),
        [[1e-160]],
        [[1e-150], [2e-150], [4e-150]],
        "σ must not be below the smallest normal number of float64, 2.23e-308; got σ = 1.25e-310. "
        "Scale W or X up, or use a wider type.",
    ),
}


@pytest.mark.parametrize(
    ("words", "W", "X", "sentence"), REFUSED_INPUT.values(), ids=REFUSED_INPUT.keys()
)
def test_undefined_input_is_refused_in_a_sentence(words, W, X, sentence):
    for use in (GRID[words].normalize, GRID[words].linearize):
        with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
            use(W, X)


def test_an_overflow_of_the_summed_inputs_alone_is_refused_too():
    """The center removes the large mean, so C is finite where A is not."""
    W, X = np.ones((1, 1), np.float16) * 250, np.full((3, 1), 300, np.float16)
    X[1] = 301
    sentence = (
        "The summed inputs overflow float16: the largest |x| is 301 and the largest |w| 250. "
        "Scale them down or use a wider type."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        GRID["batch", "none"].normalize(W, X)


def test_an_eps_below_rounding_does_not_hide_a_zero_variance():
    half = np.ones((3, 1), np.float16)
    sentence = VANISHES.format("neuron 0 has a = μ in every case to within rounding")
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        Normalizer("batch", "batch", eps=1e-12).normalize(half[:1], half)


def test_eps_gives_a_constant_summed_input_the_value_zero():
    z = Normalizer("batch", "batch", eps=1e-5).normalize([[1.0]], CONSTANT).z
    np.testing.assert_allclose(z, 0, atol=1e-13)


REFUSED_WORDS = {
    "unknown center": (
        {"center": "instance", "scale": "layer"},
        f"`center` must be one of {', '.join(CENTERS)}; got 'instance'.",
    ),
    "unknown scale": (
        {"center": "layer", "scale": "std"},
        f"`scale` must be one of {', '.join(SCALES)}; got 'std'.",
    ),
    "unknown statistics": (
        {"center": "batch", "scale": "batch", "statistics": "running"},
        "`statistics` must be one of current, frozen; got 'running'.",
    ),
    "no groups": (
        {"center": "layer", "scale": "layer", "groups": 0},
        "`groups` must be a whole number from 1 up; got 0.",
    ),
    "half a group": (
        {"center": "layer", "scale": "layer", "groups": 1.5},
        "`groups` must be a whole number from 1 up; got 1.5.",
    ),
    "a float for groups": (
        {"center": "layer", "scale": "layer", "groups": 2.0},
        "`groups` must be a whole number from 1 up; got 2.0.",
    ),
    "groups without a layer word": (
        {"center": "batch", "scale": "batch", "groups": 2},
        "`groups` splits the neurons that a layer statistic averages over; got groups=2 with "
        "center 'batch' and scale 'batch'. Use groups=1, or the word 'layer'.",
    ),
    "negative eps": (
        {"center": "layer", "scale": "layer", "eps": -1e-5},
        "`eps` must be a finite number from 0 up; got -1e-05.",
    ),
    "eps that is no number": (
        {"center": "layer", "scale": "layer", "eps": float("nan")},
        "`eps` must be a finite number from 0 up; got nan.",
    ),
    "eps in words": (
        {"center": "layer", "scale": "layer", "eps": "1e-5"},
        "`eps` must be a finite number from 0 up; got '1e-5'.",
    ),
    "frozen without a batch word": (
        {"center": "layer", "scale": "layer", "statistics": "frozen"},
        "`statistics='frozen'` freezes batch statistics; center 'layer' and scale 'layer' have "
        "none. Use 'current'.",
    ),
}


@pytest.mark.parametrize(
    ("arguments", "sentence"), REFUSED_WORDS.values(), ids=REFUSED_WORDS.keys()
)
def test_a_normalizer_that_means_nothing_is_refused_in_a_sentence(arguments, sentence):
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        Normalizer(**arguments)


@pytest.mark.parametrize("words", [("layer", "none"), ("none", "layer"), ("layer", "layer")])
def test_groups_must_divide_the_neurons(words, rng):
    W, X = draw(rng, H=4)
    sentence = "`groups` must divide the number of neurons; got 3 groups for 4 neurons."
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        Normalizer(*words, groups=3).normalize(W, X)


def test_as_many_groups_as_neurons_is_one_neuron_per_group(rng):
    W, X = draw(rng, H=4)
    with pytest.raises(ValueError, match=f"^{re.escape(ONE_NEURON.format('mean'))}$"):
        Normalizer("layer", "layer", groups=4).normalize(W, X)


FROZEN = Normalizer("batch", "batch", statistics="frozen")
REFUSED_REFERENCES = {
    "none": (
        None,
        "Frozen batch statistics come from a reference batch; got none. Give reference=(W, X).",
    ),
    "NaN": (
        (EYE, EYE * np.nan),
        "`reference[1]` must hold finite numbers; got 9 NaN or infinite among 9. "
        "Remove or impute them first.",
    ),
    "a number": (5j, "`reference` must be a list of two arrays, W and X; got 5j."),
    "one array": ((EYE,), "`reference` must be a pair (W, X); got 1 entries."),
    "another layer": (
        (EYE[:1], EYE),
        "`reference` must be a batch (W, X) of the same layer, W of shape (3, 3) and X with 3 "
        "features; got shapes (1, 3) and (3, 3).",
    ),
    "more neurons": (
        (np.ones((4, 3)), EYE),
        "`reference` must be a batch (W, X) of the same layer, W of shape (3, 3) and X with 3 "
        "features; got shapes (4, 3) and (3, 3).",
    ),
    "one case": (
        (EYE, EYE[:1]),
        VANISHES.format("neuron 0 has a = μ in every case of the reference batch"),
    ),
    "three cases of 0.1": (
        (SPREAD, np.column_stack([CONSTANT, EYE[:, :2]])),
        VANISHES.format("neuron 0 has a = μ in every case of the reference batch"),
    ),
}


@pytest.mark.parametrize(
    ("reference", "sentence"), REFUSED_REFERENCES.values(), ids=REFUSED_REFERENCES.keys()
)
def test_a_reference_batch_without_statistics_is_refused_in_a_sentence(reference, sentence):
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        FROZEN.normalize(EYE, SPREAD, reference)


@pytest.mark.parametrize(
    ("words", "statistics"),
    [
        *((words, "current") for words in GRID),
        *((words, "frozen") for words in pairs(shared_by_cases=True)),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(value),
)
def test_what_is_undefined_at_a_size_is_what_normalize_refuses_there(words, statistics, rng):
    normalizer = Normalizer(*words, statistics=statistics)
    for N, H, D in np.ndindex(3, 3, 3):
        W, X = rng.standard_normal((H + 1, D + 1)), rng.standard_normal((N + 1, D + 1))
        reference = (W, rng.standard_normal((5, D + 1))) if statistics == "frozen" else None
        reason = normalizer.undefined(N + 1, H + 1, D + 1, reference)
        if reason:
            with pytest.raises(ValueError, match=f"^{re.escape(reason)}$"):
                normalizer.normalize(W, X, reference)
        else:
            assert np.isfinite(normalizer.normalize(W, X, reference).z).all()


@pytest.mark.parametrize("words", GRID, ids="-".join)
def test_what_is_shared_is_what_another_case_or_neuron_moves(words, rng):
    """μ and σ of the first neuron and case, when another case, or another neuron, changes."""
    normalizer, W, X = GRID[words], rng.standard_normal((4, 3)), rng.standard_normal((5, 3))

    def statistics(W, X):
        found = normalizer.normalize(W, X)
        return found.mu[0, 0], np.broadcast_to(found.sigma, found.z.shape)[0, 0]

    other_case, other_neuron = X.copy(), W.copy()
    other_case[1:] += rng.standard_normal((4, 3))
    other_neuron[1:] += rng.standard_normal((3, 3))
    here = statistics(W, X)
    assert normalizer.shared_by_cases == (not np.allclose(statistics(W, other_case), here))
    assert normalizer.shared_by_neurons == (not np.allclose(statistics(other_neuron, X), here))


def test_a_word_acts_on_the_weights_where_they_are_averaged_over_their_features(subtests):
    for words in GRID:
        with subtests.test(words=words):
            assert GRID[words].normalizes_weights == ("weight" in words)


def test_a_scale_cannot_be_half_stated():
    assert Scale.__abstractmethods__ == {"variance", "differential", "adjoint", "radial"}
    assert AveragingScale.__abstractmethods__ == {"average"}
