"""The null space of the Fisher information, its dimension, and the reasons for each direction."""

from dataclasses import replace

import numpy as np
import pytest

from normgeo import (
    FAMILIES,
    GRID,
    NORMALIZERS,
    TRANSFORMS,
    NormalizedGLM,
    Normalizer,
    certify,
    expected_dimension,
    explain,
    fisher,
    null_space,
)
from normgeo.base.subspaces import orthonormal, principal_angles, without
from normgeo.datasets.datasets import load
from normgeo.fisher.which import WhichFisher
from tests.drawn import model_and_cases
from tests.refused import says

every_normalizer = pytest.mark.pairwise("words", GRID, ids="-".join)
every_family = pytest.mark.pairwise("family", FAMILIES)
INDEPENDENT = [key for key, family in FAMILIES.items() if not family.coupled]


def found(model, X, weights_only=True, coupling="exact"):
    null = null_space(fisher(model, X, coupling=coupling), weights_only)
    return null, explain(model, X, null)


def credited(explanation):
    return {reason.key: reason.added for reason in explanation.reasons if reason.added}


# The factor, which keeps what squaring loses.


@every_family
@pytest.mark.parametrize("size", [0.1, 1.0, 30.0])
def test_root_of_the_covariance_squares_to_it(family, size, rng):
    s, V = size * rng.standard_normal((6, 4)), rng.standard_normal((6, 4))
    R = np.stack(
        [FAMILIES[family].covariance_root_operator(s)(np.eye(4)[[h] * 6]) for h in range(4)], -1
    )
    covariance = FAMILIES[family].covariance(s)
    error = np.abs(R.mT @ R - covariance).max(axis=(1, 2))
    assert (error <= 1e-15 * np.maximum(np.abs(covariance).max(axis=(1, 2)), 1e-10)).all()
    applied = FAMILIES[family].covariance_root_operator(s)(np.stack([V, 2 * V]))
    np.testing.assert_allclose(applied[1], 2 * np.einsum("nij,nj->ni", R, V), rtol=1e-9, atol=1e-12)


@every_normalizer
@every_family
@pytest.mark.pairwise("coupling", ["exact", "paper"])
def test_factor_squares_to_the_fisher(words, family, coupling):
    F = fisher(*model_and_cases(GRID[words], family), coupling=coupling)
    B, dense = F.factor_times(np.eye(F.layout.size)), F.to_dense()
    np.testing.assert_allclose(B.T @ B, dense, rtol=0, atol=1e-13 * np.abs(dense).max())


@pytest.mark.parametrize("dependence", [1e-3, 1e-6, 1e-9, 1e-12, 1e-15, 0])
def test_a_singular_value_of_1e_6_is_told_from_one_of_1e_12(dependence):
    model, X = model_and_cases(NORMALIZERS["standard"], H=2)
    X[:, 4] = X[:, 0] + dependence * X[:, 4]
    null = null_space(fisher(model, X))
    assert null.dimension == (2 if dependence == 0 else 0)
    assert null.undecided == (2 if dependence == 1e-15 else 0)
    if dependence == 1e-15:  # the features still differ, perhaps only by rounding
        assert null.notes == (
            "2 of the directions cannot be decided in float64: of 2 with an effect up to "
            f"{null.rounding:.2g}, which is rounding, exact arithmetic with these very weights and "
            "inputs counts 0 as null.",
        )
    exact = np.linalg.svd(X / np.sqrt((X**2).sum(axis=0)), compute_uv=False)
    np.testing.assert_allclose(null.singular_values[::2], exact, rtol=1e-6, atol=1e-15)
    # Negative control: eigenvalues of F alone have lost the smaller ones.
    if dependence < 1e-9:
        assert abs(np.linalg.eigvalsh(fisher(model, X).weights())[0]) > 2 * exact[-1] ** 2


def test_batch_norm_is_decided_by_the_features_across_z():
    """Neuron by neuron, E = (I − z zᵀ/N) X̃ with columns in the units of X."""
    model, X = model_and_cases(NORMALIZERS["batch"])
    z = model.normalizer.normalize(model.W, X).z
    across = np.eye(40) - z.T[:, :, None] * z.T[:, None, :] / 40
    E = across @ (X - X.mean(axis=0)) / np.sqrt((X**2).sum(axis=0))
    expected = np.sort(np.linalg.svd(E, compute_uv=False).reshape(-1))[::-1]
    found = null_space(fisher(model, X)).singular_values
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-14)


