"""Statements on the metric and the Fisher information: sections 5.2.1 and 5.2.2, Eq. 8 to 11."""

from __future__ import annotations

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.claims.claim import (
    HOLDS,
    HOLDS_IF,
    PRACTICE,
    Claim,
    Finding,
    by_method,
    number,
    numbers,
    plain,
)
from normgeo.claims.examples import DISPERSION, ROUNDING, Example, moved
from normgeo.fisher.kl import kl
from normgeo.fisher.operator import fisher
from normgeo.models.families import FAMILIES, Family
from normgeo.models.glm import NormalizedGLM
from normgeo.normalizers.named import NORMALIZERS

SMALL = 1e-3  # Fisher length of a step, which is also the relative error of its quadratic form
DIFFERENCE = 1e-5  # step of s in a central difference, whose error is then about 1e-10
CLOSE = 1e-6
CASES = 10
LARGEST_COUNT = 200  # the mean is below 30
LARGEST, STEP = 20.0, 0.05  # range and step of the values; the standard deviation is below 1
MANY, SAMPLING = 100_000, 0.02  # labels per case, and the error due to their noise
HOW_MANY = {1: text("one label {whose}"), MANY: text("100,000 labels {whose}")}


def _mean_and_covariance(example: Example) -> Finding:
    """Sum y and (y − E y)² over all outcomes, and compare with differences of A and of f."""
    rng, first, second = example.rng(), {}, {}
    for family in FAMILIES.values():
        phi = DISPERSION if family.has_dispersion else 1.0
        s, V = rng.standard_normal((2, CASES, example.neurons if family.coupled else 1))
        outcomes, p = _outcomes(family, s, phi)
        mean = p @ outcomes
        deviations = outcomes - mean[:, None]
        along = np.einsum("nm,nmh,nmk,nk->nh", p, deviations, deviations, V, optimize=True)
        up, down = s + DIFFERENCE * V, s - DIFFERENCE * V
        slope = (family.log_partition(up) - family.log_partition(down)) / (2 * DIFFERENCE)
        change = (family.mean(up) - family.mean(down)) / (2 * DIFFERENCE)
        first[family.title] = max(
            moved((mean * V).sum(axis=1), np.reshape(slope, -1)), moved(mean, family.mean(s))
        )
        known = family.covariance_times(s, V)
        second[family.title] = max(moved(along, phi * change), moved(along, phi * known))
    errors = [*first.values(), *second.values()]
    return plain(
        max(errors) < CLOSE,
        numbers(text("error of E[y] = A' = f"), first)
        + numbers(text("error of Cov[y] = φf'"), second),
    )


def _outcomes(family: Family, s: Array, phi: float) -> tuple[Array, Array]:
    """Return the possible values of y, (m, H), and their probabilities at each s (N, H), (N, m).

    Outputs that share one A name one of H classes; others are counts, or real values on a grid.
    """
    if family.coupled:
        values, step = np.eye(s.shape[1]), 1.0
    else:
        values, step = np.arange(0.0, LARGEST_COUNT)[:, None], 1.0
        if _takes(family, 0.5):
            values, step = np.arange(-LARGEST, LARGEST, STEP)[:, None], STEP
        values = np.array([row for row in values if _takes(family, row[0])])
    pairs = np.tile(values, (len(s), 1)), np.repeat(s, len(values), axis=0)
    log_density = family.log_likelihood(*pairs, phi).reshape(len(s), -1)
    return values, np.exp(log_density) * step


def _takes(family: Family, value: float) -> bool:
    """Return whether an output may have this value."""
    try:
        family.encode([[value]], 1)
    except Refusal:
        return False
    return True


def _kl_is_quadratic(example: Example) -> Finding:
    """Compare the KL of a small step with ½δᵀFδ for every method and family, at two lengths."""
    X, rng = example.X, example.rng()
    whole: list[float] = []
    half: list[float] = []
    for method in NORMALIZERS:
        for family in FAMILIES:
            model = example.model(method, family)
            F, theta = fisher(model, X), model.pack()
            step = rng.standard_normal(theta.size)
            step *= SMALL / np.sqrt(F.quad(step))
            for t, errors in ((1.0, whole), (0.5, half)):
                divergence = kl(model, model.unpack(theta + t * step), X)
                errors.append(abs(divergence / (t**2 * F.quad(step) / 2) - 1))
    return plain(
        max(whole) < 0.1 and max(half) < 0.6 * max(whole),
        number(text("models"), len(whole))
        + numbers(
            text("largest relative error"),
            {text("a step"): max(whole), text("half of it"): max(half)},
        ),
    )


