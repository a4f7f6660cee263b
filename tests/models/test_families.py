"""Each family against scipy.stats and against textbook formulas in 400 digits."""

import re
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import special, stats

from normgeo.models.families import FAMILIES


def natural(seed=0, N=6, H=4, size=1.5):
    return size * np.random.default_rng(seed).standard_normal((N, H))


def closed_form_kl(key, s, t):
    """Textbook KL of one case, from means rather than from A, in 400 digits."""
    with localcontext() as context:
        context.prec, context.Emax, context.Emin = 400, 10**9, -(10**9)
        s, t = ([Decimal(float(x)) for x in v] for v in (s, t))
        es, et = ([x.exp() for x in v] for v in (s, t)) if key != "gaussian" else (s, t)
        if key == "gaussian":
            return sum((a - b) ** 2 / 2 for a, b in zip(s, t, strict=True))
        if key == "poisson":
            return sum(a * (a / b).ln() - a + b for a, b in zip(es, et, strict=True))
        if key == "bernoulli":
            pairs = [
                ((a / (1 + a), 1 / (1 + a)), (b / (1 + b), 1 / (1 + b)))
                for a, b in zip(es, et, strict=True)
            ]
        else:
            pairs = [([a / sum(es) for a in es], [b / sum(et) for b in et])]
        return sum(p * (p / q).ln() for P, Q in pairs for p, q in zip(P, Q, strict=True))


# Means, covariances and log partitions


def test_means_are_those_of_scipy():
    s = natural()
    np.testing.assert_array_equal(FAMILIES["gaussian"].mean(s), s)
    np.testing.assert_allclose(FAMILIES["bernoulli"].mean(s), stats.logistic.cdf(s), rtol=1e-14)
    np.testing.assert_allclose(FAMILIES["poisson"].mean(s), np.exp(s), rtol=1e-15)
    np.testing.assert_allclose(
        FAMILIES["categorical"].mean(s), special.softmax(s, axis=1), rtol=1e-14
    )
    np.testing.assert_allclose(
        FAMILIES["categorical"].log_partition(s), special.logsumexp(s, axis=1), rtol=1e-14
    )


def test_categorical_covariance_is_that_of_the_multinomial():
    s = natural()
    expected = [stats.multinomial(1, p).cov() for p in special.softmax(s, axis=1)]
    np.testing.assert_allclose(FAMILIES["categorical"].covariance(s), expected, rtol=1e-13)


def test_categorical_covariance_of_a_constant_is_exactly_zero():
    s = natural(size=30)
    assert not FAMILIES["categorical"].covariance_times(s, np.full_like(s, 1.7)).any()


def test_categorical_variances_of_a_nearly_sure_class_keep_their_digits():
    s = np.array([[50.0, 0.0]])
    bernoulli = FAMILIES["bernoulli"].covariance_diagonal([[50.0]])[0, 0]
    assert bernoulli == pytest.approx(np.exp(-50), rel=1e-14)
    family = FAMILIES["categorical"]
    expected = bernoulli * np.array([[[1, -1], [-1, 1]]])
    np.testing.assert_allclose(family.covariance(s), expected, rtol=1e-13)
    np.testing.assert_allclose(family.covariance_diagonal(s), [[bernoulli] * 2], rtol=1e-13)


def test_categorical_with_two_classes_is_the_bernoulli_of_their_difference():
    s, t = natural(H=2), natural(1, H=2)
    one, two = FAMILIES["bernoulli"], FAMILIES["categorical"]
    d, e = s[:, :1] - s[:, 1:], t[:, :1] - t[:, 1:]
    np.testing.assert_allclose(two.mean(s)[:, :1], one.mean(d), rtol=1e-14)
    np.testing.assert_allclose(two.kl(s, t), one.kl(d, e), rtol=1e-12)


@given(arrays(float, 6, elements=st.floats(-1e3, 1e3)))
def test_categorical_ignores_a_shift_of_each_case(shift):
    family, s, t, y = FAMILIES["categorical"], natural(), natural(1), [0, 1, 2, 3, 0, 1]
    moved, tolerance = s + shift[:, None], {"rtol": 1e-9, "atol": 1e-12}
    np.testing.assert_allclose(family.mean(moved), family.mean(s), **tolerance)
    np.testing.assert_allclose(family.kl(moved, t), family.kl(s, t), **tolerance)
    np.testing.assert_allclose(family.covariance(moved), family.covariance(s), **tolerance)
    np.testing.assert_allclose(
        family.log_likelihood(y, moved), family.log_likelihood(y, s), **tolerance
    )
    np.testing.assert_allclose(
        family.log_partition(moved), family.log_partition(s) + shift, rtol=1e-12, atol=1e-12
    )


# The Kullback–Leibler divergence


