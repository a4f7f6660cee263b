"""Statements on the Fisher information: sections 5.2.1 and 5.2.2, and the appendix."""

from __future__ import annotations

import numpy as np

from normgeo._arrays import Array
from normgeo.claims.claim import HOLDS, HOLDS_IF, Claim, Finding, plain
from normgeo.claims.trial import ROUNDING, SEED, gaussian_data, moved, small_model
from normgeo.divergence import kl
from normgeo.families import FAMILIES
from normgeo.fisher import fisher
from normgeo.model import NormalizedGLM
from normgeo.normalizers import NORMALIZERS
from normgeo.transforms import TRANSFORMS

SMALL = 1e-3  # the KL of a step of this Fisher length differs from its quadratic form by about it


def _kl_is_quadratic() -> Finding:
    """Compare the KL of a small step with ½δᵀFδ for every method and family, at two lengths."""
    X, rng = gaussian_data(), np.random.default_rng(SEED)
    long: list[float] = []
    short: list[float] = []
    for method in NORMALIZERS:
        for family in FAMILIES:
            model = small_model(method, family)
            F, theta = fisher(model, X), model.pack()
            step = rng.standard_normal(theta.size)
            step *= SMALL / np.sqrt(F.quad(step))
            for t, errors in ((1.0, long), (0.5, short)):
                divergence = kl(model, model.unpack(theta + t * step), X)
                errors.append(abs(divergence / (t**2 * F.quad(step) / 2) - 1))
    largest = max(long)
    return plain(
        largest < 0.1 and max(short) < 0.6 * largest,
        largest_error=largest, at_half_the_step=max(short),
    )  # fmt: skip


def _equation_12() -> Finding:
    """Compare the standard model's Fisher with E[Cov ⊗ [[xxᵀ, x], [xᵀ, 1]]]/φ²."""
    X = gaussian_data()
    rows = np.column_stack([X, np.ones(len(X))])
    errors = []
    for family in FAMILIES:
        model = small_model("standard", family)
        covariance = model.family.covariance(model.natural_parameter(X))
        expected = sum(
            np.kron(cov, np.outer(x, x)) for cov, x in zip(covariance, rows, strict=True)
        ) / len(X)
        errors.append(moved(np.asarray(expected), fisher(model, X).to_dense()))
    return plain(max(errors) < ROUNDING, largest_error=max(errors))


def _equation_13() -> Finding:
    """Compare Eq. 13 and 14 with the Fisher that the KL has."""
    X = gaussian_data()
    errors = {
        name: moved(
            fisher(small_model(name, "gaussian"), X).to_dense(),
            fisher(small_model(name, "gaussian"), X, coupling="paper").to_dense(),
        )
        for name in NORMALIZERS
    }
    own = max(error for name, error in errors.items() if "layer" not in NORMALIZERS[name].words)
    shared = min(error for name, error in errors.items() if "layer" in NORMALIZERS[name].words)
    return Finding(
        max(own, shared) < ROUNDING,
        own < ROUNDING,
        {"largest error without a layer statistic": own, "smallest with one": shared},
    )


def _null_directions() -> Finding:
    """Measure vᵀFv along the tangents of the changes that layer norm ignores, exact and Eq. 13."""
    X, model = gaussian_data(), small_model("layer", "gaussian")
    gamma = np.random.default_rng(SEED).standard_normal(X.shape[1])
    exact, paper = fisher(model, X), fisher(model, X, coupling="paper")
    lengths = []
    for key in ("weight_matrix_rescaling", "weight_matrix_recentering"):
        transform = TRANSFORMS[key]
        dW, _ = transform.tangent(model.W, X, gamma=None if transform.rescales else gamma)
        v = model.layout.pack(dW, np.zeros(len(dW)), np.zeros(len(dW)))
        lengths.append((exact.quad(v) / paper.trace(), paper.quad(v) / paper.trace()))
    seen, by_paper = (max(column) for column in zip(*lengths, strict=True))
    return Finding(
        max(seen, by_paper) < ROUNDING,
        seen < ROUNDING,
        {"exact Fisher": seen, "Eq. 13": by_paper},
    )


def _statistics_of_neurons() -> Finding:
    """Change one weight vector and look at the other neurons' z."""
    X = gaussian_data()
    reached = {}
    for name in ("batch", "weight", "layer"):
        W = small_model(name, "gaussian").W
        W1, _ = TRANSFORMS["weight_vector_rescaling"](W, X, delta=2.0, index=0)
        z, z1 = (NORMALIZERS[name].normalize(V, X).z[:, 1:] for V in (W, W1))
        reached[name] = moved(z, z1)
    own = max(reached["batch"], reached["weight"])
    return plain(own < ROUNDING < reached["layer"], **reached)


