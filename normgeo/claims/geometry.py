"""Statements on the Fisher information: sections 5.2.1 and 5.2.2."""

from __future__ import annotations

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.claims.claim import HOLDS, HOLDS_IF, Claim, Finding, by_method, number, numbers, plain
from normgeo.claims.examples import ROUNDING, Example, moved
from normgeo.fisher.kl import kl
from normgeo.fisher.operator import fisher
from normgeo.models.families import FAMILIES
from normgeo.models.glm import NormalizedGLM
from normgeo.normalizers.named import NORMALIZERS

SMALL = 1e-3  # the KL of a step of this Fisher length differs from its quadratic form by about it
DIFFERENCE = 1e-5  # of s, in a central difference, which then errs by about 1e-10


def _mean_and_covariance(example: Example) -> Finding:
    """Differentiate A and f of every family along a random direction, by central differences."""
    rng, first, second = example.rng(), {}, {}
    for family in FAMILIES.values():
        s, V = rng.standard_normal((2, 20, 4))
        up, down = s + DIFFERENCE * V, s - DIFFERENCE * V
        slope = (family.log_partition(up) - family.log_partition(down)) / (2 * DIFFERENCE)
        change = (family.mean(up) - family.mean(down)) / (2 * DIFFERENCE)
        first[family.title] = abs(slope.sum() / (family.mean(s) * V).sum() - 1)
        second[family.title] = moved(change, family.covariance_times(s, V))
    errors = [*first.values(), *second.values()]
    return plain(
        max(errors) < 1e-6,
        numbers(text("error of A' = f"), first) + numbers(text("error of f' = Cov/φ"), second),
    )


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
    """Average the outer product of the score over all six classes of every case."""
    X, errors = example.X, {}
    for method in NORMALIZERS:
        model = example.model(method, "categorical")
        J, p = _jacobians(model, X), model.mean(X)
        found = np.zeros((J.shape[-1],) * 2)
        for label in np.eye(p.shape[1]):
            scores = _scores(model, J, np.broadcast_to(label, p.shape), p)
            found += (scores * (p @ label)[:, None]).T @ scores / len(X)
        errors[method] = moved(fisher(model, X).to_dense(), found)
    return plain(max(errors.values()) < ROUNDING, by_method(text("error"), errors))


def _observed_labels(example: Example) -> Finding:
    """Compare the outer product of gradients at some labels with the Fisher information."""
    X, rng = example.X, example.rng()
    model = example.model("layer", "categorical")
    J, p, exact = _jacobians(model, X), model.mean(X), fisher(model, X).to_dense()
    H = p.shape[1]

    def error(draws: list[Array]) -> float:
        scores = np.concatenate([_scores(model, J, y, p) for y in draws])
        return float(np.linalg.norm(scores.T @ scores / len(scores) - exact)) / size

    size = float(np.linalg.norm(exact))
    observed = error([np.eye(H)[rng.integers(H, size=len(X))]])
    s = model.natural_parameter(X)
    drawn = {n: error([model.family.sample(s, rng) for _ in range(n)]) for n in (20, 2000)}
    return Finding(
        observed < 0.1,
        drawn[2000] < 0.05 and drawn[2000] < drawn[20] / 3,
        numbers(
            text("relative error"),
            {
                text("given labels"): observed,
                **{
                    text("{n} labels a case drawn from the model", n=n): error
                    for n, error in drawn.items()
                },
            },
        ),
    )


def _jacobians(model: NormalizedGLM, X: Array) -> Array:
    """Return ∂s_nh/∂θ, (N, H, P), one product with Jᵀ for each output."""
    at = model.linearize(X)
    rows = [at.vjp(unit.reshape(at.s.shape)) for unit in np.eye(at.s.size)]
    return np.reshape(rows, (*at.s.shape, -1))


def _scores(model: NormalizedGLM, J: Array, y: Array, p: Array) -> Array:
    """Return ∂log P(y_n|x_n)/∂θ of each case, (N, P)."""
    scores: Array = np.einsum("nh,nhp->np", (y - p) / model.phi, J)
    return scores