@pytest.mark.pairwise("key", FAMILIES)
@pytest.mark.pairwise("step", [1e-12, 1e-6, 1e-3, 0.3, 1.0, 30.0, 1000.0])
@pytest.mark.pairwise("size", [1e-3, 1.0, 40.0, 300.0])
def test_kl_keeps_its_digits_at_every_size(key, size, step):
    rng = np.random.default_rng(5)
    s = size * rng.uniform(-1, 1, (4, 3))
    other = s + step * rng.uniform(-1, 0.4 if key == "poisson" else 1, (4, 3))
    expected = [float(closed_form_kl(key, a, b)) for a, b in zip(s, other, strict=True)]
    np.testing.assert_allclose(FAMILIES[key].kl(s, other), expected, rtol=2e-13, atol=1e-290)


@pytest.mark.parametrize("key", ["bernoulli", "categorical"])
def test_kl_of_a_class_too_rare_for_a_float_keeps_its_digits(key):
    s, other = np.array([[-760.0, 0.0]]), np.array([[-260.0, 0.0]])
    expected = float(closed_form_kl(key, s[0], other[0]))
    assert FAMILIES[key].kl(s, other)[0] == pytest.approx(expected, rel=1e-12, abs=0)


def test_categorical_kl_of_a_pure_shift_is_zero():
    s = np.round(natural(size=30))
    assert not FAMILIES["categorical"].kl(s, s + 2.0**40).any()


def test_kl_divides_by_the_dispersion():
    s, t = natural(), natural(1)
    family = FAMILIES["gaussian"]
    np.testing.assert_allclose(family.kl(s, t, phi=2.5), family.kl(s, t) / 2.5, rtol=1e-15)


# Log-likelihoods and samples


def test_log_likelihoods_are_those_of_scipy():
    s, H = natural(), 4
    rng = np.random.default_rng(7)
    p = special.softmax(s, axis=1)
    labels = rng.integers(H, size=6)
    y = rng.standard_normal((6, H))
    np.testing.assert_allclose(
        FAMILIES["gaussian"].log_likelihood(y, s, phi=0.3),
        stats.norm(s, np.sqrt(0.3)).logpdf(y).sum(axis=1),
    )
    bits = rng.integers(2, size=(6, H))
    np.testing.assert_allclose(
        FAMILIES["bernoulli"].log_likelihood(bits, s),
        stats.bernoulli(special.expit(s)).logpmf(bits).sum(axis=1),
    )
    counts = rng.integers(9, size=(6, H))
    np.testing.assert_allclose(
        FAMILIES["poisson"].log_likelihood(counts, s),
        stats.poisson(np.exp(s)).logpmf(counts).sum(axis=1),
    )
    expected = [
        stats.multinomial(1, q).logpmf(row) for q, row in zip(p, np.eye(H)[labels], strict=True)
    ]
    for form in (labels, labels[:, None], np.eye(H)[labels], labels.astype(float)):
        np.testing.assert_allclose(FAMILIES["categorical"].log_likelihood(form, s), expected)
    sentence = "Rows of `y` must be one-hot, a single 1 for the class; got [1.0, 1.0, 0.0, 0.0]. "
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}Labels"):
        FAMILIES["categorical"].log_likelihood(np.tile([1, 1, 0, 0], (6, 1)), s)


@pytest.mark.parametrize("change", [0.5, 20.0, 590.0, 610.0, 705.0, 760.0, 5000.0])
def test_bernoulli_kl_is_that_of_the_textbook_at_any_change(change):
    """p log(p/p′) + (1 − p) log((1 − p)/(1 − p′)), at changes where no digits cancel."""
    for s, t in ((s, s + sign * change) for s in (-3.0, 0.2, 30.0) for sign in (1, -1)):
        p, q, log = 1 / (1 + np.exp(-s)), 1 / (1 + np.exp(s)), np.logaddexp
        expected = p * (log(0, -t) - log(0, -s)) + q * (log(0, t) - log(0, s))
        found = FAMILIES["bernoulli"].kl([[s]], [[t]])[0]
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("key", FAMILIES)
def test_likeliest_class_is_right_or_wrong_where_there_are_classes(key):
    family, s = FAMILIES[key], np.array([[0.5, -1.0, 0.2], [-0.1, -2.0, -3.0]])
    if not family.has_classes:
        with pytest.raises(ValueError, match=f"^The values of the {family.title} family are no"):
            family.right(s, s)
        return
    # Of the classes the first; of three outputs with two classes each, those with log odds above 0.
    likeliest = {"categorical": [0, 0], "bernoulli": [[1, 0, 1], [0, 0, 0]]}[key]
    other = {"categorical": [0, 1], "bernoulli": [[1, 1, 1], [0, 0, 0]]}[key]
    wrong = {"categorical": [True, False], "bernoulli": [False, True]}[key]
    assert family.right(likeliest, s).all()
    assert family.right(other, s).tolist() == wrong