def test_what_float64_cannot_decide_is_neither_null_nor_not_null():
    model, X = model_and_cases(NORMALIZERS["standard"], H=1)
    X[:, 4] = X[:, 0] + 1e-13 * X[:, 4]
    null = null_space(fisher(model, X))
    assert null.rounding < null.singular_values[-1] < null.tolerance
    assert (null.seen, null.undecided, null.dimension, null.clear) == (4, 1, 0, False)
    assert null.counts == "0 null, 1 cannot be decided in float64"
    assert null.answers == ("not null",) * 4 + ("undecided",)
    assert null.notes == (
        f"1 of the directions cannot be decided in float64: singular values between "
        f"{null.rounding:.2g}, up to which all is rounding, and {null.tolerance:.2g}, above which "
        "none is.",
    )
    # A custom tolerance changes only the upper end.
    (last,) = null.singular_values[-1:]
    assert null_space(fisher(model, X), tolerance=0.9 * last).clear
    assert null_space(fisher(model, X), tolerance=1.1 * last).undecided == 1


@every_normalizer
@every_family
@pytest.mark.pairwise("weights_only", [True, False])
def test_basis_is_that_of_the_jacobian(words, family, weights_only):
    """Independent method: the singular values of the whole factor, column by column."""
    model, X = model_and_cases(GRID[words], family)
    F = fisher(model, X)
    null = null_space(F, weights_only)
    places = F.layout.weights if weights_only else np.arange(F.layout.size)
    B = F.factor_times(np.eye(F.layout.size)[:, places])
    s = np.linalg.svd(B, compute_uv=False)
    assert null.singular_values.shape == s.shape
    assert (np.diff(null.singular_values) <= 0).all()
    assert null.basis.shape == (F.layout.size, np.count_nonzero(s < 1e-10 * s[0]))
    np.testing.assert_allclose(null.basis.T @ null.basis, np.eye(null.dimension), atol=1e-13)
    if weights_only:
        assert not null.basis[F.layout.biases].any()
    null_values = [np.linalg.norm(F.factor_times(v[:, None])) for v in null.basis.T]
    assert max(null_values, default=0.0) < 1e-13 * s[0]
    assert null.which == F.which == WhichFisher("exact", N=40, phi=1.0)


@every_normalizer
def test_null_space_does_not_depend_on_units(words):
    """Neither on the size of the inputs nor on float32, whose rounding is known."""
    model, X = model_and_cases(GRID[words])
    dimension = null_space(fisher(model, X)).dimension
    for factor in (1e-8, 1e8):
        assert null_space(fisher(model, factor * X)).dimension == dimension
    narrow = [None if a is None else a.astype(np.float32) for a in (model.W, model.b, model.g)]
    model = NormalizedGLM(GRID[words], "gaussian", *narrow)
    null, explanation = found(model, X.astype(np.float32))
    assert null.dimension == dimension
    assert explanation.unexplained == 0


# Dimensions.

SIZES = [(4, 5, 1), (3, 7, 1), (6, 5, 1), (6, 2, 1), (4, 5, 2), (6, 4, 2), (8, 2, 2), (9, 3, 3)]
TABLE = {
    "gaussian": "0414 0414 5666 4858",
    "categorical": "5515 5515 5666 8858",
}


@pytest.mark.parametrize("family", TABLE)
def test_formula_gives_the_known_dimensions_for_4_neurons_and_5_features(family):
    centers = ("none", "batch", "layer", "weight")
    formula = {words: expected_dimension(GRID[words], 4, 5, family) for words in GRID}
    table = TABLE[family].split()
    assert [("").join(str(formula[c, s]) for s in centers) for c in centers] == table


