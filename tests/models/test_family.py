"""What every family must satisfy, by finite differences, sampling and definition."""

import pickle
from typing import final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import special, stats

from normgeo.models.families import FAMILIES
from normgeo.models.family import Family
from tests.refused import says


@final
class TwoTrials(Family):
    """Successes in two trials: what a family must state, and no more."""

    key, title, support = "two_trials", "two-trial binomial", "0, 1 or 2"
    formula = r"2 \log(1 + e^s)"

    def _log_partition(self, s):
        return 2 * np.logaddexp(0, s)

    def _mean(self, s):
        return 2 * special.expit(s)

    def _variance(self, s):
        return 2 * special.expit(s) * special.expit(-s)

    def _log_base(self, y, phi):
        return np.log(special.binom(2, y))

    def _sample(self, s, rng, phi):
        return rng.binomial(2, special.expit(s))

    def _supports(self, y):
        return np.isin(y, (0, 1, 2))


WITH_NEWCOMER = {**FAMILIES, "two_trials": TwoTrials()}
every_family = pytest.mark.pairwise("family", WITH_NEWCOMER.values(), ids=[*WITH_NEWCOMER])


def natural(seed=0, N=6, H=4, size=1.5):
    return size * np.random.default_rng(seed).standard_normal((N, H))


@every_family
def test_mean_is_the_slope_of_the_log_partition(family):
    s, h = natural(), 1e-3
    for j in range(s.shape[1]):
        e = h * np.eye(s.shape[1])[j]
        A = [
            family.log_partition(s + k * e).reshape(len(s), -1).sum(axis=1) for k in (-2, -1, 1, 2)
        ]
        slope = (A[0] - 8 * A[1] + 8 * A[2] - A[3]) / (12 * h)
        np.testing.assert_allclose(family.mean(s)[:, j], slope, rtol=1e-9, atol=1e-11)


@every_family
def test_covariance_is_the_slope_of_the_mean(family):
    s, V, h = natural(), natural(1), 1e-3
    f = [family.mean(s + k * h * V) for k in (-2, -1, 1, 2)]
    slope = (f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12 * h)
    np.testing.assert_allclose(family.covariance_times(s, V), slope, rtol=1e-8, atol=1e-9)


@every_family
@pytest.mark.pairwise("H", [1, 2, 5])
def test_covariance_forms_agree(family, H):
    s, V = natural(2, H=H), natural(3, H=H)
    dense = family.covariance(s)
    assert dense.shape == (6, H, H)
    np.testing.assert_array_equal(dense, dense.swapaxes(1, 2))
    product = np.einsum("nij,nj->ni", dense, V)
    np.testing.assert_allclose(family.covariance_times(s, V), product, rtol=1e-12, atol=1e-15)
    diagonal = np.einsum("nii->ni", dense)
    np.testing.assert_allclose(family.covariance_diagonal(s), diagonal, rtol=1e-13, atol=1e-16)
    assert family.coupled or not (dense * (1 - np.eye(H))).any()
    stack = np.stack([V, 2 * V])
    np.testing.assert_allclose(family.covariance_operator(s)(stack)[1], 2 * product, atol=1e-13)


@every_family
@given(st.data())
def test_kl_is_positive_and_zero_only_for_equal_means(family, data):
    elements = st.floats(-600, 600)
    s, other = (data.draw(arrays(float, (1, 3), elements=elements)) for _ in range(2))
    divergence = family.kl(s, other)
    assert divergence.shape == (1,)
    assert divergence[0] >= 0
    assert family.kl(s, s)[0] == 0
    if not np.allclose(family.mean(s), family.mean(other), rtol=1e-12, atol=1e-12):
        assert divergence[0] > 0


@every_family
def test_kl_is_half_the_quadratic_form_of_the_covariance_for_small_changes(family):
    s, V = natural(), natural(1)
    quadratic = (V * family.covariance_times(s, V)).sum(axis=1)
    for step in (1e-3, 1e-6):
        ratio = 2 * family.kl(s, s + step * V) / (step**2 * quadratic)
        np.testing.assert_allclose(ratio, 1, atol=2 * step + 1e-8)