def _gain_metric(model: NormalizedGLM, X: Array) -> Array:
    """Return F among the gains (H, H); the standard model moves w_h along ŵ_h instead."""
    layout = model.layout
    directions = np.zeros((layout.size, layout.neurons))
    if layout.has_gain:
        directions[layout.gains, np.arange(layout.neurons)] = 1.0
    else:
        unit = model.W / np.linalg.norm(model.W, axis=1, keepdims=True)
        for h, row in enumerate(unit):
            directions[layout.weights.reshape(unit.shape)[h], h] = row
    return fisher(model, X).restrict(directions)


def _printed_batch_metric() -> Finding:
    """Compare batch norm's metric of the gains with E[Cov/φ²], as the appendix prints it."""
    X, errors = gaussian_data(), {}
    for family in FAMILIES:
        model = small_model("batch", family)
        printed = model.family.covariance(model.natural_parameter(X)).mean(axis=0)
        errors[family] = moved(printed, _gain_metric(model, X))
    return Finding(max(errors.values()) < ROUNDING, errors["gaussian"] < ROUNDING, errors)


def _input_scaling() -> Finding:
    """Scale the inputs by 2 and compare the metrics of the gains."""
    X = gaussian_data()
    change = {}
    for name in ("batch", "layer", "weight", "standard"):
        model = small_model(name, "gaussian")
        change[name] = moved(_gain_metric(model, X), _gain_metric(model, 2 * X))
    averaging = max(change["batch"], change["layer"])
    return Finding(max(averaging, change["weight"]) < ROUNDING, averaging < ROUNDING, change)


def _standard_follows_inputs() -> Finding:
    """Scale the inputs by 2: the standard Gaussian model's metric must grow by exactly 4."""
    X = gaussian_data()
    model = small_model("standard", "gaussian")
    ratio = _gain_metric(model, 2 * X).diagonal() / _gain_metric(model, X).diagonal()
    return plain(
        float(np.abs(ratio - 4).max()) < ROUNDING, smallest=ratio.min(), largest=ratio.max()
    )


CLAIMS = (
    Claim(
        "kl_quadratic",
        "Between nearby models the KL divergence is half the quadratic form of the Fisher matrix.",
        "section 5.2.1, Eq. 10 and 11", _kl_is_quadratic, HOLDS, "fisher",
        remark="Every method, every family; the error halves with the step.",
    ),
    Claim(
        "equation_12",
        "The Fisher matrix of a standard generalized linear model is E[Cov ⊗ [[xxᵀ, x], [xᵀ, 1]]].",
        "section 5.2.2, Eq. 12", _equation_12, HOLDS, "fisher?method=standard",
    ),
    Claim(
        "equation_13",
        "The Fisher matrix of every normalized model is Eq. 13 with Eq. 14.",
        "section 5.2.2, Eq. 13 and 14", _equation_13, HOLDS_IF, "fisher?method=layer",
        condition="no statistic is shared by neurons",
        remark="For layer norm it leaves out that every output depends on every weight vector.",
    ),
    Claim(
        "null_directions",
        "The changes of weights that layer norm ignores are null directions of its Fisher matrix.",
        "sections 5.1 and 5.2 together", _null_directions, HOLDS_IF, "symmetry?method=layer",
        condition="the Fisher matrix is the exact one, not Eq. 13",
    ),
    Claim(
        "shared_statistics",
        "Layer norm's statistics are shared by the neurons; batch and weight norm's are not.",
        "section 3", _statistics_of_neurons, HOLDS, "",
    ),
    Claim(
        "batch_gain_metric",
        "Batch norm's metric along the gains is the expected covariance of the outputs.",
        "appendix", _printed_batch_metric, HOLDS_IF, "fisher",
        condition="the covariance is diagonal and the same for all inputs, as in the Gaussian case",
    ),
    Claim(
        "input_scaling",
        "Learning the gains of a normalized model does not depend on the scale of its inputs.",
        "section 5.2.2 and appendix", _input_scaling, HOLDS_IF, "fisher",
        condition="the scale averages over cases or neurons",
        remark="Weight norm's metric grows with the inputs, as the standard model's does.",
    ),
    Claim(
        "standard_input_scaling",
        "In a standard model, the metric along a weight vector's length follows the inputs' scale.",
        "section 5.2.2 and appendix", _standard_follows_inputs, HOLDS, "fisher?method=standard",
    ),
)  # fmt: skip