@every_normalizer
@every_family
def test_dimension_follows_the_formula(words, family):
    # Only a layer statistic has groups.
    for H, D, G in (size for size in SIZES if size[2] == 1 or "layer" in words):
        for eps in (0.0, 0.2):
            normalizer = replace(GRID[words], groups=G, eps=eps)
            model, X = model_and_cases(normalizer, family, N=60, H=H, D=D)
            null, explanation = found(model, X)
            expected = expected_dimension(normalizer, H, D, family)
            assert null.dimension == expected, (H, D, G, eps)
            assert explanation.unexplained == 0, (H, D, G, eps)
            assert null.clear


@every_family
@pytest.mark.pairwise("words", [w for w in GRID if "batch" in w], ids="-".join)
def test_frozen_batch_statistics_explain_no_null_direction(words, family):
    normalizer = replace(GRID[words], statistics="frozen")
    for H, D in ((4, 5), (3, 7), (6, 4)):
        model, X = model_and_cases(normalizer, family, H=H, D=D)
        null, explanation = found(model, X)
        assert null.dimension == expected_dimension(normalizer, H, D, family), (H, D)
        assert explanation.unexplained == 0


@every_family
@pytest.mark.parametrize("words", [w for w in GRID if w[0] == "batch"], ids="-".join)
def test_a_frozen_mean_leaves_the_softmax_alone(words, family):
    """The mean is a constant, so the growth of the weights is visible for every scale."""
    normalizer = replace(GRID[words], statistics="frozen")
    for H, D in ((4, 5), (3, 7), (6, 4)):
        _, explanation = found(*model_and_cases(normalizer, family, H=H, D=D))
        assert set(credited(explanation)) <= {"softmax"}


@pytest.mark.parametrize("words", [w for w in GRID if w[1] != "weight"], ids="-".join)
def test_with_eps_only_recentering_directions_survive_an_averaging_scale(words):
    normalizer = replace(GRID[words], eps=0.1)
    _, explanation = found(*model_and_cases(normalizer))
    kept = {"layer": {"weight_matrix_recentering": 5}, "weight": {"weight_vector_offsets": 4}}
    assert credited(explanation) == kept.get(words[0], {})


@pytest.mark.parametrize("words", [w for w in GRID if w[1] == "weight"], ids="-".join)
def test_eps_takes_nothing_from_a_weight_scale(words):
    with_eps, without = (
        found(*model_and_cases(replace(GRID[words], eps=e)))[1] for e in (0.1, 0.0)
    )
    assert credited(with_eps) == credited(without) != {}


def test_expected_dimension_refuses_what_it_does_not_know():
    with says("`family` must be one of gaussian, bernoulli, poisson, categorical; got 'beta'."):
        expected_dimension(NORMALIZERS["layer"], 4, 5, "beta")
    with says("`groups` must divide the number of neurons; got 2 groups for 5 neurons."):
        expected_dimension(NORMALIZERS["group"], 5, 5, "gaussian")


# Tangents and their angles.


def tangent_angle(model, X, transform, null, seed=3):
    gamma = None
    if not transform.rescales:
        gamma = np.random.default_rng(seed).standard_normal(transform.gamma_shape(model.W, X))
    dW, _ = transform.tangent(model.W, X, gamma=gamma, index=1)
    flat = model.layout.pack(dW, 0 * model.b, None if model.g is None else 0 * model.b)
    return principal_angles(orthonormal(flat[:, None]), null.basis)[0][0]


WEIGHT_CHANGES = [t for t in TRANSFORMS.values() if t.matrix == "W"]


@every_normalizer
@every_family
def test_tangent_is_a_null_direction_exactly_where_the_change_is_certified(words, family):
    model, X = model_and_cases(GRID[words], family)
    null, explanation = found(model, X)
    for transform in WEIGHT_CHANGES:
        angle = tangent_angle(model, X, transform, null)
        reason = explanation.reason(transform.key)
        if certify(GRID[words], transform).invariant:
            assert angle < 1e-6
            assert reason.held == reason.span > 0
            assert reason.angle < 1e-6
        else:
            assert reason.held == 0
            # The softmax of the standard model ignores this change, although z changes.
            softmax = transform.key == "weight_matrix_recentering" and words == ("none", "none")
            assert (angle > 1e-3) != (family == "categorical" and softmax)


