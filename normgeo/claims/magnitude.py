"""Statements on the metric along the gains: section 5.2.2, section 6 and the appendix."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.claims.claim import FAILS, HOLDS, Claim, Finding, Numbers, by_method, numbers, plain
from normgeo.claims.examples import ROUNDING, Example, moved, softened
from normgeo.fisher.gain_metric import gain_metric
from normgeo.fisher.operator import fisher
from normgeo.models.families import FAMILIES, Family
from normgeo.models.glm import NormalizedGLM
from normgeo.normalizers.named import NORMALIZERS

EPS = 0.1
ERROR_ALONE = ("batch", "layer")  # the families for which the paper states it


def by_family(quantity: str, values: Mapping[str, float]) -> Numbers:
    """Return a quantity as measured of several families, keys of `FAMILIES`."""
    return numbers(quantity, {FAMILIES[family].title: value for family, value in values.items()})


def _printed_error(model: NormalizedGLM, X: Array) -> float:
    """Return the error of the metric that the appendix prints against the exact one."""
    metric = gain_metric(model, X)
    if metric.printed is None:
        raise Refusal("The appendix prints no metric for {method}.", method=metric.title)
    return moved(metric.exact, metric.printed)


def _printed_batch_metric(example: Example) -> Finding:
    """Compare batch norm's metric of the gains with E[Cov/φ²], as the appendix prints it."""
    X, model = example.X, example.model("batch", "gaussian")
    errors = {family: _printed_error(example.model("batch", family), X) for family in FAMILIES}
    one = [error for key, error in errors.items() if has_one_covariance(FAMILIES[key])]
    with_eps = _printed_error(softened(model, EPS), X)
    return Finding(
        max(*errors.values(), with_eps) < ROUNDING,
        max(one) < ROUNDING,
        by_family(text("error of the printed metric"), errors)
        + by_family(text("error at ε = {eps:g}", eps=EPS), {"gaussian": with_eps}),
    )


def has_one_covariance(family: Family) -> bool:
    """Whether the covariance is diagonal, and the same for all inputs."""
    covariance = family.covariance(np.array([[0.0, 1.0], [2.0, -1.0]]))
    return bool((covariance == covariance[0, 0, 0] * np.eye(2)).all())


def _printed_metrics(example: Example) -> Finding:
    """Compare the printed metrics of layer and weight norm with the exact ones."""
    errors = {
        method: max(_printed_error(example.model(method, f), example.X) for f in FAMILIES)
        for method in ("layer", "weight")
    }
    return plain(
        max(errors.values()) < ROUNDING, by_method(text("error of the printed metric"), errors)
    )


def _standard_metric(example: Example) -> Finding:
    """Compare the printed cross term of the standard model with the quadratic form.

    Two neurons change the lengths of their weights, by δ_i ŵ_i and δ_j ŵ_j.
    """
    X, delta = example.X, np.array([1.0, 2.0])
    printed, four_terms = {}, {}
    for family in FAMILIES:
        model = example.model("standard", family)
        unit = model.W[:2] / np.linalg.norm(model.W[:2], axis=1, keepdims=True)
        dW = np.zeros(model.W.shape)
        dW[:2] = delta[:, None] * unit
        step = model.layout.pack(dW, np.zeros(len(dW)), None)
        exact = fisher(model, X).quad(step) / 2
        covariance = model.phi * model.family.covariance(model.natural_parameter(X))[:, :2, :2]
        a = delta * (X @ unit.T)
        terms = np.einsum("nij,ni,nj->ij", covariance, a, a) / len(X) / (2 * model.phi**2)
        printed[family] = float(terms[0, 1]) / exact
        four_terms[family] = float(terms.sum()) / exact
    off, repaired = (
        max(abs(share - 1) for share in shares.values()) for shares in (printed, four_terms)
    )
    return Finding(
        off < ROUNDING,
        repaired < ROUNDING,
        by_family(text("cross term over the metric"), printed)
        + by_family(text("four terms over the metric"), four_terms),
    )


def _prediction_error(example: Example) -> Finding:
    """Divide the metric of the gains by the size of the error, E[Cov_hh]/φ² of every output."""
    X, total, single = example.X, {}, {}
    for method in ERROR_ALONE:
        for family in FAMILIES:
            model = example.model(method, family)
            variance = model.family.covariance_diagonal(model.natural_parameter(X))
            size = variance.mean(axis=0) / model.phi
            metric = gain_metric(model, X)
            total[method, family] = float(metric.total[0] / size.sum())
            single[method, family] = metric.diagonal[0] / size
    off = [float(np.abs(ratio - 1).max()) for ratio in (*total.values(), *single.values())]
    layer = single["layer", "gaussian"]
    return Finding(
        max(off) < ROUNDING,
        max(abs(total[method, "gaussian"] - 1) for method in ERROR_ALONE) < ROUNDING,
        tuple(
            ratio
            for method in ERROR_ALONE
            for ratio in by_family(
                text("metric over the error, {method}", method=NORMALIZERS[method].title),
                {family: total[method, family] for family in FAMILIES},
            )
        )
        + numbers(
            text("of a single gain of layer norm, Gaussian"),
            {text("least"): layer.min(), text("most"): layer.max()},
        ),
    )


CLAIMS = (
    Claim(
        "batch_gain_metric",
        text("Batch norm's metric along the gains is the expected covariance of the outputs."),
        text("appendix"),
        _printed_batch_metric,
        FAILS,
        "fisher?tab=magnitude",
        repair=text("if ε = 0 and Cov is diagonal and constant (Gaussian)"),
        remark=text(
            "The appendix has E[Cov/φ²]. In general Cov_ij is multiplied by z_i z_j, inside the "
            "expectation."
        ),
    ),
    Claim(
        "gain_metrics",
        text("Along the gains of layer and weight norm the metric is as the appendix prints it."),
        text("appendix"),
        _printed_metrics,
        HOLDS,
        "fisher?tab=magnitude",
        remark=text("The largest error over all families."),
    ),
    Claim(
        "standard_metric",
        text(
            "Where two weight vectors of a standard model change their lengths, the metric has one "
            "term, that of the pair (i, j)."
        ),
        text("appendix"),
        _standard_metric,
        FAILS,
        "fisher?method=standard&tab=magnitude",
        repair=text("of the sum of all four terms, (i, i), (i, j), (j, i) and (j, j)"),
        remark=text(
            "The appendix prints δ_i δ_j E[Cov_ij a_i a_j]/(2φ²‖w_i‖‖w_j‖), which is 0 for "
            "independent outputs; and in its first line it has w_j over ‖w_i‖ once."
        ),
    ),
    Claim(
        "prediction_error",
        text(
            "In batch and layer norm the metric along the gains depends only on the size of the "
            "prediction error."
        ),
        text("section 5.2.2 and appendix"),
        _prediction_error,
        FAILS,
        "fisher?tab=magnitude",
        repair=text("of the sum over gains, not of each (Gaussian)"),
        remark=text(
            "z² is 1 on average, however large a is. But it multiplies the variance of each output "
            "before the average is taken."
        ),
    ),
)