def _expected_outer_product(example: Example) -> Finding:
    """Average the outer product of the score over all classes of every case."""
    X, errors = example.X, {}
    for method in NORMALIZERS:
        model = example.model(method, "categorical")
        found = _outer_product(model, _jacobians(model, X), model.mean(X), model.mean(X))
        errors[method] = moved(fisher(model, X).to_dense(), found)
    return plain(max(errors.values()) < ROUNDING, by_method(text("error"), errors))


def _observed_labels(example: Example) -> Finding:
    """Compare the outer product of gradients at labels with the Fisher information.

    The labels of the data have their own distribution. The same number is drawn from it as from the
    model, so that the remaining difference is not the noise of few labels.
    """
    X, rng = example.X, example.rng()
    model = example.model("layer", "categorical")
    J, p, exact = _jacobians(model, X), model.mean(X), fisher(model, X).to_dense()
    laws = {text("of the data"): _law_of_the_data(p), text("from the model"): p}
    errors = {}
    for whose, law in laws.items():
        for count in (1, MANY):
            weights = rng.multinomial(count, law) / count
            off = _outer_product(model, J, p, weights) - exact
            error = np.linalg.norm(off) / np.linalg.norm(exact)
            errors[text(HOW_MANY[count], whose=whose)] = float(error)
    _, many_of_data, _, many_of_model = errors.values()
    return Finding(
        many_of_data < SAMPLING, many_of_model < SAMPLING, numbers(text("relative error"), errors)
    )


def _law_of_the_data(p: Array) -> Array:
    """Return the probabilities of the data's labels: uniform over the classes, (N, H)."""
    return np.full_like(p, 1 / p.shape[1])


def _outer_product(model: NormalizedGLM, J: Array, p: Array, weights: Array) -> Array:
    """Return the mean over cases of Σ_k weight_nk ∇log P(k|x_n) ∇log P(k|x_n)ᵀ, (P, P)."""
    total: Array = np.zeros((J.shape[-1],) * 2)
    for label, weight in zip(np.eye(p.shape[1]), weights.T, strict=True):
        scores = np.einsum("nh,nhp->np", (label - p) / model.phi, J)
        total += (scores * weight[:, None]).T @ scores / len(J)
    return total


def _jacobians(model: NormalizedGLM, X: Array) -> Array:
    """Return ∂s_nh/∂θ, (N, H, P), from a change of each parameter."""
    return np.moveaxis(model.linearize(X).jvp(np.eye(model.layout.size)), 0, -1)


CLAIMS = (
    Claim(
        "equation_11",
        text(
            "The mean of the output is the first derivative of the log partition, and its "
            "covariance φ times the second."
        ),
        text("section 5.2.2, Eq. 11"),
        _mean_and_covariance,
        HOLDS,
        "fisher?tab=equation",
        remark=text(
            "Mean and covariance are sums over all outcomes, the derivatives central differences, "
            "for every family."
        ),
    ),
    Claim(
        "kl_quadratic",
        text(
            "Between nearby models the KL divergence is half the quadratic form of the Fisher "
            "matrix."
        ),
        text("section 5.2.1, Eq. 8"),
        _kl_is_quadratic,
        HOLDS,
        "fisher?tab=growth",
        remark=text("Every method, every family; the error halves with the step."),
    ),
    Claim(
        "equation_9",
        text(
            "The Fisher matrix is the expected outer product of the gradients of the "
            "log-likelihood."
        ),
        text("section 5.2.1, Eq. 9"),
        _expected_outer_product,
        HOLDS,
        "fisher?tab=labels",
        remark=text(
            "The expectation is a sum over all classes, with the probabilities of the model."
        ),
    ),
    Claim(
        "observed_labels",
        text(
            "The outer product of the gradients at the labels of the data gives the Fisher matrix."
        ),
        text("practice, the empirical Fisher"),
        _observed_labels,
        HOLDS_IF,
        "fisher?tab=labels",
        condition=text("the labels are drawn from the model itself, many for each case"),
        remark=text(
            "With one label for each case, and with 100,000. From the model, more labels come ever "
            "nearer to F; from the data, they do not."
        ),
        kind=PRACTICE,
    ),
)