@pytest.mark.parametrize("family", INDEPENDENT)
def test_equation_13_of_layer_norm_has_no_null_directions(family):
    model, X = model_and_cases(NORMALIZERS["layer"], family)
    null, explanation = found(model, X, coupling="paper")
    assert null.which.coupling == "paper"
    assert null.dimension == explanation.explained == 0
    for key in ("weight_matrix_rescaling", "weight_matrix_recentering"):
        assert explanation.reason(key).angle == pytest.approx(np.pi / 2)
        assert tangent_angle(model, X, TRANSFORMS[key], null) == pytest.approx(np.pi / 2)


@pytest.mark.parametrize("words", [w for w in GRID if "layer" not in w], ids="-".join)
def test_equation_13_has_the_null_directions_without_a_layer_statistic(words):
    model, X = model_and_cases(GRID[words])
    exact, paper = (found(model, X, coupling=c)[1] for c in ("exact", "paper"))
    assert credited(exact) == credited(paper)


@every_normalizer
def test_more_tangents_than_null_directions_are_not_all_null(words):
    null, explanation = found(*model_and_cases(GRID[words]))
    more = [reason for reason in explanation.reasons if reason.span > null.dimension]
    assert more
    for reason in more:
        assert reason.null < reason.span
        assert reason.sentence.startswith(f"it changes the model: {reason.null} of its")
    # Reasons other than changes of weights have no tangents, and so no angles.
    assert all(len(reason.angles) == 0 for reason in explanation.reasons if not reason.span)


def test_angles_of_changes_that_change_the_model_are_reported():
    _, explanation = found(*model_and_cases(NORMALIZERS["layer"]))
    reason = explanation.reason("weight_vector_rescaling")
    assert (reason.span, reason.held, len(reason.angles)) == (4, 0, 4)
    assert reason.sentence == (
        "it changes the model: 1 of its 4 independent tangents are null directions, the others up "
        f"to {np.degrees(reason.angle):.3g}° from them."
    )


# Reasons.