@every_family
@pytest.mark.pairwise("far", [40.0, 1e3, 1e150])
def test_values_stay_finite_at_the_far_ends(family, far):
    far = min(far, 700) if family.key == "poisson" else far
    s = np.array([[far, -far, 0], [-far, -far, far], [0, 1, -far]])
    y = family.encode([0, 0, 2] if family.coupled else np.ones((3, 3)), 3)
    for result in (
        family.log_partition(s),
        family.mean(s),
        family.covariance(s),
        family.covariance_times(s, s),
        family.kl(s, s[::-1]),
        family.log_likelihood(y, s),
    ):
        assert np.isfinite(result).all()


@every_family
def test_log_likelihood_depends_on_s_as_equation_10_says(family):
    s, t = natural(), natural(1)
    phi = 0.7 if family.has_dispersion else 1.0
    y = family.sample(s, np.random.default_rng(0), phi)
    change = family.log_likelihood(y, t, phi) - family.log_likelihood(y, s, phi)
    A = (family.log_partition(t) - family.log_partition(s)).reshape(6, -1).sum(axis=1)
    np.testing.assert_allclose(change, ((y * (t - s)).sum(axis=1) - A) / phi, rtol=1e-10)


@every_family
def test_likelihood_of_fixed_outputs_is_the_log_likelihood_and_the_residual(family):
    phi = 0.7 if family.has_dispersion else 1.0
    y = family.sample(natural(), np.random.default_rng(0), phi)
    fixed = family.likelihood(y, y.shape[1], phi)
    some = np.array([4, 0, 5])
    for s in (natural(1), 30 * natural(2)):
        for point, of, at in (
            (fixed.at(s), y, s),
            (fixed.rows(some).at(s[some]), y[some], s[some]),
        ):
            expected = family.log_likelihood(of, at, phi).mean()
            assert point.log_likelihood == pytest.approx(expected, rel=1e-13)
            np.testing.assert_allclose(point.residual, of - family.mean(at), rtol=0, atol=1e-14)


@every_family
def test_likelihood_refuses_what_the_log_likelihood_refuses(family):
    y = family.sample(natural(), np.random.default_rng(0))
    fixed = family.likelihood(y, y.shape[1])
    with pytest.raises(ValueError, match=r"^`y` must have one value for each case and output"):
        fixed.at(natural()[:2])
    with pytest.raises(ValueError, match=r"^`s` must hold finite numbers"):
        fixed.at(natural() * np.nan)
    with pytest.raises(ValueError, match=r"^`y` must have one column for each|^Class labels|^Rows"):
        family.likelihood(np.zeros((3, 2)), 3)


@every_family
def test_samples_have_the_mean_and_the_covariance(family):
    row, n = np.array([0.6, -0.8, 1.1]), 40_000
    phi = 0.5 if family.has_dispersion else 1.0
    s = np.tile(row, (n, 1))
    y = family.sample(s, np.random.default_rng(11), phi)
    np.testing.assert_array_equal(family.encode(y, 3), y)
    np.testing.assert_array_equal(family.sample(s, np.random.default_rng(11), phi), y)
    centered = y - family.mean(row[None])
    errors = centered.std(axis=0) / np.sqrt(n)
    assert (np.abs(centered.mean(axis=0)) < 5 * errors).all()
    products = centered[:, :, None] * centered[:, None, :]
    covariance = phi * family.covariance(row[None])[0]
    errors = products.std(axis=0) / np.sqrt(n)
    assert (np.abs(products.mean(axis=0) - covariance) < 5 * errors + 1e-12).all()


# A newcomer