def _equation_12(example: Example) -> Finding:
    """Compare the standard model's Fisher with E[Cov/φ² ⊗ [[xxᵀ, x], [xᵀ, 1]]]."""
    X, errors = example.X, {}
    rows = np.column_stack([X, np.ones(len(X))])
    for family in FAMILIES:
        model = example.model("standard", family)
        phi = model.phi
        covariance = phi * model.family.covariance(model.natural_parameter(X))
        terms = [
            np.kron(cov / phi**2, np.outer(x, x)) for cov, x in zip(covariance, rows, strict=True)
        ]
        F = fisher(model, X).to_dense()
        errors[model.family.title] = moved(np.mean(terms, axis=0), F)
    return plain(max(errors.values()) < ROUNDING, numbers(text("error"), errors))


def _equation_13(example: Example) -> Finding:
    """Compare Eq. 13 and 14 with the Fisher that the KL has."""
    X = example.X
    errors = {
        name: moved(
            fisher(example.model(name, "gaussian"), X).to_dense(),
            fisher(example.model(name, "gaussian"), X, coupling="paper").to_dense(),
        )
        for name in NORMALIZERS
    }
    own = max(error for name, error in errors.items() if not NORMALIZERS[name].shared_by_neurons)
    return Finding(
        max(errors.values()) < ROUNDING, own < ROUNDING, by_method(text("error of Eq. 13"), errors)
    )


def _gain_scales_curvature(example: Example) -> Finding:
    """Double the gain of a neuron and compare the curvatures among its weights."""
    X, rng = example.X, example.rng()
    direction, factor = rng.standard_normal(X.shape[1]), {}
    for method, family in (
        ("batch", "gaussian"),
        ("weight", "gaussian"),
        ("layer", "gaussian"),
        ("batch", "bernoulli"),
    ):
        model = example.model(method, family)
        g = np.ones(len(model.W)) if model.g is None else model.g
        doubled = model.layout.pack(model.W, model.b, g * np.where(np.arange(len(g)), 1, 2))
        dW = np.zeros(model.W.shape)
        dW[0] = direction
        v = model.layout.pack(dW, np.zeros(len(g)), np.zeros(len(g)))
        name = f"{NORMALIZERS[method].title}, {model.family.title}"
        factor[name] = fisher(model.unpack(doubled), X).quad(v) / fisher(model, X).quad(v)
    off = [abs(found - 4) for found in factor.values()]
    return Finding(
        max(off) < ROUNDING,
        max(off[:2]) < ROUNDING,
        numbers(text("factor of the curvature"), factor),
    )


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
        remark=text("By central differences, for every family."),
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
        remark=text("The expectation is summed over all classes, as the model weighs them."),
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
    ),
    Claim(
        "equation_12",
        text("The Fisher matrix of a standard model is E[Cov/φ² ⊗ [[xxᵀ, x], [xᵀ, 1]]]."),
        text("section 5.2.2, Eq. 12"),
        _equation_12,
        HOLDS,
        "fisher?method=standard",
    ),
    Claim(
        "equation_13",
        text("The Fisher matrix of every normalized model is Eq. 13 with Eq. 14."),
        text("section 5.2.2, Eq. 13 and 14"),
        _equation_13,
        HOLDS_IF,
        "fisher?method=layer&tab=eq13",
        condition=text("no statistic is shared by neurons"),
        remark=text(
            "For layer norm it leaves out that every output depends on every weight vector."
        ),
    ),
    Claim(
        "gain_scales_curvature",
        text("The curvature along a neuron's weights is scaled by its gain squared."),
        text("section 5.2.2"),
        _gain_scales_curvature,
        HOLDS_IF,
        condition=text("the outputs are Gaussian, and no statistic is shared by neurons"),
        remark=text(
            "The gain is doubled. It also moves the outputs, and with them their covariance."
        ),
    ),
)