@pytest.mark.parametrize("scale", ["batch", "weight"])
@pytest.mark.parametrize(("H", "D", "G"), [(4, 5, 1), (6, 4, 1), (6, 2, 1), (8, 2, 2)])
def test_more_neurons_than_features_let_centered_vectors_grow_together(scale, H, D, G):
    model, X = model_and_cases(Normalizer("layer", scale, groups=G), H=H, D=D)
    _, explanation = found(model, X)
    assert explanation.unexplained == 0
    assert credited(explanation).get("vectors_together", 0) == G * (max(1, H // G - D) - 1)
    assert explanation.reason("vectors_together").held == G * max(1, H // G - D)
    # The change itself, of finite size: rates c with Σ c_h w̃_h = 0 leave z unchanged.
    K = H // G
    W = model.W[:K] - model.W[:K].mean(axis=0)
    rates = np.linalg.svd(W.T)[2][-1]
    changed = model.W.copy()
    changed[:K] = (1 + 0.3 * rates)[:, None] * W
    z = model.normalizer.normalize(model.W, X).z
    np.testing.assert_allclose(model.normalizer.normalize(changed, X).z, z, atol=1e-12)


@pytest.mark.parametrize("name", ["standard", "batch", "weight", "layer", "centered_weight"])
def test_fewer_cases_than_features_are_the_data(name):
    N, D, H = 6, 10, 4
    model, X = model_and_cases(NORMALIZERS[name], N=N, D=D, H=H)
    _, explanation = found(model, X)
    missing = {"standard": 4, "batch": 5, "weight": 3, "layer": 4, "centered_weight": 2}[name]
    held = explanation.reason("data").held
    assert held == (H - 1 if name == "layer" else H) * missing
    assert explanation.unexplained == 0
    # Of the rates of all cases, one is common to all: the re-scaling of the matrix.
    assert credited(explanation).get("case_factors", 0) == (N - 1 if name == "layer" else 0)
    assert explanation.reason("data").sentence == (
        f"The 6 cases span {5 if name == 'batch' else 6} of 10 dimensions (constant features: 0): "
        "weights along the missing dimensions change no output."
    )


@pytest.mark.parametrize("name", NORMALIZERS)
@pytest.mark.parametrize("weights_only", [True, False])
def test_constant_and_dependent_features_are_the_data(name, weights_only):
    model, X = model_and_cases(NORMALIZERS[name], H=6)
    clean = null_space(fisher(model, X), weights_only).dimension
    X[:, 2] = 0.1
    X[:, 4] = X[:, 0] - X[:, 1]
    null, explanation = found(model, X, weights_only)
    assert explanation.unexplained == 0
    assert credited(explanation).get("data", 0) == null.dimension - clean


def test_digits_have_three_constant_pixels_and_one_that_a_single_case_looks_at():
    X = load("digits", standardize=False).raw.astype(float)
    H, D = 10, X.shape[1]
    constant = np.count_nonzero(np.ptp(X, axis=0) == 0)
    seen_once = np.count_nonzero(np.count_nonzero(X, axis=0) == 1)
    assert (constant, seen_once) == (3, 1)
    for name, expected in (
        ("batch", {"weight_matrix_rescaling": 1, "weight_vector_rescaling": H - 1, "data": 3 * H}),
        (
            "layer",
            {
                "weight_matrix_rescaling": 1,
                "weight_matrix_recentering": D,
                "data": 3 * (H - 1),
                "case_factors": seen_once,
            },
        ),
    ):
        rng = np.random.default_rng(0)
        model = NormalizedGLM.random(NORMALIZERS[name], "gaussian", H, D, rng)
        null, explanation = found(model, X)
        assert credited(explanation) == expected
        assert null.clear


@pytest.mark.parametrize("words", [w for w in GRID if w[1] == "none"], ids="-".join)
def test_gain_and_scale_are_traded_where_nothing_normalizes_the_scale(words):
    model, X = model_and_cases(GRID[words])
    explanation = found(model, X, weights_only=False)[1]
    expected = {"none": 0, "batch": 4, "layer": 1, "weight": 4}[words[0]]
    assert credited(explanation).get("gain_for_scale", 0) == expected
    assert explanation.unexplained == 0


@every_normalizer
@every_family
def test_every_null_direction_of_the_whole_fisher_is_explained(words, family):
    null, explanation = found(*model_and_cases(GRID[words], family), weights_only=False)
    assert explanation.unexplained == 0
    assert explanation.explained == null.dimension
    softmax = credited(explanation).get("softmax", 0)
    assert (softmax > 0) == (family == "categorical")


def test_softmax_is_credited_with_what_it_ignores_and_not_with_the_rest():
    _, explanation = found(*model_and_cases(NORMALIZERS["standard"], "categorical"))
    assert credited(explanation) == {"softmax": 5}
    shift = explanation.reason("weight_matrix_recentering")
    assert shift.angle < 1e-6
    assert shift.sentence == "z changes, but the distribution of y does not."


def test_zero_gain_hides_a_neuron_unless_a_layer_statistic_shows_it():
    g = np.array([1.0, 0.0, 1.0, 2.0])
    hidden = credited(found(*model_and_cases(NORMALIZERS["batch"], g=g))[1])
    assert hidden == {
        "weight_matrix_rescaling": 1,
        "weight_vector_rescaling": 3,
        "zero_gains": 4,
    }
    assert "zero_gains" not in credited(found(*model_and_cases(NORMALIZERS["layer"], g=g))[1])


def test_few_cases_are_counted_where_all_parameters_move():
    model, X = model_and_cases(NORMALIZERS["layer"], N=2)
    _, explanation = found(model, X, weights_only=False)
    assert credited(explanation)["cases"] == 1
    assert explanation.unexplained == 0
    assert explanation.reason("cases").sentence == (
        "The outputs of the 2 cases can change in only 8 independent ways, and there are 28 "
        "parameters."
    )


@pytest.mark.parametrize("weights_only", [True, False])
def test_two_neurons_under_layer_norm_leave_only_signs(weights_only):
    model, X = model_and_cases(NORMALIZERS["layer"], H=2)
    null, explanation = found(model, X, weights_only)
    assert credited(explanation) == {"signs": 10}
    assert expected_dimension(NORMALIZERS["layer"], 2, 5, "gaussian") == 10
    assert explanation.reason("signs").sentence == (
        "z = ±1 everywhere: of two numbers, centered and scaled together, only the sign is left. "
        "No small change of the weights changes the model, and F_WW = 0."
    )
    zero = ("No small change of the weights changes the outputs: F is zero to rounding.",)
    assert null.notes == (zero if weights_only else ())
    assert null.clear


@pytest.mark.parametrize("name", ["batch", "layer"])
def test_two_cases_or_pairs_in_groups_leave_only_signs_as_well(name):
    normalizer = Normalizer(name, name, groups=2 if name == "layer" else 1)
    explanation = found(*model_and_cases(normalizer, N=2 if name == "batch" else 30))[1]
    assert credited(explanation) == {"signs": 20}


def test_saturated_outputs_are_named():
    b = np.array([800.0, -800.0, 0.0, 0.0])
    _, explanation = found(*model_and_cases(NORMALIZERS["batch"], "bernoulli", b=b))
    assert credited(explanation)["saturation"] == 2 * 4
    null, explanation = found(*model_and_cases(NORMALIZERS["batch"], "categorical", b=b))
    assert explanation.unexplained == 0
    assert null.dimension == 20
    assert null.notes == (
        "The categorical outputs are saturated: their mean variance A'' is 0, so F is nearly zero, "
        "and what it does not see is not always a symmetry.",
        "No small change of the weights changes the outputs: F is zero to rounding.",
    )


def test_nearly_saturated_softmax_keeps_its_symmetries_apart():
    """p = 1 − 1e-26: F is nearly zero, and its rank is still decided."""
    b = np.array([60.0, 0.0, 0.0, 0.0])
    null, explanation = found(*model_and_cases(NORMALIZERS["batch"], "categorical", b=b))
    assert null.dimension == expected_dimension(NORMALIZERS["batch"], 4, 5, "categorical")
    assert explanation.unexplained == 0
    assert "saturated" in null.notes[0]
    assert null.clear


def test_a_direction_without_a_reason_is_left_unexplained(rng):
    """Negative control: a direction that is not null."""
    model, X = model_and_cases(NORMALIZERS["layer"])
    null = null_space(fisher(model, X))
    other = without(rng.standard_normal((len(null.coordinates), 1)), null.coordinates)
    wrong = replace(null, coordinates=np.concatenate([null.coordinates, other], axis=1))
    explanation = explain(model, X, wrong)
    assert (explanation.explained, explanation.unexplained) == (null.dimension, 1)


@every_normalizer
def test_reasons_are_credited_once_and_overlaps_are_told(words):
    _, explanation = found(*model_and_cases(GRID[words], "categorical"), weights_only=False)
    for reason in explanation.reasons:
        assert reason.added + reason.overlap == reason.held
        assert 0 <= reason.added <= reason.held
    keys = [reason.key for reason in explanation.reasons]
    assert keys[:5] == [t.key for t in WEIGHT_CHANGES]
    assert keys[-2:] == ["softmax", "saturation"] or keys[-1] == "softmax"


# Bad input.


def test_bad_input_is_answered_in_a_full_sentence():
    model, X = model_and_cases(NORMALIZERS["layer"])
    F = fisher(model, X)
    with says("`tolerance` must be a finite number above 0 and below 1; got 2."):
        null_space(F, tolerance=2)
    with says(
        "A null space is that of the whole Fisher information; got form='blocks', which "
        "leaves the parts between neurons out. Use 'operator' or 'dense'."
    ):
        null_space(fisher(model, X, "blocks"))
    with says(
        "A factor B with F = BᵀB is known of the whole Fisher information; got form='blocks', "
        "which leaves parts of it out. Use 'operator' or 'dense'."
    ):
        fisher(model, X, "blocks").factor_times(np.eye(F.layout.size))
    other, _ = model_and_cases(NORMALIZERS["layer"], H=3)
    with says(
        "`null` must be a null space of this model, with ParameterLayout(neurons=3, features=5, "
        "has_gain=True); got one with ParameterLayout(neurons=4, features=5, has_gain=True)."
    ):
        explain(other, X, null_space(F))
    dense, operator = null_space(fisher(model, X, "dense")), null_space(F)
    np.testing.assert_allclose(principal_angles(dense.basis, operator.basis)[0], 0, atol=1e-9)