@pytest.mark.parametrize("size", [1e-3, 1.0, 5.0])
def test_a_new_family_gets_its_kl_from_its_log_partition(size):
    """Two trials are two Bernoulli outputs, whose KL keeps its digits by a formula of its own."""
    rng = np.random.default_rng(5)
    s, change = size * rng.uniform(-1, 1, (4, 3)), rng.uniform(-1, 1, (4, 3))
    for step in (1e-12, 1e-6, 1e-3, 0.3, 1.0, 3.9, 4.1, 30.0, 1000.0):
        t = s + step * change
        expected = 2 * FAMILIES["bernoulli"].kl(s, t)
        np.testing.assert_allclose(TwoTrials().kl(s, t), expected, rtol=1e-12)


def test_kl_of_nearby_models_keeps_its_digits_where_outputs_are_sure(subtests):
    """The log partition is up to 600 here, and the KL from 1e-11 down to 1e-130."""
    for s in [-300.0, -30.0, 30.0, 300.0]:
        with subtests.test(s=s):
            near = s + np.array([[1e-5, -0.1, 3.9]])
            here = np.full((1, 3), s)
            expected = 2 * FAMILIES["bernoulli"].kl(here, near)
            assert 0 < expected[0] < 1e-11
            np.testing.assert_allclose(TwoTrials().kl(here, near), expected, rtol=1e-12)


@final
class PlainSoftmax(Family):
    """The categorical family, with nothing restated that would keep more digits."""

    key, title, support, formula = "softmax", "softmax", "one-hot", r"\log \sum_h e^{s_h}"
    coupled = True

    def _log_partition(self, s):
        return special.logsumexp(s, axis=1)

    def _mean(self, s):
        return special.softmax(s, axis=1)

    def _variance(self, s):
        return self._mean(s) * (1 - self._mean(s))

    def covariance_operator(self, s):
        p = self._mean(s)
        return lambda V: p * (V - (p * V).sum(axis=1, keepdims=True))

    def _sample(self, s, rng, phi):
        return rng.multinomial(1, self._mean(s))

    def _supports(self, y):
        return np.isin(y, (0, 1))


def test_a_new_coupled_family_gets_its_kl_from_its_log_partition(subtests):
    for step in [1e-9, 1e-3, 0.3, 3.9, 4.1, 100.0]:
        with subtests.test(step=step):
            s, d = natural(), step * natural(1) / np.abs(natural(1)).max()
            expected = FAMILIES["categorical"].kl(s, s + d)
            np.testing.assert_allclose(PlainSoftmax().kl(s, s + d), expected, rtol=1e-11)
            y = np.eye(4)[[0, 1, 2, 3, 0, 1]]
            expected = FAMILIES["categorical"].log_likelihood(y, s)
            np.testing.assert_allclose(PlainSoftmax().log_likelihood(y, s), expected, rtol=1e-13)


def test_a_new_coupled_family_gets_its_covariance_products_from_its_covariance():
    s, U = natural(), natural(1)
    p = special.softmax(s, axis=1)
    covariance = np.array([np.diag(of_case) - np.outer(of_case, of_case) for of_case in p])
    expected = np.einsum("ni,nij,nj->ij", U, covariance, U)
    np.testing.assert_allclose(PlainSoftmax().covariance_products(s, U), expected, atol=1e-14)


def test_a_new_family_has_the_probabilities_of_scipy():
    y, s = np.array([[0.0], [1.0], [2.0]]), np.full((3, 1), 0.7)
    expected = stats.binom(2, special.expit(0.7)).logpmf([0, 1, 2])
    np.testing.assert_allclose(TwoTrials().log_likelihood(y, s), expected, rtol=1e-13)


def test_families_are_equal_by_kind():
    """A family that came from another process is the one that is here."""
    assert all(pickle.loads(pickle.dumps(family)) == family for family in FAMILIES.values())
    assert len(set(FAMILIES.values()) | {type(f)() for f in FAMILIES.values()}) == len(FAMILIES)


def test_families_cannot_be_half_stated():
    with pytest.raises(TypeError, match="abstract"):
        Family()


# Bad input, in full


def test_poisson_overflow_is_explained():
    sentence = (
        "Natural parameters of the Poisson family must not exceed 709.78, so that the mean exp(s) "
        "is a finite float; got 800. Use smaller weights, gains or inputs."
    )
    family, s = FAMILIES["poisson"], np.array([[800.0, 0.0]])
    for use in (family.mean, family.log_partition, family.covariance, family.covariance_diagonal):
        with says(sentence):
            use(s)
    with says(sentence):
        family.kl(np.zeros((1, 2)), s)
    with says(
        "A Poisson sample must fit in 64-bit integers, so s must not exceed 43; got 50. "
        "Use smaller weights, gains or inputs."
    ):
        family.sample([[50.0]], np.random.default_rng(0))
    with says(
        "The KL divergence of the Poisson family must be a finite float; it exceeds 1.8e308 here. "
        "Use smaller weights, gains or inputs, or a larger `phi`."
    ):
        family.kl([[709.0]], [[-1e9]])


@every_family
def test_natural_parameters_are_checked(family):
    with says(
        "`s` must hold finite numbers; got 1 NaN or infinite among 2. Remove or impute them first."
    ):
        family.mean([[0.0, np.nan]])
    with says("`s` must have 2 axes; got an array of shape (2,)."):
        family.log_partition([0.0, 1.0])
    with says(
        "Natural parameters must not exceed 1e+150 in size; got 1e+200. "
        "Use smaller weights, gains or inputs."
    ):
        family.mean([[-1e200]])
    for call in (family.kl, family.covariance_times):
        name = "s_other" if call == family.kl else "V"
        with says(
            f"`{name}` must have one value for each case and output, shape (2, 3); "
            "got shape (3, 2)."
        ):
            call(np.zeros((2, 3)), np.zeros((3, 2)))


@every_family
def test_dispersion_is_checked(family):
    s = np.zeros((1, 1))
    for bad in (0.0, -1.0, np.inf, np.nan):
        with says(f"`phi` must be a finite number above 0; got {bad}."):
            family.kl(s, s, phi=bad)
    if not family.has_dispersion:
        with says(
            f"The {family.title} family has no dispersion to choose; got phi=2.0. Leave `phi` at "
            "1, or use the Gaussian family, where it is the noise variance."
        ):
            family.sample(s, np.random.default_rng(0), phi=2.0)


def test_targets_outside_the_support_are_refused(subtests):
    for key, y, sentence in [
        (
            "bernoulli",
            [[0.5]],
            "Targets of the Bernoulli family must be 0 or 1; got 0.5. "
            "Choose another family or recode y.",
        ),
        (
            "poisson",
            [[-1]],
            "Targets of the Poisson family must be counts (0, 1, 2, …); got -1. "
            "Choose another family or recode y.",
        ),
        (
            "poisson",
            [[1.5]],
            "Targets of the Poisson family must be counts (0, 1, 2, …); got 1.5. "
            "Choose another family or recode y.",
        ),
        (
            "categorical",
            [0, 1],
            "Class labels must be integers from 0 to 0, one for each of the 1 "
            "outputs; got 1. Renumber the classes or add outputs.",
        ),
        (
            "categorical",
            [0.5],
            "Class labels must be integers from 0 to 0, one for each of the 1 "
            "outputs; got 0.5. Renumber the classes or add outputs.",
        ),
        (
            "categorical",
            [[0], [1]],
            "Class labels must be integers from 0 to 0, one for each of the 1 "
            "outputs; got 1. Renumber the classes or add outputs.",
        ),
        (
            "gaussian",
            [[np.nan]],
            "`y` must hold finite numbers; got 1 NaN or infinite among 1. "
            "Remove or impute them first.",
        ),
        (
            "gaussian",
            [[1, 2]],
            "`y` must have one column for each of the 1 outputs; got an array of shape (1, 2).",
        ),
    ]:
        with subtests.test(sentence), says(sentence):
            FAMILIES[key].encode(y, 1)


def test_targets_of_other_cases_are_refused():
    with says("`y` must have one value for each case and output, shape (2, 1); got shape (3, 1)."):
        FAMILIES["gaussian"].log_likelihood(np.zeros(3), np.zeros((2, 1)))
